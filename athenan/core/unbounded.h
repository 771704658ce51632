// Unbounded minimax with completion: the whole class of Algorithm 4, one iteration for all.
// Searches `descent`, `ubfm` and `umb` for two players, whose values are numbers in the first one's
// view; `maxn_descent` and `maxn_ubfm` for any number, whose values are vectors (UBFM^n and
// Descent^n of "Completeness of Unbounded Best-First Game Algorithms").
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
  best_alt,        // (c, c', v, n): what a child would have proven counts; of n players
  safest_alt,      // (c, c', n, v)
};

// Which win of n players is enough to resolve a state: the player may win in several ways, which
// are worth different values, and leave different ones to the others.
enum class WinsEnough {
  local,   // the best there may be below the state
  global,  // the best of the whole game, as in the paper's algorithms
  any,     // any: then what is resolved need not be the Max^n value
};

// Rules of one's own in place of the settings': the two methods that Algorithm 4 leaves open. The
// children are those of the state; what they throw ends the search.
struct OwnRules {
  // Whether an iteration goes on below a state that it has just expanded, its new_states-th.
  std::function<bool(const State&, std::span<const Child>, std::uint32_t new_states)> goes_on;
  // The place of the child to explore, among those that are not resolved.
  std::function<std::size_t(const State&, std::span<const Child>)> child_to_explore;
};

struct UnboundedSettings {
  ContinueRule continue_rule = ContinueRule::always;
  std::uint32_t new_states = 1;
  double stop_probability = 0.5;
  ChildOrder order = ChildOrder::best;
  bool completion = true;
  bool strong = false;  // resolve every reachable state, not only enough for the root
  Decision decision = Decision::safest;
  // Ablations of the papers: what each of these adds is seen without it.
  bool transpositions = true;   // one node a state; else one for each line to it from the root
  bool stop_unchanged = false;  // back up no further than values change (Korf and Chickering)
  bool exact_ends = true;       // v of an end is f_t, else f_θ; c and r are exact in any case
  bool child_batching = true;   // all children of a state in one request, else one by one
  // Of n players; 0 is for two whose gains are each other's losses. In variant 1 only what is
  // resolved has a completion, in variant 2 the best child's is passed on in any case.
  int variant = 0;
  WinsEnough wins_enough = WinsEnough::local;
  bool stop_on_draw = false;  // an iteration ends where the best child is resolved
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
  // The same of any state in the tree, in the middle of a search too; nothing of others. Without
  // transpositions, where nodes are lines, of the root alone.
  std::optional<Result> look(const State& state, const Mobility& mobility) const;

  void follow(OwnRules rules) { own_rules_ = std::move(rules); }  // before it runs
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
  // v and c of a node, as many numbers as a value of the game has.
  PerPlayer<float> value_of(NodeId id) const;
  PerPlayer<std::int8_t> completion_of(NodeId id) const;

 private:
  Task<> run();
  Key key_of(const State& state) const;
  NodeId node_of_root(const Key& key);  // among what is known of it from before, or no_node
  NodeId find_root_below_origin();
  void move_origin(NodeId id);  // to the root, whose node this is
  void begin_iteration();
  bool add_children();  // false: no room
  void add_edges_to_children(NodeId id);
  void check_children() const;
  void check_length() const;                                                        // of the path
  void settle(NodeId id, const Ending& ending, int ply, const Mobility& mobility);  // of an end
  void remember(NodeId id, const ResolvedMemory::Entry& known);
  bool make_room(std::size_t children);
  void count_new_children(int sign);  // that f_θ is asked for, or that nobody asks for any more
  void assign_values();               // answers of f_θ to the new children
  void back_up(std::size_t at);       // on the path: (c, v)(s) ← the best child's; r(s)
  void back_up_numbers(NodeId id, int player);
  void back_up_vectors(NodeId id, int player, float enough);
  float enough(int player) const;  // f_t of a win that resolves the present state
  void back_up_path();             // to the root; the iteration is over
  struct Known {
    PerPlayer<float> value;
    PerPlayer<std::int8_t> completion;
    bool resolved;
    bool operator==(const Known&) const = default;
  };
  Known known_of(NodeId id) const;
  // c and v of a child for the player who chooses.
  struct Worth {
    int standing;
    float value;
  };
  Worth worth(NodeId child, int player) const;
  int kept_back(const Edge& edge, int player, const State& state) const;  // c' of Remark 10
  std::uint64_t visits(NodeId id) const;
  template <class Rank>
  std::size_t best_edge(NodeId id, std::uint64_t visits, Rank rank) const;
  std::optional<std::size_t> child_to_explore(NodeId id, int player) const;
  std::optional<std::size_t> own_child_to_explore(NodeId id) const;
  bool goes_on(NodeId id, std::uint32_t new_states) const;
  Child told(const Edge& edge) const;  // what is known of a child, as results tell it
  // The edge to play from a node, in the order of the decision; node must be expanded.
  std::size_t decided_edge(NodeId id, const State& state, Decision decision) const;
  // Whether its children are there and have their values, which a search may be waiting for.
  bool has_children(NodeId id) const {
    return tree_.node(id).is(Node::expanded) && (new_nodes_.empty() || id != path_.back());
  }
  Result result_of(NodeId id, const State& state) const;
  // Of the best children; whether it comes to an end of the game.
  bool principal_variation(NodeId id, const State& state, std::vector<Action>& line) const;

  UnboundedSettings settings_;
  SearchTree tree_;
  SavedTreeCheck restored_;
  BeforeDropping before_dropping_;
  OwnRules own_rules_;

  std::unique_ptr<State> root_state_;
  Mobility root_mobility_;
  NodeId root_ = no_node;
  int root_player_ = 0;
  std::vector<float> global_;  // f_t of each player's best win of the whole game
  std::unique_ptr<State> origin_;
  Key origin_key_;

  // Where the iteration is.
  std::unique_ptr<State> state_;
  Mobility mobility_;
  std::vector<NodeId> path_;    // root first; empty between iterations
  std::vector<int> players_;    // who moves at each node of the path
  std::vector<Known> entered_;  // what was known of its nodes then, where that matters
  std::vector<float> enough_;   // there, in games for n players
  Children children_;
  std::vector<Key> new_keys_;      // children that need a value
  std::vector<NodeId> new_nodes_;  // empty but while their values are awaited
  Actions new_actions_;
  std::vector<float> new_values_;  // [new nodes, width]
  bool out_of_memory_ = false;
};

}  // namespace athenan
