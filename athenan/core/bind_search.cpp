// Python's view of the search contract: searches by name, their results, groups of them.
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "core/bind.h"
#include "core/group.h"
#include "core/resolved.h"
#include "core/search.h"

namespace athenan {
namespace {

// A number for two players, a tuple otherwise.
template <class T>
nb::object to_python(const PerPlayer<T>& values) {
  using Number = std::conditional_t<std::is_integral_v<T>, int, T>;
  if (values.size == 1) return nb::cast(Number(values.of[0]));
  nb::list all;
  for (int player = 0; player < values.size; ++player) all.append(Number(values.of[player]));
  return nb::tuple(all);
}

template <class T>
PerPlayer<T> from_python(const nb::handle& given) {
  using Number = std::conditional_t<std::is_integral_v<T>, int, T>;
  PerPlayer<T> values;
  if (!nb::isinstance<nb::sequence>(given)) {
    values.of[0] = T(nb::cast<Number>(given));
    return values;
  }
  values.size = int(nb::len(given));
  if (values.size > max_players) throw nb::value_error("There are not so many players.");
  for (int player = 0; player < values.size; ++player)
    values.of[player] = T(nb::cast<Number>(given[player]));
  return values;
}

nb::object to_python(const Key& key) {
  return (nb::int_(key.high) << nb::int_(64)) | nb::int_(key.low);
}

nb::dict to_python(const Counts& counts) {
  nb::dict d;
  d["iterations"] = counts.iterations;
  d["evaluations"] = counts.evaluations;
  d["valued"] = counts.valued;
  d["expanded"] = counts.expanded;
  d["children"] = counts.children;
  d["states"] = counts.states;
  d["edges"] = counts.edges;
  d["bytes"] = counts.bytes;
  d["budget"] = counts.budget_bytes;
  d["collections"] = counts.collections;
  d["out_of_memory"] = counts.out_of_memory;
  return d;
}

// In all that Python sees of them.
bool equal(const Result& a, const Result& b) {
  const auto counts = [](const Result& r) {
    return std::tuple(r.counts.iterations, r.counts.evaluations, r.counts.states,
                      r.counts.out_of_memory);
  };
  return a.action == b.action && a.value == b.value && a.completion == b.completion &&
         a.resolved == b.resolved && counts(a) == counts(b) &&
         a.principal_variation == b.principal_variation && a.children == b.children;
}

std::shared_ptr<Search> make(const std::string& name, std::shared_ptr<const Game> game,
                             std::map<std::string, Option> options, const std::string& evaluator,
                             std::uint32_t rollouts, const std::string& heuristic, int longest,
                             std::uint64_t seed, std::shared_ptr<DenseNetwork> network,
                             bool of_children) {
  TerminalEvaluation evaluation(*game, heuristic_from_string(heuristic), longest);
  const auto kind = network ? EvaluatorKind::network : evaluator_from_string(evaluator);
  return make_search(
      name, {std::move(game), evaluation, {kind, rollouts, std::move(network), of_children}, seed},
      std::move(options));
}

nb::dict describe(const SearchType& type) {
  nb::dict entry;
  entry["name"] = type.name;
  entry["about"] = type.about;
  entry["options"] = describe_options(type.options);
  entry["needs_budget"] = type.needs_budget;
  entry["uses_evaluator"] = type.uses_evaluator;
  entry["consults"] = type.consults;
  return entry;
}

nb::list to_python(const std::vector<Visit>& visits) {
  static constexpr const char* kinds[] = {"call", "expand", "diminish", "leaf"};
  nb::list list;
  for (const Visit& visit : visits) {
    nb::list path;
    for (Action action : visit.path) path.append(action);
    list.append(nb::make_tuple(nb::tuple(path), kinds[visit.kind], visit.a, visit.b));
  }
  return list;
}

// Ctrl-C is noticed between the slices.
std::optional<std::vector<std::size_t>> advance(SearchGroup& group, double pause_seconds) {
  constexpr std::chrono::duration<double> longest(0.05), shortest(1e-4);  // in which all begin
  const auto use = group.users().changing();
  const bool pauses = pause_seconds > 0;
  const auto slice = std::chrono::duration_cast<Clock::duration>(
      pauses ? std::clamp(std::chrono::duration<double>(pause_seconds), shortest, longest)
             : longest);
  const auto started = Clock::now();
  while (true) {
    {
      nb::gil_scoped_release release;
      if (auto done = group.advance(Clock::now() + slice)) return done;
    }
    if (PyErr_CheckSignals()) throw nb::python_error();
    if (pauses && std::chrono::duration<double>(Clock::now() - started).count() >= pause_seconds)
      return std::nullopt;
  }
}

nb::object batch_of(SearchGroup& group) {
  const auto use = group.users().changing();
  SearchGroup::Batch batch;
  {
    nb::gil_scoped_release release;
    batch = group.batch();
  }
  if (batch.rows == 0) return nb::none();
  const auto& facts = group.search(0).game().facts();
  const std::size_t shape[4] = {batch.padded, std::size_t(facts.rows), std::size_t(facts.columns),
                                facts.channels.size()};
  // A view of the group's own buffer: valid until the next batch.
  Array<const std::uint8_t> planes(batch.planes, 4, shape, nb::find(group));
  return nb::make_tuple(planes, batch.rows);
}

// Answers are [rows] or [rows, width].
void resume(SearchGroup& group, const nb::ndarray<const float, nb::c_contig>& answers) {
  if (answers.ndim() != 1 && answers.ndim() != 2)
    throw nb::value_error("An evaluator answers a value, or a row of them, for each state.");
  const auto use = group.users().changing();
  const std::span<const float> given(answers.data(), answers.size());
  const std::size_t width = answers.ndim() == 2 ? answers.shape(1) : 1;
  nb::gil_scoped_release release;
  group.resume(given, width);
}

}  // namespace

void check_game(const Search& search, const BoundState& state) {
  if (!search.game().same_as(*state.game))
    throw nb::value_error("This state is of another game than the search.");
}

void bind_search(nb::module_& m) {
  m.def("heuristics", &heuristic_names, "The names of the reinforcement heuristics.");
  m.def("evaluators", &evaluator_names, "The names of the evaluators that live in the core.");
  m.def(
      "search_types",
      [] {
        nb::list list;
        for (const auto* type : search_types()) list.append(describe(*type));
        return list;
      },
      nb::sig("def search_types() -> list[dict[str, typing.Any]]"));

  nb::class_<TerminalEvaluation>(m, "TerminalEvaluation",
                                 "f_t: in the first player's view for two, else of each player.")
      .def(
          "__init__",
          [](TerminalEvaluation* self, const Game& game, const std::string& heuristic,
             int longest) {
            new (self) TerminalEvaluation(game, heuristic_from_string(heuristic), longest);
          },
          nb::arg("game"), nb::arg("heuristic") = "gain", nb::arg("longest") = 0)
      .def_prop_ro("bound", &TerminalEvaluation::bound, "Values are within ± this.")
      .def(
          "__call__",
          [](const TerminalEvaluation& evaluation, const BoundState& end) {
            return to_python(evaluation.of_each(end.game->ending(*end.state),
                                                end.game->ply(*end.state), end.mobility));
          },
          nb::arg("end"), nb::sig("def __call__(self, end: State) -> typing.Any"),
          "Of a terminal state: a number for two players, otherwise a tuple.")
      .def(
          "most",
          [](const TerminalEvaluation& evaluation, const BoundState& state, int player) {
            if (player < 0 || player >= state.game->facts().num_players)
              throw nb::value_error("There is no such player.");
            return evaluation.most(*state.game, *state.state, player);
          },
          nb::arg("state"), nb::arg("player"),
          "No end below the state is worth more to the player.")
      .def(
          "key_of",
          [](const TerminalEvaluation& evaluation, const BoundState& state) {
            return to_python(state.game->key(*state.state) ^
                             evaluation.key(state.game->ply(*state.state), state.mobility));
          },
          nb::arg("state"), nb::sig("def key_of(self, state: State) -> int"),
          "Of the state and all that its value depends on besides.")
      .def_prop_ro("breaks_ties", &TerminalEvaluation::breaks_ties,
                   "Whether no player is ever indifferent between two ends that differ.");

  nb::class_<Child>(m, "Child", "What a search knows of an action at its root.")
      .def(
          "__init__",
          [](Child* self, Action action, const nb::object& value, const nb::object& completion,
             bool resolved, std::uint64_t selections) {
            new (self) Child{action, from_python<float>(value),
                             from_python<std::int8_t>(completion), resolved, selections};
          },
          nb::arg("action"), nb::arg("value"), nb::arg("completion"), nb::arg("resolved"),
          nb::arg("selections"),
          nb::sig("def __init__(self, action: int, value: typing.Any, completion: typing.Any, "
                  "resolved: bool, selections: int) -> None"))
      .def_ro("action", &Child::action)
      .def_prop_ro(
          "value", [](const Child& c) { return to_python(c.value); },
          nb::sig("def value(self) -> typing.Any"),
          "In the first player's view, on the scale of the heuristic; for more players a tuple.")
      .def_prop_ro(
          "completion", [](const Child& c) { return to_python(c.completion); },
          nb::sig("def completion(self) -> typing.Any"),
          "-1, 0 or 1; 0 means drawn when resolved and unknown when not; for more players a tuple.")
      .def_ro("resolved", &Child::resolved)
      .def_ro("selections", &Child::selections)
      .def(
          "__eq__", [](const Child& a, const Child& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", [](const Child& c) {
        return nb::str("Child(action={}, value={}, completion={}, resolved={}, selections={})")
            .format(c.action, to_python(c.value), to_python(c.completion), c.resolved,
                    c.selections);
      });

  nb::class_<Result>(m, "SearchResult", nb::dynamic_attr(),
                     "What a search has found out about a state.")
      .def_ro("action", &Result::action, "None at a terminal state.")
      .def_prop_ro(
          "value", [](const Result& r) { return to_python(r.value); },
          nb::sig("def value(self) -> typing.Any"),
          "In the first player's view, on the scale of the heuristic; for more players a tuple.")
      .def_prop_ro(
          "completion", [](const Result& r) { return to_python(r.completion); },
          nb::sig("def completion(self) -> typing.Any"),
          "-1, 0 or 1; 0 means drawn when resolved and unknown when not; for more players a tuple.")
      .def_ro("resolved", &Result::resolved)
      .def_prop_ro("iterations", [](const Result& r) { return r.counts.iterations; })
      .def_prop_ro(
          "evaluations", [](const Result& r) { return r.counts.evaluations; },
          "Rows that f_θ was asked for: states that it valued, itself or all their children.")
      .def_prop_ro(
          "states", [](const Result& r) { return r.counts.states; }, "All that it remembers.")
      .def_prop_ro("out_of_memory", [](const Result& r) { return r.counts.out_of_memory; })
      .def_ro("principal_variation", &Result::principal_variation)
      .def_ro("plies_to_end", &Result::plies_to_end,
              "Of what is resolved, along the principal variation; None where that does not come "
              "to an end, as of what a proof says.")
      .def_ro("children", &Result::children, "Of the root, in the order of their actions.")
      .def("__eq__", &equal, nb::is_operator(),
           nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", [](const Result& r) {
        return nb::str(
                   "SearchResult(action={}, value={}, completion={}, resolved={}, "
                   "iterations={}, evaluations={}, states={})")
            .format(r.action, to_python(r.value), to_python(r.completion), r.resolved,
                    r.counts.iterations, r.counts.evaluations, r.counts.states);
      });

