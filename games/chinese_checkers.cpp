// Chinese checkers: a star of 121 cells; each player has ten pieces in one point of the star and
// wants them in the opposite point. A turn is a step to an empty neighbour cell (of six), or hops:
// over a piece of anyone next to it to the empty cell just behind, again and again with the same
// piece. Each hop is an action; while more are possible the player may go on or `Pass`, and within
// one turn a piece comes to no cell twice. Nothing is captured. Who has no action at all passes.
// Who fills the opposite point with his pieces at the end of his turn wins and all others lose.
// Options: players; blocking: when false (a usual rule) the point may also be filled with help of
// pieces of others, if one of his own is there, so that nobody can lock it by staying at home; when
// true (as in OpenSpiel) all ten must be his own; max_plies: so many actions make a draw.
// Actions: cells numbered from 0 row by row, 9->18 for a step, 9=>30 for a hop; `Pass`.
// In the text of a state a capital is a piece between two hops and * a cell it has been on.
#include <stdexcept>

#include "bits.h"
#include "rules.h"

namespace athenan {
namespace {

struct ChineseCheckers {
  static constexpr int rows = 17, cells = 121, points = 6;
  static constexpr int directions = 6;  // up left, up right, left, right, down left, down right
  static constexpr int ways = 2 * directions;  // the steps, then the hops
  static constexpr Action pass = cells * ways;
  using Cells = Bits<2>;

  struct State {
    std::array<Cells, max_players> pieces;
    Cells visited;  // by the hopping piece in this turn, without where it is
    Key key;
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    std::int8_t hopping = -1;  // the cell of the piece between two hops
    std::int8_t winner = -1;
    friend bool operator==(const State&, const State&) = default;
  };
  int num_players;
  bool blocking;
  int max_plies;
  // A row of the shape is a row of the star; its columns slant down to the right.
  Shape shape = make_shape();
  std::vector<int> places = make_places();  // the place of each cell in the shape
  // Where each way of each cell leads; -1 off the board.
  std::array<std::array<std::int8_t, ways>, cells> targets = make_targets();
  std::array<Cells, points> star_points = make_star_points();  // from the top one clockwise
  std::vector<int> homes = make_homes();

  State initial_state() const {
    State state;
    state.key = mover_key(0);
    for (int p = 0; p < num_players; ++p)
      star_points[homes[p]].for_each([&](int cell) { put(state, p, cell); });
    return state;
  }

  // An action is ways * from + way.
  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    const auto taken = occupied(state);
    const auto before = actions.size();
    if (state.hopping >= 0)
      add_hops(state, taken, state.hopping, actions);
    else
      state.pieces[state.to_move].for_each([&](int from) {
        for (int way = 0; way < directions; ++way)
          if (const int to = targets[from][way]; to >= 0 && !taken.test(to))
            actions.push_back(ways * from + way);
        add_hops(state, taken, from, actions);
      });
    if (state.hopping >= 0 || actions.size() == before) actions.push_back(pass);
  }

  void play(State& state, Action action) const {
    ++state.ply;
    if (action == pass) return end_turn(state);
    const int from = int(action) / ways, to = target(action);
    put(state, state.to_move, from);
    put(state, state.to_move, to);
    if (is_step(action)) return end_turn(state);
    visit(state, from);
    set_hopping(state, to);
    const auto taken = occupied(state);
    for (int way = directions; way < ways; ++way)
      if (can_hop(state, taken, to, way)) return;
    end_turn(state);
  }

  bool is_terminal(const State& state) const { return state.winner >= 0 || state.ply >= max_plies; }
  int outcome(const State& state, int player) const {
    return state.winner < 0 ? 0 : state.winner == player ? 1 : -1;
  }
  // The ply counts because max_plies can end the game.
  Key key(const State& state) const { return state.key ^ count_key(0, state.ply); }

