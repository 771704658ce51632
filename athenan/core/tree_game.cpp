#include "core/tree_game.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace athenan {
namespace {

constexpr int id_bits = 32;

struct Place final : State {
  std::uint32_t node = 0;
  int ply = 0;
  std::unique_ptr<State> clone() const override { return std::make_unique<Place>(*this); }
  void assign(const State& other) override { *this = static_cast<const Place&>(other); }
};

class TreeGame final : public Game {
 public:
  explicit TreeGame(std::vector<TreeGameNode> nodes) : nodes_(std::move(nodes)) {
    if (nodes_.empty()) throw std::invalid_argument("A tree needs at least its root.");
    facts_.name = "tree";
    facts_.rows = facts_.columns = 1;
    for (int bit = 0; bit < id_bits; ++bit)
      facts_.channels.push_back("bit " + std::to_string(bit) + " of the node's number");
    Symmetry identity{{0}, {}, 1};
    for (int bit = 0; bit < id_bits; ++bit) identity.channels.push_back(bit);
    facts_.symmetries = {identity};
    facts_.state_bytes = sizeof(Place);
    facts_.max_score = 1;  // a tree has scores, even if all its leaves are draws
    read_vectors();
    for (const auto& node : nodes_) {
      if (node.to_move < 0 || node.to_move >= facts_.num_players)
        throw std::invalid_argument(
            "A tree has players 0 " + std::string(facts_.num_players == 2 ? "and " : "to ") +
            std::to_string(facts_.num_players - 1) + ", not " + std::to_string(node.to_move) + ".");
      if (!std::isfinite(node.value))
        throw std::invalid_argument("A value of a tree is a finite number.");
      facts_.max_score = std::max<double>(facts_.max_score, std::abs(node.value));
      for (auto child : node.children)
        if (child >= nodes_.size())
          throw std::invalid_argument("There is no node " + std::to_string(child) +
                                      " in this tree.");
    }
    order_ = parents_first();
    facts_.max_plies = height();
    if (facts_.scores_are_values)
      find_most();
    else
      check_bounds();
  }

  std::unique_ptr<State> initial_state() const override { return std::make_unique<Place>(); }
  void legal_actions(const State& state, Actions& actions) const override {
    actions.resize(at(state).children.size());
    for (std::size_t i = 0; i < actions.size(); ++i) actions[i] = Action(i);
  }
  void play(State& state, Action action) const override {
    auto& place = static_cast<Place&>(state);
    place.node = nodes_[place.node].children[action];
    ++place.ply;
  }
  bool is_terminal(const State& state) const override { return at(state).children.empty(); }
  int to_move(const State& state) const override { return at(state).to_move; }
  int ply(const State& state) const override { return static_cast<const Place&>(state).ply; }
  Key key(const State& state) const override { return hash_key(id(state)); }
  Ending ending(const State& state) const override { return ending_of(id(state)); }
  double most_score(const State& state, int player) const override {
    return most_.empty() ? facts_.max_score : most_[id(state)][std::size_t(player)];
  }

  Bounds bounds(const State& state) const override {
    const auto& node = at(state);
    if (node.children.empty()) return {node.value, node.value};
    return {node.lower, node.upper};
  }

  void expand(const State& state, Children& children) const override {
    legal_actions(state, children.actions);
    const std::size_t size = children.actions.size();
    children.keys.resize(size);
    children.terminal.resize(size);
    children.endings.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      const auto child = at(state).children[i];
      children.keys[i] = hash_key(child);
      children.terminal[i] = nodes_[child].children.empty();
      children.endings[i] = ending_of(child);
    }
  }
  void planes(const State& state, std::uint8_t* out) const override { write(id(state), out); }
  void child_planes(const State& state, std::span<const Action> actions,
                    std::uint8_t* out) const override {
    for (Action action : actions) {
      write(at(state).children[action], out);
      out += id_bits;
    }
  }
  int playout(State& state, Random& random) const override {
    int plies = 0;
    for (; !is_terminal(state); ++plies)
      play(state, random.below(std::uint32_t(at(state).children.size())));
    return plies;
  }
  std::uint64_t perft(const State& state, int depth) const override {
    return leaves(id(state), depth);
  }

