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
  std::array<std::uint32_t, 2> actions{};
  std::array<std::uint32_t, 2> turns{};

  void add(int player, std::size_t legal_actions) {
    actions[player] += std::uint32_t(legal_actions);
    ++turns[player];
  }
  double mean(int player) const {
    return turns[player] ? double(actions[player]) / turns[player] : 1;
  }
};

// f_t for two players, in the first player's view.
class TerminalEvaluation {
 public:
  // longest: the plies that depth heuristics count from; 0 takes the game's own bound.
  TerminalEvaluation(const Game& game, Heuristic heuristic, int longest);

  float operator()(const Ending& ending, int ply, const Mobility& mobility) const;
  double bound() const { return bound_; }  // |f_t| never exceeds it
  bool uses_ply() const { return uses_ply_; }
  bool uses_mobility() const { return heuristic_ == Heuristic::mobility; }
  // What the evaluation depends on besides the state, to be mixed into the state's key.
  Key key(int ply, const Mobility& mobility) const;

 private:
  double strength(const Ending& ending, int winner, int ply, const Mobility& mobility) const;

  Heuristic heuristic_;
  int longest_;
  bool uses_ply_;
  double bound_;
};

// Evaluators that live in the core; `external` asks the caller through a batch of planes.
enum class EvaluatorKind { external, hash, zero, rollout };

const std::vector<std::string>& evaluator_names();        // but for `external`
EvaluatorKind evaluator_from_string(const std::string&);  // throws with a sentence

struct CoreEvaluator {
  EvaluatorKind kind = EvaluatorKind::external;
  std::uint32_t rollouts = 1;  // a state, of the rollout evaluator

  // The answers of `hash` and `zero`, in [-1, 1], for states with these keys.
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
  std::vector<double> outcomes_;  // summed up
  std::unique_ptr<State> played_;
};

// Uniform in (-1, 1), the same for the same key: repeatable trees without a network.
inline float hash_value(const Key& key) {
  return float(std::int64_t(mix(key.low ^ mix(key.high)) >> 40) - (1 << 23)) * 0x1p-23f;
}

}  // namespace athenan
