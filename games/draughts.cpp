// Draughts on three boards with the same rules: international (10 × 10, 20 men a side), Brazilian
// (8 × 8, 12) and Canadian (12 × 12, 30). White (w) starts at the bottom and moves first.
// Men step diagonally forward and capture forward and backward; kings (W, B) fly. Capturing is
// compulsory, and of the captures only those that take most pieces, men and kings alike, are
// legal. A piece is jumped once and lifted at the end of the capture, so it blocks until then;
// empty cells may be crossed again. A man who only passes the last row stays a man. Who cannot
// act has lost. Captures with equal from, to and captured pieces are one action.
// Draws, automatic: king_plies in a row without a capture or a man's step; three_to_one_plies with
// 3 pieces, a king among them, against a king; two_to_one_plies with 1 or 2; the third
// repetition. The defaults are the world federation's (25, 16 and 5 actions a side) on all three
// boards; which of them the Olympiad counts, above all on the other two, is not known to us.
// draw_rules `many_kings`: three_to_one_plies counts for three kings or more, without a man,
// against a king, as pydraughts does on the Brazilian board (with 30 plies); `none` switches all
// draws off. Actions: cells are numbered from the top left; 32-28 is a step, 22x8x11x18 a capture
// (from, to, captured cells ascending). PDN is read: states as W:W31,K32:B1,5-9 (K: a king),
// captures as 22x8 where no other has these cells, or with all cells of the way: 22x15x8.
#include <algorithm>
#include <span>
#include <stdexcept>

#include "games/draughts_board.h"
#include "games/history.h"
#include "games/rules.h"

namespace athenan {
namespace {

constexpr int longest_history = 100;  // king_plies is never more

struct DrawRules {
  bool on, many_kings;
  int king_plies, three_to_one_plies, two_to_one_plies, repetitions;
};

template <int Size>
struct Draughts {
  using Dark = DraughtsBoard<Size>;
  using Set = typename Dark::Set;

  struct State {
    std::array<Set, 2> men, kings;
    Key key;  // of the pieces and the mover
    int ply = 0;
    std::int16_t king_plies = 0;    // since the last capture or man's step
    std::int16_t ending_plies = 0;  // since the pieces are as they are for an ending's rule
    std::int8_t ending = 0;         // pieces against a lone king; 0 where no such rule holds
    std::int8_t to_move = 0;
    bool lost = false, drawn = false;
    History<longest_history> history;
    friend bool operator==(const State&, const State&) = default;
  };

  DrawRules draws;
  int plies_option;  // 0: no limit
  int num_players = 2;
  int max_pieces = (Dark::half - 1) * Dark::half;
  // A man steps at most Size - 1 rows, and again as many after each capture that takes him back.
  int natural_end =
      draws.on ? (2 * max_pieces * (2 * Size - 1) + 1) * draws.king_plies : plies_option;
  int max_plies = plies_option ? std::min(plies_option, natural_end) : natural_end;
  // Where max_plies can cut a game off, the ply is part of the key.
  bool plies_count = !draws.on || max_plies < natural_end;
  bool has_history = draws.on;
  Shape shape{Size, Size, "wbWB", Grid::square, true};

  State initial_state() const {
    State state;
    state.key = mover_key(0);
    for (int i = 0; i < max_pieces; ++i) {
      put(state, 1, false, Dark::bit_of(i));
      put(state, 0, false, Dark::bit_of(Dark::cells - 1 - i));
    }
    return state;
  }

  // An action is from and to (numbers of cells, from 0) and 12 bits: 0 for a step, otherwise 1 +
  // its rank among the captures with these cells.
  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    const int player = state.to_move;
    const Set own = state.men[player] | state.kings[player], empty = empties(state);
    const auto& captures = longest_captures(state, own);
    for (std::size_t i = 0, rank = 0; i < captures.size(); ++i) {
      const auto& [from, to, taken] = captures[i];
      const bool again = i > 0 && captures[i - 1].from == from && captures[i - 1].to == to;
      rank = again ? rank + 1 : 1;
      actions.push_back(action_of(from, to) + Action(rank));
    }
    if (!captures.empty()) return;
    own.for_each([&](int from) {
      Set targets;
      const bool king = state.kings[player].test(from);
      for (int i = king || player == 0 ? 0 : 2; i < (king || player == 1 ? 4 : 2); ++i)
        Dark::slide(Set::of(from), Dark::steps[i], king, empty,
                    [&](const Set& to) { targets |= to; });
      targets.for_each([&](int to) { actions.push_back(action_of(from, to)); });
    });
  }

