// The pieces of chess, and where they may legally go.
#pragma once

#include "games/chess_lines.h"
#include "games/key.h"

namespace athenan {

enum ChessKind { king, queen, rook, bishop, knight, pawn, no_kind };

struct ChessPosition {
  std::array<Cells64, 6> kinds{};
  std::array<Cells64, 2> sides{};
  Cells64 castling = 0;  // the rooks that may still castle
  Cells64 checkers = 0;  // who gives check to the mover
  Cells64 pinned = 0;    // the mover's pieces that may only move along a line with their king
  Key position_key;      // of pieces, castling, en passant and mover
  std::int8_t en_passant = -1;  // the cell passed over, if a pawn may legally capture there
  std::int8_t to_move = 0;

  friend bool operator==(const ChessPosition&, const ChessPosition&) = default;

  Cells64 of(int player, ChessKind kind) const { return kinds[kind] & sides[player]; }
  Cells64 occupied() const { return sides[0] | sides[1]; }
  int king_cell(int player) const { return lowest_of(of(player, king)); }
  ChessKind kind_at(int cell) const {
    for (ChessKind kind : {pawn, knight, bishop, rook, queen})
      if (kinds[kind] & bit_at(cell)) return kind;
    return king;
  }

  // Puts a piece on the cell, or takes it off.
  void put(int player, ChessKind kind, int cell) {
    kinds[kind] ^= bit_at(cell);
    sides[player] ^= bit_at(cell);
    position_key ^= zobrist[(2 * kind + player) * 64 + cell];
  }
  void set_mover(int player) {
    position_key ^= mover_key(to_move) ^ mover_key(player);
    to_move = std::int8_t(player);
  }
  void set_castling(Cells64 rooks) {
    for_each_cell(castling ^ rooks, [&](int cell) { position_key ^= zobrist[12 * 64 + cell]; });
    castling = rooks;
  }
  // Only where a pawn may capture there; nothing else matters to the future. -1: nowhere.
  void set_en_passant(int cell) {
    if (en_passant >= 0) position_key ^= zobrist[13 * 64 + en_passant];
    en_passant = -1;
    if (cell < 0) return;
    for_each_cell(chess_lines.pawn_takes[1 - to_move][cell] & of(to_move, pawn), [&](int from) {
      if (may_pass(from, cell)) en_passant = std::int8_t(cell);
    });
    if (en_passant >= 0) position_key ^= zobrist[13 * 64 + cell];
  }

  // Moves the piece with all that follows; gives the mover's turn to the other.
  struct Change {
    bool irreversible;  // a capture or a pawn's move
    bool lost_castling;
  };
  Change apply(int from, int to, ChessKind promotion) {
    const int player = to_move;
    const ChessKind kind = kind_at(from);
    const ChessKind victim = sides[1 - player] & bit_at(to) ? kind_at(to) : no_kind;
    if (victim != no_kind) put(1 - player, victim, to);
    put(player, kind, from);
    put(player, promotion ? promotion : kind, to);
    if (kind == pawn && to == en_passant) put(1 - player, pawn, to ^ 8);
    if (kind == king && (to - from == 2 || from - to == 2)) {
      put(player, rook, to > from ? from + 3 : from - 4);
      put(player, rook, (from + to) / 2);
    }
    const Cells64 home = kind == king ? Cells64(0xff) << 56 * player : 0;
    const Cells64 lost = castling & (home | bit_at(from) | bit_at(to));
    set_castling(castling ^ lost);
    set_en_passant(-1);
    set_mover(1 - player);
    find_checks();
    if (kind == pawn && (to - from == 16 || from - to == 16)) set_en_passant((from + to) / 2);
    return {kind == pawn || victim != no_kind, lost != 0};
  }

  void find_checks() {
    const int at = king_cell(to_move), enemy = 1 - to_move;
    checkers = (chess_lines.knight_jumps[at] & of(enemy, knight)) |
               (chess_lines.pawn_takes[to_move][at] & of(enemy, pawn));
    pinned = 0;
    const Cells64 aiming =
        (chess_lines.straight_cells[at] & (of(enemy, rook) | of(enemy, queen))) |
        (chess_lines.diagonal_cells[at] & (of(enemy, bishop) | of(enemy, queen)));
    for_each_cell(aiming, [&](int cell) {
      const Cells64 blockers = chess_lines.between[at][cell] & occupied();
      if (!blockers) checkers |= bit_at(cell);
      if (std::has_single_bit(blockers)) pinned |= blockers & sides[to_move];
    });
  }

