// What self-play gives to learning: labelled states of a search's tree.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/unbounded.h"

namespace athenan {

// Tree learning's pairs (state, v): every expanded, terminal or remembered state. Leaves that only
// hold f_θ's own answer teach nothing.
struct Samples {
  std::vector<std::uint8_t> planes;  // a state's bits, packed, high bit first
  std::vector<float> values;         // v / bound, in [-1, 1]: [states, width]
  std::size_t width = 1;             // as many as a value of the game has
  std::size_t bytes_per_state = 0;
  std::size_t resolved = 0;

  std::size_t size() const { return values.size() / width; }
  void add(const Game& game, const State& state, const PerPlayer<float>& value);

 private:
  std::vector<std::uint8_t> scratch_;
};

// Adds those of the tree below the search's origin, but for the nodes to be left out.
void add_tree_samples(Samples& samples, const UnboundedSearch& search,
                      const std::vector<bool>& leave_out = {});

// The labels of one game's search, also of states that have left its tree for want of memory.
class Labels {
 public:
  explicit Labels(std::shared_ptr<UnboundedSearch> search);
  ~Labels();
  Labels(const Labels&) = delete;
  Labels& operator=(const Labels&) = delete;

  const UnboundedSearch& search() const { return *search_; }
  Samples all() const;  // since clear()
  const Samples& dropped() const { return dropped_; }
  void restore(Samples dropped) { dropped_ = std::move(dropped); }
  void clear() { dropped_ = {}; }

 private:
  std::shared_ptr<UnboundedSearch> search_;
  Samples dropped_;
};

// Planes from their bits, each state in one of its symmetries: in symmetry k bit i is that of the
// packed state at tables[k * bits + i], and chosen has the k of each state.
std::vector<std::uint8_t> unpack_planes(std::span<const std::uint8_t> packed, std::size_t bits,
                                        std::span<const std::uint32_t> tables,
                                        std::span<const std::int64_t> chosen);

// The last states of `count` random games, for the first fit of a network.
Samples random_ending_samples(const Game& game, const TerminalEvaluation& evaluation,
                              std::size_t count, std::uint64_t seed);

}  // namespace athenan
