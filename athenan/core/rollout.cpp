// Minimax by rollouts (Algorithms 3, 4 and 12 of the rollout paper): each goes down to one leaf
// within the windows that are open, and narrows the ranges of all states that it passed.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "core/interval.h"

namespace athenan {
namespace {

// A child that is at the horizon or an end; its value is in the node (f_t, outcome) until it is
// visited. `met` where the horizon was met at or below a state.
constexpr Node::Flag is_end = Node::terminal, at_horizon = Node::reachable, met = Node::kept;

class Rollout final : public IntervalSearch {
 public:
  Rollout(SearchInput input, IntervalSettings settings)
      : IntervalSearch(std::move(input), settings), random_(seed_) {
    if (settings_.policy == RolloutPolicy::uct && settings_.deepening)
      throw std::invalid_argument("Rollouts by uct never end, so that no deeper horizon follows.");
  }

  void start(const State& root, const Budget& budget, const Mobility& mobility) override {
    if (settings_.policy == RolloutPolicy::uct && budget.none())
      throw std::invalid_argument("Rollouts by uct need a budget: they never end by themselves.");
    IntervalSearch::start(root, budget, mobility);
    root_ = no_node;
    means_.resize(known_.size());  // all was forgotten where memory was full
    random_ = Random(mix(seed_) ^ game_->key(root).low);
  }
  void clear() override {
    IntervalSearch::clear();
    means_.clear();
    root_ = no_node;
  }

 private:
  struct Mean {
    double value = 0;          // μ
    std::uint64_t visits = 0;  // n
  };
  struct Step {
    NodeId node;
    Range window;  // [α_s, β_s]
    bool is_max;
  };

  bool may_forget() const override { return false; }
  std::size_t other_bytes() const override { return means_.size() * sizeof(Mean); }
  bool is_uct() const { return settings_.policy == RolloutPolicy::uct; }

  Task<> search(int depth) override {
    root_ = add(enter_root(depth).key);
    if (!tree_.node(root_).is(Node::expanded)) {
      co_await open(0);
      add_children(0, root_);
      if (!is_uct()) back_up(root_, level(0).is_max());
    }
    const std::uint64_t before = counts_.iterations;
    while (is_uct() || !known(root_).range.closed()) {
      if (counts_.iterations > before && spent()) throw Stopped();
      const std::uint64_t charged_before = counts_.charged;
      ++counts_.iterations;
      co_await rollout();
      if (counts_.charged == charged_before) charge();
      co_await pause(path_.size());
    }
    if (counts_.iterations == before) ++counts_.iterations;  // all was known
    answer_ = partial();
  }

  // Down to a leaf, or to where no window is open: of a graph's states through other parents, and
  // where all children are valued together.
  Task<> rollout() {
    path_.clear();
    enter_root(level(0).depth);
    path_.push_back({root_, known(root_).range, level(0).is_max()});
    std::optional<double> reward;
    while (true) {
      const std::size_t ply = path_.size() - 1;
      const NodeId id = path_.back().node;
      visit(ply, Visit::call, path_.back().window.lower, path_.back().window.upper);
      if (!tree_.node(id).is(Node::expanded)) {
        if (settings_.informed) known(id).range.narrow(bounds_of(level(ply)));
        co_await open(ply);
        add_children(ply, id);
      }
      const auto chosen = choose(path_.back());
      if (!chosen) break;
      Edge& edge = tree_.edges(id)[*chosen];
      ++edge.selections;
      const NodeId child = edge.child;
      const Range window = window_of(path_.back(), child);
      const std::size_t siblings = tree_.edges(id).size();
      enter(ply, edge.action, tree_.node(child).full_key(), siblings);
      path_.push_back({child, window, level(ply + 1).is_max()});
      if (!tree_.node(child).is(is_end)) continue;
      visit(ply + 1, Visit::call, window.lower, window.upper);
      const bool is_new = !known(child).range.closed();
      if (is_new) co_await value(ply, child);
      reward = known(child).range.lower;
      if (is_new || is_uct()) visit(ply + 1, Visit::leaf, *reward, *reward);
      break;
    }
    back_up_path(reward);
  }

  NodeId add(const Key& key) {
    const NodeId id = store(key);
    if (id == no_node) throw Stopped();
    if (means_.size() < known_.size()) means_.resize(known_.size());
    return id;
  }

  void add_children(std::size_t ply, NodeId id) {
    const Level& s = level(ply);
    if (s.size() > SearchTree::most_edges)
      throw std::length_error("A state of game '" + game_->facts().name + "' has " +
                              std::to_string(s.size()) +
                              " legal actions; this search takes at most " +
                              std::to_string(SearchTree::most_edges) + ".");
    if (!has_room(s.size())) {
      out_of_memory_ = true;
      throw Stopped();
    }
    std::vector<NodeId> ids(s.size());
    for (std::size_t i = 0; i < s.size(); ++i) {
      ids[i] = add(key_at(s, i, s.is_leaf(i) ? 0 : s.depth - 1));
      if (!s.is_leaf(i)) continue;
      Node& node = tree_.node(ids[i]);
      node.set(is_end, true);
      if (s.children.terminal[i]) {
        node.completion = s.children.endings[i].outcome[0];
        node.value = float(value_of(s.values[i]));
      } else {
        node.set(at_horizon, true);
        node.set(met, true);
      }
      // The whole family at once, unless leaves are visited one by one.
      if (settings_.child_batching) known(ids[i]).range = {s.values[i], s.values[i]};
    }
    const auto edges = tree_.add_edges(id, s.size());
    for (std::size_t i = 0; i < s.size(); ++i) edges[i] = {ids[i], s.children.actions[i], 0};
  }

