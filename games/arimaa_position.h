// The pieces of Arimaa, which of them are frozen, and the traps.
#pragma once

#include <array>
#include <bit>

#include "games/cells64.h"
#include "games/key.h"

namespace athenan::arimaa {

using Cells = Cells64;
enum Kind { elephant, camel, horse, dog, cat, rabbit, kinds };

constexpr Cells first_column = 0x0101010101010101ull, last_column = first_column << 7;
constexpr Cells traps = 1ull << 18 | 1ull << 21 | 1ull << 42 | 1ull << 45;
constexpr std::array<Cells, 2> home{0xFFFFull, 0xFFFFull << 48}, goal{0xFFull << 56, 0xFFull};
constexpr std::array<int, 4> offset{8, 1, -8, -1};  // north, east, south, west
constexpr std::array<int, 8> setup_order{elephant, camel, horse, horse, dog, dog, cat, cat};
constexpr std::array<int, kinds> army{1, 1, 2, 2, 2, 8};

constexpr Cells shifted(Cells cells, int way) {
  switch (way) {
    case 0: return cells << 8;
    case 1: return (cells & ~last_column) << 1;
    case 2: return cells >> 8;
    default: return (cells & ~first_column) >> 1;
  }
}
constexpr Cells around(Cells cells) {
  return shifted(cells, 0) | shifted(cells, 1) | shifted(cells, 2) | shifted(cells, 3);
}

struct Position {
  std::array<std::array<Cells, kinds>, 2> pieces{};
  std::array<Cells, 2> all{};
  Key key;  // pieces alone
  friend bool operator==(const Position&, const Position&) = default;

  // Puts a piece on the cell, or takes it off.
  void flip(int player, int kind, int cell) {
    pieces[player][kind] ^= bit_at(cell);
    all[player] ^= bit_at(cell);
    key ^= zobrist[(2 * kind + player) * 64 + cell];
  }
  int kind_on(int player, int cell) const {
    int kind = 0;
    while (!(pieces[player][kind] >> cell & 1)) ++kind;
    return kind;
  }

  // Calls visit(kind, its pieces that are not frozen, the free pieces above it), strongest first.
  template <class Visit>
  void free_pieces(int player, Visit visit) const {
    const Cells befriended = around(all[player]);
    Cells enemies_above = 0, free_above = 0;
    for (int kind = 0; kind < kinds; ++kind) {
      const Cells free = pieces[player][kind] & (befriended | ~around(enemies_above));
      visit(kind, free, free_above);
      enemies_above |= pieces[1 - player][kind];
      free_above |= free;
    }
  }

  // Moves a piece and empties the traps; tells whether one vanished.
  bool shift_piece(int from, int way) {
    const int mover = all[1] >> from & 1, kind = kind_on(mover, from);
    flip(mover, kind, from);
    flip(mover, kind, from + offset[way]);
    bool vanished = false;
    for (int player : {0, 1})
      for_each_cell(all[player] & traps & ~around(all[player]), [&](int cell) {
        flip(player, kind_on(player, cell), cell);
        vanished = true;
      });
    return vanished;
  }
};

}  // namespace athenan::arimaa