  nb::class_<Search>(m, "Search", "One game's search; a SearchGroup runs it.")
      .def("stop", &Search::stop, "At the next expansion or within one; from any thread.")
      .def(
          "give_up",
          [](Search& s) {
            const auto use = s.users().changing();
            s.give_up();
          },
          "What an error or Ctrl-C has interrupted; what is known stays.")
      .def(
          "clear",
          [](Search& s) {
            const auto use = s.users().changing();
            s.clear();
          },
          "Forgets all that is known.")
      .def(
          "reseed",
          [](Search& s, std::uint64_t seed) {
            const auto use = s.users().changing();
            s.reseed(seed);
          },
          nb::arg("seed"), "Between searches.")
      .def(
          "consult",
          [](Search& s, std::shared_ptr<ResolvedMemory> memory) {
            const auto use = s.users().changing();
            s.consult(std::move(memory));
          },
          nb::arg("memory"), "Takes what is proven there for new states.")
      .def("result",
           [](const Search& s) {
             const auto use = s.users().reading();
             return s.result();
           })
      .def_prop_ro("done",
                   [](Search& s) {
                     const auto use = s.users().reading();
                     return s.task().done();
                   })
      .def_prop_ro("has_horizon", &Search::has_horizon, "And so it ends by itself.")
      .def_prop_rw(
          "tracing", [](const Search& s) { return s.tracing(); },
          [](Search& s, bool on) {
            const auto use = s.users().changing();
            s.trace(on);
          },
          "Whether a search by windows keeps the list of what it visits; off at first.")
      .def_prop_ro(
          "trace",
          [](const Search& s) {
            const auto use = s.users().reading();
            return to_python(s.visits());
          },
          nb::sig("def trace(self) -> list[tuple[tuple[int, ...], str, float, float]]"),
          "(actions from the root, kind, a, b) of what was visited since the start, in order: call "
          "(a window), expand and diminish (a limit and 0), leaf (its value, twice).")
      .def_prop_ro(
          "bound", [](const Search& s) { return s.terminal_evaluation().bound(); },
          "Values are within ± this.")
      .def_prop_ro(
          "counts",
          [](const Search& s) {
            const auto use = s.users().reading();
            return to_python(s.counts());
          },
          nb::sig("def counts(self) -> dict[str, int]"));

