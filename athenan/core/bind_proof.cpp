#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "core/bind.h"
#include "core/proof.h"

namespace athenan {
namespace {

using Keys = nb::ndarray<const std::uint64_t, nb::shape<-1, 2>, nb::c_contig>;
using Outcomes = nb::ndarray<const std::int8_t, nb::ndim<1>, nb::c_contig>;

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
  return nb::make_tuple(to_numpy(std::move(words), {size, 2}), to_numpy(std::move(proof.outcomes)));
}

std::string check(const BoundState& root, Keys keys, Outcomes outcomes, bool strong) {
  nb::gil_scoped_release release;
  Proof proof;
  for (std::size_t i = 0; i < keys.shape(0); ++i)
    proof.keys.push_back({keys.data()[2 * i], keys.data()[2 * i + 1]});
  proof.outcomes.assign(outcomes.data(), outcomes.data() + outcomes.size());
  return check_proof(*root.game, *root.state, proof, strong);
}

}  // namespace

void bind_proof(nb::module_& m) {
  m.def("make_proof", &make, nb::arg("search"), nb::arg("strong"),
        nb::sig("def make_proof(search: UnboundedSearch, strong: bool) -> "
                "tuple[numpy.typing.NDArray[numpy.uint64], numpy.typing.NDArray[numpy.int8]]"),
        "(keys, outcomes) of the states that prove a resolved root.");
  m.def("check_proof", &check, nb::arg("root"), nb::arg("keys"), nb::arg("outcomes"),
        nb::arg("strong"), "Empty when the rules confirm the proof, otherwise what is wrong.");
}

}  // namespace athenan
