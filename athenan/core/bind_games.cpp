// Python's view of games and states.
#include "core/bind.h"
#include "games/fuzz.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>

namespace athenan {
namespace {

nb::object key_to_int(const Key& key) {
  return (nb::int_(key.high) << nb::int_(64)) | nb::int_(key.low);
}

Actions legal_actions(const BoundState& state) {
  Actions actions;
  state.game->legal_actions(*state.state, actions);
  return actions;
}

BoundState play(const BoundState& state, std::int64_t action) {
  const auto legal = legal_actions(state);
  if (action < 0 || !std::binary_search(legal.begin(), legal.end(), Action(action)) ||
      action != std::int64_t(Action(action)))
    throw nb::value_error(("Action " + std::to_string(action) + " is not legal here" +
                           (legal.empty() ? ": the game is over." : "."))
                              .c_str());
  BoundState child{state.game,     state.state->clone(),
                   Action(action), state.mobility,
                   state.start,    std::make_shared<Line>(state.line, Action(action))};
  child.mobility.add(child.game->to_move(*child.state), legal.size());
  child.game->play(*child.state, Action(action));
  return child;
}

void check_action(const BoundState& state, Action action) {
  const auto legal = legal_actions(state);
  if (!std::binary_search(legal.begin(), legal.end(), action))
    throw nb::value_error(("Action " + std::to_string(action) + " is not legal here.").c_str());
}

Action string_to_action(const BoundState& state, const std::string& text) {
  Actions meant;
  std::string names;
  for (Action action : legal_actions(state)) {
    const auto name = state.game->action_to_string(*state.state, action);
    if (name == text) return action;
    if (!state.game->also_written(*state.state, action, text)) continue;
    meant.push_back(action);
    names += (names.empty() ? "" : ", ") + name;
  }
  if (meant.size() == 1) return meant[0];
  const auto why = meant.empty() ? "No legal action here is written '" + text + "'."
                                 : "'" + text + "' may mean several actions here: " + names + ".";
  throw nb::value_error(why.c_str());
}

nb::object outcomes(const BoundState& state) {
  if (!state.game->is_terminal(*state.state)) return nb::none();
  const auto ending = state.game->ending(*state.state);
  nb::list list;
  for (int p = 0; p < state.game->facts().num_players; ++p) list.append(int(ending.outcome[p]));
  return nb::tuple(list);
}

// Two players: the difference in the first player's view. More: everyone's own.
nb::object score(const BoundState& state) {
  const auto& facts = state.game->facts();
  if (facts.max_score == 0) return nb::none();
  const auto ending = state.game->ending(*state.state);
  if (facts.num_players == 2) return nb::float_(double(ending.score[0]) - ending.score[1]);
  nb::list list;
  for (int p = 0; p < facts.num_players; ++p) list.append(double(ending.score[p]));
  return nb::tuple(list);
}

Planes planes(const BoundState& state) {
  const auto& facts = state.game->facts();
  auto* data = new std::uint8_t[facts.plane_bytes()];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<std::uint8_t*>(p); });
  state.game->planes(*state.state, data);
  return Planes(data, {std::size_t(facts.rows), std::size_t(facts.columns), facts.channels.size()},
                owner);
}

BoundState state_from_planes(const std::shared_ptr<const Game>& game,
                             nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::c_contig> planes,
                             int ply) {
  const auto& facts = game->facts();
  if (planes.shape(0) != std::size_t(facts.rows) || planes.shape(1) != std::size_t(facts.columns) ||
      planes.shape(2) != facts.channels.size())
    throw nb::value_error("These planes are not of the game's shape.");
  nb::bytes copy(planes.data(), facts.plane_bytes());
  return {game, game->state_from_planes(planes.data(), ply), {}, {}, nb::make_tuple(copy, ply)};
}

nb::tuple history(const BoundState& state) {
  Actions actions;
  for (const Line* at = state.line.get(); at; at = at->before.get()) actions.push_back(at->action);
  std::reverse(actions.begin(), actions.end());
  return nb::make_tuple(state.start, actions);
}

std::string summary(const BoundState& state) {
  const auto& game = *state.game;
  auto text = "<" + game.facts().name + " state, ply " + std::to_string(game.ply(*state.state));
  if (!game.is_terminal(*state.state))
    return text + ", player " + std::to_string(game.to_move(*state.state)) + " to move>";
  const auto ending = game.ending(*state.state);
  text += ", over:";
  for (int p = 0; p < game.facts().num_players; ++p)
    text += (p ? ", " : " ") + std::to_string(int(ending.outcome[p]));
  return text + ">";
}

