#include "core/tree_game.h"

#include <algorithm>
#include <charconv>
#include <cmath>
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
    for (const auto& node : nodes_) {
      if (!std::isfinite(node.value))
        throw std::invalid_argument("A value of a tree is a finite number.");
      if (node.to_move != 0 && node.to_move != 1)
        throw std::invalid_argument("A tree has players 0 and 1, not " +
                                    std::to_string(node.to_move) + ".");
      facts_.max_score = std::max<double>(facts_.max_score, std::abs(node.value));
      for (auto child : node.children)
        if (child >= nodes_.size())
          throw std::invalid_argument("There is no node " + std::to_string(child) +
                                      " in this tree.");
    }
    facts_.max_plies = height();
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
    ending.outcome[0] = std::int8_t((value > 0) - (value < 0));
    ending.outcome[1] = std::int8_t(-ending.outcome[0]);
    ending.score[0] = value;
    return ending;
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
  // Of the longest line, wherever it starts: nodes are taken once all their parents are.
  int height() const {
    std::vector<std::uint32_t> parents(nodes_.size()), ready;
    std::vector<int> depths(nodes_.size());
    for (const auto& node : nodes_)
      for (auto child : node.children) ++parents[child];
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      if (!parents[node]) ready.push_back(node);
    int height = 0;
    while (!ready.empty()) {
      const auto node = ready.back();
      ready.pop_back();
      height = std::max(height, depths[node]);
      for (auto child : nodes_[node].children) {
        depths[child] = std::max(depths[child], depths[node] + 1);
        if (--parents[child] == 0) ready.push_back(child);
      }
    }
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      if (parents[node])
        throw std::invalid_argument("Node " + std::to_string(node) +
                                    " can reach itself, or is below one that can.");
    return height;
  }

  std::vector<TreeGameNode> nodes_;
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
