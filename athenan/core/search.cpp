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
  task_ = {};
  request_ = {};
  counts_ = {};
  budget_ = budget;
  stopped_ = false;
  started_ = std::chrono::steady_clock::now();
}

bool Search::spent() const {
  const auto seconds = [this] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  };
  return stopped_ || (budget_.iterations && counts_.iterations >= budget_.iterations) ||
         evaluations_spent() || (budget_.seconds > 0 && seconds() >= budget_.seconds);
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