  void play(State& state, Action action) const {
    const int player = state.to_move, from = from_of(action), to = to_of(action);
    const bool king = state.kings[player].test(from), capture = rank_of(action) > 0;
    const Key before = state.key;
    if (capture)
      captured(state, action).for_each([&](int cell) {
        put(state, 1 - player, state.kings[1 - player].test(cell), cell);
      });
    put(state, player, king, from);
    put(state, player, king || Dark::last_row[player].test(to), to);
    state.key ^= mover_key(0) ^ mover_key(1);
    state.to_move ^= 1;
    ++state.ply;
    if (draws.on) count_draws(state, before, capture || !king);
    finish(state);
  }

  bool is_terminal(const State& state) const { return state.lost || state.drawn; }
  int outcome(const State& state, int player) const {
    return !state.lost ? 0 : player == state.to_move ? -1 : 1;
  }
  int pieces(const State& state, int player) const {
    return state.men[player].count() + state.kings[player].count();
  }
  Key key(const State& state) const {
    Key key = state.key;
    if (plies_count) key ^= count_key(0, state.ply);
    if (state.king_plies) key ^= count_key(1, state.king_plies) ^ state.history.key();
    if (state.ending_plies) key ^= count_key(2, state.ending_plies);
    return key;
  }

  void write_board(const State& state, Board& board) const {
    for (int p : {0, 1}) {
      state.men[p].for_each(
          [&](int bit) { board.cells[Dark::place_of(bit)] = std::uint8_t(p + 1); });
      state.kings[p].for_each(
          [&](int bit) { board.cells[Dark::place_of(bit)] = std::uint8_t(p + 3); });
    }
  }
  std::string note(const State& state) const {
    std::string text;
    if (state.king_plies) text += ", king plies: " + std::to_string(state.king_plies);
    if (state.ending_plies) text += ", ending plies: " + std::to_string(state.ending_plies);
    const auto place = [&](int number) {
      return name(Dark::bit_of(number)) + " " +
             cell_name(shape, Dark::place_of(Dark::bit_of(number)));
    };
    return text + "\nW and B are kings; dark cells have numbers, row by row: " + place(0) + ", " +
           place(1) + " … " + place(Dark::cells - 1);
  }
  State from_board(const Board& given, int king_plies = 0, int ending_plies = 0) const {
    State state;
    set_turn(state, given);
    int placed = 0;
    Dark::all.for_each([&](int bit) {
      const int piece = given.cells[Dark::place_of(bit)] - 1;
      if (piece < 0) return;
      const bool king = piece >= 2 || Dark::last_row[piece].test(bit);  // a man there would be one
      put(state, piece & 1, king, bit);
      ++placed;
    });
    if (placed != int(given.cells.size()) - std::count(given.cells.begin(), given.cells.end(), 0))
      refuse("a piece stands on a light cell");
    state.ending = ending_of(state);
    if (draws.on) state.king_plies = std::int16_t(king_plies);
    if (state.ending) state.ending_plies = std::int16_t(ending_plies);
    finish(state);
    return state;
  }
  State state_from_string(std::string_view text) const {
    if (text.find('\n') == std::string_view::npos) return read_pdn(text);
    const auto note = note_of(text);
    return from_board(read_board(shape, 2, text), read_counter(note, "king plies"),
                      read_counter(note, "ending plies"));
  }

  std::vector<Place> named_places() const {
    auto found = drawn_places(shape);
    for (int number = 0; number < Dark::cells; ++number) {
      const int bit = Dark::bit_of(number);
      found[Dark::place_of(bit)].name = name(bit);
    }
    return found;
  }
  std::string action_to_string(const State& state, Action action) const {
    const bool capture = rank_of(action) > 0;
    auto text = name(from_of(action)) + (capture ? "x" : "-") + name(to_of(action));
    if (capture) captured(state, action).for_each([&](int bit) { text += "x" + name(bit); });
    return text;
  }
  // PDN writes a capture by its first and last cell, or by all cells that it lands on.
  bool also_written(const State& state, Action action, std::string_view text) const {
    std::vector<int> route;
    for (auto part : split(text, 'x')) {
      const auto number = read_number(part);
      if (!number || *number < 1 || *number > Dark::cells) return false;
      route.push_back(Dark::bit_of(*number - 1));
    }
    if (!rank_of(action) || route.size() < 2 || route.front() != from_of(action) ||
        route.back() != to_of(action))
      return false;
    return route.size() == 2 || taken_along(state, route) == captured(state, action);
  }
  int marked_cell(const State&, Action action) const { return Dark::place_of(to_of(action)); }
  std::vector<Symmetry> symmetries() const {
    return {
        make_symmetry(shape, 2, [](int r, int c) { return std::pair{r, c}; }),
        make_symmetry(
            shape, 2, [](int r, int c) { return std::pair{Size - 1 - r, Size - 1 - c}; }, true),
    };
  }