  m.def("make_search", &make, nb::arg("name"), nb::arg("game"), nb::arg("options"),
        nb::arg("evaluator"), nb::arg("rollouts") = 1, nb::arg("heuristic") = "gain",
        nb::arg("longest") = 0, nb::arg("seed") = 0, nb::arg("network") = nb::none(),
        nb::arg("of_children") = false);

  nb::class_<SearchGroup>(m, "SearchGroup", "Many searches in step, their states in one batch.")
      .def(nb::init<std::vector<std::shared_ptr<Search>>, std::vector<std::size_t>, int>(),
           nb::arg("searches"), nb::arg("batch_sizes"), nb::arg("threads"))
      .def(
          "start",
          [](SearchGroup& group, std::size_t index, const BoundState& root,
             std::uint64_t iterations, std::uint64_t evaluations, double seconds) {
            if (index >= group.size()) throw nb::index_error("The group has no such search.");
            check_game(group.search(index), root);
            const auto use = group.users().changing();
            nb::gil_scoped_release release;
            group.start(index, *root.state, {iterations, evaluations, seconds}, root.mobility);
          },
          nb::arg("index"), nb::arg("root"), nb::arg("iterations") = 0, nb::arg("evaluations") = 0,
          nb::arg("seconds") = 0.0, "Prepares a search of the state; `advance` runs it.")
      .def("advance", &advance, nb::arg("pause_seconds") = 0.0,
           "Runs all until each waits or is done; those that are done. None after so many seconds, "
           "if there are any: call it again, all go on where they paused.")
      .def("batch", &batch_of,
           nb::sig("def batch(self) -> tuple[numpy.typing.NDArray[numpy.uint8], int] | None"),
           "(planes, real rows) of states that wait for their values, or None.")
      .def("resume", &resume, nb::arg("answers"),
           "The answers to the last batch: [rows], or [rows, answers a row].")
      .def_prop_ro("waiting", [](SearchGroup& group) {
        const auto use = group.users().reading();
        return group.waiting();
      });
}

}  // namespace athenan