  // Of a leaf below this level that has not been visited.
  Task<> value(std::size_t ply, NodeId child) {
    const Node& node = tree_.node(child);
    double x = double(node.value) + node.completion * k_;
    if (node.is(at_horizon)) {
      check_budget();
      Level& s = level(ply);
      s.actions = {level(ply + 1).action};
      s.keys = {node.full_key() ^ depth_key(0)};
      x = co_await value_one(s);
    }
    known(child).range = {x, x};
  }

  Range window_of(const Step& step, NodeId child) const {
    Range window = known(child).range;
    window.narrow(step.window);
    return window;
  }

  // The child to go down to, of those whose windows are open (A).
  std::optional<std::size_t> choose(const Step& step) {
    const auto edges = tree_.edges(step.node);
    const bool by_beta = settings_.policy == RolloutPolicy::max_beta ||
                         settings_.policy == RolloutPolicy::uct_hybrid;
    std::optional<std::size_t> best;
    double best_beta = 0, best_score = 0;
    std::uint32_t open = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Range window = window_of(step, edges[i].child);
      if (window.closed() && !is_uct()) continue;
      const double beta = by_beta ? window.upper : 0;
      bool better = !best || beta > best_beta;
      if (settings_.policy == RolloutPolicy::random) {
        better = random_.below(++open) == 0;
      } else if (settings_.policy >= RolloutPolicy::uct) {
        const double score = score_of(step, edges[i].child);
        better |= beta == best_beta && score > best_score;
        if (better) best_score = score;
      }
      if (!better) continue;
      best = i;
      best_beta = beta;
      if (settings_.policy == RolloutPolicy::leftmost) break;
    }
    return best;
  }

  // μ + λ√(ln n_s / n_c), for the second player -μ + λ√…; unvisited first.
  double score_of(const Step& step, NodeId child) const {
    const Mean& mean = means_[child];
    if (mean.visits == 0) return infinite;
    const double log = std::log(double(std::max<std::uint64_t>(1, means_[step.node].visits)));
    const double more = settings_.lambda * std::sqrt(log / double(mean.visits));
    const bool mirrored = !step.is_max && (settings_.mirror_min || is_uct());
    return (mirrored ? -mean.value : mean.value) + more;
  }

  void back_up_path(std::optional<double> reward) {
    for (std::size_t i = path_.size(); i-- > 0;) {
      const NodeId id = path_[i].node;
      if (tree_.node(id).is(Node::expanded) && !is_uct()) back_up(id, path_[i].is_max);
      if (!reward && known(id).range.closed()) reward = known(id).range.lower;
      Mean& mean = means_[id];
      ++mean.visits;
      if (reward) mean.value += (value_of(*reward) - mean.value) / double(mean.visits);
    }
  }

  // v± of a state by all its children.
  void back_up(NodeId id, bool is_max) {
    const double worst = is_max ? -infinite : infinite;
    Range range = {worst, worst};
    bool any_met = false;
    for (const Edge& edge : tree_.edges(id)) {
      const Range& child = known(edge.child).range;
      range = is_max
                  ? Range{std::max(range.lower, child.lower), std::max(range.upper, child.upper)}
                  : Range{std::min(range.lower, child.lower), std::min(range.upper, child.upper)};
      any_met |= tree_.node(edge.child).is(met);
    }
    known(id).range.narrow(range);
    tree_.node(id).set(met, any_met);
  }

  // By the ranges, then by visits; of uct by visits alone, then by the mean.
  std::size_t decided(NodeId id, bool is_max) const {
    const auto edges = tree_.edges(id);
    const auto rank = [&](const Edge& edge) {
      const Range& range = known(edge.child).range;
      const double visits = double(means_[edge.child].visits), mean = means_[edge.child].value;
      if (is_uct()) return std::array{visits, is_max ? mean : -mean, 0.0};
      return is_max ? std::array{range.lower, range.upper, visits}
                    : std::array{-range.upper, -range.lower, visits};
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < edges.size(); ++i)
      if (rank(edges[i]) > rank(edges[best])) best = i;
    return best;
  }

  Answer partial() const override {
    if (root_ == no_node || !tree_.node(root_).is(Node::expanded)) return IntervalSearch::partial();
    Answer answer;
    for (const Edge& edge : tree_.edges(root_)) {
      answer.actions.push_back(edge.action);
      answer.ranges.push_back(known(edge.child).range);
      answer.visits.push_back(edge.selections);
    }
    const auto state = root_state_->clone();
    answer.best = decided(root_, game_->to_move(*state) == 0);
    for (NodeId id = root_; tree_.node(id).is(Node::expanded);) {
      const Edge& edge = tree_.edges(id)[decided(id, game_->to_move(*state) == 0)];
      answer.line.push_back(edge.action);
      game_->play(*state, edge.action);
      id = edge.child;
    }
    const Range& range = known(root_).range;
    answer.exact = !is_uct() && range.closed() && !tree_.node(root_).is(met);
    answer.x = is_uct() ? means_[root_].value : likely(range);
    return answer;
  }

  NodeId root_ = no_node;
  Random random_;
  std::vector<Mean> means_;  // of each node
  std::vector<Step> path_;
};

}  // namespace

extern const SearchType rollout_type;
const SearchType rollout_type = {
    .name = "rollout",
    .about = "minimax by rollouts within open windows; by its policy alpha-beta, MT-SSS* or UCT",
    .options = interval_options(
        {"policy", "lambda", "mirror_min", "informed", "child_batching", "memory_mb"}),
    .make =
        [](SearchInput input, const Options& options) {
          return std::make_shared<Rollout>(std::move(input), interval_settings(options));
        },
    .needs_budget = false,
    .consults = true,
};

}  // namespace athenan
