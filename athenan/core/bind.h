// What the binding files share. Only files named bind* know Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/evaluation.h"
#include "games/game.h"

namespace athenan {

namespace nb = nanobind;

// The actions that led to a state, shared with the states before it.
struct Line {
  std::shared_ptr<Line> before;
  Action action = 0;

  Line(std::shared_ptr<Line> before, Action action) : before(std::move(before)), action(action) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() {  // one after the other: a game may be longer than the stack is deep
    while (before && before.use_count() == 1) before = std::move(before->before);
  }
};

// A state as Python holds it: with its game, the action that led to it (to mark it on boards), and
// the mobility of the game so far, so that whoever searches it values ends alike. Where it began
// (none: the initial state; a text; planes and ply; a state written in Python) and the actions
// since make a copy of it elsewhere, history included.
struct BoundState {
  std::shared_ptr<const Game> game;
  std::unique_ptr<State> state;
  std::optional<Action> last_action;
  Mobility mobility = {};
  nb::object start = nb::none();
  std::shared_ptr<Line> line = {};
};

using Planes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<3>, nb::c_contig>;

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::c_contig>;

template <class T>
Array<T> to_numpy(std::vector<T> values, std::vector<std::size_t> shape = {}) {
  auto* held = new std::vector<T>(std::move(values));
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  if (shape.empty()) shape = {held->size()};
  return Array<T>(held->data(), shape.size(), shape.data(), owner);
}

// Name, default, range, choices and sentence of each, as dictionaries.
nb::list describe_options(const std::vector<OptionType>& options);

class Search;
void check_game(const Search& search, const BoundState& state);  // of the same one, or it throws

void bind_games(nb::module_& m);
void bind_python_game(nb::module_& m);
void bind_tree_game(nb::module_& m);
void bind_network(nb::module_& m);
void bind_search(nb::module_& m);
void bind_unbounded(nb::module_& m);
void bind_proof(nb::module_& m);

}  // namespace athenan
