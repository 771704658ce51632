#include "core/unbounded.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace athenan {
namespace {

constexpr Action stop_coin = 0xFFFFFFFF;  // the "action" that ContinueRule::chance hashes

// In the view of the player who chooses: larger is better.
int sign_of(int player) { return player == 0 ? 1 : -1; }

template <class T>
PerPlayer<T> first_players(T value) {
  PerPlayer<T> values;
  values.of[0] = value;
  return values;
}

}  // namespace

UnboundedSearch::UnboundedSearch(SearchInput input, UnboundedSettings settings)
    : Search(std::move(input)), settings_(settings), tree_(settings.memory_bytes) {
  if (game_->facts().num_players != 2)
    throw std::invalid_argument("This search is for two players; game '" + game_->facts().name +
                                "' has " + std::to_string(game_->facts().num_players) + ".");
  root_state_ = game_->initial_state();
  state_ = root_state_->clone();
  origin_ = root_state_->clone();
}

// Children without values leave the tree again, and what was found out below the root comes up.
void UnboundedSearch::give_up() {
  if (end_rollouts()) assign_values();
  Search::give_up();
  if (!new_nodes_.empty()) {
    counts_.evaluations -= new_nodes_.size();
    counts_.charged -= new_nodes_.size();
    tree_.take_back(path_.back(), new_nodes_.front());
    new_nodes_.clear();
  }
  back_up_path();
}

void UnboundedSearch::clear() {
  end();
  path_.clear();
  players_.clear();
  new_nodes_.clear();
  tree_.clear();
  restored_.clear();
  root_ = no_node;
}

void UnboundedSearch::consult(std::shared_ptr<const ResolvedMemory> memory) {
  memory_ = std::move(memory);
  reads_ = memory_ ? &memory_->users() : nullptr;
}

void UnboundedSearch::restore(const SearchTree::Saved& tree, const State& origin,
                              const Key& origin_key) {
  clear();
  try {
    tree_.restore(tree);
    restored_.check(tree_, *game_, terminal_evaluation_, origin, origin_key);
  } catch (...) {
    clear();
    throw;
  }
  origin_->assign(origin);
  origin_key_ = origin_key;
}

Key UnboundedSearch::key_of(const State& state) const {
  return game_->key(state) ^ terminal_evaluation_.key(game_->ply(state), mobility_);
}

void UnboundedSearch::start(const State& root, const Budget& budget, const Mobility& mobility) {
  give_up();  // an iteration that nobody has ended
  begin(budget);
  out_of_memory_ = false;
  root_ = no_node;
  root_state_->assign(root);
  root_mobility_ = mobility_ = mobility;
  root_player_ = game_->to_move(root);
  const Key key = key_of(root);
  if (tree_.num_nodes() == 0) {
    origin_->assign(root);
    origin_key_ = key;
  }
  NodeId id = tree_.find(key);
  if (id == no_node)
    id = tree_.add(key);
  else if (restored_.in_doubt())
    restored_.check_met(tree_, *game_, terminal_evaluation_, root, mobility, id);
  Node& node = tree_.node(id);
  if (game_->is_terminal(root)) {
    const auto ending = game_->ending(root);
    check_zero_sum(ending);
    node.completion = settings_.completion ? ending.outcome[0] : 0;
    node.value = terminal_evaluation_(ending, game_->ply(root), mobility_);
    node.set(Node::terminal, true);
    node.set(Node::resolved, true);
  } else if (!node.is(Node::expanded)) {
    node.set(Node::resolved, false);  // known, but its children are not: search it like any other
  }
  root_ = id;
  task_ = run();
}

// One iteration of Algorithm 4: go down, add one state after the other to the tree as long as the
// rule says so, and back up all that was passed.
Task<> UnboundedSearch::run() {
  while (!root().is(Node::resolved) && !spent() && !out_of_memory_) {
    const std::uint64_t charged_before = counts_.charged;
    std::uint32_t new_states = 0;
    begin_iteration();
    NodeId id = root_;
    int player = root_player_;
    while (true) {
      const bool is_new = !tree_.node(id).is(Node::expanded);
      if (is_new && evaluations_spent()) break;
      if (!path_.empty() && interrupted()) break;
      path_.push_back(id);
      players_.push_back(player);
      check_length();
      if (is_new) {
        // 1. Expand: all children of s join the tree, ends with their exact values.
        if (!add_children()) break;
        id = path_.back();
        // 2. f_θ values those that are new.
        co_await ask(*state_, new_actions_, new_keys_, new_values_);
        assign_values();
        // 3. (c, v, r)(s) by its children.
        back_up(id, player);
        ++new_states;
        co_await pause(children_.size());
      }
      // 4. Stop at what is resolved, or where the rule says so.
      if (tree_.node(id).is(Node::resolved)) break;
      if (is_new && !goes_on(id, new_states)) break;
      // 5. Select the best unresolved child; count it.
      const auto chosen = child_to_explore(id, player);
      if (!chosen) break;  // all children were resolved by way of other parents
      Edge& edge = tree_.edges(id)[*chosen];
      ++edge.selections;
      if (terminal_evaluation_.uses_mobility()) mobility_.add(player, tree_.edges(id).size());
      if (tree_.node(edge.child).is(Node::terminal)) break;  // only without completion
      // 6. Go down to it.
      game_->play(*state_, edge.action);
      id = edge.child;
      player = game_->to_move(*state_);
    }
    // 7. Back up to the root.
    back_up_path();
    ++counts_.iterations;
    if (counts_.charged == charged_before) ++counts_.charged;
  }
}

