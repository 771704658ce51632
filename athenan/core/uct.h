// UCT with random rollouts (Algorithm 3 of "Pruning Game Tree by Rollouts"), for any number of
// players: the reference opponent, and the way to play games for three or more.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "games/game.h"

namespace athenan {

class Uct {
 public:
  struct Child {
    Action action;
    std::uint32_t visits = 0;
    double total = 0;  // of outcomes, in the view of the player who chooses this child
    double mean() const { return visits ? total / visits : 0; }
  };

  // exploration: λ, in units of outcomes in [-1, 1].
  Uct(const Game& game, double exploration, std::uint64_t seed);

  // Forgets what it knew and does that many rollouts from a state that is not terminal.
  void run(const State& root, std::uint64_t rollouts);
  const std::vector<Child>& children() const { return nodes_.front().children; }
  Action decision() const;  // the most visited child
  std::size_t states() const { return nodes_.size(); }

 private:
  struct Node {
    int player = 0;
    std::uint32_t visits = 0;
    std::vector<Child> children;
    std::vector<std::uint32_t> nodes;  // of the children; 0 where none is made yet
  };

  void rollout(const State& root);
  std::size_t choose(const Node& node);
  std::uint32_t add_node(const State& state);

  const Game& game_;
  double exploration_;
  Random random_;
  std::vector<Node> nodes_;
  std::unique_ptr<State> state_;
  std::vector<std::pair<std::uint32_t, std::size_t>> path_;  // node, chosen child
  Actions actions_;
};

}  // namespace athenan