  // Symbols: the players, the players' pieces between two hops, a visited cell.
  void write_board(const State& state, Board& board) const {
    for (int p = 0; p < num_players; ++p)
      state.pieces[p].for_each([&](int cell) {
        board.cells[places[cell]] = std::uint8_t(p + 1 + (cell == state.hopping ? num_players : 0));
      });
    state.visited.for_each(
        [&](int cell) { board.cells[places[cell]] = std::uint8_t(2 * num_players + 1); });
  }
  State from_board(const Board& board) const {
    State state;
    set_turn(state, board);
    for (int cell = 0; cell < cells; ++cell) {
      const int piece = board.cells[places[cell]];
      if (piece > 2 * num_players) {
        visit(state, cell);
      } else if (piece) {
        put(state, (piece - 1) % num_players, cell);
        if (piece > num_players) set_hopping(state, cell);
      }
    }
    judge(state);
    return state;
  }

  // Cells have numbers here, so no letters stand above the columns.
  std::string state_to_string(const State& state, std::optional<Action> last) const {
    Board board{std::vector<std::uint8_t>(shape.size(), 0), state.to_move, state.ply};
    write_board(state, board);
    std::optional<Ending> ending;
    if (is_terminal(state)) ending.emplace();
    if (state.winner >= 0) ending->outcome[state.winner] = 1;
    const auto marked = last ? marked_cell(state, *last) : std::nullopt;
    const auto text = draw_board(shape, board, num_players, marked, ending);
    return "cells 0 to 120, row by row" + text.substr(text.find('\n'));
  }
  std::string action_to_string(const State&, Action action) const {
    if (action == pass) return "Pass";
    return std::to_string(action / ways) + (is_step(action) ? "->" : "=>") +
           std::to_string(target(action));
  }
  std::optional<int> marked_cell(const State&, Action action) const {
    return action == pass ? std::nullopt : std::optional(places[target(action)]);
  }

  // Two players: the mirror keeps both, half a turn exchanges them. With more, who follows whom
  // and who sits where allows none that a sign of the value could express.
  std::vector<Symmetry> symmetries() const {
    const auto map = [this](auto source) {
      return [this, source](int r, int c) {
        return shape.exists(r * rows + c) ? source(r, c) : std::pair{r, c};
      };
    };
    const auto same = map([](int r, int c) { return std::pair{r, c}; });
    const auto mirror = map([](int r, int c) { return std::pair{r, 24 - c - r}; });
    const auto half_turn = map([](int r, int c) { return std::pair{16 - r, 16 - c}; });
    const auto both = map([](int r, int c) { return std::pair{16 - r, c + r - 8}; });
    if (num_players > 2) return {make_symmetry(shape, num_players, same)};
    return {make_symmetry(shape, 2, same), make_symmetry(shape, 2, mirror),
            make_symmetry(shape, 2, half_turn, true), make_symmetry(shape, 2, both, true)};
  }

 private:
  static bool is_step(Action action) { return int(action) % ways < directions; }
  int target(Action action) const { return targets[action / ways][action % ways]; }
  Cells occupied(const State& state) const {
    Cells taken;
    for (int p = 0; p < num_players; ++p) taken |= state.pieces[p];
    return taken;
  }
  bool can_hop(const State& state, const Cells& taken, int from, int way) const {
    const int to = targets[from][way];
    return to >= 0 && taken.test(targets[from][way - directions]) && !taken.test(to) &&
           !state.visited.test(to);
  }
  void add_hops(const State& state, const Cells& taken, int from, Actions& actions) const {
    for (int way = directions; way < ways; ++way)
      if (can_hop(state, taken, from, way)) actions.push_back(ways * from + way);
  }

  // Puts a piece on the cell, or takes it off.
  void put(State& state, int player, int cell) const {
    state.pieces[player].flip(cell);
    state.key ^= zobrist[player * cells + cell];
  }
  void visit(State& state, int cell) const {
    state.visited.set(cell);
    state.key ^= zobrist[max_players * cells + cell];
  }
  void set_hopping(State& state, int cell) const {
    const int first = (max_players + 1) * cells;
    if (state.hopping >= 0) state.key ^= zobrist[first + state.hopping];
    if (cell >= 0) state.key ^= zobrist[first + cell];
    state.hopping = std::int8_t(cell);
  }

