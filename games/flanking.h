// Lines of other colours between two discs of one's own, which turn over in Othello and Rolit.
#pragma once

#include <utility>

#include "games/bits.h"

namespace athenan {

template <int W>
struct Flanking {
  int size;  // cells along a side
  Bits<W> all = Bits<W>::first(size * size);
  Bits<W> inner = make_inner();  // all but the first and last column

  // The empty cells from which at least one line turns.
  Bits<W> moves_of(const Bits<W>& own, const Bits<W>& enemy) const {
    Bits<W> moves;
    each_direction(enemy, [&](int step, const Bits<W>& between) {
      auto line = own.shifted(step) & between;
      for (int i = 0; i < size - 3; ++i) line |= line.shifted(step) & between;
      moves |= line.shifted(step);
    });
    return moves & ~(own | enemy) & all;
  }

  // The enemy discs that turn when an own disc comes onto the cell.
  Bits<W> turned_by(const Bits<W>& own, const Bits<W>& enemy, int cell) const {
    Bits<W> turned;
    each_direction(enemy, [&](int step, const Bits<W>& between) {
      Bits<W> line;
      auto next = Bits<W>::of(cell).shifted(step);
      for (; (next & between).any(); next = next.shifted(step)) line |= next;
      if ((next & own).any()) turned |= line;
    });
    return turned;
  }

  // Own discs that never turn again: one on the edge turns only between discs of that edge, so
  // never in a run of one colour from a corner, nor where the edge is full.
  Bits<W> stay(const Bits<W>& own, const Bits<W>& discs) const {
    const int last = size - 1, corner = size * last;
    Bits<W> found;
    for (const auto& [first, step] : {std::pair{0, 1},
                                      {0, size},
                                      {last, -1},
                                      {last, size},
                                      {corner, 1},
                                      {corner, -size},
                                      {corner + last, -1},
                                      {corner + last, -size}}) {
      int run = 0, full = 0;
      while (run < size && own.test(first + run * step)) ++run;
      while (full < size && discs.test(first + full * step)) ++full;
      for (int i = 0, cell = first; i < size; ++i, cell += step)
        if (i < run || (full == size && own.test(cell))) found.set(cell);
    }
    return found;
  }

 private:
  // Calls visit(step, enemy) for the eight directions. A disc that turns along a row or diagonal
  // is never in the first or last column, so masking those keeps lines from wrapping round.
  template <class Visit>
  void each_direction(const Bits<W>& enemy, Visit visit) const {
    const auto across = enemy & inner;
    for (int step : {size, -size}) visit(step, enemy);
    for (int step : {1, -1, size + 1, -size - 1, size - 1, 1 - size}) visit(step, across);
  }

  Bits<W> make_inner() const {
    Bits<W> cells;
    for (int cell = 0; cell < size * size; ++cell)
      if (cell % size > 0 && cell % size < size - 1) cells.set(cell);
    return cells;
  }
};

}  // namespace athenan
