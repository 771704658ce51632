// Proofs: what a search has resolved, as a table of states that can be checked without it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/unbounded.h"

namespace athenan {

// States by ascending key with what is claimed of each: of two players the outcome for the first,
// of n the outcome and the value of f_t for each, that is, a value of Max^n. A value may depend on
// what the heuristic needs besides the state; it is then part of the key, as in the search.
struct Proof {
  std::vector<Key> keys;
  std::vector<std::int8_t> outcomes;  // [states, width]
  std::vector<float> values;          // the same; none for two players
};

// The states that prove the outcome of the search's root: below a state that its mover wins (of n
// players: as well as can be) one winning child, below any other all children; ends are left out,
// as the rules tell their outcome. With `strong` every reachable state, ends included. Throws if
// the root is not resolved or the tree no longer holds the whole proof.
Proof make_proof(const UnboundedSearch& search, bool strong);

// Checks a proof with nothing but the rules and f_t: every claim follows from those below it, down
// to ends of the game. Empty when it is right, otherwise what is wrong.
std::string check_proof(const Game& game, const TerminalEvaluation& evaluation, const State& root,
                        const Mobility& mobility, const Proof& proof, bool strong);

}  // namespace athenan