  Cells64 attackers(int cell, int by, Cells64 occupied) const {
    return sides[by] & ((chess_lines.king_steps[cell] & kinds[king]) |
                        (chess_lines.knight_jumps[cell] & kinds[knight]) |
                        (chess_lines.pawn_takes[1 - by][cell] & kinds[pawn]) |
                        (chess_lines.straight(cell, occupied) & (kinds[rook] | kinds[queen])) |
                        (chess_lines.diagonal(cell, occupied) & (kinds[bishop] | kinds[queen])));
  }
  // Where a piece other than the king may go: anywhere, or between king and checker, or nowhere.
  Cells64 answers() const {
    if (!checkers) return ~Cells64(0);
    if (!std::has_single_bit(checkers)) return 0;
    return checkers | chess_lines.between[king_cell(to_move)][lowest_of(checkers)];
  }
  // The legal targets of the mover's piece; `allowed` is answers().
  Cells64 targets(ChessKind kind, int from, Cells64 allowed) const {
    if (pinned & bit_at(from)) allowed &= chess_lines.line[king_cell(to_move)][from];
    allowed &= ~sides[to_move];
    const Cells64 all = occupied();
    switch (kind) {
      case king: return king_targets(from);
      case pawn: return pawn_targets(from, allowed);
      case knight: return chess_lines.knight_jumps[from] & allowed;
      case bishop: return chess_lines.diagonal(from, all) & allowed;
      case rook: return chess_lines.straight(from, all) & allowed;
      default: return (chess_lines.straight(from, all) | chess_lines.diagonal(from, all)) & allowed;
    }
  }
  // Nearly always a free pawn or the first piece tells.
  bool can_act() const {
    const Cells64 allowed = answers(), pawns = of(to_move, pawn) & ~pinned;
    if ((to_move == 0 ? pawns << 8 : pawns >> 8) & ~occupied() & allowed) return true;
    for (Cells64 left = sides[to_move] & ~kinds[king]; left; left &= left - 1) {
      const int from = lowest_of(left);
      if (targets(kind_at(from), from, allowed)) return true;
    }
    return king_targets(king_cell(to_move)) != 0;
  }

  // No sequence of actions can mate: kings alone or with one knight, or bishops of one colour.
  bool is_dead() const {
    constexpr Cells64 dark = 0xAA55AA55AA55AA55;
    if (kinds[pawn] | kinds[rook] | kinds[queen]) return false;
    if (std::popcount(kinds[bishop] | kinds[knight]) <= 1) return true;
    return !kinds[knight] && (!(kinds[bishop] & dark) || !(kinds[bishop] & ~dark));
  }

 private:
  // Whether the mover's king may stand on the cell.
  bool is_safe(int cell) const {
    return !attackers(cell, 1 - to_move, occupied() & ~of(to_move, king));
  }
  // En passant empties two cells of a row at once, so checks are looked for afterwards.
  bool may_pass(int from, int to) const {
    const Cells64 victim = bit_at(to ^ 8), after = occupied() ^ bit_at(from) ^ bit_at(to) ^ victim;
    return !(attackers(king_cell(to_move), 1 - to_move, after) & ~victim);
  }
  Cells64 pawn_targets(int from, Cells64 allowed) const {
    const Cells64 takes = chess_lines.pawn_takes[to_move][from];
    const Cells64 third_row = Cells64(0xff) << (to_move == 0 ? 16 : 40);
    const auto ahead = [&](Cells64 cells) {
      return (to_move == 0 ? cells << 8 : cells >> 8) & ~occupied();
    };
    const Cells64 once = ahead(bit_at(from)), twice = ahead(once & third_row);
    Cells64 to = (once | twice | (takes & sides[1 - to_move])) & allowed;
    if (en_passant >= 0 && takes & bit_at(en_passant) && may_pass(from, en_passant))
      to |= bit_at(en_passant);
    return to;
  }
  Cells64 king_targets(int from) const {
    Cells64 to = 0;
    for_each_cell(chess_lines.king_steps[from] & ~sides[to_move], [&](int cell) {
      if (is_safe(cell)) to |= bit_at(cell);
    });
    if (checkers) return to;
    for_each_cell(castling & sides[to_move], [&](int corner) {
      const int step = corner > from ? 1 : -1;
      if (!(chess_lines.between[from][corner] & occupied()) && to & bit_at(from + step) &&
          is_safe(from + 2 * step))
        to |= bit_at(from + 2 * step);
    });
    return to;
  }
};

}  // namespace athenan
