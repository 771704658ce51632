// The partial game tree S_p: a transposition table of states with edges between them.
//
//   node (28 bytes)  key · value v · completion c · resolved r · where its edges start
//     └─ edge (12)   child node · action · selections n
//   index (5 a slot, at most 7/8 full)  one byte of the hash, then the node's number
//
// In games for n players v and c are vectors beside the nodes: 5 bytes more for each player.
//
// v, c and r live with the state, so all its parents see the same; n lives on the edge. A state
// whose children are known is *expanded*; an unexpanded one only holds f_θ's estimate.
// Memory has a budget; see make_room for what happens when it is reached.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "games/game.h"

namespace athenan {

using NodeId = std::uint32_t;
inline constexpr NodeId no_node = 0xFFFFFFFF;

struct Node {
  enum Flag : std::uint8_t {
    expanded = 1,
    terminal = 2,
    resolved = 4,
    kept = 8,        // during a collection: stays
    reachable = 16,  // during a collection: from the root
    remembered = 32  // resolved in another game: never expanded here, yet its value is exact
  };

  std::uint32_t key[4];
  float value = 0;
  std::uint32_t first_edge = 0;
  std::uint16_t num_edges = 0;
  std::int8_t completion = 0;
  std::uint8_t flags = 0;

  bool is(Flag flag) const { return flags & flag; }
  void set(Flag flag, bool on) { flags = std::uint8_t(on ? flags | flag : flags & ~flag); }
  Key full_key() const {
    return {std::uint64_t(key[1]) << 32 | key[0], std::uint64_t(key[3]) << 32 | key[2]};
  }
};
static_assert(sizeof(Node) == 28);

struct Edge {
  NodeId child;
  Action action;
  std::uint32_t selections;
};
static_assert(sizeof(Edge) == 12);

// A growing array of plain values. realloc moves large blocks without copying them, and what is
// reserved but never used takes no memory.
template <class T>
class PlainArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PlainArray() = default;
  PlainArray(const PlainArray&) = delete;
  PlainArray& operator=(const PlainArray&) = delete;
  ~PlainArray() { std::free(data_); }

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }

  void resize(std::size_t size) {
    if (size > capacity_) {
      const std::size_t capacity = std::max(size, capacity_ + capacity_ / 2 + 16);
      void* grown = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
      if (!grown) throw std::bad_alloc();
      data_ = static_cast<T*>(grown);
      capacity_ = capacity;
    }
    size_ = size;
  }
  void clear() { size_ = 0; }  // keeps the memory for what comes next

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

// The key of a child where a node is not a state but a line to it: with that of the line so far.
inline Key line_key(const Key& so_far, Action action, const Key& child) {
  return child ^ mixed(so_far ^ hash_key(action));
}

class SearchTree {
 public:
  static constexpr std::size_t most_edges = 0xFFFF;  // of a node

  // players: whose values are kept apart; 0 for one number in the first player's view, in the node.
  explicit SearchTree(std::size_t memory_bytes, int players = 0)
      : budget_(memory_bytes), players_(std::size_t(players)) {}

  Node& node(NodeId id) { return nodes_[id]; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  std::span<Edge> edges(NodeId id) {
    return {edges_.data() + nodes_[id].first_edge, nodes_[id].num_edges};
  }
  std::span<const Edge> edges(NodeId id) const {
    return {edges_.data() + nodes_[id].first_edge, nodes_[id].num_edges};
  }

  // Of a tree for n players: v and c of a node, one number for each.
  bool has_vectors() const { return players_ > 0; }
  std::size_t players() const { return players_; }
  std::span<float> values(NodeId id) { return {values_.data() + id * players_, players_}; }
  std::span<const float> values(NodeId id) const {
    return {values_.data() + id * players_, players_};
  }
  std::span<std::int8_t> completions(NodeId id) {
    return {completions_.data() + id * players_, players_};
  }
  std::span<const std::int8_t> completions(NodeId id) const {
    return {completions_.data() + id * players_, players_};
  }

  void prefetch(const Key& key) const;
  NodeId find(const Key& key) const;  // or no_node
  NodeId add(const Key& key);         // a key that is not there yet
  // Room for the children of `parent`, to be filled by the caller; the parent is then expanded.
  std::span<Edge> add_edges(NodeId parent, std::size_t count);
  // Undoes the last add_edges, and forgets the nodes that were added since `first`.
  void take_back(NodeId parent, NodeId first);

  // Makes sure that `children` more nodes and edges fit the budget. When it is reached, the least
  // selected unresolved subtrees collapse to their values; what is resolved stays resolved. Nodes
  // change their numbers then: `path` (root first, never collapsed) is renumbered. False when
  // what must stay leaves no room. Before anything is dropped, `before` is told for each node
  // whether it will still be expanded, terminal or remembered.
  using BeforeDropping = std::function<void(const std::vector<bool>& stays)>;
  bool make_room(std::size_t children, std::span<NodeId> path, const BeforeDropping& before);

  void clear();  // the memory stays, for the next game
  // The whole tree as plain values, and back: the restored one behaves as the saved one would.
  struct Saved {
    std::vector<Node> nodes;
    std::vector<Edge> edges;
    std::vector<float> values = {};  // of n players, node by node
    std::vector<std::int8_t> completions = {};
    std::size_t slots = 0;
  };
  Saved save() const;
  // Throws if it is not a tree; whether it is one of the game, saved_tree.h says.
  void restore(const Saved& saved);
  std::size_t num_nodes() const { return nodes_.size(); }
  std::size_t num_edges() const { return edges_.size(); }
  std::size_t bytes() const;
  std::size_t budget() const { return budget_; }
  std::uint64_t collections() const { return collections_; }

 private:
  std::size_t bytes_for(std::size_t nodes, std::size_t edges, std::size_t slots) const {
    return nodes * (sizeof(Node) + 5 * players_) + edges * sizeof(Edge) + slots * 5;
  }
  void resize_nodes(std::size_t nodes);
  bool fits(std::size_t more) const;
  std::size_t slot_of(const Key& key) const;
  void place(NodeId id);
  void grow_index(std::size_t nodes);
  void rebuild_index(std::size_t slots);

  void mark_reachable(NodeId root, Node::Flag through);
  std::uint64_t visits(const Node& node) const;
  void collapse(std::span<const NodeId> path);
  std::vector<bool> staying() const;
  void mark_kept(std::span<const NodeId> path, const std::vector<bool>& stays, bool drop_proofs);
  void compact_edges();
  void compact_nodes(std::span<NodeId> path);

  std::size_t budget_, players_;
  PlainArray<Node> nodes_;
  PlainArray<float> values_;  // [nodes, players]
  PlainArray<std::int8_t> completions_;
  PlainArray<Edge> edges_;
  PlainArray<std::uint8_t> tags_;  // 0: empty slot
  PlainArray<NodeId> slots_;
  std::uint64_t collections_ = 0;
};

}  // namespace athenan
