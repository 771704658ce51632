// Proven values by key, kept across games: a search that meets such a state need not search it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/tree.h"
#include "core/users.h"

namespace athenan {

class ResolvedMemory {
 public:
  // v and c: one number for two players, or one for each of n.
  struct Entry {
    std::span<const float> value;
    std::span<const std::int8_t> completion;
  };
  explicit ResolvedMemory(std::size_t capacity) : capacity_(capacity) {}

  std::optional<Entry> find(const Key& key) const {
    const auto at = rows_.find(key);
    return at == rows_.end() ? std::nullopt : std::optional(entry(at->second));
  }
  void add(const Key& key, const Entry& entry);
  void add_all(const SearchTree& tree);  // its resolved non-terminal states
  void clear();
  std::size_t size() const { return rows_.size(); }
  std::size_t width() const { return width_; }  // of all entries; 0 before the first
  bool fits(const SearchTree& tree) const { return !width_ || width_ == width_of(tree); }
  Users& users() const { return users_; }  // running searches read it
  // Ascending by key, so that a saved memory is the same for the same contents.
  std::vector<std::pair<Key, Entry>> sorted() const;

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const { return std::size_t(key.low); }
  };
  static std::size_t width_of(const SearchTree& tree) {
    return tree.has_vectors() ? tree.players() : 1;
  }
  Entry entry(std::uint32_t row) const {
    return {{values_.data() + row * width_, width_}, {completions_.data() + row * width_, width_}};
  }

  std::size_t capacity_, width_ = 0;
  std::unordered_map<Key, std::uint32_t, Hash> rows_;
  std::vector<float> values_;  // [rows, width]
  std::vector<std::int8_t> completions_;
  mutable Users users_{"memory of resolved states"};
};

}  // namespace athenan
