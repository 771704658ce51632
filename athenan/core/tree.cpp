#include "core/tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace athenan {
namespace {

constexpr std::size_t first_slots = 64;

// The table is at most 7/8 full and grows by 7/5, so that a node costs 5.7 to 8 bytes of it.
std::size_t slots_for(std::size_t nodes) { return nodes * 8 / 7 + 8; }
std::size_t grown(std::size_t slots) { return slots * 7 / 5; }

std::uint8_t tag_of(const Key& key) { return std::uint8_t(key.high) | 1; }

std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  __extension__ typedef unsigned __int128 Wide;
  return std::uint64_t((Wide(a) * b) >> 64);
}

}  // namespace

std::size_t SearchTree::bytes() const {
  return bytes_for(nodes_.size(), edges_.size(), tags_.size());
}

std::size_t SearchTree::slot_of(const Key& key) const {
  return std::size_t(high_product(key.low, tags_.size()));
}

void SearchTree::prefetch(const Key& key) const {
  if (tags_.size() == 0) return;
  const auto slot = slot_of(key);
  __builtin_prefetch(tags_.data() + slot);
  __builtin_prefetch(slots_.data() + slot);
}

NodeId SearchTree::find(const Key& key) const {
  if (tags_.size() == 0) return no_node;
  const auto tag = tag_of(key);
  for (std::size_t slot = slot_of(key); tags_[slot]; slot = slot + 1 < tags_.size() ? slot + 1 : 0)
    if (tags_[slot] == tag && nodes_[slots_[slot]].full_key() == key) return slots_[slot];
  return no_node;
}

void SearchTree::place(NodeId id) {
  const Key key = nodes_[id].full_key();
  std::size_t slot = slot_of(key);
  while (tags_[slot]) slot = slot + 1 < tags_.size() ? slot + 1 : 0;
  tags_[slot] = tag_of(key);
  slots_[slot] = id;
}

void SearchTree::rebuild_index(std::size_t slots) {
  slots_.resize(slots);
  tags_.resize(slots);
  std::fill_n(tags_.data(), slots, std::uint8_t(0));
  constexpr std::size_t ahead = 16;  // slots are far apart: ask for them early
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (i + ahead < nodes_.size()) prefetch(nodes_[i + ahead].full_key());
    place(NodeId(i));
  }
}

void SearchTree::grow_index(std::size_t nodes) {
  if (slots_for(nodes) <= tags_.size()) return;
  rebuild_index(std::max({first_slots, slots_for(nodes), grown(tags_.size())}));
}

void SearchTree::resize_nodes(std::size_t nodes) {
  nodes_.resize(nodes);
  if (!has_vectors()) return;
  values_.resize(nodes * players_);
  completions_.resize(nodes * players_);
}

NodeId SearchTree::add(const Key& key) {
  if (nodes_.size() >= no_node)
    throw std::length_error("A search tree holds at most 4,294,967,295 states.");
  const auto id = NodeId(nodes_.size());
  grow_index(std::size_t(id) + 1);
  resize_nodes(std::size_t(id) + 1);
  Node& node = nodes_[id];
  node = Node{};
  node.key[0] = std::uint32_t(key.low);
  node.key[1] = std::uint32_t(key.low >> 32);
  node.key[2] = std::uint32_t(key.high);
  node.key[3] = std::uint32_t(key.high >> 32);
  std::ranges::fill(values(id), 0.0f);
  std::ranges::fill(completions(id), std::int8_t(0));
  place(id);
  return id;
}

std::span<Edge> SearchTree::add_edges(NodeId parent, std::size_t count) {
  const std::size_t first = edges_.size();
  edges_.resize(first + count);
  nodes_[parent].first_edge = std::uint32_t(first);
  nodes_[parent].num_edges = std::uint16_t(count);
  nodes_[parent].set(Node::expanded, true);
  return edges(parent);
}

void SearchTree::take_back(NodeId parent, NodeId first) {
  Node& node = nodes_[parent];
  edges_.resize(node.first_edge);
  node.num_edges = 0;
  node.set(Node::expanded, false);
  resize_nodes(first);
  rebuild_index(tags_.size());
}

void SearchTree::clear() {
  resize_nodes(0);
  edges_.clear();
  tags_.clear();
  slots_.clear();
}

SearchTree::Saved SearchTree::save() const {
  return {{nodes_.data(), nodes_.data() + nodes_.size()},
          {edges_.data(), edges_.data() + edges_.size()},
          {values_.data(), values_.data() + values_.size()},
          {completions_.data(), completions_.data() + completions_.size()},
          tags_.size()};
}

