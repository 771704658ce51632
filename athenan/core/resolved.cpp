#include "core/resolved.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace athenan {

void ResolvedMemory::add(const Key& key, const Entry& entry) {
  if (!width_) width_ = entry.value.size();
  if (entry.value.size() != width_ || entry.completion.size() != width_)
    throw std::invalid_argument("A memory of resolved states has values of one game.");
  const auto row = rows_.size();
  if (row >= capacity_ || row >= std::numeric_limits<std::uint32_t>::max()) return;
  if (!rows_.emplace(key, std::uint32_t(row)).second) return;
  values_.insert(values_.end(), entry.value.begin(), entry.value.end());
  completions_.insert(completions_.end(), entry.completion.begin(), entry.completion.end());
}

void ResolvedMemory::add_all(const SearchTree& tree) {
  if (!fits(tree))
    throw std::invalid_argument("A memory of resolved states has values of one game.");
  for (NodeId id = 0; id < tree.num_nodes(); ++id) {
    const Node& node = tree.node(id);
    if (!node.is(Node::resolved) || node.is(Node::terminal)) continue;
    if (tree.has_vectors())
      add(node.full_key(), {tree.values(id), tree.completions(id)});
    else
      add(node.full_key(), {{&node.value, 1}, {&node.completion, 1}});
  }
}

void ResolvedMemory::clear() {
  rows_.clear();
  values_.clear();
  completions_.clear();
  width_ = 0;
}

std::vector<std::pair<Key, ResolvedMemory::Entry>> ResolvedMemory::sorted() const {
  std::vector<std::pair<Key, Entry>> all;
  for (const auto& [key, row] : rows_) all.emplace_back(key, entry(row));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

}  // namespace athenan
