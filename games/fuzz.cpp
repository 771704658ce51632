#include "games/fuzz.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace athenan {
namespace {

void require(bool truth, const char* what, const Game& game, const State& state) {
  if (!truth)
    throw std::logic_error(game.facts().name + ": " + what + "\n" +
                           game.state_to_string(state, std::nullopt));
}

// A playout is the same as choosing legal actions with the same random numbers.
void check_playout(const Game& game, const State& from, std::uint64_t seed, Actions& actions) {
  const auto quick = from.clone(), slow = from.clone();
  Random quick_random(seed), slow_random(seed);
  game.playout(*quick, quick_random);
  while (!game.is_terminal(*slow)) {
    game.legal_actions(*slow, actions);
    const Action chosen = game.random_action(*slow, slow_random);
    require(std::binary_search(actions.begin(), actions.end(), chosen), "an illegal choice", game,
            *slow);
    game.play(*slow, chosen);
  }
  require(game.identical(*quick, *slow), "a playout of its own", game, from);
}

// Each of the actions is chosen about as often as the others; so far off as here chance alone
// comes less than once in 10^10 times.
void check_chances(const Game& game, const State& state, Random& random, const Actions& actions) {
  constexpr int often = 64, deviation = 8;
  std::vector<int> chosen(actions.size());
  for (std::size_t i = 0; i < often * actions.size(); ++i) {
    const Action action = game.random_action(state, random);
    ++chosen[std::lower_bound(actions.begin(), actions.end(), action) - actions.begin()];
  }
  for (int times : chosen)
    require(times > often - 7 * deviation && times < often + 8 * deviation, "unequal chances", game,
            state);
}

// Once in a while: texts, planes and the rebuilt state.
void check_views(const Game& game, const State& state, std::vector<std::uint8_t>& planes) {
  planes.assign(game.facts().plane_bytes(), 255);
  game.planes(state, planes.data());
  require(*std::max_element(planes.begin(), planes.end()) <= 1, "planes are not bits", game, state);
  const auto from_text = game.state_from_string(game.state_to_string(state, std::nullopt));
  const auto from_planes = game.state_from_planes(planes.data(), game.ply(state));
  if (game.facts().has_history) return;
  require(game.identical(state, *from_text), "the text loses something", game, state);
  require(game.identical(state, *from_planes), "the planes lose something", game, state);
}

// Changes a text in one place, as a slip of the hand or a malicious one might.
void mutate(std::string& text, Random& random) {
  if (text.empty()) return;
  const auto somewhere = [&] { return random.below(std::uint32_t(text.size())); };
  const auto at = somewhere();
  const auto line = text.rfind('\n', at) + 1, end = std::min(text.find('\n', at), text.size() - 1);
  switch (random.below(8)) {
    case 0: std::swap(text[at], text[somewhere()]); break;
    case 1: text.erase(at, 1); break;
    case 2: text.insert(at, 1, text[at]); break;
    case 3: text[at] = text[somewhere()]; break;
    case 4: text.erase(line, end + 1 - line); break;
    case 5: text.insert(line, text.substr(line, end + 1 - line)); break;
    case 6: text.resize(at); break;
    default:  // a number; where there is none, another letter
      const auto digit = text.find_first_of("0123456789", at);
      text[digit == std::string::npos ? at : digit] = char('0' + random.below(10));
      if (random.below(2)) text.insert(at, std::to_string(random.below(100000)));
  }
}

// A text that is not refused makes a state with all that a state promises.
void check_text(const Game& game, const std::string& text, Random& random, Actions& actions,
                std::vector<std::uint8_t>& planes) {
  std::unique_ptr<State> state;
  try {
    state = game.state_from_string(text);
  } catch (const std::invalid_argument& refusal) {
    if (!std::string_view(refusal.what()).ends_with('.'))
      throw std::logic_error("refused with \"" + std::string(refusal.what()) + "\":\n" + text);
    return;
  }
  const auto own = game.state_to_string(*state, std::nullopt);
  const auto again = game.state_to_string(*game.state_from_string(own), std::nullopt);
  require(own == again, "its text reads as another state", game, *state);
  planes.assign(game.facts().plane_bytes(), 255);
  game.planes(*state, planes.data());
  game.state_from_planes(planes.data(), game.ply(*state));
  for (int i = 0; i < 8; ++i) {
    game.legal_actions(*state, actions);
    require(actions.empty() == game.is_terminal(*state), "no action, and no end", game, *state);
    if (actions.empty()) return;
    const Action action = actions[random.below(std::uint32_t(actions.size()))];
    require(!game.action_to_string(*state, action).empty(), "no text", game, *state);
    game.play(*state, action);
  }
}

}  // namespace

void fuzz_texts(const Game& game, std::uint64_t texts, std::uint64_t seed) {
  Random random(seed);
  Actions actions;
  std::vector<std::uint8_t> planes;
  const auto state = game.initial_state();
  for (std::uint64_t i = 0; i < texts; ++i) {
    if (game.is_terminal(*state)) state->assign(*game.initial_state());
    auto text = game.state_to_string(*state, std::nullopt);
    for (auto changes = 1 + random.below(3); changes > 0; --changes) mutate(text, random);
    try {
      check_text(game, text, random, actions, planes);
    } catch (const std::exception& error) {
      throw std::logic_error(std::string(error.what()) + "\nof the text\n" + text);
    }
    for (int plies = 0; plies < 4 && !game.is_terminal(*state); ++plies)
      game.play(*state, game.random_action(*state, random));
  }
}

std::uint64_t fuzz(const Game& game, std::uint64_t games, std::uint64_t seed) {
  Random random(seed);
  Children children;
  Actions actions;
  std::vector<std::uint8_t> planes;
  std::uint64_t states = 0;
  const auto child = game.initial_state();
  for (std::uint64_t i = 0; i < games; ++i) {
    const auto state = game.initial_state();
    check_playout(game, *state, random.next(), actions);
    while (!game.is_terminal(*state)) {
      ++states;
      require(game.ply(*state) < game.facts().max_plies, "longer than promised", game, *state);
      game.expand(*state, children);
      game.legal_actions(*state, actions);
      require(actions == children.actions && !actions.empty(), "two lists of actions", game,
              *state);
      require(std::is_sorted(actions.begin(), actions.end()) &&
                  std::adjacent_find(actions.begin(), actions.end()) == actions.end(),
              "actions do not ascend", game, *state);
      const auto chosen = random.below(std::uint32_t(actions.size()));
      child->assign(*state);
      game.play(*child, actions[chosen]);
      require(game.key(*child) == children.keys[chosen], "two keys of a child", game, *child);
      require(game.is_terminal(*child) == bool(children.terminal[chosen]), "two ends", game,
              *child);
      if (random.below(16) == 0) {
        check_views(game, *state, planes);
        if (actions.size() <= 100 && random.below(16) == 0)
          check_chances(game, *state, random, actions);
        require(!game.action_to_string(*state, actions[chosen]).empty(), "no text", game, *state);
      }
      state->assign(*child);
    }
    game.legal_actions(*state, actions);
    require(actions.empty(), "actions after the end", game, *state);
    check_views(game, *state, planes);
  }
  return states;
}

}  // namespace athenan