void UnboundedSearch::begin_iteration() {
  state_->assign(*root_state_);
  mobility_ = root_mobility_;
  path_.clear();
  players_.clear();
}

// expand(s): all children join the table; terminal ones with their exact values, known ones with
// what is known, and the others are listed as new.
bool UnboundedSearch::add_children() {
  game_->expand(*state_, children_);
  check_children();
  const std::size_t size = children_.size();
  if (!make_room(size)) {
    out_of_memory_ = true;
    path_.pop_back();
    players_.pop_back();
    return false;
  }
  const NodeId id = path_.back();
  const auto first_new = NodeId(tree_.num_nodes());
  try {
    add_edges_to_children(id);
  } catch (...) {
    tree_.take_back(id, first_new);
    new_nodes_.clear();
    throw;
  }
  new_values_.resize(new_nodes_.size());
  counts_.children += size;
  counts_.evaluations += new_nodes_.size();
  counts_.charged += new_nodes_.size();
  ++counts_.expanded;
  return true;
}

void UnboundedSearch::add_edges_to_children(NodeId id) {
  const std::size_t size = children_.size();
  const int ply = game_->ply(*state_) + 1;
  Mobility mobility = mobility_;
  mobility.add(players_.back(), size);
  const Key extra = terminal_evaluation_.key(ply, mobility);
  for (auto& key : children_.keys) {
    key ^= extra;
    tree_.prefetch(key);
  }
  new_keys_.clear();
  new_nodes_.clear();
  new_actions_.clear();
  const auto edges = tree_.add_edges(id, size);
  for (std::size_t i = 0; i < size; ++i) {
    NodeId child = tree_.find(children_.keys[i]);
    if (child == no_node) {
      child = tree_.add(children_.keys[i]);
      Node& node = tree_.node(child);
      if (children_.terminal[i]) {
        node.completion = settings_.completion ? children_.endings[i].outcome[0] : 0;
        node.value = terminal_evaluation_(children_.endings[i], ply, mobility);
        node.flags = Node::terminal | Node::resolved;
      } else if (const auto* known = memory_ ? memory_->find(children_.keys[i]) : nullptr) {
        node.completion = known->completion;
        node.value = known->value;
        node.flags = Node::resolved | Node::remembered;
      } else {
        new_keys_.push_back(children_.keys[i]);
        new_nodes_.push_back(child);
        new_actions_.push_back(children_.actions[i]);
      }
    } else if (restored_.in_doubt()) {
      const auto met = state_->clone();
      game_->play(*met, children_.actions[i]);
      restored_.check_met(tree_, *game_, terminal_evaluation_, *met, mobility, child);
    }
    edges[i] = {child, children_.actions[i], 0};
  }
}

void UnboundedSearch::check_children() const {
  const std::size_t size = children_.size();
  if (size == 0)
    throw std::invalid_argument("A state of game '" + game_->facts().name +
                                "' has no legal actions but is not over.");
  if (size > SearchTree::most_edges)
    throw std::length_error("A state of game '" + game_->facts().name + "' has " +
                            std::to_string(size) + " legal actions; this search takes at most " +
                            std::to_string(SearchTree::most_edges) + ".");
  for (std::size_t i = 0; i < size; ++i)
    if (children_.terminal[i]) check_zero_sum(children_.endings[i]);
}

void UnboundedSearch::check_zero_sum(const Ending& ending) const {
  if (ending.outcome[0] != -ending.outcome[1])
    throw std::invalid_argument("Game '" + game_->facts().name + "' ended with outcomes " +
                                std::to_string(ending.outcome[0]) + " and " +
                                std::to_string(ending.outcome[1]) +
                                "; in this search one player's gain is the other's loss.");
}

// The states of a path are not over, so that no game has more of them.
void UnboundedSearch::check_length() const {
  if (path_.size() > std::size_t(game_->facts().max_plies))
    throw std::invalid_argument(
        "A line of game '" + game_->facts().name + "' is longer than its max_plies, " +
        std::to_string(game_->facts().max_plies) +
        ": the key of a state comes again below it, or max_plies is wrong.");
}

