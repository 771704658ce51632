// Proven values by key, kept across games: a search that meets such a state need not search it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/tree.h"
#include "core/users.h"

namespace athenan {

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
  Users& users() const { return users_; }  // running searches read it
  // Ascending by key, so that a saved memory is the same for the same contents.
  std::vector<std::pair<Key, Entry>> sorted() const;

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const { return std::size_t(key.low); }
  };
  std::size_t capacity_;
  std::unordered_map<Key, Entry, Hash> entries_;
  mutable Users users_{"memory of resolved states"};
};

}  // namespace athenan
