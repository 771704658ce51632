// Searches that close an interval around the value of the root: to a horizon, by windows. What
// minimax, alpha-beta, informed trees, SSS* and the rollout family share.
//
// Wins, losses and estimates are one scalar in the first player's view, so that they compare:
//   x = v + c·K, K = 2·bound + 1     at an end (v = f_t, c = outcome)
//   x = f_θ·bound                    at the horizon
// x > K/2 is a proven win, x < -K/2 a proven loss, at any depth. Values are copied on the way up,
// never computed anew, so that they compare exactly.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/search.h"
#include "core/tree.h"

namespace athenan {

// lower ≤ value ≤ upper.
struct Range {
  double lower, upper;

  bool closed() const { return lower >= upper; }
  void narrow(const Range& by) {
    if (by.lower > lower) lower = by.lower;
    if (by.upper < upper) upper = by.upper;
  }
  bool operator==(const Range&) const = default;
};

// In which a state's children are visited. Enums list their values in the order of the choices.
enum class VisitOrder {
  given,       // by action
  evaluation,  // the best by f_θ first
  previous,    // the best of the depth before first
  random,      // by seed
};

// Which child a rollout goes down to, of those whose windows are open.
enum class RolloutPolicy { leftmost, max_beta, random, uct, uct_hybrid };

struct IntervalSettings {
  int depth = 4;           // plies to the horizon
  bool deepening = false;  // to depths 1, 2, … before it
  VisitOrder order = VisitOrder::given;
  bool child_batching = true;
  bool transpositions = true;
  std::size_t memory_bytes = std::size_t(1) << 30;
  std::size_t width = 4;   // of k-best alpha-beta
  bool augmented = false;  // of MT-SSS*
  // Of rollouts.
  RolloutPolicy policy = RolloutPolicy::leftmost;
  double lambda = 1;
  bool mirror_min = true, informed = false;
};

class IntervalSearch : public Search {
 public:
  IntervalSearch(SearchInput input, IntervalSettings settings);

  void start(const State& root, const Budget& budget, const Mobility& mobility) override;
  void give_up() override;
  void clear() override;
  Result result() const override;
  Counts counts() const override;
  bool has_horizon() const override { return true; }

 protected:
  struct Stopped {};  // thrown where the budget is spent, through all that is under way

  // A state on the way down and its children; levels are kept and used again.
  struct Level {
    std::unique_ptr<State> state;
    Mobility mobility;
    int player = 0;
    int depth = 0;               // plies to the horizon
    Action action = 0;           // that led here
    Key key;                     // of the state at this depth
    Children children;           // once it is opened
    std::vector<double> values;  // of children: leaves', or estimates; NaN where not known
    std::vector<std::uint32_t> order;
    std::vector<Action> line;  // the best from here
    // What f_θ is asked for.
    std::vector<std::uint32_t> asked;
    Actions actions;
    std::vector<Key> keys;
    std::vector<float> answers;

    bool is_max() const { return player == 0; }
    bool is_leaf(std::size_t child) const { return depth == 1 || children.terminal[child]; }
    std::size_t size() const { return children.size(); }
  };

  // One search to this depth; it says what it has found by `found`.
  virtual Task<> search(int depth) = 0;
  virtual bool uses_estimates() const { return settings_.order == VisitOrder::evaluation; }
  virtual bool uses_bounds() const { return settings_.informed; }
  virtual bool may_forget() const { return true; }       // states, when memory is full
  virtual std::size_t other_bytes() const { return 0; }  // than the storage's

  // ---- Going down
  Level& level(std::size_t ply) { return levels_[ply]; }
  Level& enter_root(int depth);
  Level& enter(std::size_t ply, std::size_t child);  // the level below
  Level& enter(std::size_t ply, Action action, const Key& key, std::size_t num_actions);
  // Children with keys, the values of ends, and those of f_θ that are wanted: of leaves (all of the
  // family in one request, unless each is asked for by itself) and of others to order them.
  Task<> open(std::size_t ply);
  Task<> value_leaf(std::size_t ply, std::size_t child);  // where it is not known yet
  Task<double> value_one(Level& level);  // of the child that its actions and keys name
  static Key depth_key(int depth);       // to be mixed into the key of a state
  Key key_at(const Level& level, std::size_t child, int depth) const;
  void check_budget() const {  // before anything that costs
    if (opened_root_ && (evaluations_spent() || interrupted())) throw Stopped();
  }
  void charge() { ++counts_.charged; }  // for work that evaluates nothing

  // ---- What was seen
  static constexpr double infinite = 1e300;  // beyond any x
  double of_end(const Ending& ending, int ply, const Mobility& mobility) const;
  Range bounds_of(const Level& level) const;  // by the game and by what is proven
  double proof_limit() const { return k_ / 2; }
  double value_of(double x) const;  // on the scale of f_t
  void visit(std::size_t ply, Visit::Kind kind, double a, double b);
  void visit_child(std::size_t ply, std::size_t child, Visit::Kind kind, double a, double b);
  // Visits one whose value is known, with this window.
  double leaf(std::size_t ply, std::size_t child, double alpha, double beta);
  // The value returned for a child by a window; of the root's children it is kept.
  void note(std::size_t ply, std::size_t child, double alpha, double beta, double value);
  // The best line goes by this child, and on by the level below if that is the child's.
  void prefer(std::size_t ply, std::size_t child, bool entered = true);
  void found(double x);

  // ---- The storage: what is known of states at a depth
  struct Known {
    Range range = {-infinite, infinite};
    Action best = no_action;
  };
  static constexpr Action no_action = 0xFFFFFFFF;
  NodeId look_up(const Key& key) const { return tree_.find(key); }
  NodeId store(const Key& key);  // finds or adds it; no_node when memory is full
  Known& known(NodeId id) { return known_[id]; }
  const Known& known(NodeId id) const { return known_[id]; }
  bool has_room(std::size_t more) const;
  void forget();

  IntervalSettings settings_;
  double k_;
  std::deque<Level> levels_;
  SearchTree tree_;
  std::vector<Known> known_;
  // Whether what is searched now has met the horizon, so that its value is an estimate; whether
  // it left actions out, so that not even a win is proven.
  bool met_horizon_ = false, left_out_ = false;
  bool out_of_memory_ = false;
  std::unique_ptr<State> root_state_;
  Mobility root_mobility_;
  std::vector<Range> root_ranges_;  // of the root's children, by the present search
  // How the answer is made: by the best line, or by a search's own rule.
  struct Answer {
    Actions actions;  // of the root
    std::size_t best = 0;
    double x = 0;
    bool exact = false;  // no estimate is in it
    bool proofs = true;  // beyond the proof limit it is proven
    std::vector<Action> line;
    std::vector<Range> ranges;
    std::vector<std::uint64_t> visits;
  };
  virtual Answer partial() const;           // of a search that was stopped
  double likely(const Range& range) const;  // what to call a state's value that is in it
  Answer answer_;

 private:
  Task<> run();
  bool wants(const Level& level, std::size_t child) const;
  void list_asked(Level& level);
  void take_answers(Level& level);
  double estimate(float answer) const;
  void sort(Level& level);
  bool settle(Level& level, std::size_t child, int ply, const Mobility& mobility) const;
  void check_children(const Level& level) const;

  bool opened_root_ = false, answered_ = false;
  std::uint64_t forgotten_ = 0;
};

// The options that searches of this kind share: `depth` and those of these names.
std::vector<OptionType> interval_options(const std::vector<std::string>& names, int depth = 4);
IntervalSettings interval_settings(const Options& options);

}  // namespace athenan
