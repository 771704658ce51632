// Many searches in step: all advance until each waits for f_θ, then their states make one batch.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/search.h"

namespace athenan {

class SearchGroup {
 public:
  // batch_sizes: the only sizes that batches have, ascending.
  SearchGroup(std::vector<std::shared_ptr<Search>> searches, std::vector<std::size_t> batch_sizes,
              int threads);

  // Runs every search that can run until it waits or is done; the result does not depend on the
  // number of threads. Returns those that are done since the last call.
  std::vector<std::size_t> advance();
  // Call after Search::start. What an earlier run of this search left waiting is forgotten, so
  // that one that an error has interrupted can be started again.
  void started(std::size_t i);

  struct Batch {
    std::size_t rows = 0;    // real states
    std::size_t padded = 0;  // rows of the batch
    const std::uint8_t* planes = nullptr;
  };
  // Waiting states in order of arrival; the largest size that they fill, or the smallest that
  // holds them. Rows are 0 when nothing waits.
  Batch batch();
  // The values of the last batch; too few are refused and change nothing.
  void resume(std::span<const float> values);

  Search& search(std::size_t i) { return *searches_[i]; }
  std::size_t size() const { return searches_.size(); }
  std::size_t waiting() const;

 private:
  static constexpr std::size_t no_search = std::size_t(-1);
  struct Part {          // rows of one request in the current batch
    std::size_t search;  // or no_search, when nobody waits for them any more
    std::size_t first, count;
  };
  std::vector<std::shared_ptr<Search>> searches_;
  std::vector<std::size_t> batch_sizes_;
  int threads_;
  std::vector<std::size_t> runnable_;
  std::deque<std::size_t> queue_;  // searches with rows that are in no batch yet
  std::vector<Part> parts_;
  std::vector<std::uint8_t> planes_;
};

}  // namespace athenan
