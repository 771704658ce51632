// Stones in a row.
#pragma once

#include <algorithm>

#include "games/bits.h"

namespace athenan {

// The longest unbroken line of `stones` through `cell` (which is one of them), in the four
// directions of a rows × columns board.
template <int W>
int longest_line(const Bits<W>& stones, int cell, int rows, int columns) {
  static constexpr int directions[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
  const int row = cell / columns, column = cell % columns;
  int longest = 1;
  for (const auto& [down, right] : directions) {
    int length = 1;
    for (int sign : {1, -1}) {
      int r = row + sign * down, c = column + sign * right;
      while (r >= 0 && r < rows && c >= 0 && c < columns && stones.test(r * columns + c)) {
        ++length;
        r += sign * down;
        c += sign * right;
      }
    }
    longest = std::max(longest, length);
  }
  return longest;
}

}  // namespace athenan
