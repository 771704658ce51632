// Who uses a thing at this moment: one that changes it, or any number that read it. Nobody waits: a
// second user is refused with a sentence, as it may well be called by the first (an evaluator or a
// game that asks its own search), or come from another thread.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>

namespace athenan {

class Users {
 public:
  explicit Users(const char* of) : of_(of) {}  // "search": what the sentence names

  class [[nodiscard]] Use {  // ends with its scope
   public:
    Use() = default;
    explicit Use(std::atomic<int>& users) : users_(&users) {}
    Use(Use&& other) noexcept : users_(std::exchange(other.users_, nullptr)) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (!users_) return;
      if (users_->load() == alone)
        users_->store(0);
      else
        --*users_;
    }

   private:
    std::atomic<int>* users_ = nullptr;
  };

  Use changing() {
    int nobody = 0;
    if (!users_.compare_exchange_strong(nobody, alone)) refuse();
    return Use(users_);
  }
  Use reading() {
    int readers = users_.load();
    do
      if (readers == alone) refuse();
    while (!users_.compare_exchange_weak(readers, readers + 1));
    return Use(users_);
  }

 private:
  static constexpr int alone = -1;
  [[noreturn]] void refuse() const {
    throw std::invalid_argument("This " + std::string(of_) +
                                " is in use: it does one thing at a time.");
  }
  const char* of_;
  std::atomic<int> users_ = 0;
};

}  // namespace athenan
