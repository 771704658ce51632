// Python's view of searches, groups of them, and games made of explicit trees.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "core/bind.h"
#include "core/group.h"
#include "core/parallel.h"
#include "core/samples.h"
#include "core/search.h"
#include "core/tree_game.h"
#include "core/uct.h"

namespace athenan {
namespace {

template <class Enum>
Enum choice(const std::string& what, const std::string& text,
            std::initializer_list<const char*> names) {
  std::string all;
  int i = 0;
  for (const char* name : names) {
    if (text == name) return Enum(i);
    all += (i++ ? ", " : "") + std::string(name);
  }
  throw nb::value_error(
      ("There is no " + what + " '" + text + "'; there are " + all + ".").c_str());
}

void check_game(const Search& search, const BoundState& state) {
  if (&search.game() != state.game.get())
    throw nb::value_error("This state is of another game than the search.");
}

nb::list children_of(const Search& search) {
  nb::list list;
  if (search.root_id() == no_node || !search.root().is(Node::expanded)) return list;
  for (const Edge& edge : search.tree().edges(search.root_id())) {
    const Node& node = search.tree().node(edge.child);
    // Without completion nothing counts as proven, not even an end.
    const bool resolved = node.is(Node::resolved) && search.settings().completion;
    list.append(
        nb::make_tuple(edge.action, node.value, int(node.completion), resolved, edge.selections));
  }
  return list;
}

// The whole tree as arrays, for tests and tools.
nb::dict dump(const Search& search) {
  const auto& tree = search.tree();
  std::vector<std::uint64_t> keys;
  std::vector<float> values;
  std::vector<std::int8_t> completions;
  std::vector<std::uint8_t> resolved, expanded, terminal;
  std::vector<std::uint32_t> first_edge, parents, children, actions, selections;
  for (NodeId id = 0; id < tree.num_nodes(); ++id) {
    const Node& node = tree.node(id);
    keys.push_back(node.full_key().low);
    keys.push_back(node.full_key().high);
    values.push_back(node.value);
    completions.push_back(node.completion);
    resolved.push_back(node.is(Node::resolved));
    expanded.push_back(node.is(Node::expanded));
    terminal.push_back(node.is(Node::terminal));
    for (const Edge& edge : tree.edges(id)) {
      parents.push_back(id);
      children.push_back(edge.child);
      actions.push_back(edge.action);
      selections.push_back(edge.selections);
    }
  }
  nb::dict d;
  const std::size_t size = values.size();
  d["keys"] = to_numpy(std::move(keys), {size, 2});
  d["value"] = to_numpy(std::move(values));
  d["completion"] = to_numpy(std::move(completions));
  d["resolved"] = to_numpy(std::move(resolved));
  d["expanded"] = to_numpy(std::move(expanded));
  d["terminal"] = to_numpy(std::move(terminal));
  d["parent"] = to_numpy(std::move(parents));
  d["child"] = to_numpy(std::move(children));
  d["action"] = to_numpy(std::move(actions));
  d["selections"] = to_numpy(std::move(selections));
  return d;
}

nb::dict counts_of(const Search& search) {
  const auto& counts = search.counts();
  nb::dict d;
  d["iterations"] = counts.iterations;
  d["evaluations"] = counts.evaluations;
  d["expanded"] = counts.expanded;
  d["children"] = counts.children;
  d["states"] = search.tree().num_nodes();
  d["edges"] = search.tree().num_edges();
  d["bytes"] = search.tree().bytes();
  d["budget"] = search.tree().budget();
  d["collections"] = search.tree().collections();
  d["out_of_memory"] = search.out_of_memory();
  return d;
}

double resolved_share(const Search& search) {
  const auto& tree = search.tree();
  std::size_t resolved = 0;
  for (NodeId id = 0; id < tree.num_nodes(); ++id) resolved += tree.node(id).is(Node::resolved);
  return tree.num_nodes() ? double(resolved) / double(tree.num_nodes()) : 0;
}

nb::object batch_of(SearchGroup& group) {
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

template <class T>
std::vector<std::uint8_t> as_bytes(const std::vector<T>& values) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(values.data());
  return {first, first + values.size() * sizeof(T)};
}

template <class T>
std::vector<T> from_bytes(const nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig>& bytes) {
  if (bytes.size() % sizeof(T)) throw nb::value_error("This is not a saved tree.");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (bytes.size()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
  return values;
}

nb::tuple arrays_of(Samples samples) {
  const std::size_t size = samples.size(), bytes = samples.bytes_per_state;
  return nb::make_tuple(to_numpy(std::move(samples.planes), {size, bytes}),
                        to_numpy(std::move(samples.values)), samples.resolved);
}

// (nodes, edges, [slots, origin key low, high, origin ply, resolved among the dropped], planes and
// values of the dropped) as plain arrays.
nb::tuple save_tree(const Search& search) {
  const auto saved = search.tree().save();
  const Samples& dropped = search.dropped();
  const std::vector<std::uint64_t> facts = {
      saved.slots, search.origin_key().low, search.origin_key().high,
      std::uint64_t(search.game().ply(search.origin())), dropped.resolved};
  const auto samples = arrays_of(dropped);
  return nb::make_tuple(to_numpy(as_bytes(saved.nodes)), to_numpy(as_bytes(saved.edges)),
                        to_numpy(std::vector(facts)), samples[0], samples[1]);
}

void restore_tree(Search& search,
                  const nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig>& nodes,
                  const nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig>& edges,
                  const nb::ndarray<const std::uint64_t, nb::shape<5>, nb::c_contig>& facts,
                  const nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig>& planes,
                  const nb::ndarray<const float, nb::ndim<1>, nb::c_contig>& values,
                  const BoundState& origin) {
  check_game(search, origin);
  SearchTree::Saved saved;
  saved.nodes = from_bytes<Node>(nodes);
  saved.edges = from_bytes<Edge>(edges);
  saved.slots = std::size_t(facts.data()[0]);
  Samples dropped;
  dropped.planes.assign(planes.data(), planes.data() + planes.size());
  dropped.values.assign(values.data(), values.data() + values.size());
  dropped.bytes_per_state = planes.shape(1);
  dropped.resolved = std::size_t(facts.data()[4]);
  search.restore(saved, *origin.state, {facts.data()[1], facts.data()[2]}, std::move(dropped));
}

nb::tuple memory_arrays(const ResolvedMemory& memory) {
  std::vector<std::uint64_t> keys;
  std::vector<float> values;
  std::vector<std::int8_t> completions;
  for (const auto& [key, entry] : memory.sorted()) {
    keys.push_back(key.low);
    keys.push_back(key.high);
    values.push_back(entry.value);
    completions.push_back(entry.completion);
  }
  const std::size_t size = values.size();
  return nb::make_tuple(to_numpy(std::move(keys), {size, 2}), to_numpy(std::move(values)),
                        to_numpy(std::move(completions)));
}

void fill_memory(ResolvedMemory& memory,
                 nb::ndarray<const std::uint64_t, nb::shape<-1, 2>, nb::c_contig> keys,
                 nb::ndarray<const float, nb::ndim<1>, nb::c_contig> values,
                 nb::ndarray<const std::int8_t, nb::ndim<1>, nb::c_contig> completions) {
  for (std::size_t i = 0; i < keys.shape(0); ++i)
    memory.add({keys.data()[2 * i], keys.data()[2 * i + 1]},
               {values.data()[i], completions.data()[i]});
}

std::shared_ptr<Game> tree_game(const std::vector<std::vector<std::uint32_t>>& children,
                                const std::vector<int>& to_move, const std::vector<float>& values,
                                const std::vector<float>& upper, const std::vector<float>& lower) {
  std::vector<TreeGameNode> nodes(children.size());
  if (to_move.size() != nodes.size() || values.size() != nodes.size() ||
      upper.size() != nodes.size() || lower.size() != nodes.size())
    throw nb::value_error("All lists of a tree have one entry a node.");
  for (std::size_t i = 0; i < nodes.size(); ++i)
    nodes[i] = {to_move[i], children[i], values[i], upper[i], lower[i]};
  return make_tree_game(std::move(nodes));
}

// UCT on many states at once, each by its own seed; (action, mean outcome for the mover, states,
// [(action, mean, visits)]) of each.
nb::list run_uct(const std::vector<const BoundState*>& states,
                 const std::vector<std::uint64_t>& seeds, std::uint64_t rollouts,
                 double exploration, int threads) {
  std::vector<std::unique_ptr<Uct>> runs;
  if (seeds.size() != states.size()) throw nb::value_error("One seed for each state.");
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i]->game->is_terminal(*states[i]->state))
      throw nb::value_error("There is nothing to search in a terminal state.");
    runs.push_back(std::make_unique<Uct>(*states[i]->game, exploration, seeds[i]));
  }
  {
    nb::gil_scoped_release release;
    in_parallel(states.size(), threads,
                [&](std::size_t i) { runs[i]->run(*states[i]->state, rollouts); });
  }
  nb::list results;
  for (const auto& run : runs) {
    nb::list children;
    double mean = 0;
    for (const auto& child : run->children()) {
      children.append(nb::make_tuple(child.action, child.mean(), child.visits));
      if (child.action == run->decision()) mean = child.mean();
    }
    results.append(nb::make_tuple(run->decision(), mean, run->states(), children));
  }
  return results;
}

