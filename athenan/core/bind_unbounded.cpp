// Python's view of the unbounded searches' trees, and of what learning takes from them.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/bind.h"
#include "core/samples.h"
#include "core/unbounded.h"

namespace athenan {
namespace {

// Of so many numbers, or vectors where they have a width.
std::vector<std::size_t> shape_of(std::size_t rows, std::size_t width) {
  return width ? std::vector<std::size_t>{rows, width} : std::vector<std::size_t>{rows};
}

// The whole tree as arrays, for tests and tools.
nb::dict dump(const UnboundedSearch& search) {
  const auto use = search.users().reading();
  const auto& tree = search.tree();
  std::vector<std::uint64_t> keys;
  std::vector<float> values;
  std::vector<std::int8_t> completions;
  std::vector<std::uint8_t> resolved, expanded, terminal, remembered;
  std::vector<std::uint32_t> first_edge, parents, children, actions, selections;
  for (NodeId id = 0; id < tree.num_nodes(); ++id) {
    const Node& node = tree.node(id);
    keys.push_back(node.full_key().low);
    keys.push_back(node.full_key().high);
    if (tree.has_vectors()) {
      values.insert(values.end(), tree.values(id).begin(), tree.values(id).end());
      completions.insert(completions.end(), tree.completions(id).begin(),
                         tree.completions(id).end());
    } else {
      values.push_back(node.value);
      completions.push_back(node.completion);
    }
    resolved.push_back(node.is(Node::resolved));
    expanded.push_back(node.is(Node::expanded));
    terminal.push_back(node.is(Node::terminal));
    remembered.push_back(node.is(Node::remembered));
    for (const Edge& edge : tree.edges(id)) {
      parents.push_back(id);
      children.push_back(edge.child);
      actions.push_back(edge.action);
      selections.push_back(edge.selections);
    }
  }
  nb::dict d;
  const std::size_t size = resolved.size();
  const auto shape = shape_of(size, tree.has_vectors() ? tree.players() : 0);
  d["keys"] = to_numpy(std::move(keys), {size, 2});
  d["value"] = to_numpy(std::move(values), shape);
  d["completion"] = to_numpy(std::move(completions), shape);
  d["resolved"] = to_numpy(std::move(resolved));
  d["expanded"] = to_numpy(std::move(expanded));
  d["terminal"] = to_numpy(std::move(terminal));
  d["remembered"] = to_numpy(std::move(remembered));
  d["parent"] = to_numpy(std::move(parents));
  d["child"] = to_numpy(std::move(children));
  d["action"] = to_numpy(std::move(actions));
  d["selections"] = to_numpy(std::move(selections));
  return d;
}

double resolved_share(const UnboundedSearch& search) {
  const auto use = search.users().reading();
  const auto& tree = search.tree();
  std::size_t resolved = 0;
  for (NodeId id = 0; id < tree.num_nodes(); ++id) resolved += tree.node(id).is(Node::resolved);
  return tree.num_nodes() ? double(resolved) / double(tree.num_nodes()) : 0;
}

template <class T>
std::vector<std::uint8_t> as_bytes(const std::vector<T>& values) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(values.data());
  return {first, first + values.size() * sizeof(T)};
}

template <class T>
std::vector<T> from_bytes(const std::uint8_t*& next, std::size_t size) {
  std::vector<T> values(size);
  if (size) std::memcpy(static_cast<void*>(values.data()), next, size * sizeof(T));
  next += size * sizeof(T);
  return values;
}

// (planes, values, resolved), and of children (…, labels of each state, their actions).
nb::tuple arrays_of(Samples samples) {
  const std::size_t size = samples.size(), bytes = samples.bytes_per_state;
  const std::size_t number = samples.values.size() / samples.width;
  auto planes = to_numpy(std::move(samples.planes), {size, bytes});
  auto values =
      to_numpy(std::move(samples.values), shape_of(number, samples.width > 1 ? samples.width : 0));
  if (!samples.of_children) return nb::make_tuple(planes, values, samples.resolved);
  return nb::make_tuple(planes, values, samples.resolved, to_numpy(std::move(samples.labels)),
                        to_numpy(std::move(samples.actions)));
}

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig>;

// (nodes, edges, [slots, origin key low, high, origin ply]) as plain arrays.
nb::tuple save_tree(const UnboundedSearch& search) {
  const auto use = search.users().reading();
  const auto saved = search.tree().save();
  std::vector<std::uint64_t> facts = {saved.slots, search.origin_key().low,
                                      search.origin_key().high,
                                      std::uint64_t(search.game().ply(search.origin()))};
  auto nodes = as_bytes(saved.nodes);  // and then the vectors of n players
  for (const auto& part : {as_bytes(saved.values), as_bytes(saved.completions)})
    nodes.insert(nodes.end(), part.begin(), part.end());
  return nb::make_tuple(to_numpy(std::move(nodes)), to_numpy(as_bytes(saved.edges)),
                        to_numpy(std::move(facts)));
}

void restore_tree(UnboundedSearch& search, const Bytes& nodes, const Bytes& edges,
                  const nb::ndarray<const std::uint64_t, nb::shape<4>, nb::c_contig>& facts,
                  const BoundState& origin) {
  check_game(search, origin);
  const auto use = search.users().changing();
  SearchTree::Saved saved;
  const std::size_t players = search.tree().players();
  const std::size_t node_bytes = sizeof(Node) + players * (sizeof(float) + 1);
  if (nodes.size() % node_bytes) throw nb::value_error("This is not a saved tree.");
  const std::size_t size = nodes.size() / node_bytes;
  const std::uint8_t* next = nodes.data();
  saved.nodes = from_bytes<Node>(next, size);
  saved.values = from_bytes<float>(next, size * players);
  saved.completions = from_bytes<std::int8_t>(next, size * players);
  if (edges.size() % sizeof(Edge)) throw nb::value_error("This is not a saved tree.");
  next = edges.data();
  saved.edges = from_bytes<Edge>(next, edges.size() / sizeof(Edge));
  saved.slots = std::size_t(facts.data()[0]);
  search.restore(saved, *origin.state, {facts.data()[1], facts.data()[2]});
}

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig>;

void check_labels(const Facts& facts, std::size_t size, const Column<std::int32_t>& numbers,
                  const Column<std::uint32_t>& actions) {
  std::size_t sum = 0;
  bool right = actions.size() == size;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    right &= numbers.data()[i] > 0;
    sum += std::size_t(std::max(0, numbers.data()[i]));
  }
  for (std::size_t i = 0; i < actions.size(); ++i)
    right &= actions.data()[i] < facts.action_places.size();
  if (!right || sum != size) throw nb::value_error("These are not saved labels of this game.");
}

