#include "core/evaluation.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace athenan {
namespace {

constexpr double largest_mobility = 10;  // a ratio beyond it counts as it

template <class Enum>
Enum from_string(const std::string& text, const char* what, const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text == names[i]) return Enum(i);
    all += (i ? ", " : "") + names[i];
  }
  throw std::invalid_argument("There is no " + std::string(what) + " '" + text + "'; there are " +
                              all + ".");
}

}  // namespace

const std::vector<std::string>& heuristic_names() {
  static const std::vector<std::string> names = {"gain",  "additive_depth", "multiplicative_depth",
                                                 "score", "mobility",       "presence"};
  return names;
}

Heuristic heuristic_from_string(const std::string& text) {
  return from_string<Heuristic>(text, "heuristic", heuristic_names());
}

const std::vector<std::string>& evaluator_names() {
  static const std::vector<std::string> names = {"hash", "zero", "rollout"};
  return names;
}

EvaluatorKind evaluator_from_string(const std::string& text) {
  if (text == "external") return EvaluatorKind::external;
  return EvaluatorKind(1 + int(from_string<EvaluatorKind>(text, "evaluator", evaluator_names())));
}

void CoreEvaluator::answer(std::span<const Key> keys, std::span<float> answers) const {
  for (std::size_t i = 0; i < answers.size(); ++i)
    answers[i] = kind == EvaluatorKind::hash ? hash_value(keys[i]) : 0.0f;
}

void Rollouts::start(const Game& game, const State& state, std::span<const Action> actions,
                     std::span<const Key> keys, std::uint64_t seed, std::uint32_t games) {
  game_ = &game;
  state_ = &state;
  actions_ = actions;
  games_ = games;
  rounds_ = 0;
  next_ = 0;
  randoms_.clear();
  for (const Key& key : keys) randoms_.emplace_back(mix(seed) ^ key.low);
  outcomes_.assign(actions.size(), 0);
  if (!played_) played_ = state.clone();
}

void Rollouts::play_one() {
  played_->assign(*state_);
  game_->play(*played_, actions_[next_]);
  game_->playout(*played_, randoms_[next_]);
  outcomes_[next_] += game_->ending(*played_).outcome[0];
  if (++next_ < actions_.size()) return;
  next_ = 0;
  ++rounds_;
}

void Rollouts::end(std::span<float> answers) {
  for (std::size_t i = 0; i < answers.size(); ++i)
    answers[i] = float(outcomes_[i] / (rounds_ + (i < next_)));
  state_ = nullptr;
}

TerminalEvaluation::TerminalEvaluation(const Game& game, Heuristic heuristic, int longest)
    : heuristic_(heuristic),
      longest_(longest > 0 ? longest : game.facts().max_plies),
      uses_ply_(heuristic == Heuristic::additive_depth ||
                heuristic == Heuristic::multiplicative_depth) {
  const auto& facts = game.facts();
  if (heuristic == Heuristic::score && facts.max_score == 0)
    throw std::invalid_argument("Game '" + facts.name + "' has no score for heuristic 'score'.");
  if (heuristic == Heuristic::presence && facts.max_pieces == 0)
    throw std::invalid_argument("Game '" + facts.name +
                                "' has no captures for heuristic 'presence'.");
  switch (heuristic) {
    case Heuristic::gain: bound_ = 1; break;
    case Heuristic::additive_depth:
    case Heuristic::multiplicative_depth: bound_ = longest_; break;
    case Heuristic::score: bound_ = std::max(1.0, facts.max_score); break;
    case Heuristic::mobility: bound_ = largest_mobility; break;
    case Heuristic::presence: bound_ = facts.max_pieces; break;
  }
}

float TerminalEvaluation::operator()(const Ending& ending, int ply,
                                     const Mobility& mobility) const {
  if (ending.outcome[0] == 0) return 0;
  const int winner = ending.outcome[0] > 0 ? 0 : 1;
  const double value = std::clamp(strength(ending, winner, ply, mobility), 1.0, bound_);
  return float(winner == 0 ? value : -value);
}

double TerminalEvaluation::strength(const Ending& ending, int winner, int ply,
                                    const Mobility& mobility) const {
  const double left = longest_ - ply + 1;  // P - p + 1
  switch (heuristic_) {
    case Heuristic::gain: return 1;
    case Heuristic::additive_depth: return left;
    case Heuristic::multiplicative_depth: return std::pow(longest_, left / longest_);
    case Heuristic::score: return double(ending.score[winner]) - ending.score[1 - winner];
    case Heuristic::mobility: return mobility.mean(winner) / mobility.mean(1 - winner);
    case Heuristic::presence: return double(ending.pieces[winner]) - ending.pieces[1 - winner];
  }
  return 1;
}

Key TerminalEvaluation::key(int ply, const Mobility& mobility) const {
  if (uses_ply_) return count_key(1, std::uint64_t(ply));
  if (!uses_mobility()) return {};
  Key key;
  for (int p : {0, 1}) {
    key ^= count_key(2 + p, mobility.actions[p]);
    key ^= count_key(4 + p, mobility.turns[p]);
  }
  return key;
}

}  // namespace athenan
