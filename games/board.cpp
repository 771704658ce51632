#include "games/board.h"

#include <algorithm>
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

// "ply 3, o to move" or "ply 3, x won (o next)", and what follows.
struct Status {
  int ply;
  char next;
  std::string_view note;
};
std::optional<Status> find_status(std::string_view text) {
  const auto start = text.find("ply ");
  const auto before = text.substr(0, start).find_last_not_of(' ');
  if (start == std::string_view::npos || before == std::string_view::npos || text[before] != '\n')
    return {};
  text.remove_prefix(start + 4);
  const auto comma = std::min(text.find(", "), text.size());
  const auto ply = read_number(text.substr(0, comma));
  auto rest = text.substr(std::min(comma + 2, text.size()));
  std::string_view end = " to move";
  if (const auto open = rest.find(" ("); open < rest.find_first_of(",\n")) {
    if (rest.substr(0, open) != "drawn" && !rest.substr(0, open).ends_with(" won")) return {};
    rest.remove_prefix(open + 2);
    end = " next)";
  }
  if (!ply || rest.substr(std::min<std::size_t>(1, rest.size()), end.size()) != end) return {};
  return Status{*ply, rest[0], rest.substr(1 + end.size())};
}

// Of a FEN.
Board read_rows(const Shape& shape, std::string_view rows) {
  Board board{std::vector<std::uint8_t>(shape.size())};
  int row = shape.rows - 1, column = 0;
  for (char symbol : rows) {
    const auto piece = shape.symbols.find(symbol);
    if (symbol == '/' && column == shape.columns && row > 0) {
      --row;
      column = 0;
    } else if (symbol >= '1' && symbol <= '9' && column + symbol - '0' <= shape.columns) {
      column += symbol - '0';
    } else if (piece != std::string::npos && column < shape.columns) {
      board.cells[row * shape.columns + column++] = std::uint8_t(piece + 1);
    } else {
      refuse("its rows are not those of a FEN");
    }
  }
  if (row != 0 || column != shape.columns) refuse("its FEN is incomplete");
  return board;
}

}  // namespace

void refuse(const std::string& why) {
  throw std::invalid_argument("This is not a state of the game: " + why + ".");
}

std::vector<int> Shape::places() const {
  std::vector<int> found;
  for (int place = 0; place < size(); ++place)
    if (exists(place)) found.push_back(place);
  return found;
}

std::string cell_name(const Shape& shape, int cell) {
  return column_name(shape, cell % shape.columns) + std::to_string(cell / shape.columns + 1);
}

std::optional<int> find_cell(const Shape& shape, std::string_view name) {
  for (int cell : shape.places())
    if (cell_name(shape, cell) == name) return cell;
  return {};
}

std::vector<Place> drawn_places(const Shape& shape) {
  std::vector<Place> found(shape.size());
  int number = 0;
  for (int row = 0; row < shape.rows; ++row) {
    const int down = displayed_row(shape, row);
    int across = indent(shape, down);
    for (int column = 0; column < shape.columns; ++column) {
      const int cell = row * shape.columns + column;
      if (!shape.exists(cell)) continue;
      found[cell] = {shape.numbered_cells ? std::to_string(number++) : cell_name(shape, cell),
                     across, down};
      across += 2;
    }
  }
  return found;
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
  const auto status = find_status(text);
  if (!status || !std::getline(in, line) || line.find("ply ") == std::string::npos)
    refuse("after its rows it should say something like 'ply 3, o to move'");
  check_ply(shape, status->ply);
  board.ply = status->ply;
  const auto player = shape.symbols.find(status->next);
  if (player >= std::size_t(num_players))
    refuse(std::string("'") + status->next + "' is no player");
  board.to_move = int(player);
  return board;
}

std::string_view note_of(std::string_view text) {
  const auto status = find_status(text);
  return status ? status->note : std::string_view();
}

void check_note(std::string_view text, std::string_view note) {
  const auto said = note_of(text);
  const bool whole = said.size() == note.size() ||
                     (said.size() < note.size() && std::string(",\n").find(note[said.size()]) < 2);
  if (!whole || !note.starts_with(said))
    refuse("after who moves it should " +
           (note.empty() ? "say no more" : "go on with '" + std::string(note) + "'"));
}

