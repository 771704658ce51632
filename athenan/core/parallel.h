// Independent pieces of work shared by a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace athenan {

// Calls work(i) for i below count; the threads live for this call, the first error is thrown.
template <class Work>
void in_parallel(std::size_t count, int threads, Work work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex error_lock;
  const auto labour = [&] {
    for (std::size_t i; (i = next++) < count;) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard guard(error_lock);
        if (!error) error = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> helpers;
  for (int t = 1; t < std::min<int>(threads, int(count)); ++t) helpers.emplace_back(labour);
  labour();
  helpers.clear();
  if (error) std::rethrow_exception(error);
}

}  // namespace athenan
