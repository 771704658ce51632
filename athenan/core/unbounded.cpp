#include "core/unbounded.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace athenan {
namespace {

constexpr Action stop_coin = 0xFFFFFFFF;  // the "action" that ContinueRule::chance hashes

// In the view of the player who chooses: larger is better.
int sign_of(int player) { return player == 0 ? 1 : -1; }

}  // namespace

UnboundedSearch::UnboundedSearch(SearchInput input, UnboundedSettings settings)
    : Search(std::move(input)),
      settings_(settings),
      tree_(settings.memory_bytes, settings.variant ? game_->facts().num_players : 0) {
  const auto& facts = game_->facts();
  if (!settings_.variant && facts.num_players != 2)
    throw std::invalid_argument("This search is for two players; game '" + facts.name + "' has " +
                                std::to_string(facts.num_players) +
                                ": take 'maxn_descent' or 'maxn_ubfm'.");
  if (!settings_.variant && !facts.zero_sum)
    throw std::invalid_argument("In this search one player's gain is the other's loss, in game '" +
                                facts.name + "' it is not: take 'maxn_descent' or 'maxn_ubfm'.");
  if (!settings_.exact_ends && terminal_evaluation_.uses_mobility())
    throw std::invalid_argument("Option 'exact_ends' must be true with heuristic 'mobility'.");
  root_state_ = game_->initial_state();
  for (std::size_t player = 0; player < tree_.players(); ++player)
    global_.push_back(terminal_evaluation_.most(*game_, *root_state_, int(player)));
  state_ = root_state_->clone();
  origin_ = root_state_->clone();
}

// Children without values leave the tree again, and what was found out below the root comes up.
void UnboundedSearch::give_up() {
  if (end_rollouts() && settings_.child_batching) assign_values();
  Search::give_up();
  if (!new_nodes_.empty()) {
    count_new_children(-1);
    tree_.take_back(path_.back(), new_nodes_.front());
    new_nodes_.clear();
  }
  back_up_path();
}

void UnboundedSearch::clear() {
  end();
  path_.clear();
  players_.clear();
  entered_.clear();
  enough_.clear();
  new_nodes_.clear();
  tree_.clear();
  restored_.clear();
  root_ = no_node;
}

void UnboundedSearch::restore(const SearchTree::Saved& tree, const State& origin,
                              const Key& origin_key) {
  clear();
  try {
    tree_.restore(tree);
    restored_.check(tree_, *game_, terminal_evaluation_, origin, origin_key,
                    settings_.transpositions);
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
  // What is proven for two players, whose values are numbers, is known to vectors, too.
  const bool fits = !memory_ || memory_->fits(tree_) ||
                    memory_->width() == std::size_t(game_->facts().value_width());
  if (!fits)
    throw std::invalid_argument("This memory of resolved states is of another number of players.");
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
  NodeId id = node_of_root(key);
  if (id == no_node)
    id = tree_.add(key);
  else if (restored_.in_doubt())
    restored_.check_met(tree_, *game_, terminal_evaluation_, root, mobility, id);
  Node& node = tree_.node(id);
  if (game_->is_terminal(root)) {
    const auto ending = game_->ending(root);
    check_zero_sum(ending);
    settle(id, ending, game_->ply(root), mobility_);
  } else if (!node.is(Node::expanded)) {
    node.set(Node::resolved, false);  // known, but its children are not: search it like any other
  }
  root_ = id;
  task_ = run();
}

NodeId UnboundedSearch::node_of_root(const Key& key) {
  if (settings_.transpositions) return tree_.find(key);
  const NodeId id = find_root_below_origin();
  move_origin(id);
  return id;
}

// Without transpositions a node is of one line of the game, which the root does not tell.
NodeId UnboundedSearch::find_root_below_origin() {
  const Key key = game_->key(*root_state_);
  const int ply = game_->ply(*root_state_);
  const NodeId first = tree_.find(origin_key_);
  if (first == no_node) return no_node;
  if (game_->key(*origin_) == key) return first;
  std::vector<std::pair<NodeId, std::unique_ptr<State>>> waiting;
  waiting.emplace_back(first, origin_->clone());
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto [id, at] = std::move(waiting[i]);
    if (!tree_.node(id).is(Node::expanded)) continue;
    game_->expand(*at, children_);
    const auto edges = tree_.edges(id);
    for (std::size_t j = 0; j < edges.size(); ++j)
      if (children_.keys[j] == key) return edges[j].child;
    if (game_->ply(*at) + 1 >= ply) continue;
    for (const Edge& edge : edges) {
      auto next = at->clone();
      game_->play(*next, edge.action);
      waiting.emplace_back(edge.child, std::move(next));
    }
  }
  return no_node;
}

