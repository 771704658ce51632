// Go: black (x) and white (o) in turn put a stone on an empty point or pass. Enemy groups left
// without a liberty are taken off; a group of one's own must keep one (no suicide). Simple ko: a
// stone that has just captured one stone may not be captured at once by one that restores the
// board. Two passes end the game; a point counts for a colour that stands on it or alone reaches
// it (area scoring, all stones count as alive, so dead ones are to be played out); white adds komi.
// Options: size; columns, where the board is no square; komi (the Olympiad plays 7 or 7.5);
// max_plies, then a draw;
// draw_rules: olympiad: a board that recurs with the same player to move ends the game. It is a
//   draw if both passed equally often since; otherwise who passed less often loses, for he is the
//   one who kept the cycle going (as with "send two, return one").
//   openspiel: a stone that makes any earlier board anew draws at once; max_plies is scored.
//   none: boards may recur until max_plies.
// Actions: column letter (no i) and row number from below; `pass`. A text draws the forbidden ko
// point as *, and the empty points, of which there is always one, as - after a pass, = after two.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "games/bits.h"
#include "games/history.h"
#include "games/rules.h"

namespace athenan {
namespace {

enum class Repetition { olympiad, openspiel, allowed };

template <int W>
struct Go {
  enum class End : std::int8_t { none, scored, drawn, first_won, second_won };
  struct State {
    std::array<Bits<W>, 2> stones;
    std::array<Bits<W>, 2> taken;  // where stones were captured since the history began
    Key key;                       // stones and mover
    History<3 * 64 * W> history;   // since the start; empty if boards may recur
    std::int16_t ply = 0;
    std::int16_t ko = -1;  // the point forbidden now
    std::int8_t to_move = 0;
    std::int8_t passes = 0;         // in a row
    std::int16_t passes_ahead = 0;  // black's passes less white's, where that matters
    bool may_recur = false;         // the last stone stands where one of its colour was taken
    End end = End::none;
    friend bool operator==(const State&, const State&) = default;
  };

  int rows, columns;
  double komi;
  Repetition repetition;
  int max_plies;
  int num_players = 2;
  bool has_history = repetition != Repetition::allowed;
  double max_score = rows * columns + std::abs(komi);
  int max_pieces = rows * columns;
  Shape shape{.rows = rows,
              .columns = columns,
              .symbols = "xo*-=",
              .first_row_at_bottom = true,
              .skips_i = true};
  Action pass = Action(rows * columns);
  std::vector<std::string> other_actions = {"pass"};
  Bits<W> all = Bits<W>::first(rows * columns);
  Bits<W> not_first = all_but_column(0), not_last = all_but_column(columns - 1);
  // The points beside each; at the edges some stand twice, which does no harm.
  std::vector<std::array<std::int16_t, 4>> beside = points_beside();

  State initial_state() const { return from_board({std::vector<std::uint8_t>(shape.size())}); }

  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    const auto empty = empties(state);
    auto legal = empty & around(empty);
    (empty & ~legal).for_each([&](int cell) {
      if (is_legal(state, empty, cell)) legal.set(cell);
    });
    if (state.ko >= 0) legal.clear(state.ko);
    legal.for_each([&](int cell) { actions.push_back(cell); });
    actions.push_back(pass);
  }

  // Tries empty points and the pass until one is legal, so all that are have the same chance.
  Action random_action(const State& state, Random& random) const {
    const auto empty = empties(state);
    const int number = empty.count();
    for (;;) {
      const int chosen = int(random.below(std::uint32_t(number + 1)));
      if (chosen == number) return pass;
      const int cell = empty.nth(chosen);
      if (cell != state.ko && is_legal(state, empty, cell)) return Action(cell);
    }
  }

  void play(State& state, Action action) const {
    const bool passed = action == pass;
    state.ko = -1;
    if (!passed) place(state, int(action));
    state.passes = passed ? state.passes + 1 : 0;
    if (passed && repetition == Repetition::olympiad)
      state.passes_ahead += state.to_move == 0 ? 1 : -1;
    state.key ^= mover_key(0) ^ mover_key(1);
    state.to_move ^= 1;
    ++state.ply;
    end_game(state);
  }

  bool is_terminal(const State& state) const { return state.end != End::none; }
  int outcome(const State& state, int player) const {
    double lead = 0;
    if (state.end == End::scored) lead = score(state, 0) - score(state, 1);
    if (state.end == End::first_won) lead = 1;
    if (state.end == End::second_won) lead = -1;
    return ((lead > 0) - (lead < 0)) * (player == 0 ? 1 : -1);
  }
  // Area and komi; a game that a cycle ended has none.
  double score(const State& state, int player) const {
    if (state.end > End::scored) return 0;
    const auto &own = state.stones[player], &enemy = state.stones[1 - player];
    const auto empty = all & ~(own | enemy);
    const auto area = own | (reach(own, empty) & ~reach(enemy, empty));
    return area.count() + (player == 1 ? komi : 0);
  }
  int pieces(const State& state, int player) const { return state.stones[player].count(); }

