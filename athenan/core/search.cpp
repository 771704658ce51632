#include "core/search.h"

#include <stdexcept>

#include "core/list.h"

namespace athenan {

Search::Search(SearchInput input)
    : game_(std::move(input.game)),
      terminal_evaluation_(std::move(input.terminal_evaluation)),
      evaluator_(input.evaluator),
      seed_(input.seed) {}

void Search::begin(const Budget& budget) {
  end();
  begun_ = true;
  counts_ = {};
  budget_ = budget;
  stopped_ = false;
  own_time_ = {};
}

void Search::end() {
  task_ = {};
  request_ = {};
  begun_ = false;
  ++run_number_;
}

void Search::check_result(bool is_there) {
  if (!is_there) throw std::invalid_argument("There is no result: the search has not run yet.");
}

void Search::resume(Clock::time_point pause_at) {
  const auto use = users_.changing();
  const auto reading = reads_ ? reads_->reading() : Users::Use();
  pause_at_ = pause_at;
  resumed_ = Clock::now();
  struct Timed {
    Search& search;
    ~Timed() { search.own_time_ += Clock::now() - search.resumed_; }
  } timed{*this};
  task_.resume();
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
  request_ = {game_.get(), &state, actions, answers};
  if (evaluator_.kind != EvaluatorKind::external) {
    evaluator_.answer(*game_, state, actions, keys, seed_, answers);
    request_.batched = request_.answered = request_.rows();
  }
  return request_;
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
