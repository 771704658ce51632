// Python's view of games made of explicit trees.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "core/bind.h"
#include "core/tree_game.h"

namespace athenan {
namespace {

std::shared_ptr<Game> tree_game(const std::vector<std::vector<std::uint32_t>>& children,
                                const std::vector<int>& to_move, const std::vector<float>& values,
                                const std::vector<float>& upper, const std::vector<float>& lower,
                                const std::vector<std::vector<int>>& outcomes,
                                const std::vector<std::vector<float>>& vectors) {
  std::vector<TreeGameNode> nodes(children.size());
  if (to_move.size() != nodes.size() || values.size() != nodes.size() ||
      upper.size() != nodes.size() || lower.size() != nodes.size() ||
      (!outcomes.empty() && outcomes.size() != nodes.size()) || vectors.size() != outcomes.size())
    throw nb::value_error("All lists of a tree have one entry a node.");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i] = {to_move[i], children[i], values[i], upper[i], lower[i]};
    if (outcomes.empty() || !children[i].empty()) continue;
    for (int outcome : outcomes[i])
      nodes[i].outcomes.push_back(std::int8_t(std::clamp(outcome, -2, 2)));  // ±2 is refused
    nodes[i].values = vectors[i];
  }
  return make_tree_game(std::move(nodes));
}

// The arguments that make the same tree again, or none where the game is no tree.
nb::object tree_of(const Game& game) {
  const auto* nodes = nodes_of(game);
  if (!nodes) return nb::none();
  nb::list children, to_move, values, upper, lower, outcomes, vectors;
  for (const auto& node : *nodes) {
    children.append(nb::cast(node.children));
    to_move.append(node.to_move);
    values.append(node.value);
    upper.append(node.upper);
    lower.append(node.lower);
    if (!game.facts().scores_are_values) continue;
    outcomes.append(nb::cast(std::vector<int>(node.outcomes.begin(), node.outcomes.end())));
    vectors.append(nb::cast(node.values));
  }
  return nb::make_tuple(children, to_move, values, upper, lower, outcomes, vectors);
}

}  // namespace

void bind_tree_game(nb::module_& m) {
  m.def("make_tree_game", &tree_game, nb::arg("children"), nb::arg("to_move"), nb::arg("values"),
        nb::arg("upper"), nb::arg("lower"), nb::arg("outcomes") = nb::list(),
        nb::arg("vectors") = nb::list());
  m.def("tree_of", &tree_of, nb::arg("game"),
        nb::sig("def tree_of(game: Game) -> tuple[list[typing.Any], ...] | None"),
        "What make_tree_game takes, of a game that it made.");
}

}  // namespace athenan