// When something has to go, all that is not below the root goes too.
bool UnboundedSearch::make_room(std::size_t children) {
  const bool made = tree_.make_room(children, path_, [this](const auto& stays) {
    if (before_dropping_) before_dropping_(stays);
    origin_->assign(*root_state_);
    origin_key_ = tree_.node(path_.front()).full_key();
  });
  root_ = path_.front();
  return made;
}

// Evaluators answer in [-1, 1]; values are on the scale of f_t, and -0 is 0. Then no child is new
// any more.
void UnboundedSearch::assign_values() {
  const auto bound = float(terminal_evaluation_.bound());
  for (std::size_t i = 0; i < new_nodes_.size(); ++i)
    tree_.node(new_nodes_[i]).value = bound * new_values_[i] + 0.0f;
  new_nodes_.clear();
}

void UnboundedSearch::back_up(NodeId id, int player) {
  const int sign = sign_of(player);
  int best_completion = -2;
  float best_value = 0;
  bool all_resolved = true;
  for (const Edge& edge : tree_.edges(id)) {
    const Node& child = tree_.node(edge.child);
    const int completion = sign * child.completion;
    const float value = float(sign) * child.value;
    all_resolved &= child.is(Node::resolved);
    if (completion > best_completion || (completion == best_completion && value > best_value)) {
      best_completion = completion;
      best_value = value;
    }
  }
  Node& node = tree_.node(id);
  node.completion = std::int8_t(sign * best_completion);
  node.value = float(sign) * best_value;
  const bool won_or_lost = best_completion != 0 && !settings_.strong;
  node.set(Node::resolved, settings_.completion && (won_or_lost || all_resolved));
}

void UnboundedSearch::back_up_path() {
  for (std::size_t i = path_.size(); i-- > 0;)
    if (tree_.node(path_[i]).is(Node::expanded)) back_up(path_[i], players_[i]);
  path_.clear();
  players_.clear();
}

// Any implementation can agree on it: it depends on nothing but its arguments.
std::uint64_t UnboundedSearch::tie_break(const Key& parent, Action action,
                                         std::uint64_t visits) const {
  return mix(mix(mix(seed_) ^ parent.low) ^ mix((visits << 32) ^ action));
}

std::optional<std::size_t> UnboundedSearch::child_to_explore(NodeId id, int player) const {
  const auto edges = tree_.edges(id);
  const int sign = sign_of(player);
  std::uint64_t visits = 0;
  for (const Edge& edge : edges) visits += edge.selections;
  const Key key = tree_.node(id).full_key();

  std::optional<std::size_t> best;
  int best_completion = 0;
  float best_value = 0;
  std::uint32_t best_selections = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Node& child = tree_.node(edges[i].child);
    if (settings_.completion && child.is(Node::resolved)) continue;
    const bool by_value = settings_.order == ChildOrder::best;
    const int completion = by_value ? sign * child.completion : 0;
    const float value = by_value ? float(sign) * child.value : 0;
    const std::uint32_t selections =
        settings_.order == ChildOrder::random ? 0 : edges[i].selections;
    bool better = !best;
    if (best) {
      if (completion != best_completion)
        better = completion > best_completion;
      else if (value != best_value)
        better = value > best_value;
      else if (selections != best_selections)
        better = selections < best_selections;
      else
        better =
            tie_break(key, edges[i].action, visits) > tie_break(key, edges[*best].action, visits);
    }
    if (!better) continue;
    best = i;
    best_completion = completion;
    best_value = value;
    best_selections = selections;
  }
  return best;
}

bool UnboundedSearch::goes_on(NodeId id, std::uint32_t new_states) const {
  switch (settings_.continue_rule) {
    case ContinueRule::never: return false;
    case ContinueRule::always: return true;
    case ContinueRule::at_most: return new_states < settings_.new_states;
    case ContinueRule::chance: {
      const auto coin = tie_break(tree_.node(id).full_key(), stop_coin, 0);
      return double(coin >> 11) * 0x1p-53 >= settings_.stop_probability;
    }
  }
  return false;
}

std::size_t UnboundedSearch::decided_edge(NodeId id, int player, Decision decision) const {
  const auto edges = tree_.edges(id);
  const int sign = sign_of(player);
  const Key key = tree_.node(id).full_key();
  if (decision == Decision::safest) {
    // What is resolved is never selected again, so its selections say nothing against it.
    const std::size_t best = decided_edge(id, player, Decision::best);
    if (settings_.completion && tree_.node(edges[best].child).is(Node::resolved)) return best;
  }
  const auto rank = [&](const Edge& edge) {
    const Node& child = tree_.node(edge.child);
    const double value = sign * double(child.value), selections = edge.selections;
    const bool by_value = decision == Decision::best;
    return std::array<double, 3>{double(sign * child.completion), by_value ? value : selections,
                                 by_value ? selections : value};
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    const auto a = rank(edges[i]), b = rank(edges[best]);
    if (a > b ||
        (a == b && tie_break(key, edges[i].action, 0) > tie_break(key, edges[best].action, 0)))
      best = i;
  }
  return best;
}