  std::string state_to_string(const State& state, std::optional<Action>) const override {
    return "node " + std::to_string(id(state));
  }
  std::unique_ptr<State> state_from_string(std::string_view text) const override {
    if (text.substr(0, 5) != "node ") throw std::invalid_argument("Write a node like 'node 3'.");
    std::uint32_t node = 0;
    const auto [end, error] = std::from_chars(text.data() + 5, text.data() + text.size(), node);
    if (error != std::errc() || end != text.data() + text.size())
      throw std::invalid_argument("Write a node like 'node 3'.");
    return at_node(node, 0);
  }
  std::unique_ptr<State> state_from_planes(const std::uint8_t* planes, int ply) const override {
    std::uint32_t node = 0;
    for (int bit = 0; bit < id_bits; ++bit) node |= std::uint32_t(planes[bit]) << bit;
    return at_node(node, ply);
  }
  std::string action_to_string(const State&, Action action) const override {
    return std::to_string(action);
  }
  bool identical(const State& a, const State& b) const override {
    return id(a) == id(b) && ply(a) == ply(b);
  }
  bool same_as(const Game& other) const override {
    const auto* nodes = nodes_of(other);
    return nodes && *nodes == nodes_;
  }
  const std::vector<TreeGameNode>& nodes() const { return nodes_; }

 private:
  static std::uint32_t id(const State& state) { return static_cast<const Place&>(state).node; }
  const TreeGameNode& at(const State& state) const { return nodes_[id(state)]; }

