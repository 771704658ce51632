// The pieces of xiangqi, where they can go, and check.
#pragma once

#include <bit>
#include <cstdlib>
#include <utility>
#include <vector>

#include "games/bits.h"

namespace athenan {

enum XiangqiKind { general, advisor, elephant, horse, chariot, cannon, soldier };

// Steps and jumps from each cell (bit 0 is a1, bit 8 is i1), from tables made at the start.
struct XiangqiLines {
  static constexpr int cells = 90, columns = 9;
  using Cells = Bits<2>;
  struct Jump {
    std::int8_t over, to;
  };

  std::array<Cells, cells> general_steps, advisor_steps;
  std::array<std::array<Cells, cells>, 2> soldier_steps;
  std::array<std::vector<Jump>, cells> elephant_jumps, horse_jumps, horses_to;
  std::array<Cells, cells> exposed;      // where a change can put a general on that cell into check
  std::array<Cells, 1024> first_column;  // bits of a column as cells

  XiangqiLines() {
    for (int cell = 0; cell < cells; ++cell) {
      const int row = cell / columns, column = cell % columns;
      for (int to = 0; to < cells; ++to) {
        const int up = to / columns - row, right = to % columns - column;
        const int far = std::abs(up), wide = std::abs(right);
        const bool palace = to % columns >= 3 && to % columns <= 5 && (to / columns) % 7 <= 2;
        const bool bank = (row < 5) == (to / columns < 5);
        if (palace && bank && far + wide == 1) general_steps[cell].set(to);
        if (palace && bank && far == 1 && wide == 1) advisor_steps[cell].set(to);
        if (far + wide == 1 && up >= 0 && (up || row >= 5)) soldier_steps[0][cell].set(to);
        if (far + wide == 1 && up <= 0 && (up || row < 5)) soldier_steps[1][cell].set(to);
        const auto between = std::int8_t((row + up / 2) * columns + column + right / 2);
        if (bank && far == 2 && wide == 2)
          elephant_jumps[cell].push_back({between, std::int8_t(to)});
        if (far + wide == 3 && far && wide) {
          horse_jumps[cell].push_back({between, std::int8_t(to)});
          horses_to[to].push_back({between, std::int8_t(cell)});
        }
        if (far == 0 || wide == 0 || (far == 1 && wide == 1)) exposed[cell].set(to);
      }
    }
    for (unsigned bits = 0; bits < 1024; ++bits)
      for (int row = 0; row < 10; ++row)
        if (bits >> row & 1) first_column[bits].set(row * columns);
  }
};

inline const XiangqiLines xiangqi_lines;

struct XiangqiPosition {
  static constexpr int cells = XiangqiLines::cells, columns = XiangqiLines::columns;
  using Cells = XiangqiLines::Cells;

  std::array<std::uint8_t, cells> pieces{};  // 0 or 1 + 2 * kind + player
  std::array<std::uint16_t, 10> row{};       // what stands in each row, and in each column
  std::array<std::uint16_t, 9> column{};
  std::array<std::int8_t, 2> generals{-1, -1};
  std::array<Cells, 2> of;
  Key key;  // pieces and mover
  friend bool operator==(const XiangqiPosition&, const XiangqiPosition&) = default;

  // Of the piece on a cell that is not empty.
  XiangqiKind kind_at(int cell) const { return XiangqiKind((pieces[cell] - 1) / 2); }

  // Puts a piece on an empty cell; take is the reverse.
  void put(int cell, int piece) {
    pieces[cell] = std::uint8_t(piece);
    if (piece <= 2) generals[piece - 1] = std::int8_t(cell);
    flip(cell, piece);
  }
  int take(int cell) {
    const int piece = std::exchange(pieces[cell], std::uint8_t(0));
    flip(cell, piece);
    return piece;
  }
  // Returns the captured piece.
  int shift_piece(int from, int to) {
    const int captured = pieces[to] ? take(to) : 0;
    put(to, take(from));
    return captured;
  }