 private:
  static std::string name(int bit) { return std::to_string(Dark::number_of(bit) + 1); }
  static constexpr Action action_of(int from, int to) {
    return Action(Dark::number_of(from) * Dark::cells + Dark::number_of(to)) << 12;
  }
  static constexpr int from_of(Action action) {
    return Dark::bit_of(int(action >> 12) / Dark::cells);
  }
  static constexpr int to_of(Action action) {
    return Dark::bit_of(int(action >> 12) % Dark::cells);
  }
  static constexpr int rank_of(Action action) { return int(action & 4095); }

  Set empties(const State& state) const {
    return Dark::all & ~(state.men[0] | state.men[1] | state.kings[0] | state.kings[1]);
  }
  // Puts a piece on the cell, or takes it off.
  void put(State& state, int player, bool king, int bit) const {
    (king ? state.kings : state.men)[player].flip(bit);
    state.key ^= zobrist[(player + 2 * king) * Dark::bits + bit];
  }

  const auto& longest_captures(const State& state, const Set& movers) const {
    thread_local typename Dark::CaptureSearch search;
    const int player = state.to_move;
    search.find(state.men[player] & movers, state.kings[player] & movers,
                state.men[1 - player] | state.kings[1 - player], empties(state));
    return search.found();
  }
  // A legal capture is among the longest of its own piece, so the others need no search.
  Set captured(const State& state, Action action) const {
    const auto& captures = longest_captures(state, Set::of(from_of(action)));
    const auto first = std::find_if(captures.begin(), captures.end(), [&](const auto& capture) {
      return capture.to == to_of(action);
    });
    return first[rank_of(action) - 1].taken;
  }

  // What the mover takes by landing on these cells one after the other; nothing if he cannot.
  Set taken_along(const State& state, const std::vector<int>& route) const {
    const int player = state.to_move;
    const Set enemy = state.men[1 - player] | state.kings[1 - player];
    const Set free = empties(state) | Set::of(route[0]);
    Set taken;
    for (std::size_t i = 1; i < route.size(); ++i) {
      const Set over = Dark::between(route[i - 1], route[i]);
      const bool far = state.kings[player].test(route[0]) || over.count() == 1;
      if (!far || !free.test(route[i]) || (over & ~free).count() != 1 ||
          (over & enemy & ~taken).none())
        return {};
      taken |= over & enemy;
    }
    return taken;
  }

  void count_draws(State& state, const Key& before, bool irreversible) const {
    if (irreversible) {
      state.king_plies = 0;
      state.history.clear();
      const auto ending = ending_of(state);
      state.ending_plies = ending && ending == state.ending ? state.ending_plies + 1 : 0;
      state.ending = ending;
    } else {
      ++state.king_plies;
      state.history.push(before);
      if (state.ending) ++state.ending_plies;
      state.drawn = state.history.count(state.key) + 1 >= draws.repetitions;
    }
  }
  // 3 for three pieces with a king among them against a king (or three kings and more), 2 for two
  // or one, otherwise 0.
  std::int8_t ending_of(const State& state) const {
    if (!draws.on || state.kings[0].none() || state.kings[1].none()) return 0;
    const int fewer = std::min(pieces(state, 0), pieces(state, 1));
    const int more = std::max(pieces(state, 0), pieces(state, 1));
    const bool three =
        draws.many_kings ? more >= 3 && (state.men[0] | state.men[1]).none() : more == 3;
    return fewer > 1 ? 0 : three ? 3 : more <= 2 ? 2 : 0;
  }

  void finish(State& state) const {
    const int limit = state.ending == 3 ? draws.three_to_one_plies : draws.two_to_one_plies;
    state.drawn |= (state.ending && state.ending_plies >= limit) ||
                   (draws.on && state.king_plies >= draws.king_plies) ||
                   (plies_count && state.ply >= max_plies);
    state.lost = !can_act(state);
    state.drawn &= !state.lost;
  }
  // A king that captures from afar can also step, so looking one cell around is enough.
  bool can_act(const State& state) const {
    const int player = state.to_move;
    const Set empty = empties(state), &men = state.men[player], &kings = state.kings[player];
    const Set enemy = state.men[1 - player] | state.kings[1 - player];
    Set targets;
    for (int i = 0; i < 4; ++i) {
      const bool forward = (i < 2) == (player == 0);
      targets |= (forward ? men | kings : kings).shifted(Dark::steps[i]);
      targets |= ((men | kings).shifted(Dark::steps[i]) & enemy).shifted(Dark::steps[i]);
    }
    return (targets & empty).any();
  }

