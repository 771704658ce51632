// The rules of m,n,k games (see mnk.cpp), of which tic-tac-toe, Tic-Tac-Mo, Gomoku and Connect6
// are; the last two use `opening_lines` and `stones_a_turn`.
#pragma once

#include "games/bits.h"
#include "games/lines.h"
#include "games/rules.h"

namespace athenan {

template <int W, int max_colours>
struct Mnk {
  struct State {
    std::array<Bits<W>, max_colours> stones;
    Key key;
    std::int16_t ply = 0;
    std::int16_t free = 0;  // empty cells
    std::int8_t to_move = 0;
    std::int8_t winner = -1;
    friend bool operator==(const State&, const State&) = default;
  };

  int rows, columns, k, num_players;
  int opening_lines = 0;  // the first stone lies on one of so many outermost lines; 0: anywhere
  int stones_a_turn = 1;  // of every turn but the first, which is one stone
  int max_plies = rows * columns;
  Shape shape{rows, columns, std::string("xozv").substr(0, num_players)};
  std::vector<std::string> other_actions = {};
  Bits<W> opening_cells = make_opening_cells();

  State initial_state() const {
    State state;
    state.free = std::int16_t(rows * columns);
    state.key = mover_key(0);
    return state;
  }

  Bits<W> action_set(const State& state) const {
    auto cells = state.free == shape.size() ? opening_cells : Bits<W>::first(shape.size());
    for (const auto& stones : state.stones) cells &= ~stones;
    return cells;
  }

  void play(State& state, Action action) const {
    const int player = state.to_move;
    const int next = stones_left(state) == 1 ? (player + 1) % num_players : player;
    state.stones[player].set(action);
    state.key ^= zobrist[player * shape.size() + action] ^ mover_key(player) ^ mover_key(next);
    if (longest_line(state.stones[player], action, rows, columns) >= k)
      state.winner = std::int8_t(player);
    state.to_move = std::int8_t(next);
    --state.free;
    ++state.ply;
  }

  bool is_terminal(const State& state) const { return state.winner >= 0 || state.free == 0; }
  int outcome(const State& state, int player) const {
    return state.winner < 0 ? 0 : state.winner == player ? 1 : -1;
  }
  Key key(const State& state) const { return state.key; }

  void write_board(const State& state, Board& board) const { write_pieces(state.stones, board); }
  State from_board(const Board& board) const {
    State state = initial_state();
    set_turn(state, board);
    read_pieces(board, [&](int player, int cell) {
      state.stones[player].set(cell);
      state.key ^= zobrist[player * shape.size() + cell];
      --state.free;
    });
    for (int p = 0; p < num_players; ++p)
      state.stones[p].for_each([&](int cell) {
        if (longest_line(state.stones[p], cell, rows, columns) >= k) state.winner = std::int8_t(p);
      });
    return state;
  }

  std::string action_to_string(const State&, Action action) const {
    return cell_name(shape, action);
  }
  int marked_cell(const State&, Action action) const { return int(action); }
  std::vector<Symmetry> symmetries() const { return grid_symmetries(shape, num_players, true); }

  // What the mover still puts down in this turn, so that the stones on the board tell it.
  int stones_left(const State& state) const {
    const int put = shape.size() - state.free;
    return put == 0 ? 1 : stones_a_turn - (put - 1) % stones_a_turn;
  }

 private:
  Bits<W> make_opening_cells() const {
    Bits<W> cells;
    for (int cell = 0; cell < shape.size(); ++cell) {
      const int row = cell / columns, column = cell % columns;
      const int line = std::min({row, column, rows - 1 - row, columns - 1 - column});
      if (opening_lines == 0 || line < opening_lines) cells.set(cell);
    }
    return cells;
  }
};

inline std::unique_ptr<Game> make_mnk(std::string name, int rows, int columns, int k, int players,
                                      int opening_lines = 0) {
  return with_words(rows * columns, [&]<int W>() {
    if (players == 2)
      return make_rules_game(std::move(name), Mnk<W, 2>{rows, columns, k, players, opening_lines});
    return make_rules_game(std::move(name), Mnk<W, 4>{rows, columns, k, players, opening_lines});
  });
}

}  // namespace athenan
