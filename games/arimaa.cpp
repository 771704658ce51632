// Arimaa: gold (capitals, below) sets up on two rows, then silver, then gold begins. Elephant E,
// camel M, 2 horses H, 2 dogs D, 2 cats C, 8 rabbits R, strongest first. A turn is one to four
// steps to empty neighbours; rabbits do not step back. A piece beside a stronger enemy and no
// friend is frozen. A free piece may push a weaker neighbour away and follow it, or step away and
// pull a weaker one after it; either takes two steps of a turn, and a piece cannot do both with
// one step. On c3 f3 c6 f6 a piece without a friend beside it vanishes, after every step. A turn
// must change the board, and may not make a position, with its mover, for the third time.
// After a turn of A: A's rabbit on the far row wins, then B's; B without rabbits loses, then A; B
// without a step loses. A turn that can no longer be ended as the rules ask is lost as well: so it
// is judged step by step what the rules forbid turn by turn, and the value is the same.
// Options: draw_rules: olympiad, or none: third repetitions are allowed; max_plies, then a draw,
// which the rules do not know. 1000 actions (250 turns and more) are our choice: the random games
// of the vectors, cut off after 60 turns, mostly had no end by then.
// Actions: in the setup a piece and its cell, the strongest first (rabbits fill the rest); then
// piece, cell and direction, a push being written enemy first; `pass` ends a turn early.
#include <algorithm>

#include "games/arimaa_position.h"
#include "games/history.h"
#include "games/rules.h"

namespace athenan {
namespace {

using namespace arimaa;

struct Phase {
  bool setup = false;
  std::int8_t steps = 4;  // left in the turn
  // A piece has just left `target`. If the partners are own pieces, it was pushed and one of
  // them must follow; if they are enemies, it was an own piece and one of them may be pulled.
  std::int8_t target = -1;
  Cells partners = 0;
  friend bool operator==(const Phase&, const Phase&) = default;
};

struct Arimaa {
  struct State {
    Position position;
    Phase phase;
    Key turn_start;        // the position's key then; zero: not known
    History<512> history;  // after turns, since the last piece vanished
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    std::int8_t winner = -1;
    bool over = false;
    friend bool operator==(const State&, const State&) = default;
  };

  bool third_is_illegal;
  int max_plies;
  int num_players = 2, max_pieces = 16;
  bool has_history = true;
  Shape shape{8, 8, "EeMmHhDdCcRr", Grid::square, true};
  static constexpr Action pass = 256, first_setup = 257;  // a step is 4 * from + way

  State initial_state() const {
    return from_board({std::vector<std::uint8_t>(64)}, {.setup = true});
  }

  void legal_actions(const State& state, Actions& actions) const {
    if (state.over) return;
    if (state.phase.setup) {
      const Action kind = Action(setup_order[std::popcount(own(state))]);
      for_each_cell(home[state.to_move] & ~own(state),
                    [&](int cell) { actions.push_back(first_setup + kind * 64 + cell); });
      return;
    }
    any_step(state, [&](int from, int way) {
      actions.push_back(Action(4 * from + way));
      return false;
    });
    if (can_pass(state)) actions.push_back(pass);
  }

  void play(State& state, Action action) const {
    ++state.ply;
    if (action >= first_setup) {
      set_up(state, int(action - first_setup) / 64, int(action - first_setup) % 64);
    } else {
      if (action != pass) step(state, int(action) / 4, int(action) % 4);
      if (action == pass || state.phase.steps == 0) end_turn(state);
    }
    look(state);
  }

  bool is_terminal(const State& state) const { return state.over; }
  int outcome(const State& state, int player) const {
    return state.winner < 0 ? 0 : state.winner == player ? 1 : -1;
  }
  int pieces(const State& state, int player) const {
    return std::popcount(state.position.all[player]);
  }
  Key key(const State& state) const {
    const auto& phase = state.phase;
    Key key = state.position.key ^ mover_key(state.to_move) ^ count_key(0, state.ply) ^
              count_key(1, phase.setup ? 0 : phase.steps) ^ state.history.key();
    if (phase.steps < 4) key ^= mixed(state.turn_start);
    if (phase.target >= 0) key ^= zobrist[768 + phase.target];
    for_each_cell(phase.partners, [&](int cell) { key ^= zobrist[832 + cell]; });
    return key;
  }

