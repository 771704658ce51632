// Informed trees, whose states have bounds L ≤ f ≤ U by the game: alpha-beta (Figure 3 of the paper
// on informed trees) and SSS-2 (Figures 4 to 6). Every path is a state of its own. What is known of
// the root says nothing of its actions, so that its bounds are not used.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/interval.h"

namespace athenan {
namespace {

class InformedSearch : public IntervalSearch {
 public:
  using IntervalSearch::IntervalSearch;

 protected:
  bool uses_bounds() const override { return true; }
  // Of a state below one with these bounds: a max node's children are worth no more than it.
  Range bounds_below(bool is_max, const Range& parents, const Range& own) const {
    Range bounds = own;
    bounds.narrow(is_max ? Range{-infinite, parents.upper} : Range{parents.lower, infinite});
    return bounds;
  }
};

class InformedAlphaBeta final : public InformedSearch {
 public:
  using InformedSearch::InformedSearch;

 private:
  Task<> search(int depth) override {
    ++counts_.iterations;
    enter_root(depth);
    const double x = co_await alphabeta(0, -infinite, infinite, {-infinite, infinite});
    found(x);
  }

  Task<double> alphabeta(std::size_t ply, double alpha, double beta, Range bounds) {
    Level& s = level(ply);
    visit(ply, Visit::call, alpha, beta);
    if (alpha >= bounds.upper || bounds.lower >= beta || bounds.closed())
      co_return bounds.lower >= beta ? bounds.lower : bounds.upper;
    co_await open(ply);
    double a = s.is_max() ? std::max(alpha, bounds.lower) : alpha;
    double b = s.is_max() ? beta : std::min(beta, bounds.upper);
    const double enough = s.is_max() ? std::min(beta, bounds.upper) : std::max(alpha, bounds.lower);
    double best = s.is_max() ? -infinite : infinite;
    for (const std::size_t i : s.order) {
      double value = 0;
      if (s.is_leaf(i)) {
        co_await value_leaf(ply, i);
        value = leaf(ply, i, a, b);
        // An estimate of the horizon gives way to what is known.
        if (!s.children.terminal[i]) value = std::clamp(value, bounds.lower, bounds.upper);
      } else {
        const Level& child = enter(ply, i);
        const Range below = bounds_below(s.is_max(), bounds, bounds_of(child));
        value = co_await alphabeta(ply + 1, a, b, below);
      }
      note(ply, i, a, b, value);
      if (s.is_max() ? value > best : value < best) {
        best = value;
        prefer(ply, i);
      }
      if (s.is_max()) {
        a = std::max(a, value);
        if (value >= enough) break;
      } else {
        b = std::min(b, value);
        if (value <= enough) break;
      }
    }
    co_return best;
  }
};

// The solution tree T holds all children of a max node and one of a min node; a tip has none. Its
// value g is U at a tip, the largest of the children's or the child's. It becomes less by and by.
class Sss2 final : public InformedSearch {
 public:
  using InformedSearch::InformedSearch;

  Counts counts() const override {
    Counts counts = InformedSearch::counts();
    counts.states += trees_.size() - free_.size();
    return counts;
  }

 private:
  using TreeId = std::uint32_t;
  static constexpr TreeId none = 0xFFFFFFFF;
  struct Tree {  // a solution tree by its root
    Range bounds;
    double value;             // g
    std::uint32_t child = 0;  // of its parent
    bool is_leaf = false;
    std::vector<TreeId> children;  // none: a tip
  };
  struct Grown {
    double value;
    TreeId tree = none;  // none: it was not worth less
  };

  std::size_t other_bytes() const override {
    return trees_.size() * (sizeof(Tree) + 2 * sizeof(TreeId));
  }

  // Figure 4.
  Task<> search(int depth) override {
    ++counts_.iterations;
    trees_.clear();
    free_.clear();
    enter_root(depth);
    visit(0, Visit::expand, infinite, 0);
    const Grown grown = co_await expand_tip(0, {-infinite, infinite}, infinite);
    root_ = grown.tree;
    double before = infinite, value = grown.value;
    while (value != before) {
      before = value;
      value = co_await diminish(0, root_, before);
    }
    set_line();
    found(value);
  }

  // Figure 5: makes the tree, worth `limit`, worth less if that can be done.
  Task<double> diminish(std::size_t ply, TreeId id, double limit) {
    visit(ply, Visit::diminish, limit, 0);
    if (trees_[id].bounds.lower >= limit) co_return limit;
    if (trees_[id].children.empty()) {
      const Grown grown = co_await expand_tip(ply, trees_[id].bounds, limit);
      if (grown.tree != none) {
        trees_[id].children = std::move(trees_[grown.tree].children);
        trees_[id].value = grown.value;
        free_.push_back(grown.tree);
      }
      co_return grown.value;
    }
    const Level& s = level(ply);
    co_await open(ply);
    if (s.is_max()) {
      const std::vector<TreeId> children = trees_[id].children;
      double value = -infinite;
      bool goes_on = true;
      for (const TreeId child : children) {
        if (goes_on && trees_[child].value == limit)
          goes_on = co_await diminish_child(ply, child, limit) < limit;
        value = std::max(value, trees_[child].value);
      }
      trees_[id].value = value;
      note_root(ply, id);
      co_return value;
    }
    const TreeId child = trees_[id].children.front();
    double value = co_await diminish_child(ply, child, limit);
    for (std::size_t brother = trees_[child].child + 1; value >= limit && brother < s.size();
         ++brother) {
      const Grown grown = co_await expand_child(ply, brother, trees_[id].bounds, limit);
      if (grown.tree == none) continue;
      release(child);
      trees_[id].children = {grown.tree};
      value = grown.value;
    }
    if (value < limit) trees_[id].value = value;
    note_root(ply, id);
    co_return std::min(value, limit);
  }

