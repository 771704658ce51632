// Repetition: the positions since the last irreversible action, as part of a state.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "key.h"

namespace athenan {

// At most N positions; only those in use are copied. When it is full the oldest is forgotten.
template <int N>
class History {
 public:
  History() = default;
  History(const History& other) { *this = other; }
  History& operator=(const History& other) {
    size_ = other.size_;
    sum_ = other.sum_;
    std::copy_n(other.positions_.begin(), size_, positions_.begin());
    return *this;
  }

  void clear() {
    size_ = 0;
    sum_ = {};
  }
  void push(const Key& position) {
    if (size_ == N) {
      subtract(positions_[0]);
      std::copy(positions_.begin() + 1, positions_.end(), positions_.begin());
      --size_;
    }
    positions_[size_++] = position.low;
    add(position.low);
  }
  // How often the position stands in the history.
  int count(const Key& position) const {
    return int(std::count(positions_.begin(), positions_.begin() + size_, position.low));
  }
  int size() const { return size_; }
  // The low words as they were pushed, the oldest first.
  std::span<const std::uint64_t> positions() const {
    return {positions_.data(), std::size_t(size_)};
  }
  // The same for the same positions in any order: their future is the same.
  Key key() const { return sum_; }

  friend bool operator==(const History& a, const History& b) {
    return a.size_ == b.size_ &&
           std::equal(a.positions_.begin(), a.positions_.begin() + a.size_, b.positions_.begin());
  }

 private:
  void add(std::uint64_t position) {
    const Key key = hash_key(position);
    sum_.low += key.low;
    sum_.high += key.high;
  }
  void subtract(std::uint64_t position) {
    const Key key = hash_key(position);
    sum_.low -= key.low;
    sum_.high -= key.high;
  }

  int size_ = 0;
  Key sum_;
  std::array<std::uint64_t, N> positions_;
};

}  // namespace athenan