  void write_board(const State& state, Board& board) const {
    for (int p : {0, 1})
      for (int kind = 0; kind < kinds; ++kind)
        for_each_cell(state.position.pieces[p][kind],
                      [&](int cell) { board.cells[cell] = std::uint8_t(1 + 2 * kind + p); });
  }
  State from_board(const Board& board, const Phase& phase = {}) const {
    State state;
    state.to_move = std::int8_t(board.to_move);
    state.ply = std::int16_t(board.ply);
    state.phase = phase;
    read_pieces(board,
                [&](int piece, int cell) { state.position.flip(piece % 2, piece / 2, cell); });
    check(state);
    if (!phase.setup && phase.steps == 4) begin_turn(state);
    look(state);
    return state;
  }

  std::string note(const State& state) const {
    if (state.phase.setup) return ", setting up";
    auto text = ", steps left: " + std::to_string(state.phase.steps);
    if (state.phase.target >= 0) text += ", to " + cell_name(shape, state.phase.target) + " from";
    for_each_cell(state.phase.partners, [&](int cell) { text += " " + cell_name(shape, cell); });
    return text;
  }
  State state_from_string(std::string_view text) const {
    const auto note = note_of(text);
    Phase phase{.setup = note == ", setting up"};
    if (const int steps = read_counter(note, "steps left")) phase.steps = std::int8_t(steps);
    if (const auto to = note.find(", to "); to != std::string_view::npos) {
      const auto words = split(note.substr(to + 5), ' ');  // d4 from e4 d5
      phase.target = std::int8_t(find_cell(shape, words[0]).value_or(-1));
      for (auto word : words)
        if (const auto cell = find_cell(shape, word); cell && *cell != phase.target)
          phase.partners |= bit_at(*cell);
    }
    return from_board(read_board(shape, 2, text), phase);
  }

  // After the planes of the board: setup, steps left, the cell just left, its partners.
  std::vector<std::string> channels() const {
    auto names = channel_names(shape, 2);
    names.insert(names.end(), {"setting up", "1 step left", "2 steps left", "3 steps left",
                               "4 steps left", "just left", "partners"});
    return names;
  }
  static constexpr int board_planes = 14, all_planes = 21;
  void planes(const State& state, std::uint8_t* out) const {
    std::fill_n(out, 64 * all_planes, std::uint8_t(0));
    for (int p : {0, 1})
      for (int kind = 0; kind < kinds; ++kind)
        for_each_cell(state.position.pieces[p][kind],
                      [&](int cell) { out[cell * all_planes + 2 * kind + p] = 1; });
    const auto& phase = state.phase;
    for (int cell = 0; cell < 64; ++cell, out += all_planes) {
      out[12 + state.to_move] = 1;
      out[board_planes + (phase.setup ? 0 : phase.steps)] = 1;
      out[19] = cell == phase.target;
      out[20] = phase.partners >> cell & 1;
    }
  }
  State state_from_planes(const std::uint8_t* planes, int ply) const {
    Board board{std::vector<std::uint8_t>(64), planes[13], ply};
    Phase phase{.setup = planes[board_planes] != 0};
    for (int steps = 1; steps <= 4; ++steps)
      if (planes[board_planes + steps]) phase.steps = std::int8_t(steps);
    for (int cell = 0; cell < 64; ++cell, planes += all_planes) {
      for (int piece = 0; piece < 12; ++piece)
        if (planes[piece]) board.cells[cell] = std::uint8_t(piece + 1);
      if (planes[19]) phase.target = std::int8_t(cell);
      if (planes[20]) phase.partners |= bit_at(cell);
    }
    return from_board(board, phase);
  }

  std::string action_to_string(const State& state, Action action) const {
    if (action == pass) return "pass";
    if (action >= first_setup)
      return shape.symbols[(action - first_setup) / 64 * 2 + state.to_move] +
             cell_name(shape, int(action - first_setup) % 64);
    const int from = int(action) / 4;
    const int player = state.position.all[1] >> from & 1;
    return shape.symbols[2 * state.position.kind_on(player, from) + player] +
           cell_name(shape, from) + "nesw"[action % 4];
  }
  std::string part_of_turn(const State& state) const {
    if (state.phase.setup) return "set up a piece";
    const auto step = "step " + std::to_string(5 - state.phase.steps) + " of 4";
    return pushing(state) ? step + ", which ends the push" : step;
  }
  std::optional<int> marked_cell(const State&, Action action) const {
    if (action == pass) return {};
    if (action >= first_setup) return int(action - first_setup) % 64;
    return int(action) / 4 + offset[action % 4];
  }
  std::vector<Symmetry> symmetries() const {
    std::vector<Symmetry> symmetries;
    for (bool swap : {false, true})
      for (bool mirror : {false, true}) {
        symmetries.push_back(make_symmetry(
            shape, 2, [=](int r, int c) { return std::pair{swap ? 7 - r : r, mirror ? 7 - c : c}; },
            swap));
        for (int plane = board_planes; plane < all_planes; ++plane)
          symmetries.back().channels.push_back(plane);
      }
    return symmetries;
  }

