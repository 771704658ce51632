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

// A state as Python holds it: with its game, the action that led to it (to mark it on boards), and
// the mobility of the game so far, so that whoever searches it values ends alike.
struct BoundState {
  std::shared_ptr<const Game> game;
  std::unique_ptr<State> state;
  std::optional<Action> last_action;
  Mobility mobility = {};
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
void bind_search(nb::module_& m);
void bind_unbounded(nb::module_& m);
void bind_proof(nb::module_& m);

}  // namespace athenan
