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

// What a proof says of a state.
struct Claim {
  PerPlayer<std::int8_t> outcome;
  PerPlayer<float> value;  // 0 for two players: their proofs are of outcomes

  bool operator==(const Claim&) const = default;
};

// What the proofs of a game say, and how claims compare.
class Claims {
 public:
  Claims(const Game& game, const TerminalEvaluation& evaluation)
      : game_(game), evaluation_(evaluation), width_(game.facts().value_width()) {}

  int width() const { return width_; }
  bool of_values() const { return width_ > 1; }

  Claim of_end(const Ending& ending, int ply, const Mobility& mobility) const {
    Claim claim = none();
    std::copy_n(ending.outcome.begin(), width_, claim.outcome.of.begin());
    if (of_values()) claim.value = evaluation_.of_each(ending, ply, mobility);
    return claim;
  }
  Claim of_node(const UnboundedSearch& search, NodeId id) const {
    Claim claim = none();
    claim.outcome = search.completion_of(id);
    if (of_values()) claim.value = search.value_of(id);
    return claim;
  }
  Claim of_entry(const Proof& proof, std::size_t at) const {
    Claim claim = none();
    std::copy_n(proof.outcomes.begin() + std::ptrdiff_t(at) * width_, width_,
                claim.outcome.of.begin());
    if (of_values())
      std::copy_n(proof.values.begin() + std::ptrdiff_t(at) * width_, width_,
                  claim.value.of.begin());
    return claim;
  }
  // What depends on the way to a state is part of its value, but not of its outcome.
  Key extra(int ply, const Mobility& mobility) const {
    return of_values() ? evaluation_.key(ply, mobility) : Key{};
  }
  // (c, v) for the player who chooses.
  std::pair<int, float> rank(const Claim& claim, int player) const {
    if (of_values()) return {claim.outcome.of[player], claim.value.of[player]};
    return {player == 0 ? claim.outcome.of[0] : -claim.outcome.of[0], 0.0f};
  }
  // Whether a state needs no other child than one with this claim.
  bool is_enough(const Claim& claim, const State& state) const {
    const int player = game_.to_move(state);
    const auto [outcome, value] = rank(claim, player);
    return outcome == 1 && (!of_values() || value >= evaluation_.most(game_, state, player));
  }
  std::string text(const Claim& claim) const {
    std::string all;
    for (int player = 0; player < width_; ++player)
      all += (player ? ", " : "") + std::to_string(claim.outcome.of[player]);
    return all;
  }

 private:
  Claim none() const {
    Claim claim;
    claim.outcome.size = claim.value.size = width_;
    return claim;
  }

  const Game& game_;
  const TerminalEvaluation& evaluation_;
  int width_;
};

// A state still to be looked at.
struct Waiting {
  std::unique_ptr<State> state;
  Mobility mobility;
  Claim claim;
};

// What a check knows of a state of the proof.
enum class Mark : std::uint8_t { unseen, end, on_path, shown };

// A state on the path of a check, with those of its children that are still to be shown.
struct Supported {
  std::unique_ptr<State> state;
  Mobility mobility;  // of the game up to its children
  std::size_t entry;
  std::vector<std::pair<Action, std::size_t>> children;  // and their entries
};

std::unique_ptr<State> child_of(const Game& game, const State& state, Action action) {
  auto child = state.clone();
  game.play(*child, action);
  return child;
}

Proof table_of(const std::unordered_map<Key, Claim, KeyHash>& found, const Claims& claims) {
  Proof proof;
  proof.keys.reserve(found.size());
  for (const auto& [key, claim] : found) proof.keys.push_back(key);
  std::sort(proof.keys.begin(), proof.keys.end());
  for (const auto& key : proof.keys) {
    const Claim& claim = found.at(key);
    for (int player = 0; player < claims.width(); ++player) {
      proof.outcomes.push_back(claim.outcome.of[player]);
      if (claims.of_values()) proof.values.push_back(claim.value.of[player]);
    }
  }
  return proof;
}

}  // namespace

