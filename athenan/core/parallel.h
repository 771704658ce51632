// Independent pieces of work shared by a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace athenan {

// Threads that last and sleep between calls: a batch of a fast device takes no longer than it takes
// to make one. They are made when they are first needed.
class Helpers {
 public:
  explicit Helpers(int threads) : most_(threads - 1) {}
  ~Helpers() {
    {
      const std::lock_guard guard(lock_);
      ended_ = true;
    }
    wake_.notify_all();
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  // Calls work(i) for i below count, on this thread and on helpers; the first error is thrown when
  // all is done.
  void share(std::size_t count, const std::function<void(std::size_t)>& work) {
    const int wanted = count ? int(std::min<std::size_t>(std::size_t(most_), count - 1)) : 0;
    while (int(threads_.size()) < wanted) threads_.emplace_back([this] { help(); });
    {
      const std::lock_guard guard(lock_);
      work_ = &work;
      count_ = count;
      next_ = 0;
      error_ = nullptr;
      places_ = wanted;
    }
    for (int t = 0; t < wanted; ++t) wake_.notify_one();
    labour();
    std::unique_lock guard(lock_);
    places_ = 0;  // who is not awake yet is not waited for
    done_.wait(guard, [this] { return helping_ == 0; });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void help() {
    std::unique_lock guard(lock_);
    while (true) {
      wake_.wait(guard, [this] { return ended_ || places_ > 0; });
      if (ended_) return;
      --places_;
      ++helping_;
      guard.unlock();
      labour();
      guard.lock();
      if (--helping_ == 0) done_.notify_one();
    }
  }

  void labour() {
    for (std::size_t i; (i = next_++) < count_;) {
      try {
        (*work_)(i);
      } catch (...) {
        const std::lock_guard guard(lock_);
        if (!error_) error_ = std::current_exception();
      }
    }
  }

  int most_;
  std::mutex lock_;  // of all below but next_
  std::condition_variable wake_, done_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::exception_ptr error_;
  int places_ = 0;   // helpers that may still join
  int helping_ = 0;  // helpers at work
  bool ended_ = false;
  std::vector<std::jthread> threads_;  // joined before the rest goes
};

}  // namespace athenan
