// Python's view of the network that lives in the core.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "core/bind.h"
#include "core/dense_network.h"

namespace athenan {
namespace {

using Weight = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

// Kernels [inputs, outputs] and biases [outputs] in turn.
void assign(DenseNetwork& network, const std::vector<Weight>& weights) {
  if (weights.size() % 2)
    throw nb::value_error("The weights of a dense network are kernels and biases in turn.");
  std::vector<DenseLayer> layers;
  for (std::size_t i = 0; i < weights.size(); i += 2) {
    const Weight &kernel = weights[i], &bias = weights[i + 1];
    if (kernel.ndim() != 2 || bias.ndim() != 1)
      throw nb::value_error("The weights of a dense network are kernels and biases in turn.");
    layers.push_back({kernel.shape(0),
                      kernel.shape(1),
                      {kernel.data(), kernel.size()},
                      {bias.data(), bias.size()}});
  }
  const auto use = network.users().changing();
  nb::gil_scoped_release release;
  network.assign(layers);
}

Array<float> as_answers(const DenseNetwork& network, std::vector<float> answers) {
  const std::size_t width = network.outputs(), rows = answers.size() / width;
  return to_numpy(std::move(answers), width == 1 ? std::vector{rows} : std::vector{rows, width});
}

Array<float> answer(const DenseNetwork& network,
                    const nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>& planes) {
  const std::size_t rows = planes.ndim() ? planes.shape(0) : 0;
  if (planes.size() != rows * network.bits())
    throw nb::value_error("These planes are of another game than the network.");
  const std::span<const std::uint8_t> given(planes.data(), planes.size());
  std::vector<float> answers(rows * network.outputs());
  const auto use = network.users().reading();
  {
    nb::gil_scoped_release release;
    if (std::any_of(given.begin(), given.end(), [](std::uint8_t bit) { return bit > 1; }))
      throw std::invalid_argument("Planes have other values than 0 and 1.");
    DenseSums().answer(network, given, answers);
  }
  return as_answers(network, std::move(answers));
}

Array<float> answer_children(const DenseNetwork& network, const nb::list& states) {
  std::vector<float> answers;
  DenseSums sums;
  Actions actions;
  const auto use = network.users().reading();
  for (const nb::handle state : states) {
    const auto& bound = nb::cast<const BoundState&>(state);
    bound.game->legal_actions(*bound.state, actions);
    if (actions.empty()) continue;
    const std::size_t first = answers.size();
    answers.resize(first + actions.size() * network.outputs());
    nb::gil_scoped_release release;
    sums.answer(network, *bound.game, *bound.state, actions, std::span(answers).subspan(first));
  }
  return as_answers(network, std::move(answers));
}

}  // namespace

void bind_network(nb::module_& m) {
  m.def("dense_vectors", &dense_vectors,
        "The kinds of vectors that dense networks can use here, the best last.");
  nb::class_<DenseNetwork>(m, "DenseNetwork",
                           "A network of dense layers in integers; what is known of one state is "
                           "updated for the next.")
      .def(
          "__init__",
          [](DenseNetwork* self, const std::tuple<std::size_t, std::size_t, std::size_t>& shape,
             std::size_t outputs, const std::string& vectors) {
            const auto& [rows, columns, channels] = shape;
            new (self) DenseNetwork(rows * columns, channels, outputs, vectors);
          },
          nb::arg("plane_shape"), nb::arg("outputs") = 1, nb::arg("vectors") = "")
      .def("assign", &assign, nb::arg("weights"),
           nb::sig("def assign(self, weights: "
                   "list[numpy.typing.NDArray[numpy.float32]]) -> None"),
           "Kernels [inputs, outputs] and biases in turn, from now on; not while a search runs.")
      .def("answer", &answer, nb::arg("planes"),
           nb::sig("def answer(self, planes: numpy.typing.NDArray[numpy.uint8]) -> "
                   "numpy.typing.NDArray[numpy.float32]"),
           "Values in [-1, 1]: [batch], or [batch, outputs].")
      .def("answer_children", &answer_children, nb::arg("states"),
           nb::sig("def answer_children(self, states: list[State]) -> "
                   "numpy.typing.NDArray[numpy.float32]"),
           "The same of all children of these states, one after the other.")
      .def_prop_ro("vectors", &DenseNetwork::vectors);
}

}  // namespace athenan
