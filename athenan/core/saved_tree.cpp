#include "core/saved_tree.h"

#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace athenan {
namespace {

void demand(bool truth) {
  if (!truth) throw std::invalid_argument("This is not a saved tree of this game.");
}

}  // namespace

void SavedTreeCheck::check(const SearchTree& tree, const Game& game,
                           const TerminalEvaluation& evaluation, const State& origin,
                           const Key& origin_key, bool transpositions) {
  clear();
  transpositions_ = transpositions;
  if (tree.num_nodes() == 0) return;
  for (NodeId id = 0; id < tree.num_nodes(); ++id)
    if (tree.node(id).is(Node::expanded)) doubtful_.insert(tree.node(id).full_key());
  const NodeId first = tree.find(origin_key);
  demand(first != no_node);
  const bool told = !evaluation.uses_mobility();
  walk(tree, game, evaluation, origin, told ? std::optional<Mobility>(Mobility{}) : std::nullopt,
       first);
}

void SavedTreeCheck::check_met(const SearchTree& tree, const Game& game,
                               const TerminalEvaluation& evaluation, const State& state,
                               const Mobility& mobility, NodeId id) {
  if (doubtful_.contains(tree.node(id).full_key()))
    walk(tree, game, evaluation, state, mobility, id);
}

void SavedTreeCheck::walk(const SearchTree& tree, const Game& game,
                          const TerminalEvaluation& evaluation, const State& state,
                          const std::optional<Mobility>& mobility, NodeId first) {
  struct Waiting {
    NodeId id;
    std::unique_ptr<State> state;
    Mobility mobility;
  };
  std::vector<Waiting> waiting;
  std::unordered_map<NodeId, Key> game_keys;  // one node is one state of the game in any case
  // By its edge and its parent, but for the first.
  const auto meet = [&](NodeId id, const Key& key, bool over, int ply, const Mobility& so_far,
                        const Edge* edge, NodeId parent) {
    const Node& node = tree.node(id);
    demand(node.is(Node::terminal) == over);
    if (mobility) {
      const Key of_state = key ^ evaluation.key(ply, so_far);
      if (transpositions_)
        demand(node.full_key() == of_state);
      else if (edge)  // of the line to the first, its key is all that is known
        demand(node.full_key() == line_key(tree.node(parent).full_key(), edge->action, of_state));
      return doubtful_.erase(node.full_key()) > 0;
    }
    const auto [known, is_new] = game_keys.emplace(id, key);
    demand(known->second == key);
    return is_new && node.is(Node::expanded);
  };
  const Mobility none;
  if (meet(first, game.key(state), game.is_terminal(state), game.ply(state),
           mobility.value_or(none), nullptr, no_node))
    waiting.push_back({first, state.clone(), mobility.value_or(none)});
  Children children;
  while (!waiting.empty()) {
    Waiting at = std::move(waiting.back());
    waiting.pop_back();
    const int ply = game.ply(*at.state) + 1;
    const auto edges = tree.edges(at.id);
    game.expand(*at.state, children);
    demand(children.size() == edges.size());
    at.mobility.add(game.to_move(*at.state), edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      demand(edges[i].action == children.actions[i]);
      if (!meet(edges[i].child, children.keys[i], children.terminal[i], ply, at.mobility, &edges[i],
                at.id))
        continue;
      auto next = at.state->clone();
      game.play(*next, edges[i].action);
      waiting.push_back({edges[i].child, std::move(next), at.mobility});
    }
  }
}

}  // namespace athenan
