// Searches that exist for a test only: how little one needs beside the contract. The program runs
// them in one group with a search of the core, and prints what differs from what it should be.
#include <cstdio>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "core/group.h"
#include "core/search.h"

using namespace athenan;

namespace {

// The child with the best value for the first player, one request: the ten lines of a search.
class Greedy : public Search {
 public:
  using Search::Search;
  void start(const State& root, const Budget& budget, const Mobility&) override {
    begin(budget);
    root_ = root.clone();
    task_ = run();
  }
  void clear() override { result_ = {}; }
  Result result() const override { return result_; }

 protected:
  virtual Task<> run() {
    result_ = {};
    result_.value.of[0] = -2;
    game_->expand(*root_, children_);
    values_.resize(children_.size());
    co_await ask(*root_, children_.actions, children_.keys, values_);
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (values_[i] > result_.value.of[0]) {
        result_.value.of[0] = values_[i];
        result_.action = children_.actions[i];
      }
  }

  std::unique_ptr<State> root_;
  Children children_;
  std::vector<float> values_;
  Result result_;
};

// Asks twice in one step: for the state itself, two answers wide, then for its children.
class AsksTwice final : public Greedy {
 public:
  using Greedy::Greedy;
  std::vector<float> own = {0, 0};

 private:
  Task<> run() override {
    own = {0, 0};  // not what an earlier group has answered
    request_ = {game_.get(), root_.get(), {}, own, 2};
    co_await request_;
    co_await Greedy::run();
  }
};

// Minimax of a fixed depth: each call awaits those below it, and an error comes up through all.
class Recursive final : public Greedy {
 public:
  Recursive(SearchInput input, int depth, int fails_at)
      : Greedy(std::move(input)), depth_(depth), fails_at_(fails_at) {}
  float own = 0;

 private:
  // Asks once more itself, when those that it awaited are gone.
  Task<> run() override {
    result_.value.of[0] = co_await minimax(root_->clone(), depth_);
    own = 0;
    request_ = {game_.get(), root_.get(), {}, {&own, 1}};
    co_await request_;
  }

  Task<float> minimax(std::unique_ptr<State> state, int depth) {
    if (game_->is_terminal(*state)) co_return float(game_->ending(*state).outcome[0]);
    if (depth == 0) {
      if (++leaves_ == fails_at_) throw std::runtime_error("the leaf that fails");
      float value = 0;
      request_ = {game_.get(), state.get(), {}, {&value, 1}};
      co_await request_;
      co_return value;
    }
    Actions actions;
    game_->legal_actions(*state, actions);
    const bool first = game_->to_move(*state) == 0;
    float best = first ? -2 : 2;
    for (Action action : actions) {
      auto child = state->clone();
      game_->play(*child, action);
      const float value = co_await minimax(std::move(child), depth - 1);
      best = first ? std::max(best, value) : std::min(best, value);
    }
    co_return best;
  }

  int depth_, fails_at_, leaves_ = 0;
};

// f_θ of the test: by the bytes of the planes.
float value_of(const std::uint8_t* planes, std::size_t bytes) {
  std::uint64_t hash = 1;
  for (std::size_t i = 0; i < bytes; ++i) hash = mix(hash ^ planes[i]);
  return float(hash >> 40) * 0x1p-23f - 1;
}

float value_of(const Game& game, const State& state) {
  std::vector<std::uint8_t> planes(game.facts().plane_bytes());
  game.planes(state, planes.data());
  return value_of(planes.data(), planes.size());
}

float plain_minimax(const Game& game, const State& state, int depth) {
  if (game.is_terminal(state)) return float(game.ending(state).outcome[0]);
  if (depth == 0) return value_of(game, state);
  Actions actions;
  game.legal_actions(state, actions);
  const bool first = game.to_move(state) == 0;
  float best = first ? -2 : 2;
  for (Action action : actions) {
    auto child = state.clone();
    game.play(*child, action);
    const float value = plain_minimax(game, *child, depth - 1);
    best = first ? std::max(best, value) : std::min(best, value);
  }
  return best;
}

int failures = 0;
void check(bool truth, const char* what) {
  if (truth) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

// Answers every batch; returns the sum of the widths seen.
std::size_t drive(SearchGroup& group, const Game& game) {
  std::size_t widths = 0;
  const std::size_t bytes = game.facts().plane_bytes();
  for (group.advance();;) {
    const auto batch = group.batch();
    if (!batch.rows) return widths;
    widths += batch.width;
    std::vector<float> answers(batch.rows * batch.width);
    for (std::size_t row = 0; row < batch.rows; ++row)
      for (std::size_t i = 0; i < batch.width; ++i)
        answers[row * batch.width + i] = value_of(batch.planes + row * bytes, bytes) + float(i);
    group.resume(answers, batch.width);
    group.advance();
  }
}

}  // namespace

int main() {
  const std::shared_ptr<const Game> game = make_game("tictactoe", {});
  const auto root = game->initial_state();
  const SearchInput input{game, TerminalEvaluation(*game, Heuristic::gain, 0), {}, 1};

  const auto greedy = std::make_shared<Greedy>(input);
  const auto twice = std::make_shared<AsksTwice>(input);
  const auto recursive = std::make_shared<Recursive>(input, 3, 0);
  const auto descent = make_search("descent", input, {}), alone = make_search("descent", input, {});
  for (std::size_t size : {std::size_t(1), std::size_t(4), std::size_t(64)}) {
    SearchGroup group({greedy, twice, recursive, descent}, {size}, 2);
    for (std::size_t i = 0; i < group.size(); ++i) group.start(i, *root, {.iterations = 5});
    drive(group, *game);
    for (std::size_t i = 0; i < group.size(); ++i)
      check(group.search(i).task().done(), "a search of the group is not done");

    Actions actions;
    game->legal_actions(*root, actions);
    float best = -2;
    for (Action action : actions) {
      const auto child = root->clone();
      game->play(*child, action);
      best = std::max(best, value_of(*game, *child));
    }
    check(greedy->result().value.of[0] == best, "greedy");
    check(twice->result().value.of[0] == best, "the second request");
    check(twice->own[0] == value_of(*game, *root), "the state itself");
    check(twice->own[1] == twice->own[0] + 1, "two answers a row");
    check(recursive->result().value.of[0] == plain_minimax(*game, *root, 3), "recursion");
    check(recursive->own == value_of(*game, *root), "a request after recursion");
    SearchGroup other({alone}, {size}, 1);
    other.start(0, *root, {.iterations = 5});
    drive(other, *game);
    check(descent->result().children == alone->result().children,
          "a search of the core beside them is the search alone");
  }

  // An error deep down ends the search that threw it, and the group can start it again.
  const auto fails = std::make_shared<Recursive>(input, 2, 20);
  SearchGroup group({fails, greedy}, {16}, 1);
  for (int round = 0; round < 2; ++round) {
    group.start(0, *root, {});
    group.start(1, *root, {});
    bool thrown = false;
    try {
      drive(group, *game);
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    check(thrown == (round == 0), "the error of the innermost call");
    check(fails->task().done(), "the task that threw is done");
    drive(group, *game);
    check(greedy->task().done(), "the other search goes on");
  }
  check(fails->result().value.of[0] == plain_minimax(*game, *root, 2), "after the error");

  if (!failures) std::printf("all right\n");
  return failures != 0;
}
