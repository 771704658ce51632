// Bitboards of any size: Bits<W> is W words; bit i is cell i.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "games/key.h"

namespace athenan {

template <int W>
struct Bits {
  std::array<std::uint64_t, W> words{};

  static constexpr Bits of(int cell) {
    Bits b;
    b.set(cell);
    return b;
  }
  // The lowest `count` cells.
  static constexpr Bits first(int count) {
    Bits b;
    for (int i = 0; i < W; ++i, count -= 64)
      b.words[i] = count >= 64 ? ~0ull : count > 0 ? (1ull << count) - 1 : 0;
    return b;
  }

  constexpr bool test(int cell) const { return words[cell >> 6] >> (cell & 63) & 1; }
  constexpr void set(int cell) { words[cell >> 6] |= 1ull << (cell & 63); }
  constexpr void clear(int cell) { words[cell >> 6] &= ~(1ull << (cell & 63)); }
  constexpr void flip(int cell) { words[cell >> 6] ^= 1ull << (cell & 63); }

  constexpr bool any() const {
    std::uint64_t all = 0;
    for (auto word : words) all |= word;
    return all != 0;
  }
  constexpr bool none() const { return !any(); }
  constexpr int count() const {
    int n = 0;
    for (auto word : words) n += std::popcount(word);
    return n;
  }
  // The lowest set cell; the board must not be empty.
  constexpr int lowest() const {
    for (int i = 0; i < W - 1; ++i)
      if (words[i]) return 64 * i + std::countr_zero(words[i]);
    return 64 * (W - 1) + std::countr_zero(words[W - 1]);
  }
  // The set cell with n set cells below it; there must be one.
  constexpr int nth(int n) const {
    int i = 0;
    for (int here; n >= (here = std::popcount(words[i])); ++i) n -= here;
    std::uint64_t word = words[i];
    int cell = 64 * i;
    for (int half = 32; half >= 8; half /= 2) {
      const int low = std::popcount(word & ((1ull << half) - 1));
      if (n < low) continue;
      n -= low;
      word >>= half;
      cell += half;
    }
    for (; n > 0; --n) word &= word - 1;
    return cell + std::countr_zero(word);
  }
  // Whether a set cell passes the test.
  template <class Test>
  constexpr bool any_of(Test test) const {
    for (int i = 0; i < W; ++i)
      for (auto word = words[i]; word; word &= word - 1)
        if (test(64 * i + std::countr_zero(word))) return true;
    return false;
  }
  // Calls visit(cell) for each set cell, ascending.
  template <class Visit>
  constexpr void for_each(Visit visit) const {
    for (int i = 0; i < W; ++i)
      for (auto word = words[i]; word; word &= word - 1) visit(64 * i + std::countr_zero(word));
  }

  // The cells below the lowest set one; all if none is set.
  constexpr Bits below_lowest() const {
    Bits b;
    std::uint64_t borrow = 1;
    for (int i = 0; i < W; ++i) {
      b.words[i] = (words[i] - borrow) & ~words[i];
      borrow &= words[i] == 0;
    }
    return b;
  }
  // The first `cells` cells turned round: cell i is where cells - 1 - i was.
  constexpr Bits turned(int cells) const {
    Bits b;
    for (int i = 0; i < W; ++i) b.words[W - 1 - i] = reversed(words[i]);
    return b.down(64 * W - cells);
  }

  constexpr Bits operator~() const {
    Bits b;
    for (int i = 0; i < W; ++i) b.words[i] = ~words[i];
    return b;
  }
  constexpr Bits& operator&=(const Bits& o) {
    for (int i = 0; i < W; ++i) words[i] &= o.words[i];
    return *this;
  }
  constexpr Bits& operator|=(const Bits& o) {
    for (int i = 0; i < W; ++i) words[i] |= o.words[i];
    return *this;
  }
  constexpr Bits& operator^=(const Bits& o) {
    for (int i = 0; i < W; ++i) words[i] ^= o.words[i];
    return *this;
  }
  friend constexpr Bits operator&(Bits a, const Bits& b) { return a &= b; }
  friend constexpr Bits operator|(Bits a, const Bits& b) { return a |= b; }
  friend constexpr Bits operator^(Bits a, const Bits& b) { return a ^= b; }
  friend constexpr bool operator==(const Bits&, const Bits&) = default;

  // Towards higher cells (n > 0) or lower ones (n < 0); what leaves the board is lost.
  constexpr Bits shifted(int n) const { return n >= 0 ? up(n) : down(-n); }

 private:
  static constexpr std::uint64_t reversed(std::uint64_t x) {
    x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
    x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
    x = (x >> 4 & 0x0F0F0F0F0F0F0F0Full) | (x & 0x0F0F0F0F0F0F0F0Full) << 4;
    x = (x >> 8 & 0x00FF00FF00FF00FFull) | (x & 0x00FF00FF00FF00FFull) << 8;
    x = (x >> 16 & 0x0000FFFF0000FFFFull) | (x & 0x0000FFFF0000FFFFull) << 16;
    return x >> 32 | x << 32;
  }

  constexpr Bits up(int n) const {
    if constexpr (W == 1) return {{n < 64 ? words[0] << n : 0}};
#ifdef __SIZEOF_INT128__
    if constexpr (W == 2) return n < 128 ? from(whole() << n) : Bits{};
#endif
    Bits b;
    const int skip = n >> 6, part = n & 63;
    for (int i = W - 1; i >= skip; --i) {
      b.words[i] = words[i - skip] << part;
      if (part && i > skip) b.words[i] |= words[i - skip - 1] >> (64 - part);
    }
    return b;
  }
  constexpr Bits down(int n) const {
    if constexpr (W == 1) return {{n < 64 ? words[0] >> n : 0}};
#ifdef __SIZEOF_INT128__
    if constexpr (W == 2) return n < 128 ? from(whole() >> n) : Bits{};
#endif
    Bits b;
    const int skip = n >> 6, part = n & 63;
    for (int i = 0; i + skip < W; ++i) {
      b.words[i] = words[i + skip] >> part;
      if (part && i + skip + 1 < W) b.words[i] |= words[i + skip + 1] << (64 - part);
    }
    return b;
  }

#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 Whole;  // two words at once
  constexpr Whole whole() const { return Whole(words[W - 1]) << 64 | words[0]; }
  static constexpr Bits from(Whole x) {
    Bits b;
    b.words[0] = std::uint64_t(x);
    b.words[W - 1] = std::uint64_t(x >> 64);
    return b;
  }
#endif
};

// Calls make.operator()<W>() with the smallest compiled width that holds `cells`.
template <class Make>
auto with_words(int cells, Make make) {
  if (cells <= 64) return make.template operator()<1>();
  if (cells <= 128) return make.template operator()<2>();
  if (cells <= 192) return make.template operator()<3>();
  return make.template operator()<6>();
}

// The Zobrist key of a set of equal pieces.
template <int W>
Key zobrist_of(const Bits<W>& cells, int first) {
  Key key;
  cells.for_each([&](int cell) { key ^= zobrist[first + cell]; });
  return key;
}

}  // namespace athenan
