// Iterative deepening: a search to one horizon after the other, so that it can spend any budget.
#include <algorithm>
#include <stdexcept>

#include "core/interval.h"

namespace athenan {

extern const SearchType iterative_deepening_type;
const SearchType iterative_deepening_type = {
    .name = "iterative_deepening",
    .about = "a search to the horizons 1, 2, … until its budget is spent",
    .options =
        [] {
          auto options =
              interval_options({"order", "width", "augmented", "policy", "lambda", "mirror_min",
                                "informed", "child_batching", "transpositions", "memory_mb"},
                               1'000'000);
          options.insert(
              options.begin(),
              one_of("inner",
                     {"alphabeta", "minimax", "pvs", "mtdf", "kbest_alphabeta", "alphabeta_storage",
                      "alphabeta_augmented", "mt_sss", "alphabeta_informed", "sss2", "rollout"},
                     "which search; it takes the options that it has"));
          return options;
        }(),
    .make =
        [](SearchInput input, const Options& options) {
          const auto& types = search_types();
          const auto inner = std::find_if(types.begin(), types.end(), [&](const SearchType* type) {
            return type->name == options.text("inner");
          });
          return (*inner)->make(std::move(input), options);
        },
    .consults = true,
};

}  // namespace athenan