nb::tuple ending_samples(const std::shared_ptr<const Game>& game, std::size_t count,
                         const std::string& heuristic, int longest, std::uint64_t seed) {
  Samples samples;
  {
    nb::gil_scoped_release release;
    samples = random_ending_samples(
        *game, TerminalEvaluation(*game, heuristic_from_string(heuristic), longest), count, seed);
  }
  const auto arrays = arrays_of(std::move(samples));
  return nb::make_tuple(arrays[0], arrays[1]);
}

}  // namespace

void bind_search(nb::module_& m) {
  m.def("make_tree_game", &tree_game, nb::arg("children"), nb::arg("to_move"), nb::arg("values"),
        nb::arg("upper"), nb::arg("lower"));

  m.def("heuristics", &heuristic_names, "The names of the reinforcement heuristics.");

  m.def("run_uct", &run_uct, nb::arg("states"), nb::arg("seeds"), nb::arg("rollouts"),
        nb::arg("exploration"), nb::arg("threads"),
        nb::sig("def run_uct(states: typing.Sequence[State], seeds: typing.Sequence[int], "
                "rollouts: int, exploration: float, threads: int) -> "
                "list[tuple[int, float, int, list[tuple[int, float, int]]]]"));
  m.def("ending_samples", &ending_samples, nb::arg("game"), nb::arg("count"), nb::arg("heuristic"),
        nb::arg("longest"), nb::arg("seed"),
        nb::sig("def ending_samples(game: Game, count: int, heuristic: str, longest: int, "
                "seed: int) -> tuple[numpy.typing.NDArray[numpy.uint8], "
                "numpy.typing.NDArray[numpy.float32]]"),
        "(packed planes, values in [-1, 1]) of the last states of random games.");

  nb::class_<Mobility>(m, "Mobility", "Legal actions of each player so far in a game.")
      .def(nb::init<>())
      .def("add", &Mobility::add, nb::arg("player"), nb::arg("legal_actions"));

  nb::class_<ResolvedMemory>(m, "ResolvedMemory", "Proven states, kept across games.")
      .def(nb::init<std::size_t>(), nb::arg("capacity"))
      .def(
          "add_all",
          [](ResolvedMemory& memory, const Search& search) { memory.add_all(search.tree()); },
          nb::arg("search"), "The resolved states of a search's tree.")
      .def("clear", &ResolvedMemory::clear)
      .def("__len__", &ResolvedMemory::size)
      .def("arrays", &memory_arrays,
           nb::sig("def arrays(self) -> tuple[numpy.typing.NDArray[numpy.uint64], "
                   "numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.int8]]"))
      .def("fill", &fill_memory, nb::arg("keys"), nb::arg("values"), nb::arg("completions"));

  nb::class_<Search>(m, "Search", "One game's search with its tree.")
      .def(
          "__init__",
          [](Search* self, std::shared_ptr<const Game> game, const std::string& continue_rule,
             std::uint32_t new_states, double stop_probability, const std::string& order,
             bool completion, bool strong, const std::string& decision,
             const std::string& evaluator, std::uint32_t rollouts, const std::string& heuristic,
             int longest, std::uint64_t seed, std::size_t memory_bytes) {
            SearchSettings s;
            s.continue_rule = choice<ContinueRule>("continue rule", continue_rule,
                                                   {"never", "always", "at_most", "chance"});
            s.new_states = new_states;
            s.stop_probability = stop_probability;
            s.order = choice<ChildOrder>("order", order, {"best", "random", "least_selected"});
            s.completion = completion;
            s.strong = strong;
            s.decision = choice<Decision>("decision", decision, {"best", "safest"});
            s.evaluator = evaluator_from_string(evaluator);
            s.rollouts = rollouts;
            s.heuristic = heuristic_from_string(heuristic);
            s.longest = longest;
            s.seed = seed;
            s.memory_bytes = memory_bytes;
            new (self) Search(std::move(game), s);
          },
          nb::arg("game"), nb::kw_only(), nb::arg("continue_rule"), nb::arg("new_states"),
          nb::arg("stop_probability"), nb::arg("order"), nb::arg("completion"), nb::arg("strong"),
          nb::arg("decision"), nb::arg("evaluator"), nb::arg("rollouts"), nb::arg("heuristic"),
          nb::arg("longest"), nb::arg("seed"), nb::arg("memory_bytes"))
      .def(
          "start",
          [](Search& s, const BoundState& root, std::uint64_t iterations, std::uint64_t evaluations,
             double seconds, const Mobility& mobility) {
            check_game(s, root);
            nb::gil_scoped_release release;
            s.start(*root.state, {iterations, evaluations, seconds}, mobility);
          },
          nb::arg("root"), nb::arg("iterations") = 0, nb::arg("evaluations") = 0,
          nb::arg("seconds") = 0.0, nb::arg("mobility") = Mobility{})
      .def("stop", &Search::stop)
      .def("reseed", &Search::reseed, nb::arg("seed"))
      .def(
          "consult", [](Search& s, std::shared_ptr<ResolvedMemory> memory) { s.consult(memory); },
          nb::arg("memory"))
      .def("keep_labels", &Search::keep_labels,
           "From now on samples() has the states that left the tree for want of memory, too.")
      .def(
          "samples", [](const Search& s) { return arrays_of(samples_of(s)); },
          nb::sig("def samples(self) -> tuple[numpy.typing.NDArray[numpy.uint8], "
                  "numpy.typing.NDArray[numpy.float32], int]"),
          "(packed planes, values in [-1, 1], how many are resolved) of every expanded or "
          "terminal state below the first root since clear().")
      .def("clear", &Search::clear)
      .def("save_tree", &save_tree,
           nb::sig("def save_tree(self) -> tuple[numpy.typing.NDArray[numpy.uint8], "
                   "numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.uint64], "
                   "numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.float32]]"),
           "The tree as arrays that restore_tree takes; the third has the origin's ply at 3.")
      .def("restore_tree", &restore_tree, nb::arg("nodes"), nb::arg("edges"), nb::arg("facts"),
           nb::arg("planes"), nb::arg("values"), nb::arg("origin"))
      .def_prop_ro("done", [](Search& s) { return s.task().done(); })
      .def_prop_ro(
          "bound", [](const Search& s) { return s.terminal_evaluation().bound(); },
          "Values are within ± this.")
      .def_prop_ro("action", [](const Search& s) { return s.decision(); })
      .def_prop_ro("value", [](const Search& s) { return s.root().value; })
      .def_prop_ro("completion", [](const Search& s) { return int(s.root().completion); })
      .def_prop_ro("resolved", [](const Search& s) { return s.root().is(Node::resolved); })
      .def_prop_ro("resolved_share", &resolved_share, "Of the states in the tree.")
      .def_prop_ro("principal_variation", &Search::principal_variation)
      .def_prop_ro("children", &children_of,
                   nb::sig("def children(self) -> list[tuple[int, float, int, bool, int]]"),
                   "(action, value, completion, resolved, selections) of the root's children.")
      .def_prop_ro("counts", &counts_of, nb::sig("def counts(self) -> dict[str, int]"))
      .def("dump", &dump, nb::sig("def dump(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
           "The whole tree as arrays.");

  nb::class_<SearchGroup>(m, "SearchGroup", "Many searches in step, their states in one batch.")
      .def(nb::init<std::vector<std::shared_ptr<Search>>, std::vector<std::size_t>, int>(),
           nb::arg("searches"), nb::arg("batch_sizes"), nb::arg("threads"))
      .def("started", &SearchGroup::started, nb::arg("index"))
      .def("advance", &SearchGroup::advance, nb::call_guard<nb::gil_scoped_release>(),
           "Runs all until each waits or is done; those that are done.")
      .def("batch", &batch_of,
           nb::sig("def batch(self) -> tuple[numpy.typing.NDArray[numpy.uint8], int] | None"),
           "(planes, real rows) of states that wait for their values, or None.")
      .def(
          "resume",
          [](SearchGroup& group, nb::ndarray<const float, nb::ndim<1>, nb::c_contig> values) {
            group.resume({values.data(), values.size()});
          },
          nb::arg("values"))
      .def_prop_ro("waiting", &SearchGroup::waiting);
}

}  // namespace athenan
