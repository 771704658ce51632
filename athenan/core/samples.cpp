#include "core/samples.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace athenan {

void Samples::add_planes(const Game& game, const State& state) {
  const std::size_t bits = game.facts().plane_bytes();
  bytes_per_state = (bits + 7) / 8;
  scratch_.resize(bits);
  game.planes(state, scratch_.data());
  const std::size_t first = planes.size();
  planes.resize(first + bytes_per_state);
  for (std::size_t i = 0; i < bits; ++i)
    planes[first + i / 8] |= std::uint8_t(scratch_[i] << (7 - i % 8));
}

void Samples::add(const Game& game, const State& state, const PerPlayer<float>& value) {
  add_planes(game, state);
  width = std::size_t(value.size);
  values.insert(values.end(), value.of.begin(), value.of.begin() + value.size);
}

void Samples::add(const Game& game, const State& state, const Actions& of,
                  std::span<const float> their) {
  add_planes(game, state);
  labels.push_back(std::int32_t(of.size()));
  actions.insert(actions.end(), of.begin(), of.end());
  values.insert(values.end(), their.begin(), their.end());
}

namespace {

bool has_label(const Node& node) {
  return node.is(Node::expanded) || node.is(Node::terminal) || node.is(Node::remembered);
}

// v / bound of a node of the tree, which stands for the state.
PerPlayer<float> label_of(const UnboundedSearch& search, NodeId id, const State& state) {
  const auto& evaluation = search.terminal_evaluation();
  const Game& game = search.game();
  const bool learned_end =
      search.tree().node(id).is(Node::terminal) && !search.settings().exact_ends;
  auto value = learned_end ? evaluation.of_each(game.ending(state), game.ply(state), {})
                           : search.value_of(id);
  const float scale = 1 / float(evaluation.bound());
  for (float& of : value.of) of *= scale;
  return value;
}

// Calls visit(node, state) for each labelled state below the search's origin.
template <class Visit>
void visit_labelled(const UnboundedSearch& search, Visit visit) {
  const auto& tree = search.tree();
  const NodeId first = tree.find(search.origin_key());
  if (first == no_node) return;
  std::vector<bool> seen(tree.num_nodes());
  std::vector<std::pair<NodeId, std::unique_ptr<State>>> waiting;
  seen[first] = true;
  waiting.emplace_back(first, search.origin().clone());
  while (!waiting.empty()) {
    const auto [id, state] = std::move(waiting.back());
    waiting.pop_back();
    visit(id, *state);
    for (const Edge& edge : tree.edges(id)) {
      if (seen[edge.child] || !has_label(tree.node(edge.child))) continue;
      seen[edge.child] = true;
      auto next = state->clone();
      search.game().play(*next, edge.action);
      waiting.emplace_back(edge.child, std::move(next));
    }
  }
}

// A label goes with its parent as soon as either of them goes.
void add_child_samples(Samples& samples, const UnboundedSearch& search,
                       const std::vector<bool>& stays) {
  const Game& game = search.game();
  const auto& tree = search.tree();
  Actions actions;
  std::vector<float> values;
  const auto child = search.origin().clone();
  visit_labelled(search, [&](NodeId id, const State& state) {
    actions.clear();
    values.clear();
    for (const Edge& edge : tree.edges(id)) {
      const Node& node = tree.node(edge.child);
      if (!has_label(node) || (!stays.empty() && stays[id] && stays[edge.child])) continue;
      child->assign(state);
      game.play(*child, edge.action);
      actions.push_back(edge.action);
      values.push_back(label_of(search, edge.child, *child).of[0]);
      samples.resolved += node.is(Node::resolved);
    }
    if (!actions.empty()) samples.add(game, state, actions, values);
  });
}

}  // namespace

void add_tree_samples(Samples& samples, const UnboundedSearch& search,
                      const std::vector<bool>& stays) {
  if (samples.of_children) {
    add_child_samples(samples, search, stays);
    return;
  }
  visit_labelled(search, [&](NodeId id, const State& state) {
    if (!stays.empty() && stays[id]) return;
    samples.add(search.game(), state, label_of(search, id, state));
    samples.resolved += search.tree().node(id).is(Node::resolved);
  });
}

Labels::Labels(std::shared_ptr<UnboundedSearch> search) : search_(std::move(search)) {
  clear();
  search_->before_dropping(
      [this](const auto& stays) { add_tree_samples(dropped_, *search_, stays); });
}

Labels::~Labels() { search_->before_dropping({}); }

Samples Labels::empty() const {
  Samples samples;
  samples.of_children = search_->evaluator().of_children;
  return samples;
}

Samples Labels::all() const {
  Samples samples = dropped_;
  add_tree_samples(samples, *search_);
  return samples;
}

std::vector<std::uint8_t> unpack_planes(std::span<const std::uint8_t> packed, std::size_t bits,
                                        std::span<const std::uint32_t> tables,
                                        std::span<const std::int64_t> chosen) {
  const std::size_t bytes = (bits + 7) / 8, symmetries = bits ? tables.size() / bits : 0;
  if (packed.size() != chosen.size() * bytes || tables.size() != symmetries * bits)
    throw std::invalid_argument("Packed planes, tables and choices do not fit each other.");
  for (std::uint32_t from : tables)
    if (from >= bits) throw std::invalid_argument("A table leads to bits that there are not.");
  for (std::int64_t k : chosen)
    if (k < 0 || std::size_t(k) >= symmetries)
      throw std::invalid_argument("A state is to be in a symmetry that there is not.");
  std::vector<std::uint8_t> planes(chosen.size() * bits), plain(bytes * 8);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (std::size_t byte = 0; byte < bytes; ++byte)
      for (std::size_t bit = 0; bit < 8; ++bit)
        plain[byte * 8 + bit] = (packed[i * bytes + byte] >> (7 - bit)) & 1;
    const std::uint32_t* from = tables.data() + std::size_t(chosen[i]) * bits;
    std::uint8_t* out = planes.data() + i * bits;
    for (std::size_t bit = 0; bit < bits; ++bit) out[bit] = plain[from[bit]];
  }
  return planes;
}

Samples random_ending_samples(const Game& game, const TerminalEvaluation& evaluation,
                              std::size_t count, std::uint64_t seed, bool of_children) {
  Samples samples;
  samples.of_children = of_children;
  Random random(seed);
  Actions actions, line;
  const auto start = game.initial_state();
  const auto state = start->clone();
  for (std::size_t i = 0; i < count; ++i) {
    state->assign(*start);
    Mobility mobility;
    line.clear();
    if (evaluation.uses_mobility()) {
      while (!game.is_terminal(*state)) {
        game.legal_actions(*state, actions);
        mobility.add(game.to_move(*state), actions.size());
        line.push_back(actions[random.below(std::uint32_t(actions.size()))]);
        game.play(*state, line.back());
      }
    } else if (of_children) {
      while (!game.is_terminal(*state)) {
        line.push_back(game.random_action(*state, random));
        game.play(*state, line.back());
      }
    } else {
      game.playout(*state, random);
    }
    auto value = evaluation.of_each(game.ending(*state), game.ply(*state), mobility);
    for (float& of : value.of) of /= float(evaluation.bound());
    if (!of_children) {
      samples.add(game, *state, value);
      continue;
    }
    const std::size_t left = i % 2 && line.size() > 1 ? 2 : 1;  // actions, from the labelled one
    state->assign(*start);
    for (std::size_t ply = 0; ply + left < line.size(); ++ply) game.play(*state, line[ply]);
    samples.add(game, *state, {line[line.size() - left]}, {value.of.data(), 1});
  }
  return samples;
}

}  // namespace athenan
