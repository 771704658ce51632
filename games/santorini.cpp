// Santorini without gods: first x, then o places two workers on empty cells. A turn is then two
// actions of one player: he moves a worker to a free neighbour cell (of eight) without a dome, at
// most one level up or any number down, and that worker builds on a neighbour cell without worker
// or dome: levels 1 to 3, then a dome (4). Who climbs to level 3 wins at once; who cannot move
// loses. There is always a place to build, the cell just left, and no draw.
// Options: size. The board is 5 × 5; that the Olympiad plays without gods, and with tiles enough,
// is not published: it is what Ludii does, whose games are our vectors.
// Actions: a cell, to place a worker or to build; from and to, to move; a1 at the lower left.
// In the text of a state a cell is its level and its worker; a capital is the worker about to
// build.
#include <sstream>

#include "games/bits.h"
#include "games/neighbours.h"
#include "games/rules.h"

namespace athenan {
namespace {

struct Santorini {
  static constexpr int levels = 4, summit = 3;

  struct State {
    std::array<Bits<1>, 2> workers;
    std::array<Bits<1>, levels> built;  // built[i]: the cells with more than i levels
    Key key;
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    std::int8_t builder = -1;  // the cell of the worker that has to build
    std::int8_t winner = -1;
    friend bool operator==(const State&, const State&) = default;
  };

  int size;
  int num_players = 2;
  int cells = size * size;
  int max_plies = 4 + 2 * levels * cells + 1;  // two for each level of each cell
  Shape shape{size, size, "xoXO", Grid::square, true};
  Bits<1> all = Bits<1>::first(cells);
  std::vector<Bits<1>> neighbours = make_rings<1>(size, size, 1);

  State initial_state() const {
    State state;
    state.key = mover_key(0);
    return state;
  }

  // An action is a cell, or cells + cells * from + to.
  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    const auto cell_actions = [&](const Bits<1>& found) {
      found.for_each([&](int cell) { actions.push_back(cell); });
    };
    if (state.builder >= 0) return cell_actions(building_sites(state, state.builder));
    if (is_placing(state)) return cell_actions(all & ~occupied(state));
    state.workers[state.to_move].for_each([&](int from) {
      targets(state, from).for_each([&](int to) { actions.push_back(cells + cells * from + to); });
    });
  }

  void play(State& state, Action action) const {
    const int player = state.to_move;
    ++state.ply;
    if (int(action) >= cells) {
      const int from = (int(action) - cells) / cells, to = (int(action) - cells) % cells;
      put(state, player, from);
      put(state, player, to);
      if (level(state, to) == summit)
        state.winner = std::int8_t(player);
      else
        return set_builder(state, to);
    } else if (state.builder >= 0) {
      raise(state, int(action));
      set_builder(state, -1);
    } else {
      put(state, player, int(action));
      if (is_placing(state)) return;
    }
    state.to_move ^= 1;
    state.key ^= mover_key(0) ^ mover_key(1);
    if (state.winner < 0 && is_stuck(state)) state.winner = std::int8_t(player);
  }

  bool is_terminal(const State& state) const { return state.winner >= 0; }
  int outcome(const State& state, int player) const { return state.winner == player ? 1 : -1; }
  Key key(const State& state) const { return state.key; }

  void write_board(const State& state, Board& board) const {
    for (int p : {0, 1})
      state.workers[p].for_each(
          [&](int cell) { board.cells[cell] = std::uint8_t(p + (cell == state.builder ? 3 : 1)); });
  }
  State from_board(const Board& board) const {
    return assembled(board, std::vector<int>(cells, 0));
  }

  // The planes are those of the board and one a level.
  std::vector<std::string> channels() const {
    auto names = channel_names(shape, num_players);
    for (int i = 1; i <= levels; ++i) names.push_back("level " + std::to_string(i));
    return names;
  }
  void planes(const State& state, std::uint8_t* out) const {
    constexpr int movers = 4, first_level = 6, stride = first_level + levels;
    std::fill_n(out, cells * stride, std::uint8_t(0));
    for (int cell = 0; cell < cells; ++cell) {
      auto* plane = out + cell * stride;
      plane[movers + state.to_move] = 1;
      if (const int height = level(state, cell)) plane[first_level + height - 1] = 1;
      for (int p : {0, 1})
        if (state.workers[p].test(cell)) plane[p + (cell == state.builder ? 2 : 0)] = 1;
    }
  }
  State state_from_planes(const std::uint8_t* planes, int ply) const {
    constexpr int symbols_and_movers = 6, stride = symbols_and_movers + levels;
    std::vector<std::uint8_t> board;
    std::vector<int> heights(cells, 0);
    for (int cell = 0; cell < cells; ++cell) {
      const auto* plane = planes + cell * stride;
      board.insert(board.end(), plane, plane + symbols_and_movers);
      for (int i = 0; i < levels; ++i)
        if (plane[symbols_and_movers + i]) heights[cell] = i + 1;
    }
    return assembled(board_from_planes(shape, board.data(), num_players, ply), heights);
  }

