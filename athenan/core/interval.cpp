#include "core/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/resolved.h"

namespace athenan {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr Node::Flag visited = Node::remembered;  // of a leaf, by a search that is traced

template <class T>
PerPlayer<T> first_players(T value) {
  PerPlayer<T> values;
  values.of[0] = value;
  return values;
}

}  // namespace

Key IntervalSearch::depth_key(int depth) {
  return hash_key(0x1D3A7B0000000000ull + std::uint64_t(depth));
}

IntervalSearch::IntervalSearch(SearchInput input, IntervalSettings settings)
    : Search(std::move(input)),
      settings_(settings),
      k_(2 * terminal_evaluation_.bound() + 1),
      tree_(std::numeric_limits<std::size_t>::max()) {
  if (game_->facts().num_players != 2)
    throw std::invalid_argument("This search is for two players; game '" + game_->facts().name +
                                "' has " + std::to_string(game_->facts().num_players) + ".");
  if (!game_->facts().zero_sum)
    throw std::invalid_argument("In this search one player's gain is the other's loss, in game '" +
                                game_->facts().name + "' it is not.");
  root_state_ = game_->initial_state();
}

void IntervalSearch::start(const State& root, const Budget& budget, const Mobility& mobility) {
  if (memory_ && memory_->width() > 1)
    throw std::invalid_argument("This memory of resolved states is of another number of players.");
  begin(budget);
  if (out_of_memory_) forget();
  root_state_->assign(root);
  root_mobility_ = mobility;
  answer_ = {};
  opened_root_ = answered_ = out_of_memory_ = false;
  task_ = run();
}

void IntervalSearch::give_up() {
  if (!task_.done() && !answered_) {
    answer_ = partial();
    answered_ = true;
  }
  Search::give_up();
}

void IntervalSearch::clear() {
  end();
  answered_ = false;
  tree_.clear();
  known_.clear();
}

// To the horizon, or to one horizon after the other; a search that is stopped leaves the answer of
// the last one that was not.
Task<> IntervalSearch::run() {
  if (game_->is_terminal(*root_state_)) {
    answer_.x = of_end(game_->ending(*root_state_), game_->ply(*root_state_), root_mobility_);
    answer_.exact = answered_ = true;
    co_return;
  }
  const int left = std::max(1, game_->facts().max_plies - game_->ply(*root_state_));
  const int deepest = std::min(settings_.depth, left);
  for (int depth = settings_.deepening ? 1 : deepest; depth <= deepest; ++depth) {
    if (answered_ && spent()) co_return;
    const std::uint64_t charged_before = counts_.charged;
    try {
      co_await search(depth);
    } catch (const Stopped&) {
      if (!answered_) answer_ = partial();
      answered_ = true;
      co_return;
    }
    answered_ = true;
    if (counts_.charged == charged_before) charge();
    if (answer_.exact || (answer_.proofs && std::abs(answer_.x) > proof_limit())) co_return;
  }
}

IntervalSearch::Answer IntervalSearch::partial() const {
  Answer answer;
  game_->legal_actions(*root_state_, answer.actions);
  if (!opened_root_) return answer;
  answer.ranges = root_ranges_;
  const bool is_max = levels_.front().is_max();
  const auto worth = [&](std::size_t i) {  // of what was searched at all
    const Range& range = root_ranges_[i];
    if (range.lower <= -infinite && range.upper >= infinite) return -infinite;
    const double x = range.lower <= -infinite  ? range.upper
                     : range.upper >= infinite ? range.lower
                     : is_max                  ? range.lower
                                               : range.upper;
    return is_max ? x : -x;
  };
  for (std::size_t i = 1; i < answer.ranges.size(); ++i)
    if (worth(i) > worth(answer.best)) answer.best = i;
  const double best = answer.ranges.empty() ? -infinite : worth(answer.best);
  if (best > -infinite) answer.x = is_max ? best : -best;
  answer.line = {answer.actions[answer.best]};
  answer.proofs = false;  // others may be better
  return answer;
}

// ---- Going down --------------------------------------------------------------------------

IntervalSearch::Level& IntervalSearch::enter_root(int depth) {
  if (levels_.empty()) levels_.emplace_back().state = root_state_->clone();
  Level& root = levels_.front();
  root.state->assign(*root_state_);
  root.mobility = root_mobility_;
  root.player = game_->to_move(*root_state_);
  root.depth = depth;
  root.key = game_->key(*root_state_) ^
             terminal_evaluation_.key(game_->ply(*root_state_), root_mobility_) ^ depth_key(depth);
  root.line.clear();
  root_ranges_.clear();
  met_horizon_ = left_out_ = false;
  return root;
}

