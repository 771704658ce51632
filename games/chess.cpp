// Chess by the rules of FIDE: white (upper case) first; castling, en passant, promotion to queen,
// rook, bishop or knight; mate wins, stalemate draws.
// Other draws, always automatic: draw_rules `olympiad` as if every claim were made (third
// repetition, 50 moves of each side without a capture or a pawn's move), `fide` only what ends a
// game without a claim (fifth repetition, 75 moves); both with dead material: king against king,
// alone or with one knight, or with bishops on one colour. Blocked pawns that leave no mate
// possible are not recognised; the counters end such games. `none`: only max_plies draws.
// States are equal for repetition when pieces, mover, castling rights and possible en passant
// captures are. A mate counts before any of these draws.
// Actions: from, to and the promotion, as in e2e4, e1g1 (castling), e7e8q. The last line of a
// text is its FEN; a FEN alone is read, too.
#include <algorithm>
#include <stdexcept>

#include "games/chess_position.h"
#include "games/history.h"
#include "games/rules.h"

namespace athenan {
namespace {

struct DrawRules {
  int repetitions = 0, quiet_plies = 0;  // 0: no draws
};

template <int LongestHistory>
struct Chess {
  struct State : ChessPosition {
    int ply = 0;
    std::int16_t quiet_plies = 0;       // since the last capture or pawn's move
    bool stuck = false, drawn = false;  // stuck: mate or stalemate
    History<LongestHistory> history;
    friend bool operator==(const State&, const State&) = default;
  };

  DrawRules draws;
  int plies_option;  // 0: no limit
  int num_players = 2;
  int max_pieces = 16;
  // Sixteen pawns move at most six times each, and there are thirty captures.
  int natural_end = draws.quiet_plies ? (96 + 30 + 1) * draws.quiet_plies : plies_option;
  int max_plies = plies_option ? std::min(plies_option, natural_end) : natural_end;
  // Where max_plies can cut a game off, the ply is part of the key.
  bool plies_count = !draws.quiet_plies || max_plies < natural_end;
  bool has_history = draws.quiet_plies > 0;
  Shape shape{8, 8, "KkQqRrBbNnPp", Grid::square, true};

  State initial_state() const {
    return state_from_string("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
  }

  // An action is from, to and the kind promoted to (0: none), in 6, 6 and 3 bits.
  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    const Cells64 allowed = state.answers();
    for_each_cell(state.sides[state.to_move], [&](int from) {
      const ChessKind kind = state.kind_at(from);
      for_each_cell(state.targets(kind, from, allowed), [&](int to) {
        const Action action = Action(from << 9 | to << 3);
        if (kind != pawn || (to >= 8 && to < 56))
          actions.push_back(action);
        else
          for (ChessKind into : {queen, rook, bishop, knight}) actions.push_back(action | into);
      });
    });
  }

  void play(State& state, Action action) const {
    const Key before = state.position_key;
    const auto change = state.apply(from_of(action), to_of(action), ChessKind(action & 7));
    ++state.ply;
    if (draws.quiet_plies) count_draws(state, before, change);
    finish(state);
  }

  bool is_terminal(const State& state) const { return state.stuck || state.drawn; }
  int outcome(const State& state, int player) const {
    if (!state.stuck || !state.checkers) return 0;
    return player == state.to_move ? -1 : 1;
  }
  int pieces(const State& state, int player) const { return std::popcount(state.sides[player]); }
  Key key(const State& state) const {
    Key key = state.position_key;
    if (plies_count) key ^= count_key(0, state.ply);
    if (state.quiet_plies) key ^= count_key(1, state.quiet_plies) ^ state.history.key();
    return key;
  }

  void write_board(const State& state, Board& board) const {
    for (int kind = 0; kind < 6; ++kind)
      for (int p : {0, 1})
        for_each_cell(state.kinds[kind] & state.sides[p],
                      [&](int cell) { board.cells[cell] = std::uint8_t(2 * kind + p + 1); });
  }
  State from_board(const Board& board) const { return make_state(board, 0, -1, 0); }