  void end_turn(State& state) const {
    set_hopping(state, -1);
    state.key ^= zobrist_of(state.visited, max_players * cells) ^ mover_key(state.to_move);
    state.visited = {};
    state.to_move = std::int8_t((state.to_move + 1) % num_players);
    state.key ^= mover_key(state.to_move);
    judge(state);
  }
  // Whether he who has just ended his turn has won.
  void judge(State& state) const {
    if (state.hopping >= 0) return;
    const int player = (state.to_move + num_players - 1) % num_players;
    const auto& goal = star_points[(homes[player] + points / 2) % points];
    const auto& own = state.pieces[player];
    const bool filled = ((blocking ? own : occupied(state)) & goal) == goal;
    if (filled && (own & goal).any()) state.winner = std::int8_t(player);
  }

  // ---- The star: cell `place` of the shape lies at `row` and, in half cells, at `across`. ----

  static int row_of(int place) { return place / rows; }
  static int across(int place) { return 2 * (place % rows) - 12 + row_of(place); }

  Shape make_shape() const {
    static constexpr int lengths[rows] = {1,  2,  3,  4,  13, 12, 11, 10, 9,
                                          10, 11, 12, 13, 4,  3,  2,  1};
    const auto small = std::string("xozvus").substr(0, num_players);
    const auto capital = std::string("XOZVUS").substr(0, num_players);
    Shape made{rows, rows, small + capital + "*", Grid::rhombus};
    for (int place = 0; place < rows * rows; ++place)
      made.holes.push_back(std::abs(across(place) - 12) >= lengths[row_of(place)]);
    return made;
  }
  std::vector<int> make_places() const {
    std::vector<int> made;
    for (int place = 0; place < shape.size(); ++place)
      if (shape.exists(place)) made.push_back(place);
    return made;
  }
  std::array<std::array<std::int8_t, ways>, cells> make_targets() const {
    static constexpr int steps[directions][2] = {{-1, 0}, {-1, 1}, {0, -1},
                                                 {0, 1},  {1, -1}, {1, 0}};
    std::array<std::array<std::int8_t, ways>, cells> made{};
    for (int from = 0; from < cells; ++from)
      for (int way = 0; way < ways; ++way) {
        const auto [down, right] = steps[way % directions];
        const int length = way < directions ? 1 : 2;
        const int row = row_of(places[from]) + length * down;
        const int column = places[from] % rows + length * right;
        const auto found = std::find(places.begin(), places.end(), row * rows + column);
        const bool inside = row >= 0 && row < rows && column >= 0 && column < rows;
        made[from][way] =
            std::int8_t(inside && found != places.end() ? found - places.begin() : -1);
      }
    return made;
  }
  std::array<Cells, points> make_star_points() const {
    std::array<Cells, points> made{};
    for (int cell = 0; cell < cells; ++cell) {
      const int down = row_of(places[cell]), right = across(places[cell]);
      const bool within[points] = {down <= 3,  right - down >= 14, right + down >= 30,
                                   down >= 13, right - down <= -6, right + down <= 10};
      for (int i = 0; i < points; ++i)
        if (within[i]) made[i].set(cell);
    }
    return made;
  }
  std::vector<int> make_homes() const {
    switch (num_players) {
      case 2: return {0, 3};
      case 3: return {0, 2, 4};
      case 4: return {0, 1, 3, 4};
      default: return {0, 1, 2, 3, 4, 5};
    }
  }
};

}  // namespace

extern const GameType chinese_checkers_type;
const GameType chinese_checkers_type{
    "chinese_checkers",
    "Chinese checkers",
    {whole_number("players", 3, 2, 6, "players: 2, 3, 4 or 6"),
     yes_or_no("blocking", false, "whether a piece of another in the goal prevents a win"),
     whole_number("max_plies", 1000, 1, 30000, "so many actions make a draw")},
    [](const Options& options) {
      const int players = options.integer("players");
      if (players == 5)
        throw std::invalid_argument(
            "Option 'players' of game 'chinese_checkers' must be 2, 3, 4 or 6.");
      return make_rules_game("chinese_checkers", ChineseCheckers{players, options.flag("blocking"),
                                                                 options.integer("max_plies")});
    },
};

}  // namespace athenan