void SearchTree::restore(const Saved& saved) {
  const auto demand = [](bool truth) {
    if (!truth) throw std::invalid_argument("This is not a saved tree.");
  };
  demand(saved.nodes.size() < no_node && saved.edges.size() <= no_node);
  demand(saved.values.size() == saved.nodes.size() * players_ &&
         saved.completions.size() == saved.values.size());
  for (float value : saved.values) demand(std::isfinite(value));
  for (int completion : saved.completions) demand(std::abs(completion) <= 1);
  std::vector<bool> owned(saved.edges.size());  // each edge belongs to one node
  std::size_t owned_edges = 0;
  for (const Node& node : saved.nodes) {
    demand(std::isfinite(node.value) && std::abs(node.completion) <= 1);
    demand(node.is(Node::expanded) == (node.num_edges > 0));
    demand(!(node.is(Node::expanded) && node.is(Node::terminal)));
    demand(std::size_t(node.first_edge) + node.num_edges <= saved.edges.size() || !node.num_edges);
    for (std::size_t i = 0; i < node.num_edges; ++i) {
      demand(!owned[node.first_edge + i]);
      owned[node.first_edge + i] = true;
    }
    owned_edges += node.num_edges;
  }
  demand(owned_edges == saved.edges.size());
  for (const Edge& edge : saved.edges) demand(edge.child < saved.nodes.size());
  // The index may have grown with the first state beyond the budget, but no further.
  demand(slots_for(saved.nodes.size()) <= saved.slots || saved.nodes.empty());
  demand(saved.slots <=
         std::max({2 * (budget_ / 5), first_slots, grown(slots_for(saved.nodes.size()))}));
  clear();
  resize_nodes(saved.nodes.size());
  edges_.resize(saved.edges.size());
  std::copy(saved.nodes.begin(), saved.nodes.end(), nodes_.data());
  std::copy(saved.values.begin(), saved.values.end(), values_.data());
  std::copy(saved.completions.begin(), saved.completions.end(), completions_.data());
  std::copy(saved.edges.begin(), saved.edges.end(), edges_.data());
  rebuild_index(saved.slots);
  for (NodeId id = 0; id < nodes_.size(); ++id) demand(find(nodes_[id].full_key()) == id);
}

bool SearchTree::fits(std::size_t more) const {
  const std::size_t nodes = nodes_.size() + more;
  if (nodes > no_node || edges_.size() + more > no_node) return false;  // numbers have 32 bits
  std::size_t slots = tags_.size();
  if (slots_for(nodes) > slots) slots = std::max({first_slots, slots_for(nodes), grown(slots)});
  return bytes_for(nodes, edges_.size() + more, slots) <= budget_;
}

// ---- When the budget is reached ----------------------------------------------------------

bool SearchTree::make_room(std::size_t children, std::span<NodeId> path,
                           const BeforeDropping& before) {
  if (fits(children)) return true;
  ++collections_;
  for (bool drop_proofs : {false, true}) {
    collapse(path);
    const auto stays = staying();
    before(stays);
    mark_kept(path, stays, drop_proofs);
    compact_edges();
    compact_nodes(path);
    // Less than a third free would mean to collect again and again.
    if (bytes() + budget_ / 3 <= budget_) break;
  }
  return fits(children);
}

// From the root, by way of nodes that have the flag.
void SearchTree::mark_reachable(NodeId root, Node::Flag through) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].set(Node::reachable, false);
  std::vector<NodeId> waiting = {root};
  nodes_[root].set(Node::reachable, true);
  while (!waiting.empty()) {
    const NodeId id = waiting.back();
    waiting.pop_back();
    for (const Edge& edge : edges(id)) {
      Node& child = nodes_[edge.child];
      if (child.is(Node::reachable)) continue;
      child.set(Node::reachable, true);
      if (child.is(through)) waiting.push_back(edge.child);
    }
  }
}

std::uint64_t SearchTree::visits(const Node& node) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < node.num_edges; ++i) sum += edges_[node.first_edge + i].selections;
  return sum;
}

