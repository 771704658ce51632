// Where chess pieces reach on 64 cells (bit 0 is a1, bit 7 is h1), from tables made at the start.
#pragma once

#include <array>

#include "games/cells64.h"

namespace athenan {

struct ChessLines {
  // Four directions towards higher cells, then their opposites; even ones are straight.
  static constexpr int directions[8][2] = {{0, 1},  {1, 1},   {1, 0},  {1, -1},
                                           {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}};
  std::array<std::array<Cells64, 64>, 8> rays{};
  std::array<Cells64, 64> king_steps{}, knight_jumps{};
  std::array<Cells64, 64> straight_cells{}, diagonal_cells{};  // of the empty board
  std::array<std::array<Cells64, 64>, 2> pawn_takes{};         // of a white, a black pawn
  std::array<std::array<Cells64, 64>, 64> between{};           // on a line, both ends excluded
  std::array<std::array<Cells64, 64>, 64> line{};              // the whole line through both

  constexpr ChessLines() {
    for (int cell = 0; cell < 64; ++cell) {
      for (int d = 0; d < 8; ++d) {
        const auto [up, right] = directions[d];
        for (int r = cell / 8 + up, c = cell % 8 + right; on_board(r, c); r += up, c += right)
          rays[d][cell] |= bit_at(8 * r + c);
        (d % 2 ? diagonal_cells : straight_cells)[cell] |= rays[d][cell];
        king_steps[cell] |= jump(cell, up, right);
        if (up && d % 2) pawn_takes[up < 0][cell] |= jump(cell, up, right);
        if (d % 2) knight_jumps[cell] |= jump(cell, 2 * up, right) | jump(cell, up, 2 * right);
      }
    }
    for (int cell = 0; cell < 64; ++cell)
      for (int d = 0; d < 8; ++d)
        for_each_cell(rays[d][cell], [&](int other) {
          between[cell][other] = rays[d][cell] & rays[(d + 4) % 8][other];
          line[cell][other] = rays[d][cell] | rays[(d + 4) % 8][cell] | bit_at(cell);
        });
  }

  // What a rook or a bishop reaches, the first occupied cell of each ray included.
  Cells64 straight(int cell, Cells64 occupied) const {
    return upward(0, cell, occupied) | upward(2, cell, occupied) | downward(4, cell, occupied) |
           downward(6, cell, occupied);
  }
  Cells64 diagonal(int cell, Cells64 occupied) const {
    return upward(1, cell, occupied) | upward(3, cell, occupied) | downward(5, cell, occupied) |
           downward(7, cell, occupied);
  }

 private:
  static constexpr bool on_board(int row, int column) {
    return row >= 0 && row < 8 && column >= 0 && column < 8;
  }
  static constexpr Cells64 jump(int cell, int up, int right) {
    const int row = cell / 8 + up, column = cell % 8 + right;
    return on_board(row, column) ? bit_at(8 * row + column) : 0;
  }
  // The corner as a last stop costs nothing: no ray goes on from there.
  Cells64 upward(int d, int cell, Cells64 occupied) const {
    const int stop = std::countr_zero((rays[d][cell] & occupied) | bit_at(63));
    return rays[d][cell] ^ rays[d][stop];
  }
  Cells64 downward(int d, int cell, Cells64 occupied) const {
    const int stop = 63 - std::countl_zero((rays[d][cell] & occupied) | bit_at(0));
    return rays[d][cell] ^ rays[d][stop];
  }
};

inline const ChessLines chess_lines;

}  // namespace athenan
