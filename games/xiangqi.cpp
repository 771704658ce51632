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
// Where the numbers come from: 500 plies is OpenSpiel's bound. The Olympiad's limit of plies
//   without a capture and its rule on chases are not known to us, and the codes differ: 120 plies
//   (60 of each side) and no chase are our choice.
// Actions: from and to, a1 at red's left. The last line of a text is its FEN; a FEN alone is read
// too, and its H and E mean N and B.
#include <algorithm>

#include "games/history.h"
#include "games/rules.h"
#include "games/xiangqi_position.h"

namespace athenan {
namespace {

constexpr int cells = XiangqiLines::cells, columns = XiangqiLines::columns;
constexpr int most_quiet_plies = 240;
using Cells = XiangqiLines::Cells;

struct Xiangqi {
  struct State {
    XiangqiPosition position;
    History<most_quiet_plies + 1, Order::kept> history;  // who checked when decides a repetition
    std::int16_t ply = 0;
    std::int16_t quiet = 0;  // plies since the last capture
    std::int8_t to_move = 0;
    bool checked = false;  // is to_move in check?
    bool over = false;
    std::int8_t winner = -1;
    friend bool operator==(const State&, const State&) = default;
  };

  bool has_history, chase;
  int quiet_plies, max_plies;
  int num_players = 2, max_pieces = 16;
  Shape shape{10, columns, "KkAaBbNnRrCcPp", Grid::square, true};

