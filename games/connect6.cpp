// Connect6: the first player puts one stone, then the players in turn put two each, as two actions.
// Six or more of one's own in an unbroken row, column or diagonal win at once, also by the first
// stone of a pair; a full board is a draw, even in the middle of a pair.
// Options: size (19 at the Computer Olympiad). Actions: column letter and row number from the top.
// The order within a pair does not matter: both orders lead to states of the same key. A plane of
// its own tells how many stones the mover has left, which a network hardly counts.
#include "games/mnk.h"

namespace athenan {
namespace {

template <int W>
struct Connect6 : Mnk<W, 2> {
  using State = typename Mnk<W, 2>::State;
  static constexpr int num_channels = 5;

  std::vector<std::string> channels() const {
    auto names = channel_names(this->shape, 2);
    names.push_back("one stone left");
    return names;
  }
  void planes(const State& state, std::uint8_t* out) const {
    std::fill_n(out, this->shape.size() * num_channels, std::uint8_t(0));
    for (int p : {0, 1})
      state.stones[p].for_each([&](int cell) { out[cell * num_channels + p] = 1; });
    const std::uint8_t last = this->stones_left(state) == 1;
    for (int cell = 0; cell < this->shape.size(); ++cell) {
      out[cell * num_channels + 2 + state.to_move] = 1;
      out[cell * num_channels + 4] = last;
    }
  }
  State state_from_planes(const std::uint8_t* planes, int ply) const {
    Board board;
    board.ply = ply;
    board.to_move = planes[3] != 0;
    for (int cell = 0; cell < this->shape.size(); ++cell, planes += num_channels)
      board.cells.push_back(planes[0] ? 1 : planes[1] ? 2 : 0);
    return this->from_board(board);
  }
  std::string part_of_turn(const State& state) const {
    if (state.ply == 0) return "the only stone of the first turn";
    return this->stones_left(state) == 2 ? "stone 1 of 2" : "stone 2 of 2";
  }
  std::vector<Symmetry> symmetries() const {
    auto symmetries = Mnk<W, 2>::symmetries();
    for (auto& symmetry : symmetries) symmetry.channels.push_back(num_channels - 1);
    return symmetries;
  }
};

}  // namespace

extern const GameType connect6_type;
const GameType connect6_type{
    "connect6",
    "Connect6",
    {whole_number("size", 19, 3, 19, "cells along a side; below 6 nobody can win")},
    [](const Options& options) {
      const int size = options.integer("size");
      return with_words(size * size, [&]<int W>() {
        return make_rules_game("connect6", Connect6<W>{{size, size, 6, 2, 0, 2}});
      });
    },
    {"six in a line win"},
};

}  // namespace athenan
