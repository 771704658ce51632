// What self-play gives to learning: labelled states of a search's tree, and the memory of
// resolved states that outlives a game.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/search.h"

namespace athenan {

// Tree learning's pairs (state, v): every expanded and every terminal state. Leaves that only hold
// f_θ's own answer teach nothing.
struct Samples {
  std::vector<std::uint8_t> planes;  // a state's bits, packed, high bit first
  std::vector<float> values;         // v / bound, in [-1, 1]
  std::size_t bytes_per_state = 0;
  std::size_t resolved = 0;

  std::size_t size() const { return values.size(); }
  void add(const Game& game, const State& state, float value);

 private:
  std::vector<std::uint8_t> scratch_;
};

// Adds those of the tree below the search's origin, but for the nodes to be left out.
void add_tree_samples(Samples& samples, const Search& search,
                      const std::vector<bool>& leave_out = {});

// Of all states since clear(): those that left the tree for want of memory, and the tree's own.
Samples samples_of(const Search& search);

// The last states of `count` random games, for the first fit of a network.
Samples random_ending_samples(const Game& game, const TerminalEvaluation& evaluation,
                              std::size_t count, std::uint64_t seed);

// Proven values by key, kept across games: a search that meets such a state need not search it.
class ResolvedMemory {
 public:
  struct Entry {
    float value;
    std::int8_t completion;
  };
  explicit ResolvedMemory(std::size_t capacity) : capacity_(capacity) {}

  const Entry* find(const Key& key) const {
    const auto at = entries_.find(key);
    return at == entries_.end() ? nullptr : &at->second;
  }
  void add(const Key& key, Entry entry) {
    if (entries_.size() < capacity_) entries_.emplace(key, entry);
  }
  void add_all(const SearchTree& tree);  // its resolved non-terminal states
  void clear() { entries_.clear(); }
  std::size_t size() const { return entries_.size(); }
  // Ascending by key, so that a saved memory is the same for the same contents.
  std::vector<std::pair<Key, Entry>> sorted() const;

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const { return std::size_t(key.low); }
  };
  std::size_t capacity_;
  std::unordered_map<Key, Entry, Hash> entries_;
};

}  // namespace athenan