void restore_labels(Labels& labels,
                    const nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig>& planes,
                    const nb::ndarray<const float, nb::c_contig>& values, std::size_t resolved,
                    const std::optional<Column<std::int32_t>>& numbers,
                    const std::optional<Column<std::uint32_t>>& actions) {
  const auto use = labels.search().users().changing();
  const bool of_children = labels.search().evaluator().of_children;
  if (of_children != numbers.has_value() || of_children != actions.has_value())
    throw nb::value_error("These are labels of another kind of network.");
  const std::size_t width = values.ndim() == 2 ? values.shape(1) : 1;
  const std::size_t size = values.ndim() ? values.shape(0) : 0;
  const auto wanted = std::size_t(labels.search().game().facts().value_width());
  // Without any state there is no width to be told of.
  if (values.ndim() < 1 || values.ndim() > 2 || (size && width != wanted))
    throw nb::value_error("These are not saved labels of this game.");
  const auto& facts = labels.search().game().facts();
  const std::size_t bytes = (facts.plane_bytes() + 7) / 8;
  const std::size_t states = numbers ? numbers->size() : size;
  if (planes.shape(0) != states || (size && planes.shape(1) != bytes) || resolved > size)
    throw nb::value_error("These are not saved labels of this game.");
  if (numbers) check_labels(facts, size, *numbers, *actions);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(std::abs(values.data()[i]) <= 1)) throw nb::value_error("A label is a value in [-1, 1].");
  Samples dropped;
  dropped.planes.assign(planes.data(), planes.data() + planes.size());
  dropped.values.assign(values.data(), values.data() + values.size());
  dropped.width = size ? width : 1;
  dropped.bytes_per_state = planes.shape(1);
  dropped.resolved = resolved;
  if (numbers) {
    dropped.of_children = true;
    dropped.labels.assign(numbers->data(), numbers->data() + numbers->size());
    dropped.actions.assign(actions->data(), actions->data() + actions->size());
  }
  labels.restore(std::move(dropped));
}

// As Python holds it. A copy elsewhere is made of its planes.
BoundState bound(const std::shared_ptr<const Game>& game, const State& state) {
  std::vector<std::uint8_t> planes(game->facts().plane_bytes());
  game->planes(state, planes.data());
  const nb::bytes copy(planes.data(), planes.size());
  return {game, state.clone(), {}, {}, nb::make_tuple(copy, game->ply(state))};
}

