// A board as a person and a network see it: cells with pieces, who moves, which ply.
//
// A game says once how its state reads as a Board and back; the texts, the planes and the
// symmetries of every game follow from that here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "games/game.h"

namespace athenan {

struct Board {
  std::vector<std::uint8_t> cells;  // row by row; 0 empty, otherwise 1 + index into Shape::symbols
  int to_move = 0;
  int ply = 0;
};

enum class Grid { square, rhombus, hexagon };  // how rows are indented when drawn

struct Shape {
  int rows = 0, columns = 0;
  std::string symbols = "xo";  // pieces; the first num_players name the players
  Grid grid = Grid::square;
  bool first_row_at_bottom = false;
  bool numbered_columns = false;         // 1 2 3 instead of a b c
  std::vector<std::uint8_t> holes = {};  // 1 where no cell exists; empty: none
  bool skips_i = false;                  // columns … g h j k, as Go writes them
  // Cells have numbers from 0, row by row; a row is labelled by the number of its first cell.
  bool numbered_cells = false;
  int max_plies = 0;  // of the game, set by rules.h

  int size() const { return rows * columns; }
  bool exists(int cell) const { return holes.empty() || !holes[cell]; }
  std::vector<int> places() const;  // where cells exist, row by row
};

std::string cell_name(const Shape&, int cell);  // "c2": column letter, row counted from 1
std::optional<int> find_cell(const Shape&, std::string_view name);
std::vector<Place> drawn_places(const Shape&);  // of each cell, as draw_board puts them

// Throws a std::invalid_argument: a text or planes do not make a state of the game, and why.
[[noreturn]] void refuse(const std::string& why);

// The board with coordinates, the last action's cell in brackets, and a line that says who
// moves or how the game ended. read_board understands what draw_board writes.
std::string draw_board(const Shape&, const Board&, int num_players, std::optional<int> last_cell,
                       std::optional<Ending> ending);
Board read_board(const Shape&, int num_players, std::string_view text);
// What a text says after who moves or how the game ended; nothing where it does not draw a board.
std::string_view note_of(std::string_view text);
// Refuses a text that says anything else there than the state read from it; it may stop earlier.
void check_note(std::string_view text, std::string_view note);
void check_ply(const Shape&, int ply);  // refuses one that no game reaches

// Forsyth-Edwards notation: rows from the last to the first, who moves, two fields that chess
// uses, plies without progress and the number of the turn. The last two may be missing, and the
// two before. A drawn board may have it in its last line, after "FEN ".
struct Fen {
  Board board;
  std::string rights = "-", passed = "-";
  int quiet_plies = 0;
};
Fen read_fen(const Shape&, std::string_view text);
std::string write_fen(const Shape&, const Fen&);

// Parts of texts.
std::vector<std::string_view> split(std::string_view text, char by);
std::optional<int> read_number(std::string_view digits);         // from 0, of at most six digits
int read_counter(std::string_view note, std::string_view name);  // "name: 3"; 0 if it is not there

// One plane a symbol, then one plane a player, full of ones for the player to move.
std::vector<std::string> channel_names(const Shape&, int num_players);
void board_to_planes(const Shape&, const Board&, int num_players, std::uint8_t* out);
Board board_from_planes(const Shape&, const std::uint8_t*, int num_players, int ply);

// source(row, column) is the cell whose content moves to (row, column). With a turn each player
// takes the colour of the one so many places after him: two exchange theirs, the mover and the
// value's sign with them; of more, values go along.
using CellMap = std::function<std::pair<int, int>(int row, int column)>;
Symmetry make_symmetry(const Shape&, int num_players, const CellMap& source, int turn = 0);
// The identity, the reflections and, on a square board, the rotations; with `colours` each of
// them also with the players exchanged, or in every turn of them.
std::vector<Symmetry> grid_symmetries(const Shape&, int num_players, bool colours);

}  // namespace athenan
