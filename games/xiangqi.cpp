// Xiangqi: red (capitals, below) moves first. The general K and his advisors A stay in the palace:
// one step straight, one step diagonally. Elephants B go two diagonally, not over a piece or the
// river; horses N one straight, where nothing may stand, then one diagonally outwards; chariots R
// any way along a line; cannons C likewise, but capture over exactly one piece. Soldiers P step
// forward, beyond the river also sideways. A general may not be left in check, nor face the other
// along an open column. Who has no action loses, in check or not.
// Options: draw_rules: olympiad: the third time a position stands with the same player to move,
//   who gave check with each of his actions since the first time loses, if only one did; otherwise
//   a draw; and a draw after quiet_plies without a capture. openspiel and none: neither.
//   chase (a simple form of the Asian rule): nor may each action newly attack one and the same
//   unprotected piece, other than a general or a soldier at home, with a piece of another kind
//   that is no general or soldier. max_plies (500, as OpenSpiel): then a draw.
// Actions: from and to, a1 at red's left. Texts and FEN are read; FEN's H and E mean N and B.
#include <cstdio>
#include <stdexcept>

#include "bits.h"
#include "history.h"
#include "rules.h"

namespace athenan {
namespace {

constexpr int cells = 90, columns = 9, most_quiet_plies = 240;
using Cells = Bits<2>;
enum Kind { general, advisor, elephant, horse, chariot, cannon, soldier };

struct Xiangqi {
  struct Position {
    std::array<std::uint8_t, cells> pieces{};  // 0 or 1 + 2 * kind + player
    std::array<std::uint16_t, 10> row{};       // what stands in each row, and in each column
    std::array<std::uint16_t, 9> column{};
    std::array<std::int8_t, 2> generals{-1, -1};
    std::array<Cells, 2> of;
    Key key;  // pieces and mover
    friend bool operator==(const Position&, const Position&) = default;
  };
  struct State {
    Position position;
    Key trail;  // of the history, in order: who checked when decides a repetition
    History<most_quiet_plies> history;
    std::int16_t ply = 0;
    std::int16_t quiet = 0;  // plies since the last capture
    std::int8_t to_move = 0;
    bool checked = false;  // is to_move in check?
    bool over = false;
    std::int8_t winner = -1;
    friend bool operator==(const State&, const State&) = default;
  };
  struct Jump {
    std::int8_t over, to;
  };

  bool has_history, chase;
  int quiet_plies, max_plies;
  int num_players = 2, max_pieces = 16;
  Shape shape{10, columns, "KkAaBbNnRrCcPp", Grid::square, true};
  std::array<Cells, cells> general_steps, advisor_steps;
  std::array<std::array<Cells, cells>, 2> soldier_steps;
  std::array<std::vector<Jump>, cells> elephant_jumps, horse_jumps, horses_to;
  std::array<Cells, cells> exposed;      // where a change can put a general on that cell into check
  std::array<Cells, 1024> first_column;  // bits of a column as cells

  Xiangqi(bool olympiad, bool chase, int quiet_plies, int max_plies)
      : has_history(olympiad), chase(chase), quiet_plies(quiet_plies), max_plies(max_plies) {
    make_tables();
  }

