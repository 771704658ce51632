// Lines of Action: black (x) first, twelve men a side. A man moves in any of the eight directions
// exactly as many cells as there are men of both sides on that line; he may jump over own men but
// not over enemies, and captures by landing on one. Who has all his men in one group (neighbours in
// eight directions; a single man is a group) wins; when one action connects both sides the game is
// drawn. Who has no action passes. The third occurrence of a position with the same mover is a
// draw. Options: draw_rules: olympiad (as above, after Winands' page of the rules), none (no
// repetition rule), openspiel (the first repeated board is a draw, both connected is a win for who
// moved, no action is a loss); max_plies: a game as long as that is a draw. No source has such a
// limit but OpenSpiel (1000); 500 is our choice, above the 395 plies of the longest of the random
// games we replay, which have 211 on average. Actions: from and to, a1 at the lower left; `pass`.
#include <stdexcept>

#include "games/bits.h"
#include "games/history.h"
#include "games/rules.h"

namespace athenan {
namespace {

enum class DrawRules { olympiad, none, openspiel };

// `memory` is how many positions since the last capture are remembered: max_plies is enough, since
// the position of that ply ends the game anyway.
template <int memory>
struct LinesOfAction {
  static constexpr int size = 8, cells = 64;
  static constexpr Action pass = cells * cells;
  static constexpr std::int8_t open = -1, drawn = 2;
  struct State {
    std::array<Bits<1>, 2> men;
    Key board;
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    std::int8_t result = open;  // open, the player who won, or drawn
    History<memory> history;    // the present position is its last
    friend bool operator==(const State&, const State&) = default;
  };

  DrawRules draw_rules;
  int max_plies;
  int num_players = 2;
  int max_pieces = 12;
  bool has_history = draw_rules != DrawRules::none;
  Shape shape{size, size, "xo", Grid::square, true};
  struct Direction {
    int step;
    std::array<Bits<1>, cells> ray;   // the cells from there to the edge, without the start
    std::array<Bits<1>, cells> line;  // both ways, with the start
    std::array<std::int8_t, cells> room;
  };
  std::array<Direction, 8> directions = make_directions();

  State initial_state() const {
    State state;
    for (int i = 1; i < size - 1; ++i) {
      for (int cell : {i, cells - size + i}) put(state, 0, cell);
      for (int cell : {size * i, size * i + size - 1}) put(state, 1, cell);
    }
    remember(state);
    return state;
  }

  // An action is cells * from + to.
  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    const auto before = actions.size();
    state.men[state.to_move].for_each([&](int from) {
      targets(state, from).for_each([&](int to) { actions.push_back(cells * from + to); });
    });
    if (actions.size() == before) actions.push_back(pass);
  }

  void play(State& state, Action action) const {
    const int player = state.to_move;
    if (action != pass) {
      const int to = int(action) % cells;
      put(state, player, int(action) / cells);
      put(state, player, to);
      if (state.men[1 - player].test(to)) {
        put(state, 1 - player, to);
        state.history.clear();
      }
    }
    state.to_move ^= 1;
    ++state.ply;
    remember(state);
    judge(state);
  }

  bool is_terminal(const State& state) const { return state.result != open; }
  int outcome(const State& state, int player) const {
    return state.result == drawn ? 0 : state.result == player ? 1 : -1;
  }
  int pieces(const State& state, int player) const { return state.men[player].count(); }
  // The ply counts because max_plies can end the game.
  Key key(const State& state) const {
    return state.board ^ mover_key(state.to_move) ^ count_key(0, state.ply) ^ state.history.key();
  }

  void write_board(const State& state, Board& board) const { write_pieces(state.men, board); }
  State from_board(const Board& board) const {
    State state;
    state.to_move = std::int8_t(board.to_move);
    state.ply = std::int16_t(board.ply);
    read_pieces(board, [&](int piece, int cell) { put(state, piece, cell); });
    remember(state);
    judge(state);
    return state;
  }

  std::string action_to_string(const State&, Action action) const {
    if (action == pass) return "pass";
    return cell_name(shape, int(action) / cells) + cell_name(shape, int(action) % cells);
  }
  std::optional<int> marked_cell(const State&, Action action) const {
    return action == pass ? std::nullopt : std::optional(int(action) % cells);
  }
  std::vector<Symmetry> symmetries() const { return grid_symmetries(shape, 2, true); }

 private:
  // Puts a man on the cell, or takes him off it.
  void put(State& state, int player, int cell) const {
    state.men[player].flip(cell);
    state.board ^= zobrist[player * cells + cell];
  }

