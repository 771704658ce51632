// Any legal action with the same chance: the opponent that everybody must beat.
#include "core/search.h"

namespace athenan {
namespace {

class RandomSearch final : public Search {
 public:
  using Search::Search;

  void start(const State& root, const Budget& budget, const Mobility&) override {
    begin(budget);
    action_.reset();
    if (!game_->is_terminal(root)) {
      // By seed and state: the same whatever was asked before.
      Random random(mix(seed_) ^ game_->key(root).low);
      action_ = game_->random_action(root, random);
    }
  }
  void clear() override { end(); }
  Result result() const override {
    check_result(begun_);
    Result result;
    result.action = action_;
    const int players = game_->facts().num_players;
    result.value.size = result.completion.size = players == 2 ? 1 : players;
    return result;
  }

 private:
  std::optional<Action> action_;
};

}  // namespace

extern const SearchType random_type;
const SearchType random_type = {
    .name = "random",
    .about = "any legal action with the same chance",
    .options = {},
    .make = [](SearchInput input,
               const Options&) { return std::make_shared<RandomSearch>(std::move(input)); },
    .needs_budget = false,
    .uses_evaluator = false};

}  // namespace athenan
