// PUCT, the rule of AlphaZero, with a value network and the same prior for all actions: to be
// compared with the unbounded searches. Proven results are backed up as theirs are.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/resolved.h"
#include "core/search.h"

namespace athenan {
namespace {

struct PuctSettings {
  double c_puct = 1.5;
  double first_play_reduction = 0.25;
  bool value_children = false;
  bool completion = true;
};

// Values within are in the first player's view and in [-1, 1]: f_t over its bound.
class Puct final : public Search {
 public:
  Puct(SearchInput input, PuctSettings settings)
      : Search(std::move(input)),
        settings_(settings),
        root_(game_->initial_state()),
        state_(root_->clone()),
        next_(root_->clone()) {
    if (game_->facts().num_players != 2)
      throw std::invalid_argument("Search 'puct' is for two players; game '" + game_->facts().name +
                                  "' has " + std::to_string(game_->facts().num_players) + ".");
    if (!game_->facts().zero_sum)
      throw std::invalid_argument(
          "In search 'puct' one player's gain is the other's loss, in game '" +
          game_->facts().name + "' it is not.");
  }

  // What is known of the root from the last search is kept.
  void start(const State& root, const Budget& budget, const Mobility& mobility) override;
  void clear() override {
    end();
    nodes_.clear();
  }
  Result result() const override;
  Counts counts() const override {
    Counts counts = counts_;
    counts.states = nodes_.size();
    return counts;
  }

 private:
  struct Choice {
    Action action = 0;
    std::uint32_t visits = 0;
    std::uint32_t node = 0;  // of the state it leads to; 0 where none is made yet
    float value = 0;         // exact where resolved, otherwise f_θ where children are valued
    double total = 0;        // of the values of its visits
    std::int8_t completion = 0;
    bool resolved = false;
  };
  struct Node {
    Key key;
    int player = 0;
    bool valued = false;       // its children, by f_θ
    std::uint32_t visits = 0;  // its own value is the first
    double total = 0;
    std::vector<Choice> children;

    int sign() const { return player == 0 ? 1 : -1; }
    double mean() const { return visits ? total / visits : 0; }
  };
  Task<> run();
  Task<double> simulate();
  Task<double> value_children(std::uint32_t id);
  Task<> ask_for_values();
  Key key_of(const State& state) const;
  std::uint32_t add_node();
  std::uint32_t find(const State& state) const;  // below the root; as many as there are: nowhere
  void keep_below(std::uint32_t id);
  double value_of(const Node& node, const Choice& child) const;
  std::size_t choose(const Node& node) const;
  std::optional<std::size_t> best_known(const Node& node) const;
  const Choice* proof(const Node& node) const;  // the child that proves what the state is worth
  void back_up(double value);
  std::size_t decided(const Node& node) const;