  Key key(const State& state) const {
    Key key = state.key ^ state.history.key() ^ count_key(0, state.ply);
    if (state.ko >= 0) key ^= zobrist[2 * shape.size() + state.ko];
    return key ^ count_key(1, state.passes) ^ count_key(2, 2048 + state.passes_ahead);
  }

  void write_board(const State& state, Board& board) const {
    std::fill(board.cells.begin(), board.cells.end(), std::uint8_t(empty_symbols[state.passes]));
    write_pieces(state.stones, board);
    if (state.ko >= 0) board.cells[state.ko] = 3;
  }
  std::string note(const State& state) const {
    if (state.ko >= 0) return ", * is ko";
    return state.passes == 0 ? "" : state.passes == 1 ? ", after a pass" : ", after two passes";
  }
  State from_board(const Board& board) const {
    State state;
    set_turn(state, board);
    std::array<int, 6> number{};  // by symbol, 0 being the plain empty point
    for (int cell = 0; cell < shape.size(); ++cell) {
      const int symbol = board.cells[cell];
      ++number[symbol];
      if (symbol == 1 || symbol == 2) put(state, symbol - 1, cell);
      if (symbol == 3) state.ko = std::int16_t(cell);
      if (symbol > 3) state.passes = std::int8_t(symbol - 3);
    }
    if ((number[0] || number[3]) + (number[4] > 0) + (number[5] > 0) > 1)
      refuse("its empty points are drawn in several ways");
    if (number[3] > 1 || (state.ko >= 0 && !can_be_ko(state)))
      refuse("* is not where a stone has just been taken in a ko");
    for (int player : {0, 1})
      if (state.stones[player].any_of([&](int stone) {
            return breathless_group(state.stones[player], stone, empties(state)).any();
          }))
        refuse("a stone has no liberty");
    end_game(state);
    return state;
  }

  std::string action_to_string(const State&, Action action) const {
    return action == pass ? "pass" : cell_name(shape, int(action));
  }
  std::optional<int> marked_cell(const State&, Action action) const {
    return action == pass ? std::nullopt : std::optional(int(action));
  }
  std::vector<Symmetry> symmetries() const {
    auto symmetries = grid_symmetries(shape, 2, komi == 0);
    for (auto& symmetry : symmetries)  // ko and passes belong to neither player
      for (int channel : {2, 3, 4}) symmetry.channels[channel] = channel;
    return symmetries;
  }

 private:
  static constexpr int empty_symbols[] = {0, 4, 5};  // by the passes just before

  // Puts a stone on the cell, or takes it off.
  void put(State& state, int player, int cell) const {
    state.stones[player].flip(cell);
    state.key ^= zobrist[player * shape.size() + cell];
  }

  Bits<W> empties(const State& state) const { return all & ~(state.stones[0] | state.stones[1]); }

  // Whether the mover may just have lost a stone there to one that stands where it took it.
  bool can_be_ko(const State& state) const {
    const auto &own = state.stones[state.to_move], &enemy = state.stones[1 - state.to_move];
    const auto all_in = [&](int cell, const Bits<W>& cells) {
      return std::ranges::all_of(beside[cell], [&](int next) { return cells.test(next); });
    };
    return all_in(state.ko, enemy) && std::ranges::any_of(beside[state.ko], [&](int taker) {
             return all_in(taker, own | Bits<W>::of(state.ko));
           });
  }

  // Whether a stone there has a liberty, or a group that gives breath beside it: an own one with
  // another liberty, or an enemy one that has no other. Ko aside.
  bool is_legal(const State& state, Bits<W> empty, int cell) const {
    empty.clear(cell);
    for (int next : beside[cell])
      if (empty.test(next)) return true;
    for (int next : beside[cell]) {
      const int player = state.stones[1].test(next);
      const bool breathless = breathless_group(state.stones[player], next, empty).any();
      if (breathless == (player != state.to_move)) return true;
    }
    return false;
  }

  void place(State& state, int cell) const {
    const int player = state.to_move;
    put(state, player, cell);
    const auto& enemy = state.stones[1 - player];
    const auto empty = empties(state);
    Bits<W> captured;
    for (int next : beside[cell])
      if (enemy.test(next) && !captured.test(next))
        captured |= breathless_group(enemy, next, empty);
    if (has_history) state.may_recur = state.taken[player].test(cell);
    if (captured.none()) return;
    if (has_history) state.taken[1 - player] |= captured;
    captured.for_each([&](int stone) { put(state, 1 - player, stone); });
    // Ko: a single stone took a single one and can only be taken back there.
    if (captured.count() > 1) return;
    for (int next : beside[cell])
      if (!enemy.test(next) && !captured.test(next)) return;
    state.ko = std::int16_t(captured.lowest());
  }

  void end_game(State& state) const {
    if (state.passes == 2)
      state.end = End::scored;
    else if (has_history)
      remember(state);
    if (state.end == End::none && state.ply >= max_plies)
      state.end = repetition == Repetition::openspiel ? End::scored : End::drawn;
  }