std::vector<Action> UnboundedSearch::principal_variation() const {
  std::vector<Action> line;
  const auto state = root_state_->clone();
  NodeId id = root_;
  const auto longest = std::size_t(game_->facts().max_plies);  // keys may go round in circles
  while (tree_.node(id).is(Node::expanded) && line.size() < longest) {
    const auto& edge = tree_.edges(id)[decided_edge(id, game_->to_move(*state), Decision::best)];
    line.push_back(edge.action);
    game_->play(*state, edge.action);
    id = edge.child;
  }
  return line;
}

Counts UnboundedSearch::counts() const {
  Counts counts = counts_;
  counts.states = tree_.num_nodes();
  counts.edges = tree_.num_edges();
  counts.bytes = tree_.bytes();
  counts.budget_bytes = tree_.budget();
  counts.collections = tree_.collections();
  counts.out_of_memory = out_of_memory_;
  return counts;
}

Result UnboundedSearch::result() const {
  check_result(root_ != no_node);
  Result result;
  result.counts = counts();
  result.value = first_players(root().value);
  result.completion = first_players(root().completion);
  result.resolved = root().is(Node::resolved);
  if (!root().is(Node::expanded)) return result;
  const auto edges = tree_.edges(root_);
  result.action = edges[decided_edge(root_, root_player_, settings_.decision)].action;
  result.principal_variation = principal_variation();
  for (const Edge& edge : edges) {
    const Node& node = tree_.node(edge.child);
    // Without completion nothing counts as proven, not even an end.
    const bool resolved = node.is(Node::resolved) && settings_.completion;
    result.children.push_back({edge.action, first_players(node.value),
                               first_players(node.completion), resolved, edge.selections});
  }
  return result;
}

// ---- The searches of the class -----------------------------------------------------------

namespace {

const OptionType continue_rule =
    one_of("continue_rule", {"always", "never", "at_most", "chance"},
           "whether an iteration goes on below a new state: always is Descent, never UBFM");
const OptionType order = one_of("order", {"best", "random", "least_selected"},
                                "which unresolved child is explored first");
const OptionType decision =
    one_of("decision", {"safest", "best", "safest_printed"},
           "the action after the search: the most selected unless the best by value is proven, "
           "the best by value, or the most selected as printed");

std::vector<OptionType> options_of(std::vector<OptionType> own) {
  own.push_back(
      yes_or_no("completion", true, "mark proven states resolved, so that games are solved"));
  own.push_back(decision);
  own.push_back(
      yes_or_no("strong", false, "resolve every reachable state, not only enough for the root"));
  own.push_back(real_number(
      "memory_mb", 1024, 1e-6, 1e9,
      "10^6 bytes for the trees: of one search, of self-play's games in step together"));
  return own;
}

SearchType type_of(std::string name, std::string about, std::vector<OptionType> own,
                   ContinueRule rule) {
  const auto make = [rule](SearchInput input, const Options& options) {
    UnboundedSettings settings;
    settings.continue_rule = rule;
    if (options.has(continue_rule.name)) {  // the class, rules given
      settings.continue_rule = options.choice<ContinueRule>(continue_rule);
      settings.new_states = std::uint32_t(options.integer("new_states"));
      settings.stop_probability = options.real("stop_probability");
      settings.order = options.choice<ChildOrder>(order);
    }
    settings.completion = options.flag("completion");
    settings.strong = options.flag("strong");
    settings.decision = options.choice<Decision>(decision);
    settings.memory_bytes = std::size_t(options.real("memory_mb") * 1e6);
    return std::make_shared<UnboundedSearch>(std::move(input), settings);
  };
  return {std::move(name), std::move(about), options_of(std::move(own)), make};
}

}  // namespace

extern const SearchType descent_type, ubfm_type, umb_type;

const SearchType descent_type =
    type_of("descent", "each iteration runs to a terminal or resolved state; the learning search",
            {}, ContinueRule::always);
const SearchType ubfm_type =
    type_of("ubfm", "unbounded best-first minimax, one new state an iteration; the playing search",
            {}, ContinueRule::never);
const SearchType umb_type = type_of(
    "umb", "the class that holds both: choose the rules",
    {continue_rule,
     whole_number("new_states", 1, 1, 1e9, "states that are new in an iteration, with at_most"),
     real_number("stop_probability", 0.5, 0, 1, "of stopping after a new state, with chance"),
     order},
    ContinueRule::always);

}  // namespace athenan
