// The list of games. A game is its file <name>.cpp, which defines `const GameType <name>_type`,
// and its line here.
#define ATHENAN_GAMES(GAME) \
  GAME(tictactoe)           \
  GAME(connect_four)        \
  GAME(hex)                 \
  GAME(breakthrough)        \
  GAME(mnk)                 \
  GAME(othello)             \
  GAME(clobber)             \
  GAME(gomoku)              \
  GAME(connect6)            \
  GAME(ataxx)               \
  GAME(amazons)             \
  GAME(rolit)               \
  GAME(draughts)            \
  GAME(chess)               \
  GAME(lines_of_action)     \
  GAME(santorini)           \
  GAME(surakarta)           \
  GAME(havannah)            \
  GAME(chinese_checkers)    \
  GAME(go)                  \
  GAME(xiangqi)             \
  GAME(arimaa)
