// Which cells of a board touch which, or are near.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "games/bits.h"
#include "games/board.h"

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

// For each cell those that one of the steps (rows, columns) leads to.
template <int W, std::size_t N>
std::vector<Bits<W>> make_neighbours(const Shape& shape, const int (&steps)[N][2]) {
  std::vector<Bits<W>> table(shape.size());
  for (int cell = 0; cell < shape.size(); ++cell)
    for (const auto& [rows, columns] : steps) {
      const int r = cell / shape.columns + rows, c = cell % shape.columns + columns;
      const bool inside = r >= 0 && r < shape.rows && c >= 0 && c < shape.columns;
      const int other = r * shape.columns + c;
      if (inside && shape.exists(cell) && shape.exists(other)) table[cell].set(other);
    }
  return table;
}

}  // namespace athenan