std::string summary_of_game(const Game& game) {
  const auto& options = game.facts().options;
  return "<game " + game.facts().name + (options.empty() ? "" : " " + options) + ">";
}

std::uint64_t perft(const Game& game, int depth) {
  if (depth < 0) throw nb::value_error("A perft depth is not negative.");
  nb::gil_scoped_release release;
  return game.perft(*game.initial_state(), depth);
}

struct Rate {
  std::uint64_t states = 0;
  double seconds = 0;
};

template <class Work>
Rate timed(double seconds, Work work) {
  using clock = std::chrono::steady_clock;
  Rate rate;
  const auto start = clock::now();
  do {
    rate.states += work();
    rate.seconds = std::chrono::duration<double>(clock::now() - start).count();
  } while (rate.seconds < seconds);
  return rate;
}

// Random playouts from the start.
std::pair<std::uint64_t, double> playout_rate(const Game& game, double seconds,
                                              std::uint64_t seed) {
  nb::gil_scoped_release release;
  const auto start = game.initial_state();
  const auto state = start->clone();
  Random random(seed);
  const auto rate = timed(seconds, [&] {
    state->assign(*start);
    return std::uint64_t(game.playout(*state, random));
  });
  return {rate.states, rate.seconds};
}

// Plies of the longest of so many random games.
int longest_playout(const Game& game, std::uint64_t games, std::uint64_t seed) {
  nb::gil_scoped_release release;
  const auto start = game.initial_state();
  const auto state = start->clone();
  Random random(seed);
  int longest = 0;
  for (std::uint64_t i = 0; i < games; ++i) {
    state->assign(*start);
    game.playout(*state, random);
    longest = std::max(longest, game.ply(*state));
  }
  return longest;
}

// Expansions of the states along random games: what the search asks of the rules.
std::pair<std::uint64_t, double> expansion_rate(const Game& game, double seconds,
                                                std::uint64_t seed) {
  nb::gil_scoped_release release;
  const auto start = game.initial_state();
  const auto state = start->clone();
  Random random(seed);
  Children children;
  const auto rate = timed(seconds, [&] {
    std::uint64_t states = 0;
    state->assign(*start);
    while (!game.is_terminal(*state)) {
      game.expand(*state, children);
      states += children.size();
      game.play(*state, children.actions[random.below(std::uint32_t(children.size()))]);
    }
    return states;
  });
  return {rate.states, rate.seconds};
}

nb::dict describe(const GameType& type) {
  nb::dict entry;
  entry["name"] = type.name;
  entry["title"] = type.title;
  entry["options"] = describe_options(type.options);
  entry["goals"] = nb::cast(type.goals);
  return entry;
}

}  // namespace

nb::list describe_options(const std::vector<OptionType>& options) {
  nb::list all;
  for (const auto& option : options) {
    nb::dict entry;
    entry["name"] = option.name;
    entry["default"] = nb::cast(option.fallback);
    entry["low"] = option.low;
    entry["high"] = option.high;
    entry["choices"] = nb::cast(option.choices);
    entry["about"] = option.about;
    all.append(entry);
  }
  return all;
}

