// The list of searches. A search is its file, which defines `const SearchType <name>_type` (a
// family may share one), and its line here.
#define ATHENAN_SEARCHES(SEARCH) \
  SEARCH(descent)                \
  SEARCH(ubfm)                   \
  SEARCH(umb)                    \
  SEARCH(uct)                    \
  SEARCH(random)
