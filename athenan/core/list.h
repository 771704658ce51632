// The list of searches. A search is its file, which defines `const SearchType <name>_type` (a
// family may share one), and its line here.
#define ATHENAN_SEARCHES(SEARCH) \
  SEARCH(descent)                \
  SEARCH(ubfm)                   \
  SEARCH(umb)                    \
  SEARCH(maxn_descent)           \
  SEARCH(maxn_ubfm)              \
  SEARCH(uct)                    \
  SEARCH(puct)                   \
  SEARCH(random)                 \
  SEARCH(minimax)                \
  SEARCH(alphabeta)              \
  SEARCH(pvs)                    \
  SEARCH(mtdf)                   \
  SEARCH(kbest_alphabeta)        \
  SEARCH(alphabeta_storage)      \
  SEARCH(alphabeta_augmented)    \
  SEARCH(mt_sss)                 \
  SEARCH(alphabeta_informed)     \
  SEARCH(sss2)                   \
  SEARCH(rollout)                \
  SEARCH(iterative_deepening)
