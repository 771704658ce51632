#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "core/bind.h"
#include "core/proof.h"

namespace athenan {
namespace {

using Keys = nb::ndarray<const std::uint64_t, nb::shape<-1, 2>, nb::c_contig>;
using Outcomes = nb::ndarray<const std::int8_t, nb::c_contig>;
using Values = nb::ndarray<const float, nb::c_contig>;

nb::tuple make(const UnboundedSearch& search, bool strong) {
  const auto use = search.users().reading();
  if (search.root_id() == no_node)
    throw nb::value_error("There is no proof: the search has not run yet.");
  Proof proof;
  {
    nb::gil_scoped_release release;
    proof = make_proof(search, strong);
  }
  std::vector<std::uint64_t> words;
  words.reserve(2 * proof.keys.size());
  for (const auto& key : proof.keys) {
    words.push_back(key.low);
    words.push_back(key.high);
  }
  const std::size_t size = proof.keys.size();
  const auto width = std::size_t(search.game().facts().value_width());
  auto keys = to_numpy(std::move(words), {size, 2});
  if (width == 1) return nb::make_tuple(keys, to_numpy(std::move(proof.outcomes)));
  return nb::make_tuple(keys, to_numpy(std::move(proof.outcomes), {size, width}),
                        to_numpy(std::move(proof.values), {size, width}));
}

std::string check(const BoundState& root, Keys keys, Outcomes outcomes, bool strong,
                  const std::optional<Values>& values, const std::string& heuristic, int longest) {
  const TerminalEvaluation evaluation(*root.game, heuristic_from_string(heuristic), longest);
  nb::gil_scoped_release release;
  Proof proof;
  for (std::size_t i = 0; i < keys.shape(0); ++i)
    proof.keys.push_back({keys.data()[2 * i], keys.data()[2 * i + 1]});
  proof.outcomes.assign(outcomes.data(), outcomes.data() + outcomes.size());
  if (values) proof.values.assign(values->data(), values->data() + values->size());
  return check_proof(*root.game, evaluation, *root.state, root.mobility, proof, strong);
}

}  // namespace

void bind_proof(nb::module_& m) {
  m.def("make_proof", &make, nb::arg("search"), nb::arg("strong"),
        nb::sig("def make_proof(search: UnboundedSearch, strong: bool) -> "
                "tuple[numpy.typing.NDArray[typing.Any], ...]"),
        "(keys, outcomes) of the states that prove a resolved root; for n players with (values).");
  m.def("check_proof", &check, nb::arg("root"), nb::arg("keys"), nb::arg("outcomes"),
        nb::arg("strong"), nb::arg("values") = nb::none(), nb::arg("heuristic") = "gain",
        nb::arg("longest") = 0, "Empty when the rules confirm the proof, otherwise what is wrong.");
}

}  // namespace athenan
