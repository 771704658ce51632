#include "core/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
  static const std::vector<std::string> names = {"hash", "zero", "rollout", "tictactoe_features"};
  return names;
}

EvaluatorKind evaluator_from_string(const std::string& text) {
  if (text == "external") return EvaluatorKind::external;
  return EvaluatorKind(1 + int(from_string<EvaluatorKind>(text, "evaluator", evaluator_names())));
}

void CoreEvaluator::answer(std::span<const Key> keys, std::span<float> answers) const {
  const std::size_t width = keys.empty() ? 1 : answers.size() / keys.size();
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t j = 0; j < width; ++j)
      answers[i * width + j] = kind == EvaluatorKind::hash ? hash_value(keys[i], int(j)) : 0.0f;
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
  width_ = std::size_t(game.facts().value_width());
  outcomes_.assign(actions.size() * width_, 0);
  if (!played_) played_ = state.clone();
}

void Rollouts::play_one() {
  played_->assign(*state_);
  game_->play(*played_, actions_[next_]);
  game_->playout(*played_, randoms_[next_]);
  const Ending ending = game_->ending(*played_);
  for (std::size_t j = 0; j < width_; ++j) outcomes_[next_ * width_ + j] += ending.outcome[j];
  if (++next_ < actions_.size()) return;
  next_ = 0;
  ++rounds_;
}

void Rollouts::end(std::span<float> answers) {
  for (std::size_t i = 0; i < answers.size(); ++i)
    answers[i] = float(outcomes_[i] / (rounds_ + (i / width_ < next_)));
  state_ = nullptr;
}

TerminalEvaluation::TerminalEvaluation(const Game& game, Heuristic heuristic, int longest)
    : heuristic_(heuristic),
      players_(game.facts().num_players),
      width_(game.facts().value_width()),
      longest_(longest > 0 ? longest : game.facts().max_plies),
      uses_ply_(heuristic == Heuristic::additive_depth ||
                heuristic == Heuristic::multiplicative_depth),
      given_(heuristic == Heuristic::score && game.facts().scores_are_values),
      breaks_ties_(given_ ? game.facts().scores_break_ties : width_ == 1) {
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

float TerminalEvaluation::of(int player, const Ending& ending, int ply,
                             const Mobility& mobility) const {
  if (given_) return ending.score[player];
  const int outcome = ending.outcome[player];
  if (outcome == 0) return 0;
  return float(outcome * std::clamp(strength(ending, player, ply, mobility), 1.0, bound_));
}

PerPlayer<float> TerminalEvaluation::of_each(const Ending& ending, int ply,
                                             const Mobility& mobility) const {
  PerPlayer<float> values;
  values.size = width_;
  for (int player = 0; player < width_; ++player)
    values.of[player] = of(player, ending, ply, mobility);
  return values;
}

float TerminalEvaluation::most(const Game& game, const State& state, int player) const {
  if (given_) return float(game.most_score(state, player));
  return float(uses_ply_ ? std::clamp(at_ply(game.ply(state) + 1), 1.0, bound_) : bound_);
}

double TerminalEvaluation::at_ply(int ply) const {
  const double left = longest_ - ply + 1;  // P - p + 1
  return heuristic_ == Heuristic::additive_depth ? left : std::pow(longest_, left / longest_);
}

template <class Of>
double TerminalEvaluation::best_other(int player, Of of) const {
  double best = players_ > 1 ? -std::numeric_limits<double>::infinity() : 0;
  for (int other = 0; other < players_; ++other)
    if (other != player) best = std::max(best, double(of(other)));
  return best;
}

// A loser's is by what the best of the others is ahead.
double TerminalEvaluation::strength(const Ending& ending, int player, int ply,
                                    const Mobility& mobility) const {
  const bool won = ending.outcome[player] > 0;
  const auto ahead = [&](const auto& of) {
    const double lead = of[player] - best_other(player, [&](int other) { return of[other]; });
    return won ? lead : -lead;
  };
  switch (heuristic_) {
    case Heuristic::gain: return 1;
    case Heuristic::additive_depth:
    case Heuristic::multiplicative_depth: return at_ply(ply);
    case Heuristic::score: return ahead(ending.score);
    case Heuristic::mobility: {
      const double own = mobility.mean(player);
      const double best = best_other(player, [&](int other) { return mobility.mean(other); });
      return won ? own / best : best / own;
    }
    case Heuristic::presence: return ahead(ending.pieces);
  }
  return 1;
}

Key TerminalEvaluation::key(int ply, const Mobility& mobility) const {
  if (uses_ply_) return count_key(1, std::uint64_t(ply));
  if (!uses_mobility()) return {};
  Key key;
  for (int p = 0; p < players_; ++p) {
    key ^= count_key(2 + p, mobility.actions[p]);
    key ^= count_key(2 + players_ + p, mobility.turns[p]);
  }
  return key;
}

}  // namespace athenan
