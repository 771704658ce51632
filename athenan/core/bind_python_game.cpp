// Games written in Python, seen by the core. Every call takes the interpreter lock.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/bind.h"

namespace athenan {
namespace {

class PythonState final : public State {
 public:
  explicit PythonState(nb::object object) : object(std::move(object)) {}
  ~PythonState() override {
    nb::gil_scoped_acquire lock;
    object.reset();
  }
  std::unique_ptr<State> clone() const override {
    nb::gil_scoped_acquire lock;
    return std::make_unique<PythonState>(object);
  }
  void assign(const State& other) override {
    nb::gil_scoped_acquire lock;
    object = static_cast<const PythonState&>(other).object;
  }
  nb::object object;
};

const nb::object& of(const State& state) { return static_cast<const PythonState&>(state).object; }

class PythonGame final : public Game {
 public:
  explicit PythonGame(nb::object game) : game_(std::move(game)) {
    facts_.name = nb::cast<std::string>(game_.attr("name"));
    facts_.num_players = nb::cast<int>(game_.attr("num_players"));
    if (facts_.num_players < 1 || facts_.num_players > max_players)
      throw nb::value_error("A game has 1 to 6 players.");
    facts_.max_plies = nb::cast<int>(game_.attr("max_plies"));
    if (facts_.max_plies < 1) throw nb::value_error("max_plies is at least 1.");
    const auto shape = nb::cast<std::vector<int>>(nb::list(game_.attr("plane_shape")));
    if (shape.size() != 3) throw nb::value_error("plane_shape is (rows, columns, channels).");
    facts_.rows = shape[0];
    facts_.columns = shape[1];
    facts_.channels = nb::cast<std::vector<std::string>>(game_.attr("channels"));
    if (shape[0] < 1 || shape[1] < 1 || std::size_t(shape[2]) != facts_.channels.size() ||
        facts_.channels.empty())
      throw nb::value_error("plane_shape is positive, and channels names each channel.");
    facts_.symmetries = nb::cast<std::vector<Symmetry>>(game_.attr("symmetries"));
    facts_.max_score = nb::cast<double>(game_.attr("max_score"));
    facts_.has_history = nb::cast<bool>(game_.attr("has_history"));
  }
  ~PythonGame() override {
    nb::gil_scoped_acquire lock;
    game_.reset();
  }

  std::unique_ptr<State> initial_state() const override {
    nb::gil_scoped_acquire lock;
    return std::make_unique<PythonState>(game_.attr("initial_state")());
  }
  void legal_actions(const State& state, Actions& actions) const override {
    nb::gil_scoped_acquire lock;
    actions = read<Actions>(of(state).attr("legal_actions")(), "legal_actions()",
                            "a list of whole numbers from 0 to 2^32 - 1");
    if (actions.empty() && !is_terminal(state))
      throw nb::value_error("A state has no legal actions but is not over.");
  }
  void play(State& state, Action action) const override {
    nb::gil_scoped_acquire lock;
    auto& held = static_cast<PythonState&>(state).object;
    held = held.attr("play")(action);
  }
  bool is_terminal(const State& state) const override {
    nb::gil_scoped_acquire lock;
    return is_over(of(state));
  }
  int to_move(const State& state) const override {
    nb::gil_scoped_acquire lock;
    const int player = read<int>(of(state).attr("to_move"), "to_move", "a whole number");
    if (player >= 0 && player < facts_.num_players) return player;
    if (is_terminal(state)) return 0;  // nobody moves at the end
    throw nb::value_error(("to_move is " + std::to_string(player) + "; the players are 0 to " +
                           std::to_string(facts_.num_players - 1) + ".")
                              .c_str());
  }
  int ply(const State& state) const override {
    nb::gil_scoped_acquire lock;
    return read<int>(of(state).attr("ply"), "ply", "a whole number");
  }
  Key key(const State& state) const override {
    nb::gil_scoped_acquire lock;
    return key_of(of(state));
  }
  Ending ending(const State& state) const override {
    nb::gil_scoped_acquire lock;
    return ending_of(of(state));
  }
  void expand(const State& state, Children& children) const override {
    nb::gil_scoped_acquire lock;
    legal_actions(state, children.actions);
    children.keys.clear();
    children.terminal.clear();
    children.endings.clear();
    for (Action action : children.actions) {
      const nb::object child = of(state).attr("play")(action);
      children.keys.push_back(key_of(child));
      children.terminal.push_back(is_over(child));
      children.endings.push_back(ending_of(child));
    }
  }
  void planes(const State& state, std::uint8_t* out) const override {
    nb::gil_scoped_acquire lock;
    copy_planes(of(state), out);
  }
  void child_planes(const State& state, std::span<const Action> actions,
                    std::uint8_t* out) const override {
    nb::gil_scoped_acquire lock;
    for (Action action : actions) {
      copy_planes(of(state).attr("play")(action), out);
      out += facts_.plane_bytes();
    }
  }
  int playout(State& state, Random& random) const override {
    nb::gil_scoped_acquire lock;
    Actions actions;
    int plies = 0;
    for (; !is_terminal(state); ++plies) {
      if (plies >= facts_.max_plies)
        throw nb::value_error(
            ("A game went on for more than its max_plies, " + std::to_string(plies) + ".").c_str());
      legal_actions(state, actions);
      play(state, actions[random.below(std::uint32_t(actions.size()))]);
    }
    return plies;
  }
  std::uint64_t perft(const State&, int depth) const override {
    nb::gil_scoped_acquire lock;
    return nb::cast<std::uint64_t>(game_.attr("perft")(depth));
  }
  std::string state_to_string(const State& state, std::optional<Action>) const override {
    nb::gil_scoped_acquire lock;
    return nb::cast<std::string>(nb::str(of(state)));
  }
  std::unique_ptr<State> state_from_string(std::string_view text) const override {
    nb::gil_scoped_acquire lock;
    return std::make_unique<PythonState>(game_.attr("state_from_string")(std::string(text)));
  }
  std::unique_ptr<State> state_from_planes(const std::uint8_t*, int) const override {
    throw nb::value_error("A game written in Python does not read planes.");
  }
  std::string action_to_string(const State& state, Action action) const override {
    nb::gil_scoped_acquire lock;
    return nb::cast<std::string>(of(state).attr("action_to_string")(action));
  }
  bool identical(const State& a, const State& b) const override { return key(a) == key(b); }

