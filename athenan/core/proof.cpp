#include "core/proof.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace athenan {
namespace {

struct KeyHash {
  std::size_t operator()(const Key& key) const { return std::size_t(key.low); }
};

// A state still to be looked at.
struct Waiting {
  std::unique_ptr<State> state;
  Mobility mobility;
};

// What a check knows of a state of the proof.
enum class Mark : std::uint8_t { unseen, end, on_path, shown };

// A state on the path of a check, with those of its children that are still to be shown.
struct Supported {
  std::unique_ptr<State> state;
  std::size_t entry;
  std::vector<std::pair<Action, std::size_t>> children;  // and their entries
};

std::unique_ptr<State> child_of(const Game& game, const State& state, Action action) {
  auto child = state.clone();
  game.play(*child, action);
  return child;
}

}  // namespace

Proof make_proof(const UnboundedSearch& search, bool strong) {
  const Game& game = search.game();
  const auto& evaluation = search.terminal_evaluation();
  if (!search.root().is(Node::resolved))
    throw std::invalid_argument("There is no proof: the search has not resolved its root.");
  std::unordered_map<Key, std::int8_t, KeyHash> found;
  std::vector<Waiting> waiting;
  if (!game.is_terminal(search.root_state())) {
    found[game.key(search.root_state())] = search.root().completion;
    waiting.push_back({search.root_state().clone(), search.root_mobility()});
  }
  Children children;
  while (!waiting.empty()) {
    Waiting at = std::move(waiting.back());
    waiting.pop_back();
    const int player = game.to_move(*at.state);
    const int outcome = found.at(game.key(*at.state));
    const bool won = outcome == (player == 0 ? 1 : -1);
    game.expand(*at.state, children);
    at.mobility.add(player, children.size());
    const Key extra = evaluation.key(game.ply(*at.state) + 1, at.mobility);
    bool shown = false;
    for (std::size_t i = 0; i < children.size() && !(won && shown && !strong); ++i) {
      if (children.terminal[i]) {
        shown |= children.endings[i].outcome[0] == outcome;
        if (strong) found.emplace(children.keys[i], children.endings[i].outcome[0]);
        continue;
      }
      const NodeId id = search.tree().find(children.keys[i] ^ extra);
      const bool known = id != no_node && search.tree().node(id).is(Node::resolved);
      if (known) {
        const int value = search.tree().node(id).completion;
        if (won && !strong && value != outcome) continue;
        shown |= value == outcome;
        if (found.emplace(children.keys[i], std::int8_t(value)).second)
          waiting.push_back({child_of(game, *at.state, children.actions[i]), at.mobility});
      } else if (!won || strong) {
        shown = false;
        break;
      }
    }
    if (!shown)
      throw std::runtime_error(
          "The tree no longer holds the whole proof; give the search more memory.");
  }
  Proof proof;
  proof.keys.reserve(found.size());
  for (const auto& [key, outcome] : found) proof.keys.push_back(key);
  std::sort(proof.keys.begin(), proof.keys.end());
  proof.outcomes.reserve(found.size());
  for (const auto& key : proof.keys) proof.outcomes.push_back(found.at(key));
  return proof;
}

std::string check_proof(const Game& game, const State& root, const Proof& proof, bool strong) {
  const auto& keys = proof.keys;
  if (game.facts().num_players != 2) return "proofs are of games for two players";
  if (proof.outcomes.size() != keys.size()) return "it has more keys than outcomes or fewer";
  if (std::adjacent_find(keys.begin(), keys.end(),
                         [](const Key& a, const Key& b) { return !(a < b); }) != keys.end())
    return "its keys do not ascend";
  const auto entry = [&](const Key& key) -> std::optional<std::size_t> {
    const auto at = std::lower_bound(keys.begin(), keys.end(), key);
    if (at == keys.end() || *at != key) return std::nullopt;
    return std::size_t(at - keys.begin());
  };
  if (game.is_terminal(root)) return keys.empty() ? "" : "the game is over but it has states";

  // Depth first, one path at a time: a state that supports itself by way of others is met on its
  // own path. No game should have such keys, but one of the user's own may.
  std::vector<Mark> marks(keys.size(), Mark::unseen);
  std::vector<Supported> path;
  Children children;
  // Puts a state on the path after its claim has been held against those of its children.
  const auto enter = [&](std::unique_ptr<State> state, std::size_t at) -> std::string {
    const int outcome = proof.outcomes[at];
    const int sign = game.to_move(*state) == 0 ? 1 : -1;
    Supported entered{std::move(state), at, {}};
    game.expand(*entered.state, children);
    int best = -2;  // less than a loss: a state without children is worth nothing
    bool complete = true;
    for (std::size_t i = 0; i < children.size(); ++i) {
      int value = children.endings[i].outcome[0];
      if (!children.terminal[i] || strong) {
        const auto child = entry(children.keys[i]);
        if (!child) {
          complete = false;
          continue;
        }
        if (children.terminal[i] && proof.outcomes[*child] != value)
          return "the rules give an end another outcome than it does";
        value = proof.outcomes[*child];
        if (children.terminal[i])
          marks[*child] = std::max(marks[*child], Mark::end);
        else
          entered.children.push_back({children.actions[i], *child});
      }
      best = std::max(best, sign * value);
    }
    const bool needs_all = strong || sign * outcome != 1;
    if (best != sign * outcome || (needs_all && !complete))
      return "this state is not shown to be worth " + std::to_string(outcome) + ":\n" +
             game.state_to_string(*entered.state, std::nullopt);
    marks[at] = Mark::on_path;
    path.push_back(std::move(entered));
    return "";
  };

  const auto first = entry(game.key(root));
  if (!first) return "it says nothing of the state it starts from";
  std::string wrong = enter(root.clone(), *first);
  while (wrong.empty() && !path.empty()) {
    Supported& last = path.back();
    if (last.children.empty()) {
      marks[last.entry] = Mark::shown;
      path.pop_back();
      continue;
    }
    const auto [action, child] = last.children.back();
    last.children.pop_back();
    if (marks[child] == Mark::on_path)
      wrong = "its states support one another in a circle, such as this one:\n" +
              game.state_to_string(*last.state, std::nullopt);
    else if (marks[child] != Mark::shown)
      wrong = enter(child_of(game, *last.state, action), child);
  }
  if (!wrong.empty()) return wrong;
  const auto strays = std::count(marks.begin(), marks.end(), Mark::unseen);
  if (strays) return std::to_string(strays) + " of its states are not part of the proof";
  return "";
}

}  // namespace athenan