// What is not below the new origin is labelled and never met again; its memory is made free when
// there is want of it.
void UnboundedSearch::move_origin(NodeId id) {
  if (tree_.num_nodes() == 0 || (id != no_node && tree_.node(id).full_key() == origin_key_)) return;
  std::vector<bool> stays(tree_.num_nodes());
  std::vector<NodeId> waiting;
  if (id != no_node) waiting.push_back(id);
  while (!waiting.empty()) {
    const NodeId at = waiting.back();
    waiting.pop_back();
    stays[at] = true;
    for (const Edge& edge : tree_.edges(at)) waiting.push_back(edge.child);
  }
  if (before_dropping_) before_dropping_(stays);
  origin_->assign(root_state());
  if (id == no_node) {
    tree_.clear();
    restored_.clear();
    origin_key_ = key_of(*root_state_);
  } else {
    origin_key_ = tree_.node(id).full_key();
  }
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
      if (settings_.stop_unchanged) entered_.push_back(known_of(id));
      if (tree_.has_vectors()) enough_.push_back(enough(player));
      check_length();
      if (is_new) {
        // 1. Expand: all children of s join the tree, ends with their exact values.
        if (!add_children()) break;
        id = path_.back();
        // 2. f_θ values those that are new.
        const std::size_t new_children = new_actions_.size();
        const std::size_t at_once = settings_.child_batching ? new_children : 1;
        const auto width = std::size_t(game_->facts().value_width());
        for (std::size_t i = 0; i < new_children; i += at_once)
          co_await ask(*state_, {&new_actions_[i], at_once}, {&new_keys_[i], at_once},
                       {&new_values_[i * width], at_once * width});
        assign_values();
        // 3. (c, v, r)(s) by its children.
        back_up(path_.size() - 1);
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
      // Only without completion, or where a draw stops the iteration.
      if (tree_.node(edge.child).is(Node::terminal)) break;
      if (settings_.stop_on_draw && tree_.node(edge.child).is(Node::resolved)) break;
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
  entered_.clear();
  enough_.clear();
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
    if (settings_.stop_unchanged) entered_.pop_back();
    if (tree_.has_vectors()) enough_.pop_back();
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
  new_values_.resize(new_nodes_.size() * std::size_t(game_->facts().value_width()));
  counts_.children += size;
  count_new_children(1);
  ++counts_.expanded;
  return true;
}

void UnboundedSearch::count_new_children(int sign) {
  const std::size_t requests = settings_.child_batching ? 1 : new_nodes_.size();
  for (std::size_t i = 0; i < requests; ++i) count_asked(new_nodes_.size() / requests, sign);
}

void UnboundedSearch::add_edges_to_children(NodeId id) {
  const std::size_t size = children_.size();
  const int ply = game_->ply(*state_) + 1;
  Mobility mobility = mobility_;
  mobility.add(players_.back(), size);
  const Key extra = terminal_evaluation_.key(ply, mobility);
  const Key line = tree_.node(id).full_key();
  const auto key_in_tree = [&](std::size_t i) {
    const Key& key = children_.keys[i];
    return settings_.transpositions ? key : line_key(line, children_.actions[i], key);
  };
  for (std::size_t i = 0; i < size; ++i) {
    children_.keys[i] ^= extra;
    tree_.prefetch(key_in_tree(i));
  }
  new_keys_.clear();
  new_nodes_.clear();
  new_actions_.clear();
  const auto edges = tree_.add_edges(id, size);
  for (std::size_t i = 0; i < size; ++i) {
    const Key key = key_in_tree(i);
    NodeId child = tree_.find(key);
    if (child == no_node) {
      child = tree_.add(key);
      if (children_.terminal[i])
        settle(child, children_.endings[i], ply, mobility);
      else if (const auto known = memory_ ? memory_->find(children_.keys[i]) : std::nullopt)
        remember(child, *known);
      const Node& node = tree_.node(child);
      if (!node.is(Node::resolved) || (node.is(Node::terminal) && !settings_.exact_ends)) {
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

void UnboundedSearch::settle(NodeId id, const Ending& ending, int ply, const Mobility& mobility) {
  Node& node = tree_.node(id);
  node.set(Node::terminal, true);
  node.set(Node::resolved, true);
  if (!tree_.has_vectors()) {
    node.completion = settings_.completion ? ending.outcome[0] : 0;
    node.value = terminal_evaluation_(ending, ply, mobility);
    return;
  }
  for (std::size_t player = 0; player < tree_.players(); ++player) {
    tree_.values(id)[player] = terminal_evaluation_.of(int(player), ending, ply, mobility);
    tree_.completions(id)[player] = settings_.completion ? ending.outcome[player] : 0;
  }
}

void UnboundedSearch::remember(NodeId id, const ResolvedMemory::Entry& known) {
  Node& node = tree_.node(id);
  node.flags = Node::resolved | Node::remembered;
  if (!tree_.has_vectors()) {
    node.value = known.value[0];
    node.completion = known.completion[0];
    return;
  }
  std::ranges::copy(known.value, tree_.values(id).begin());
  std::ranges::copy(known.completion, tree_.completions(id).begin());
  if (known.value.size() < tree_.players()) {
    tree_.values(id)[1] = 0.0f - tree_.values(id)[0];
    tree_.completions(id)[1] = std::int8_t(-tree_.completions(id)[0]);
  }
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
  const auto width = std::size_t(game_->facts().value_width());
  for (std::size_t i = 0; i < new_nodes_.size(); ++i) {
    if (!tree_.has_vectors()) {
      tree_.node(new_nodes_[i]).value = bound * new_values_[i] + 0.0f;
      continue;
    }
    const auto values = tree_.values(new_nodes_[i]);
    for (std::size_t j = 0; j < width; ++j) values[j] = bound * new_values_[i * width + j] + 0.0f;
    if (width < values.size()) values[1] = 0.0f - values[0];
  }
  new_nodes_.clear();
}

void UnboundedSearch::back_up(std::size_t at) {
  if (tree_.has_vectors())
    back_up_vectors(path_[at], players_[at], enough_[at]);
  else
    back_up_numbers(path_[at], players_[at]);
}

void UnboundedSearch::back_up_numbers(NodeId id, int player) {
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

// Two children that are equal to the mover may differ to the others: selections and hash decide
// here, too. A win resolves the state when none below can be worth more to the winner.
void UnboundedSearch::back_up_vectors(NodeId id, int player, float enough) {
  const auto edges = tree_.edges(id);
  const std::size_t best = best_edge(id, visits(id), [&](const Edge& edge) {
    const Worth of = worth(edge.child, player);
    return std::array<double, 3>{double(of.standing), of.value, double(edge.selections)};
  });
  const auto values = tree_.values(id);
  const auto completions = tree_.completions(id);
  std::ranges::copy(tree_.values(edges[best].child), values.begin());
  std::ranges::copy(tree_.completions(edges[best].child), completions.begin());
  const auto is_resolved = [&](const Edge& edge) {
    return tree_.node(edge.child).is(Node::resolved);
  };
  const auto proves_it = [&](const Edge& edge) {
    return is_resolved(edge) && std::ranges::equal(tree_.values(edge.child), values) &&
           std::ranges::equal(tree_.completions(edge.child), completions);
  };
  const bool won = completions[player] == 1 && values[player] >= enough && !settings_.strong &&
                   std::ranges::any_of(edges, proves_it);
  const bool resolved = settings_.completion && (won || std::ranges::all_of(edges, is_resolved));
  if (settings_.variant == 1 && !resolved) std::ranges::fill(completions, std::int8_t(0));
  tree_.node(id).set(Node::resolved, resolved);
}

float UnboundedSearch::enough(int player) const {
  switch (settings_.wins_enough) {
    case WinsEnough::local: return terminal_evaluation_.most(*game_, *state_, player);
    case WinsEnough::global: return global_[std::size_t(player)];
    case WinsEnough::any: break;
  }
  return -std::numeric_limits<float>::infinity();
}

void UnboundedSearch::back_up_path() {
  bool changed = true;  // the last state, or the one below
  for (std::size_t i = path_.size(); i-- > 0;) {
    if (changed && tree_.node(path_[i]).is(Node::expanded)) back_up(i);
    changed = !settings_.stop_unchanged || !(entered_[i] == known_of(path_[i]));
  }
  path_.clear();
  players_.clear();
  entered_.clear();
  enough_.clear();
}

UnboundedSearch::Known UnboundedSearch::known_of(NodeId id) const {
  return {value_of(id), completion_of(id), tree_.node(id).is(Node::resolved)};
}

// What is proven counts before what is not: in variant 2 both may have a completion, and a loss
// that may not be one is better than one that is.
UnboundedSearch::Worth UnboundedSearch::worth(NodeId child, int player) const {
  const Node& node = tree_.node(child);
  if (!tree_.has_vectors()) {
    const int sign = sign_of(player);
    return {sign * node.completion, float(sign) * node.value};
  }
  constexpr int proven = 4;  // (r c, c) in the order of pairs
  const int completion = tree_.completions(child)[std::size_t(player)];
  const bool counts_more = settings_.variant == 2 && node.is(Node::resolved);
  return {counts_more ? proven * completion : completion, tree_.values(child)[std::size_t(player)]};
}

std::uint64_t UnboundedSearch::visits(NodeId id) const {
  std::uint64_t sum = 0;
  for (const Edge& edge : tree_.edges(id)) sum += edge.selections;
  return sum;
}

// The first in rank; among equals the one with the larger hash.
template <class Rank>
std::size_t UnboundedSearch::best_edge(NodeId id, std::uint64_t visits, Rank rank) const {
  const auto edges = tree_.edges(id);
  const Key key = tree_.node(id).full_key();
  std::size_t best = 0;
  auto best_rank = rank(edges[0]);
  for (std::size_t i = 1; i < edges.size(); ++i) {
    const auto ranked = rank(edges[i]);
    const bool better = ranked > best_rank ||
                        (ranked == best_rank && tie_break(key, edges[i].action, visits) >
                                                    tie_break(key, edges[best].action, visits));
    if (!better) continue;
    best = i;
    best_rank = ranked;
  }
  return best;
}

std::optional<std::size_t> UnboundedSearch::child_to_explore(NodeId id, int player) const {
  const auto edges = tree_.edges(id);
  if (own_rules_.child_to_explore) return own_child_to_explore(id);
  const std::uint64_t visits = this->visits(id);
  const Key key = tree_.node(id).full_key();

  const bool skips_resolved = settings_.completion && !settings_.stop_on_draw;
  const bool by_value = settings_.order == ChildOrder::best;
  std::optional<std::size_t> best;
  int best_completion = 0;
  float best_value = 0;
  std::uint32_t best_selections = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (skips_resolved && tree_.node(edges[i].child).is(Node::resolved)) continue;
    const auto [completion, value] = by_value ? worth(edges[i].child, player) : Worth{0, 0};
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

std::optional<std::size_t> UnboundedSearch::own_child_to_explore(NodeId id) const {
  std::vector<Child> unresolved;
  std::vector<std::size_t> places;
  const auto edges = tree_.edges(id);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Child child = told(edges[i]);
    if (child.resolved) continue;
    unresolved.push_back(child);
    places.push_back(i);
  }
  if (unresolved.empty()) return std::nullopt;
  return places.at(own_rules_.child_to_explore(*state_, unresolved));
}

bool UnboundedSearch::goes_on(NodeId id, std::uint32_t new_states) const {
  if (own_rules_.goes_on) {
    std::vector<Child> children;
    for (const Edge& edge : tree_.edges(id)) children.push_back(told(edge));
    return own_rules_.goes_on(*state_, children, new_states);
  }
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

std::size_t UnboundedSearch::decided_edge(NodeId id, const State& state, Decision decision) const {
  const auto edges = tree_.edges(id);
  const int player = game_->to_move(state);
  if (decision == Decision::safest) {
    // What is resolved is never selected again, so its selections say nothing against it.
    const std::size_t best = decided_edge(id, state, Decision::best);
    if (settings_.completion && tree_.node(edges[best].child).is(Node::resolved)) return best;
  }
  const bool by_value = decision == Decision::best || decision == Decision::best_alt;
  const bool alternative = decision == Decision::best_alt || decision == Decision::safest_alt;
  return best_edge(id, 0, [&](const Edge& edge) {
    const Worth of = worth(edge.child, player);
    const double kept = alternative ? kept_back(edge, player, state) : 0;
    const double value = of.value, selections = edge.selections;
    return std::array<double, 4>{double(of.standing), kept, by_value ? value : selections,
                                 by_value ? selections : value};
  });
}

// c'(s') of variant 1: the completion of its own best child, which s' is not given before it is
// resolved.
int UnboundedSearch::kept_back(const Edge& edge, int player, const State& state) const {
  const Node& child = tree_.node(edge.child);
  if (!child.is(Node::expanded)) return tree_.completions(edge.child)[std::size_t(player)];
  const auto next = state.clone();
  game_->play(*next, edge.action);
  const Edge& best = tree_.edges(edge.child)[decided_edge(edge.child, *next, Decision::best)];
  return tree_.completions(best.child)[std::size_t(player)];
}

bool UnboundedSearch::principal_variation(NodeId id, const State& state,
                                          std::vector<Action>& line) const {
  const auto at = state.clone();
  const auto longest = std::size_t(game_->facts().max_plies);  // keys may go round in circles
  while (has_children(id) && line.size() < longest) {
    const auto& edge = tree_.edges(id)[decided_edge(id, *at, Decision::best)];
    line.push_back(edge.action);
    game_->play(*at, edge.action);
    id = edge.child;
  }
  return tree_.node(id).is(Node::terminal);
}

PerPlayer<float> UnboundedSearch::value_of(NodeId id) const {
  PerPlayer<float> value;
  value.size = game_->facts().value_width();
  if (tree_.has_vectors())
    std::copy_n(tree_.values(id).begin(), value.size, value.of.begin());
  else
    value.of[0] = tree_.node(id).value;
  return value;
}

PerPlayer<std::int8_t> UnboundedSearch::completion_of(NodeId id) const {
  PerPlayer<std::int8_t> completion;
  completion.size = game_->facts().value_width();
  if (tree_.has_vectors())
    std::copy_n(tree_.completions(id).begin(), completion.size, completion.of.begin());
  else
    completion.of[0] = tree_.node(id).completion;
  return completion;
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
  return result_of(root_, *root_state_);
}

std::optional<Result> UnboundedSearch::look(const State& state, const Mobility& mobility) const {
  NodeId id = no_node;
  if (settings_.transpositions)
    id = tree_.find(game_->key(state) ^ terminal_evaluation_.key(game_->ply(state), mobility));
  else if (root_ != no_node && game_->key(state) == game_->key(*root_state_))
    id = root_;
  // One that waits for its value is known by name only.
  if (id == no_node || std::ranges::find(new_nodes_, id) != new_nodes_.end()) return std::nullopt;
  return result_of(id, state);
}

Result UnboundedSearch::result_of(NodeId id, const State& state) const {
  Result result;
  result.counts = counts();
  result.value = value_of(id);
  result.completion = completion_of(id);
  result.resolved = tree_.node(id).is(Node::resolved);
  const bool ends = principal_variation(id, state, result.principal_variation);
  if (ends && result.resolved && settings_.completion)
    result.plies_to_end = result.principal_variation.size();
  if (!has_children(id)) return result;
  const auto edges = tree_.edges(id);
  result.action = edges[decided_edge(id, state, settings_.decision)].action;
  for (const Edge& edge : edges) result.children.push_back(told(edge));
  return result;
}

Child UnboundedSearch::told(const Edge& edge) const {
  const Node& node = tree_.node(edge.child);
  // Without completion nothing counts as proven, not even an end.
  const bool resolved = node.is(Node::resolved) && settings_.completion;
  return {edge.action, value_of(edge.child), completion_of(edge.child), resolved, edge.selections};
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

const OptionType new_states =
    whole_number("new_states", 1, 1, 1e9, "states that are new in an iteration, with at_most");
const OptionType stop_probability =
    real_number("stop_probability", 0.5, 0, 1, "of stopping after a new state, with chance");
const OptionType decision_of_n = one_of(
    "decision", {"safest", "best", "safest_printed", "best_alt", "safest_alt"},
    "the action after the search: the most selected unless the best by value is proven, the best "
    "by value, the most selected as printed, or the same where what a child would prove counts");
const OptionType wins_enough =
    one_of("wins_enough", {"local", "global", "any"},
           "the win that resolves a state: the best there may be below it, the best of the whole "
           "game, or any, and then values are no longer those of Max^n");

std::vector<OptionType> options_of(std::vector<OptionType> own, const OptionType& decision) {
  own.push_back(
      yes_or_no("completion", true, "mark proven states resolved, so that games are solved"));
  own.push_back(decision);
  own.push_back(
      yes_or_no("strong", false, "resolve every reachable state, not only enough for the root"));
  own.push_back(yes_or_no("transpositions", true,
                          "a state is one however it is reached; without, each line is searched "
                          "for itself"));
  own.push_back(yes_or_no("stop_unchanged", false,
                          "back up no further than values change; it matters with transpositions"));
  own.push_back(yes_or_no("exact_ends", true,
                          "the value of an end is the game's, otherwise what f_θ says of it"));
  own.push_back(yes_or_no("child_batching", true,
                          "all children of a state in one request, otherwise one by one"));
  own.push_back(real_number(
      "memory_mb", 1024, 1e-6, 1e9,
      "10^6 bytes for the trees: of one search, of self-play's games in step together"));
  return own;
}

SearchType type_of(std::string name, std::string about, std::vector<OptionType> own,
                   ContinueRule rule, const OptionType& decision_of = decision) {
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
    settings.decision = options.choice<Decision>(decision_of_n);
    settings.transpositions = options.flag("transpositions");
    settings.stop_unchanged = options.flag("stop_unchanged");
    settings.exact_ends = options.flag("exact_ends");
    settings.child_batching = options.flag("child_batching");
    if (options.has("variant")) {
      settings.variant = options.integer("variant");
      settings.wins_enough = options.choice<WinsEnough>(wins_enough);
      settings.stop_on_draw = options.flag("stop_on_draw");
    }
    settings.memory_bytes = std::size_t(options.real("memory_mb") * 1e6);
    return std::make_shared<UnboundedSearch>(std::move(input), settings);
  };
  return {.name = std::move(name),
          .about = std::move(about),
          .options = options_of(std::move(own), decision_of),
          .make = make,
          .consults = true};
}

// For any number of players; the rule is the default of its option.
SearchType maxn_type(std::string name, std::string about, ContinueRule rule) {
  OptionType own_rule = continue_rule;
  own_rule.fallback = continue_rule.choices[std::size_t(rule)];
  return type_of(
      std::move(name), std::move(about),
      {whole_number("variant", 1, 1, 2,
                    "1: only resolved states have a completion; 2: it is passed on before"),
       wins_enough,
       yes_or_no("stop_on_draw", false,
                 "an iteration ends where the best child is resolved; it may stay there for ever"),
       own_rule, new_states, stop_probability, order},
      rule, decision_of_n);
}

}  // namespace

extern const SearchType descent_type, ubfm_type, umb_type, maxn_descent_type, maxn_ubfm_type;

const SearchType descent_type =
    type_of("descent", "each iteration runs to a terminal or resolved state; the learning search",
            {}, ContinueRule::always);
const SearchType ubfm_type =
    type_of("ubfm", "unbounded best-first minimax, one new state an iteration; the playing search",
            {}, ContinueRule::never);
const SearchType umb_type =
    type_of("umb", "the class that holds both: choose the rules",
            {continue_rule, new_states, stop_probability, order}, ContinueRule::always);
const SearchType maxn_descent_type =
    maxn_type("maxn_descent", "descent for any number of players, whose values are vectors",
              ContinueRule::always);
const SearchType maxn_ubfm_type = maxn_type(
    "maxn_ubfm", "ubfm for any number of players, whose values are vectors", ContinueRule::never);

}  // namespace athenan