  State initial_state() const {
    return state_from_string(
        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1");
  }

  void legal_actions(const State& state, Actions& actions) const {
    if (state.over) return;
    state.position.any_action(state.to_move, state.checked, [&](int from, int to) {
      actions.push_back(from * cells + to);
      return false;
    });
  }

  void play(State& state, Action action) const {
    const int from = int(action) / cells, to = int(action) % cells;
    const auto kind = state.position.kind_at(from);
    const bool captures = state.position.shift_piece(from, to) != 0;
    const bool back = !captures && (kind != soldier || from / columns == to / columns);
    state.position.key ^= mover_key(0) ^ mover_key(1);
    state.to_move ^= 1;
    ++state.ply;
    state.quiet = captures ? 0 : state.quiet + has_history;
    if (!back) state.history.clear();
    look(state);
  }

  bool is_terminal(const State& state) const { return state.over; }
  int outcome(const State& state, int player) const {
    return state.winner < 0 ? 0 : state.winner == player ? 1 : -1;
  }
  int pieces(const State& state, int player) const { return state.position.of[player].count(); }
  Key key(const State& state) const {
    return state.position.key ^ state.history.key() ^ count_key(0, state.ply) ^
           count_key(1, state.quiet);
  }

  void write_board(const State& state, Board& board) const {
    std::copy_n(state.position.pieces.begin(), cells, board.cells.begin());
  }
  std::string note(const State& state) const {
    Fen fen{{std::vector<std::uint8_t>(cells), state.to_move, state.ply}};
    write_board(state, fen.board);
    fen.quiet_plies = state.quiet;
    return (state.checked ? ", in check\nFEN " : "\nFEN ") + write_fen(shape, fen);
  }
  State from_board(const Board& board, int quiet = 0) const {
    State state;
    state.to_move = std::int8_t(board.to_move);
    state.position.key = mover_key(board.to_move);
    state.ply = std::int16_t(board.ply);
    state.quiet = std::int16_t(has_history ? quiet : 0);
    std::array<int, 14> number{};
    read_pieces(board, [&](int piece, int cell) {
      if (!may_stand(piece % 2, XiangqiKind(piece / 2), cell))
        refuse(std::string(1, shape.symbols[piece]) + " cannot stand on " + cell_name(shape, cell));
      if (++number[piece] > most_of[piece / 2])
        refuse(std::string("there are too many ") + shape.symbols[piece]);
      state.position.put(cell, piece + 1);
    });
    if (!number[0] || !number[1]) refuse("each side has one general");
    if (state.position.in_check(1 - state.to_move))
      refuse("the general of who is not to move stands in check, or the generals face each other");
    look(state);
    return state;
  }
  State state_from_string(std::string_view text) const {
    std::string usual(text);
    if (text.find('\n') == std::string_view::npos)
      for (auto at = usual.begin(), end = std::find(at, usual.end(), ' '); at != end; ++at)
        if (const auto other = std::string_view("HhEe").find(*at); other < 4) *at = "NnBb"[other];
    const auto fen = read_fen(shape, usual);
    if (fen.rights != "-" || fen.passed != "-")
      refuse("its FEN should have - twice after the mover");
    return from_board(fen.board, fen.quiet_plies);
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
  static constexpr int most_of[] = {1, 2, 2, 2, 2, 2, 5};  // by kind
  // Where the rules let a piece come; rows count from its player's side.
  static bool may_stand(int player, XiangqiKind kind, int cell) {
    const int row = player ? 9 - cell / columns : cell / columns;
    const int wide = std::abs(cell % columns - 4);
    switch (kind) {
      case general: return row <= 2 && wide <= 1;
      case advisor: return row <= 2 && wide <= 1 && (row + wide) % 2 == 1;
      case elephant: return row <= 4 && row % 2 == 0 && (row + wide) % 4 == 2;
      case soldier: return row >= 5 || (row >= 3 && wide % 2 == 0);
      default: return true;
    }
  }

  // Finds out about check and the end, and adds the position to the history.
  void look(State& state) const {
    state.checked = state.position.in_check(state.to_move);
    if (!state.position.any_action(state.to_move, state.checked, [](int, int) { return true; })) {
      state.over = true;
      state.winner = std::int8_t(1 - state.to_move);
      return;
    }
    if (has_history) {
      // The lowest bit tells a check.
      const auto [low, high] = state.position.key;
      const Key position{(low & ~1ull) | state.checked, high};
      state.history.push(position);
      if (state.history.size() > 8 && state.history.count(position) >= 3) repeated(state);
      if (state.quiet >= quiet_plies) state.over = true;
    }
    if (state.ply >= max_plies) state.over = true;
  }

  void repeated(State& state) const {
    const auto& history = state.history;
    const int last = history.size() - 1;
    int plies = 0;  // since the first of three
    for (int found = 0; found < 2;)
      if (history[last - ++plies] == history[last]) ++found;
    std::array<bool, 2> guilty{true, true};  // by player
    for (int i = 0; i < plies; ++i)
      if (!(history[last - i].low & 1)) guilty[state.to_move ^ ((i + 1) % 2)] = false;
    if (chase && !guilty[0] && !guilty[1])
      for (int player : {0, 1}) guilty[player] = chases(state, player, plies);
    state.over = true;
    if (guilty[0] != guilty[1]) state.winner = guilty[0];
  }

  // Did each of the player's last actions newly attack the same piece? The actions are found by
  // taking them back, which the keys of the history allow; none of them captured.
  bool chases(const State& state, int player, int plies) const {
    XiangqiPosition position = state.position;
    std::array<std::int8_t, cells> name;  // of a piece: where it stands now
    for (int cell = 0; cell < cells; ++cell) name[cell] = std::int8_t(cell);
    auto common = Cells::first(cells);
    for (int i = 0, mover = 1 - state.to_move; i < plies; ++i, mover ^= 1) {
      const auto after = victims(position, player, name);
      take_back(position, mover, state.history[state.history.size() - 2 - i], name);
      if (mover == player) common &= after & ~victims(position, player, name);
    }
    return common.any();
  }
  static void take_back(XiangqiPosition& position, int mover, const Key& before,
                        std::array<std::int8_t, cells>& name) {
    const auto free = ~(position.of[0] | position.of[1]) & Cells::first(cells);
    const Key now = position.key ^ mover_key(0) ^ mover_key(1);
    int from = -1, to = -1;
    position.of[mover].for_each([&](int here) {
      const int first = position.pieces[here] * cells;
      free.for_each([&](int there) {
        const Key difference = now ^ zobrist[first + here] ^ zobrist[first + there] ^ before;
        if (difference.low <= 1 && difference.high == 0) from = here, to = there;
      });
    });
    position.shift_piece(from, to);
    position.key ^= mover_key(0) ^ mover_key(1);
    std::swap(name[from], name[to]);
  }
  // The enemy pieces, by name, that the player attacks in the way that counts as a chase.
  static Cells victims(const XiangqiPosition& position, int player,
                       const std::array<std::int8_t, cells>& name) {
    Cells found;
    position.of[player].for_each([&](int from) {
      const auto kind = position.kind_at(from);
      if (kind == general || kind == soldier) return;
      (position.targets(from) & position.of[1 - player]).for_each([&](int to) {
        const auto prey = position.kind_at(to);
        const bool at_home = (to / columns < 5) == (player == 1);
        if (prey == general || prey == kind || (prey == soldier && at_home)) return;
        XiangqiPosition taken = position;
        taken.shift_piece(from, to);
        bool protects = false;
        taken.of[1 - player].for_each([&](int cell) { protects |= taken.targets(cell).test(to); });
        if (!protects) found.set(name[to]);
      });
    });
    return found;
  }
};

}  // namespace

extern const GameType xiangqi_type;
const GameType xiangqi_type{
    "xiangqi",
    "Xiangqi",
    {one_of("draw_rules", {"olympiad", "openspiel", "none"},
            "olympiad: repetition and quiet_plies draw, perpetual check loses; others: neither"),
     yes_or_no("chase", false,
               "perpetual chase loses too, in a simple form; codes differ about it"),
     whole_number("quiet_plies", 120, 10, most_quiet_plies,
                  "plies without a capture, then a draw (olympiad); often 60 each"),
     whole_number("max_plies", 500, 1, 4000, "plies, then a draw; OpenSpiel's bound")},
    [](const Options& options) {
      return make_rules_game(
          "xiangqi", Xiangqi{options.text("draw_rules") == "olympiad", options.flag("chase"),
                             options.integer("quiet_plies"), options.integer("max_plies")});
    },
    {"red, the capitals: mate k", "black, the small letters: mate K"},
};

}  // namespace athenan
