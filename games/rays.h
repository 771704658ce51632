// Straight lines on a grid: where queens go.
#pragma once

#include <array>
#include <vector>

#include "games/bits.h"

namespace athenan {

// Where queens slide on a board of rows × columns cells.
//
// In each of the four directions towards higher cells the cells before the first taken one are
// those below the lowest taken cell of the ray: a subtraction finds them. The other four directions
// are the same ones on the board turned round by half a turn.
template <int W>
class Rays {
 public:
  Rays(int rows, int columns) : cells_(rows * columns), rays_(rows * columns) {
    static constexpr int directions[4][2] = {{0, 1}, {1, -1}, {1, 0}, {1, 1}};
    for (int cell = 0; cell < cells_; ++cell)
      for (int way = 0; way < 4; ++way) {
        const auto& [down, right] = directions[way];
        int row = cell / columns + down, column = cell % columns + right;
        for (; row < rows && column >= 0 && column < columns; row += down, column += right)
          rays_[cell][way].set(row * columns + column);
      }
  }

  // The taken cells of a board, both ways round.
  struct Taken {
    Bits<W> cells, turned;
  };
  Taken taken(const Bits<W>& cells) const { return {cells, cells.turned(cells_)}; }

  // The targets of one queen.
  struct Targets {
    Bits<W> higher, lower;  // than the queen's cell; the lower ones as on the board turned round
    int count() const { return higher.count() + lower.count(); }
  };
  Targets targets(int cell, const Taken& taken) const {
    return {slides(cell, taken.cells), slides(cells_ - 1 - cell, taken.turned)};
  }
  Bits<W> all(const Targets& targets) const {
    return targets.higher | targets.lower.turned(cells_);
  }
  // The target with n lower ones.
  int nth(const Targets& targets, int n) const {
    const int lower = targets.lower.count();
    return n < lower ? cells_ - 1 - targets.lower.nth(lower - 1 - n)
                     : targets.higher.nth(n - lower);
  }

 private:
  Bits<W> slides(int cell, const Bits<W>& taken) const {
    Bits<W> found;
    for (const auto& ray : rays_[cell]) found |= ray & (ray & taken).below_lowest();
    return found;
  }

  int cells_;
  std::vector<std::array<Bits<W>, 4>> rays_;
};

}  // namespace athenan