  PuctSettings settings_;
  std::unique_ptr<State> root_, state_, next_;
  Mobility root_mobility_, mobility_;
  std::vector<Node> nodes_;                                  // the root first
  std::vector<std::pair<std::uint32_t, std::size_t>> path_;  // node, chosen child
  Children children_;
  Actions asked_;
  std::vector<Key> asked_keys_;
  std::vector<float> answers_;
};

void Puct::start(const State& root, const Budget& budget, const Mobility& mobility) {
  if (budget.none())
    throw std::invalid_argument("Search 'puct' needs a budget: it may never end by itself.");
  if (memory_ && memory_->width() > 1)
    throw std::invalid_argument("This memory of resolved states is of another number of players.");
  begin(budget);
  const std::uint32_t known = find(root);
  root_->assign(root);
  root_mobility_ = mobility_ = mobility;
  if (known < nodes_.size()) {
    keep_below(known);
  } else {
    nodes_.clear();
    if (!game_->is_terminal(root)) {
      state_->assign(root);
      add_node();
    }
  }
  task_ = run();
}

// Each iteration adds one state, or meets one that is known to the end.
Task<> Puct::run() {
  while (!nodes_.empty() && !proof(nodes_.front()) && !spent()) {
    const std::uint64_t charged_before = counts_.charged;
    state_->assign(*root_);
    mobility_ = root_mobility_;
    path_.clear();
    const double value = co_await simulate();
    back_up(value);
    ++counts_.iterations;
    if (counts_.charged == charged_before) ++counts_.charged;
    co_await pause(1 + children_.size());
  }
}

// Goes down to a state that is new, or known to the end, and says what it is worth.
Task<double> Puct::simulate() {
  std::uint32_t id = 0;
  while (true) {
    if (settings_.value_children && !nodes_[id].valued) co_return co_await value_children(id);
    const std::size_t chosen = choose(nodes_[id]);
    path_.emplace_back(id, chosen);
    const Choice choice = nodes_[id].children[chosen];
    if (choice.resolved) co_return choice.value;
    next_->assign(*state_);
    game_->play(*next_, choice.action);
    mobility_.add(nodes_[id].player, nodes_[id].children.size());
    double value = 0;
    if (choice.node == 0 && !settings_.value_children) {
      asked_.assign(1, choice.action);
      asked_keys_.assign(1, key_of(*next_));
      co_await ask_for_values();
      value = answers_.front();
    }
    std::swap(state_, next_);
    if (choice.node != 0) {
      id = choice.node;
      continue;
    }
    const std::uint32_t made = add_node();
    nodes_[id].children[chosen].node = made;
    id = made;
    const Choice* known = proof(nodes_[id]);
    if (!known && settings_.value_children) continue;
    nodes_[id].visits = 1;
    nodes_[id].total = known ? double(known->value) : value;
    co_return nodes_[id].total;
  }
}

// f_θ values all children of a new state, which is worth what the best of them is.
Task<double> Puct::value_children(std::uint32_t id) {
  asked_.clear();
  asked_keys_.clear();
  Mobility below = mobility_;
  below.add(nodes_[id].player, nodes_[id].children.size());
  const Key extra = terminal_evaluation_.key(game_->ply(*state_) + 1, below);
  game_->expand(*state_, children_);
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (nodes_[id].children[i].resolved) continue;
    asked_.push_back(children_.actions[i]);
    asked_keys_.push_back(children_.keys[i] ^ extra);
  }
  co_await ask_for_values();
  Node& node = nodes_[id];
  double best = -std::numeric_limits<double>::infinity();
  const float* answer = answers_.data();
  for (Choice& child : node.children) {
    if (!child.resolved) child.value = *answer++;
    best = std::max(best, node.sign() * double(child.value));
  }
  node.valued = true;
  node.visits = 1;
  node.total = node.sign() * best;
  co_return node.total;
}

// Counted once they are there, so that what an interruption takes is not.
Task<> Puct::ask_for_values() {
  answers_.resize(asked_.size());
  if (asked_.empty()) co_return;
  co_await ask(*state_, asked_, asked_keys_, answers_);
  count_asked(asked_.size());
}

Key Puct::key_of(const State& state) const {
  return game_->key(state) ^ terminal_evaluation_.key(game_->ply(state), mobility_);
}

// Of state_, whose ends and remembered children are known at once.
std::uint32_t Puct::add_node() {
  if (nodes_.size() >= std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("A search 'puct' holds at most 4,294,967,295 states.");
  Node node;
  node.key = game_->key(*state_);
  node.player = game_->to_move(*state_);
  game_->expand(*state_, children_);
  if (children_.size() == 0)
    throw std::invalid_argument("A state of game '" + game_->facts().name +
                                "' has no legal actions but is not over.");
  const int ply = game_->ply(*state_) + 1;
  Mobility below = mobility_;
  below.add(node.player, children_.size());
  const Key extra = terminal_evaluation_.key(ply, below);
  const auto bound = float(terminal_evaluation_.bound());
  node.children.resize(children_.size());
  for (std::size_t i = 0; i < children_.size(); ++i) {
    Choice& child = node.children[i];
    child.action = children_.actions[i];
    const auto known = memory_ ? memory_->find(children_.keys[i] ^ extra) : std::nullopt;
    if (children_.terminal[i]) {
      const Ending& ending = children_.endings[i];
      check_zero_sum(ending);
      child.completion = ending.outcome[0];
      child.value = terminal_evaluation_(ending, ply, below) / bound;
      child.resolved = true;
    } else if (known && settings_.completion) {
      child.completion = known->completion[0];
      child.value = known->value[0] / bound;
      child.resolved = true;
    }
  }
  ++counts_.expanded;
  counts_.children += children_.size();
  nodes_.push_back(std::move(node));
  return std::uint32_t(nodes_.size() - 1);
}

// Q in the first player's view. A child that was never visited is worth what f_θ has said of it,
// or a little less to its player than the state is.
double Puct::value_of(const Node& node, const Choice& child) const {
  if (child.resolved) return child.value;
  if (child.visits) return child.total / child.visits;
  if (node.valued) return child.value;
  return node.mean() - node.sign() * settings_.first_play_reduction;
}

// The largest Q + c P √n(s) / (1 + n(s, s′)), P the same for all actions; with completion never
// what is known to the end.
std::size_t Puct::choose(const Node& node) const {
  const double exploration =
      settings_.c_puct * std::sqrt(double(node.visits)) / double(node.children.size());
  std::optional<std::size_t> best;
  std::pair<double, std::uint64_t> best_score;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Choice& child = node.children[i];
    if (settings_.completion && child.resolved) continue;
    const double q = node.sign() * value_of(node, child);
    const std::pair score(q + exploration / (1 + double(child.visits)),
                          tie_break(node.key, child.action, node.visits));
    if (best && score <= best_score) continue;
    best = i;
    best_score = score;
  }
  return best.value();
}

// The best by (c, v) of the children that are known to the end.
std::optional<std::size_t> Puct::best_known(const Node& node) const {
  const int sign = node.sign();
  std::optional<std::size_t> best;
  for (std::size_t i = 0; settings_.completion && i < node.children.size(); ++i) {
    const Choice& child = node.children[i];
    if (!child.resolved) continue;
    if (best) {
      const Choice& other = node.children[*best];
      const std::pair a(sign * child.completion, float(sign) * child.value),
          b(sign * other.completion, float(sign) * other.value);
      if (a <= b) continue;
    }
    best = i;
  }
  return best;
}

// Known to the end itself: won by way of a child, or all of them are known.
const Puct::Choice* Puct::proof(const Node& node) const {
  const auto best = best_known(node);
  if (!best) return nullptr;
  const Choice& child = node.children[*best];
  const bool all = std::all_of(node.children.begin(), node.children.end(),
                               [](const Choice& other) { return other.resolved; });
  return all || node.sign() * child.completion == 1 ? &child : nullptr;
}

// A state is worth at least what the best of its known children is.
void Puct::back_up(double value) {
  for (std::size_t i = path_.size(); i-- > 0;) {
    const auto [id, chosen] = path_[i];
    Node& node = nodes_[id];
    Choice& child = node.children[chosen];
    ++child.visits;
    child.total += value;
    const Choice* known = child.node == 0 ? nullptr : proof(nodes_[child.node]);
    if (known && !child.resolved) {
      child.resolved = true;
      child.completion = known->completion;
      child.value = known->value;
    }
    if (const auto best = best_known(node))
      value = node.sign() *
              std::max(node.sign() * value, node.sign() * double(node.children[*best].value));
    ++node.visits;
    node.total += value;
  }
}

// The most visited, unless one that is known to the end and not lost is worth as much.
std::size_t Puct::decided(const Node& node) const {
  const auto known = best_known(node);
  if (proof(node)) return *known;
  std::optional<std::size_t> most;
  const auto rank = [&](std::size_t i) {
    const Choice& child = node.children[i];
    return std::tuple(child.visits, node.sign() * value_of(node, child),
                      tie_break(node.key, child.action, 0));
  };
  for (std::size_t i = 0; i < node.children.size(); ++i)
    if (!(settings_.completion && node.children[i].resolved) && (!most || rank(i) > rank(*most)))
      most = i;
  if (!known || node.sign() * node.children[*known].completion < 0) return *most;
  const double value = node.sign() * double(node.children[*known].value);
  return value >= node.sign() * value_of(node, node.children[*most]) ? *known : *most;
}

std::uint32_t Puct::find(const State& state) const {
  const auto nowhere = std::uint32_t(nodes_.size());
  if (nodes_.empty()) return nowhere;
  const Key key = game_->key(state);
  std::vector<std::pair<std::uint32_t, std::unique_ptr<State>>> waiting;
  waiting.emplace_back(0, root_->clone());
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto [id, at] = std::move(waiting[i]);
    if (nodes_[id].key == key) return id;
    if (game_->ply(*at) >= game_->ply(state)) continue;
    for (const Choice& child : nodes_[id].children) {
      if (child.node == 0) continue;
      auto next = at->clone();
      game_->play(*next, child.action);
      waiting.emplace_back(child.node, std::move(next));
    }
  }
  return nowhere;
}

