#include "core/bind.h"

NB_MODULE(_core, m) {
  m.doc() = "The compiled core: rules and search.";
  nanobind::set_leak_warnings(false);  // objects alive when the interpreter ends are no fault
  athenan::bind_games(m);
  athenan::bind_python_game(m);
  athenan::bind_tree_game(m);
  athenan::bind_network(m);
  athenan::bind_search(m);
  athenan::bind_unbounded(m);
  athenan::bind_proof(m);
}
