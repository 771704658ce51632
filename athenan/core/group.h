// Many searches in step: all advance until each waits for f_θ, then their states make one batch.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "core/search.h"

namespace athenan {

class SearchGroup {
 public:
  // batch_sizes: the only sizes that batches have, ascending.
  SearchGroup(std::vector<std::shared_ptr<Search>> searches, std::vector<std::size_t> batch_sizes,
              int threads);

  // Runs every search that can run until it waits or is done; the result does not depend on the
  // number of threads. Returns those that are done since the last call, or nothing when the time
  // has come before: call it again, all go on where they paused.
  std::optional<std::vector<std::size_t>> advance(
      Clock::time_point pause_at = Clock::time_point::max());
  // What an earlier run of this search left waiting is forgotten, so that one that an error has
  // interrupted can be started again.
  void start(std::size_t i, const State& root, const Budget& budget, const Mobility& mobility = {});

  struct Batch {
    std::size_t rows = 0;    // real ones
    std::size_t padded = 0;  // with those that only fill the batch
    std::size_t width = 1;   // answers that each row asks for
    const std::uint8_t* planes = nullptr;
  };
  // Waiting rows in order of arrival; the largest size that they fill, or the smallest that holds
  // them. All ask for the same width: others wait for their turn. Rows are 0 when nothing waits.
  Batch batch();
  // The answers of the last batch, [rows, width], those of padding may follow; any others are
  // refused and change nothing.
  void resume(std::span<const float> answers, std::size_t width);

  Search& search(std::size_t i) { return *searches_[i]; }
  std::size_t size() const { return searches_.size(); }
  std::size_t waiting() const;
  Users& users() { return users_; }  // whoever calls from Python is one

 private:
  struct Turn {
    std::size_t search;
    std::uint64_t run;  // of the search: nobody waits for what an earlier one asked for
  };
  struct Part : Turn {  // rows of one request in the current batch
    std::size_t first, count;
  };
  bool is_over(const Turn& turn) const { return searches_[turn.search]->run_number() != turn.run; }
  void forget_what_is_over();

  std::vector<std::shared_ptr<Search>> searches_;
  std::vector<std::size_t> batch_sizes_;
  std::unique_ptr<Helpers> helpers_;
  std::vector<Turn> runnable_;
  std::deque<Turn> queue_;  // searches with rows that are in no batch yet
  std::vector<Part> parts_;
  std::size_t width_ = 1, padded_ = 0;  // of the current batch
  Clock::time_point batched_at_;
  std::vector<std::uint8_t> planes_;
  Users users_{"group of searches"};
};

}  // namespace athenan
