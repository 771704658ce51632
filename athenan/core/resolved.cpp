#include "core/resolved.h"

#include <algorithm>

namespace athenan {

void ResolvedMemory::add_all(const SearchTree& tree) {
  for (NodeId id = 0; id < tree.num_nodes(); ++id) {
    const Node& node = tree.node(id);
    if (node.is(Node::resolved) && !node.is(Node::terminal))
      add(node.full_key(), {node.value, node.completion});
  }
}

std::vector<std::pair<Key, ResolvedMemory::Entry>> ResolvedMemory::sorted() const {
  std::vector<std::pair<Key, Entry>> all(entries_.begin(), entries_.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

}  // namespace athenan
