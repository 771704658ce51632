// Ataxx: the first player's stones (x) start in the upper left and lower right corner, the second's
// (o) in the others. A player clones a stone to an empty cell next to it (8 directions), or lets it
// jump to an empty cell at distance exactly two, leaving its own; all enemies next to the new stone
// change colour. All clones to one cell are one action. Who has no action passes, and only then.
// The game ends when the board is full or a player has no stone; more stones win. (As long as a
// cell is empty somebody can move.)
// Options: size; draw_rules: `olympiad` draws after jump_limit plies in a row without a clone (the
// Olympiad's number is not published; 100 is that of the PyPI package ataxx), `none` has no such
// rule; max_plies, the draw that ends endless jumping where there is no limit.
// Actions: the target of a clone, from and to of a jump, a1 at the lower left; `pass`.
#include "games/bits.h"
#include "games/neighbours.h"
#include "games/rules.h"

namespace athenan {
namespace {

template <int W>
struct Ataxx {
  struct State {
    std::array<Bits<W>, 2> stones;
    Key key;
    std::int16_t ply = 0;
    std::int16_t quiet = 0;  // plies since the last clone; counted only where there is a limit
    std::int8_t to_move = 0;
    friend bool operator==(const State&, const State&) = default;
  };

  int size, jump_limit, ply_limit;  // no jump limit: 0
  int num_players = 2;
  int cells = size * size;
  // A clone adds a stone, of which four are there at the start.
  int longest = jump_limit * (cells - 4);
  bool cut = jump_limit == 0 || ply_limit < longest;  // by ply_limit, before any other end
  int max_plies = cut ? ply_limit : longest;
  bool has_history = jump_limit > 0;
  double max_score = cells;
  int max_pieces = cells;
  Shape shape{size, size, "xo", Grid::square, true};
  Action pass = Action(cells + cells * cells);
  std::vector<Bits<W>> near = make_rings<W>(size, size, 1), far = make_rings<W>(size, size, 2);

  State initial_state() const {
    State state;
    state.key = mover_key(0);
    put(state, 0, size - 1);
    put(state, 0, cells - size);
    put(state, 1, 0);
    put(state, 1, cells - 1);
    return state;
  }

  // A clone is its target, a jump cells + cells * from + to.
  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    const auto& own = state.stones[state.to_move];
    const auto empty = empty_cells(state);
    const auto before = actions.size();
    empty.for_each([&](int to) {
      if ((near[to] & own).any()) actions.push_back(to);
    });
    own.for_each([&](int from) {
      (far[from] & empty).for_each([&](int to) { actions.push_back(cells + cells * from + to); });
    });
    if (actions.size() == before) actions.push_back(pass);
  }

  void play(State& state, Action action) const {
    const int player = state.to_move;
    if (action != pass) {
      const int to = target(action);
      if (is_jump(action)) put(state, player, (int(action) - cells) / cells);
      put(state, player, to);
      (near[to] & state.stones[1 - player]).for_each([&](int cell) {
        put(state, player, cell);
        put(state, 1 - player, cell);
      });
    }
    if (jump_limit > 0) state.quiet = action < Action(cells) ? 0 : state.quiet + 1;
    state.key ^= mover_key(0) ^ mover_key(1);
    state.to_move ^= 1;
    ++state.ply;
  }

  bool is_terminal(const State& state) const {
    return is_decided(state) || (jump_limit > 0 && state.quiet >= jump_limit) ||
           (cut && state.ply >= ply_limit);
  }
  int outcome(const State& state, int player) const {
    const int lead = score(state, player) - score(state, 1 - player);
    return (lead > 0) - (lead < 0);
  }
  // The stones; nothing where a limit ended the game as a draw.
  int score(const State& state, int player) const {
    return is_terminal(state) && !is_decided(state) ? 0 : state.stones[player].count();
  }
  int pieces(const State& state, int player) const { return state.stones[player].count(); }
  Key key(const State& state) const {
    Key key = state.key;
    if (jump_limit > 0) key ^= count_key(0, state.quiet);
    if (cut) key ^= count_key(1, state.ply);
    return key;
  }

  void write_board(const State& state, Board& board) const { write_pieces(state.stones, board); }
  State from_board(const Board& board) const {
    State state;
    set_turn(state, board);
    read_pieces(board, [&](int piece, int cell) { put(state, piece, cell); });
    return state;
  }

  std::string note(const State& state) const {
    return state.quiet ? ", plies without a clone: " + std::to_string(state.quiet) : "";
  }
  State state_from_string(std::string_view text) const {
    State state = from_board(read_board(shape, num_players, text));
    const int quiet = read_counter(note_of(text), "plies without a clone");
    state.quiet = std::int16_t(std::min(quiet, jump_limit));
    return state;
  }

  std::string action_to_string(const State&, Action action) const {
    if (action == pass) return "pass";
    const auto to = cell_name(shape, target(action));
    return is_jump(action) ? cell_name(shape, (int(action) - cells) / cells) + to : to;
  }
  std::optional<int> marked_cell(const State&, Action action) const {
    return action == pass ? std::nullopt : std::optional(target(action));
  }
  std::vector<Symmetry> symmetries() const { return grid_symmetries(shape, 2, true); }

 private:
  bool is_jump(Action action) const { return action >= Action(cells) && action != pass; }
  int target(Action action) const { return int(action) % cells; }
  Bits<W> empty_cells(const State& state) const {
    return ~(state.stones[0] | state.stones[1]) & Bits<W>::first(cells);
  }
  bool is_decided(const State& state) const {
    return state.stones[0].none() || state.stones[1].none() || empty_cells(state).none();
  }

  // Puts a stone on the cell, or takes it off.
  void put(State& state, int player, int cell) const {
    state.stones[player].flip(cell);
    state.key ^= zobrist[player * cells + cell];
  }
};

}  // namespace

extern const GameType ataxx_type;
const GameType ataxx_type{
    "ataxx",
    "Ataxx",
    {whole_number("size", 7, 3, 10, "cells along a side"),
     one_of("draw_rules", {"olympiad", "none"},
            "olympiad: jump_limit draws; none: only max_plies does"),
     whole_number("jump_limit", 100, 1, 1000, "plies in a row without a clone that draw"),
     whole_number("max_plies", 10000, 1, 30000,
                  "plies, then a draw; with the usual jump_limit no game is that long")},
    [](const Options& options) {
      const int size = options.integer("size");
      const int jump_limit =
          options.text("draw_rules") == "olympiad" ? options.integer("jump_limit") : 0;
      return with_words(size * size, [&]<int W>() {
        return make_rules_game("ataxx", Ataxx<W>{size, jump_limit, options.integer("max_plies")});
      });
    },
    {"the most pieces at the end win"},
};

}  // namespace athenan
