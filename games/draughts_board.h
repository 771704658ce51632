// The dark cells of a draughts board as bits, and the captures on it.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "games/bits.h"

namespace athenan {

// A row has `half` dark cells and a gap follows every second row, so that each diagonal step is
// the same shift everywhere and steps off the sides end in a gap.
template <int Size>
struct DraughtsBoard {
  static constexpr int half = Size / 2, cells = Size * half, bits = cells + half;
  static constexpr int steps[4] = {-half - 1, -half, half, half + 1};
  using Set = Bits<(bits + 63) / 64>;

  // Cells have a bit, a number (from 0 at the top left) and a place on the drawn board.
  static constexpr int bit_of(int number) { return number + number / Size; }
  static constexpr int number_of(int bit) { return bit - bit / (Size + 1); }
  static constexpr int place_of(int bit) {
    const int row = number_of(bit) / half, column = number_of(bit) % half * 2 + (row + 1) % 2;
    return (Size - 1 - row) * Size + column;
  }
  static constexpr Set all = [] {
    Set set;
    for (int number = 0; number < cells; ++number) set.set(bit_of(number));
    return set;
  }();
  static constexpr std::array<Set, 2> last_row = {all & Set::first(half),
                                                  all & ~Set::first(bit_of(cells - half))};

  struct Capture {
    int from, to;
    Set taken;
    friend bool operator==(const Capture&, const Capture&) = default;
  };

  // The cells between two of a diagonal; none if they are on no common one.
  static Set between(int from, int to) {
    for (int step : steps) {
      Set passed;
      for (Set at = Set::of(from).shifted(step) & all; at.any(); at = at.shifted(step) & all) {
        if (at.test(to)) return passed;
        passed |= at;
      }
    }
    return {};
  }

  // Calls visit(to) for the cells that a king, or a man with one step, reaches in a direction.
  template <class Visit>
  static void slide(Set at, int step, bool king, const Set& empty, Visit visit) {
    for (at = at.shifted(step) & empty; at.any(); at = at.shifted(step) & empty) {
      visit(at);
      if (!king) return;
    }
  }

  // The longest captures by some pieces of a side, ordered by from, to and captured pieces.
  // The list keeps its storage between searches.
  class CaptureSearch {
   public:
    void find(const Set& men, const Set& kings, const Set& enemy, const Set& empty) {
      found_.clear();
      most_ = 1;
      enemy_ = enemy;
      Set able = kings;
      for (int step : steps) able |= (empty.shifted(-step) & enemy).shifted(-step) & men;
      able.for_each([&](int from) {
        from_ = from;
        king_ = kings.test(from);
        empty_ = empty | Set::of(from);
        extend(Set::of(from), enemy, 0);
      });
      if (found_.size() < 2) return;
      std::sort(found_.begin(), found_.end(), [](const Capture& a, const Capture& b) {
        return std::tie(a.from, a.to, a.taken.words) < std::tie(b.from, b.to, b.taken.words);
      });
    }
    const std::vector<Capture>& found() const { return found_; }

   private:
    // Tries all ways on; `left` are the enemies not yet captured. The captured ones are neither
    // there nor among the empty cells, so they block.
    void extend(const Set& at, const Set& left, int count) {
      for (int step : steps) {
        Set over = at.shifted(step);
        if (king_)
          while ((over & empty_).any()) over = over.shifted(step);
        if ((over & left).any())
          slide(over, step, king_, empty_,
                [&](const Set& to) { extend(to, left ^ over, count + 1); });
      }
      if (count < most_) return;
      if (count > most_) found_.clear();
      most_ = count;
      const Capture capture{from_, at.lowest(), enemy_ ^ left};
      if (std::find(found_.begin(), found_.end(), capture) == found_.end())
        found_.push_back(capture);
    }

    std::vector<Capture> found_;
    Set enemy_, empty_;
    int most_ = 1, from_ = 0;
    bool king_ = false;
  };
};

}  // namespace athenan
