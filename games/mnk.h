// m,n,k games: players in turn put a stone on an empty cell of a rows × columns board; the first
// with k (or more) of his stones in an unbroken row, column or diagonal wins and all others lose;
// a full board is a draw. Two to four players. Tic-tac-toe and Tic-Tac-Mo are of this family.
#pragma once

#include "bits.h"
#include "lines.h"
#include "rules.h"

namespace athenan {

template <int W>
struct Mnk {
  struct State {
    std::array<Bits<W>, 4> stones;
    Key key;
    std::int16_t ply = 0;
    std::int16_t free = 0;  // empty cells
    std::int8_t to_move = 0;
    std::int8_t winner = -1;
    friend bool operator==(const State&, const State&) = default;
  };

  int rows, columns, k, num_players;
  int max_plies = rows * columns;
  Shape shape{rows, columns, std::string("xozv").substr(0, num_players)};

  State initial_state() const {
    State state;
    state.free = std::int16_t(rows * columns);
    state.key = mover_key(0);
    return state;
  }

  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    Bits<W> taken;
    for (const auto& stones : state.stones) taken |= stones;
    (~taken & Bits<W>::first(shape.size())).for_each([&](int cell) { actions.push_back(cell); });
  }

  void play(State& state, Action action) const {
    const int player = state.to_move, next = (player + 1) % num_players;
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

  void write_board(const State& state, Board& board) const {
    for (int p = 0; p < num_players; ++p)
      state.stones[p].for_each([&](int cell) { board.cells[cell] = std::uint8_t(p + 1); });
  }
  State from_board(const Board& board) const {
    State state = initial_state();
    state.key = mover_key(board.to_move);
    state.to_move = std::int8_t(board.to_move);
    state.ply = std::int16_t(board.ply);
    for (int cell = 0; cell < shape.size(); ++cell) {
      if (!board.cells[cell]) continue;
      const int player = board.cells[cell] - 1;
      state.stones[player].set(cell);
      state.key ^= zobrist[player * shape.size() + cell];
      --state.free;
    }
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
  std::vector<Symmetry> symmetries() const {
    return grid_symmetries(shape, num_players, num_players == 2);
  }
};

inline std::unique_ptr<Game> make_mnk(std::string name, int rows, int columns, int k, int players) {
  return with_words(rows * columns, [&]<int W>() {
    return make_rules_game(std::move(name), Mnk<W>{rows, columns, k, players});
  });
}

}  // namespace athenan