 private:
  static Cells own(const State& state) { return state.position.all[state.to_move]; }
  static bool pushing(const State& state) { return (state.phase.partners & own(state)) != 0; }

  // For each way the cells whose piece can step there; what ends the turn is judged elsewhere.
  static std::array<Cells, 4> steps_of(const State& state) {
    const auto& position = state.position;
    const int player = state.to_move;
    const Cells empty = ~(position.all[0] | position.all[1]);
    const bool must_follow = pushing(state);
    Cells movers = 0, rabbits = 0;
    if (!must_follow)
      position.free_pieces(player, [&](int kind, Cells free, Cells free_above) {
        (kind == rabbit ? rabbits : movers) |= free;
        if (state.phase.steps >= 2)
          movers |= position.pieces[1 - player][kind] & around(free_above);
      });
    const Cells target = state.phase.target < 0 ? 0 : bit_at(state.phase.target);
    std::array<Cells, 4> steps;
    for (int way = 0; way < 4; ++way) {
      const bool backwards = way == (player == 0 ? 2 : 0);
      steps[way] = (movers | (backwards ? 0 : rabbits)) & shifted(empty, way ^ 2);
      steps[way] |= state.phase.partners & shifted(target, way ^ 2);
    }
    return steps;
  }

  // Calls visit(from, way) for the legal steps, ascending, until it returns true.
  template <class Visit>
  bool any_step(const State& state, Visit visit) const {
    const auto steps = steps_of(state);
    for (Cells left = steps[0] | steps[1] | steps[2] | steps[3]; left; left &= left - 1) {
      const int from = std::countr_zero(left);
      for (int way = 0; way < 4; ++way) {
        if (!(steps[way] >> from & 1)) continue;
        if (state.phase.steps == 1) {
          Position after = state.position;
          after.shift_piece(from, way);
          if (!may_end(state, after.key)) continue;
        }
        if (visit(from, way)) return true;
      }
    }
    return false;
  }
  bool can_pass(const State& state) const {
    return state.phase.steps < 4 && !pushing(state) && may_end(state, state.position.key);
  }
  bool may_end(const State& state, const Key& after) const {
    return after != state.turn_start &&
           (!third_is_illegal || state.history.count(after ^ mover_key(1 - state.to_move)) < 2);
  }

  void step(State& state, int from, int way) const {
    const int player = state.to_move, enemy = 1 - player;
    auto& position = state.position;
    auto& phase = state.phase;
    const bool is_own = own(state) >> from & 1, follows = pushing(state);
    const bool pulled =
        !is_own && (phase.partners >> from & 1) && from + offset[way] == phase.target;
    const int kind = position.kind_on(is_own ? player : enemy, from);
    if (position.shift_piece(from, way)) state.history.clear();
    phase.partners = (is_own ? follows : pulled) ? 0 : partners_of(state, from, is_own, kind);
    phase.target = std::int8_t(phase.partners ? from : -1);
    --phase.steps;
  }
  // Of a piece that has just left the cell, the mover's own or an enemy; see Phase.
  static Cells partners_of(const State& state, int left, bool is_own, int kind) {
    const auto& position = state.position;
    Cells partners = 0;
    if (is_own)
      for (int weaker = kind + 1; weaker < kinds; ++weaker)
        partners |= position.pieces[1 - state.to_move][weaker];
    else
      position.free_pieces(state.to_move, [&](int stronger, Cells free, Cells) {
        if (stronger < kind) partners |= free;
      });
    return partners & around(bit_at(left));
  }