  // W:W31,K32:B1,5-9:H0:F20, also as the tag [FEN "…"]: who moves, the cells of each side, and
  // perhaps king_plies and the number of the turn.
  State read_pdn(std::string_view text) const {
    constexpr std::string_view tag = "[FEN \"", tag_end = "\"]";
    if (text.starts_with(tag) && text.ends_with(tag_end))
      text = text.substr(tag.size(), text.size() - tag.size() - tag_end.size());
    if (text.ends_with('.')) text.remove_suffix(1);
    const auto fields = split(text, ':');
    if (fields[0] != "W" && fields[0] != "B") refuse("it should start with W: or B:");
    Board board{std::vector<std::uint8_t>(shape.size()), fields[0] == "B", 0};
    int king_plies = 0;
    std::string names;
    for (auto field : std::span(fields).subspan(1)) {
      const char name = field.empty() ? ' ' : field[0];
      if (std::string_view("WBHF").find(name) > 3 || names.find(name) != std::string::npos)
        refuse("after who moves come W and B with their cells, then H and F if at all, each once");
      names += name;
      field.remove_prefix(1);
      if (name == 'W' || name == 'B') {
        if (!field.empty())
          for (auto cells : split(field, ',')) put_cells(board, cells, name == 'B');
        continue;
      }
      const auto number = read_number(field);
      if (!number || *number > 99999 || *number < (name == 'F'))
        refuse("H is a number of plies, F that of a turn from 1");
      if (name == 'H') king_plies = std::min(*number, 9999);
      if (name == 'F') board.ply = 2 * (*number - 1) + board.to_move;
    }
    if (!names.starts_with("WB") && !names.starts_with("BW")) refuse("both sides need their cells");
    check_ply(shape, board.ply);
    return from_board(board, king_plies);
  }
  // "31", "K32" (a king) or "5-9".
  void put_cells(Board& board, std::string_view text, int player) const {
    const bool king = text.starts_with('K');
    const auto ends = split(text.substr(king), '-');
    const auto first = read_number(ends[0]), last = read_number(ends.back());
    if (ends.size() > 2 || !first || !last || *first < 1 || *first > *last || *last > Dark::cells)
      refuse("'" + std::string(text) + "' is not like 31, K32 or 5-9, numbers of cells up to " +
             std::to_string(Dark::cells));
    for (int number = *first; number <= *last; ++number) {
      auto& piece = board.cells[Dark::place_of(Dark::bit_of(number - 1))];
      if (piece) refuse("two pieces stand on cell " + std::to_string(number));
      piece = std::uint8_t(1 + player + 2 * king);
    }
  }
};

}  // namespace

extern const GameType draughts_type;
const GameType draughts_type{
    "draughts",
    "Draughts",
    {one_of("variant", {"international", "brazilian", "canadian"}, "10, 8 or 12 cells a side"),
     one_of("draw_rules", {"olympiad", "many_kings", "none"},
            "olympiad: the counters below draw; many_kings: that of three pieces is for three "
            "kings or more; none: only max_plies"),
     whole_number("king_plies", 50, 1, longest_history,
                  "plies in a row of kings without a capture that draw; 25 moves a side"),
     whole_number("three_to_one_plies", 32, 0, 1000,
                  "plies of three pieces with a king against a king; 16 moves a side"),
     whole_number("two_to_one_plies", 10, 0, 1000,
                  "plies of one or two such pieces against a king; 0: at once; 5 moves a side"),
     whole_number("repetitions", 3, 2, 1000, "times that a state occurs and then draws"),
     whole_number("max_plies", 0, 0, 100000,
                  "plies, then a draw; 0: the draw rules end every game")},
    [](const Options& options) -> std::unique_ptr<Game> {
      const auto& rules = options.text("draw_rules");
      const DrawRules draws{rules != "none",
                            rules == "many_kings",
                            options.integer("king_plies"),
                            options.integer("three_to_one_plies"),
                            options.integer("two_to_one_plies"),
                            options.integer("repetitions")};
      const int max_plies = options.integer("max_plies");
      if (!draws.on && max_plies == 0)
        throw std::invalid_argument(
            "Option 'max_plies' of game 'draughts' must be set when draw_rules is none.");
      const auto& variant = options.text("variant");
      if (variant == "brazilian") return make_rules_game("draughts", Draughts<8>{draws, max_plies});
      if (variant == "canadian") return make_rules_game("draughts", Draughts<12>{draws, max_plies});
      return make_rules_game("draughts", Draughts<10>{draws, max_plies});
    },
    {"white, whose men move up: whoever cannot move loses",
     "black, whose men move down: whoever cannot move loses"},
};

}  // namespace athenan
