// From Rules to a Game.
//
// A game file defines a struct with the members below (`Rules` is the concept that checks them)
// and a `const GameType` named <game>_type; its name goes into list.h. Everything is called on
// concrete types here, so the compiler inlines a whole expansion.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "games/board.h"
#include "games/game.h"

namespace athenan {

template <class R>
concept Rules = requires(const R rules, const typename R::State state, typename R::State& changed,
                         Action action, Actions& actions, Board& board, const Board& given) {
  requires std::equality_comparable<typename R::State>;
  { rules.shape } -> std::convertible_to<Shape>;
  { rules.num_players } -> std::convertible_to<int>;
  { rules.max_plies } -> std::convertible_to<int>;
  { rules.initial_state() } -> std::same_as<typename R::State>;
  requires requires { rules.legal_actions(state, actions); } ||  // see list_actions
               requires { rules.action_set(state); };
  { rules.play(changed, action) };
  { rules.is_terminal(state) } -> std::same_as<bool>;
  { rules.outcome(state, 0) } -> std::convertible_to<int>;  // of that player, once terminal
  { state.to_move } -> std::convertible_to<int>;
  { state.ply } -> std::convertible_to<int>;
  { rules.key(state) } -> std::same_as<Key>;
  { rules.write_board(state, board) };  // cells are cleared already; to_move and ply are set
  { rules.from_board(given) } -> std::same_as<typename R::State>;
  { rules.action_to_string(state, action) } -> std::convertible_to<std::string>;
  // The cell to mark in the board drawn after the action.
  { rules.marked_cell(state, action) } -> std::convertible_to<std::optional<int>>;
  { rules.symmetries() } -> std::same_as<std::vector<Symmetry>>;
};
// Its actions a game gives in one of two ways:
//   void legal_actions(const State&, Actions&) appends them, ascending; none when terminal
//   Bits<W> action_set(const State&), where an action is a cell: all of them, not when terminal
// Also, where they make sense:
//   double score(const State&, int player), double max_score
//   int pieces(const State&, int player), int max_pieces
//   Bounds bounds(const State&): of the first player's score less the second's at the end
//   Action random_action(const State&, Random&): where there is a quicker way than the list
//   std::vector<Place> named_places(): where actions name cells in a way of their own
//   std::vector<std::string> other_actions: an action is a cell, all of them in the order of the
//     cells that exist; the names of those that are none, which come after them, or {}
//   bool has_history: the key holds more than the board shows (repetition, counters)
//   std::string note(const State&): what a reader should know besides the drawn board; what it
//     says of the state is to be read back
//   std::string part_of_turn(const State&): what the mover does now, where a turn has several
//     actions
//   bool also_written(const State&, Action, std::string_view text): whether players write the
//     legal action so too, besides as action_to_string does
// and, where the board alone does not tell all, any of the Game functions of the same name:
//   std::vector<std::string> channels(); void planes(const State&, std::uint8_t*);
//   std::string state_to_string(const State&, std::optional<Action>);
//   State state_from_string(std::string_view); State state_from_planes(const std::uint8_t*, int);

template <Rules R>
class RulesGame final : public Game {
 public:
  using S = typename R::State;

  RulesGame(std::string name, R rules) : rules_(std::move(rules)) {
    facts_.name = std::move(name);
    facts_.num_players = rules_.num_players;
    facts_.max_plies = rules_.max_plies;
    facts_.rows = rules_.shape.rows;
    facts_.columns = rules_.shape.columns;
    if constexpr (requires { rules_.channels(); })
      facts_.channels = rules_.channels();
    else
      facts_.channels = channel_names(rules_.shape, rules_.num_players);
    if constexpr (requires { rules_.named_places(); })
      facts_.places = rules_.named_places();
    else
      facts_.places = drawn_places(rules_.shape);
    facts_.symmetries = rules_.symmetries();
    if constexpr (requires { rules_.max_score; }) facts_.max_score = rules_.max_score;
    if constexpr (requires { rules_.max_pieces; }) facts_.max_pieces = rules_.max_pieces;
    if constexpr (requires { rules_.has_history; }) facts_.has_history = rules_.has_history;
    if constexpr (requires { rules_.other_actions; })
      facts_.set_action_places(rules_.shape.places(), rules_.other_actions);
    facts_.state_bytes = sizeof(S);
    rules_.shape.max_plies = rules_.max_plies;
  }

