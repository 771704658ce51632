// A game made of an explicit tree or acyclic graph, so that theorems can be tested on it.
#pragma once

#include <memory>
#include <vector>

#include "games/game.h"

namespace athenan {

struct TreeGameNode {
  int to_move = 0;
  std::vector<std::uint32_t> children;  // empty: terminal
  float value = 0;                      // f_t of a terminal node; its sign is the outcome
  float upper = 0, lower = 0;           // heuristic bounds U and L, for informed searches
  // Of a terminal node in a game for n players, each one's: f_b and, whatever it says, f_t.
  std::vector<std::int8_t> outcomes = {};
  std::vector<float> values = {};

  bool operator==(const TreeGameNode&) const = default;
};

// Node 0 is the root; action i leads to the i-th child. Throws if a node can reach itself.
std::unique_ptr<Game> make_tree_game(std::vector<TreeGameNode> nodes);
const std::vector<TreeGameNode>* nodes_of(const Game& game);  // none where it is no tree

}  // namespace athenan
