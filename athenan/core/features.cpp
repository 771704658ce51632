#include "core/features.h"

#include <array>
#include <stdexcept>
#include <vector>

namespace athenan {
namespace {

constexpr std::array<std::array<int, 3>, 8> lines = {
    {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}}};
constexpr int centre = 4;

// Planes: a cell's channels, the first player's symbol and then the second's.
int points(const std::uint8_t* planes, std::size_t channels) {
  const auto has = [&](int cell, int player) {
    return int(planes[std::size_t(cell) * channels + std::size_t(player)]);
  };
  int sum = 2 * (has(centre, 0) - has(centre, 1));
  for (const auto& line : lines) {
    int first = 0, second = 0;
    for (int cell : line) {
      first += has(cell, 0);
      second += has(cell, 1);
    }
    if (first && second) continue;
    sum += first == 2 ? 3 : second == 2 ? -3 : 1;  // an open line counts for the first player
  }
  return sum;
}

}  // namespace

void check_features(const Game& game) {
  const Facts& facts = game.facts();
  const auto k = facts.values.find("k");
  const bool three = facts.name == "tictactoe" ||
                     (facts.name == "mnk" && k != facts.values.end() && text_of(k->second) == "3");
  if (!three || facts.rows != 3 || facts.columns != 3 || facts.num_players != 2)
    throw std::invalid_argument("Evaluator 'tictactoe_features' is for tic-tac-toe, not for '" +
                                facts.name + "'.");
}

void answer_features(const Game& game, const State& state, std::span<const Action> actions,
                     std::span<float> answers) {
  const std::size_t bytes = game.facts().plane_bytes(), channels = game.facts().channels.size();
  std::vector<std::uint8_t> planes(answers.size() * bytes);
  if (actions.empty() && !answers.empty())
    game.planes(state, planes.data());
  else
    game.child_planes(state, actions, planes.data());
  for (std::size_t i = 0; i < answers.size(); ++i)
    answers[i] = float(points(planes.data() + i * bytes, channels) / most_features);
}

}  // namespace athenan