IntervalSearch::Level& IntervalSearch::enter(std::size_t ply, std::size_t child) {
  const Level& parent = levels_[ply];
  return enter(ply, parent.children.actions[child], key_at(parent, child, parent.depth - 1),
               parent.size());
}

IntervalSearch::Level& IntervalSearch::enter(std::size_t ply, Action action, const Key& key,
                                             std::size_t num_actions) {
  if (levels_.size() <= ply + 1) levels_.emplace_back().state = root_state_->clone();
  const Level& parent = levels_[ply];
  Level& next = levels_[ply + 1];
  next.state->assign(*parent.state);
  game_->play(*next.state, action);
  next.action = action;
  next.mobility = parent.mobility;
  if (terminal_evaluation_.uses_mobility()) next.mobility.add(parent.player, num_actions);
  next.player = game_->to_move(*next.state);
  next.depth = parent.depth - 1;
  next.key = key;
  next.line.clear();
  return next;
}

Key IntervalSearch::key_at(const Level& level, std::size_t child, int depth) const {
  return level.children.keys[child] ^ depth_key(depth);
}

Task<> IntervalSearch::open(std::size_t ply) {
  Level& s = levels_[ply];
  check_budget();
  game_->expand(*s.state, s.children);
  check_children(s);
  ++counts_.expanded;
  counts_.children += s.size();
  if (ply == 0) {
    if (root_ranges_.empty()) root_ranges_.assign(s.size(), {-infinite, infinite});
    opened_root_ = true;
  }
  const int below = game_->ply(*s.state) + 1;
  Mobility mobility = s.mobility;
  mobility.add(s.player, s.size());
  const Key extra = terminal_evaluation_.key(below, mobility);
  s.values.assign(s.size(), unknown);
  bool ends = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    s.children.keys[i] ^= extra;
    ends |= settle(s, i, below, mobility);
  }
  const std::uint64_t evaluations_before = counts_.evaluations;
  list_asked(s);
  if (!s.asked.empty()) {
    co_await ask(*s.state, s.actions, s.keys, s.answers);
    take_answers(s);
  }
  // So that a budget of evaluations ends searches that meet nothing but ends.
  if (ends && counts_.evaluations == evaluations_before) charge();
  sort(s);
  co_await pause(s.size());
}

// A child that needs no search: an end, or proven in another game. Where bounds are used, a proof
// is one, since a win that is known may not be the best.
bool IntervalSearch::settle(Level& s, std::size_t child, int ply, const Mobility& mobility) const {
  Ending& ending = s.children.endings[child];
  if (s.children.terminal[child]) {
    s.values[child] = of_end(ending, ply, mobility);
    return true;
  }
  if (!memory_ || (uses_bounds() && s.depth > 1)) return false;
  const auto proven = memory_->find(s.children.keys[child]);
  if (!proven) return false;
  const std::int8_t c = proven->completion[0];
  ending.outcome = {c, std::int8_t(-c)};
  s.children.terminal[child] = true;
  s.values[child] = proven->value[0] + c * k_;
  return true;
}

bool IntervalSearch::wants(const Level& level, std::size_t child) const {
  if (level.children.terminal[child]) return false;
  return level.depth == 1 ? settings_.child_batching || uses_estimates() : uses_estimates();
}

// What the storage does not know already.
void IntervalSearch::list_asked(Level& s) {
  s.asked.clear();
  s.actions.clear();
  s.keys.clear();
  if (s.depth > 1 && !uses_estimates()) return;
  if (settings_.transpositions)
    for (std::size_t i = 0; i < s.size(); ++i) tree_.prefetch(key_at(s, i, 0));
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (!wants(s, i)) continue;
    const NodeId id = settings_.transpositions ? look_up(key_at(s, i, 0)) : no_node;
    if (id != no_node && known(id).range.closed()) {
      s.values[i] = known(id).range.lower;
      continue;
    }
    s.asked.push_back(std::uint32_t(i));
    s.actions.push_back(s.children.actions[i]);
    s.keys.push_back(s.children.keys[i]);
  }
  s.answers.resize(s.asked.size());
}

void IntervalSearch::take_answers(Level& s) {
  for (std::size_t i = 0; i < s.asked.size(); ++i) {
    const double x = estimate(s.answers[i]);
    s.values[s.asked[i]] = x;
    if (!settings_.transpositions) continue;
    if (const NodeId id = store(key_at(s, s.asked[i], 0)); id != no_node) known(id).range = {x, x};
  }
  count_asked(s.asked.size());
}

