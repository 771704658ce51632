// Chinese checkers: a star of 121 cells; each player has ten pieces in one point of the star and
// wants them in the opposite point. A turn is a step to an empty neighbour cell (of six), or hops:
// over a piece of anyone next to it to the empty cell just behind, again and again with the same
// piece. Each hop is an action; while more are possible the player may go on or `Pass`, and within
// one turn a piece comes to no cell twice. Nothing is captured. Who has no action at all passes.
// Who fills the opposite point with his pieces at the end of his turn wins and all others lose.
// Options: players; blocking: when false (a usual rule) the point may also be filled with help of
// pieces of others, if one of his own is there, so that nobody can lock it by staying at home; when
// true (as in OpenSpiel) all ten must be his own; max_plies: so many actions end the game; cut: it
// is then a `draw`, or won by who is `nearest`, having the fewest steps left to the tip of his goal
// in sum (our own rule: otherwise a beginner's random games never tell who is ahead).
// Actions: cells numbered from 0 row by row, 9->18 for a step, 9=>30 for a hop; `Pass`.
// In the text of a state a capital is a piece between two hops and * a cell it has been on.
#include <limits>
#include <stdexcept>

#include "games/bits.h"
#include "games/rules.h"

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
    // For each cell the ways that end on a taken cell or off the board; one more for off the board.
    std::array<std::uint16_t, cells + 1> closed;
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
  bool nearest_wins;
  // A row of the shape is a row of the star; its columns slant down to the right.
  Shape shape = make_shape();
  std::vector<int> places = shape.places();  // of each cell in the shape
  // Where each way of each cell leads; to `cells` off the board.
  std::array<std::array<std::int8_t, ways>, cells> targets = make_targets();
  std::array<std::uint16_t, cells + 1> closed_by_edges = make_closed_by_edges();
  std::array<Cells, points> star_points = make_star_points();  // from the top one clockwise
  std::vector<int> homes = make_homes();
  std::vector<std::array<int, cells>> steps_left = make_steps_left();  // of each player

  State initial_state() const {
    State state = empty(0, 0);
    for (int p = 0; p < num_players; ++p)
      star_points[homes[p]].for_each([&](int cell) { put(state, p, cell); });
    return state;
  }

  // An action is ways * from + way.
  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    const auto before = actions.size();
    const auto add = [&](int from, unsigned open) {
      for (; open; open &= open - 1) actions.push_back(ways * from + std::countr_zero(open));
    };
    if (state.hopping >= 0)
      add(state.hopping, further_hops(state));
    else
      state.pieces[state.to_move].for_each([&](int from) { add(from, open_ways(state, from)); });
    if (state.hopping >= 0 || actions.size() == before) actions.push_back(pass);
  }
  Action random_action(const State& state, Random& random) const {
    if (state.hopping >= 0) {
      const unsigned open = further_hops(state);
      const int hops = std::popcount(open), chosen = int(random.below(hops + 1));
      return chosen == hops ? pass : Action(ways * state.hopping + nth_way(open, chosen));
    }
    std::array<std::uint8_t, cells> counts;  // of the ways of each piece
    int pieces = 0, all = 0, piece = 0;
    const auto& own = state.pieces[state.to_move];
    own.for_each([&](int from) {
      all += counts[pieces++] = std::uint8_t(std::popcount(open_ways(state, from)));
    });
    int chosen = int(random.below(std::max(all, 1)));
    if (all == 0) return pass;
    while (chosen >= counts[piece]) chosen -= counts[piece++];
    const int from = own.nth(piece);
    return Action(ways * from + nth_way(open_ways(state, from), chosen));
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
    if (!further_hops(state)) end_turn(state);
  }

  bool is_terminal(const State& state) const { return state.winner >= 0 || state.ply >= max_plies; }
  int outcome(const State& state, int player) const {
    const int winner = state.winner < 0 && nearest_wins ? nearest(state) : state.winner;
    return winner < 0 ? 0 : winner == player ? 1 : -1;
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
    State state = empty(board.to_move, board.ply);
    for (int cell = 0; cell < cells; ++cell) {
      const int piece = board.cells[places[cell]];
      if (piece > 2 * num_players) {
        visit(state, cell);
      } else if (piece) {
        put(state, (piece - 1) % num_players, cell);
        if (piece <= num_players) continue;
        if (state.hopping >= 0 || piece - 1 - num_players != state.to_move)
          refuse("only one piece, of the player to move, can be hopping");
        set_hopping(state, cell);
      }
    }
    if (state.visited.any() && state.hopping < 0)
      refuse("only a hopping piece has been on cells in this turn");
    judge(state);
    return state;
  }

  std::string action_to_string(const State&, Action action) const {
    if (action == pass) return "Pass";
    return std::to_string(action / ways) + (is_step(action) ? "->" : "=>") +
           std::to_string(target(action));
  }
  std::string part_of_turn(const State& state) const {
    return state.hopping >= 0 ? "hop on, or Pass" : "step or hop";
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
  // The directions are in such an order that the opposite ones mirror each other.
  static int opposite(int way) {
    return way < directions ? directions - 1 - way : ways + directions - 1 - way;
  }
  static bool is_step(Action action) { return int(action) % ways < directions; }
  int target(Action action) const { return targets[action / ways][action % ways]; }
  State empty(int to_move, int ply) const {
    State state;
    state.closed = closed_by_edges;
    state.key = mover_key(to_move);
    state.to_move = std::int8_t(to_move);
    state.ply = std::int16_t(ply);
    return state;
  }
  Cells occupied(const State& state) const {
    Cells taken;
    for (int p = 0; p < num_players; ++p) taken |= state.pieces[p];
    return taken;
  }

  // The ways that a piece on the cell can go, as bits: steps onto free cells and hops over taken
  // ones. (Off the board is closed to both.)
  static unsigned open_ways(const State& state, int cell) {
    const unsigned closed = state.closed[cell];
    const unsigned beside = closed & ((1u << directions) - 1);
    return ~closed & (((1u << directions) - 1) | beside << directions);
  }
  unsigned further_hops(const State& state) const {
    unsigned hops = open_ways(state, state.hopping) >> directions << directions;
    for (unsigned left = hops; left; left &= left - 1) {
      const int way = std::countr_zero(left);
      if (state.visited.test(targets[state.hopping][way])) hops ^= 1u << way;
    }
    return hops;
  }
  static int nth_way(unsigned open, int n) {
    for (; n > 0; --n) open &= open - 1;
    return std::countr_zero(open);
  }

  // Puts a piece on the cell, or takes it off.
  void put(State& state, int player, int cell) const {
    state.pieces[player].flip(cell);
    state.key ^= zobrist[player * cells + cell];
    for (int way = 0; way < ways; ++way) state.closed[targets[cell][way]] ^= 1u << opposite(way);
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
    if ((own & goal).none()) return;
    if (((blocking ? own : occupied(state)) & goal) == goal) state.winner = std::int8_t(player);
  }

  // The player with the fewest steps left, or -1 where several have as few.
  int nearest(const State& state) const {
    int fewest = std::numeric_limits<int>::max(), found = -1;
    for (int p = 0; p < num_players; ++p) {
      int left = 0;
      state.pieces[p].for_each([&](int cell) { left += steps_left[p][cell]; });
      if (left <= fewest) found = left == fewest ? -1 : p;
      fewest = std::min(fewest, left);
    }
    return found;
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
    made.numbered_cells = true;
    for (int place = 0; place < rows * rows; ++place)
      made.holes.push_back(std::abs(across(place) - 12) >= lengths[row_of(place)]);
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
            std::int8_t(inside && found != places.end() ? found - places.begin() : cells);
      }
    return made;
  }
  std::array<std::uint16_t, cells + 1> make_closed_by_edges() const {
    std::array<std::uint16_t, cells + 1> made{};
    for (int cell = 0; cell < cells; ++cell)
      for (int way = 0; way < ways; ++way)
        if (targets[cell][way] == cells) made[cell] |= 1u << way;
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
  // On an empty board, to the outermost cell of the opposite point.
  std::vector<std::array<int, cells>> make_steps_left() const {
    static constexpr int tips[points] = {0, 22, 110, 120, 98, 10};
    std::vector<std::array<int, cells>> made(num_players);
    for (int p = 0; p < num_players; ++p)
      for (int cell = 0; cell < cells; ++cell) {
        const int tip = places[tips[(homes[p] + points / 2) % points]];
        const int down = row_of(tip) - row_of(places[cell]);
        const int right = tip % rows - places[cell] % rows;
        made[p][cell] = std::max({std::abs(down), std::abs(right), std::abs(down + right)});
      }
    return made;
  }
};

}  // namespace

extern const GameType chinese_checkers_type;
const GameType chinese_checkers_type{
    "chinese_checkers",
    "Chinese checkers",
    {whole_number("players", 3, 2, 6, "at the points of the star: 2, 3, 4 or 6"),
     yes_or_no("blocking", false,
               "all pieces in the goal must be one's own; otherwise others may help to fill it"),
     whole_number("max_plies", 1000, 1, 30000,
                  "actions, each hop being one; races of three take about 300, of six about 600"),
     one_of("cut", {"draw", "nearest"},
            "who wins after max_plies: nobody, or the nearest to his goal")},
    [](const Options& options) {
      const int players = options.integer("players");
      if (players == 5)
        throw std::invalid_argument(
            "Option 'players' of game 'chinese_checkers' must be 2, 3, 4 or 6.");
      return make_rules_game("chinese_checkers", ChineseCheckers{players, options.flag("blocking"),
                                                                 options.integer("max_plies"),
                                                                 options.text("cut") == "nearest"});
    },
    {"whoever fills the point of the star opposite to the own one wins"},
};

}  // namespace athenan
