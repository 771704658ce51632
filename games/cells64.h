// Boards of 64 cells as one word: bit 0 is a1, bit 7 is h1.
#pragma once

#include <bit>
#include <cstdint>

namespace athenan {

using Cells64 = std::uint64_t;

constexpr Cells64 bit_at(int cell) { return Cells64(1) << cell; }
constexpr int lowest_of(Cells64 cells) { return std::countr_zero(cells); }
// Calls visit(cell) for each cell of the set, ascending.
template <class Visit>
constexpr void for_each_cell(Cells64 cells, Visit visit) {
  for (; cells; cells &= cells - 1) visit(lowest_of(cells));
}

}  // namespace athenan
