#include "core/uct.h"

#include <cmath>

namespace athenan {

Uct::Uct(const Game& game, double exploration, std::uint64_t seed)
    : game_(game), exploration_(exploration), random_(seed), state_(game.initial_state()) {}

std::uint32_t Uct::add_node(const State& state) {
  Node node;
  node.player = game_.to_move(state);
  game_.legal_actions(state, actions_);
  for (Action action : actions_) node.children.push_back({action});
  node.nodes.resize(actions_.size());
  nodes_.push_back(std::move(node));
  return std::uint32_t(nodes_.size() - 1);
}

void Uct::run(const State& root, std::uint64_t rollouts) {
  nodes_.clear();
  add_node(root);
  for (std::uint64_t i = 0; i < rollouts; ++i) rollout(root);
}

// An unvisited child at random, otherwise the largest μ + λ √(ln n_s / n_c).
std::size_t Uct::choose(const Node& node) {
  std::size_t best = 0, unvisited = 0;
  double best_score = -1e300;
  const double log_visits = std::log(double(node.visits) + 1);
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Child& child = node.children[i];
    if (child.visits == 0) {
      if (random_.below(std::uint32_t(++unvisited)) == 0) best = i;
      continue;
    }
    if (unvisited) continue;
    const double score = child.mean() + exploration_ * std::sqrt(log_visits / double(child.visits));
    if (score > best_score) {
      best_score = score;
      best = i;
    }
  }
  return best;
}

void Uct::rollout(const State& root) {
  state_->assign(root);
  path_.clear();
  std::uint32_t id = 0;
  while (true) {
    const std::size_t chosen = choose(nodes_[id]);
    path_.emplace_back(id, chosen);
    game_.play(*state_, nodes_[id].children[chosen].action);
    if (game_.is_terminal(*state_)) break;
    if (nodes_[id].nodes[chosen] == 0) {
      const std::uint32_t made = add_node(*state_);
      nodes_[id].nodes[chosen] = made;
      game_.playout(*state_, random_);
      break;
    }
    id = nodes_[id].nodes[chosen];
  }
  const Ending ending = game_.ending(*state_);
  for (const auto& [node_id, chosen] : path_) {
    Node& node = nodes_[node_id];
    ++node.visits;
    ++node.children[chosen].visits;
    node.children[chosen].total += ending.outcome[node.player];
  }
}

Action Uct::decision() const {
  const Child* best = &children().front();
  for (const Child& child : children())
    if (child.visits > best->visits ||
        (child.visits == best->visits && child.mean() > best->mean()))
      best = &child;
  return best->action;
}

}  // namespace athenan
