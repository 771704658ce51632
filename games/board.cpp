#include "board.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

namespace athenan {
namespace {

std::string column_name(const Shape& shape, int column) {
  if (shape.numbered_columns) return std::to_string(column + 1);
  return std::string(1, char('a' + column + (shape.skips_i && column >= 8)));
}

// Of the row's first cell on a grid whose columns slant down to the right, in half cells.
int slant(const Shape& shape, int row) {
  int column = 0;
  while (column < shape.columns && !shape.exists(row * shape.columns + column)) ++column;
  return 2 * column + row;
}

int indent(const Shape& shape, int row) {
  switch (shape.grid) {
    case Grid::rhombus: {
      int least = slant(shape, 0);
      for (int other = 1; other < shape.rows; ++other) least = std::min(least, slant(shape, other));
      return slant(shape, row) - least;
    }
    case Grid::hexagon: return std::abs(row - shape.rows / 2);
    case Grid::square: break;
  }
  return 0;
}

std::string row_label(const Shape& shape, int row) {
  if (!shape.numbered_cells) return std::to_string(row + 1);
  const auto places = shape.places();
  return std::to_string(std::lower_bound(places.begin(), places.end(), row * shape.columns) -
                        places.begin());
}
int label_width(const Shape& shape) { return int(row_label(shape, shape.rows - 1).size()); }

// The names of the columns, each above its own; above a hexagon so far to the right that each
// heads its slanting column.
std::string head(const Shape& shape) {
  if (shape.numbered_cells) return "each row after the number of its first cell";
  const int lead = shape.grid == Grid::hexagon ? indent(shape, 0) + 1 : 0;
  std::string names(lead + label_width(shape), ' ');
  for (int column = 0; column < shape.columns; ++column)
    names += (column < 9 || !shape.numbered_columns ? " " : "") + column_name(shape, column);
  return names;
}

int displayed_row(const Shape& shape, int line) {
  return shape.first_row_at_bottom ? shape.rows - 1 - line : line;
}

std::string status(const Shape& shape, const Board& board, int num_players,
                   const std::optional<Ending>& ending) {
  std::ostringstream out;
  out << "ply " << board.ply << ", ";
  const char next = shape.symbols[board.to_move];
  if (!ending) {
    out << next << " to move";
    return out.str();
  }
  std::string winners;
  for (int p = 0; p < num_players; ++p)
    if (ending->outcome[p] > 0) winners += shape.symbols[p];
  out << (winners.empty() ? std::string("drawn") : winners + " won") << " (" << next << " next)";
  return out.str();
}

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument("This text is not a board of the game: " + why + ".");
}

}  // namespace

std::vector<int> Shape::places() const {
  std::vector<int> found;
  for (int place = 0; place < size(); ++place)
    if (exists(place)) found.push_back(place);
  return found;
}

std::string cell_name(const Shape& shape, int cell) {
  return column_name(shape, cell % shape.columns) + std::to_string(cell / shape.columns + 1);
}

std::string draw_board(const Shape& shape, const Board& board, int num_players,
                       std::optional<int> last_cell, std::optional<Ending> ending) {
  std::ostringstream out;
  const int width = label_width(shape);
  out << head(shape) << "\n";
  for (int line = 0; line < shape.rows; ++line) {
    const int row = displayed_row(shape, line);
    const auto label = row_label(shape, row);
    out << std::string(indent(shape, line) + width - int(label.size()), ' ') << label;
    char before = ' ';
    for (int column = 0; column < shape.columns; ++column) {
      const int cell = row * shape.columns + column;
      if (!shape.exists(cell)) continue;
      const bool last = last_cell == cell;
      const int piece = board.cells[cell];
      out << (last ? '[' : before) << (piece ? shape.symbols[piece - 1] : '.');
      before = last ? ']' : ' ';
    }
    if (before == ']') out << before;
    out << "\n";
  }
  out << status(shape, board, num_players, ending);
  return out.str();
}

Board read_board(const Shape& shape, int num_players, std::string_view text) {
  Board board;
  board.cells.assign(shape.size(), 0);
  std::istringstream in{std::string(text)};
  std::string line;
  if (!std::getline(in, line)) refuse("it is empty");
  for (int i = 0; i < shape.rows; ++i) {
    const int row = displayed_row(shape, i);
    const auto label = row_label(shape, row);
    if (!std::getline(in, line)) refuse("row " + label + " is missing");
    const auto start = line.find_first_not_of(' ');
    if (start == std::string::npos || line.compare(start, label.size(), label) != 0)
      refuse("a line should start with row number " + label);
    std::size_t at = start + label.size();
    for (int column = 0; column < shape.columns; ++column) {
      const int cell = row * shape.columns + column;
      if (!shape.exists(cell)) continue;
      while (at < line.size() && std::string_view(" []").find(line[at]) != std::string_view::npos)
        ++at;
      if (at >= line.size()) refuse("row " + label + " is too short");
      const auto symbol = line[at++];
      const auto piece = shape.symbols.find(symbol);
      if (symbol != '.' && piece == std::string::npos)
        refuse(std::string("'") + symbol + "' is no piece");
      board.cells[cell] = symbol == '.' ? 0 : std::uint8_t(piece + 1);
    }
    if (line.find_first_not_of(" ]", at) != std::string::npos)
      refuse("row " + label + " is too long");
  }
  std::getline(in, line);
  const auto ply = line.find("ply ");
  auto next = line.find(" to move");
  if (next == std::string::npos) next = line.find(" next");
  if (ply == std::string::npos || next == std::string::npos || next == 0 ||
      !std::isdigit(static_cast<unsigned char>(line[ply + 4])))
    refuse("its last line should read like 'ply 3, o to move'");
  board.ply = std::stoi(line.substr(ply + 4, 6));
  const auto player = shape.symbols.find(line[next - 1]);
  if (player >= std::size_t(num_players))
    refuse(std::string("'") + line[next - 1] + "' is no player");
  board.to_move = int(player);
  return board;
}

