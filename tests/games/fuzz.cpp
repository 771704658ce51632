// Random games over many option sets:
//   fuzz GAMES FILE…
// A file is a game's config (.yaml) or has an option set a line, "hex size=5 swap=true".
//
// With each game go some texts of its states, changed in a few places and read again. Each option
// set gets an equal share of the time rather than of the games: the next game is of the set that
// has had least so far, so that long ones do not swallow everything. Every set is played at least
// once, and the number of games in all is at least GAMES.
#include "games/fuzz.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace athenan {
namespace {

constexpr double report_seconds = 60;     // of the processor
constexpr std::uint64_t texts = 20;       // a game
constexpr std::uint64_t seeds = 1000000;  // between two option sets

using OptionSet = std::map<std::string, Option>;  // "name" is the game's

Option value_of(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  const char *begin = text.data(), *end = begin + text.size();
  std::int64_t whole = 0;
  if (std::from_chars(begin, end, whole).ptr == end) return whole;
  double real = 0;
  if (std::from_chars(begin, end, real).ptr == end) return real;
  return text;
}

// A config is one option set, its lines "option: value"; any other file has one a line.
std::vector<OptionSet> read_sets(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("There is no file '" + path + "'.");
  const bool config = path.ends_with(".yaml");
  std::vector<OptionSet> sets(config ? 1 : 0);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, value;
    if (!(words >> name)) continue;
    if (config) {
      words >> value;
      name.pop_back();  // the colon
      sets[0][name] = value_of(value);
      continue;
    }
    OptionSet set{{"name", name}};
    while (words >> value) {
      const auto middle = value.find('=');
      if (middle == std::string::npos)
        throw std::invalid_argument("'" + path + "' has no value for '" + value + "'.");
      set[value.substr(0, middle)] = value_of(value.substr(middle + 1));
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

struct Fuzzed {
  std::unique_ptr<Game> game;
  double seconds = 0;
  std::uint64_t games = 0, states = 0;
};

double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

template <class Member>
std::uint64_t total(const std::vector<Fuzzed>& sets, Member member) {
  return std::accumulate(sets.begin(), sets.end(), std::uint64_t(0),
                         [&](std::uint64_t sum, const Fuzzed& set) { return sum + set.*member; });
}

void fuzz_all(std::vector<Fuzzed>& sets, std::uint64_t wanted) {
  double reported = processor_seconds();
  std::uint64_t unplayed = sets.size();
  for (std::uint64_t played = 0; played < wanted || unplayed > 0; ++played) {
    const auto turn = std::min_element(sets.begin(), sets.end(), [](const auto& a, const auto& b) {
      return a.seconds < b.seconds;
    });
    const double begun = processor_seconds();
    const auto seed = seeds * std::uint64_t(turn - sets.begin()) + turn->games;
    turn->states += fuzz(*turn->game, 1, seed);
    fuzz_texts(*turn->game, texts, seed);
    if (turn->games++ == 0) --unplayed;
    const double now = processor_seconds();
    // A game shorter than the clock's tick counts too, or its set would be played for ever.
    turn->seconds += std::max(now - begun, 1e-6);
    if (now - reported < report_seconds) continue;
    reported = now;
    std::printf("%llu games, %llu states, %.0f s\n", (unsigned long long)(played + 1),
                (unsigned long long)(total(sets, &Fuzzed::states)), now);
    std::fflush(stdout);
  }
}

void report(const std::vector<Fuzzed>& sets) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> of_name;
  for (const auto& set : sets) {
    auto& [games, states] = of_name[set.game->facts().name];
    games += set.games;
    states += set.states;
  }
  for (const auto& [name, figures] : of_name)
    std::printf("%-16s %7llu games %9llu states\n", name.c_str(),
                (unsigned long long)(figures.first), (unsigned long long)(figures.second));
  std::printf("fuzzed %llu random games of %zu option sets: no finding\n",
              (unsigned long long)(total(sets, &Fuzzed::games)), sets.size());
}

int run(const std::vector<std::string>& words) {
  const Option wanted = words.empty() ? Option(false) : value_of(words[0]);
  const auto* games = std::get_if<std::int64_t>(&wanted);
  if (!games || *games < 0 || words.size() < 2)
    throw std::invalid_argument("Give the number of games and files of option sets.");
  std::vector<Fuzzed> sets;
  for (std::size_t i = 1; i < words.size(); ++i)
    for (auto& set : read_sets(words[i])) {
      const auto name = set.extract("name");
      if (!name || !std::holds_alternative<std::string>(name.mapped()))
        throw std::invalid_argument("'" + words[i] + "' names no game.");
      sets.push_back({make_game(std::get<std::string>(name.mapped()), std::move(set))});
    }
  if (sets.empty()) throw std::invalid_argument("These files have no option set.");
  fuzz_all(sets, std::uint64_t(*games));
  report(sets);
  return 0;
}

}  // namespace
}  // namespace athenan

int main(int count, char** words) {
  try {
    return athenan::run({words + 1, words + count});
  } catch (const std::invalid_argument& refusal) {
    std::fprintf(stderr, "%s\n", refusal.what());
    return 2;
  } catch (const std::exception& finding) {
    std::fprintf(stderr, "%s\n", finding.what());
    return 1;
  }
}