Task<> IntervalSearch::value_leaf(std::size_t ply, std::size_t child) {
  Level& s = levels_[ply];
  if (!std::isnan(s.values[child])) co_return;
  const NodeId id = settings_.transpositions ? look_up(key_at(s, child, 0)) : no_node;
  if (id != no_node && known(id).range.closed()) {
    s.values[child] = known(id).range.lower;
    co_return;
  }
  check_budget();
  s.actions = {s.children.actions[child]};
  s.keys = {s.children.keys[child]};
  const double x = s.values[child] = co_await value_one(s);
  if (!settings_.transpositions) co_return;
  if (const NodeId leaf = store(key_at(s, child, 0)); leaf != no_node) known(leaf).range = {x, x};
}

Task<double> IntervalSearch::value_one(Level& s) {
  s.answers.resize(1);
  co_await ask(*s.state, s.actions, s.keys, s.answers);
  count_asked(1);
  co_return estimate(s.answers.front());
}

// Evaluators answer in [-1, 1]: whatever lies beyond would pass for a proof.
double IntervalSearch::estimate(float answer) const {
  const auto bound = float(terminal_evaluation_.bound());
  return std::clamp(bound * answer, -bound, bound) + 0.0f;
}

// A proof or a bound that says something, as seen by nobody in particular.
double IntervalSearch::likely(const Range& range) const {
  if (range.lower > -proof_limit() && range.lower < infinite) return range.lower;
  if (range.upper < proof_limit() && range.upper > -infinite) return range.upper;
  return 0;
}

void IntervalSearch::sort(Level& s) {
  s.order.resize(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) s.order[i] = std::uint32_t(i);
  if (uses_estimates()) {
    const double sign = s.is_max() ? 1 : -1;
    std::stable_sort(s.order.begin(), s.order.end(),
                     [&](auto a, auto b) { return sign * s.values[a] > sign * s.values[b]; });
  } else if (settings_.order == VisitOrder::previous) {
    const Key at_depth = depth_key(s.depth), before = depth_key(s.depth - 1);
    NodeId id = look_up(s.key);
    if (id == no_node || known(id).best == no_action) id = look_up(s.key ^ at_depth ^ before);
    if (id == no_node) return;
    const auto& actions = s.children.actions;
    const auto at = std::find(actions.begin(), actions.end(), known(id).best);
    if (at == actions.end()) return;
    const auto first = s.order.begin() + (at - actions.begin());
    std::rotate(s.order.begin(), first, first + 1);
  } else if (settings_.order == VisitOrder::random) {
    const std::uint64_t state = mix(seed_) ^ s.key.low;
    const auto rank = [&](std::uint32_t i) { return mix(mix(state) ^ mix(s.children.actions[i])); };
    std::sort(s.order.begin(), s.order.end(), [&](auto a, auto b) { return rank(a) > rank(b); });
  }
}

void IntervalSearch::check_children(const Level& s) const {
  if (s.size() == 0)
    throw std::invalid_argument("A state of game '" + game_->facts().name +
                                "' has no legal actions but is not over.");
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto& outcome = s.children.endings[i].outcome;
    if (s.children.terminal[i] && outcome[0] != -outcome[1])
      throw std::invalid_argument("Game '" + game_->facts().name + "' ended with outcomes " +
                                  std::to_string(outcome[0]) + " and " +
                                  std::to_string(outcome[1]) +
                                  "; in this search one player's gain is the other's loss.");
  }
}

// ---- What was seen -----------------------------------------------------------------------

double IntervalSearch::of_end(const Ending& ending, int ply, const Mobility& mobility) const {
  return terminal_evaluation_(ending, ply, mobility) + ending.outcome[0] * k_;
}

Range IntervalSearch::bounds_of(const Level& level) const {
  const Bounds bounds = game_->bounds(*level.state);
  const double most = terminal_evaluation_.bound();
  // Of wins and losses by so much: f_t of the strongest or weakest.
  const auto x = [&](double score, bool strongest) {
    if (std::isinf(score)) return std::copysign(infinite, score);
    if (score == 0) return 0.0;
    const double strength = terminal_evaluation_.is_score() ? std::clamp(std::abs(score), 1.0, most)
                            : strongest                     ? most
                                                            : 1.0;
    return std::copysign(strength + k_, score);
  };
  Range range = {x(bounds.lower, bounds.lower < 0), x(bounds.upper, bounds.upper > 0)};
  const Key key = level.key ^ depth_key(level.depth);
  if (const auto proven = memory_ ? memory_->find(key) : std::nullopt) {
    const int c = proven->completion[0];
    const double at_least = proven->value[0] + c * k_, most_of_all = most + k_;
    range.narrow({c < 0 ? -most_of_all : at_least, c > 0 ? most_of_all : at_least});
  }
  return range;
}