  // Refuses what no game reaches, as far as the rules above rely on it.
  static void check(const State& state) {
    const auto& [pieces, all, key] = state.position;
    const auto& phase = state.phase;
    for (int player : {0, 1}) {
      for (int kind = 0; kind < kinds; ++kind)
        if (std::popcount(pieces[player][kind]) > army[kind])
          refuse("a side has more pieces of a kind than it sets up");
      if (all[player] & traps & ~around(all[player])) refuse("a piece stands alone on a trap");
    }
    if (phase.setup) {
      if (!is_set_up(state)) refuse("it is no setup, the strongest first on two rows");
    } else if (phase.steps < 1 || phase.steps > 4) {
      refuse("1 to 4 steps are left in a turn");
    } else if ((phase.partners || phase.target >= 0) && !has_left(state)) {
      refuse("no step can just have left the cell that it names");
    }
  }
  // The other has nothing or all of his pieces; the mover some of the first in the order.
  static bool is_set_up(const State& state) {
    const Cells other = state.position.all[1 - state.to_move];
    if (other && other != home[1 - state.to_move]) return false;
    const int number = std::popcount(own(state));
    std::array<int, kinds> placed{};
    if (number >= int(setup_order.size()) || own(state) & ~home[state.to_move]) return false;
    for (int i = 0; i < number; ++i) ++placed[setup_order[i]];
    for (int kind = 0; kind < kinds; ++kind)
      if (std::popcount(state.position.pieces[state.to_move][kind]) != placed[kind]) return false;
    return true;
  }
  // Whether some piece that stands beside the target, or vanished there, leaves these partners.
  static bool has_left(const State& state) {
    const auto& [pieces, all, key] = state.position;
    const auto& [setup, steps, target, partners] = state.phase;
    if (steps == 4 || target < 0 || !partners || (all[0] | all[1]) & bit_at(target)) return false;
    const Cells vanished = traps & ~(all[0] | all[1]);
    for (bool is_own : {false, true})
      for (int kind = 0; kind < kinds; ++kind)
        if ((pieces[is_own ? state.to_move : 1 - state.to_move][kind] | vanished) &
                around(bit_at(target)) &&
            partners_of(state, target, is_own, kind) == partners)
          return true;
    return false;
  }

  void set_up(State& state, int kind, int cell) const {
    const int player = state.to_move;
    state.position.flip(player, kind, cell);
    if (std::popcount(own(state)) < int(setup_order.size())) return;
    for_each_cell(home[player] & ~own(state),
                  [&](int rest) { state.position.flip(player, rabbit, rest); });
    state.to_move ^= 1;
    state.phase.setup = own(state) == 0;
    if (!state.phase.setup) begin_turn(state);
  }
  void end_turn(State& state) const {
    state.to_move ^= 1;
    state.phase = {};
    begin_turn(state);
  }
  void begin_turn(State& state) const {
    state.turn_start = state.position.key;
    if (third_is_illegal) state.history.push(state.position.key ^ mover_key(state.to_move));
  }

  // Finds out whether the game is over.
  void look(State& state) const {
    if (!state.phase.setup) {
      if (state.phase.steps == 4) state.winner = std::int8_t(winner_after_turn(state));
      if (state.winner < 0 && !has_action(state)) state.winner = std::int8_t(1 - state.to_move);
    }
    state.over = state.winner >= 0 || state.ply >= max_plies;
  }
  static int winner_after_turn(const State& state) {
    const int mover = state.to_move, other = 1 - mover;  // other has just ended his turn
    const auto rabbits = [&](int player) { return state.position.pieces[player][rabbit]; };
    if (rabbits(other) & goal[other]) return other;
    if (rabbits(mover) & goal[mover]) return mover;
    if (!rabbits(mover)) return other;
    if (!rabbits(other)) return mover;
    return -1;
  }
  bool has_action(const State& state) const {
    if (state.phase.steps == 1 && can_pass(state)) return true;
    return any_step(state, [](int, int) { return true; }) || can_pass(state);
  }
};

}  // namespace

extern const GameType arimaa_type;
const GameType arimaa_type{
    "arimaa",
    "Arimaa",
    {one_of("draw_rules", {"olympiad", "none"},
            "olympiad: no position for the third time; none: repetitions are allowed"),
     whole_number("max_plies", 1000, 17, 1000,
                  "actions (steps), then a draw, which the rules do not know")},
    [](const Options& options) {
      return make_rules_game(
          "arimaa", Arimaa{options.text("draw_rules") == "olympiad", options.integer("max_plies")});
    },
    {"gold, the capitals: a rabbit on row 8 wins",
     "silver, the small letters: a rabbit on row 1 wins"},
};

}  // namespace athenan