  // Where the piece on `from` can go, its own general's safety aside.
  Cells targets(int from) const {
    const int player = of[1].test(from);
    const XiangqiKind kind = kind_at(from);
    Cells found;
    switch (kind) {
      case general: found = xiangqi_lines.general_steps[from]; break;
      case advisor: found = xiangqi_lines.advisor_steps[from]; break;
      case soldier: found = xiangqi_lines.soldier_steps[player][from]; break;
      case elephant:
        for (const auto& jump : xiangqi_lines.elephant_jumps[from])
          if (!pieces[jump.over]) found.set(jump.to);
        break;
      case horse:
        for (const auto& jump : xiangqi_lines.horse_jumps[from])
          if (!pieces[jump.over]) found.set(jump.to);
        break;
      default: {
        const auto row = along_row(from), column = along_column(from);
        found = as_cells(row.open, column.open, from);
        found |= kind == chariot ? as_cells(row.first, column.first, from)
                                 : as_cells(row.second, column.second, from) & of[1 - player];
      }
    }
    return found & ~of[player];
  }

  // Is the player's general attacked, the other general's sight included?
  bool in_check(int player) const {
    const int cell = generals[player], enemy = 1 - player;
    const auto is = [&](int where, XiangqiKind kind) {
      return pieces[where] == 1 + 2 * kind + enemy;
    };
    for (const auto& jump : xiangqi_lines.horses_to[cell])
      if (is(jump.to, horse) && !pieces[jump.over]) return true;
    const auto row = along_row(cell), column = along_column(cell);
    const auto seen = as_cells(row.first, column.first, cell) & of[enemy];
    const auto over = as_cells(row.second, column.second, cell) & of[enemy];
    bool attacked = false;
    seen.for_each([&](int from) {
      attacked |= is(from, chariot) || (is(from, general) && from % columns == cell % columns) ||
                  (is(from, soldier) && xiangqi_lines.soldier_steps[enemy][from].test(cell));
    });
    over.for_each([&](int from) { attacked |= is(from, cannon); });
    return attacked;
  }

  // Calls visit(from, to) for the player's legal actions, ascending, until it returns true;
  // `checked` tells whether he is in check.
  template <class Visit>
  bool any_action(int player, bool checked, Visit visit) const {
    XiangqiPosition trial = *this;
    const auto& exposed = xiangqi_lines.exposed[generals[player]];
    for (auto left = of[player]; left.any();) {
      const int from = left.lowest();
      left.clear(from);
      const bool careful = checked || from == generals[player] || exposed.test(from);
      for (auto to = targets(from); to.any();) {
        const int cell = to.lowest();
        to.clear(cell);
        if ((careful || exposed.test(cell)) && trial.exposes(player, from, cell)) continue;
        if (visit(from, cell)) return true;
      }
    }
    return false;
  }

 private:
  void flip(int cell, int piece) {
    row[cell / columns] ^= std::uint16_t(1 << cell % columns);
    column[cell % columns] ^= std::uint16_t(1 << cell / columns);
    of[(piece - 1) % 2].flip(cell);
    key ^= zobrist[piece * cells + cell];
  }
  // Along one line of the board, as bits: free cells next to `at`, the first pieces to both
  // sides, and the second ones.
  struct Sight {
    unsigned open, first, second;
  };
  static Sight sight(unsigned line, int at, int length) {
    const unsigned below = line & ((1u << at) - 1), above = line & ~((2u << at) - 1);
    const unsigned low = std::bit_floor(below), high = above & -above, beyond = above ^ high;
    const unsigned up_to = high ? high - 1 : (1u << length) - 1;
    const unsigned open = up_to & ~(low ? 2 * low - 1 : 0) & ~(1u << at);
    return {open, low | high, std::bit_floor(below ^ low) | (beyond & -beyond)};
  }
  Sight along_row(int cell) const { return sight(row[cell / columns], cell % columns, 9); }
  Sight along_column(int cell) const { return sight(column[cell % columns], cell / columns, 10); }
  Cells as_cells(unsigned in_row, unsigned in_column, int cell) const {
    return Cells{{in_row, 0}}.shifted(cell / columns * columns) |
           xiangqi_lines.first_column[in_column].shifted(cell % columns);
  }

  // Whether the action would leave the player's general in check; changes nothing.
  bool exposes(int player, int from, int to) {
    const int captured = shift_piece(from, to);
    const bool bad = in_check(player);
    shift_piece(to, from);
    if (captured) put(to, captured);
    return bad;
  }
};

}  // namespace athenan