double IntervalSearch::value_of(double x) const {
  if (x <= -infinite || x >= infinite) return std::copysign(HUGE_VAL, x);
  return x > proof_limit() ? x - k_ : x < -proof_limit() ? x + k_ : x;
}

void IntervalSearch::visit(std::size_t ply, Visit::Kind kind, double a, double b) {
  if (!tracing_) return;
  std::vector<Action> path;
  for (std::size_t i = 1; i <= ply; ++i) path.push_back(levels_[i].action);
  visits_.push_back({std::move(path), kind, value_of(a), value_of(b)});
}

void IntervalSearch::visit_child(std::size_t ply, std::size_t child, Visit::Kind kind, double a,
                                 double b) {
  if (!tracing_) return;
  visit(ply, kind, a, b);
  visits_.back().path.push_back(levels_[ply].children.actions[child]);
}

double IntervalSearch::leaf(std::size_t ply, std::size_t child, double alpha, double beta) {
  const Level& s = levels_[ply];
  const double x = s.values[child];
  if (!s.children.terminal[child]) met_horizon_ = true;
  if (!tracing_) return x;
  visit_child(ply, child, Visit::call, alpha, beta);
  if (settings_.transpositions) {  // what is stored is not looked at again
    const NodeId id = store(key_at(s, child, 0));
    if (id != no_node) {
      if (tree_.node(id).is(visited)) return x;
      known(id).range = {x, x};
      tree_.node(id).set(visited, true);
      tree_.node(id).set(Node::resolved, s.children.terminal[child]);
    }
  }
  visit_child(ply, child, Visit::leaf, x, x);
  return x;
}

void IntervalSearch::note(std::size_t ply, std::size_t child, double alpha, double beta,
                          double value) {
  if (ply > 0) return;
  Range& range = root_ranges_[child];
  if (value < beta) range.upper = std::min(range.upper, value);
  if (value > alpha) range.lower = std::max(range.lower, value);
}

void IntervalSearch::prefer(std::size_t ply, std::size_t child, bool entered) {
  Level& s = levels_[ply];
  s.line.assign(1, s.children.actions[child]);
  if (entered && !s.is_leaf(child)) {
    const auto& below = levels_[ply + 1].line;
    s.line.insert(s.line.end(), below.begin(), below.end());
  }
}

void IntervalSearch::found(double x) {
  const Level& root = levels_.front();
  answer_ = {root.children.actions, 0, x, !met_horizon_ && !left_out_, !left_out_, root.line,
             root_ranges_,          {}};
  const auto& actions = answer_.actions;
  const auto at = std::find(actions.begin(), actions.end(), root.line.front());
  answer_.best = std::size_t(at - actions.begin());
}

Result IntervalSearch::result() const {
  check_result(answered_);
  Result result;
  result.counts = counts();
  const auto completion = [&](double x) { return std::int8_t((x > 0) - (x < 0)); };
  const auto proven = [&](double x) { return answer_.proofs && std::abs(x) > proof_limit(); };
  const auto within = [&](double x) {
    return float(
        std::clamp(value_of(x), -terminal_evaluation_.bound(), terminal_evaluation_.bound()));
  };
  result.value = first_players(within(answer_.x));
  result.resolved = answer_.exact || proven(answer_.x);
  result.completion =
      first_players(result.resolved && std::abs(answer_.x) > proof_limit() ? completion(answer_.x)
                                                                           : std::int8_t(0));
  if (answer_.actions.empty()) return result;
  result.action = answer_.actions[answer_.best];
  result.principal_variation = answer_.line;
  for (std::size_t i = 0; i < answer_.actions.size(); ++i) {
    Child child;
    child.action = answer_.actions[i];
    child.value = first_players(0.0f);
    child.completion = first_players(std::int8_t(0));
    if (i < answer_.ranges.size()) {
      const Range& range = answer_.ranges[i];
      child.value = first_players(within(likely(range)));
      const bool won = range.lower > proof_limit(), lost = range.upper < -proof_limit();
      if (!left_out_ && (won || lost)) {
        child.resolved = true;
        child.completion = first_players(std::int8_t(won ? 1 : -1));
      } else if (answer_.exact && range.closed()) {
        child.resolved = true;
      }
      child.selections = i < answer_.visits.size()
                             ? answer_.visits[i]
                             : range.lower > -infinite || range.upper < infinite;
    }
    result.children.push_back(std::move(child));
  }
  return result;
}

