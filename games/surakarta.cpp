// Surakarta: 6 × 6 points, two rows of men a side; the first player (x) has the lowest rows. A man
// steps to any of the eight neighbour points that is empty, or captures: he slides along the lines
// over empty points and round at least one of the corner loops, and lands on an enemy. His own
// point counts as empty meanwhile; the four corners are on no loop. Captures are optional, and
// capturing every enemy wins. At the Olympiad any repeated position (with the same mover) and 50
// plies without capture end the game: more men win (so Cohen-Solal in a games forum; Polygames
// draws instead, at the third repetition). Who has no action ends it in the same way.
// Options: draw_rules: olympiad (as above), none (neither repetition nor capture is counted);
// max_plies: a game as long as that is a draw; no Olympiad game lasts longer than 1150.
// Actions: from and to, a1 at the lower left.
#include "games/bits.h"
#include "games/history.h"
#include "games/neighbours.h"
#include "games/rules.h"

namespace athenan {
namespace {

struct Surakarta {
  static constexpr int size = 6, cells = size * size, men_of_a_side = 2 * size;
  static constexpr int quiet_limit = 50;  // plies without capture
  // After each of 23 captures at most.
  static constexpr int longest_olympiad_game = quiet_limit * (2 * men_of_a_side - 1);
  static constexpr int track_length = 4 * size;

  struct State {
    std::array<Bits<1>, 2> men;
    Key board;
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    bool over = false;
    bool cut = false;                  // over by max_plies
    std::int8_t earlier = 0;           // plies without capture before those of the history
    History<quiet_limit + 1> history;  // positions since the last capture, the present one last
    friend bool operator==(const State&, const State&) = default;
  };
  // A place of a point on one of the two loops.
  struct Place {
    std::int8_t track, index;
  };

  bool olympiad;
  int max_plies;
  int num_players = 2;
  int max_pieces = men_of_a_side;
  bool has_history = olympiad;
  bool can_be_cut = !olympiad || max_plies < longest_olympiad_game;
  Shape shape{size, size, "xo", Grid::square, true};
  // The points along each loop, four lines of six; a corner arc joins each line to the next.
  std::array<std::array<std::int8_t, track_length>, 2> tracks = make_tracks();
  std::array<std::vector<Place>, cells> places = make_places();
  std::vector<Bits<1>> neighbours = make_rings<1>(size, size, 1);

  State initial_state() const {
    State state;
    for (int i = 0; i < men_of_a_side; ++i) {
      put(state, 0, i);
      put(state, 1, cells - 1 - i);
    }
    remember(state);
    return state;
  }

  // An action is cells * from + to.
  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    state.men[state.to_move].for_each([&](int from) {
      targets(state, from).for_each([&](int to) { actions.push_back(cells * from + to); });
    });
  }

  void play(State& state, Action action) const {
    const int player = state.to_move, to = int(action) % cells;
    put(state, player, int(action) / cells);
    put(state, player, to);
    if (state.men[1 - player].test(to)) {
      put(state, 1 - player, to);
      state.history.clear();
      state.earlier = 0;
    }
    state.to_move ^= 1;
    ++state.ply;
    remember(state);
    judge(state);
  }

  bool is_terminal(const State& state) const { return state.over; }
  int outcome(const State& state, int player) const {
    if (state.cut) return 0;
    const int lead = state.men[player].count() - state.men[1 - player].count();
    return (lead > 0) - (lead < 0);
  }
  int pieces(const State& state, int player) const { return state.men[player].count(); }
  Key key(const State& state) const {
    Key key = position(state) ^ state.history.key();
    if (can_be_cut) key ^= count_key(0, state.ply);
    if (state.earlier) key ^= count_key(1, state.earlier);
    return key;
  }

  void write_board(const State& state, Board& board) const { write_pieces(state.men, board); }
  std::string note(const State& state) const {
    const int quiet = quiet_plies(state);
    return quiet > 0 ? ", plies without capture: " + std::to_string(quiet) : "";
  }
  State state_from_string(std::string_view text) const {
    const int quiet = read_counter(note_of(text), "plies without capture");
    return from_board(read_board(shape, num_players, text),
                      olympiad ? std::min(quiet, quiet_limit) : 0);
  }
  State from_board(const Board& board, int quiet = 0) const {
    State state;
    state.earlier = std::int8_t(quiet);
    state.to_move = std::int8_t(board.to_move);
    state.ply = std::int16_t(board.ply);
    read_pieces(board, [&](int piece, int cell) { put(state, piece, cell); });
    remember(state);
    judge(state);
    return state;
  }

