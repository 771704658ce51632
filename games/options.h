// Options of games and searches: each type lists them once, with default, range and a sentence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace athenan {

using Option = std::variant<bool, std::int64_t, double, std::string>;

struct OptionType {
  std::string name;
  Option fallback;
  double low = 0, high = 0;          // of a number
  std::vector<std::string> choices;  // of a text
  std::string about;
};

// Shorthands for the tables of options.
inline OptionType whole_number(std::string name, std::int64_t fallback, double low, double high,
                               std::string about) {
  return {std::move(name), fallback, low, high, {}, std::move(about)};
}
inline OptionType real_number(std::string name, double fallback, double low, double high,
                              std::string about) {
  return {std::move(name), fallback, low, high, {}, std::move(about)};
}
inline OptionType yes_or_no(std::string name, bool fallback, std::string about) {
  return {std::move(name), fallback, 0, 0, {}, std::move(about)};
}
// The first choice is the default.
inline OptionType one_of(std::string name, std::vector<std::string> choices, std::string about) {
  return {std::move(name), choices.front(), 0, 0, choices, std::move(about)};
}

class Options {
 public:
  explicit Options(std::map<std::string, Option> values) : values_(std::move(values)) {}
  int integer(const std::string& name) const {
    return int(std::get<std::int64_t>(values_.at(name)));
  }
  double real(const std::string& name) const { return std::get<double>(values_.at(name)); }
  bool flag(const std::string& name) const { return std::get<bool>(values_.at(name)); }
  const std::string& text(const std::string& name) const {
    return std::get<std::string>(values_.at(name));
  }
  bool has(const std::string& name) const { return values_.contains(name); }
  // The place of the text among its choices, for enums that list them in the same order.
  template <class Enum>
  Enum choice(const OptionType& option) const {
    const auto& choices = option.choices;
    const auto at = std::find(choices.begin(), choices.end(), text(option.name));
    return Enum(at - choices.begin());
  }

 private:
  std::map<std::string, Option> values_;
};

// All options of `owner` ("game 'hex'"): what is given, in the option's own type, and the defaults
// of the others. Throws std::invalid_argument with a sentence.
std::map<std::string, Option> complete_options(const std::string& owner,
                                               const std::vector<OptionType>& types,
                                               std::map<std::string, Option> given);

std::string text_of(const Option& value);

}  // namespace athenan
