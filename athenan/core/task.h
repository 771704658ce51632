// Coroutines: a search is written as one function, or as functions that call each other, and stops
// wherever it needs f_θ.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace athenan {

template <class T = void>
class Task;

namespace task {

struct Promise {
  Promise* outermost = this;
  // Of the outermost: what its resume() resumes, and whether that is another one now. It resumes
  // them in a loop, since one that resumed another would need the stack of both.
  std::coroutine_handle<> innermost;
  bool switched = false;
  std::coroutine_handle<> continuation;  // who awaits this one
  std::exception_ptr error;

  std::suspend_always initial_suspend() noexcept { return {}; }
  void unhandled_exception() { error = std::current_exception(); }

  void switch_to(std::coroutine_handle<> other) noexcept {
    outermost->innermost = other;
    outermost->switched = true;
  }

  // At its end a task goes on with whoever awaits it.
  struct Final {
    bool await_ready() noexcept { return false; }
    template <class P>
    void await_suspend(std::coroutine_handle<P> ended) noexcept {
      Promise& promise = ended.promise();
      if (promise.continuation) promise.switch_to(promise.continuation);
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
};

template <class T>
struct PromiseOf : Promise {
  Task<T> get_return_object();
  void return_value(T result) { value = std::move(result); }
  std::optional<T> value;
};

template <>
struct PromiseOf<void> : Promise {
  Task<void> get_return_object();
  void return_void() {}
};

}  // namespace task

// A coroutine that has not begun. The outermost is resumed from outside until it is done; any other
// is awaited by the one that made it: `co_await other(…)` gives its result or throws its error.
template <class T>
class Task {
 public:
  using promise_type = task::PromiseOf<T>;

  Task() = default;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {
    handle.promise().innermost = handle;
  }
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool done() const { return !handle_ || handle_.done(); }
  // Runs until the task, or one that it awaits, waits for f_θ, or all is done; throws its error.
  void resume() {
    task::Promise& promise = handle_.promise();
    do {
      promise.switched = false;
      promise.innermost.resume();
    } while (promise.switched);
    if (handle_.done()) throw_error();
  }

  // To be awaited.
  bool await_ready() const { return false; }
  template <class P>
  void await_suspend(std::coroutine_handle<P> outer) {
    task::Promise& promise = handle_.promise();
    promise.continuation = outer;
    promise.outermost = outer.promise().outermost;
    promise.switch_to(handle_);
  }
  T await_resume() {
    throw_error();
    if constexpr (!std::is_void_v<T>) return std::move(*handle_.promise().value);
  }

 private:
  void throw_error() {
    if (auto& error = handle_.promise().error)
      std::rethrow_exception(std::exchange(error, nullptr));
  }
  std::coroutine_handle<promise_type> handle_ = nullptr;
};

namespace task {

template <class T>
Task<T> PromiseOf<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<PromiseOf>::from_promise(*this));
}
inline Task<void> PromiseOf<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<PromiseOf>::from_promise(*this));
}

}  // namespace task

}  // namespace athenan
