// What self-play gives to learning: labelled states of a search's tree.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/unbounded.h"

namespace athenan {

// Tree learning's pairs (state, v): every expanded, terminal or remembered state. Leaves that only
// hold f_θ's own answer teach nothing. Where one row is for all children of a state the same values
// are labels of their parents, each with the action that leads from there.
struct Samples {
  std::vector<std::uint8_t> planes;  // a state's bits, packed, high bit first
  std::vector<float> values;         // v / bound, in [-1, 1]: [states, width]
  std::size_t width = 1;             // as many as a value of the game has
  std::size_t bytes_per_state = 0;
  std::size_t resolved = 0;  // of the labels
  bool of_children = false;
  std::vector<std::int32_t> labels = {};  // of each state, and all their actions; of children
  std::vector<std::uint32_t> actions = {};

  std::size_t size() const { return of_children ? labels.size() : values.size() / width; }
  void add(const Game& game, const State& state, const PerPlayer<float>& value);
  void add(const Game& game, const State& state, const Actions& actions,
           std::span<const float> values);  // of the children by these actions

 private:
  void add_planes(const Game& game, const State& state);

  std::vector<std::uint8_t> scratch_;
};

// Adds those of the tree below the search's origin, but for the nodes that stay: of these, as
// SearchTree::make_room tells them, a later call says more.
void add_tree_samples(Samples& samples, const UnboundedSearch& search,
                      const std::vector<bool>& stays = {});

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
  void clear() { dropped_ = empty(); }

 private:
  Samples empty() const;

  std::shared_ptr<UnboundedSearch> search_;
  Samples dropped_;
};

// Planes from their bits, each state in one of its symmetries: in symmetry k bit i is that of the
// packed state at tables[k * bits + i], and chosen has the k of each state.
std::vector<std::uint8_t> unpack_planes(std::span<const std::uint8_t> packed, std::size_t bits,
                                        std::span<const std::uint32_t> tables,
                                        std::span<const std::int64_t> chosen);

// The last states of `count` random games, for the first fit of a network. Of children the last
// two actions in turn: where only the last one was known, each action would be one that ends a
// game, and in most games that is one that wins.
Samples random_ending_samples(const Game& game, const TerminalEvaluation& evaluation,
                              std::size_t count, std::uint64_t seed, bool of_children = false);

}  // namespace athenan
