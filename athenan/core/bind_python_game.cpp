// Games written in Python, seen by the core. Every call takes the interpreter lock.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

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
    const auto shape = nb::cast<std::vector<int>>(nb::list(game_.attr("plane_shape")));
    if (shape.size() != 3) throw nb::value_error("plane_shape is (rows, columns, channels).");
    facts_.rows = shape[0];
    facts_.columns = shape[1];
    facts_.channels = nb::cast<std::vector<std::string>>(game_.attr("channels"));
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
    actions = nb::cast<Actions>(of(state).attr("legal_actions")());
  }
  void play(State& state, Action action) const override {
    nb::gil_scoped_acquire lock;
    auto& held = static_cast<PythonState&>(state).object;
    held = held.attr("play")(action);
  }
  bool is_terminal(const State& state) const override { return ask<bool>(state, "is_terminal"); }
  int to_move(const State& state) const override { return ask<int>(state, "to_move"); }
  int ply(const State& state) const override { return ask<int>(state, "ply"); }
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
      children.terminal.push_back(nb::cast<bool>(child.attr("is_terminal")));
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
  T ask(const State& state, const char* what) const {
    nb::gil_scoped_acquire lock;
    return nb::cast<T>(of(state).attr(what));
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
    if (!outcomes.is_none())
      for (int p = 0; p < facts_.num_players; ++p)
        ending.outcome[p] = std::int8_t(nb::cast<int>(outcomes[p]));
    const nb::object score = state.attr("score");
    if (!score.is_none()) ending.score[0] = nb::cast<float>(score);
    return ending;
  }
  void copy_planes(const nb::object& state, std::uint8_t* out) const {
    const auto planes = nb::cast<nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>>(
        state.attr("planes")());
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
        return BoundState{std::move(game), std::make_unique<PythonState>(std::move(state)), {}};
      },
      nb::arg("game"), nb::arg("state"));
}

}  // namespace athenan
