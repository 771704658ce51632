#include "core/search.h"

#include <algorithm>
#include <stdexcept>

#include "core/features.h"
#include "core/list.h"
#include "core/resolved.h"

namespace athenan {

Search::Search(SearchInput input)
    : game_(std::move(input.game)),
      terminal_evaluation_(std::move(input.terminal_evaluation)),
      evaluator_(input.evaluator),
      seed_(input.seed) {
  if (evaluator_.kind == EvaluatorKind::tictactoe_features) check_features(*game_);
  if (evaluator_.of_children) check_values_children();
}

void Search::check_values_children() const {
  const auto& facts = game_->facts();
  if (facts.action_places.empty())
    throw std::invalid_argument(
        "The evaluator values the children of a state by their cells, and an action of game '" +
        facts.name + "' is more than a cell.");
  if (facts.value_width() != 1)
    throw std::invalid_argument(
        "An evaluator that values all children of a state is for two players whose gains are each "
        "other's losses, which those of game '" +
        facts.name + "' are not.");
}

void Search::consult(std::shared_ptr<const ResolvedMemory> memory) {
  memory_ = std::move(memory);
  reads_ = memory_ ? &memory_->users() : nullptr;
}

void Search::check_zero_sum(const Ending& ending) const {
  const auto& facts = game_->facts();
  if (facts.num_players != 2 || !facts.zero_sum || ending.outcome[0] == -ending.outcome[1]) return;
  throw std::invalid_argument("Game '" + facts.name + "' ended with outcomes " +
                              std::to_string(ending.outcome[0]) + " and " +
                              std::to_string(ending.outcome[1]) +
                              "; in this search one player's gain is the other's loss.");
}

std::uint64_t Search::tie_break(const Key& parent, Action action, std::uint64_t visits) const {
  return mix(mix(mix(seed_) ^ parent.low) ^ mix((visits << 32) ^ action));
}

void Search::begin(const Budget& budget) {
  end();
  begun_ = true;
  counts_ = {};
  visits_.clear();
  budget_ = budget;
  stopped_ = false;
  own_time_ = {};
}

void Search::give_up() {
  rollouts_.give_up();
  task_ = {};
  request_ = {};
  ++run_number_;
}

void Search::end() {
  Search::give_up();
  begun_ = false;
}

void Search::check_result(bool is_there) {
  if (!is_there) throw std::invalid_argument("There is no result: the search has not run yet.");
}

void Search::resume(Clock::time_point pause_at) {
  const auto use = users_.changing();
  const auto reading = reads_ ? reads_->reading() : Users::Use();
  const auto asking = evaluator_.network ? evaluator_.network->users().reading() : Users::Use();
  pause_at_ = pause_at;
  resumed_ = Clock::now();
  struct Timed {
    Search& search;
    ~Timed() { search.own_time_ += Clock::now() - search.resumed_; }
  } timed{*this};
  if (rollouts_.under_way() && !roll_out()) return;
  do {
    task_.resume();
  } while (rollouts_.under_way() && roll_out());
}

bool Search::roll_out() {
  constexpr std::size_t states_a_rollout = 16;  // what it costs, roughly and at least
  try {
    // The first game of each child is always played, so that an action can be given.
    while (!rollouts_.all_played() && !(rollouts_.each_played() && interrupted())) {
      rollouts_.play_one();
      if (pause(states_a_rollout).due && rollouts_.each_played()) return false;
    }
  } catch (...) {  // of a game written in Python
    rollouts_.give_up();
    task_ = {};
    throw;
  }
  return end_rollouts();
}

bool Search::end_rollouts() {
  if (!rollouts_.under_way()) return false;
  rollouts_.end(request_.answers);
  request_.batched = request_.answered = request_.rows();
  return true;
}

double Search::seconds() const {
  return std::chrono::duration<double>(own_time_ + (Clock::now() - resumed_)).count();
}

bool Search::spent() const {
  return (budget_.iterations && counts_.iterations >= budget_.iterations) || evaluations_spent() ||
         (counts_.iterations && interrupted());
}

Search::Pause Search::pause(std::size_t states) {
  constexpr std::size_t states_a_look = 64;  // the clock is not free where states are
  states_since_look_ += states;
  if (states_since_look_ < states_a_look) return {false};
  states_since_look_ = 0;
  return {Clock::now() >= pause_at_};
}

Request& Search::ask(const State& state, std::span<const Action> actions, std::span<const Key> keys,
                     std::span<float> answers) {
  if (evaluator_.of_children && !answers.empty()) {
    of_places_.resize(game_->facts().num_places());
    request_ = {game_.get(), &state, {}, of_places_, of_places_.size()};
    request_.wanted = actions;
    request_.values = answers;
    return request_;
  }
  request_ = {game_.get(), &state, actions, answers, std::size_t(game_->facts().value_width())};
  if (evaluator_.kind == EvaluatorKind::rollout && !actions.empty()) {
    rollouts_.start(*game_, state, actions, keys, seed_, evaluator_.rollouts);
  } else if (evaluator_.kind != EvaluatorKind::external) {
    if (evaluator_.kind == EvaluatorKind::tictactoe_features)
      answer_features(*game_, state, actions, answers);
    else if (evaluator_.kind != EvaluatorKind::network)
      evaluator_.answer(keys, answers);
    else if (!answers.empty())
      sums_.answer(*evaluator_.network, *game_, state, actions, answers);
    request_.batched = request_.answered = request_.rows();
  }
  return request_;
}

void Search::count_asked(std::size_t children, int sign) {
  const std::size_t rows = evaluator_.of_children && children ? 1 : children;
  counts_.evaluations += std::uint64_t(sign) * rows;
  counts_.charged += std::uint64_t(sign) * rows;
  counts_.valued += std::uint64_t(sign) * children;
}

void Request::hand_out() const {
  const auto& places = game->facts().action_places;
  if (!wanted.empty()) {
    for (std::size_t i = 0; i < wanted.size(); ++i) values[i] = answers[places[wanted[i]]];
    return;
  }
  Actions actions;
  game->legal_actions(*state, actions);
  const float sign = game->to_move(*state) == 0 ? 1.0f : -1.0f;
  values[0] = answers[places[actions.front()]];
  for (const Action action : actions)
    values[0] = sign * std::max(sign * values[0], sign * answers[places[action]]);
}

// ---- The list ----------------------------------------------------------------------------

#define DECLARE_SEARCH(name) extern const SearchType name##_type;
ATHENAN_SEARCHES(DECLARE_SEARCH)
#undef DECLARE_SEARCH

const std::vector<const SearchType*>& search_types() {
#define NAME_SEARCH(name) &name##_type,
  static const std::vector<const SearchType*> types = {ATHENAN_SEARCHES(NAME_SEARCH)};
#undef NAME_SEARCH
  return types;
}

std::shared_ptr<Search> make_search(const std::string& name, SearchInput input,
                                    std::map<std::string, Option> given) {
  for (const SearchType* type : search_types())
    if (type->name == name)
      return type->make(
          std::move(input),
          Options(complete_options("search '" + name + "'", type->options, std::move(given))));
  throw std::invalid_argument("There is no search '" + name + "'.");
}

}  // namespace athenan
