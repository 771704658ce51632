// Minimax and alpha-beta to a horizon, and what is made of alpha-beta: with a storage, with all
// bounds, by null windows (MTD(f), MT-SSS*), with a principal variation, with the k best children.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/interval.h"

namespace athenan {
namespace {

enum class Method { minimax, alphabeta, pvs, mtdf, kbest, augmented, mt_sss };

double above(double x) { return std::nextafter(x, HUGE_VAL); }
double under(double x) { return std::nextafter(x, -HUGE_VAL); }

class AlphaBeta final : public IntervalSearch {
 public:
  AlphaBeta(SearchInput input, IntervalSettings settings, Method method)
      : IntervalSearch(std::move(input), settings), method_(method) {}

 private:
  Task<> search(int depth) override {
    ++counts_.iterations;
    enter_root(depth);
    double x = 0;
    switch (method_) {
      case Method::minimax: x = co_await minimax(0); break;
      case Method::alphabeta:
      case Method::kbest:
      case Method::pvs: x = co_await alphabeta(0, -infinite, infinite); break;
      case Method::augmented: x = (co_await augmented(0, -infinite, infinite)).lower; break;
      case Method::mtdf:
      case Method::mt_sss: x = co_await null_windows(); break;
    }
    found(x);
  }
  bool uses_estimates() const override {
    return method_ == Method::kbest || IntervalSearch::uses_estimates();
  }

  Task<double> minimax(std::size_t ply) {
    Level& s = level(ply);
    visit(ply, Visit::call, -infinite, infinite);
    co_await open(ply);
    double best = s.is_max() ? -infinite : infinite;
    for (const std::size_t i : s.order) {
      double value = 0;
      if (s.is_leaf(i)) {
        co_await value_leaf(ply, i);
        value = leaf(ply, i, -infinite, infinite);
      } else {
        enter(ply, i);
        value = co_await minimax(ply + 1);
      }
      note(ply, i, -infinite, infinite, value);
      if (s.is_max() ? value > best : value < best) {
        best = value;
        prefer(ply, i);
      }
    }
    co_return best;
  }

  // Fail-soft, with a storage Algorithm 1 of the rollout paper: what is returned is exact within
  // the window, otherwise an upper bound at or under alpha, a lower one at or above beta.
  Task<double> alphabeta(std::size_t ply, double alpha, double beta) {
    Level& s = level(ply);
    visit(ply, Visit::call, alpha, beta);
    if (const auto range = stored(s.key); range && ply > 0) {
      if (range->lower >= beta) co_return range->lower;
      if (range->upper <= alpha || range->closed()) co_return range->upper;
    }
    const bool met_before = std::exchange(met_horizon_, false);
    co_await open(ply);
    double a = alpha, b = beta, best = s.is_max() ? -infinite : infinite;
    Action best_action = no_action;
    for (std::size_t at = 0; at < s.order.size() && a < b; ++at) {
      if (method_ == Method::kbest && at == settings_.width) {
        left_out_ = true;
        break;
      }
      const std::size_t i = s.order[at];
      double value = 0;
      if (s.is_leaf(i)) {
        if (std::isnan(s.values[i])) co_await value_leaf(ply, i);
        value = leaf(ply, i, a, b);
        note(ply, i, a, b, value);
      } else {
        // A principal variation: all but the first need only be no better.
        const bool scout = method_ == Method::pvs && at > 0;
        const double low = scout && !s.is_max() ? under(b) : a;
        const double high = scout && s.is_max() ? above(a) : b;
        enter(ply, i);
        value = co_await alphabeta(ply + 1, low, high);
        note(ply, i, low, high, value);
        if (scout && value > a && value < b) {
          enter(ply, i);
          value = co_await alphabeta(ply + 1, a, b);
          note(ply, i, a, b, value);
        }
      }
      if (s.is_max() ? value > best : value < best) {
        best = value;
        best_action = s.children.actions[i];
        prefer(ply, i);
      }
      if (s.is_max())
        a = std::max(a, best);
      else
        b = std::min(b, best);
    }
    keep(s.key, {best > alpha ? best : -infinite, best < beta ? best : infinite}, best_action);
    met_horizon_ |= met_before;
    co_return best;
  }

