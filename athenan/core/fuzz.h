// Random games that check the rules against themselves, for the sanitizers and for long nights.
#pragma once

#include <cstdint>

#include "game.h"

namespace athenan {

// Plays random games through every function of the contract; throws std::logic_error with the
// board when two of them disagree. Returns how many states it saw.
std::uint64_t fuzz(const Game& game, std::uint64_t games, std::uint64_t seed);

}  // namespace athenan
