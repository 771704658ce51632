// Proofs: what a search has resolved, as a table of states that can be checked without it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/unbounded.h"

namespace athenan {

// States by ascending key with their proven outcome for the first player.
struct Proof {
  std::vector<Key> keys;
  std::vector<std::int8_t> outcomes;
};

// The states that prove the outcome of the search's root: below a state that its mover wins one
// winning child, below any other all children; ends are left out, as the rules tell their
// outcome. With `strong` every reachable state, ends included. Throws if the root is not resolved
// or the tree no longer holds the whole proof.
Proof make_proof(const UnboundedSearch& search, bool strong);

// Checks a proof with nothing but the rules: every claim follows from those below it, down to ends
// of the game. Empty when it is right, otherwise what is wrong.
std::string check_proof(const Game& game, const State& root, const Proof& proof, bool strong);

}  // namespace athenan