// Takes the edges from resolved and unreachable nodes, then from the least selected others until
// a third of all edges is left; of nodes selected equally often the older ones, which stand above
// the others, stay. `kept` says which nodes keep theirs.
void SearchTree::collapse(std::span<const NodeId> path) {
  constexpr std::size_t buckets = 4096;  // the last one holds all that is selected more often
  std::array<std::uint64_t, buckets> edges_by_visits{};
  mark_reachable(path.front(), Node::expanded);
  const auto bucket = [&](const Node& node) {
    return std::size_t(std::min<std::uint64_t>(visits(node), buckets - 1));
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    node.set(Node::kept,
             node.is(Node::expanded) && node.is(Node::reachable) && !node.is(Node::resolved));
    if (node.is(Node::kept)) edges_by_visits[bucket(node)] += node.num_edges;
  }
  std::uint64_t room = edges_.size() / 3;
  std::size_t lowest = buckets;  // bucket that stays whole
  while (lowest > 0 && edges_by_visits[lowest - 1] <= room) room -= edges_by_visits[--lowest];
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    if (!node.is(Node::kept) || bucket(node) >= lowest) continue;
    if (bucket(node) + 1 < lowest) {
      node.set(Node::kept, false);
      continue;
    }
    // The bucket at the boundary fills what room is left.
    const std::uint64_t taken = std::min<std::uint64_t>(room, node.num_edges);
    node.set(Node::kept, taken == node.num_edges);
    room -= taken;
  }
  for (NodeId id : path) nodes_[id].set(Node::kept, nodes_[id].is(Node::expanded));
  // On a graph a node can be selected more often than any of its parents; without them it is lost.
  mark_reachable(path.front(), Node::kept);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (!nodes_[i].is(Node::reachable)) nodes_[i].set(Node::kept, false);
}

// After collapse: nodes that keep their edges, and the terminal and remembered ones among their
// children.
std::vector<bool> SearchTree::staying() const {
  std::vector<bool> stays(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].is(Node::kept)) continue;
    stays[i] = true;
    for (const Edge& edge : edges(NodeId(i)))
      if (nodes_[edge.child].is(Node::terminal) || nodes_[edge.child].is(Node::remembered))
        stays[edge.child] = true;
  }
  return stays;
}

// Moves the edges of the kept nodes together, in place. To find a block's owner, its number waits
// in the block's first edge while the node holds that edge's child.
void SearchTree::compact_edges() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    if (!node.num_edges) continue;
    const std::uint32_t first = node.first_edge;
    node.first_edge = edges_[first].child;
    edges_[first].child = NodeId(i);
  }
  std::size_t from = 0, to = 0;
  while (from < edges_.size()) {
    Node& owner = nodes_[edges_[from].child];
    edges_[from].child = owner.first_edge;
    const std::size_t count = owner.num_edges;
    if (owner.is(Node::expanded)) {
      for (std::size_t i = 0; i < count; ++i) edges_[to + i] = edges_[from + i];
      owner.first_edge = std::uint32_t(to);
      to += count;
    } else {
      owner.num_edges = 0;
      owner.first_edge = 0;
    }
    from += count;
  }
  edges_.resize(to);
}

// Decides who stays: the path, nodes that keep their edges, their children, and what is resolved.
// A terminal state nobody refers to costs nothing to find again; with drop_proofs the same is done
// with other resolved states, when they alone fill the memory. What does not stay has been told
// before, so that as a proof it is no longer remembered.
void SearchTree::mark_kept(std::span<const NodeId> path, const std::vector<bool>& stays,
                           bool drop_proofs) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    node.set(Node::expanded, node.is(Node::kept));
    if (!stays[i]) node.set(Node::remembered, false);
    const bool proof = node.is(Node::resolved) && !node.is(Node::terminal) && !drop_proofs;
    node.set(Node::kept, node.is(Node::expanded) || proof);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].is(Node::expanded))
      for (const Edge& edge : edges(NodeId(i))) nodes_[edge.child].set(Node::kept, true);
  for (NodeId id : path) nodes_[id].set(Node::kept, true);
}

// Moves the kept nodes together and renumbers all references. The index is rebuilt afterwards, so
// its memory holds the new numbers meanwhile.
void SearchTree::compact_nodes(std::span<NodeId> path) {
  NodeId* renumbered = slots_.data();
  NodeId next = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    renumbered[i] = next;
    if (!nodes_[i].is(Node::kept)) continue;
    nodes_[next] = nodes_[i];
    std::ranges::copy(values(NodeId(i)), values(next).begin());
    std::ranges::copy(completions(NodeId(i)), completions(next).begin());
    ++next;
  }
  for (std::size_t i = 0; i < edges_.size(); ++i) edges_[i].child = renumbered[edges_[i].child];
  for (NodeId& id : path) id = renumbered[id];
  resize_nodes(next);
  rebuild_index(tags_.size());
}

}  // namespace athenan
