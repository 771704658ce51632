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

namespace {

[[noreturn]] void refuse(const GameType& type, const OptionType& option, const std::string& why) {
  throw std::invalid_argument("Option '" + option.name + "' of game '" + type.name + "' " + why +
                              ".");
}

std::string number(double x) {
  auto text = std::to_string(x);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// The given value in the option's own type, or a sentence that says what is wrong with it.
Option checked(const GameType& type, const OptionType& option, Option value) {
  if (std::holds_alternative<double>(option.fallback))
    if (const auto* whole = std::get_if<std::int64_t>(&value)) value = double(*whole);
  if (value.index() != option.fallback.index()) {
    static const char* kinds[] = {"true or false", "a whole number", "a number", "a word"};
    refuse(type, option, std::string("must be ") + kinds[option.fallback.index()]);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    std::string all;
    for (const auto& choice : option.choices) {
      if (choice == *text) return value;
      all += (all.empty() ? "" : ", ") + choice;
    }
    refuse(type, option, "must be one of " + all + ", not '" + *text + "'");
  }
  if (std::holds_alternative<bool>(value)) return value;
  const auto* whole = std::get_if<std::int64_t>(&value);
  const double x = whole ? double(*whole) : std::get<double>(value);
  if (!(x >= option.low && x <= option.high))
    refuse(
        type, option,
        "must be from " + number(option.low) + " to " + number(option.high) + ", not " + number(x));
  return value;
}

std::string text_of(const Option& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return number(std::get<double>(value));
}

}  // namespace

struct GameMaker {
  static std::unique_ptr<Game> make(const GameType& type, std::map<std::string, Option> values) {
    std::string changed;
    for (const auto& option : type.options)
      if (const auto& value = values[option.name]; value != option.fallback)
        changed += (changed.empty() ? "" : " ") + option.name + "=" + text_of(value);
    auto game = type.make(Options(std::move(values)));
    game->facts_.options = std::move(changed);
    return game;
  }
};

std::unique_ptr<Game> make_game(const std::string& name, std::map<std::string, Option> given) {
  for (const GameType* type : game_types()) {
    if (type->name != name) continue;
    std::map<std::string, Option> values;
    for (const auto& option : type->options) {
      const auto found = given.find(option.name);
      values[option.name] =
          found == given.end() ? option.fallback : checked(*type, option, found->second);
      if (found != given.end()) given.erase(found);
    }
    if (!given.empty())
      throw std::invalid_argument("Game '" + name + "' has no option '" + given.begin()->first +
                                  "'.");
    return GameMaker::make(*type, std::move(values));
  }
  throw std::invalid_argument("There is no game '" + name + "'.");
}

}  // namespace athenan