  // Ends the game if its board was there before, and adds it to the history. It can only have
  // been if a stone of the last one's colour stood on that point and was taken meanwhile.
  void remember(State& state) const {
    if (repetition == Repetition::openspiel) {
      if (state.passes) return;
      const Key board = state.key ^ mover_key(state.to_move);
      if (state.may_recur && state.history.count(board)) state.end = End::drawn;
      state.history.push(board);
      return;
    }
    // A position carries how far black was ahead in passes in the last 16 of its 128 bits.
    const Key position{state.key.low,
                       (state.key.high & ~0xFFFFull) | std::uint16_t(state.passes_ahead)};
    if (state.may_recur)
      for (int i = 0; i < state.history.size(); ++i) {
        const Key earlier = state.history[i];
        if (earlier.low != position.low || (earlier.high ^ position.high) > 0xFFFF) continue;
        const int ahead = state.passes_ahead - std::int16_t(earlier.high & 0xFFFF);
        state.end = ahead == 0 ? End::drawn : ahead > 0 ? End::first_won : End::second_won;
      }
    state.history.push(position);
  }

  // The neighbours of the cells; all directions at once, for this is where the time goes.
  Bits<W> around(const Bits<W>& cells) const {
    Bits<W> found;
    for (int i = 0; i < W; ++i) {
      const std::uint64_t here = cells.words[i];
      const std::uint64_t below = i > 0 ? cells.words[i - 1] : 0;
      const std::uint64_t above = i + 1 < W ? cells.words[i + 1] : 0;
      found.words[i] =
          ((here << columns | below >> (64 - columns) | here >> columns | above << (64 - columns)) |
           ((here << 1 | below >> 63) & not_first.words[i]) |
           ((here >> 1 | above << 63) & not_last.words[i])) &
          all.words[i];
    }
    return found;
  }
  // `from` and the cells of `through` that hang together with it.
  Bits<W> reach(Bits<W> from, const Bits<W>& through) const {
    for (auto next = around(from) & through & ~from; next.any();
         next = around(next) & through & ~from)
      from |= next;
    return from;
  }
  // The group of `stone` if it has no liberty, else nothing; most are seen to have one at once.
  Bits<W> breathless_group(const Bits<W>& stones, int stone, const Bits<W>& empty) const {
    std::array<std::int16_t, 64 * W> found;
    int size = 0;
    Bits<W> group;
    const auto add = [&](int cell) {
      group.set(cell);
      found[size++] = std::int16_t(cell);
    };
    add(stone);
    for (int i = 0; i < size; ++i)
      for (int next : beside[found[i]]) {
        if (empty.test(next)) return {};
        if (stones.test(next) && !group.test(next)) add(next);
      }
    return group;
  }
  std::vector<std::array<std::int16_t, 4>> points_beside() const {
    std::vector<std::array<std::int16_t, 4>> points;
    for (int cell = 0; cell < rows * columns; ++cell) {
      const auto ring = around(Bits<W>::of(cell));
      auto& four = points.emplace_back();
      four.fill(std::int16_t(ring.lowest()));
      int i = 0;
      ring.for_each([&](int next) { four[i++] = std::int16_t(next); });
    }
    return points;
  }
  Bits<W> all_but_column(int column) const {
    auto cells = all;
    for (int row = 0; row < rows; ++row) cells.clear(row * columns + column);
    return cells;
  }
};

}  // namespace

extern const GameType go_type;
const GameType go_type{
    "go",
    "Go",
    {whole_number("size", 9, 2, 19, "points along a side"),
     whole_number("columns", 0, 0, 19,
                  "points along the other side, at least 2; 0: as many as size"),
     real_number("komi", 7.5, -361, 361, "points for white; the Olympiad has played 7 and 7.5"),
     one_of("draw_rules", {"olympiad", "openspiel", "none"},
            "a recurring board loses for who kept the cycle going, draws, or may recur"),
     whole_number(
         "max_plies", 0, 0, 1083,
         "plies, then a draw (openspiel: scored); 0: 3 times the points (openspiel: twice)")},
    [](const Options& options) -> std::unique_ptr<Game> {
      const int size = options.integer("size"), wide = options.integer("columns");
      if (wide == 1)
        throw std::invalid_argument("Option 'columns' of game 'go' must be 0 or at least 2.");
      const int columns = wide ? wide : size, cells = size * columns;
      const auto& rules = options.text("draw_rules");
      const auto repetition = rules == "olympiad"    ? Repetition::olympiad
                              : rules == "openspiel" ? Repetition::openspiel
                                                     : Repetition::allowed;
      int max_plies = options.integer("max_plies");
      if (max_plies > std::max(192, 3 * cells))  // the least and the greatest history we keep
        throw std::invalid_argument(
            "Option 'max_plies' of game 'go' must be at most 3 * its points, or 192.");
      if (max_plies == 0) max_plies = (repetition == Repetition::openspiel ? 2 : 3) * cells;
      return with_words(cells, [&]<int W>() {
        return make_rules_game("go",
                               Go<W>{size, columns, options.real("komi"), repetition, max_plies});
      });
    },
    {"black: the larger area wins", "white: the larger area with komi wins"},
};

}  // namespace athenan
