// UCT with random rollouts, for any number of players: the usual Monte Carlo tree search, a
// reference opponent that needs no network.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/search.h"

namespace athenan {
namespace {

class Uct final : public Search {
 public:
  Uct(SearchInput input, double exploration)
      : Search(std::move(input)),
        exploration_(exploration),
        players_(game_->facts().num_players),
        random_(seed_),
        root_(game_->initial_state()),
        state_(root_->clone()) {}

  // A search of the same state goes on; one of another state begins anew.
  void start(const State& root, const Budget& budget, const Mobility&) override {
    if (budget.none())
      throw std::invalid_argument("Search 'uct' needs a budget: it never ends by itself.");
    begin(budget);
    const Key key = game_->key(root);
    if (nodes_.empty() || key != root_key_) {
      forget();
      root_->assign(root);
      root_key_ = key;
      random_ = Random(mix(seed_) ^ key.low);
      if (!game_->is_terminal(root)) {
        add_node(root);
        root_totals_.resize(nodes_.front().children.size());
      }
    }
    task_ = run();
  }
  void clear() override {
    end();
    forget();
  }
  Result result() const override;
  Counts counts() const override {
    Counts counts = counts_;
    counts.states = nodes_.size();
    return counts;
  }

 private:
  void forget() {
    nodes_.clear();
    root_totals_.clear();
  }

  struct Choice {
    Action action = 0;
    std::uint32_t visits = 0;
    std::uint32_t node = 0;  // of the state it leads to; 0 where none is made yet
    double total = 0;        // of outcomes, in the view of the player who chooses it
    double mean() const { return visits ? total / visits : 0; }
  };
  struct Node {
    int player = 0;
    std::uint32_t visits = 0;
    std::vector<Choice> children;
  };

  static constexpr std::size_t states_a_rollout = 16;  // what it costs, roughly and at least
  Task<> run() {
    while (!nodes_.empty() && !spent()) {
      rollout();
      ++counts_.iterations;
      ++counts_.evaluations;
      ++counts_.charged;
      co_await pause(states_a_rollout);
    }
  }

  std::uint32_t add_node(const State& state) {
    Node node;
    node.player = game_->to_move(state);
    if (nodes_.size() >= std::numeric_limits<std::uint32_t>::max())
      throw std::length_error("A search 'uct' holds at most 4,294,967,295 states.");
    game_->legal_actions(state, actions_);
    for (Action action : actions_) node.children.push_back({action});
    ++counts_.expanded;
    counts_.children += actions_.size();
    nodes_.push_back(std::move(node));
    return std::uint32_t(nodes_.size() - 1);
  }

  // An unvisited child at random, otherwise the largest μ + λ √(ln n_s / n_c).
  std::size_t choose(const Node& node) {
    std::size_t best = 0, unvisited = 0;
    double best_score = -std::numeric_limits<double>::infinity();
    const double log_visits = std::log(double(node.visits) + 1);
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const Choice& child = node.children[i];
      if (child.visits == 0) {
        if (random_.below(std::uint32_t(++unvisited)) == 0) best = i;
        continue;
      }
      if (unvisited) continue;
      const double score =
          child.mean() + exploration_ * std::sqrt(log_visits / double(child.visits));
      if (score > best_score) {
        best_score = score;
        best = i;
      }
    }
    return best;
  }

  void rollout() {
    state_->assign(*root_);
    path_.clear();
    std::uint32_t id = 0;
    while (true) {
      const std::size_t chosen = choose(nodes_[id]);
      path_.emplace_back(id, chosen);
      game_->play(*state_, nodes_[id].children[chosen].action);
      if (game_->is_terminal(*state_)) break;
      if (nodes_[id].children[chosen].node == 0) {
        const std::uint32_t made = add_node(*state_);
        nodes_[id].children[chosen].node = made;
        game_->playout(*state_, random_);
        break;
      }
      id = nodes_[id].children[chosen].node;
    }
    const Ending ending = game_->ending(*state_);
    for (const auto& [node_id, chosen] : path_) {
      Node& node = nodes_[node_id];
      ++node.visits;
      ++node.children[chosen].visits;
      node.children[chosen].total += ending.outcome[node.player];
    }
    auto& totals = root_totals_[path_.front().second];
    for (int player = 0; player < players_; ++player) totals[player] += ending.outcome[player];
  }

  // The most visited child; among equals the one with the better mean.
  static const Choice& decided(const Node& node) {
    const Choice* best = &node.children.front();
    for (const Choice& child : node.children)
      if (child.visits > best->visits ||
          (child.visits == best->visits && child.mean() > best->mean()))
        best = &child;
    return *best;
  }

  // Mean outcomes, as many as a result has for this game.
  template <class T, class Of>
  PerPlayer<T> values(Of of) const {
    PerPlayer<T> found;
    found.size = players_ == 2 ? 1 : players_;
    for (int player = 0; player < found.size; ++player) found.of[player] = T(of(player));
    return found;
  }

  double exploration_;
  int players_;
  Random random_;
  std::unique_ptr<State> root_, state_;
  Key root_key_;
  std::vector<Node> nodes_;
  std::vector<std::array<double, max_players>> root_totals_;  // of each child of the root
  std::vector<std::pair<std::uint32_t, std::size_t>> path_;   // node, chosen child
  Actions actions_;
};

Result Uct::result() const {
  check_result(begun_);
  Result result;
  result.counts = counts();
  const auto unknown = values<std::int8_t>([](int) { return 0; });
  if (nodes_.empty()) {  // an end, whose outcome the rules know
    const Ending ending = game_->ending(*root_);
    result.resolved = game_->is_terminal(*root_);
    result.value = values<float>([&](int player) { return ending.outcome[player]; });
    result.completion = values<std::int8_t>([&](int player) { return ending.outcome[player]; });
    return result;
  }
  const Node& root = nodes_.front();
  result.action = decided(root).action;
  result.completion = unknown;
  std::array<double, max_players> sums{};
  for (std::size_t i = 0; i < root.children.size(); ++i) {
    const Choice& child = root.children[i];
    const double visits = std::max(1u, child.visits);
    for (int player = 0; player < players_; ++player) sums[player] += root_totals_[i][player];
    const auto means = values<float>([&](int player) { return root_totals_[i][player] / visits; });
    result.children.push_back({child.action, means, unknown, false, child.visits});
  }
  const double visits = std::max(1u, root.visits);
  result.value = values<float>([&](int player) { return sums[player] / visits; });
  for (std::uint32_t id = 0; nodes_[id].visits;) {
    const Choice& child = decided(nodes_[id]);
    result.principal_variation.push_back(child.action);
    if (child.node == 0) break;
    id = child.node;
  }
  return result;
}

}  // namespace

extern const SearchType uct_type;
const SearchType uct_type = {
    .name = "uct",
    .about = "Monte Carlo tree search by random rollouts, for any number of players",
    .options = {real_number("exploration", 1, 0, 1e6, "λ, for outcomes in [-1, 1]")},
    .make =
        [](SearchInput input, const Options& options) {
          return std::make_shared<Uct>(std::move(input), options.real("exploration"));
        },
    .uses_evaluator = false};

}  // namespace athenan