  // The drawn board with each cell's level written before its worker.
  std::string state_to_string(const State& state, std::optional<Action> last) const {
    Board board{std::vector<std::uint8_t>(cells, 0), state.to_move, state.ply};
    write_board(state, board);
    std::optional<Ending> ending;
    if (is_terminal(state)) ending.emplace().outcome[state.winner] = 1;
    const auto marked = last ? std::optional(marked_cell(state, *last)) : std::nullopt;
    std::istringstream drawn(draw_board(shape, board, num_players, marked, ending));
    std::string text, line;
    for (int i = -1; std::getline(drawn, line); ++i) {
      const int row = size - 1 - i;
      for (int column = size - 1; column >= 0 && i < size; --column)
        line.insert(2 + 2 * column,
                    i < 0 ? " " : std::to_string(level(state, row * size + column)));
      text += line + (i < size ? "\n" : "");
    }
    return text;
  }
  State state_from_string(std::string_view text) const {
    std::istringstream in{std::string(text)};
    std::string board, line;
    std::vector<int> heights(cells, 0);
    for (int i = -1; std::getline(in, line); ++i) {
      const auto label = line.find_first_not_of(' ');
      if (i >= 0 && i < size && label != std::string::npos) {
        std::string digits;
        for (auto at = label + 1; at < line.size();)
          if (line[at] >= '0' && line[at] <= '4')
            digits += line[at], line.erase(at, 1);
          else
            ++at;
        require(int(digits.size()) == size, "each cell needs its level, 0 to 4");
        for (int column = 0; column < size; ++column)
          heights[(size - 1 - i) * size + column] = digits[column] - '0';
      }
      board += line + "\n";
    }
    return assembled(read_board(shape, num_players, board), heights);
  }

  std::string action_to_string(const State&, Action action) const {
    const int number = int(action);
    if (number < cells) return cell_name(shape, number);
    return cell_name(shape, (number - cells) / cells) + cell_name(shape, (number - cells) % cells);
  }
  std::string part_of_turn(const State& state) const {
    return state.builder >= 0 ? "build" : is_placing(state) ? "place a worker" : "move a worker";
  }
  int marked_cell(const State&, Action action) const { return int(action) % cells; }
  std::vector<Symmetry> symmetries() const {
    auto symmetries = grid_symmetries(shape, num_players, true);
    for (auto& symmetry : symmetries)
      for (int i = 0; i < levels; ++i) symmetry.channels.push_back(int(symmetry.channels.size()));
    return symmetries;
  }

 private:
  static Bits<1> occupied(const State& state) { return state.workers[0] | state.workers[1]; }
  static int level(const State& state, int cell) {
    int sum = 0;
    for (const auto& cells_above : state.built) sum += cells_above.test(cell);
    return sum;
  }
  static bool is_placing(const State& state) { return state.workers[state.to_move].count() < 2; }

  Bits<1> targets(const State& state, int from) const {
    const auto& too_high = state.built[std::min(level(state, from) + 1, levels - 1)];
    return neighbours[from] & ~occupied(state) & ~too_high;
  }
  Bits<1> building_sites(const State& state, int builder) const {
    return neighbours[builder] & ~occupied(state) & ~state.built[levels - 1];
  }
  bool is_stuck(const State& state) const {
    if (state.builder >= 0 || is_placing(state)) return false;
    return !state.workers[state.to_move].any_of(
        [&](int from) { return targets(state, from).any(); });
  }

  // Puts a worker on the cell, or takes him off it.
  void put(State& state, int player, int cell) const {
    state.workers[player].flip(cell);
    state.key ^= zobrist[player * cells + cell];
  }
  void raise(State& state, int cell) const {
    const int height = level(state, cell);
    state.built[height].set(cell);
    state.key ^= zobrist[(2 + height) * cells + cell];
  }
  void set_builder(State& state, int cell) const {
    const int first = (2 + levels) * cells;
    if (state.builder >= 0) state.key ^= zobrist[first + state.builder];
    if (cell >= 0) state.key ^= zobrist[first + cell];
    state.builder = std::int8_t(cell);
  }

  static void require(bool truth, const std::string& rule) {
    if (!truth) refuse(rule);
  }
  State assembled(const Board& board, const std::vector<int>& heights) const {
    State state;
    set_turn(state, board);
    for (int cell = 0; cell < cells; ++cell) {
      for (int i = 0; i < heights[cell]; ++i) raise(state, cell);
      if (!board.cells[cell]) continue;
      const int player = (board.cells[cell] - 1) % 2;
      put(state, player, cell);
      require(heights[cell] < levels, "no worker stands on a dome");
      if (heights[cell] == summit) state.winner = std::int8_t(player);
      if (board.cells[cell] <= 2) continue;
      require(state.builder < 0 && player == state.to_move,
              "only one worker, of the player to move, can have to build");
      set_builder(state, cell);
    }
    for (const auto& workers : state.workers)
      require(workers.count() <= 2, "a player has two workers");
    if (occupied(state).count() < 4)
      require(is_placing(state) && state.builder < 0 && state.built[0].none(),
              "nobody moves or builds before every worker is placed");
    if (state.builder >= 0)
      require(building_sites(state, state.builder).any(),
              "a worker that has moved can always build where it came from");
    if (state.winner < 0 && is_stuck(state)) state.winner = std::int8_t(1 - state.to_move);
    return state;
  }
};

}  // namespace

extern const GameType santorini_type;
const GameType santorini_type{
    "santorini",
    "Santorini",
    {whole_number("size", 5, 3, 7, "cells along a side")},
    [](const Options& options) {
      return make_rules_game("santorini", Santorini{options.integer("size")});
    },
    {"a worker on level 3 wins, and whoever cannot move loses"},
};

}  // namespace athenan
