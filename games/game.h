// The game contract: what the search, the learner and the commands know of a game.
//
// A game file writes a plain `Rules` struct (see rules.h) and never sees this interface; the
// adapter in rules.h turns Rules into a Game. The virtual calls below are per state or per
// expansion, never per child: `expand` delivers all children of a state at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "games/key.h"
#include "games/options.h"

namespace athenan {

using Action = std::uint32_t;
using Actions = std::vector<Action>;
inline constexpr int max_players = 6;

// transformed[cell][channel] = original[cells[cell]][channels[channel]]. In a game for two players
// value' = sign * value; in one for n value'[player] = value[players[player]].
struct Symmetry {
  std::vector<int> cells;
  std::vector<int> channels;
  int sign = 1;
  std::vector<int> players = {};  // empty: each stays who he is

  bool operator==(const Symmetry&) const = default;
};

// What a terminal state is worth. Only the first num_players entries count.
struct Ending {
  std::array<std::int8_t, max_players> outcome{};  // f_b: -1 lost, 0 drawn, 1 won
  std::array<float, max_players> score{};          // zero in games without a score
  std::array<std::int16_t, max_players> pieces{};  // zero in games without captures
};

// Between which the first player's score less the second's will be at the end, whatever is played.
struct Bounds {
  float lower = -std::numeric_limits<float>::infinity();
  float upper = std::numeric_limits<float>::infinity();
};

// All children of one state, as arrays of equal length; the storage is kept between calls.
struct Children {
  Actions actions;
  std::vector<Key> keys;
  std::vector<std::uint8_t> terminal;
  std::vector<Ending> endings;  // meaningful where terminal

  std::size_t size() const { return actions.size(); }
};

class State {
 public:
  virtual ~State() = default;
  virtual std::unique_ptr<State> clone() const = 0;
  virtual void assign(const State& other) = 0;  // other is of the same game
};

// Where a cell of the planes lies on the drawn board, and how actions write it.
struct Place {
  std::string name;  // empty where there is no cell
  int across = 0;    // in half cells, from the left
  int down = 0;      // in rows, from the top
};

struct Facts {
  std::string name;
  std::string options;                   // those that are not the default: "komi=6.5 size=7"
  std::map<std::string, Option> values;  // all options, to make the same game again
  int num_players = 2;
  bool zero_sum = true;  // of two players: what one gains the other loses
  int max_plies = 0;     // no game is longer
  int rows = 0, columns = 0;
  std::vector<std::string> channels;  // meaning of each plane
  std::vector<Place> places;          // of each cell; none where the game has no board
  std::vector<Symmetry> symmetries;   // the identity first
  double max_score = 0;               // bound of |score difference|; 0 without a score
  // Scores are f_t itself, whatever the outcomes say (explicit trees); whether they break ties.
  bool scores_are_values = false, scores_break_ties = false;
  int max_pieces = 0;  // bound of a player's pieces; 0 without captures
  // Where an action is a cell: the cell of the planes that each is. Actions that are none (pass,
  // swap) come after the others; their places are the numbers after the last cell, and these their
  // names. Both are empty in games whose actions are more than cells.
  std::vector<int> action_places;
  std::vector<std::string> other_actions;
  bool has_history = false;  // the key holds what the board does not show (repetition)
  std::size_t state_bytes = 0;

  // Numbers in a value: one, in the first player's view, or one for each player.
  int value_width() const { return num_players == 2 && zero_sum ? 1 : num_players; }
  std::size_t plane_bytes() const { return std::size_t(rows) * columns * channels.size(); }
  // As many as a network gives that answers for every place.
  std::size_t num_places() const { return std::size_t(rows) * columns + other_actions.size(); }
  void set_action_places(std::vector<int> cells, std::vector<std::string> others) {
    action_places = std::move(cells);
    other_actions = std::move(others);
    for (int i = 0; i < int(other_actions.size()); ++i) action_places.push_back(rows * columns + i);
  }
};

class Game {
 public:
  virtual ~Game() = default;
  const Facts& facts() const { return facts_; }

  virtual std::unique_ptr<State> initial_state() const = 0;
  virtual void legal_actions(const State&, Actions&) const = 0;  // ascending
  virtual void play(State&, Action) const = 0;                   // in place; action is legal
  virtual bool is_terminal(const State&) const = 0;
  virtual int to_move(const State&) const = 0;
  virtual int ply(const State&) const = 0;
  virtual Key key(const State&) const = 0;
  virtual Ending ending(const State&) const = 0;  // outcome 0 while the game goes on
  // No end below the state has a larger score for the player.
  virtual double most_score(const State&, int /*player*/) const { return facts_.max_score; }

  // In games whose outcome is the sign of that difference; never wider than a parent's.
  virtual Bounds bounds(const State&) const { return {}; }

  virtual void expand(const State&, Children&) const = 0;
  virtual void planes(const State&, std::uint8_t* out) const = 0;
  virtual void child_planes(const State&, std::span<const Action>, std::uint8_t* out) const = 0;
  // Each legal action with the same chance.
  virtual Action random_action(const State& state, Random& random) const {
    Actions actions;
    legal_actions(state, actions);
    return actions[random.below(std::uint32_t(actions.size()))];
  }
  // Plays such actions to the end; returns how many.
  virtual int playout(State&, Random&) const = 0;
  virtual std::uint64_t perft(const State&, int depth) const = 0;

  virtual std::string state_to_string(const State&, std::optional<Action> last) const = 0;
  virtual std::unique_ptr<State> state_from_string(std::string_view) const = 0;
  virtual std::unique_ptr<State> state_from_planes(const std::uint8_t*, int ply) const = 0;
  virtual std::string action_to_string(const State&, Action) const = 0;
  // What the mover does now, where a turn has several actions: "shoot an arrow".
  virtual std::string part_of_turn(const State&) const { return {}; }
  // Whether players write the legal action so too, besides as action_to_string does.
  virtual bool also_written(const State&, Action, std::string_view) const { return false; }
  // Equality of every field, incremental structures included (equal keys say less).
  virtual bool identical(const State&, const State&) const = 0;
  // Whether the other has the same rules, so that each can take the other's states.
  virtual bool same_as(const Game& other) const { return this == &other; }

 protected:
  friend struct GameMaker;
  Facts facts_;
};

// ---- The list of games ------------------------------------------------------------------

struct GameType {
  std::string name;
  std::string title;
  std::vector<OptionType> options;
  std::function<std::unique_ptr<Game>(const Options&)> make;
  std::vector<std::string> goals = {};  // how each player wins: a clause for each, or one for all
};

const std::vector<const GameType*>& game_types();
// Missing options take their default; throws std::invalid_argument with a sentence.
std::unique_ptr<Game> make_game(const std::string& name, std::map<std::string, Option> options);

}  // namespace athenan
