// Which cells of a board touch which.
#pragma once

#include <vector>

#include "bits.h"
#include "board.h"

namespace athenan {

inline constexpr int king_steps[8][2] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1},
                                         {0, 1},   {1, -1}, {1, 0},  {1, 1}};

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
