// The search contract: what self-play, players and commands know of a search.
//
// A search is its file, which defines `const SearchType <name>_type`, and its line in list.h. It is
// written as a coroutine that asks for values where it needs them, so that many searches advance in
// step and their states make one batch (group.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dense_network.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "core/users.h"
#include "games/game.h"

namespace athenan {

class ResolvedMemory;
using Clock = std::chrono::steady_clock;

// A search ends when any of these is used up, or when it knows all. 0: no such limit. Its seconds
// are its own, however many searches are in step: the time its task runs and, of each batch, its
// share by rows. An iteration is always begun, so that an action can be given.
struct Budget {
  std::uint64_t iterations = 0;
  std::uint64_t evaluations = 0;
  double seconds = 0;

  bool none() const { return !iterations && !evaluations && !(seconds > 0); }
};

// Rows that wait for answers of f_θ, all of one state: its children by these actions, or without
// any the state itself. `co_await request` suspends until all are answered, which may take several
// batches. An evaluator that values all children of a state at once is asked for one row, the
// state, with an answer for each place; those of the children that are wanted are then handed out.
struct Request {
  const Game* game = nullptr;
  const State* state = nullptr;
  std::span<const Action> actions;
  std::span<float> answers;  // [rows, width]
  std::size_t width = 1;     // answers a row: 1, one for each player, or one for each place
  std::size_t batched = 0;   // rows handed out in batches so far
  std::size_t answered = 0;  // rows whose answers have come back
  // Of one row for all children: the actions whose values are wanted, and where they go; without
  // an action the state's own value, which is its best child's for the mover.
  std::span<const Action> wanted = {};
  std::span<float> values = {};

  std::size_t rows() const { return answers.size() / width; }
  bool complete() const { return answered == rows(); }

  bool await_ready() const { return complete(); }
  void await_suspend(std::coroutine_handle<>) {}
  void await_resume() const {
    if (!values.empty()) hand_out();
  }

 private:
  void hand_out() const;
};

struct Child {
  Action action = 0;
  PerPlayer<float> value;             // v, on the scale of f_t
  PerPlayer<std::int8_t> completion;  // c: -1, 0, 1; 0 is a draw when resolved, else unknown
  bool resolved = false;              // r
  std::uint64_t selections = 0;       // n

  bool operator==(const Child&) const = default;
};

struct Counts {
  std::uint64_t iterations = 0;
  std::uint64_t evaluations = 0;  // rows that f_θ was asked for: each is a state that it valued
  std::uint64_t valued = 0;       // children with a value of f_θ: more, where a row is for all
  std::uint64_t charged = 0;      // evaluations, and one for each iteration without any
  std::uint64_t expanded = 0;     // states
  std::uint64_t children = 0;     // delivered by expansions
  // Of all that is remembered.
  std::uint64_t states = 0, edges = 0;
  std::uint64_t bytes = 0, budget_bytes = 0;
  std::uint64_t collections = 0;  // how often memory was made free
  bool out_of_memory = false;
};

struct Result {
  std::optional<Action> action;  // none at a terminal state
  PerPlayer<float> value;
  PerPlayer<std::int8_t> completion;
  bool resolved = false;
  Counts counts;
  std::vector<Action> principal_variation;
  std::optional<std::size_t> plies_to_end;  // of what is resolved, along that line
  std::vector<Child> children;              // of the root
};

// What a search does at a state, for theorems and pictures. Searches by windows keep a list of it,
// in order, where `tracing` is on; a and b are on the scale of f_t (±infinity: no bound).
//   call      a window (a, b) is searched below the state; by rollouts, one passes through it
//   expand    a tree below which all is under a is looked for; b unused   (SSS-2)
//   diminish  the state's tree, worth a, is to become worth less; b unused (SSS-2)
//   leaf      the state is an end or at the horizon, and a = b is its value
struct Visit {
  enum Kind : std::uint8_t { call, expand, diminish, leaf };
  std::vector<Action> path;  // from the root of the search
  Kind kind;
  double a, b;
};

// What every search is made of, whatever its options.
struct SearchInput {
  std::shared_ptr<const Game> game;
  TerminalEvaluation terminal_evaluation;  // f_t
  CoreEvaluator evaluator;                 // f_θ
  std::uint64_t seed = 0;
};

// Aligned, so that searches on different threads share no cache line.
class alignas(128) Search {
 public:
  explicit Search(SearchInput input);
  virtual ~Search() = default;
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // Prepares a search of `root`; the group resumes it until its task is done. What is known from
  // earlier searches may be kept. mobility: of the game so far.
  virtual void start(const State& root, const Budget& budget, const Mobility& mobility) = 0;
  Task<>& task() { return task_; }
  Request& request() { return request_; }
  bool can_go_on() const { return !task_.done() && (request_.complete() || rollouts_.under_way()); }
  // Runs the task until it waits for f_θ or is done, or pauses since the time has come.
  void resume(Clock::time_point pause_at);
  void charge(Clock::duration time) { own_time_ += time; }  // its share of a batch
  void stop() { stopped_ = true; }  // at the next expansion or within one; from any thread
  virtual void give_up();           // what was interrupted; what is known stays
  virtual void clear() = 0;         // forgets all that is known
  // What is known: once the task is done, and wherever it waits or pauses. Throws before there is
  // any.
  virtual Result result() const = 0;
  virtual Counts counts() const { return counts_; }
  virtual bool has_horizon() const { return false; }  // and so ends by itself
  void trace(bool on) { tracing_ = on; }
  bool tracing() const { return tracing_; }
  const std::vector<Visit>& visits() const { return visits_; }  // since the start