Proof make_proof(const UnboundedSearch& search, bool strong) {
  const Game& game = search.game();
  const auto& evaluation = search.terminal_evaluation();
  if (!search.settings().transpositions)
    throw std::invalid_argument(
        "There is no proof: it is made of states, so it needs "
        "transpositions=true.");
  const Claims claims(game, evaluation);
  if (!search.root().is(Node::resolved))
    throw std::invalid_argument("There is no proof: the search has not resolved its root.");
  if (claims.of_values() && search.settings().wins_enough == WinsEnough::any)
    throw std::invalid_argument("With wins_enough=any a search proves no value of Max^n.");
  std::unordered_map<Key, Claim, KeyHash> found;
  std::vector<Waiting> waiting;
  if (const State& root = search.root_state(); !game.is_terminal(root)) {
    const Claim claim = claims.of_node(search, search.root_id());
    found[game.key(root) ^ claims.extra(game.ply(root), search.root_mobility())] = claim;
    waiting.push_back({root.clone(), search.root_mobility(), claim});
  }
  Children children;
  while (!waiting.empty()) {
    Waiting at = std::move(waiting.back());
    waiting.pop_back();
    const int player = game.to_move(*at.state), ply = game.ply(*at.state) + 1;
    const bool won = claims.is_enough(at.claim, *at.state);
    game.expand(*at.state, children);
    at.mobility.add(player, children.size());
    const Key in_tree = evaluation.key(ply, at.mobility), extra = claims.extra(ply, at.mobility);
    bool shown = false;
    for (std::size_t i = 0; i < children.size() && !(won && shown && !strong); ++i) {
      if (children.terminal[i]) {
        const Claim end = claims.of_end(children.endings[i], ply, at.mobility);
        shown |= end == at.claim;
        if (strong) found.emplace(children.keys[i] ^ extra, end);
        continue;
      }
      const NodeId id = search.tree().find(children.keys[i] ^ in_tree);
      const bool known = id != no_node && search.tree().node(id).is(Node::resolved);
      if (known) {
        const Claim claim = claims.of_node(search, id);
        if (won && !strong && claim != at.claim) continue;
        shown |= claim == at.claim;
        if (found.emplace(children.keys[i] ^ extra, claim).second)
          waiting.push_back({child_of(game, *at.state, children.actions[i]), at.mobility, claim});
      } else if (!won || strong) {
        shown = false;
        break;
      }
    }
    if (!shown)
      throw std::runtime_error(
          "The tree no longer holds the whole proof; give the search more memory.");
  }
  return table_of(found, claims);
}

std::string check_proof(const Game& game, const TerminalEvaluation& evaluation, const State& root,
                        const Mobility& mobility, const Proof& proof, bool strong) {
  const Claims claims(game, evaluation);
  const auto& keys = proof.keys;
  if (proof.outcomes.size() != keys.size() * std::size_t(claims.width()))
    return "it has more keys than outcomes or fewer";
  if (proof.values.size() != (claims.of_values() ? proof.outcomes.size() : 0))
    return "it has more outcomes than values or fewer";
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
  const auto enter = [&](std::unique_ptr<State> state, const Mobility& so_far,
                         std::size_t at) -> std::string {
    const Claim claim = claims.of_entry(proof, at);
    const int player = game.to_move(*state), ply = game.ply(*state) + 1;
    Supported entered{std::move(state), so_far, at, {}};
    game.expand(*entered.state, children);
    entered.mobility.add(player, children.size());
    const Key extra = claims.extra(ply, entered.mobility);
    bool is_best = true, is_there = false;  // a state without children is worth nothing
    bool complete = true;
    for (std::size_t i = 0; i < children.size(); ++i) {
      Claim of_child;
      if (children.terminal[i])
        of_child = claims.of_end(children.endings[i], ply, entered.mobility);
      if (!children.terminal[i] || strong) {
        const auto child = entry(children.keys[i] ^ extra);
        if (!child) {
          complete = false;
          continue;
        }
        if (children.terminal[i] && claims.of_entry(proof, *child) != of_child)
          return "the rules give an end another outcome than it does";
        of_child = claims.of_entry(proof, *child);
        if (children.terminal[i])
          marks[*child] = std::max(marks[*child], Mark::end);
        else
          entered.children.push_back({children.actions[i], *child});
      }
      is_best &= claims.rank(of_child, player) <= claims.rank(claim, player);
      is_there |= of_child == claim;
    }
    const bool needs_all = strong || !claims.is_enough(claim, *entered.state);
    if (!is_best || !is_there || (needs_all && !complete))
      return "this state is not shown to be worth " + claims.text(claim) + ":\n" +
             game.state_to_string(*entered.state, std::nullopt);
    marks[at] = Mark::on_path;
    path.push_back(std::move(entered));
    return "";
  };

  const auto first = entry(game.key(root) ^ claims.extra(game.ply(root), mobility));
  if (!first) return "it says nothing of the state it starts from";
  std::string wrong = enter(root.clone(), mobility, *first);
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
      wrong = enter(child_of(game, *last.state, action), Mobility(last.mobility), child);
  }
  if (!wrong.empty()) return wrong;
  const auto strays = std::count(marks.begin(), marks.end(), Mark::unseen);
  if (strays) return std::to_string(strays) + " of its states are not part of the proof";
  return "";
}

}  // namespace athenan