  State initial_state() const {
    return state_from_string(
        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1");
  }

  void legal_actions(const State& state, Actions& actions) const {
    if (state.over) return;
    any_action(state, [&](int from, int to) {
      actions.push_back(from * cells + to);
      return false;
    });
  }

  void play(State& state, Action action) const {
    const int from = int(action) / cells, to = int(action) % cells;
    const int kind = (state.position.pieces[from] - 1) / 2;
    const bool captures = shift_piece(state.position, from, to) != 0;
    const bool back = !captures && (kind != soldier || from / columns == to / columns);
    state.position.key ^= mover_key(0) ^ mover_key(1);
    state.to_move ^= 1;
    ++state.ply;
    state.quiet = captures ? 0 : state.quiet + has_history;
    if (!back) forget(state);
    look(state);
  }

  bool is_terminal(const State& state) const { return state.over; }
  int outcome(const State& state, int player) const {
    return state.winner < 0 ? 0 : state.winner == player ? 1 : -1;
  }
  int pieces(const State& state, int player) const { return state.position.of[player].count(); }
  Key key(const State& state) const {
    return state.position.key ^ state.trail ^ count_key(0, state.ply) ^ count_key(1, state.quiet);
  }

  void write_board(const State& state, Board& board) const {
    std::copy_n(state.position.pieces.begin(), cells, board.cells.begin());
  }
  State from_board(const Board& board, int quiet = 0) const {
    State state;
    state.to_move = std::int8_t(board.to_move);
    state.position.key = mover_key(board.to_move);
    state.ply = std::int16_t(board.ply);
    state.quiet = std::int16_t(has_history ? quiet : 0);
    std::array<int, 2> generals{};
    for (int cell = 0; cell < cells; ++cell) {
      if (board.cells[cell]) put(state.position, cell, board.cells[cell]);
      if (board.cells[cell] && board.cells[cell] <= 2) ++generals[board.cells[cell] - 1];
    }
    if (generals[0] != 1 || generals[1] != 1)
      throw std::invalid_argument("Each side has one general in Xiangqi.");
    look(state);
    return state;
  }
  State state_from_string(std::string_view text) const {
    if (text.find('/') == std::string_view::npos) return from_board(read_board(shape, 2, text));
    return from_fen(text);
  }

  std::string action_to_string(const State&, Action action) const {
    return cell_name(shape, int(action) / cells) + cell_name(shape, int(action) % cells);
  }
  int marked_cell(const State&, Action action) const { return int(action) % cells; }
  std::vector<Symmetry> symmetries() const {
    return {
        make_symmetry(shape, 2, [](int r, int c) { return std::pair{r, c}; }),
        make_symmetry(shape, 2, [](int r, int c) { return std::pair{r, 8 - c}; }),
        make_symmetry(
            shape, 2, [](int r, int c) { return std::pair{9 - r, c}; }, true),
        make_symmetry(
            shape, 2, [](int r, int c) { return std::pair{9 - r, 8 - c}; }, true),
    };
  }

 private:
  // ---- The board --------------------------------------------------------------------------

  // Puts a piece on an empty cell; take is the reverse.
  static void put(Position& position, int cell, int piece) {
    position.pieces[cell] = std::uint8_t(piece);
    if (piece <= 2) position.generals[piece - 1] = std::int8_t(cell);
    flip(position, cell, piece);
  }
  static int take(Position& position, int cell) {
    const int piece = std::exchange(position.pieces[cell], std::uint8_t(0));
    flip(position, cell, piece);
    return piece;
  }
  static void flip(Position& position, int cell, int piece) {
    position.row[cell / columns] ^= std::uint16_t(1 << cell % columns);
    position.column[cell % columns] ^= std::uint16_t(1 << cell / columns);
    position.of[(piece - 1) % 2].flip(cell);
    position.key ^= zobrist[piece * cells + cell];
  }
  // Returns the captured piece.
  static int shift_piece(Position& position, int from, int to) {
    const int captured = position.pieces[to] ? take(position, to) : 0;
    put(position, to, take(position, from));
    return captured;
  }
  static int player_of(int piece) { return (piece - 1) % 2; }

  // Along one line of the board, as bits: free cells next to `at`, the first pieces to both
  // sides, and the second ones.
  struct Sight {
    unsigned open, first, second;
  };
  static Sight sight(unsigned line, int at, int length) {
    const unsigned below = line & ((1u << at) - 1), above = line & ~((2u << at) - 1);
    const unsigned low = std::bit_floor(below), high = above & -above, beyond = above ^ high;
    const unsigned up_to = high ? high - 1 : (1u << length) - 1;
    const unsigned open = up_to & ~(low ? 2 * low - 1 : 0) & ~(1u << at);
    return {open, low | high, std::bit_floor(below ^ low) | (beyond & -beyond)};
  }
  static Sight along_row(const Position& position, int cell) {
    return sight(position.row[cell / columns], cell % columns, 9);
  }
  static Sight along_column(const Position& position, int cell) {
    return sight(position.column[cell % columns], cell / columns, 10);
  }
  Cells as_cells(unsigned in_row, unsigned in_column, int cell) const {
    return Cells{{in_row, 0}}.shifted(cell / columns * columns) |
           first_column[in_column].shifted(cell % columns);
  }

  // Where the piece on `from` can go, its own general's safety aside.
  Cells targets(const Position& position, int from) const {
    const int piece = position.pieces[from], player = player_of(piece);
    const auto& own = position.of[player];
    Cells found;
    switch ((piece - 1) / 2) {
      case general: found = general_steps[from]; break;
      case advisor: found = advisor_steps[from]; break;
      case soldier: found = soldier_steps[player][from]; break;
      case elephant:
        for (const auto& jump : elephant_jumps[from])
          if (!position.pieces[jump.over]) found.set(jump.to);
        break;
      case horse:
        for (const auto& jump : horse_jumps[from])
          if (!position.pieces[jump.over]) found.set(jump.to);
        break;
      default: {
        const auto row = along_row(position, from), column = along_column(position, from);
        found = as_cells(row.open, column.open, from);
        found |= (piece - 1) / 2 == chariot
                     ? as_cells(row.first, column.first, from)
                     : as_cells(row.second, column.second, from) & position.of[1 - player];
      }
    }
    return found & ~own;
  }

  // Is the player's general attacked, the other general's sight included?
  bool in_check(const Position& position, int player) const {
    const int cell = position.generals[player], enemy = 1 - player;
    const auto is = [&](int where, Kind kind) {
      return position.pieces[where] == 1 + 2 * kind + enemy;
    };
    for (const auto& jump : horses_to[cell])
      if (is(jump.to, horse) && !position.pieces[jump.over]) return true;
    const auto row = along_row(position, cell), column = along_column(position, cell);
    const auto seen = as_cells(row.first, column.first, cell) & position.of[enemy];
    const auto over = as_cells(row.second, column.second, cell) & position.of[enemy];
    bool attacked = false;
    seen.for_each([&](int from) {
      attacked |= is(from, chariot) || (is(from, general) && from % columns == cell % columns) ||
                  (is(from, soldier) && soldier_steps[enemy][from].test(cell));
    });
    over.for_each([&](int from) { attacked |= is(from, cannon); });
    return attacked;
  }

  // Calls visit(from, to) for the legal actions, ascending, until it returns true.
  template <class Visit>
  bool any_action(const State& state, Visit visit) const {
    const int player = state.to_move;
    Position trial = state.position;
    const int home = trial.generals[player];
    const auto own = trial.of[player];
    for (auto left = own; left.any();) {
      const int from = left.lowest();
      left.clear(from);
      const bool careful = state.checked || from == home || exposed[home].test(from);
      for (auto to = targets(trial, from); to.any();) {
        const int cell = to.lowest();
        to.clear(cell);
        if ((careful || exposed[home].test(cell)) && exposes(trial, player, from, cell)) continue;
        if (visit(from, cell)) return true;
      }
    }
    return false;
  }
  bool exposes(Position& position, int player, int from, int to) const {
    const int captured = shift_piece(position, from, to);
    const bool bad = in_check(position, player);
    shift_piece(position, to, from);
    if (captured) put(position, to, captured);
    return bad;
  }

  // ---- Ends -------------------------------------------------------------------------------

  static void forget(State& state) {
    state.history.clear();
    state.trail = {};
  }

  // Finds out about check and the end, and adds the position to the history.
  void look(State& state) const {
    state.checked = in_check(state.position, state.to_move);
    if (!any_action(state, [](int, int) { return true; })) {
      state.over = true;
      state.winner = std::int8_t(1 - state.to_move);
      return;
    }
    if (has_history) {
      // The lowest bit tells a check.
      const std::uint64_t position = (state.position.key.low & ~1ull) | state.checked;
      state.history.push({position, 0});
      state.trail = hash_key(state.trail.low ^ position);
      if (state.history.size() > 8 && state.history.count({position, 0}) >= 3) repeated(state);
      if (state.quiet >= quiet_plies) state.over = true;
    }
    if (state.ply >= max_plies) state.over = true;
  }

  void repeated(State& state) const {
    const auto positions = state.history.positions();
    int plies = 0;  // since the first of three
    for (int found = 0; found < 2;)
      if (positions[positions.size() - 1 - ++plies] == positions.back()) ++found;
    std::array<bool, 2> guilty{true, true};  // by player
    for (int i = 0; i < plies; ++i)
      if (!(positions[positions.size() - 1 - i] & 1)) guilty[state.to_move ^ ((i + 1) % 2)] = false;
    if (chase && !guilty[0] && !guilty[1])
      for (int player : {0, 1}) guilty[player] = chases(state, player, plies);
    state.over = true;
    if (guilty[0] != guilty[1]) state.winner = guilty[0];
  }

  // Did each of the player's last actions newly attack the same piece? The actions are found by
  // taking them back, which the keys of the history allow; none of them captured.
  bool chases(const State& state, int player, int plies) const {
    const auto positions = state.history.positions();
    Position position = state.position;
    std::array<std::int8_t, cells> name;  // of a piece: where it stands now
    for (int cell = 0; cell < cells; ++cell) name[cell] = std::int8_t(cell);
    auto common = Cells::first(cells);
    for (int i = 0, mover = 1 - state.to_move; i < plies; ++i, mover ^= 1) {
      const auto after = victims(position, player, name);
      take_back(position, mover, positions[positions.size() - 2 - i], name);
      if (mover == player) common &= after & ~victims(position, player, name);
    }
    return common.any();
  }
  static void take_back(Position& position, int mover, std::uint64_t before,
                        std::array<std::int8_t, cells>& name) {
    const auto free = ~(position.of[0] | position.of[1]) & Cells::first(cells);
    const Key now = position.key ^ mover_key(0) ^ mover_key(1);
    int from = -1, to = -1;
    position.of[mover].for_each([&](int here) {
      const int first = position.pieces[here] * cells;
      free.for_each([&](int there) {
        const std::uint64_t key = (now ^ zobrist[first + here] ^ zobrist[first + there]).low;
        if (((key ^ before) >> 1) == 0) from = here, to = there;
      });
    });
    shift_piece(position, from, to);
    position.key ^= mover_key(0) ^ mover_key(1);
    std::swap(name[from], name[to]);
  }
  // The enemy pieces, by name, that the player attacks in the way that counts as a chase.
  Cells victims(const Position& position, int player,
                const std::array<std::int8_t, cells>& name) const {
    Cells found;
    position.of[player].for_each([&](int from) {
      const int kind = (position.pieces[from] - 1) / 2;
      if (kind == general || kind == soldier) return;
      (targets(position, from) & position.of[1 - player]).for_each([&](int to) {
        const int prey = (position.pieces[to] - 1) / 2;
        const bool at_home = (to / columns < 5) == (player == 1);
        if (prey == general || prey == kind || (prey == soldier && at_home)) return;
        Position taken = position;
        shift_piece(taken, from, to);
        bool protects = false;
        taken.of[1 - player].for_each([&](int cell) { protects |= targets(taken, cell).test(to); });
        if (!protects) found.set(name[to]);
      });
    });
    return found;
  }

  // ---- Texts and tables -------------------------------------------------------------------

  State from_fen(std::string_view text) const {
    const auto refuse = [] { throw std::invalid_argument("This is not a FEN of Xiangqi."); };
    Board board{std::vector<std::uint8_t>(cells)};
    std::size_t at = 0;
    int row = 9, column = 0;
    for (; at < text.size() && text[at] != ' '; ++at) {
      if (text[at] == '/') {
        if (column != columns || --row < 0) refuse();
        column = 0;
      } else if (text[at] >= '1' && text[at] <= '9') {
        column += text[at] - '0';
      } else {
        const auto other = std::string_view("HhEe").find(text[at]);
        const auto piece = shape.symbols.find(other > 3 ? text[at] : "NnBb"[other]);
        if (piece == std::string::npos || column >= columns) refuse();
        board.cells[row * columns + column++] = std::uint8_t(piece + 1);
      }
    }
    if (row != 0 || column != columns) refuse();
    char mover = 'w';
    int quiet = 0, turn = 1;
    std::sscanf(std::string(text.substr(at)).c_str(), " %c %*s %*s %d %d", &mover, &quiet, &turn);
    board.to_move = mover == 'b';
    board.ply = std::max(0, 2 * (turn - 1) + board.to_move);
    return from_board(board, quiet);
  }

  void make_tables() {
    for (int cell = 0; cell < cells; ++cell) {
      const int row = cell / columns, column = cell % columns;
      for (int to = 0; to < cells; ++to) {
        const int up = to / columns - row, right = to % columns - column;
        const int far = std::abs(up), wide = std::abs(right);
        const bool palace = to % columns >= 3 && to % columns <= 5 && (to / columns) % 7 <= 2;
        const bool bank = (row < 5) == (to / columns < 5);
        if (palace && bank && far + wide == 1) general_steps[cell].set(to);
        if (palace && bank && far == 1 && wide == 1) advisor_steps[cell].set(to);
        if (far + wide == 1 && up >= 0 && (up || row >= 5)) soldier_steps[0][cell].set(to);
        if (far + wide == 1 && up <= 0 && (up || row < 5)) soldier_steps[1][cell].set(to);
        const auto between = std::int8_t((row + up / 2) * columns + column + right / 2);
        if (bank && far == 2 && wide == 2)
          elephant_jumps[cell].push_back({between, std::int8_t(to)});
        if (far + wide == 3 && far && wide) {
          horse_jumps[cell].push_back({between, std::int8_t(to)});
          horses_to[to].push_back({between, std::int8_t(cell)});
        }
        if (far == 0 || wide == 0 || (far == 1 && wide == 1)) exposed[cell].set(to);
      }
    }
    for (unsigned bits = 0; bits < 1024; ++bits)
      for (int row = 0; row < 10; ++row)
        if (bits >> row & 1) first_column[bits].set(row * columns);
  }
};

}  // namespace

extern const GameType xiangqi_type;
const GameType xiangqi_type{
    "xiangqi",
    "Xiangqi",
    {one_of("draw_rules", {"olympiad", "openspiel", "none"}, "what repetition and long peace mean"),
     yes_or_no("chase", false, "perpetual chase loses, where perpetual check does"),
     whole_number("quiet_plies", 120, 10, most_quiet_plies, "plies without capture, then a draw"),
     whole_number("max_plies", 500, 1, 4000, "longest game, then a draw")},
    [](const Options& options) {
      return make_rules_game(
          "xiangqi", Xiangqi(options.text("draw_rules") == "olympiad", options.flag("chase"),
                             options.integer("quiet_plies"), options.integer("max_plies")));
    },
};

}  // namespace athenan
