// Straight lines and distances on a grid: where sliding pieces go and which cells are neighbours.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "bits.h"

namespace athenan {

// For each cell those at that distance, a diagonal step counting one; at 1 the neighbours.
template <int W>
std::vector<Bits<W>> make_rings(int rows, int columns, int distance) {
  std::vector<Bits<W>> rings(rows * columns);
  for (int a = 0; a < rows * columns; ++a)
    for (int b = 0; b < rows * columns; ++b) {
      const int down = std::abs(a / columns - b / columns);
      const int right = std::abs(a % columns - b % columns);
      if (std::max(down, right) == distance) rings[a].set(b);
    }
  return rings;
}

// The cells from each cell to the edge, in the eight directions.
template <int W>
class Rays {
 public:
  Rays(int rows, int columns) {
    static constexpr int directions[8][2] = {{0, 1},  {1, -1}, {1, 0},  {1, 1},
                                             {0, -1}, {-1, 1}, {-1, 0}, {-1, -1}};
    for (int way = 0; way < 8; ++way) {
      const auto& [down, right] = directions[way];
      rays_[way].resize(rows * columns);
      for (int cell = 0; cell < rows * columns; ++cell) {
        int row = cell / columns + down, column = cell % columns + right;
        for (; row >= 0 && row < rows && column >= 0 && column < columns;
             row += down, column += right)
          rays_[way][cell].set(row * columns + column);
      }
    }
  }

  // Where a queen on `cell` can slide: the cells before the first taken one.
  Bits<W> queen_targets(int cell, const Bits<W>& taken) const {
    Bits<W> targets;
    for (int way = 0; way < 8; ++way) {
      const auto& ray = rays_[way][cell];
      const auto blockers = ray & taken;
      targets |= ray;
      if (blockers.any()) targets ^= rays_[way][way < 4 ? blockers.lowest() : highest(blockers)];
    }
    return targets & ~taken;
  }

 private:
  static int highest(const Bits<W>& cells) {
    for (int i = W - 1; i > 0; --i)
      if (cells.words[i]) return 64 * i + 63 - std::countl_zero(cells.words[i]);
    return 63 - std::countl_zero(cells.words[0]);
  }

  std::array<std::vector<Bits<W>>, 8> rays_;  // the first four towards higher cells
};

}  // namespace athenan
