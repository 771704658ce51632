// Rolit: Othello for two to four players, each with a colour, in turn. A disc must go on an empty
// cell from which at least one straight line of other colours runs to an own disc, if there is one;
// all such lines take the mover's colour. Otherwise it may go on any empty cell next to a disc
// (also diagonally), so that nobody passes, a colour that has vanished comes back, and the game
// ends when the board is full. Most discs win; those who tie for most draw, all others lose.
// Options: players; size (even); without_line, what happens when no line turns: `adjacent` as
// above, from the rules of the boxed game (Goliath, 1997), or `pass` as in Othello and in
// multiplayer Reversi programs, where the game ends when nobody can turn a line. start, the discs
// in the centre: `players` deals them clockwise from the upper right in the order of play (with two
// players this is Othello's start, with three the first has two discs); `four_colours` puts one of
// each colour whatever the number of players, as the boxed game does: colours without a player (#)
// are nobody's. Actions: column letter and row number from the top; `pass`.
#include "games/bits.h"
#include "games/flanking.h"
#include "games/neighbours.h"
#include "games/rules.h"

namespace athenan {
namespace {

template <int W>
struct Rolit {
  struct State {
    std::array<Bits<W>, 4> discs;  // nobody's, if any, after those of the players
    Bits<W> moves;                 // where the mover can put a disc
    Key key;
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    bool over = false;
    friend bool operator==(const State&, const State&) = default;
  };

  int num_players, size;
  bool passes;        // who can turn no line passes
  bool four_colours;  // at the start
  int colours = num_players + (four_colours && num_players < 4 ? 1 : 0);
  int max_plies = (size * size - 4) * (passes ? num_players : 1);
  double max_score = size * size;
  int max_pieces = size * size;
  Shape shape{size, size,
              std::string("xozv").substr(0, num_players) + (colours > num_players ? "#" : "")};
  Action pass = Action(size * size);
  std::vector<std::string> other_actions = only_if(passes, "pass");
  Flanking<W> flanking{size};
  std::vector<Bits<W>> neighbours = make_rings<W>(size, size, 1);

  State initial_state() const {
    const int corner = (size / 2 - 1) * size + size / 2 - 1;
    const std::array<int, 4> clockwise = {corner + 1, corner + size + 1, corner + size, corner};
    State state;
    state.key = mover_key(0);
    for (int i = 0; i < 4; ++i)
      put(state, four_colours ? std::min(i, num_players) : i % num_players, clockwise[i]);
    find_moves(state);
    return state;
  }

  void legal_actions(const State& state, Actions& actions) const {
    if (state.over) return;
    state.moves.for_each([&](int cell) { actions.push_back(cell); });
    if (state.moves.none()) actions.push_back(pass);
  }

  void play(State& state, Action action) const {
    const int player = state.to_move, next = (player + 1) % num_players;
    if (action != pass) {
      const auto turned =
          flanking.turned_by(state.discs[player], others(state, player), int(action));
      for (int colour = 0; colour < colours; ++colour)
        if (colour != player)
          (turned & state.discs[colour]).for_each([&](int cell) { put(state, colour, cell); });
      turned.for_each([&](int cell) { put(state, player, cell); });
      put(state, player, int(action));
    }
    state.key ^= mover_key(player) ^ mover_key(next);
    state.to_move = std::int8_t(next);
    ++state.ply;
    find_moves(state);
  }

  bool is_terminal(const State& state) const { return state.over; }
  int outcome(const State& state, int player) const {
    const int own = score(state, player);
    int ahead = 0, level = 0;
    for (int p = 0; p < num_players; ++p) {
      ahead += score(state, p) > own;
      level += score(state, p) == own;
    }
    return ahead > 0 ? -1 : level > 1 ? 0 : 1;
  }
  int score(const State& state, int player) const { return state.discs[player].count(); }
  int pieces(const State& state, int player) const { return state.discs[player].count(); }
  Bounds bounds(const State& state) const {
    if (num_players > 2) return {};
    const auto discs = state.discs[0] | others(state, 0);
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
  std::vector<Symmetry> symmetries() const { return grid_symmetries(shape, num_players, true); }

 private:
  // Puts a disc on the cell, or takes it off.
  void put(State& state, int colour, int cell) const {
    state.discs[colour].flip(cell);
    state.key ^= zobrist[colour * shape.size() + cell];
  }

  Bits<W> others(const State& state, int player) const {
    Bits<W> discs;
    for (int colour = 0; colour < colours; ++colour)
      if (colour != player) discs |= state.discs[colour];
    return discs;
  }
  Bits<W> lines_of(const State& state, int player) const {
    return flanking.moves_of(state.discs[player], others(state, player));
  }

  void find_moves(State& state) const {
    state.moves = lines_of(state, state.to_move);
    state.over = state.moves.none();
    if (!state.over) return;
    if (passes) {
      for (int p = 0; p < num_players; ++p) state.over &= lines_of(state, p).none();
    } else {
      const auto discs = state.discs[state.to_move] | others(state, state.to_move);
      discs.for_each([&](int cell) { state.moves |= neighbours[cell] & ~discs; });
      state.over = state.moves.none();
    }
  }
};

}  // namespace

extern const GameType rolit_type;
const GameType rolit_type{
    "rolit",
    "Rolit",
    {whole_number("players", 4, 2, 4, "colours in turn"),
     whole_number("size", 8, 4, 10, "cells along a side, an even number"),
     one_of("without_line", {"adjacent", "pass"},
            "who can turn no line plays next to any disc, or passes as in Othello"),
     one_of("start", {"players", "four_colours"},
            "the first four discs: dealt to the players in turn, or one of each colour, some "
            "nobody's")},
    [](const Options& options) -> std::unique_ptr<Game> {
      const int players = options.integer("players"), size = options.integer("size");
      if (size % 2) throw std::invalid_argument("Option 'size' of game 'rolit' must be even.");
      return with_words(size * size, [&]<int W>() {
        return make_rules_game("rolit",
                               Rolit<W>{players, size, options.text("without_line") == "pass",
                                        options.text("start") == "four_colours"});
      });
    },
    {"the most discs at the end win"},
};

}  // namespace athenan
