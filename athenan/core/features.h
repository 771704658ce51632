// The evaluator `tictactoe_features`: a lecture's hand-made f_θ for three in a row on 3 × 3.
#pragma once

#include <span>

#include "games/game.h"

namespace athenan {

inline constexpr double most_features = 26;  // no state has more points, for either player

void check_features(const Game& game);  // throws where it is another game
// Of the state's children by these actions, or without any of the state: points / 26, in [-1, 1].
void answer_features(const Game& game, const State& state, std::span<const Action> actions,
                     std::span<float> answers);

}  // namespace athenan