  std::unique_ptr<State> at_node(std::uint32_t node, int ply) const {
    if (node >= nodes_.size())
      throw std::invalid_argument("There is no node " + std::to_string(node) + " in this tree.");
    auto place = std::make_unique<Place>();
    place->node = node;
    place->ply = ply;
    return place;
  }
  Ending ending_of(std::uint32_t node) const {
    Ending ending;
    const float value = nodes_[node].value;
    if (!nodes_[node].children.empty()) return ending;
    if (facts_.scores_are_values) {
      std::ranges::copy(nodes_[node].outcomes, ending.outcome.begin());
      std::ranges::copy(nodes_[node].values, ending.score.begin());
      return ending;
    }
    ending.outcome[0] = std::int8_t((value > 0) - (value < 0));
    ending.outcome[1] = std::int8_t(-ending.outcome[0]);
    ending.score[0] = value;
    return ending;
  }
  // Where ends have vectors there are as many players, and their values are f_t as they stand.
  void read_vectors() {
    std::vector<const TreeGameNode*> ends;
    for (const auto& node : nodes_)
      if (node.children.empty()) ends.push_back(&node);
    if (ends.empty() || ends[0]->outcomes.empty()) return;
    const std::size_t players = ends[0]->outcomes.size();
    if (players > std::size_t(max_players))
      throw std::invalid_argument("A tree has at most " + std::to_string(max_players) +
                                  " players.");
    facts_.num_players = int(players);
    facts_.zero_sum = false;
    facts_.scores_are_values = true;
    facts_.scores_break_ties = true;
    for (const auto* end : ends) {
      if (end->outcomes.size() != players || end->values.size() != players)
        throw std::invalid_argument("Each end of a tree has an outcome and a value a player.");
      for (std::size_t player = 0; player < players; ++player) {
        if (!std::isfinite(end->values[player]) || std::abs(end->outcomes[player]) > 1)
          throw std::invalid_argument("Outcomes are -1, 0 or 1 and values finite.");
        facts_.max_score = std::max<double>(facts_.max_score, std::abs(end->values[player]));
      }
    }
    // By Definition 11: who is indifferent between two ends has two that are the same.
    for (std::size_t player = 0; player < players; ++player) {
      std::map<std::pair<int, float>, const TreeGameNode*> like;
      for (const auto* end : ends) {
        const auto [at, is_new] =
            like.emplace(std::pair(end->outcomes[player], end->values[player]), end);
        facts_.scores_break_ties &=
            at->second->outcomes == end->outcomes && at->second->values == end->values;
      }
    }
  }
  // Of the ends below each node, or of itself: children before their parents.
  void find_most() {
    constexpr double none = -std::numeric_limits<double>::infinity();
    most_.assign(nodes_.size(), {});
    for (auto& most : most_) most.fill(none);
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      const auto& node = nodes_[*at];
      auto& most = most_[*at];
      for (std::size_t player = 0; player < node.values.size() && node.children.empty(); ++player)
        most[player] = node.values[player];
      for (auto child : node.children)
        for (std::size_t player = 0; player < most.size(); ++player)
          most[player] = std::max(most[player], most_[child][player]);
    }
  }
  static void write(std::uint32_t node, std::uint8_t* out) {
    for (int bit = 0; bit < id_bits; ++bit) out[bit] = node >> bit & 1;
  }
  // Neither this nor height() calls itself: a tree may be deeper than the stack.
  std::uint64_t leaves(std::uint32_t node, int depth) const {
    std::map<std::uint32_t, std::uint64_t> paths = {{node, 1}};  // to the nodes at a depth
    for (; depth > 0 && !paths.empty(); --depth) {
      std::map<std::uint32_t, std::uint64_t> longer;
      for (const auto& [end, count] : paths)
        for (auto child : nodes_[end].children) longer[child] += count;
      paths = std::move(longer);
    }
    std::uint64_t total = 0;
    for (const auto& [end, count] : paths) total += count;
    return total;
  }
  // Nodes are taken once all their parents are.
  std::vector<std::uint32_t> parents_first() const {
    std::vector<std::uint32_t> parents(nodes_.size()), ready, order;
    for (const auto& node : nodes_)
      for (auto child : node.children) ++parents[child];
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      if (!parents[node]) ready.push_back(node);
    while (!ready.empty()) {
      order.push_back(ready.back());
      ready.pop_back();
      for (auto child : nodes_[order.back()].children)
        if (--parents[child] == 0) ready.push_back(child);
    }
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      if (parents[node])
        throw std::invalid_argument("Node " + std::to_string(node) +
                                    " can reach itself, or is below one that can.");
    return order;
  }
  // Of the longest line, wherever it starts.
  int height() const {
    std::vector<int> depths(nodes_.size());
    for (auto node : order_)
      for (auto child : nodes_[node].children)
        depths[child] = std::max(depths[child], depths[node] + 1);
    return *std::max_element(depths.begin(), depths.end());
  }
  // Informed searches rely on L ≤ f ≤ U, and on bounds that grow no wider where a player chooses.
  void check_bounds() const {
    std::vector<float> values(nodes_.size());  // f
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      const auto& node = nodes_[*at];
      const bool is_max = node.to_move == 0, is_end = node.children.empty();
      float& value = values[*at] = is_end ? node.value : values[node.children.front()];
      for (auto child : node.children)
        value = is_max ? std::max(value, values[child]) : std::min(value, values[child]);
      if (is_end) continue;
      const std::string here = "of node " + std::to_string(*at);
      if (!(node.lower <= value && value <= node.upper))
        throw std::invalid_argument("The bounds " + here + " do not hold its value.");
      for (auto child : node.children) {
        const auto& below = nodes_[child];
        if (below.children.empty()) continue;
        if (is_max ? below.upper > node.upper : below.lower < node.lower)
          throw std::invalid_argument("The " + std::string(is_max ? "upper" : "lower") +
                                      " bound of node " + std::to_string(child) +
                                      " is wider than that " + here + ", its parent.");
      }
    }
  }

  std::vector<TreeGameNode> nodes_;
  std::vector<std::uint32_t> order_;                   // parents before their children
  std::vector<std::array<double, max_players>> most_;  // f_t below each node, where it is given
};

}  // namespace

std::unique_ptr<Game> make_tree_game(std::vector<TreeGameNode> nodes) {
  return std::make_unique<TreeGame>(std::move(nodes));
}

const std::vector<TreeGameNode>* nodes_of(const Game& game) {
  const auto* tree = dynamic_cast<const TreeGame*>(&game);
  return tree ? &tree->nodes() : nullptr;
}

}  // namespace athenan