void Puct::keep_below(std::uint32_t id) {
  std::vector<Node> kept;
  kept.push_back(std::move(nodes_[id]));
  for (std::size_t i = 0; i < kept.size(); ++i)
    for (std::size_t j = 0; j < kept[i].children.size(); ++j) {
      std::uint32_t& node = kept[i].children[j].node;
      if (node == 0) continue;
      const std::uint32_t old = std::exchange(node, std::uint32_t(kept.size()));
      kept.push_back(std::move(nodes_[old]));
    }
  nodes_ = std::move(kept);
}

Result Puct::result() const {
  check_result(begun_);
  Result result;
  result.counts = counts();
  const auto bound = float(terminal_evaluation_.bound());
  if (nodes_.empty()) {  // an end, whose outcome the rules know
    if (!game_->is_terminal(*root_)) return result;
    const Ending ending = game_->ending(*root_);
    result.resolved = true;
    result.completion.of[0] = ending.outcome[0];
    result.value.of[0] = terminal_evaluation_(ending, game_->ply(*root_), root_mobility_);
    return result;
  }
  const Node& root = nodes_.front();
  const Choice* known = proof(root);
  result.value.of[0] = bound * (known ? known->value : float(root.mean())) + 0.0f;
  result.resolved = known != nullptr;
  if (known) result.completion.of[0] = known->completion;
  result.action = root.children[decided(root)].action;
  for (const Choice& child : root.children) {
    Child told{child.action, {}, {}, child.resolved && settings_.completion, child.visits};
    const bool valued = child.resolved || child.visits || root.valued;
    told.value.of[0] = valued ? bound * float(value_of(root, child)) + 0.0f : 0;
    if (told.resolved) told.completion.of[0] = child.completion;
    result.children.push_back(told);
  }
  for (std::uint32_t id = 0;;) {
    const Choice& child = nodes_[id].children[decided(nodes_[id])];
    result.principal_variation.push_back(child.action);
    if (child.node == 0) break;
    id = child.node;
  }
  return result;
}

}  // namespace

extern const SearchType puct_type;
const SearchType puct_type = {
    .name = "puct",
    .about = "the rule of AlphaZero with a value network and equal priors, one state an iteration",
    .options =
        {real_number("c_puct", 1.5, 0, 1e6, "c: how much is explored, for values in [-1, 1]"),
         real_number("first_play_reduction", 0.25, 0, 2,
                     "how much less a child that was never visited is worth than its parent"),
         yes_or_no(
             "value_children", false,
             "a new state's children are all valued at once, and it is worth the best of them"),
         yes_or_no("completion", true, "proven results are backed up, and ends of games known")},
    .make =
        [](SearchInput input, const Options& options) {
          return std::make_shared<Puct>(
              std::move(input),
              PuctSettings{options.real("c_puct"), options.real("first_play_reduction"),
                           options.flag("value_children"), options.flag("completion")});
        },
    .consults = true};

}  // namespace athenan
