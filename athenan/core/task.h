// Coroutines: a search is written as one function and stops where it needs f_θ.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>

#include "games/game.h"

namespace athenan {

// States that wait for their values: children of one state. `co_await request` suspends until all
// are answered; the answers may come from several batches.
struct Request {
  const Game* game = nullptr;
  const State* parent = nullptr;
  std::span<const Action> actions;
  std::span<float> values;
  std::size_t batched = 0;   // rows handed out in batches so far
  std::size_t answered = 0;  // rows whose value has come back

  bool complete() const { return answered == actions.size(); }

  bool await_ready() const { return actions.empty(); }
  void await_suspend(std::coroutine_handle<>) {}
  void await_resume() const {}
};

// A started but suspended coroutine that is resumed from outside until it is done.
class Task {
 public:
  struct promise_type {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
    std::exception_ptr error;
  };

  Task() = default;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool done() const { return !handle_ || handle_.done(); }
  // Runs until the coroutine waits or ends; throws what it threw.
  void resume() {
    handle_.resume();
    if (handle_.done() && handle_.promise().error)
      std::rethrow_exception(std::exchange(handle_.promise().error, nullptr));
  }

 private:
  std::coroutine_handle<promise_type> handle_ = nullptr;
};

}  // namespace athenan