// ---- The storage -------------------------------------------------------------------------

Counts IntervalSearch::counts() const {
  Counts counts = counts_;
  counts.states = tree_.num_nodes();
  counts.edges = tree_.num_edges();
  counts.bytes = tree_.bytes() + known_.size() * sizeof(Known) + other_bytes();
  counts.budget_bytes = settings_.memory_bytes;
  counts.collections = forgotten_;
  counts.out_of_memory = out_of_memory_;
  return counts;
}

bool IntervalSearch::has_room(std::size_t more) const {
  constexpr std::size_t bytes_a_slot = 8;  // of the index, at most
  return tree_.bytes() + known_.size() * sizeof(Known) + other_bytes() +
             more * (sizeof(Node) + sizeof(Edge) + sizeof(Known) + bytes_a_slot) <=
         settings_.memory_bytes;
}

void IntervalSearch::forget() {
  tree_.clear();
  known_.clear();
  ++forgotten_;
}

NodeId IntervalSearch::store(const Key& key) {
  const NodeId there = tree_.find(key);
  if (there != no_node) return there;
  if (!has_room(1)) {
    if (!may_forget()) {
      out_of_memory_ = true;
      return no_node;
    }
    forget();
    if (!has_room(1)) return no_node;
  }
  const NodeId id = tree_.add(key);
  known_.emplace_back();
  return id;
}

// ---- Options -----------------------------------------------------------------------------

namespace {

// Functions, since the lists of options are made before main.
OptionType visit_order() {
  return one_of("order", {"given", "evaluation", "previous", "random"},
                "of children: by action, the best by f_θ first, the best of the depth before "
                "first, or by seed");
}
OptionType rollout_policy() {
  return one_of("policy", {"leftmost", "max_beta", "random", "uct", "uct_hybrid"},
                "which open child a rollout goes down to: leftmost is alpha-beta, max_beta "
                "MT-SSS*, uct never closes a child");
}

std::vector<OptionType> shared_options(int depth) {
  return {
      whole_number("depth", depth, 1, 1e6,
                   "plies to the horizon, where f_θ values states; it never lies beyond the end"),
      visit_order(),
      whole_number("width", 4, 1, 1e6, "children that are searched, the best by f_θ"),
      yes_or_no("augmented", true, "use what is known of the children that a cut leaves out"),
      rollout_policy(),
      real_number("lambda", 1, 0, 1e6, "λ of uct and uct_hybrid, on the scale of f_t"),
      yes_or_no("mirror_min", true,
                "uct_hybrid takes the smallest μ - λ√… for the second player; "
                "without it the largest μ + λ√…, as printed"),
      yes_or_no("informed", false, "begin with the bounds that the game gives for a state"),
      yes_or_no("child_batching", true,
                "ask for all children at the horizon together rather than one by one"),
      yes_or_no("transpositions", true, "keep what is known of states, to use it again"),
      real_number("memory_mb", 1024, 1e-6, 1e9, "10^6 bytes for what is known of states"),
  };
}

}  // namespace

std::vector<OptionType> interval_options(const std::vector<std::string>& names, int depth) {
  std::vector<OptionType> options;
  for (OptionType& option : shared_options(depth))
    if (option.name == "depth" || std::find(names.begin(), names.end(), option.name) != names.end())
      options.push_back(std::move(option));
  return options;
}

IntervalSettings interval_settings(const Options& options) {
  IntervalSettings settings;
  const auto flag = [&](const char* name, bool& to) {
    if (options.has(name)) to = options.flag(name);
  };
  settings.depth = options.integer("depth");
  settings.deepening = options.has("inner");
  if (options.has("order")) settings.order = options.choice<VisitOrder>(visit_order());
  if (options.has("width")) settings.width = std::size_t(options.integer("width"));
  if (options.has("policy")) settings.policy = options.choice<RolloutPolicy>(rollout_policy());
  if (options.has("lambda")) settings.lambda = options.real("lambda");
  if (options.has("memory_mb"))
    settings.memory_bytes = std::size_t(options.real("memory_mb") * 1e6);
  flag("augmented", settings.augmented);
  flag("mirror_min", settings.mirror_min);
  flag("informed", settings.informed);
  flag("child_batching", settings.child_batching);
  flag("transpositions", settings.transpositions);
  return settings;
}

}  // namespace athenan