// Rules that are functions of Python (own_rules.py); None where the settings hold.
void follow(UnboundedSearch& search, const std::shared_ptr<const Game>& game,
            const nb::object& goes_on, const nb::object& child_to_explore) {
  const auto use = search.users().changing();
  if (&search.game() != game.get()) throw nb::value_error("The rules are for another game.");
  const auto held = [](const nb::object& rule) {
    const auto release = [](nb::object* object) {
      nb::gil_scoped_acquire lock;
      delete object;
    };
    return std::shared_ptr<nb::object>(new nb::object(rule), release);
  };
  const auto list_of = [](std::span<const Child> children) {
    nb::list list;
    for (const Child& child : children) list.append(child);
    return list;
  };
  OwnRules rules;
  if (!goes_on.is_none())
    rules.goes_on = [game, list_of, rule = held(goes_on)](const State& state,
                                                          std::span<const Child> children,
                                                          std::uint32_t new_states) {
      nb::gil_scoped_acquire lock;
      return nb::cast<bool>((*rule)(bound(game, state), list_of(children), new_states));
    };
  if (!child_to_explore.is_none())
    rules.child_to_explore = [game, list_of, rule = held(child_to_explore)](
                                 const State& state, std::span<const Child> children) {
      nb::gil_scoped_acquire lock;
      return nb::cast<std::size_t>((*rule)(bound(game, state), list_of(children)));
    };
  search.follow(std::move(rules));
}

nb::tuple memory_arrays(const ResolvedMemory& memory) {
  std::vector<std::uint64_t> keys;
  std::vector<float> values;
  std::vector<std::int8_t> completions;
  for (const auto& [key, entry] : memory.sorted()) {
    keys.push_back(key.low);
    keys.push_back(key.high);
    values.insert(values.end(), entry.value.begin(), entry.value.end());
    completions.insert(completions.end(), entry.completion.begin(), entry.completion.end());
  }
  const auto shape = shape_of(memory.size(), memory.width() > 1 ? memory.width() : 0);
  return nb::make_tuple(to_numpy(std::move(keys), {memory.size(), 2}),
                        to_numpy(std::move(values), shape),
                        to_numpy(std::move(completions), shape));
}

void fill_memory(ResolvedMemory& memory,
                 nb::ndarray<const std::uint64_t, nb::shape<-1, 2>, nb::c_contig> keys,
                 nb::ndarray<const float, nb::c_contig> values,
                 nb::ndarray<const std::int8_t, nb::c_contig> completions) {
  const auto use = memory.users().changing();
  const bool vectors = values.ndim() == 2;
  const std::size_t width = vectors ? values.shape(1) : 1;
  if (values.ndim() > 2 || values.ndim() == 0 || completions.ndim() != values.ndim() ||
      values.shape(0) != keys.shape(0) || completions.shape(0) != keys.shape(0) || !width ||
      width > std::size_t(max_players) || completions.size() != values.size())
    throw nb::value_error("Each resolved state has a key, a value and a completion.");
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values.data()[i]) || std::abs(completions.data()[i]) > 1)
      throw nb::value_error("A resolved state's value is finite and its completion -1, 0 or 1.");
  for (std::size_t i = 0; i < keys.shape(0); ++i)
    memory.add({keys.data()[2 * i], keys.data()[2 * i + 1]},
               {{values.data() + i * width, width}, {completions.data() + i * width, width}});
}

nb::tuple ending_samples(const std::shared_ptr<const Game>& game, std::size_t count,
                         const std::string& heuristic, int longest, std::uint64_t seed,
                         bool of_children) {
  if (of_children && game->facts().action_places.empty())
    throw nb::value_error("An action of this game is more than a cell.");
  Samples samples;
  {
    nb::gil_scoped_release release;
    samples = random_ending_samples(
        *game, TerminalEvaluation(*game, heuristic_from_string(heuristic), longest), count, seed,
        of_children);
  }
  const auto arrays = arrays_of(std::move(samples));
  if (of_children) return nb::make_tuple(arrays[0], arrays[1], arrays[3], arrays[4]);
  return nb::make_tuple(arrays[0], arrays[1]);
}

Array<std::uint8_t> unpacked(
    const nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig>& packed,
    const nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig>& tables,
    const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>& chosen) {
  std::vector<std::uint8_t> planes;
  {
    nb::gil_scoped_release release;
    planes = unpack_planes({packed.data(), packed.size()}, tables.shape(1),
                           {tables.data(), tables.size()}, {chosen.data(), chosen.size()});
  }
  return to_numpy(std::move(planes), {chosen.size(), tables.shape(1)});
}

}  // namespace

