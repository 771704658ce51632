// Keys, the stateless hash they are made of, and the random numbers of playouts.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace athenan {

// The finaliser of splitmix64: a bijection whose outputs pass for random.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// Identifies everything the rules' future depends on: 128 bits, so that no proof fails by
// collision.
struct Key {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  constexpr Key& operator^=(const Key& other) {
    low ^= other.low;
    high ^= other.high;
    return *this;
  }
  friend constexpr Key operator^(Key a, const Key& b) { return a ^= b; }
  friend constexpr auto operator<=>(const Key&, const Key&) = default;
};

// Each word for itself, so that keys which differ stay different.
constexpr Key mixed(const Key& key) { return {mix(key.low), mix(key.high)}; }

constexpr Key hash_key(std::uint64_t x) {
  return {mix(2 * x + 1), mix(mix(2 * x + 1) ^ 0xD1B54A32D192ED03ull)};
}

// Zobrist keys: table[i] for a feature i of a state (piece p on cell c: i = p * cells + c).
inline constexpr int zobrist_size = 8192;
inline const std::array<Key, zobrist_size> zobrist = [] {
  std::array<Key, zobrist_size> table{};
  for (int i = 0; i < zobrist_size; ++i) table[i] = hash_key(0xA7E4A000ull + i);
  return table;
}();

// The feature "this player is to move", from the far end of the table.
inline const Key& mover_key(int player) { return zobrist[zobrist_size - 1 - player]; }

// Of a number that counts or orders (ply, counters, sums), tagged by what it counts.
constexpr Key count_key(std::uint32_t tag, std::uint64_t count) {
  return hash_key((std::uint64_t(tag) << 40) + count + 0x5EED00000000ull);
}

// Small, fast, seeded; equal on every platform.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(mix(seed)) {}
  constexpr std::uint64_t next() { return mix(state_++); }
  // Uniform in [0, bound), by multiplication (bias below 2^-32).
  constexpr std::uint32_t below(std::uint32_t bound) {
    return std::uint32_t(((next() >> 32) * bound) >> 32);
  }
  // Uniform in [0, 1).
  constexpr double real() { return double(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace athenan
