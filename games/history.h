// Repetition: the positions since the last irreversible action, as part of a state.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "games/key.h"

namespace athenan {

enum class Order { ignored, kept };  // whether the same positions in another order are another key

// At most N positions; only those in use are copied. When it is full the oldest is forgotten.
template <int N, Order order = Order::ignored>
class History {
 public:
  History() = default;
  History(const History& other) { *this = other; }
  History& operator=(const History& other) {
    size_ = other.size_;
    key_ = other.key_;
    std::copy_n(other.low_.begin(), size_, low_.begin());
    std::copy_n(other.high_.begin(), size_, high_.begin());
    return *this;
  }

  void clear() {
    size_ = 0;
    key_ = {};
  }
  void push(const Key& position) {
    if (size_ == N) {
      std::copy(low_.begin() + 1, low_.end(), low_.begin());
      std::copy(high_.begin() + 1, high_.end(), high_.begin());
      --size_;
      key_ = recomputed();
    }
    low_[size_] = position.low;
    high_[size_++] = position.high;
    key_ = joined(key_, position);
  }
  int size() const { return size_; }
  // The oldest is 0.
  Key operator[](int i) const { return {low_[i], high_[i]}; }
  // How often the position stands in the history.
  int count(const Key& position) const {
    int found = 0;
    for (int i = 0; i < size_; ++i)
      found += (low_[i] == position.low) & (high_[i] == position.high);
    return found;
  }
  Key key() const { return key_; }

  // Also that both keys are those of the positions, so that tests notice a wrong one.
  friend bool operator==(const History& a, const History& b) {
    for (int i = 0; i < a.size_ && i < b.size_; ++i)
      if (a[i] != b[i]) return false;
    return a.size_ == b.size_ && a.key_ == a.recomputed() && b.key_ == a.key_;
  }

 private:
  static Key joined(const Key& key, const Key& position) {
    if constexpr (order == Order::kept) return mixed(key ^ position);
    const Key term = mixed(position);
    return {key.low + term.low, key.high + term.high};
  }
  Key recomputed() const {
    Key key;
    for (int i = 0; i < size_; ++i) key = joined(key, (*this)[i]);
    return key;
  }

  int size_ = 0;
  Key key_;
  std::array<std::uint64_t, N> low_, high_;
};

}  // namespace athenan