  // States proven in other games; consulted for new children by the types that say so. It must not
  // change while we run.
  void consult(std::shared_ptr<const ResolvedMemory> memory);
  void reseed(std::uint64_t seed) { seed_ = seed; }  // between searches
  const Game& game() const { return *game_; }
  const TerminalEvaluation& terminal_evaluation() const { return terminal_evaluation_; }
  const CoreEvaluator& evaluator() const { return evaluator_; }
  // Changes with every start and clear: what was asked for before is asked for no more.
  std::uint64_t run_number() const { return run_number_; }
  Users& users() const { return users_; }  // whoever calls from Python, or a group, is one

 protected:
  void begin(const Budget& budget);         // of start()
  void end();                               // of clear()
  static void check_result(bool is_there);  // of result(): throws if there is none yet
  bool spent() const;                       // before an iteration
  bool interrupted() const {  // within one: time is over, or somebody wants it to stop
    return stopped_ || (budget_.seconds > 0 && seconds() >= budget_.seconds);
  }
  bool evaluations_spent() const {
    return budget_.evaluations && counts_.charged >= budget_.evaluations;
  }
  // `co_await pause(states)` after work on so many states, where the search could also wait: who
  // resumed it has a look at the world (Ctrl-C) when its time has come.
  struct Pause {
    bool due;
    bool await_ready() const { return !due; }
    void await_suspend(std::coroutine_handle<>) const {}
    void await_resume() const {}
  };
  Pause pause(std::size_t states);
  bool end_rollouts();  // of give_up(): what was asked for is answered by those so far, if any
  // f_θ of the state's children by these actions, in [-1, 1]: `co_await ask(…)` fills the answers.
  // keys: of the children, for evaluators that live in the core.
  // answers: as many a child as a value of the game has.
  Request& ask(const State& state, std::span<const Action> actions, std::span<const Key> keys,
               std::span<float> answers);

  // Counts what is asked for so many children of a state at once; `sign` -1 takes it back.
  void count_asked(std::size_t children, int sign = 1);

  void check_zero_sum(const Ending& ending) const;
  // Any implementation can agree on it: it depends on nothing but its arguments and the seed.
  std::uint64_t tie_break(const Key& parent, Action action, std::uint64_t visits) const;

  std::shared_ptr<const Game> game_;
  std::shared_ptr<const ResolvedMemory> memory_;
  TerminalEvaluation terminal_evaluation_;
  CoreEvaluator evaluator_;
  std::uint64_t seed_;
  Task<> task_;
  Request request_;
  Budget budget_;
  Counts counts_;
  bool begun_ = false;
  bool tracing_ = false;
  std::vector<Visit> visits_;
  Users* reads_ = nullptr;  // of what it shares with other searches, read while the task runs

 private:
  void check_values_children() const;
  double seconds() const;  // its own, so far; of the running task
  bool roll_out();         // what was asked for; false when it pauses before the end

  mutable Users users_{"search"};
  std::atomic<std::uint64_t> run_number_ = 0;
  std::atomic<bool> stopped_ = false;
  Clock::duration own_time_{};  // but for that since resumed_
  Clock::time_point resumed_, pause_at_;
  Rollouts rollouts_;
  DenseSums sums_;
  std::vector<float> of_places_;       // what one row for all children is answered
  std::size_t states_since_look_ = 0;  // at the clock
};

// ---- The list of searches and their options ----------------------------------------------

struct SearchType {
  std::string name;
  std::string about;
  std::vector<OptionType> options;
  std::function<std::shared_ptr<Search>(SearchInput, const Options&)> make;
  bool needs_budget = true;    // a player of it
  bool uses_evaluator = true;  // f_θ
  bool consults = false;       // a memory of proven states
};

const std::vector<const SearchType*>& search_types();
// Missing options take their default; throws std::invalid_argument with a sentence.
std::shared_ptr<Search> make_search(const std::string& name, SearchInput input,
                                    std::map<std::string, Option> options);

}  // namespace athenan