  std::string action_to_string(const State&, Action action) const {
    return cell_name(shape, int(action) / cells) + cell_name(shape, int(action) % cells);
  }
  int marked_cell(const State&, Action action) const { return int(action) % cells; }
  std::vector<Symmetry> symmetries() const { return grid_symmetries(shape, 2, true); }

 private:
  // Puts a man on the point, or takes him off it.
  void put(State& state, int player, int cell) const {
    state.men[player].flip(cell);
    state.board ^= zobrist[player * cells + cell];
  }
  static Key position(const State& state) { return state.board ^ mover_key(state.to_move); }
  void remember(State& state) const {
    if (olympiad) state.history.push(position(state));
  }

  void judge(State& state) const {
    state.over = state.men[0].none() || state.men[1].none() || is_stuck(state);
    if (olympiad && !state.over)
      state.over = quiet_plies(state) >= quiet_limit || state.history.count(position(state)) > 1;
    if (!state.over && can_be_cut && state.ply >= max_plies) state.over = state.cut = true;
  }
  static int quiet_plies(const State& state) { return state.earlier + state.history.size() - 1; }
  bool is_stuck(const State& state) const {
    const auto free = ~(state.men[0] | state.men[1]);
    return !state.men[state.to_move].any_of(
        [&](int cell) { return (neighbours[cell] & free).any() || captures(state, cell).any(); });
  }

  Bits<1> targets(const State& state, int from) const {
    const auto men = state.men[0] | state.men[1];
    return (neighbours[from] & ~men) | captures(state, from);
  }
  Bits<1> captures(const State& state, int from) const {
    const auto &own = state.men[state.to_move], &enemy = state.men[1 - state.to_move];
    auto men = own | enemy;
    men.clear(from);
    Bits<1> found;
    for (const auto& place : places[from])
      for (int step : {1, track_length - 1}) {
        const int hit = slide(tracks[place.track], place.index, step, men);
        if (hit >= 0 && enemy.test(hit)) found.set(hit);
      }
    return found;
  }

  // The first man met after an arc; -1 if one stands before it or nobody on the whole loop.
  static int slide(const std::array<std::int8_t, track_length>& track, int index, int step,
                   const Bits<1>& men) {
    const int last_of_line = step == 1 ? size - 1 : 0;
    bool round = false;
    for (int i = 0; i < track_length; ++i) {
      round |= index % size == last_of_line;
      index = (index + step) % track_length;
      if (men.test(track[index])) return round ? track[index] : -1;
    }
    return -1;
  }

  // Row `near` to the right, column `far` up, row `far` to the left, column `near` down.
  static std::array<std::array<std::int8_t, track_length>, 2> make_tracks() {
    std::array<std::array<std::int8_t, track_length>, 2> made{};
    for (int t : {0, 1})
      for (int i = 0; i < size; ++i) {
        const int near = 1 + t, far = size - 1 - near, back = size - 1 - i;
        made[t][i] = std::int8_t(size * near + i);
        made[t][size + i] = std::int8_t(size * i + far);
        made[t][2 * size + i] = std::int8_t(size * far + back);
        made[t][3 * size + i] = std::int8_t(size * back + near);
      }
    return made;
  }
  std::array<std::vector<Place>, cells> make_places() const {
    std::array<std::vector<Place>, cells> made;
    for (int t : {0, 1})
      for (int i = 0; i < track_length; ++i)
        made[tracks[t][i]].push_back({std::int8_t(t), std::int8_t(i)});
    return made;
  }
};

}  // namespace

extern const GameType surakarta_type;
const GameType surakarta_type{
    "surakarta",
    "Surakarta",
    {one_of("draw_rules", {"olympiad", "none"},
            "olympiad: repetition or 50 plies without capture end the game; none: only max_plies"),
     whole_number("max_plies", 1200, 1, 10000,
                  "plies, then a draw; a game by olympiad rules has 1150 at most")},
    [](const Options& options) {
      return make_rules_game("surakarta", Surakarta{options.text("draw_rules") == "olympiad",
                                                    options.integer("max_plies")});
    },
    {"whoever takes all pieces of the other wins"},
};

}  // namespace athenan
