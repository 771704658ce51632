// What states are worth: the terminal evaluation f_t, and the evaluators that need no network.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "games/game.h"

namespace athenan {

// The reinforcement heuristics. All keep the order win > draw > loss, and are 0 for a draw.
enum class Heuristic { gain, additive_depth, multiplicative_depth, score, mobility, presence };

const std::vector<std::string>& heuristic_names();
Heuristic heuristic_from_string(const std::string&);  // throws with a sentence

// Legal actions each player has had so far in the game; needed by the mobility heuristic only.
struct Mobility {
  std::array<std::uint32_t, max_players> actions{};
  std::array<std::uint32_t, max_players> turns{};

  void add(int player, std::size_t legal_actions) {
    actions[player] += std::uint32_t(legal_actions);
    ++turns[player];
  }
  double mean(int player) const {
    return turns[player] ? double(actions[player]) / turns[player] : 1;
  }
};

// One number in the first player's view for two players, otherwise one for each player.
template <class T>
struct PerPlayer {
  std::array<T, max_players> of{};
  int size = 1;

  bool operator==(const PerPlayer&) const = default;
};

// f_t, in the view of the first player or of each.
class TerminalEvaluation {
 public:
  // longest: the plies that depth heuristics count from; 0 takes the game's own bound.
  TerminalEvaluation(const Game& game, Heuristic heuristic, int longest);

  // For two players whose gains are each other's losses, in the first player's view.
  float operator()(const Ending& ending, int ply, const Mobility& mobility) const;
  // For one player of any number.
  float of(int player, const Ending& ending, int ply, const Mobility& mobility) const;
  // As many numbers as a value of this game has.
  PerPlayer<float> of_each(const Ending& ending, int ply, const Mobility& mobility) const;
  // No end below the state is worth more to the player: what a win is enough for.
  float most(const Game& game, const State& state, int player) const;
  // Whether no player is ever indifferent between two ends that differ (Definition 11).
  bool breaks_ties() const { return breaks_ties_; }
  double bound() const { return bound_; }  // |f_t| never exceeds it
  bool is_score() const { return heuristic_ == Heuristic::score; }
  bool uses_ply() const { return uses_ply_; }
  bool uses_mobility() const { return heuristic_ == Heuristic::mobility; }
  // What the evaluation depends on besides the state, to be mixed into the state's key.
  Key key(int ply, const Mobility& mobility) const;

 private:
  // Of a player's win or loss, at least 1 once it is cut to the bound.
  double strength(const Ending& ending, int player, int ply, const Mobility& mobility) const;
  double at_ply(int ply) const;  // of a win there, by the depth heuristics
  template <class Of>
  double best_other(int player, Of of) const;

  Heuristic heuristic_;
  int players_, width_;
  int longest_;
  bool uses_ply_, given_, breaks_ties_;
  double bound_;
};

class DenseNetwork;

// Evaluators that live in the core; `external` asks the caller through a batch of planes.
enum class EvaluatorKind { external, hash, zero, rollout, tictactoe_features, network };

const std::vector<std::string>& evaluator_names();        // of those that need no network
EvaluatorKind evaluator_from_string(const std::string&);  // throws with a sentence

struct CoreEvaluator {
  EvaluatorKind kind = EvaluatorKind::external;
  std::uint32_t rollouts = 1;  // a state, of the rollout evaluator
  std::shared_ptr<const DenseNetwork> network = {};
  // An external one that answers a state with the values of all its children, by their places.
  bool of_children = false;

  // The answers of `hash` and `zero`, in [-1, 1], for states with these keys: [keys, width];
  // features.h and dense_network.h have those that look at states.
  void answer(std::span<const Key> keys, std::span<float> answers) const;
};

// The rollout evaluator at work on the children of a state: random games, which can take long. All
// children have their first game before one has its second, so that it may end early.
class Rollouts {
 public:
  // keys: the children's. All is read until the end.
  void start(const Game& game, const State& state, std::span<const Action> actions,
             std::span<const Key> keys, std::uint64_t seed, std::uint32_t games);
  void play_one();
  void end(std::span<float> answers);  // the mean outcomes so far
  void give_up() { state_ = nullptr; }

  bool under_way() const { return state_ != nullptr; }
  bool all_played() const { return rounds_ == games_; }
  bool each_played() const { return rounds_ > 0; }  // at least once

 private:
  const Game* game_ = nullptr;
  const State* state_ = nullptr;
  std::span<const Action> actions_;
  std::uint32_t games_ = 0, rounds_ = 0;
  std::size_t next_ = 0;          // the child whose turn it is in this round
  std::vector<Random> randoms_;   // of each child
  std::vector<double> outcomes_;  // summed up, [children, width]
  std::size_t width_ = 1;
  std::unique_ptr<State> played_;
};

// Uniform in (-1, 1), the same for the same key: repeatable trees without a network.
inline float hash_value(const Key& key, int player = 0) {
  const auto low = key.low + std::uint64_t(player);
  return float(std::int64_t(mix(low ^ mix(key.high)) >> 40) - (1 << 23)) * 0x1p-23f;
}

}  // namespace athenan
