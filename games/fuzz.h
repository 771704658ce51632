// Random games that check the rules against themselves, for the sanitizers and for long nights.
#pragma once

#include <cstdint>

#include "games/game.h"

namespace athenan {

// Plays random games through every function of the contract; throws std::logic_error with the
// board when two of them disagree. Returns how many states it saw.
std::uint64_t fuzz(const Game& game, std::uint64_t games, std::uint64_t seed);

// Reads texts of states with a few changes: each is refused by a std::invalid_argument with a
// sentence, or makes a state that can be written, shown as planes and played; otherwise throws
// std::logic_error.
void fuzz_texts(const Game& game, std::uint64_t texts, std::uint64_t seed);

}  // namespace athenan
