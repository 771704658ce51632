// Unbounded minimax with completion: the whole class of Algorithm 4, one iteration for all.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/evaluation.h"
#include "core/task.h"
#include "core/tree.h"
#include "games/game.h"

namespace athenan {

// Whether an iteration goes on below a state that it has just expanded.
enum class ContinueRule {
  never,    // one new state an iteration: UBFM
  always,   // to a terminal or resolved state: Descent
  at_most,  // until `new_states` states are new
  chance,   // stop with `stop_probability` after each new state
};

// Which unresolved child is explored first.
enum class ChildOrder { best, random, least_selected };

// How the action is chosen after the search.
enum class Decision { best, safest };

struct SearchSettings {
  ContinueRule continue_rule = ContinueRule::always;
  std::uint32_t new_states = 1;
  double stop_probability = 0.5;
  ChildOrder order = ChildOrder::best;
  bool completion = true;
  bool strong = false;  // resolve every reachable state, not only enough for the root
  Decision decision = Decision::safest;
  EvaluatorKind evaluator = EvaluatorKind::hash;
  std::uint32_t rollouts = 1;  // a state, of the rollout evaluator
  Heuristic heuristic = Heuristic::gain;
  int longest = 0;  // plies that depth heuristics count from; 0: the game's bound
  std::uint64_t seed = 0;
  std::size_t memory_bytes = std::size_t(1) << 30;
};

// A search ends when any of these is used up, or the root is resolved. 0: no such limit.
struct Budget {
  std::uint64_t iterations = 0;
  std::uint64_t evaluations = 0;
  double seconds = 0;
};

struct Counts {
  std::uint64_t iterations = 0;
  std::uint64_t evaluations = 0;  // states valued by f_θ
  std::uint64_t charged = 0;      // evaluations, and one for each iteration without any
  std::uint64_t expanded = 0;     // states
  std::uint64_t children = 0;     // delivered by expansions
};

class ResolvedMemory;
struct Samples;

// Aligned, so that searches on different threads share no cache line.
class alignas(128) Search {
 public:
  Search(std::shared_ptr<const Game> game, SearchSettings settings);
  ~Search();

  // Prepares a search of `root`; the scheduler resumes task() until it is done. The tree of
  // earlier searches is kept, so the next state of a game finds what is known of it.
  void start(const State& root, Budget budget, const Mobility& mobility = {});
  // States proven in other games; consulted for new children. It must not change while we run.
  void consult(std::shared_ptr<const ResolvedMemory> memory) { memory_ = std::move(memory); }
  Task& task() { return task_; }
  Request& request() { return request_; }
  void stop() { stopped_ = true; }                            // at the end of the iteration
  void reseed(std::uint64_t seed) { settings_.seed = seed; }  // between searches
  // From now on the labels of states that leave the tree for want of memory are kept: dropped().
  void keep_labels() { keeps_labels_ = true; }
  void clear();  // forgets the tree
  // A saved one instead.
  void restore(const SearchTree::Saved& tree, const State& origin, const Key& origin_key,
               Samples dropped);

  // The answers, once the task is done.
  const Node& root() const { return tree_.node(root_); }
  NodeId root_id() const { return root_; }
  int root_player() const { return root_player_; }
  const State& root_state() const { return *root_state_; }
  const Mobility& root_mobility() const { return root_mobility_; }
  // The first root since clear(), or since memory was short: all of the tree is below it.
  const State& origin() const { return *origin_; }
  const Key& origin_key() const { return origin_key_; }
  const Samples& dropped() const { return *dropped_; }
  const Counts& counts() const { return counts_; }
  const SearchSettings& settings() const { return settings_; }
  const SearchTree& tree() const { return tree_; }
  const Game& game() const { return *game_; }
  const TerminalEvaluation& terminal_evaluation() const { return terminal_evaluation_; }
  bool out_of_memory() const { return out_of_memory_; }
  std::optional<Action> decision() const;  // none at a terminal root
  std::vector<Action> principal_variation() const;
  // The edge to play from a node, in the order of the decision; node must be expanded.
  std::size_t decided_edge(NodeId id, int player, Decision decision) const;

 private:
  Task run(Budget budget);
  bool spent(const Budget& budget) const;
  Key key_of(const State& state) const;
  // Numbered in the order of Algorithm 4.
  bool add_children(NodeId& id);  // false: no room
  bool make_room(std::size_t children);
  void evaluate_new_children();         // by an evaluator of the core
  void assign_values();                 // answers of f_θ to the new children
  void back_up(NodeId id, int player);  // (c, v)(s) ← the best child's; r(s)
  std::optional<std::size_t> child_to_explore(NodeId id, int player) const;
  bool goes_on(NodeId id, std::uint32_t new_states) const;
  std::uint64_t tie_break(const Key& parent, Action action, std::uint64_t visits) const;

  std::shared_ptr<const Game> game_;
  SearchSettings settings_;
  TerminalEvaluation terminal_evaluation_;
  SearchTree tree_;
  Task task_;
  Request request_;

  std::unique_ptr<State> root_state_;
  std::unique_ptr<State> state_;  // where the iteration is
  std::unique_ptr<State> rollout_state_;
  Mobility root_mobility_, mobility_;
  NodeId root_ = no_node;
  int root_player_ = 0;
  std::unique_ptr<State> origin_;
  Key origin_key_;
  std::unique_ptr<Samples> dropped_;
  bool keeps_labels_ = false;
  std::shared_ptr<const ResolvedMemory> memory_;
  std::vector<NodeId> path_;  // of the iteration, root first
  std::vector<int> players_;  // who moves at each node of the path
  Children children_;
  std::vector<Key> new_keys_;      // children that need a value
  std::vector<NodeId> new_nodes_;  // empty but while their values are awaited
  Actions new_actions_;
  std::vector<float> new_values_;
  Counts counts_;
  std::chrono::steady_clock::time_point started_;
  bool stopped_ = false;
  bool out_of_memory_ = false;
};

}  // namespace athenan