void bind_games(nb::module_& m) {
  nb::class_<Symmetry>(m, "Symmetry",
                       "transformed[cell, channel] = original[cells[cell], channels[channel]]; the "
                       "value of two players is multiplied by sign, that of n is "
                       "original[players[player]] for each.")
      .def(nb::init<std::vector<int>, std::vector<int>, int, std::vector<int>>(), nb::arg("cells"),
           nb::arg("channels"), nb::arg("sign") = 1, nb::arg("players") = std::vector<int>())
      .def_ro("cells", &Symmetry::cells)
      .def_ro("channels", &Symmetry::channels)
      .def_ro("sign", &Symmetry::sign)
      .def_ro("players", &Symmetry::players, "Empty where everyone stays who he is.")
      .def(
          "__eq__",
          [](const Symmetry& a, const nb::object& other) {
            return nb::isinstance<Symmetry>(other) && a == nb::cast<const Symmetry&>(other);
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object) -> bool"));

  nb::class_<BoundState>(m, "State", "A state of a game; it never changes.")
      .def("legal_actions", &legal_actions, "The legal actions, ascending; none at the end.")
      .def("play", &play, nb::arg("action"), "The state after a legal action.")
      .def_prop_ro("is_terminal", [](const BoundState& s) { return s.game->is_terminal(*s.state); })
      .def_prop_ro("to_move", [](const BoundState& s) { return s.game->to_move(*s.state); })
      .def_prop_ro("ply", [](const BoundState& s) { return s.game->ply(*s.state); })
      .def_prop_ro("outcomes", &outcomes, nb::sig("def outcomes(self) -> tuple[int, ...] | None"),
                   "None before the end, then -1, 0 or 1 for each player.")
      .def_prop_ro("score", &score, nb::sig("def score(self) -> float | tuple[float, ...] | None"),
                   "Of two players the difference in the first one's view; of more, each one's; "
                   "None in games without a score.")
      .def_prop_ro(
          "key", [](const BoundState& s) { return key_to_int(s.game->key(*s.state)); },
          nb::sig("def key(self) -> int"),
          "128 bits that identify everything the future depends on.")
      .def("planes", &planes, "rows × columns × channels of zeros and ones.")
      .def(
          "action_to_string",
          [](const BoundState& s, Action action) {
            check_action(s, action);
            return s.game->action_to_string(*s.state, action);
          },
          nb::arg("action"))
      .def("string_to_action", &string_to_action, nb::arg("text"))
      .def_prop_ro(
          "part_of_turn", [](const BoundState& s) { return s.game->part_of_turn(*s.state); },
          "What the mover does now, where a turn has several actions.")
      .def(
          "identical",
          [](const BoundState& a, const BoundState& b) {
            return a.game->same_as(*b.game) && a.game->identical(*a.state, *b.state);
          },
          nb::arg("other"), "Equal in every field, incremental structures included.")
      .def_prop_ro("game", [](const BoundState& s) { return s.game; })
      .def_prop_ro(
          "history", &history, nb::sig("def history(self) -> tuple[typing.Any, list[int]]"),
          "Where it began (None: the initial state; a text; planes and ply; a state written "
          "in Python) and the actions since.")
      .def("__str__",
           [](const BoundState& s) { return s.game->state_to_string(*s.state, s.last_action); })
      .def("__repr__", &summary)
      .def(
          "__copy__", [](nb::object self) { return self; }, nb::sig("def __copy__(self) -> State"))
      .def(
          "__deepcopy__", [](nb::object self, nb::handle) { return self; }, nb::arg("memo"),
          nb::sig("def __deepcopy__(self, memo: object) -> State"))
      .def(
          "__eq__",
          [](const BoundState& a, const nb::object& other) {
            if (!nb::isinstance<BoundState>(other)) return false;
            const auto& b = nb::cast<const BoundState&>(other);
            return a.game->same_as(*b.game) && a.game->key(*a.state) == b.game->key(*b.state);
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__",
           [](const BoundState& s) { return std::int64_t(s.game->key(*s.state).low >> 1); });

  nb::class_<Game>(m, "Game", "The rules of a game with its options.")
      .def_prop_ro("name", [](const Game& g) { return g.facts().name; })
      .def_prop_ro(
          "options", [](const Game& g) { return g.facts().options; },
          "Those that are not the default, as text.")
      .def_prop_ro(
          "values", [](const Game& g) { return g.facts().values; },
          "All options of a built-in game.")
      .def_prop_ro("num_players", [](const Game& g) { return g.facts().num_players; })
      .def_prop_ro(
          "zero_sum", [](const Game& g) { return g.facts().zero_sum; },
          "Of two players: whether what one gains the other loses.")
      .def_prop_ro(
          "value_width", [](const Game& g) { return g.facts().value_width(); },
          "Numbers in a value: one in the first player's view, or one for each player.")
      .def_prop_ro("max_plies", [](const Game& g) { return g.facts().max_plies; })
      .def_prop_ro(
          "plane_shape",
          [](const Game& g) {
            const auto& f = g.facts();
            return nb::make_tuple(f.rows, f.columns, f.channels.size());
          },
          nb::sig("def plane_shape(self) -> tuple[int, int, int]"))
      .def_prop_ro(
          "channels", [](const Game& g) { return g.facts().channels; }, "What each plane means.")
      .def_prop_ro(
          "places",
          [](const Game& g) {
            std::vector<std::tuple<std::string, int, int>> found;
            for (const auto& [name, across, down] : g.facts().places)
              found.emplace_back(name, across, down);
            return found;
          },
          "Of each cell its name in actions, where it is in half cells from the left, and its row "
          "from the top, as drawn; no name where there is no cell, nothing without a board.")
      .def_prop_ro("symmetries", [](const Game& g) { return g.facts().symmetries; })
      .def_prop_ro(
          "action_places", [](const Game& g) { return g.facts().action_places; },
          "Where an action is a cell: the cell of the planes that each is, and for other_actions, "
          "which come last, the numbers after the last cell. Empty in other games.")
      .def_prop_ro(
          "other_actions", [](const Game& g) { return g.facts().other_actions; },
          "The names of actions that are no cells, in games where the others are.")
      .def_prop_ro(
          "max_score", [](const Game& g) { return g.facts().max_score; },
          "Bound of the score; 0 in games without one.")
      .def_prop_ro(
          "max_pieces", [](const Game& g) { return g.facts().max_pieces; },
          "Bound of a player's pieces; 0 in games without captures.")
      .def_prop_ro(
          "has_history", [](const Game& g) { return g.facts().has_history; },
          "Whether the key holds what the board does not show (repetition, counters).")
      .def_prop_ro("state_bytes", [](const Game& g) { return g.facts().state_bytes; })
      .def("initial_state",
           [](std::shared_ptr<const Game> g) {
             auto state = g->initial_state();
             return BoundState{std::move(g), std::move(state), {}};
           })
      .def(
          "state_from_string",
          [](std::shared_ptr<const Game> g, const std::string& text) {
            auto state = g->state_from_string(text);
            return BoundState{
                std::move(g), std::move(state), {}, {}, nb::str(text.data(), text.size())};
          },
          nb::arg("text"), "Reads what str(state) writes, and the game's usual notation.")
      .def("state_from_planes", &state_from_planes, nb::arg("planes"), nb::arg("ply") = 0)
      .def("perft", &perft, nb::arg("depth"), "Leaves at that depth: the rules' checksum.")
      .def(
          "same_as", [](const Game& g, const Game& other) { return g.same_as(other); },
          nb::arg("other"), "Whether both have the same rules and options.")
      .def("__repr__", &summary_of_game)
      .def(
          "__copy__", [](nb::object self) { return self; }, nb::sig("def __copy__(self) -> Game"))
      .def(
          "__deepcopy__", [](nb::object self, nb::handle) { return self; }, nb::arg("memo"),
          nb::sig("def __deepcopy__(self, memo: object) -> Game"))
      .def("playout_rate", &playout_rate, nb::arg("seconds"), nb::arg("seed") = 0,
           "(states, seconds) of random playouts on one thread.")
      .def("longest_playout", &longest_playout, nb::arg("games"), nb::arg("seed") = 0,
           "Plies of the longest of so many random games.")
      .def(
          "fuzz",
          [](const Game& game, std::uint64_t games, std::uint64_t seed) {
            nb::gil_scoped_release release;
            return fuzz(game, games, seed);
          },
          nb::arg("games"), nb::arg("seed") = 0,
          "Random games that check the rules against themselves; states seen.")
      .def(
          "fuzz_texts",
          [](const Game& game, std::uint64_t texts, std::uint64_t seed) {
            nb::gil_scoped_release release;
            fuzz_texts(game, texts, seed);
          },
          nb::arg("texts"), nb::arg("seed") = 0,
          "Texts of states with a few changes, each to be refused or to make a sound state.")
      .def("expansion_rate", &expansion_rate, nb::arg("seconds"), nb::arg("seed") = 0,
           "(child states, seconds) of expansions along random games on one thread.");

  m.def(
      "make_game",
      [](const std::string& name, std::map<std::string, Option> options) {
        return std::shared_ptr<Game>(make_game(name, std::move(options)));
      },
      nb::arg("name"), nb::arg("options"));
  m.def(
      "game_types",
      [] {
        nb::list list;
        for (const auto* type : game_types()) list.append(describe(*type));
        return list;
      },
      nb::sig("def game_types() -> list[dict[str, typing.Any]]"));
}

}  // namespace athenan