void check_ply(const Shape& shape, int ply) {
  if (ply < 0 || ply > shape.max_plies)
    refuse("it is at ply " + std::to_string(ply) + " of a game of at most " +
           std::to_string(shape.max_plies) + " plies");
}

Fen read_fen(const Shape& shape, std::string_view text) {
  Fen fen;
  const bool drawn = text.find('\n') != std::string_view::npos;
  if (drawn) fen.board = read_board(shape, 2, text);
  if (const auto line = text.rfind("FEN "); line != std::string_view::npos)
    text.remove_prefix(line + 4);
  else if (drawn)
    return fen;
  const auto fields = split(text, ' ');
  if (fields.size() != 2 && fields.size() != 4 && fields.size() != 6)
    refuse("a FEN has 2, 4 or 6 fields");
  if (fields[1] != "w" && fields[1] != "b") refuse("the second field of a FEN is w or b");
  if (fields.size() > 2) fen.rights = fields[2], fen.passed = fields[3];
  auto turn = std::optional(1), quiet_plies = std::optional(0);
  if (fields.size() > 4) quiet_plies = read_number(fields[4]), turn = read_number(fields[5]);
  if (!quiet_plies || *quiet_plies > 9999 || !turn || *turn < 1)
    refuse("a FEN ends with plies from 0 to 9999 and a turn from 1");
  fen.quiet_plies = *quiet_plies;
  if (drawn) return fen;
  fen.board = read_rows(shape, fields[0]);
  fen.board.to_move = fields[1] == "b";
  fen.board.ply = 2 * (*turn - 1) + fen.board.to_move;
  check_ply(shape, fen.board.ply);
  return fen;
}

std::string write_fen(const Shape& shape, const Fen& fen) {
  std::string text;
  for (int row = shape.rows - 1; row >= 0; --row) {
    int empty = 0;
    const auto write_empty = [&] {
      if (empty) text += std::to_string(std::exchange(empty, 0));
    };
    for (int column = 0; column < shape.columns; ++column) {
      const int piece = fen.board.cells[row * shape.columns + column];
      if (!piece && ++empty) continue;
      write_empty();
      text += shape.symbols[piece - 1];
    }
    write_empty();
    text += row ? "/" : "";
  }
  const auto& [board, rights, passed, quiet_plies] = fen;
  return text + (board.to_move ? " b " : " w ") + rights + " " + passed + " " +
         std::to_string(quiet_plies) + " " + std::to_string(board.ply / 2 + 1);
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(by)) != std::string_view::npos;
       text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

std::optional<int> read_number(std::string_view digits) {
  if (digits.empty() || digits.size() > 6) return {};
  int number = 0;
  for (char digit : digits) {
    if (digit < '0' || digit > '9') return {};
    number = 10 * number + digit - '0';
  }
  return number;
}

int read_counter(std::string_view note, std::string_view name) {
  const auto at = note.find(std::string(name) + ": ");
  if (at == std::string_view::npos) return 0;
  const auto value = note.substr(at + name.size() + 2);
  const auto number = read_number(value.substr(0, value.find_first_not_of("0123456789")));
  if (!number || *number > 9999) refuse(std::string(name) + " should be a number up to 9999");
  return *number;
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

Symmetry make_symmetry(const Shape& shape, int num_players, const CellMap& source, int turn) {
  const int pieces = int(shape.symbols.size());
  Symmetry symmetry;
  for (int row = 0; row < shape.rows; ++row)
    for (int column = 0; column < shape.columns; ++column) {
      const auto [from_row, from_column] = source(row, column);
      symmetry.cells.push_back(from_row * shape.columns + from_column);
    }
  for (int channel = 0; channel < pieces + num_players; ++channel)
    symmetry.channels.push_back(channel);
  if (turn && num_players > 2) {
    for (int player = 0; player < num_players; ++player) {
      const int other = (player + turn) % num_players;
      symmetry.channels[player] = other;
      symmetry.channels[pieces + player] = pieces + other;
      symmetry.players.push_back(other);
    }
  } else if (turn) {
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
  for (int turn = 0; turn < (colours ? num_players : 1); ++turn)
    for (const auto& map : maps) symmetries.push_back(make_symmetry(shape, num_players, map, turn));
  return symmetries;
}

}  // namespace athenan
