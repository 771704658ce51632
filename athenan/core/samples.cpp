#include "core/samples.h"

#include <algorithm>
#include <memory>

namespace athenan {

void Samples::add(const Game& game, const State& state, float value) {
  const std::size_t bits = game.facts().plane_bytes();
  bytes_per_state = (bits + 7) / 8;
  scratch_.resize(bits);
  game.planes(state, scratch_.data());
  const std::size_t first = planes.size();
  planes.resize(first + bytes_per_state);
  for (std::size_t i = 0; i < bits; ++i)
    planes[first + i / 8] |= std::uint8_t(scratch_[i] << (7 - i % 8));
  values.push_back(value);
}

void add_tree_samples(Samples& samples, const UnboundedSearch& search,
                      const std::vector<bool>& leave_out) {
  const Game& game = search.game();
  const auto& tree = search.tree();
  const float scale = 1 / float(search.terminal_evaluation().bound());
  const NodeId first = tree.find(search.origin_key());
  if (first == no_node) return;
  std::vector<bool> seen(tree.num_nodes());
  std::vector<std::pair<NodeId, std::unique_ptr<State>>> waiting;
  seen[first] = true;
  waiting.emplace_back(first, search.origin().clone());
  while (!waiting.empty()) {
    const auto [id, state] = std::move(waiting.back());
    waiting.pop_back();
    const Node& node = tree.node(id);
    if (leave_out.empty() || !leave_out[id]) {
      samples.add(game, *state, node.value * scale);
      samples.resolved += node.is(Node::resolved);
    }
    for (const Edge& edge : tree.edges(id)) {
      const Node& child = tree.node(edge.child);
      const bool has_label =
          child.is(Node::expanded) || child.is(Node::terminal) || child.is(Node::remembered);
      if (seen[edge.child] || !has_label) continue;
      seen[edge.child] = true;
      auto next = state->clone();
      game.play(*next, edge.action);
      waiting.emplace_back(edge.child, std::move(next));
    }
  }
}

Labels::Labels(std::shared_ptr<UnboundedSearch> search) : search_(std::move(search)) {
  search_->before_dropping(
      [this](const auto& stays) { add_tree_samples(dropped_, *search_, stays); });
}

Labels::~Labels() { search_->before_dropping({}); }

Samples Labels::all() const {
  Samples samples = dropped_;
  add_tree_samples(samples, *search_);
  return samples;
}

Samples random_ending_samples(const Game& game, const TerminalEvaluation& evaluation,
                              std::size_t count, std::uint64_t seed) {
  Samples samples;
  Random random(seed);
  Actions actions;
  const auto start = game.initial_state();
  const auto state = start->clone();
  for (std::size_t i = 0; i < count; ++i) {
    state->assign(*start);
    Mobility mobility;
    if (evaluation.uses_mobility()) {
      while (!game.is_terminal(*state)) {
        game.legal_actions(*state, actions);
        mobility.add(game.to_move(*state), actions.size());
        game.play(*state, actions[random.below(std::uint32_t(actions.size()))]);
      }
    } else {
      game.playout(*state, random);
    }
    const float value = evaluation(game.ending(*state), game.ply(*state), mobility);
    samples.add(game, *state, value / float(evaluation.bound()));
  }
  return samples;
}

}  // namespace athenan