  std::unique_ptr<State> initial_state() const override { return box(rules_.initial_state()); }

  void legal_actions(const State& state, Actions& actions) const override {
    list_actions(of(state), actions);
  }
  void play(State& state, Action action) const override { rules_.play(of(state), action); }
  bool is_terminal(const State& state) const override { return rules_.is_terminal(of(state)); }
  int to_move(const State& state) const override { return of(state).to_move; }
  int ply(const State& state) const override { return of(state).ply; }
  Key key(const State& state) const override { return rules_.key(of(state)); }
  Ending ending(const State& state) const override { return ending_of(of(state)); }

  Bounds bounds(const State& state) const override {
    if constexpr (requires { rules_.bounds(of(state)); })
      return rules_.bounds(of(state));
    else
      return {};
  }

  void expand(const State& state, Children& children) const override {
    const S& parent = of(state);
    list_actions(parent, children.actions);
    const std::size_t size = children.actions.size();
    children.keys.resize(size);
    children.terminal.resize(size);
    children.endings.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      S child = parent;
      rules_.play(child, children.actions[i]);
      children.keys[i] = rules_.key(child);
      children.terminal[i] = rules_.is_terminal(child);
      if (children.terminal[i]) children.endings[i] = ending_of(child);
    }
  }

  void planes(const State& state, std::uint8_t* out) const override {
    write_planes(of(state), out);
  }

  void child_planes(const State& state, std::span<const Action> actions,
                    std::uint8_t* out) const override {
    for (Action action : actions) {
      S child = of(state);
      rules_.play(child, action);
      write_planes(child, out);
      out += facts_.plane_bytes();
    }
  }

  int playout(State& state, Random& random) const override {
    S& current = of(state);
    int plies = 0;
    for (; !rules_.is_terminal(current); ++plies)
      rules_.play(current, choose_randomly(current, random));
    return plies;
  }
  Action random_action(const State& state, Random& random) const override {
    return choose_randomly(of(state), random);
  }

  std::uint64_t perft(const State& state, int depth) const override {
    return depth == 0 ? 1 : leaves(of(state), depth);
  }

  std::string state_to_string(const State& state, std::optional<Action> last) const override {
    const S& s = of(state);
    if constexpr (requires { rules_.state_to_string(s, last); }) {
      return rules_.state_to_string(s, last);
    } else {
      const auto ending = rules_.is_terminal(s) ? std::optional(ending_of(s)) : std::nullopt;
      auto text = draw_board(rules_.shape, board_of(s), rules_.num_players,
                             last ? std::optional<int>(rules_.marked_cell(s, *last)) : std::nullopt,
                             ending);
      return text + note_of(s);
    }
  }
  std::unique_ptr<State> state_from_string(std::string_view text) const override {
    text = text.substr(0, text.find_last_not_of(" \r\n") + 1);
    S state = read_state(text);
    check_note(text, note_of(state));
    return box(std::move(state));
  }
  std::unique_ptr<State> state_from_planes(const std::uint8_t* planes, int ply) const override {
    check_ply(rules_.shape, ply);
    if constexpr (requires { rules_.state_from_planes(planes, ply); })
      return box(rules_.state_from_planes(planes, ply));
    else
      return box(
          rules_.from_board(board_from_planes(rules_.shape, planes, rules_.num_players, ply)));
  }
  std::string action_to_string(const State& state, Action action) const override {
    return rules_.action_to_string(of(state), action);
  }
  std::string part_of_turn(const State& state) const override {
    if constexpr (requires { rules_.part_of_turn(of(state)); })
      return rules_.part_of_turn(of(state));
    else
      return {};
  }
  bool also_written(const State& state, Action action, std::string_view text) const override {
    if constexpr (requires { rules_.also_written(of(state), action, text); })
      return rules_.also_written(of(state), action, text);
    else
      return false;
  }
  bool identical(const State& a, const State& b) const override { return of(a) == of(b); }
  bool same_as(const Game& other) const override {
    return this == &other ||
           (dynamic_cast<const RulesGame*>(&other) && facts().name == other.facts().name &&
            facts().values == other.facts().values);
  }

 private:
  struct Box final : State {
    explicit Box(S s) : value(std::move(s)) {}
    std::unique_ptr<State> clone() const override { return std::make_unique<Box>(value); }
    void assign(const State& other) override { value = static_cast<const Box&>(other).value; }
    S value;
  };
  static std::unique_ptr<State> box(S state) { return std::make_unique<Box>(std::move(state)); }
  static const S& of(const State& state) { return static_cast<const Box&>(state).value; }
  static S& of(State& state) { return static_cast<Box&>(state).value; }