Fen read_fen(const Shape& shape, std::string_view text) {
  Fen fen;
  fen.board.cells.assign(shape.size(), 0);
  std::istringstream in{std::string(text)};
  std::string rows, mover = "w";
  int turn = 1, row = shape.rows - 1, column = 0;
  in >> rows >> mover >> fen.rights >> fen.passed >> fen.quiet_plies >> turn;
  for (char symbol : rows) {
    const auto piece = shape.symbols.find(symbol);
    if (symbol == '/' && column == shape.columns && row > 0) {
      --row;
      column = 0;
    } else if (symbol >= '1' && symbol <= '9' && column + symbol - '0' <= shape.columns) {
      column += symbol - '0';
    } else if (piece != std::string::npos && column < shape.columns) {
      fen.board.cells[row * shape.columns + column++] = std::uint8_t(piece + 1);
    } else {
      refuse("its rows are not those of a FEN");
    }
  }
  if (row != 0 || column != shape.columns || (mover != "w" && mover != "b"))
    refuse("its FEN is incomplete");
  fen.board.to_move = mover == "b";
  fen.board.ply = 2 * (std::clamp(turn, 1, 9999) - 1) + fen.board.to_move;
  fen.quiet_plies = std::clamp(fen.quiet_plies, 0, 9999);
  return fen;
}

std::vector<std::string> channel_names(const Shape& shape, int num_players) {
  std::vector<std::string> names;
  for (char symbol : shape.symbols) names.push_back(std::string("piece ") + symbol);
  for (int p = 0; p < num_players; ++p)
    names.push_back(std::string(1, shape.symbols[p]) + " to move");
  return names;
}

void board_to_planes(const Shape& shape, const Board& board, int num_players, std::uint8_t* out) {
  const std::size_t pieces = shape.symbols.size(), channels = pieces + num_players;
  std::fill_n(out, shape.size() * channels, std::uint8_t(0));
  for (int cell = 0; cell < shape.size(); ++cell, out += channels) {
    if (board.cells[cell]) out[board.cells[cell] - 1] = 1;
    out[pieces + board.to_move] = 1;
  }
}

Board board_from_planes(const Shape& shape, const std::uint8_t* planes, int num_players, int ply) {
  const int pieces = int(shape.symbols.size()), channels = pieces + num_players;
  Board board;
  board.ply = ply;
  board.cells.assign(shape.size(), 0);
  for (int cell = 0; cell < shape.size(); ++cell)
    for (int piece = 0; piece < pieces; ++piece)
      if (planes[cell * channels + piece]) board.cells[cell] = std::uint8_t(piece + 1);
  for (int p = 0; p < num_players; ++p)
    if (planes[pieces + p]) board.to_move = p;
  return board;
}

Symmetry make_symmetry(const Shape& shape, int num_players, const CellMap& source,
                       bool swap_players) {
  const int pieces = int(shape.symbols.size());
  Symmetry symmetry;
  for (int row = 0; row < shape.rows; ++row)
    for (int column = 0; column < shape.columns; ++column) {
      const auto [from_row, from_column] = source(row, column);
      symmetry.cells.push_back(from_row * shape.columns + from_column);
    }
  for (int channel = 0; channel < pieces + num_players; ++channel)
    symmetry.channels.push_back(channel);
  if (swap_players) {
    // Symbols alternate between the players: x o, or X O X' O' … for several kinds of piece.
    for (int piece = 0; piece + 1 < pieces; piece += 2)
      std::swap(symmetry.channels[piece], symmetry.channels[piece + 1]);
    std::swap(symmetry.channels[pieces], symmetry.channels[pieces + 1]);
    symmetry.sign = -1;
  }
  return symmetry;
}

std::vector<Symmetry> grid_symmetries(const Shape& shape, int num_players, bool colours) {
  const int last_row = shape.rows - 1, last_column = shape.columns - 1;
  std::vector<CellMap> maps = {
      [](int r, int c) { return std::pair{r, c}; },
      [=](int r, int c) { return std::pair{r, last_column - c}; },
      [=](int r, int c) { return std::pair{last_row - r, c}; },
      [=](int r, int c) { return std::pair{last_row - r, last_column - c}; },
  };
  if (shape.rows == shape.columns) {
    maps.push_back([](int r, int c) { return std::pair{c, r}; });
    maps.push_back([=](int r, int c) { return std::pair{c, last_row - r}; });
    maps.push_back([=](int r, int c) { return std::pair{last_row - c, r}; });
    maps.push_back([=](int r, int c) { return std::pair{last_row - c, last_row - r}; });
  }
  std::vector<Symmetry> symmetries;
  for (bool swap : {false, true}) {
    if (swap && !colours) break;
    for (const auto& map : maps) symmetries.push_back(make_symmetry(shape, num_players, map, swap));
  }
  return symmetries;
}

}  // namespace athenan
