#include "games/options.h"

#include <stdexcept>

namespace athenan {
namespace {

[[noreturn]] void refuse(const std::string& owner, const OptionType& option,
                         const std::string& why) {
  throw std::invalid_argument("Option '" + option.name + "' of " + owner + " " + why + ".");
}

std::string number(double x) {
  auto text = std::to_string(x);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// The given value in the option's own type, or a sentence that says what is wrong with it.
Option checked(const std::string& owner, const OptionType& option, Option value) {
  if (std::holds_alternative<double>(option.fallback))
    if (const auto* whole = std::get_if<std::int64_t>(&value)) value = double(*whole);
  if (value.index() != option.fallback.index()) {
    static const char* kinds[] = {"true or false", "a whole number", "a number", "a word"};
    refuse(owner, option, std::string("must be ") + kinds[option.fallback.index()]);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    std::string all;
    for (const auto& choice : option.choices) {
      if (choice == *text) return value;
      all += (all.empty() ? "" : ", ") + choice;
    }
    refuse(owner, option, "must be one of " + all + ", not '" + *text + "'");
  }
  if (std::holds_alternative<bool>(value)) return value;
  const auto* whole = std::get_if<std::int64_t>(&value);
  const double x = whole ? double(*whole) : std::get<double>(value);
  if (!(x >= option.low && x <= option.high))
    refuse(
        owner, option,
        "must be from " + number(option.low) + " to " + number(option.high) + ", not " + number(x));
  return value;
}

}  // namespace

std::string text_of(const Option& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return number(std::get<double>(value));
}

std::map<std::string, Option> complete_options(const std::string& owner,
                                               const std::vector<OptionType>& types,
                                               std::map<std::string, Option> given) {
  std::map<std::string, Option> values;
  for (const auto& option : types) {
    const auto found = given.find(option.name);
    values[option.name] =
        found == given.end() ? option.fallback : checked(owner, option, found->second);
    if (found != given.end()) given.erase(found);
  }
  if (!given.empty()) {
    std::string who = owner;
    who.front() = char(std::toupper(who.front()));
    throw std::invalid_argument(who + " has no option '" + given.begin()->first + "'.");
  }
  return values;
}

}  // namespace athenan
