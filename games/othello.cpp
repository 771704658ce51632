// Othello: black (x) first; a disc goes on an empty cell from which at least one straight line of
// enemy discs runs to an own disc; all such lines turn over. Who has no such cell passes (and only
// then); when neither has one the game is over and more discs win.
// Options: size (even): 8 is the usual board; the paper and the Computer Olympiad also play 10.
// Actions: column letter and row number from the top; `pass`.
// The score is the difference of discs; empty cells count for nobody.
#include "games/bits.h"
#include "games/flanking.h"
#include "games/rules.h"

namespace athenan {
namespace {

template <int W>
struct Othello {
  struct State {
    std::array<Bits<W>, 2> discs;
    Bits<W> moves;  // where the mover can put a disc
    Key key;
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    bool over = false;
    friend bool operator==(const State&, const State&) = default;
  };

  int size;
  int num_players = 2;
  int max_plies = 2 * (size * size - 4) - 1;  // a pass stands between two discs
  double max_score = size * size;
  int max_pieces = size * size;
  Shape shape{size, size};
  Action pass = Action(size * size);
  std::vector<std::string> other_actions = {"pass"};
  Flanking<W> flanking{size};

  State initial_state() const {
    const int half = size / 2;
    State state;
    put(state, 0, (half - 1) * size + half);
    put(state, 0, half * size + half - 1);
    put(state, 1, (half - 1) * size + half - 1);
    put(state, 1, half * size + half);
    state.key ^= mover_key(0);
    find_moves(state);
    return state;
  }

  void legal_actions(const State& state, Actions& actions) const {
    if (state.over) return;
    state.moves.for_each([&](int cell) { actions.push_back(cell); });
    if (state.moves.none()) actions.push_back(pass);
  }

  void play(State& state, Action action) const {
    const int player = state.to_move;
    if (action != pass) {
      const auto turned =
          flanking.turned_by(state.discs[player], state.discs[1 - player], int(action));
      put(state, player, int(action));
      turned.for_each([&](int cell) {
        put(state, player, cell);
        put(state, 1 - player, cell);
      });
    }
    state.key ^= mover_key(0) ^ mover_key(1);
    state.to_move ^= 1;
    ++state.ply;
    find_moves(state);
  }

  bool is_terminal(const State& state) const { return state.over; }
  int outcome(const State& state, int player) const {
    const int lead = state.discs[player].count() - state.discs[1 - player].count();
    return (lead > 0) - (lead < 0);
  }
  int score(const State& state, int player) const { return state.discs[player].count(); }
  int pieces(const State& state, int player) const { return state.discs[player].count(); }
  Bounds bounds(const State& state) const {
    const auto discs = state.discs[0] | state.discs[1];
    const auto stay = [&](int player) { return flanking.stay(state.discs[player], discs).count(); };
    return {float(2 * stay(0) - max_pieces), float(max_pieces - 2 * stay(1))};
  }
  Key key(const State& state) const { return state.key; }

  void write_board(const State& state, Board& board) const { write_pieces(state.discs, board); }
  State from_board(const Board& board) const {
    State state;
    set_turn(state, board);
    read_pieces(board, [&](int piece, int cell) { put(state, piece, cell); });
    find_moves(state);
    return state;
  }

  std::string action_to_string(const State&, Action action) const {
    return action == pass ? "pass" : cell_name(shape, int(action));
  }
  std::optional<int> marked_cell(const State&, Action action) const {
    return action == pass ? std::nullopt : std::optional(int(action));
  }
  std::vector<Symmetry> symmetries() const { return grid_symmetries(shape, 2, true); }

 private:
  // Puts a disc on the cell, or takes it off.
  void put(State& state, int player, int cell) const {
    state.discs[player].flip(cell);
    state.key ^= zobrist[player * shape.size() + cell];
  }

  void find_moves(State& state) const {
    const auto &own = state.discs[state.to_move], &enemy = state.discs[1 - state.to_move];
    state.moves = flanking.moves_of(own, enemy);
    state.over = state.moves.none() && flanking.moves_of(enemy, own).none();
  }
};

}  // namespace

extern const GameType othello_type;
const GameType othello_type{
    "othello",
    "Othello",
    {whole_number("size", 8, 4, 10, "cells along a side, an even number")},
    [](const Options& options) -> std::unique_ptr<Game> {
      const int size = options.integer("size");
      if (size % 2) throw std::invalid_argument("Option 'size' of game 'othello' must be even.");
      return with_words(size * size,
                        [&]<int W>() { return make_rules_game("othello", Othello<W>{size}); });
    },
    {"the most discs at the end win"},
};

}  // namespace athenan
