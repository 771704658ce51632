// Unbounded minimax with completion: the whole class of Algorithm 4, one iteration for all.
// Searches `descent`, `ubfm` and `umb`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/resolved.h"
#include "core/saved_tree.h"
#include "core/search.h"
#include "core/tree.h"

namespace athenan {

// Enums list their values in the order of the option's choices (unbounded.cpp).

// Whether an iteration goes on below a state that it has just expanded.
enum class ContinueRule {
  always,   // to a terminal or resolved state: Descent
  never,    // one new state an iteration: UBFM
  at_most,  // until `new_states` states are new
  chance,   // stop with `stop_probability` after each new state
};

// Which unresolved child is explored first.
enum class ChildOrder { best, random, least_selected };

// How the action is chosen after the search.
enum class Decision {
  safest,          // the most selected, (c, n, v), unless the best by value is proven
  best,            // by value: (c, v, n)
  safest_printed,  // (c, n, v) as in the papers, which gives proven draws away
};

struct UnboundedSettings {
  ContinueRule continue_rule = ContinueRule::always;
  std::uint32_t new_states = 1;
  double stop_probability = 0.5;
  ChildOrder order = ChildOrder::best;
  bool completion = true;
  bool strong = false;  // resolve every reachable state, not only enough for the root
  Decision decision = Decision::safest;
  std::size_t memory_bytes = std::size_t(1) << 30;
};

class UnboundedSearch final : public Search {
 public:
  UnboundedSearch(SearchInput input, UnboundedSettings settings);

  // The tree of earlier searches is kept, so the next state of a game finds what is known of it.
  void start(const State& root, const Budget& budget, const Mobility& mobility) override;
  void give_up() override;
  void clear() override;
  Result result() const override;
  Counts counts() const override;

  // States proven in other games; consulted for new children. It must not change while we run.
  void consult(std::shared_ptr<const ResolvedMemory> memory);
  // Called before states leave the tree for want of memory; `stays` as in SearchTree::make_room.
  using BeforeDropping = std::function<void(const std::vector<bool>& stays)>;
  void before_dropping(BeforeDropping callback) { before_dropping_ = std::move(callback); }
  // A saved tree instead of the present one; throws if it is not one of the game below origin.
  void restore(const SearchTree::Saved& tree, const State& origin, const Key& origin_key);

  const Node& root() const { return tree_.node(root_); }
  NodeId root_id() const { return root_; }
  const State& root_state() const { return *root_state_; }
  const Mobility& root_mobility() const { return root_mobility_; }
  // The first root since clear(), or since memory was short: all of the tree is below it.
  const State& origin() const { return *origin_; }
  const Key& origin_key() const { return origin_key_; }
  const UnboundedSettings& settings() const { return settings_; }
  const SearchTree& tree() const { return tree_; }

 private:
  Task<> run();
  Key key_of(const State& state) const;
  void begin_iteration();
  bool add_children();  // false: no room
  void add_edges_to_children(NodeId id);
  void check_children() const;
  void check_zero_sum(const Ending& ending) const;
  void check_length() const;  // of the path
  bool make_room(std::size_t children);
  void assign_values();                 // answers of f_θ to the new children
  void back_up(NodeId id, int player);  // (c, v)(s) ← the best child's; r(s)
  void back_up_path();                  // to the root; the iteration is over
  std::optional<std::size_t> child_to_explore(NodeId id, int player) const;
  bool goes_on(NodeId id, std::uint32_t new_states) const;
  std::uint64_t tie_break(const Key& parent, Action action, std::uint64_t visits) const;
  // The edge to play from a node, in the order of the decision; node must be expanded.
  std::size_t decided_edge(NodeId id, int player, Decision decision) const;
  std::vector<Action> principal_variation() const;

  UnboundedSettings settings_;
  SearchTree tree_;
  SavedTreeCheck restored_;
  BeforeDropping before_dropping_;
  std::shared_ptr<const ResolvedMemory> memory_;

  std::unique_ptr<State> root_state_;
  Mobility root_mobility_;
  NodeId root_ = no_node;
  int root_player_ = 0;
  std::unique_ptr<State> origin_;
  Key origin_key_;

  // Where the iteration is.
  std::unique_ptr<State> state_;
  Mobility mobility_;
  std::vector<NodeId> path_;  // root first; empty between iterations
  std::vector<int> players_;  // who moves at each node of the path
  Children children_;
  std::vector<Key> new_keys_;      // children that need a value
  std::vector<NodeId> new_nodes_;  // empty but while their values are awaited
  Actions new_actions_;
  std::vector<float> new_values_;
  bool out_of_memory_ = false;
};

}  // namespace athenan