  // What counts as the same position: OpenSpiel does not ask who moves.
  Key position(const State& state) const {
    return draw_rules == DrawRules::openspiel ? state.board
                                              : state.board ^ mover_key(state.to_move);
  }
  void remember(State& state) const {
    if (draw_rules != DrawRules::none) state.history.push(position(state));
  }

  Bits<1> targets(const State& state, int from) const {
    const auto &own = state.men[state.to_move], &enemy = state.men[1 - state.to_move];
    const auto men = own | enemy;
    Bits<1> found;
    for (int i = 0; i < 4; ++i) {
      const int distance = (directions[i].line[from] & men).count();
      for (const auto* direction : {&directions[i], &directions[i + 4]}) {
        if (direction->room[from] < distance) continue;
        const int to = from + direction->step * distance;
        // What lies between: on the ray from here, but neither the target nor behind it.
        const auto between = direction->ray[from] & ~direction->ray[to] & ~Bits<1>::of(to);
        if (!own.test(to) && (between & enemy).none()) found.set(to);
      }
    }
    return found;
  }

  void judge(State& state) const {
    const bool openspiel = draw_rules == DrawRules::openspiel;
    const int mover = state.to_move, moved = 1 - mover;
    const bool mover_connected = connected(state.men[mover].words[0]);
    const bool moved_connected = connected(state.men[moved].words[0]);
    if (mover_connected && moved_connected)
      state.result = openspiel ? std::int8_t(moved) : drawn;
    else if (mover_connected || moved_connected)
      state.result = std::int8_t(mover_connected ? mover : moved);
    else if (repeated(state) || state.ply >= max_plies)
      state.result = drawn;
    else if (openspiel && stuck(state))
      state.result = std::int8_t(moved);
  }

  bool repeated(const State& state) const {
    if (draw_rules == DrawRules::none) return false;
    return state.history.count(position(state)) >= (draw_rules == DrawRules::openspiel ? 2 : 3);
  }
  bool stuck(const State& state) const {
    return !state.men[state.to_move].any_of([&](int cell) { return targets(state, cell).any(); });
  }

  // Fills by shifts of the whole group; cell by cell, as Hex does, costs a fifth of all speed.
  static bool connected(std::uint64_t men) {
    constexpr std::uint64_t not_first = ~0x0101010101010101ull, not_last = ~0x8080808080808080ull;
    std::uint64_t group = men & -men, before = 0;
    while (group != before) {
      before = group;
      const auto row = group | (group << 1 & not_first) | (group >> 1 & not_last);
      group = (row | row << size | row >> size) & men;
    }
    return group == men;
  }

  static std::array<Direction, 8> make_directions() {
    static constexpr int ways[8][2] = {{0, 1},  {1, 0},  {1, 1},   {1, -1},
                                       {0, -1}, {-1, 0}, {-1, -1}, {-1, 1}};
    std::array<Direction, 8> made{};
    for (int i = 0; i < 8; ++i) {
      const auto [up, right] = ways[i];
      made[i].step = size * up + right;
      for (int from = 0; from < cells; ++from)
        for (int row = from / size + up, column = from % size + right;
             row >= 0 && row < size && column >= 0 && column < size; row += up, column += right) {
          made[i].ray[from].set(size * row + column);
          ++made[i].room[from];
        }
    }
    for (int i = 0; i < 8; ++i)
      for (int cell = 0; cell < cells; ++cell)
        made[i].line[cell] = made[i].ray[cell] | made[(i + 4) % 8].ray[cell] | Bits<1>::of(cell);
    return made;
  }
};

}  // namespace

extern const GameType lines_of_action_type;
const GameType lines_of_action_type{
    "lines_of_action",
    "Lines of Action",
    {one_of(
         "draw_rules", {"olympiad", "none", "openspiel"},
         "olympiad: the third repetition draws; none: none does; openspiel: the ends of OpenSpiel"),
     whole_number("max_plies", 500, 1, 10000, "plies, then a draw; random games have about 210")},
    [](const Options& options) {
      constexpr int usual = 512, most = 1024;
      const auto& text = options.text("draw_rules");
      const auto rules = text == "olympiad" ? DrawRules::olympiad
                         : text == "none"   ? DrawRules::none
                                            : DrawRules::openspiel;
      const int max_plies = options.integer("max_plies");
      if (rules != DrawRules::none && max_plies > most)
        throw std::invalid_argument(
            "Option 'max_plies' of game 'lines_of_action' must be at most 1024 where repetitions "
            "count, that is unless draw_rules is 'none'.");
      const auto make = [&]<int memory>() {
        return make_rules_game("lines_of_action", LinesOfAction<memory>{rules, max_plies});
      };
      return max_plies <= usual ? make.template operator()<usual>()
                                : make.template operator()<most>();
    },
    {"whoever has all pieces in one group wins"},
};

}  // namespace athenan
