// Whether a restored tree is one of the game: a file may say anything, and the search plays what
// its tree holds without asking the rules again.
#pragma once

#include <optional>
#include <unordered_set>

#include "core/evaluation.h"
#include "core/tree.h"

namespace athenan {

class SavedTreeCheck {
 public:
  // Throws unless each expanded state below the origin has there the actions and the children that
  // the rules give it. What is not below it, since its parents have left for want of memory, and
  // keys that depend on the mobility of a game that is not told here, stay in doubt.
  void check(const SearchTree& tree, const Game& game, const TerminalEvaluation& evaluation,
             const State& origin, const Key& origin_key, bool transpositions);
  // The same of what is in doubt, once the search meets it.
  void check_met(const SearchTree& tree, const Game& game, const TerminalEvaluation& evaluation,
                 const State& state, const Mobility& mobility, NodeId id);
  bool in_doubt() const { return !doubtful_.empty(); }
  void clear() { doubtful_.clear(); }

 private:
  void walk(const SearchTree& tree, const Game& game, const TerminalEvaluation& evaluation,
            const State& state, const std::optional<Mobility>& mobility, NodeId id);

  struct Hash {
    std::size_t operator()(const Key& key) const { return std::size_t(key.low); }
  };
  std::unordered_set<Key, Hash> doubtful_;  // expanded states
  bool transpositions_ = true;
};

}  // namespace athenan
