#include "core/group.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/parallel.h"

namespace athenan {

SearchGroup::SearchGroup(std::vector<std::shared_ptr<Search>> searches,
                         std::vector<std::size_t> batch_sizes, int threads)
    : searches_(std::move(searches)), batch_sizes_(std::move(batch_sizes)), threads_(threads) {
  if (batch_sizes_.empty() || batch_sizes_.front() == 0 ||
      !std::is_sorted(batch_sizes_.begin(), batch_sizes_.end()))
    throw std::invalid_argument("Batch sizes must be positive and ascend.");
  if (threads_ < 1) throw std::invalid_argument("A search needs at least one thread.");
  for (const auto& search : searches_)
    if (&search->game() != &searches_.front()->game())
      throw std::invalid_argument("The searches of a group are of one game.");
  if (!searches_.empty())
    planes_.resize(batch_sizes_.back() * searches_.front()->game().facts().plane_bytes());
}

void SearchGroup::start(std::size_t i, const State& root, const Budget& budget,
                        const Mobility& mobility) {
  if (i >= searches_.size()) throw std::out_of_range("The group has no such search.");
  std::erase(queue_, i);
  std::erase(runnable_, i);
  for (Part& part : parts_)
    if (part.search == i) part.search = no_search;
  searches_[i]->start(root, budget, mobility);
  runnable_.push_back(i);
}

std::vector<std::size_t> SearchGroup::advance() {
  std::sort(runnable_.begin(), runnable_.end());
  std::exception_ptr error;  // of one search; the others go on
  try {
    in_parallel(runnable_.size(), threads_, [&](std::size_t i) {
      Task<>& task = searches_[runnable_[i]]->task();
      if (!task.done()) task.resume();
    });
  } catch (...) {
    error = std::current_exception();
  }
  std::vector<std::size_t> done;
  for (std::size_t i : runnable_) {
    if (searches_[i]->task().done())
      done.push_back(i);
    else
      queue_.push_back(i);
  }
  runnable_.clear();
  if (error) std::rethrow_exception(error);
  return done;
}

std::size_t SearchGroup::waiting() const {
  std::size_t rows = 0;
  for (std::size_t i : queue_) {
    const auto& request = searches_[i]->request();
    rows += request.rows() - request.batched;
  }
  return rows;
}

SearchGroup::Batch SearchGroup::batch() {
  Batch batch;
  batch.planes = planes_.data();
  if (queue_.empty()) return batch;
  batch.width = width_ = searches_[queue_.front()]->request().width;
  std::size_t rows_waiting = 0;  // of this width, one behind the other
  for (std::size_t i : queue_) {
    const auto& request = searches_[i]->request();
    if (request.width != width_) break;
    rows_waiting += request.rows() - request.batched;
  }
  batch.padded = batch_sizes_.front();
  for (std::size_t size : batch_sizes_)
    if (size <= rows_waiting) batch.padded = size;
  batch.rows = std::min(batch.padded, rows_waiting);

  parts_.clear();
  for (std::size_t rows = 0; rows < batch.rows;) {
    auto& request = searches_[queue_.front()]->request();
    const std::size_t count = std::min(batch.rows - rows, request.rows() - request.batched);
    parts_.push_back({queue_.front(), request.batched, count});
    request.batched += count;
    rows += count;
    if (request.batched == request.rows()) queue_.pop_front();
  }
  const std::size_t bytes = searches_.front()->game().facts().plane_bytes();
  std::vector<std::size_t> starts(parts_.size());
  for (std::size_t i = 1; i < parts_.size(); ++i) starts[i] = starts[i - 1] + parts_[i - 1].count;
  in_parallel(parts_.size(), threads_, [&](std::size_t i) {
    const auto& request = searches_[parts_[i].search]->request();
    std::uint8_t* out = planes_.data() + starts[i] * bytes;
    if (request.actions.empty())
      request.game->planes(*request.state, out);
    else
      request.game->child_planes(*request.state,
                                 request.actions.subspan(parts_[i].first, parts_[i].count), out);
  });
  std::fill(planes_.begin() + std::ptrdiff_t(batch.rows * bytes),
            planes_.begin() + std::ptrdiff_t(batch.padded * bytes), std::uint8_t(0));
  return batch;
}

void SearchGroup::resume(std::span<const float> answers, std::size_t width) {
  std::size_t rows = 0;
  for (const Part& part : parts_) rows += part.count;
  if (rows && width != width_)
    throw std::invalid_argument("The evaluator answered " + std::to_string(width) +
                                " values a state where " + std::to_string(width_) +
                                " are asked for.");
  if (answers.size() < rows * width)
    throw std::invalid_argument("The evaluator answered " + std::to_string(answers.size()) +
                                " values, fewer than the " + std::to_string(rows * width) +
                                " states it was asked for.");
  const float* next = answers.data();
  for (const Part& part : parts_) {
    const float* first = std::exchange(next, next + part.count * width);
    if (part.search == no_search) continue;
    auto& request = searches_[part.search]->request();
    std::copy_n(first, part.count * width, request.answers.data() + part.first * width);
    request.answered += part.count;
    if (request.complete()) runnable_.push_back(part.search);
  }
  parts_.clear();
}

}  // namespace athenan
