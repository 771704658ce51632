// Games written in Python, seen by the core. Every call takes the interpreter lock.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/bind.h"

namespace athenan {
namespace {

constexpr int most_plies = 1'000'000;  // a random game of as many in Python takes seconds

// What a game of one's own does against the contract; a sentence that says how to mend it.
struct WrongGame : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

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
    facts_.name = fact<std::string>("name", "a text");
    facts_.num_players = fact<int>("num_players", "a whole number");
    if (facts_.num_players < 1 || facts_.num_players > max_players)
      throw WrongGame("A game has 1 to 6 players.");
    facts_.max_plies = fact<int>("max_plies", "a whole number, the plies of the longest game");
    if (facts_.max_plies < 1 || facts_.max_plies > most_plies)
      throw WrongGame("max_plies is " + std::to_string(facts_.max_plies) +
                      "; it is the plies of the longest game, at least 1 and at most 1000000.");
    const auto shape = fact<std::vector<int>>("plane_shape", "(rows, columns, channels)");
    if (shape.size() != 3) throw WrongGame("plane_shape is (rows, columns, channels).");
    facts_.rows = shape[0];
    facts_.columns = shape[1];
    facts_.channels = fact<std::vector<std::string>>("channels", "a list of texts");
    if (shape[0] < 1 || shape[1] < 1 || std::size_t(shape[2]) != facts_.channels.size() ||
        facts_.channels.empty())
      throw WrongGame("plane_shape is positive, and channels names each channel.");
    facts_.symmetries = fact<std::vector<Symmetry>>("symmetries", "a list of athenan.Symmetry");
    for (const auto& symmetry : facts_.symmetries) check_symmetry(symmetry);
    facts_.max_score = fact<double>("max_score", "a number, the bound of scores");
    if (!(facts_.max_score >= 0 && std::isfinite(facts_.max_score)))
      throw WrongGame("max_score is the bound of scores, finite and not negative.");
    facts_.zero_sum = fact<bool>("zero_sum", "True or False");
    facts_.has_history = fact<bool>("has_history", "True or False");
    facts_.set_action_places(action_cells(),
                             fact<std::vector<std::string>>("other_actions", "a list of texts"));
    // Who brings a game hears at once of planes that no network could read.
    std::vector<std::uint8_t> out(facts_.plane_bytes());
    planes(*initial_state(), out.data());
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
      throw WrongGame("A state has no legal actions but is not over.");
    for (std::size_t i = 1; i < actions.size(); ++i)
      if (actions[i - 1] >= actions[i])
        throw WrongGame("A state's legal_actions() has " + std::to_string(actions[i]) + " after " +
                        std::to_string(actions[i - 1]) +
                        "; actions ascend, each once: return them sorted.");
    const std::size_t places = facts_.action_places.size();
    if (places && !actions.empty() && actions.back() >= places)
      throw WrongGame("A state's legal_actions() has " + std::to_string(actions.back()) +
                      ", but action_cells and other_actions are " + std::to_string(places) +
                      " actions; give each its cell or its name.");
  }
  void play(State& state, Action action) const override {
    nb::gil_scoped_acquire lock;
    auto& held = static_cast<PythonState&>(state).object;
    const int before = ply(state);
    try {
      held = child_of(held, action);
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_ValueError)) throw;
      // Whoever plays here has asked for the actions of the state, or found them by its key.
      throw WrongGame("play(" + std::to_string(action) + ") is refused by the game: '" +
                      nb::cast<std::string>(nb::str(error.value())) +
                      "' It is legal in a state of the same key, so the key leaves something out, "
                      "or legal_actions() does not fit play(); 'athenan check' says which.");
    }
    const int after = ply(state);
    if (after != before + 1)
      throw WrongGame("A state of ply " + std::to_string(before) + " is followed by one of ply " +
                      std::to_string(after) + "; each action adds 1, and play() returns a new " +
                      "state without changing its own.");
    if (after > facts_.max_plies)
      throw WrongGame("A game went on for more than its max_plies, " +
                      std::to_string(facts_.max_plies) + ": end it there, or raise max_plies.");
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
    throw WrongGame("to_move is " + std::to_string(player) + "; the players are 0 to " +
                    std::to_string(facts_.num_players - 1) + ".");
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
      const nb::object child = child_of(of(state), action);
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
      copy_planes(child_of(of(state), action), out);
      out += facts_.plane_bytes();
    }
  }
  int playout(State& state, Random& random) const override {
    nb::gil_scoped_acquire lock;
    Actions actions;
    int plies = 0;
    for (; !is_terminal(state); ++plies) {
      if (plies >= facts_.max_plies)
        throw WrongGame("A game went on for more than its max_plies, " + std::to_string(plies) +
                        ": end it there, or raise max_plies.");
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
    throw WrongGame("A game written in Python does not read planes.");
  }
  std::string action_to_string(const State& state, Action action) const override {
    nb::gil_scoped_acquire lock;
    return nb::cast<std::string>(of(state).attr("action_to_string")(action));
  }
  bool identical(const State& a, const State& b) const override { return key(a) == key(b); }
  // Of one class, with the same options.
  bool same_as(const Game& other) const override {
    nb::gil_scoped_acquire lock;
    const auto* python = dynamic_cast<const PythonGame*>(&other);
    if (!python || game_.type().ptr() != python->game_.type().ptr()) return false;
    if (game_.is(python->game_)) return true;
    try {
      return nb::getattr(game_, "__dict__", nb::none())
          .equal(nb::getattr(python->game_, "__dict__", nb::none()));
    } catch (const nb::python_error&) {  // of what does not compare, such as arrays
      return false;
    }
  }
  const nb::object& object() const { return game_; }

 private:
  template <class T>
  T fact(const char* name, const char* kind) const {
    if (!nb::hasattr(game_, name))
      throw WrongGame("The game has no '" + std::string(name) + "'; it is " + kind + ".");
    try {
      return nb::cast<T>(game_.attr(name));
    } catch (const nb::cast_error&) {
      throw WrongGame("The game's " + std::string(name) + " is not " + kind + ".");
    }
  }
  void check_symmetry(const Symmetry& symmetry) const {
    const auto permutes = [](std::vector<int> numbers, std::size_t size) {
      std::sort(numbers.begin(), numbers.end());
      bool all = numbers.size() == size;
      for (std::size_t i = 0; all && i < size; ++i) all = numbers[i] == int(i);
      return all;
    };
    if (!permutes(symmetry.cells, std::size_t(facts_.rows) * facts_.columns) ||
        !permutes(symmetry.channels, facts_.channels.size()) || std::abs(symmetry.sign) != 1 ||
        !(symmetry.players.empty() || permutes(symmetry.players, std::size_t(facts_.num_players))))
      throw WrongGame(
          "A symmetry has each cell (row * columns + column) and each channel once, and sign 1 or "
          "-1.");
  }
  std::vector<int> action_cells() const {
    const auto cells = fact<std::vector<int>>("action_cells", "a list of cells");
    std::vector<bool> seen(std::size_t(facts_.rows) * facts_.columns);
    for (const int cell : cells) {
      if (cell < 0 || std::size_t(cell) >= seen.size() || seen[cell])
        throw WrongGame("action_cells has " + std::to_string(cell) +
                        "; it is the cell (row * columns + column) of each action, each once.");
      seen[cell] = true;
    }
    return cells;
  }
  static nb::object child_of(const nb::object& state, Action action) {
    nb::object child = state.attr("play")(action);
    if (child.is_none())
      throw WrongGame("play() of action " + std::to_string(action) +
                      " returned nothing; it returns the new state.");
    return child;
  }
  template <class T>
  static T read(const nb::object& object, const std::string& what, const char* kind) {
    try {
      return nb::cast<T>(object);
    } catch (const nb::cast_error&) {
      throw WrongGame("A state's " + what + " is not " + kind + ".");
    }
  }
  static bool is_over(const nb::object& state) {
    return read<bool>(state.attr("is_terminal"), "is_terminal", "True or False");
  }
  static Key key_of(const nb::object& state) {
    const nb::object key = state.attr("key");
    if (!PyLong_Check(key.ptr())) throw WrongGame("A state's key is not a whole number.");
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
      if (!fine) throw WrongGame("A state's outcomes are not " + std::string(kind) + ".");
    }
    const nb::object score = state.attr("score");
    if (!score.is_none()) ending.score[0] = read<float>(score, "score", "a number");
    if (!std::isfinite(ending.score[0])) throw WrongGame("A state's score is not finite.");
    if (facts_.max_score > 0 && std::abs(ending.score[0]) > facts_.max_score * (1 + 1e-6))
      throw WrongGame("A state's score is beyond the game's max_score; raise max_score.");
    return ending;
  }
  void copy_planes(const nb::object& state, std::uint8_t* out) const {
    const nb::object made = state.attr("planes")();
    const char* kind = "an array of uint8";
    const auto any = read<nb::ndarray<nb::ro, nb::device::cpu>>(made, "planes()", kind);
    if (any.dtype() != nb::dtype<std::uint8_t>())
      throw WrongGame(
          "planes() is not an array of uint8; make it by np.zeros(plane_shape, np.uint8).");
    const std::size_t shape[] = {std::size_t(facts_.rows), std::size_t(facts_.columns),
                                 facts_.channels.size()};
    if (any.ndim() != 3 || !std::equal(shape, shape + 3, any.shape_ptr()))
      throw WrongGame("planes() has shape " + shape_text(any) + ", the game's plane_shape is (" +
                      std::to_string(shape[0]) + ", " + std::to_string(shape[1]) + ", " +
                      std::to_string(shape[2]) + "); make them the same.");
    const auto planes = read<nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>>(
        made, "planes()", kind);
    std::uint8_t bits = 0;
    for (std::size_t i = 0; i < planes.size(); ++i) bits |= out[i] = planes.data()[i];
    if (bits > 1)
      throw WrongGame("planes() has other values than 0 and 1; give each value its own channel.");
  }
  template <class Any>
  static std::string shape_text(const Any& array) {
    std::string text;
    for (std::size_t i = 0; i < array.ndim(); ++i)
      text += (i ? ", " : "") + std::to_string(array.shape(i));
    return "(" + text + ")";
  }

  nb::object game_;
};

}  // namespace

void bind_python_game(nb::module_& m) {
  nb::exception<WrongGame>(m, "WrongGame", PyExc_ValueError);
  m.def(
      "wrap_python_game",
      [](nb::object game) { return std::shared_ptr<Game>(new PythonGame(std::move(game))); },
      nb::arg("game"), "A game written in Python, as the core sees it.");
  m.def(
      "wrap_python_state",
      [](std::shared_ptr<const Game> game, nb::object state) {
        if (!dynamic_cast<const PythonGame*>(game.get()))
          throw nb::value_error("This game is not written in Python; its states are its own.");
        return BoundState{std::move(game), std::make_unique<PythonState>(state), {}, {}, state};
      },
      nb::arg("game"), nb::arg("state"));
  m.def(
      "python_game_of",
      [](const Game& game) {
        const auto* python = dynamic_cast<const PythonGame*>(&game);
        return python ? python->object() : nb::none();
      },
      nb::arg("game"), "What wrap_python_game took; None of other games.");
}

}  // namespace athenan
