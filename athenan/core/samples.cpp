#include "core/samples.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace athenan {

void Samples::add(const Game& game, const State& state, const PerPlayer<float>& value) {
  const std::size_t bits = game.facts().plane_bytes();
  bytes_per_state = (bits + 7) / 8;
  scratch_.resize(bits);
  game.planes(state, scratch_.data());
  const std::size_t first = planes.size();
  planes.resize(first + bytes_per_state);
  for (std::size_t i = 0; i < bits; ++i)
    planes[first + i / 8] |= std::uint8_t(scratch_[i] << (7 - i % 8));
  width = std::size_t(value.size);
  values.insert(values.end(), value.of.begin(), value.of.begin() + value.size);
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
      const bool learned_end = node.is(Node::terminal) && !search.settings().exact_ends;
      auto value = learned_end ? search.terminal_evaluation().of_each(game.ending(*state),
                                                                      game.ply(*state), {})
                               : search.value_of(id);
      for (float& of : value.of) of *= scale;
      samples.add(game, *state, value);
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
    auto value = evaluation.of_each(game.ending(*state), game.ply(*state), mobility);
    for (float& of : value.of) of /= float(evaluation.bound());
    samples.add(game, *state, value);
  }
  return samples;
}

}  // namespace athenan
