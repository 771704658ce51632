// Which outcomes several players in turn can end with on a board where `line` in a row wins, when
// each plays for itself: the set of Maxn values of every position, by plain recursion. It shares
// nothing with the program that it checks.
//   brute_maxn ROWS COLUMNS LINE PLAYERS    prints who can win (0 first), or `draw`, a word each
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int rows, columns, line, players;
std::vector<std::uint8_t>
    known;  // by position in base players + 1: outcomes, a bit each; 0: not yet
std::vector<std::uint32_t> powers;  // of players + 1, a cell each
std::vector<std::uint8_t> board;    // 0 empty, 1 + player

bool wins(int cell) {  // by the stone that came there last
  const int stone = board[cell], row = cell / columns, column = cell % columns;
  const int steps[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
  for (const auto& step : steps) {
    int length = 1;
    for (int sign : {1, -1})
      for (int r = row + sign * step[0], c = column + sign * step[1];
           r >= 0 && r < rows && c >= 0 && c < columns && board[r * columns + c] == stone;
           r += sign * step[0], c += sign * step[1])
        ++length;
    if (length >= line) return true;
  }
  return false;
}

// To a player: 2 a win of its own, 1 a draw, 0 another's win.
int worth(int outcome, int player) { return outcome == players ? 1 : outcome == player ? 2 : 0; }

// Ties are broken in any way: an outcome of a child is possible if every other child can have one
// that is no better for the mover.
std::uint8_t outcomes_of(std::uint32_t position, int ply) {
  if (known[position]) return known[position];
  const int mover = ply % players, cells = rows * columns;
  std::uint8_t any = 0;
  int needed = 0;  // the most that some child gives at the least
  for (int cell = 0; cell < cells; ++cell) {
    if (board[cell]) continue;
    board[cell] = std::uint8_t(1 + mover);
    const std::uint32_t next = position + powers[cell] * (1 + mover);
    const std::uint8_t child = wins(cell)         ? std::uint8_t(1 << mover)
                               : ply + 1 == cells ? std::uint8_t(1 << players)
                                                  : outcomes_of(next, ply + 1);
    board[cell] = 0;
    int least = 2;
    for (int outcome = 0; outcome <= players; ++outcome)
      if (child >> outcome & 1 && worth(outcome, mover) < least) least = worth(outcome, mover);
    if (least > needed) needed = least;
    any |= child;
  }
  std::uint8_t found = 0;
  for (int outcome = 0; outcome <= players; ++outcome)
    if (any >> outcome & 1 && worth(outcome, mover) >= needed) found |= std::uint8_t(1 << outcome);
  return known[position] = found;
}

}  // namespace

int main(int, char** words) {
  rows = std::atoi(words[1]);
  columns = std::atoi(words[2]);
  line = std::atoi(words[3]);
  players = std::atoi(words[4]);
  std::uint64_t positions = 1;
  for (int cell = 0; cell < rows * columns; ++cell) {
    powers.push_back(std::uint32_t(positions));
    positions *= std::uint64_t(players + 1);
  }
  known.assign(positions, 0);
  board.assign(std::size_t(rows * columns), 0);
  const std::uint8_t found = outcomes_of(0, 0);
  for (int outcome = 0; outcome <= players; ++outcome)
    if (found >> outcome & 1)
      outcome == players ? std::printf("draw\n") : std::printf("%d\n", outcome);
}
