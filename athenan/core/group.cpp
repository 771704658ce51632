#include "core/group.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace athenan {

SearchGroup::SearchGroup(std::vector<std::shared_ptr<Search>> searches,
                         std::vector<std::size_t> batch_sizes, int threads)
    : searches_(std::move(searches)), batch_sizes_(std::move(batch_sizes)) {
  if (batch_sizes_.empty() || batch_sizes_.front() == 0 ||
      !std::is_sorted(batch_sizes_.begin(), batch_sizes_.end()))
    throw std::invalid_argument("Batch sizes must be positive and ascend.");
  if (threads < 1) throw std::invalid_argument("A search needs at least one thread.");
  helpers_ = std::make_unique<Helpers>(threads);
  for (auto search = searches_.begin(); search != searches_.end(); ++search)
    if (!*search || std::find(searches_.begin(), search, *search) != search)
      throw std::invalid_argument("A group has each of its searches once.");
  for (const auto& search : searches_)
    if (&search->game() != &searches_.front()->game())
      throw std::invalid_argument("The searches of a group are of one game.");
  if (!searches_.empty())
    planes_.resize(batch_sizes_.back() * searches_.front()->game().facts().plane_bytes());
}

void SearchGroup::forget_what_is_over() {
  const auto over = [this](const Turn& turn) { return is_over(turn); };
  std::erase_if(queue_, over);
  std::erase_if(runnable_, over);
}

void SearchGroup::start(std::size_t i, const State& root, const Budget& budget,
                        const Mobility& mobility) {
  if (i >= searches_.size()) throw std::out_of_range("The group has no such search.");
  Search& search = *searches_[i];
  const auto use = search.users().changing();
  search.start(root, budget, mobility);
  runnable_.push_back({i, search.run_number()});
}

std::optional<std::vector<std::size_t>> SearchGroup::advance(Clock::time_point pause_at) {
  forget_what_is_over();
  std::sort(runnable_.begin(), runnable_.end(),
            [](const Turn& a, const Turn& b) { return a.search < b.search; });
  const auto goes_on = [this](const Turn& turn) { return searches_[turn.search]->can_go_on(); };
  std::exception_ptr error;  // of one search; the others go on
  try {
    helpers_->share(runnable_.size(), [&](std::size_t i) {
      if (goes_on(runnable_[i]) && Clock::now() < pause_at)
        searches_[runnable_[i].search]->resume(pause_at);
    });
  } catch (...) {
    error = std::current_exception();
  }
  // Batches must not depend on the time: nobody joins the queue before all can.
  if (!error && std::any_of(runnable_.begin(), runnable_.end(), goes_on)) return std::nullopt;
  std::vector<std::size_t> done;
  for (const Turn& turn : runnable_) {
    if (searches_[turn.search]->task().done())
      done.push_back(turn.search);
    else if (!goes_on(turn))
      queue_.push_back(turn);
  }
  std::erase_if(runnable_, [&](const Turn& turn) { return !goes_on(turn); });
  if (error) std::rethrow_exception(error);
  return done;
}

std::size_t SearchGroup::waiting() const {
  std::size_t rows = 0;
  for (const Turn& turn : queue_) {
    if (is_over(turn)) continue;
    const auto& request = searches_[turn.search]->request();
    rows += request.rows() - request.batched;
  }
  return rows;
}

SearchGroup::Batch SearchGroup::batch() {
  Batch batch;
  batch.planes = planes_.data();
  batched_at_ = Clock::now();
  forget_what_is_over();
  if (queue_.empty()) return batch;
  std::vector<Users::Use> uses;
  for (const Turn& turn : queue_) uses.push_back(searches_[turn.search]->users().reading());
  batch.width = width_ = searches_[queue_.front().search]->request().width;
  std::size_t rows_waiting = 0;  // of this width, one behind the other
  for (const Turn& turn : queue_) {
    const auto& request = searches_[turn.search]->request();
    if (request.width != width_) break;
    rows_waiting += request.rows() - request.batched;
  }
  batch.padded = batch_sizes_.front();
  for (std::size_t size : batch_sizes_)
    if (size <= rows_waiting) batch.padded = size;
  batch.rows = std::min(batch.padded, rows_waiting);
  padded_ = batch.padded;

  parts_.clear();
  for (std::size_t rows = 0; rows < batch.rows;) {
    auto& request = searches_[queue_.front().search]->request();
    const std::size_t count = std::min(batch.rows - rows, request.rows() - request.batched);
    parts_.push_back({queue_.front(), request.batched, count});
    request.batched += count;
    rows += count;
    if (request.batched == request.rows()) queue_.pop_front();
  }
  const std::size_t bytes = searches_.front()->game().facts().plane_bytes();
  std::vector<std::size_t> starts(parts_.size());
  for (std::size_t i = 1; i < parts_.size(); ++i) starts[i] = starts[i - 1] + parts_[i - 1].count;
  helpers_->share(parts_.size(), [&](std::size_t i) {
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
  if (rows == 0) return;
  if (width != width_)
    throw std::invalid_argument("The evaluator answered " + std::to_string(width) +
                                " values a state where " + std::to_string(width_) +
                                " are asked for.");
  const bool fewer = answers.size() < rows * width;
  if (fewer || answers.size() > padded_ * width)
    throw std::invalid_argument("The evaluator answered " + std::to_string(answers.size()) +
                                " values, " + (fewer ? "fewer" : "more") + " than the " +
                                std::to_string((fewer ? rows : padded_) * width) +
                                " states it was asked for.");
  for (float answer : answers.first(rows * width))
    if (!std::isfinite(answer))
      throw std::invalid_argument("The evaluator answered " + std::to_string(answer) +
                                  " for a state; a value is a finite number.");
  std::vector<Users::Use> uses;
  for (const Part& part : parts_)
    if (!is_over(part)) uses.push_back(searches_[part.search]->users().changing());
  const auto time = Clock::now() - batched_at_;
  const float* next = answers.data();
  for (const Part& part : parts_) {
    const float* first = std::exchange(next, next + part.count * width);
    if (is_over(part)) continue;
    Search& search = *searches_[part.search];
    search.charge(time * part.count / rows);
    auto& request = search.request();
    std::copy_n(first, part.count * width, request.answers.data() + part.first * width);
    request.answered += part.count;
    if (request.complete()) runnable_.push_back(part);
  }
  parts_.clear();
}

}  // namespace athenan