  std::string note(const State& state) const {
    Fen fen{{std::vector<std::uint8_t>(64), state.to_move, state.ply}};
    write_board(state, fen.board);
    fen.rights.clear();
    for (int i = 0; i < 4; ++i)
      if (state.castling & bit_at(rook_homes[i])) fen.rights += "KQkq"[i];
    if (fen.rights.empty()) fen.rights = "-";
    if (state.en_passant >= 0) fen.passed = cell_name(shape, state.en_passant);
    fen.quiet_plies = state.quiet_plies;
    return (state.checkers ? ", in check\nFEN " : "\nFEN ") + write_fen(shape, fen);
  }
  State state_from_string(std::string_view text) const {
    const auto fen = read_fen(shape, text);
    const auto passed = find_cell(shape, fen.passed);
    if (!passed && fen.passed != "-") refuse("en passant needs a cell or -");
    return make_state(fen.board, castling_of(fen.rights), passed.value_or(-1), fen.quiet_plies);
  }

  std::vector<std::string> channels() const {
    auto names = channel_names(shape, 2);
    names.insert(names.end(), {"may castle", "en passant"});
    return names;
  }
  void planes(const State& state, std::uint8_t* out) const {
    std::fill_n(out, 64 * num_channels, std::uint8_t(0));
    for (int kind = 0; kind < 6; ++kind)
      for (int p : {0, 1})
        for_each_cell(state.kinds[kind] & state.sides[p],
                      [&](int cell) { out[cell * num_channels + 2 * kind + p] = 1; });
    for (int cell = 0; cell < 64; ++cell) out[cell * num_channels + 12 + state.to_move] = 1;
    for_each_cell(state.castling, [&](int cell) { out[cell * num_channels + 14] = 1; });
    if (state.en_passant >= 0) out[state.en_passant * num_channels + 15] = 1;
  }
  State state_from_planes(const std::uint8_t* planes, int ply) const {
    Board board{std::vector<std::uint8_t>(64), planes[13], ply};
    Cells64 castling = 0;
    int passed = -1;
    for (int cell = 0; cell < 64; ++cell, planes += num_channels) {
      for (int piece = 0; piece < 12; ++piece)
        if (planes[piece]) board.cells[cell] = std::uint8_t(piece + 1);
      if (planes[14]) castling |= bit_at(cell);
      if (planes[15]) passed = cell;
    }
    return make_state(board, castling, passed, 0);
  }

  std::string action_to_string(const State&, Action action) const {
    auto text = cell_name(shape, from_of(action)) + cell_name(shape, to_of(action));
    if (action & 7) text += "-qrbn"[action & 7];
    return text;
  }
  int marked_cell(const State&, Action action) const { return to_of(action); }
  // Castling tells left from right, so the only image is that of the other colour.
  std::vector<Symmetry> symmetries() const {
    std::vector<Symmetry> both = {
        make_symmetry(shape, 2, [](int r, int c) { return std::pair{r, c}; }),
        make_symmetry(
            shape, 2, [](int r, int c) { return std::pair{7 - r, c}; }, true),
    };
    for (auto& symmetry : both) symmetry.channels.insert(symmetry.channels.end(), {14, 15});
    return both;
  }

 private:
  static constexpr int num_channels = 16;
  static constexpr int rook_homes[4] = {7, 0, 63, 56};  // in the order of KQkq

  static int from_of(Action action) { return int(action >> 9); }
  static int to_of(Action action) { return int(action >> 3 & 63); }

  void count_draws(State& state, const Key& before, ChessPosition::Change change) const {
    if (change.irreversible || change.lost_castling) state.history.clear();
    if (change.irreversible) {
      state.quiet_plies = 0;
      state.drawn = state.is_dead();
    } else {
      ++state.quiet_plies;
      if (!change.lost_castling) state.history.push(before);
      state.drawn = state.quiet_plies >= draws.quiet_plies ||
                    state.history.count(state.position_key) + 1 >= draws.repetitions;
    }
  }
  void finish(State& state) const {
    state.stuck = !state.can_act();
    state.drawn |= plies_count && state.ply >= max_plies;
  }