  // Algorithm 5 of the rollout paper: every child answers with all that is known of it, after a
  // cut at once.
  Task<Range> augmented(std::size_t ply, double alpha, double beta) {
    Level& s = level(ply);
    visit(ply, Visit::call, alpha, beta);
    const Range before = stored(s.key).value_or(Range{-infinite, infinite});
    double a = std::max(alpha, before.lower), b = std::min(beta, before.upper);
    if (a >= b && ply > 0) co_return before;
    const bool met_before = std::exchange(met_horizon_, false);
    co_await open(ply);
    const double worst = s.is_max() ? -infinite : infinite;
    Range best = {worst, worst};
    Action best_action = no_action;
    for (const std::size_t i : s.order) {
      Range child = {-infinite, infinite};
      bool entered = false;
      if (s.is_leaf(i)) {
        if (a < b || settings_.child_batching) {
          co_await value_leaf(ply, i);
          const double x = a < b ? leaf(ply, i, a, b) : s.values[i];
          met_horizon_ |= !s.children.terminal[i];
          child = {x, x};
        } else if (const auto range = stored(key_at(s, i, 0))) {
          child = *range;
        }
      } else if (a < b) {
        enter(ply, i);
        entered = true;
        child = co_await augmented(ply + 1, a, b);
      } else if (const auto range = stored(key_at(s, i, s.depth - 1))) {
        child = *range;
      }
      if (ply == 0) root_ranges_[i].narrow(child);
      if (s.is_max() ? child.lower > best.lower : child.upper < best.upper) {
        best_action = s.children.actions[i];
        prefer(ply, i, entered);
      }
      if (s.is_max()) {
        best = {std::max(best.lower, child.lower), std::max(best.upper, child.upper)};
        a = std::max(a, child.lower);
      } else {
        best = {std::min(best.lower, child.lower), std::min(best.upper, child.upper)};
        b = std::min(b, child.upper);
      }
    }
    keep(s.key, best, best_action);
    met_horizon_ |= met_before;
    best.narrow(before);
    co_return best;
  }

  // MT-SSS* (Algorithm 2) comes down from above, MTD(f) begins at a guess. The best child is that
  // of the last window which showed the root to be as good for its mover.
  Task<double> null_windows() {
    const bool is_sss = method_ == Method::mt_sss, is_max = level(0).is_max();
    Range range = {-infinite, infinite};
    double guess = is_sss ? infinite : answer_.x;
    std::vector<Action> line;
    while (!range.closed()) {
      const double beta = is_sss ? range.upper : guess == range.lower ? above(guess) : guess;
      if (is_sss && settings_.augmented) {
        range.narrow(co_await augmented(0, under(beta), beta));
        guess = range.lower >= beta ? range.lower : range.upper;
      } else {
        guess = co_await alphabeta(0, under(beta), beta);
        (guess < beta ? range.upper : range.lower) = guess;
      }
      const bool shown = (guess >= beta) == is_max || (settings_.augmented && range.closed());
      if (shown && !level(0).line.empty()) line = level(0).line;
    }
    line.resize(1);  // below it, a null window says of replies only that none is better
    level(0).line = line;
    co_return range.lower;
  }

  // What is known of a state, with whether it rests on estimates.
  std::optional<Range> stored(const Key& key) {
    if (!settings_.transpositions) return std::nullopt;
    const NodeId id = look_up(key);
    if (id == no_node) return std::nullopt;
    met_horizon_ |= !tree_.node(id).is(Node::resolved);
    return known(id).range;
  }
  void keep(const Key& key, const Range& range, Action best) {
    if (!settings_.transpositions) return;
    const bool is_new = look_up(key) == no_node;
    const NodeId id = store(key);
    if (id == no_node) return;
    Node& node = tree_.node(id);
    node.set(Node::resolved, !met_horizon_ && (is_new || node.is(Node::resolved)));
    known(id).range.narrow(range);
    known(id).best = best;
  }

  Method method_;
};

SearchType type_of(std::string name, std::string about, Method method,
                   const std::vector<std::string>& options) {
  const auto make = [method](SearchInput input, const Options& given) {
    IntervalSettings settings = interval_settings(given);
    if (method == Method::minimax) settings.transpositions = false;
    return std::make_shared<AlphaBeta>(std::move(input), settings, method);
  };
  return {.name = std::move(name),
          .about = std::move(about),
          .options = interval_options(options),
          .make = make,
          .needs_budget = false,
          .consults = true};
}

}  // namespace

extern const SearchType minimax_type, alphabeta_type, pvs_type, mtdf_type, kbest_alphabeta_type,
    alphabeta_storage_type, alphabeta_augmented_type, mt_sss_type;

const SearchType minimax_type =
    type_of("minimax", "every state to the horizon", Method::minimax, {"child_batching"});
const SearchType alphabeta_type =
    type_of("alphabeta", "alpha-beta to the horizon", Method::alphabeta,
            {"order", "child_batching", "transpositions", "memory_mb"});
const SearchType pvs_type = type_of(
    "pvs", "principal variation search: alpha-beta with null windows but for first children",
    Method::pvs, {"order", "child_batching", "transpositions", "memory_mb"});
const SearchType mtdf_type = type_of("mtdf", "MTD(f): alpha-beta by null windows around a guess",
                                     Method::mtdf, {"order", "child_batching", "memory_mb"});
const SearchType kbest_alphabeta_type =
    type_of("kbest_alphabeta", "alpha-beta with the best children by f_θ only", Method::kbest,
            {"width", "child_batching", "transpositions", "memory_mb"});
const SearchType alphabeta_storage_type =
    type_of("alphabeta_storage", "alpha-beta that keeps a range for every state", Method::alphabeta,
            {"child_batching", "memory_mb"});
const SearchType alphabeta_augmented_type =
    type_of("alphabeta_augmented", "alpha-beta whose states answer with all that is known of them",
            Method::augmented, {"child_batching", "memory_mb"});
const SearchType mt_sss_type =
    type_of("mt_sss", "MT-SSS*: alpha-beta by null windows from above", Method::mt_sss,
            {"augmented", "child_batching", "memory_mb"});

}  // namespace athenan
