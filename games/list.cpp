#include "games/list.h"

#include <stdexcept>

#include "games/game.h"

namespace athenan {

#define DECLARE_GAME(name) extern const GameType name##_type;
ATHENAN_GAMES(DECLARE_GAME)
#undef DECLARE_GAME

const std::vector<const GameType*>& game_types() {
#define NAME_GAME(name) &name##_type,
  static const std::vector<const GameType*> types = {ATHENAN_GAMES(NAME_GAME)};
#undef NAME_GAME
  return types;
}

struct GameMaker {
  static std::unique_ptr<Game> make(const GameType& type, std::map<std::string, Option> values) {
    std::string changed;
    for (const auto& option : type.options)
      if (const auto& value = values[option.name]; value != option.fallback)
        changed += (changed.empty() ? "" : " ") + option.name + "=" + text_of(value);
    auto game = type.make(Options(values));
    game->facts_.options = std::move(changed);
    game->facts_.values = std::move(values);
    return game;
  }
};

std::unique_ptr<Game> make_game(const std::string& name, std::map<std::string, Option> given) {
  for (const GameType* type : game_types()) {
    if (type->name != name) continue;
    return GameMaker::make(
        *type, complete_options("game '" + name + "'", type->options, std::move(given)));
  }
  throw std::invalid_argument("There is no game '" + name + "'.");
}

}  // namespace athenan
