#include "core/search.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/samples.h"

namespace athenan {
namespace {

constexpr Action stop_coin = 0xFFFFFFFF;  // the "action" that ContinueRule::chance hashes

// In the view of the player who chooses: larger is better.
int sign_of(int player) { return player == 0 ? 1 : -1; }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Search::Search(std::shared_ptr<const Game> game, SearchSettings settings)
    : game_(std::move(game)),
      settings_(settings),
      terminal_evaluation_(*game_, settings.heuristic, settings.longest),
      tree_(settings.memory_bytes) {
  if (game_->facts().num_players != 2)
    throw std::invalid_argument("This search is for two players; game '" + game_->facts().name +
                                "' has " + std::to_string(game_->facts().num_players) + ".");
  root_state_ = game_->initial_state();
  state_ = root_state_->clone();
  rollout_state_ = root_state_->clone();
  origin_ = root_state_->clone();
  dropped_ = std::make_unique<Samples>();
}

Search::~Search() = default;

void Search::clear() {
  task_ = {};
  request_ = {};
  new_nodes_.clear();
  tree_.clear();
  *dropped_ = {};
  root_ = no_node;
}

void Search::restore(const SearchTree::Saved& tree, const State& origin, const Key& origin_key,
                     Samples dropped) {
  clear();
  tree_.restore(tree);
  origin_->assign(origin);
  origin_key_ = origin_key;
  *dropped_ = std::move(dropped);
}

Key Search::key_of(const State& state) const {
  return game_->key(state) ^ terminal_evaluation_.key(game_->ply(state), mobility_);
}

void Search::start(const State& root, Budget budget, const Mobility& mobility) {
  task_ = {};
  request_ = {};
  counts_ = {};
  if (!new_nodes_.empty()) {  // an error has interrupted their evaluation
    tree_.take_back(path_.back(), new_nodes_.front());
    new_nodes_.clear();
  }
  stopped_ = out_of_memory_ = false;
  started_ = std::chrono::steady_clock::now();
  root_state_->assign(root);
  root_mobility_ = mobility_ = mobility;
  root_player_ = game_->to_move(root);
  const Key key = key_of(root);
  if (tree_.num_nodes() == 0) {
    origin_->assign(root);
    origin_key_ = key;
  }
  root_ = tree_.find(key);
  if (root_ == no_node) root_ = tree_.add(key);
  Node& node = tree_.node(root_);
  if (game_->is_terminal(root)) {
    const auto ending = game_->ending(root);
    node.completion = ending.outcome[0];
    node.value = terminal_evaluation_(ending, game_->ply(root), mobility_);
    node.set(Node::terminal, true);
    node.set(Node::resolved, true);
  } else if (!node.is(Node::expanded)) {
    node.set(Node::resolved, false);  // known, but its children are not: search it like any other
  }
  task_ = run(budget);
}

bool Search::spent(const Budget& budget) const {
  return stopped_ || (budget.iterations && counts_.iterations >= budget.iterations) ||
         (budget.evaluations && counts_.charged >= budget.evaluations) ||
         (budget.seconds > 0 && seconds_since(started_) >= budget.seconds);
}

Task Search::run(Budget budget) {
  while (!tree_.node(root_).is(Node::resolved) && !spent(budget) && !out_of_memory_) {
    const std::uint64_t charged_before = counts_.charged;
    std::uint32_t new_states = 0;
    NodeId id = root_;
    int player = root_player_;
    state_->assign(*root_state_);
    mobility_ = root_mobility_;
    path_.clear();
    players_.clear();

    // 1. Go down to the end of the line that this iteration explores.
    while (true) {
      const bool expands = !tree_.node(id).is(Node::expanded);
      if (expands && budget.evaluations && counts_.charged >= budget.evaluations) break;
      path_.push_back(id);
      players_.push_back(player);
      if (expands) {
        if (!add_children(id)) {
          path_.pop_back();
          players_.pop_back();
          break;
        }
        if (settings_.evaluator == EvaluatorKind::external) {
          request_ = {game_.get(), state_.get(), new_actions_, new_values_};
          co_await request_;
        } else {
          evaluate_new_children();
        }
        assign_values();
        back_up(id, player);
        ++new_states;
      }
      if (tree_.node(id).is(Node::resolved)) break;
      if (expands && !goes_on(id, new_states)) break;
      const auto chosen = child_to_explore(id, player);
      if (!chosen) break;  // all children were resolved by way of other parents
      Edge& edge = tree_.edges(id)[*chosen];
      ++edge.selections;
      if (terminal_evaluation_.uses_mobility()) mobility_.add(player, tree_.edges(id).size());
      if (tree_.node(edge.child).is(Node::terminal)) break;  // only without completion
      game_->play(*state_, edge.action);
      id = edge.child;
      player = game_->to_move(*state_);
    }

    // 2. Back up to the root.
    for (std::size_t i = path_.size(); i-- > 0;) back_up(path_[i], players_[i]);
    ++counts_.iterations;
    if (counts_.charged == charged_before) ++counts_.charged;
  }
}

// expand(s): all children join the table; terminal ones with their exact values, known ones with
// what is known, and the others are listed as new.
bool Search::add_children(NodeId& id) {
  game_->expand(*state_, children_);
  const std::size_t size = children_.size();
  if (!make_room(size)) {
    out_of_memory_ = true;
    return false;
  }
  id = path_.back();
  const int ply = game_->ply(*state_) + 1;
  Mobility mobility = mobility_;
  mobility.add(players_.back(), size);
  const Key extra = terminal_evaluation_.key(ply, mobility);
  for (auto& key : children_.keys) {
    key ^= extra;
    tree_.prefetch(key);
  }
  new_keys_.clear();
  new_nodes_.clear();
  new_actions_.clear();
  const auto edges = tree_.add_edges(id, size);
  for (std::size_t i = 0; i < size; ++i) {
    NodeId child = tree_.find(children_.keys[i]);
    if (child == no_node) {
      child = tree_.add(children_.keys[i]);
      Node& node = tree_.node(child);
      if (children_.terminal[i]) {
        node.completion = settings_.completion ? children_.endings[i].outcome[0] : 0;
        node.value = terminal_evaluation_(children_.endings[i], ply, mobility);
        node.flags = Node::terminal | Node::resolved;
      } else if (const auto* known = memory_ ? memory_->find(children_.keys[i]) : nullptr) {
        node.completion = known->completion;
        node.value = known->value;
        node.flags = Node::resolved;
      } else {
        new_keys_.push_back(children_.keys[i]);
        new_nodes_.push_back(child);
        new_actions_.push_back(children_.actions[i]);
      }
    }
    edges[i] = {child, children_.actions[i], 0};
  }
  new_values_.resize(new_nodes_.size());
  counts_.children += size;
  counts_.evaluations += new_nodes_.size();
  counts_.charged += new_nodes_.size();
  ++counts_.expanded;
  return true;
}

// When something has to go, all that is not below the root goes too.
bool Search::make_room(std::size_t children) {
  const bool made = tree_.make_room(children, path_, [this](const auto& stays) {
    if (keeps_labels_) add_tree_samples(*dropped_, *this, stays);
    origin_->assign(*root_state_);
    origin_key_ = tree_.node(path_.front()).full_key();
  });
  root_ = path_.front();
  return made;
}

void Search::evaluate_new_children() {
  for (std::size_t i = 0; i < new_keys_.size(); ++i) {
    switch (settings_.evaluator) {
      case EvaluatorKind::hash: new_values_[i] = hash_value(new_keys_[i]); break;
      case EvaluatorKind::rollout: {
        Random random(mix(settings_.seed) ^ new_keys_[i].low);
        double sum = 0;
        for (std::uint32_t n = 0; n < settings_.rollouts; ++n) {
          rollout_state_->assign(*state_);
          game_->play(*rollout_state_, new_actions_[i]);
          game_->playout(*rollout_state_, random);
          sum += game_->ending(*rollout_state_).outcome[0];
        }
        new_values_[i] = float(sum / settings_.rollouts);
        break;
      }
      case EvaluatorKind::zero:
      case EvaluatorKind::external: new_values_[i] = 0; break;
    }
  }
}

// Evaluators answer in [-1, 1]; values are on the scale of f_t. Then no child is new any more.
void Search::assign_values() {
  const auto bound = float(terminal_evaluation_.bound());
  for (std::size_t i = 0; i < new_nodes_.size(); ++i)
    tree_.node(new_nodes_[i]).value = bound * new_values_[i];
  new_nodes_.clear();
}

void Search::back_up(NodeId id, int player) {
  const int sign = sign_of(player);
  int best_completion = -2;
  float best_value = 0;
  bool all_resolved = true;
  for (const Edge& edge : tree_.edges(id)) {
    const Node& child = tree_.node(edge.child);
    const int completion = sign * child.completion;
    const float value = float(sign) * child.value;
    all_resolved &= child.is(Node::resolved);
    if (completion > best_completion || (completion == best_completion && value > best_value)) {
      best_completion = completion;
      best_value = value;
    }
  }
  Node& node = tree_.node(id);
  node.completion = std::int8_t(sign * best_completion);
  node.value = float(sign) * best_value;
  const bool won_or_lost = best_completion != 0 && !settings_.strong;
  node.set(Node::resolved, settings_.completion && (won_or_lost || all_resolved));
}

// Any implementation can agree on it: it depends on nothing but its arguments.
std::uint64_t Search::tie_break(const Key& parent, Action action, std::uint64_t visits) const {
  return mix(mix(mix(settings_.seed) ^ parent.low) ^ mix((visits << 32) ^ action));
}

std::optional<std::size_t> Search::child_to_explore(NodeId id, int player) const {
  const auto edges = tree_.edges(id);
  const int sign = sign_of(player);
  std::uint64_t visits = 0;
  for (const Edge& edge : edges) visits += edge.selections;
  const Key key = tree_.node(id).full_key();

  std::optional<std::size_t> best;
  int best_completion = 0;
  float best_value = 0;
  std::uint32_t best_selections = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Node& child = tree_.node(edges[i].child);
    if (settings_.completion && child.is(Node::resolved)) continue;
    const bool by_value = settings_.order == ChildOrder::best;
    const int completion = by_value ? sign * child.completion : 0;
    const float value = by_value ? float(sign) * child.value : 0;
    const std::uint32_t selections =
        settings_.order == ChildOrder::random ? 0 : edges[i].selections;
    bool better = !best;
    if (best) {
      if (completion != best_completion)
        better = completion > best_completion;
      else if (value != best_value)
        better = value > best_value;
      else if (selections != best_selections)
        better = selections < best_selections;
      else
        better =
            tie_break(key, edges[i].action, visits) > tie_break(key, edges[*best].action, visits);
    }
    if (!better) continue;
    best = i;
    best_completion = completion;
    best_value = value;
    best_selections = selections;
  }
  return best;
}

bool Search::goes_on(NodeId id, std::uint32_t new_states) const {
  switch (settings_.continue_rule) {
    case ContinueRule::never: return false;
    case ContinueRule::always: return true;
    case ContinueRule::at_most: return new_states < settings_.new_states;
    case ContinueRule::chance: {
      const auto coin = tie_break(tree_.node(id).full_key(), stop_coin, 0);
      return double(coin >> 11) * 0x1p-53 >= settings_.stop_probability;
    }
  }
  return false;
}

std::size_t Search::decided_edge(NodeId id, int player, Decision decision) const {
  const auto edges = tree_.edges(id);
  const int sign = sign_of(player);
  const Key key = tree_.node(id).full_key();
  // best: (c, v, n); safest: (c, n, v)
  const auto rank = [&](const Edge& edge) {
    const Node& child = tree_.node(edge.child);
    const double value = sign * double(child.value), selections = edge.selections;
    const bool safest = decision == Decision::safest;
    return std::array<double, 3>{double(sign * child.completion), safest ? selections : value,
                                 safest ? value : selections};
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    const auto a = rank(edges[i]), b = rank(edges[best]);
    if (a > b ||
        (a == b && tie_break(key, edges[i].action, 0) > tie_break(key, edges[best].action, 0)))
      best = i;
  }
  return best;
}

std::optional<Action> Search::decision() const {
  if (root_ == no_node || !root().is(Node::expanded)) return std::nullopt;
  return tree_.edges(root_)[decided_edge(root_, root_player_, settings_.decision)].action;
}

std::vector<Action> Search::principal_variation() const {
  std::vector<Action> line;
  const auto state = root_state_->clone();
  NodeId id = root_;
  while (id != no_node && tree_.node(id).is(Node::expanded) && tree_.node(id).num_edges) {
    const auto& edge = tree_.edges(id)[decided_edge(id, game_->to_move(*state), Decision::best)];
    line.push_back(edge.action);
    game_->play(*state, edge.action);
    id = edge.child;
  }
  return line;
}

}  // namespace athenan