  // ---- From texts ------------------------------------------------------------------------

  static Cells64 castling_of(const std::string& rights) {
    Cells64 castling = 0;
    std::string expected;  // in this order, each at most once
    for (int i = 0; i < 4; ++i)
      if (rights.find("KQkq"[i]) != std::string::npos) {
        castling |= bit_at(rook_homes[i]);
        expected += "KQkq"[i];
      }
    if (rights != (castling ? expected : "-")) refuse("castling rights are some of KQkq, or -");
    return castling;
  }

  // Whether the enemy's last action may have been a pawn's double step over the cell: before it,
  // the mover stood in no check.
  static bool has_passed(const State& state, int cell) {
    const int mover = state.to_move, from = cell + (mover ? -8 : 8);
    const Cells64 pawn_now = bit_at(cell ^ 8), pawn_then = bit_at(from);
    if (cell / 8 != (mover ? 2 : 5) || !(state.of(1 - mover, pawn) & pawn_now) ||
        state.occupied() & (bit_at(cell) | pawn_then))
      return false;
    const Cells64 then = state.occupied() ^ pawn_now ^ pawn_then;
    return !(state.attackers(state.king_cell(mover), 1 - mover, then) & ~pawn_now);
  }
  State make_state(const Board& board, Cells64 castling, int passed, int quiet_plies) const {
    State state;
    const int mover = board.to_move;
    state.position_key = mover_key(0);
    state.set_mover(mover);
    state.ply = board.ply;
    for (int cell = 0; cell < 64; ++cell)
      if (const int piece = board.cells[cell] - 1; piece >= 0)
        state.put(piece % 2, ChessKind(piece / 2), cell);
    for (int p : {0, 1}) {
      if (std::popcount(state.of(p, king)) != 1) refuse("a side needs one king");
      if (pieces(state, p) > max_pieces) refuse("a side has more than 16 pieces");
    }
    if (state.kinds[pawn] & 0xFF000000000000FF) refuse("a pawn stands on the first or last row");
    if (state.attackers(state.king_cell(1 - mover), mover, state.occupied()))
      refuse("the king of who is not to move stands in check");
    for (int p : {0, 1}) {  // rights without king and rook at home are none
      const Cells64 row = Cells64(0xff) << 56 * p;
      castling &= ~row | state.of(p, rook);
      if (state.king_cell(p) != 4 + 56 * p) castling &= ~row;
    }
    state.set_castling(castling);
    state.find_checks();
    if (passed >= 0) {
      if (!has_passed(state, passed)) refuse("no pawn can just have passed the en passant cell");
      state.set_en_passant(passed);
    }
    if (draws.quiet_plies) {
      state.quiet_plies = std::int16_t(quiet_plies);
      state.drawn = state.is_dead() || quiet_plies >= draws.quiet_plies;
    }
    finish(state);
    return state;
  }
};

}  // namespace

extern const GameType chess_type;
const GameType chess_type{
    "chess",
    "Chess",
    {one_of(
         "draw_rules", {"olympiad", "fide", "none"},
         "olympiad: third repetition and 50 moves draw; fide: fifth and 75; none: only max_plies"),
     whole_number("max_plies", 0, 0, 100000,
                  "plies, then a draw; 0: the draw rules end every game")},
    [](const Options& options) -> std::unique_ptr<Game> {
      const int max_plies = options.integer("max_plies");
      const auto& rules = options.text("draw_rules");
      if (rules == "olympiad") return make_rules_game("chess", Chess<100>{{3, 100}, max_plies});
      if (rules == "fide") return make_rules_game("chess", Chess<150>{{5, 150}, max_plies});
      if (max_plies == 0)
        throw std::invalid_argument(
            "Option 'max_plies' of game 'chess' must be set when draw_rules is none.");
      return make_rules_game("chess", Chess<1>{{}, max_plies});
    },
    {"white, the capitals: mate k", "black, the small letters: mate K"},
};

}  // namespace athenan