void bind_unbounded(nb::module_& m) {
  m.def("unpack_planes", &unpacked, nb::arg("packed"), nb::arg("tables"), nb::arg("chosen"),
        nb::sig("def unpack_planes(packed: numpy.typing.NDArray[numpy.uint8], "
                "tables: numpy.typing.NDArray[numpy.uint32], "
                "chosen: numpy.typing.NDArray[numpy.int64]) -> numpy.typing.NDArray[numpy.uint8]"),
        "Planes [states, bits] from packed ones [states, bytes], each state by one of the tables "
        "[symmetries, bits], which say where each bit comes from.");

  m.def("ending_samples", &ending_samples, nb::arg("game"), nb::arg("count"), nb::arg("heuristic"),
        nb::arg("longest"), nb::arg("seed"), nb::arg("of_children") = false,
        nb::sig("def ending_samples(game: Game, count: int, heuristic: str, longest: int, "
                "seed: int, of_children: bool = False) -> tuple[typing.Any, ...]"),
        "(packed planes, values in [-1, 1]) of the last states of random games; of children (…, "
        "labels of each state, their actions) of the states before them.");

  nb::class_<UnboundedSearch, Search>(m, "UnboundedSearch", "Descent, UBFM and their class.")
      .def("follow", &follow, nb::arg("game"), nb::arg("goes_on").none(),
           nb::arg("child_to_explore").none(),
           nb::sig("def follow(self, game: Game, "
                   "goes_on: typing.Callable[[State, list[Child], int], bool] | None, "
                   "child_to_explore: typing.Callable[[State, list[Child]], int] | None) -> None"),
           "Takes rules of one's own in place of its settings.")
      .def(
          "look",
          [](const UnboundedSearch& s, const BoundState& state) {
            check_game(s, state);
            const auto use = s.users().reading();
            return s.look(*state.state, state.mobility);
          },
          nb::arg("state"), nb::sig("def look(self, state: State) -> SearchResult | None"),
          "What it knows of any state in its tree, between slices of a search too. Without "
          "transpositions of its root alone.")
      .def("save_tree", &save_tree,
           nb::sig("def save_tree(self) -> tuple[numpy.typing.NDArray[numpy.uint8], "
                   "numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.uint64]]"),
           "The tree as arrays that restore_tree takes; the third has the origin's ply at 3.")
      .def("restore_tree", &restore_tree, nb::arg("nodes"), nb::arg("edges"), nb::arg("facts"),
           nb::arg("origin"))
      .def_prop_ro(
          "completion", [](const UnboundedSearch& s) { return s.settings().completion; },
          "Whether states can be resolved.")
      .def_prop_ro("resolved_share", &resolved_share, "Of the states in the tree.")
      .def("dump", &dump, nb::sig("def dump(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
           "The whole tree as arrays.");

  nb::class_<ResolvedMemory>(m, "ResolvedMemory", "Proven states, kept across games.")
      .def(nb::init<std::size_t>(), nb::arg("capacity"))
      .def(
          "add_all",
          [](ResolvedMemory& memory, const UnboundedSearch& search) {
            const auto use = memory.users().changing();
            const auto reading = search.users().reading();
            if (search.settings().transpositions) memory.add_all(search.tree());
          },
          nb::arg("search"),
          "The resolved states of a search's tree; none without transpositions, where nodes "
          "are lines.")
      .def("clear",
           [](ResolvedMemory& memory) {
             const auto use = memory.users().changing();
             memory.clear();
           })
      .def("__len__", &ResolvedMemory::size)
      .def("arrays", &memory_arrays,
           nb::sig("def arrays(self) -> tuple[numpy.typing.NDArray[numpy.uint64], "
                   "numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.int8]]"))
      .def("fill", &fill_memory, nb::arg("keys"), nb::arg("values"), nb::arg("completions"));

  nb::class_<Labels>(m, "Labels",
                     "The labelled states of one game's search, those that leave its tree for "
                     "want of memory included.")
      .def(
          "__init__",
          [](Labels* self, const std::shared_ptr<UnboundedSearch>& search) {
            const auto use = search->users().changing();
            new (self) Labels(search);
          },
          nb::arg("search"))
      .def(
          "samples",
          [](const Labels& labels) {
            const auto use = labels.search().users().reading();
            return arrays_of(labels.all());
          },
          nb::sig("def samples(self) -> tuple[typing.Any, ...]"),
          "(packed planes, values in [-1, 1], how many are resolved) of every expanded, "
          "terminal or remembered state below the first root since clear(). Where one row is for "
          "all children of a state, the planes are of their parents, and two arrays more have the "
          "number of labels of each, and the actions of all.")
      .def(
          "saved",
          [](const Labels& labels) {
            const auto use = labels.search().users().reading();
            return arrays_of(labels.dropped());
          },
          nb::sig("def saved(self) -> tuple[typing.Any, ...]"),
          "The same of those that have left the tree, for `restore`.")
      .def("restore", &restore_labels, nb::arg("planes"), nb::arg("values"), nb::arg("resolved"),
           nb::arg("labels") = nb::none(), nb::arg("actions") = nb::none())
      .def("clear", [](Labels& labels) {
        const auto use = labels.search().users().changing();
        labels.clear();
      });
}

}  // namespace athenan