  Action choose_randomly(const S& state, Random& random) const {
    if constexpr (requires { rules_.random_action(state, random); }) {
      return rules_.random_action(state, random);
    } else if constexpr (requires { rules_.action_set(state); }) {
      const auto set = rules_.action_set(state);
      return Action(set.nth(int(random.below(std::uint32_t(set.count())))));
    } else {
      thread_local Actions actions;
      list_actions(state, actions);
      return actions[random.below(std::uint32_t(actions.size()))];
    }
  }

  void list_actions(const S& state, Actions& actions) const {
    actions.clear();
    if constexpr (requires { rules_.action_set(state); }) {
      if (!rules_.is_terminal(state))
        rules_.action_set(state).for_each([&](int action) { actions.push_back(Action(action)); });
    } else {
      rules_.legal_actions(state, actions);
    }
  }

  Ending ending_of(const S& state) const {
    Ending ending;
    const bool terminal = rules_.is_terminal(state);
    for (int p = 0; p < rules_.num_players; ++p) {
      if (terminal) ending.outcome[p] = std::int8_t(rules_.outcome(state, p));
      if constexpr (requires { rules_.score(state, p); })
        ending.score[p] = float(rules_.score(state, p));
      if constexpr (requires { rules_.pieces(state, p); })
        ending.pieces[p] = std::int16_t(rules_.pieces(state, p));
    }
    return ending;
  }

  S read_state(std::string_view text) const {
    if constexpr (requires { rules_.state_from_string(text); })
      return rules_.state_from_string(text);
    else
      return rules_.from_board(read_board(rules_.shape, rules_.num_players, text));
  }
  std::string note_of(const S& state) const {
    if constexpr (requires { rules_.note(state); })
      return rules_.note(state);
    else
      return {};
  }
  Board board_of(const S& state) const {
    Board board;
    fill(board, state);
    return board;
  }
  void fill(Board& board, const S& state) const {
    board.cells.assign(rules_.shape.size(), 0);
    board.to_move = state.to_move;
    board.ply = state.ply;
    rules_.write_board(state, board);
  }
  void write_planes(const S& state, std::uint8_t* out) const {
    if constexpr (requires { rules_.planes(state, out); }) {
      rules_.planes(state, out);
    } else {
      thread_local Board board;
      fill(board, state);
      board_to_planes(rules_.shape, board, rules_.num_players, out);
    }
  }

  std::uint64_t leaves(const S& state, int depth) const {
    Actions actions;
    list_actions(state, actions);
    if (depth == 1) return actions.size();
    std::uint64_t total = 0;
    for (Action action : actions) {
      S child = state;
      rules_.play(child, action);
      total += leaves(child, depth - 1);
    }
    return total;
  }

  R rules_;
};

template <class R>
std::unique_ptr<Game> make_rules_game(std::string name, R rules) {
  return std::make_unique<RulesGame<R>>(std::move(name), std::move(rules));
}

// ---- What many games share ---------------------------------------------------------------

// Of other_actions: an action that only some options have.
inline std::vector<std::string> only_if(bool there, std::string name) {
  return there ? std::vector<std::string>{std::move(name)} : std::vector<std::string>{};
}

// Writes one bitboard a colour: cells of pieces[p] get symbol p.
template <class Pieces>
void write_pieces(const Pieces& pieces, Board& board) {
  for (std::size_t p = 0; p < pieces.size(); ++p)
    pieces[p].for_each([&](int cell) { board.cells[cell] = std::uint8_t(p + 1); });
}

// Calls put(piece, cell) for each piece of the board: the index of its symbol and where it is.
template <class Put>
void read_pieces(const Board& board, Put put) {
  for (int cell = 0; cell < int(board.cells.size()); ++cell)
    if (board.cells[cell]) put(board.cells[cell] - 1, cell);
}

// Gives a state without pieces the mover and ply of a board, and the key that goes with them.
template <class S>
void set_turn(S& state, const Board& board) {
  state.to_move = std::int8_t(board.to_move);
  state.ply = decltype(state.ply)(board.ply);
  state.key = mover_key(board.to_move);
}

}  // namespace athenan