 private:
  template <class T>
  static T read(const nb::object& object, const std::string& what, const char* kind) {
    try {
      return nb::cast<T>(object);
    } catch (const nb::cast_error&) {
      throw nb::value_error(("A state's " + what + " is not " + kind + ".").c_str());
    }
  }
  static bool is_over(const nb::object& state) {
    return read<bool>(state.attr("is_terminal"), "is_terminal", "True or False");
  }
  static Key key_of(const nb::object& state) {
    const nb::object key = state.attr("key");
    const nb::int_ mask(0xFFFFFFFFFFFFFFFFull);
    return {nb::cast<std::uint64_t>(key & mask),
            nb::cast<std::uint64_t>((key >> nb::int_(64)) & mask)};
  }
  Ending ending_of(const nb::object& state) const {
    Ending ending;
    const nb::object outcomes = state.attr("outcomes");
    if (!outcomes.is_none() || is_over(state)) {
      const char* kind = "-1, 0 or 1 for each player";
      const auto of_players = read<std::vector<int>>(outcomes, "outcomes", kind);
      bool fine = int(of_players.size()) == facts_.num_players;
      for (std::size_t p = 0; fine && p < of_players.size(); ++p) {
        ending.outcome[p] = std::int8_t(std::clamp(of_players[p], -2, 2));
        fine = std::abs(ending.outcome[p]) <= 1;
      }
      if (!fine)
        throw nb::value_error(("A state's outcomes are not " + std::string(kind) + ".").c_str());
    }
    const nb::object score = state.attr("score");
    if (!score.is_none()) ending.score[0] = read<float>(score, "score", "a number");
    if (!std::isfinite(ending.score[0])) throw nb::value_error("A state's score is not finite.");
    return ending;
  }
  void copy_planes(const nb::object& state, std::uint8_t* out) const {
    const auto planes = read<nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>>(
        state.attr("planes")(), "planes()", "an array of uint8");
    if (planes.size() != facts_.plane_bytes())
      throw nb::value_error("planes() is not of the game's plane_shape.");
    std::memcpy(out, planes.data(), planes.size());
  }

  nb::object game_;
};

}  // namespace

void bind_python_game(nb::module_& m) {
  m.def(
      "wrap_python_game",
      [](nb::object game) { return std::shared_ptr<Game>(new PythonGame(std::move(game))); },
      nb::arg("game"), "A game written in Python, as the core sees it.");
  m.def(
      "wrap_python_state",
      [](std::shared_ptr<const Game> game, nb::object state) {
        if (!dynamic_cast<const PythonGame*>(game.get()))
          throw nb::value_error("This game is not written in Python; its states are its own.");
        return BoundState{std::move(game), std::make_unique<PythonState>(std::move(state)), {}};
      },
      nb::arg("game"), nb::arg("state"));
}

}  // namespace athenan