  Task<double> diminish_child(std::size_t ply, TreeId child, double limit) {
    if (!trees_[child].is_leaf) {
      enter(ply, trees_[child].child);
      co_return co_await diminish(ply + 1, child, limit);
    }
    visit_child(ply, trees_[child].child, Visit::diminish, limit, 0);
    co_return limit;
  }

  // Figure 6: a tree of this child that is worth less than the limit, if there is one.
  Task<Grown> expand_child(std::size_t ply, std::size_t i, Range parents, double limit) {
    const Level& s = level(ply);
    visit_child(ply, i, Visit::expand, limit, 0);
    Range bounds;
    if (s.is_leaf(i)) {
      co_await value_leaf(ply, i);
      double x = s.values[i];
      if (!s.children.terminal[i]) {
        met_horizon_ = true;
        x = std::clamp(x, parents.lower, parents.upper);
      }
      visit_child(ply, i, Visit::leaf, x, x);
      bounds = {x, x};
    } else {
      bounds = bounds_below(s.is_max(), parents, bounds_of(enter(ply, i)));
    }
    if (bounds.upper < limit)
      co_return Grown{bounds.upper,
                      add({bounds, bounds.upper, std::uint32_t(i), s.is_leaf(i), {}})};
    if (bounds.lower >= limit) co_return Grown{bounds.lower};
    const Grown grown = co_await expand_tip(ply + 1, bounds, limit);
    if (grown.tree != none) trees_[grown.tree].child = std::uint32_t(i);
    co_return grown;
  }

  Task<Grown> expand_tip(std::size_t ply, Range bounds, double limit) {
    const Level& s = level(ply);
    co_await open(ply);
    std::vector<TreeId> grown;
    double value = -infinite;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const Grown child = co_await expand_child(ply, i, bounds, limit);
      note(ply, i, limit, limit, child.value);
      value = std::max(value, child.value);
      if (s.is_max() && child.tree == none) {
        for (const TreeId tree : grown) release(tree);
        co_return Grown{value};
      }
      if (child.tree == none) continue;
      grown.push_back(child.tree);
      if (!s.is_max()) {
        value = child.value;
        break;
      }
    }
    if (grown.empty()) co_return Grown{limit};
    co_return Grown{value, add({bounds, value, 0, false, std::move(grown)})};
  }

  TreeId add(Tree tree) {
    if (free_.empty()) {
      if (!has_room(2)) forget();  // the values of leaves, at first
      if (!has_room(2)) {
        out_of_memory_ = true;
        throw Stopped();
      }
      trees_.push_back(std::move(tree));
      return TreeId(trees_.size() - 1);
    }
    const TreeId id = free_.back();
    free_.pop_back();
    trees_[id] = std::move(tree);
    return id;
  }
  void release(TreeId id) {
    std::vector<TreeId> all = {id};
    while (!all.empty()) {
      const TreeId next = all.back();
      all.pop_back();
      all.insert(all.end(), trees_[next].children.begin(), trees_[next].children.end());
      trees_[next].children.clear();
      free_.push_back(next);
    }
  }

  // g is an upper bound of each of the root's children that is in T.
  void note_root(std::size_t ply, TreeId id) {
    if (ply > 0) return;
    for (const TreeId child : trees_[id].children)
      root_ranges_[trees_[child].child].narrow({-infinite, trees_[child].value});
  }

  // The first child whose tree could not be made worth less is best for the first player; below a
  // state whose L says so nobody has tried.
  void set_line() {
    auto& line = level(0).line;
    line.clear();
    const auto state = root_state_->clone();
    Actions actions;
    for (TreeId id = root_;
         !trees_[id].children.empty() && trees_[id].bounds.lower < trees_[id].value;) {
      const auto& children = trees_[id].children;
      const auto best = std::find_if(children.begin(), children.end(), [&](TreeId child) {
        return trees_[child].value == trees_[id].value;
      });
      game_->legal_actions(*state, actions);
      id = best == children.end() ? children.front() : *best;
      line.push_back(actions[trees_[id].child]);
      game_->play(*state, line.back());
    }
  }

  std::vector<Tree> trees_;
  std::vector<TreeId> free_;
  TreeId root_ = none;
};

template <class Informed>
SearchType type_of(std::string name, std::string about) {
  return {.name = std::move(name),
          .about = std::move(about),
          .options = interval_options({"child_batching", "memory_mb"}),
          .make =
              [](SearchInput input, const Options& options) {
                return std::make_shared<Informed>(std::move(input), interval_settings(options));
              },
          .needs_budget = false,
          .consults = true};
}

}  // namespace

extern const SearchType alphabeta_informed_type, sss2_type;

const SearchType alphabeta_informed_type = type_of<InformedAlphaBeta>(
    "alphabeta_informed", "alpha-beta that knows bounds of states by the game");
const SearchType sss2_type =
    type_of<Sss2>("sss2", "SSS-2: best first by solution trees, with bounds of states by the game");

}  // namespace athenan
