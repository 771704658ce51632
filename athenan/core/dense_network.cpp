#include "core/dense_network.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#if defined(__GNUC__) && defined(__x86_64__)
#define ATHENAN_X86_VECTORS 1
#endif
#if defined(__GNUC__)
#define ATHENAN_INLINE inline __attribute__((always_inline))
#else
#define ATHENAN_INLINE inline
#endif

namespace athenan {
namespace {

constexpr std::size_t block = 32;         // units whose sums are in registers at once
constexpr std::size_t chunk = 64;         // rows of planes in memory at once
constexpr std::size_t most_units = 4096;  // of a layer
constexpr double clip = 6;                // of ReLU6
constexpr int finest = 12;                // 6 · 2^12 is below 2^15
constexpr int finest_kernel = 14;

std::size_t padded(std::size_t size) { return (size + block - 1) / block * block; }

}  // namespace

// ---- The arithmetic ------------------------------------------------------------------------
//
// Plain loops over int16 and int32, which compilers turn into vectors. They are compiled once for
// each kind of vectors, all into the one function that the kind's `work` is.

struct DenseWork {
  using Network = DenseNetwork;

  // planes [rows, bits] to answers [rows, outputs].
  static ATHENAN_INLINE void run(const Network& network, DenseSums& sums,
                                 const std::uint8_t* planes, std::size_t rows, float* answers) {
    refer(network, sums, planes, rows);
    for (std::size_t row = 0; row < rows; ++row) {
      compare(network, sums, planes + row * network.bits());
      answer(network, sums, answers + row * network.outputs_);
    }
  }

  // Moves the reference to what most of three of the rows have: children of one state differ in
  // little from each other, and more from their parent where a plane says who moves.
  static ATHENAN_INLINE void refer(const Network& network, DenseSums& sums,
                                   const std::uint8_t* planes, std::size_t rows) {
    const std::size_t bits = network.bits(), channels = network.channels_;
    const auto& weights = network.weights_;
    const bool is_new = sums.version_ != network.version_;
    if (is_new) {
      sums.reference_.assign(bits, 0);
      sums.filled_.assign(channels, 0);
      sums.sums_.assign(weights.bias.begin(), weights.bias.end());
    }
    sums.next_.resize(bits);
    std::uint8_t* next = sums.next_.data();
    const std::uint8_t* old = sums.reference_.data();
    const std::uint8_t *a = planes, *b = planes + rows / 2 * bits, *c = planes + (rows - 1) * bits;
    for (std::size_t i = 0; i < bits; ++i) next[i] = (a[i] & b[i]) | (b[i] & c[i]) | (a[i] & c[i]);

    sums.next_filled_.assign(channels, 0);
    std::uint8_t* filled = sums.next_filled_.data();
    fill(network, next, filled, sums);
    // What changes, and how much it would be from nothing.
    std::size_t changes = 0, set = 0;
    for (std::size_t cell = 0, i = 0; cell < network.cells_; ++cell)
      for (std::size_t c = 0; c < channels; ++c, ++i) {
        set += next[i] != filled[c];
        changes += (next[i] - filled[c]) != (old[i] - sums.filled_[c]);
      }
    if (set < changes) {
      std::fill(sums.reference_.begin(), sums.reference_.end(), std::uint8_t(0));
      std::fill(sums.filled_.begin(), sums.filled_.end(), std::uint8_t(0));
      std::copy(weights.bias.begin(), weights.bias.end(), sums.sums_.begin());
    }
    sums.added_.clear();
    sums.removed_.clear();
    const auto list = [&](int change, std::size_t row) {
      auto& rows_of = change > 0 ? sums.added_ : sums.removed_;
      for (int i = std::abs(change); i > 0; --i)
        rows_of.push_back(weights.rows.data() + row * weights.width);
    };
    for (std::size_t c = 0; c < channels; ++c) list(filled[c] - sums.filled_[c], bits + c);
    for (std::size_t cell = 0, i = 0; cell < network.cells_; ++cell)
      for (std::size_t c = 0; c < channels; ++c, ++i)
        if (const int change = (next[i] - filled[c]) - (old[i] - sums.filled_[c])) list(change, i);
    add_up(weights.width, sums.sums_.data(), sums.added_, sums.removed_, sums.sums_.data());
    sums.reference_.swap(sums.next_);
    sums.filled_.swap(sums.next_filled_);
    sums.version_ = network.version_;
  }

  // Which channels are set on most cells.
  static ATHENAN_INLINE void fill(const Network& network, const std::uint8_t* planes,
                                  std::uint8_t* filled, DenseSums& sums) {
    const std::size_t channels = network.channels_;
    sums.counts_.assign(channels, 0);
    std::uint32_t* counts = sums.counts_.data();
    for (std::size_t cell = 0; cell < network.cells_; ++cell)
      for (std::size_t c = 0; c < channels; ++c) counts[c] += planes[cell * channels + c];
    for (std::size_t c = 0; c < channels; ++c) filled[c] = 2 * counts[c] > network.cells_;
  }

  // Lists the rows by which a state differs from the reference.
  static ATHENAN_INLINE void compare(const Network& network, DenseSums& sums,
                                     const std::uint8_t* planes) {
    const std::size_t bits = network.bits();
    const std::uint8_t* reference = sums.reference_.data();
    const auto& weights = network.weights_;
    sums.added_.clear();
    sums.removed_.clear();
    const auto look = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i)
        if (planes[i] != reference[i])
          (planes[i] ? sums.added_ : sums.removed_)
              .push_back(weights.rows.data() + i * weights.width);
    };
    constexpr std::size_t word = 32;
    std::size_t i = 0;
    for (; i + word <= bits; i += word) {
      std::uint64_t a[word / 8], b[word / 8];
      std::memcpy(a, planes + i, word);
      std::memcpy(b, reference + i, word);
      if ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3])) look(i, i + word);
    }
    look(i, bits);
  }

  // out = from + added − removed, modulo 2^16: what is right in the end was right all along.
  static ATHENAN_INLINE void add_up(std::size_t width, const std::int16_t* from,
                                    const std::vector<const std::int16_t*>& added,
                                    const std::vector<const std::int16_t*>& removed,
                                    std::int16_t* out) {
    for (std::size_t first = 0; first < width; first += block) {
      std::uint16_t sum[block];
      std::memcpy(sum, from + first, sizeof sum);
      for (const std::int16_t* row : added)
        for (std::size_t k = 0; k < block; ++k) sum[k] += std::uint16_t(row[first + k]);
      for (const std::int16_t* row : removed)
        for (std::size_t k = 0; k < block; ++k) sum[k] -= std::uint16_t(row[first + k]);
      std::memcpy(out + first, sum, sizeof sum);
    }
  }

  static ATHENAN_INLINE void answer(const Network& network, DenseSums& sums, float* answers) {
    const auto& weights = network.weights_;
    std::int16_t* in = sums.units_.data();
    add_up(weights.width, sums.sums_.data(), sums.added_, sums.removed_, in);
    const std::int16_t zero = 0, limit = weights.limit;
    for (std::size_t i = 0; i < weights.width; ++i) in[i] = std::min(std::max(in[i], zero), limit);
    std::int16_t* out = in + sums.units_.size() / 2;
    for (std::size_t l = 0; l < weights.layers.size(); ++l) {
      const auto& layer = weights.layers[l];
      multiply(layer, in, sums.products_.data());
      const std::int32_t* products = sums.products_.data();
      if (l + 1 == weights.layers.size()) {
        for (std::size_t o = 0; o < layer.outputs; ++o)
          answers[o] = float(std::tanh(products[o] * layer.scale));
        return;
      }
      const std::int32_t half = layer.shift ? 1 << (layer.shift - 1) : 0;
      for (std::size_t o = 0; o < layer.outputs; ++o)
        out[o] = std::int16_t(
            std::clamp((products[o] + half) >> layer.shift, std::int32_t(0), layer.limit));
      std::fill(out + layer.outputs, out + padded(layer.outputs), std::int16_t(0));
      std::swap(in, out);
    }
  }

  static ATHENAN_INLINE void multiply(const Network::Layer& layer, const std::int16_t* in,
                                      std::int32_t* out) {
    const std::size_t inputs = layer.inputs;
    std::size_t o = 0;
    for (; o + 4 <= layer.outputs; o += 4) {
      const std::int16_t* a = layer.kernel.data() + o * inputs;
      const std::int16_t *b = a + inputs, *c = b + inputs, *d = c + inputs;
      std::int32_t sa = 0, sb = 0, sc = 0, sd = 0;
      for (std::size_t i = 0; i < inputs; ++i) {
        sa += std::int32_t(in[i]) * a[i];
        sb += std::int32_t(in[i]) * b[i];
        sc += std::int32_t(in[i]) * c[i];
        sd += std::int32_t(in[i]) * d[i];
      }
      out[o] = layer.bias[o] + sa;
      out[o + 1] = layer.bias[o + 1] + sb;
      out[o + 2] = layer.bias[o + 2] + sc;
      out[o + 3] = layer.bias[o + 3] + sd;
    }
    for (; o < layer.outputs; ++o) {
      const std::int16_t* a = layer.kernel.data() + o * inputs;
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < inputs; ++i) sum += std::int32_t(in[i]) * a[i];
      out[o] = layer.bias[o] + sum;
    }
  }
};

namespace {

void work(const DenseNetwork& network, DenseSums& sums, const std::uint8_t* planes,
          std::size_t rows, float* answers) {
  DenseWork::run(network, sums, planes, rows, answers);
}

#ifdef ATHENAN_X86_VECTORS
__attribute__((target("avx2"))) void work_avx2(const DenseNetwork& network, DenseSums& sums,
                                               const std::uint8_t* planes, std::size_t rows,
                                               float* answers) {
  DenseWork::run(network, sums, planes, rows, answers);
}
#endif

using Work = decltype(&work);

std::vector<std::pair<std::string, Work>> kinds() {
  std::vector<std::pair<std::string, Work>> found = {{"plain", work}};
#ifdef ATHENAN_X86_VECTORS
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) found.emplace_back("avx2", work_avx2);
#endif
  return found;
}

// ---- Weights --------------------------------------------------------------------------------

// weight · 2^exponent, rounded.
double on_grid(float weight, int exponent) {
  return std::nearbyint(double(weight) * double(std::uint64_t(1) << exponent));
}

[[noreturn]] void refuse_size() {
  throw std::invalid_argument(
      "The weights of a dense network are too large for its integers: its learning has diverged.");
}

void check(const DenseLayer& layer, std::size_t inputs) {
  const bool fits = layer.inputs == inputs && layer.outputs > 0 && layer.outputs <= most_units &&
                    layer.kernel.size() == layer.inputs * layer.outputs &&
                    layer.bias.size() == layer.outputs;
  if (!fits)
    throw std::invalid_argument("The weights of a dense network are of another network or game.");
  for (const auto weights : {layer.kernel, layer.bias})
    for (float weight : weights)
      if (!std::isfinite(weight))
        throw std::invalid_argument("The weights of a dense network are no numbers.");
}

// The largest sum of any inputs in [0, limit] that one of the outputs can have, on either side.
double largest_sum(const DenseLayer& layer, int exponent, double limit, int bias_exponent) {
  std::vector<double> up(layer.outputs), down(layer.outputs);
  const float* weight = layer.kernel.data();
  for (std::size_t i = 0; i < layer.inputs; ++i)
    for (std::size_t o = 0; o < layer.outputs; ++o) {
      const double on = on_grid(*weight++, exponent);
      up[o] += std::max(on, 0.0);
      down[o] -= std::min(on, 0.0);
    }
  double largest = 0;
  for (std::size_t o = 0; o < layer.outputs; ++o)
    largest = std::max(largest, std::max(up[o], down[o]) * limit +
                                    std::abs(on_grid(layer.bias[o], bias_exponent)));
  return largest;
}

double largest_weight(const DenseLayer& layer, int exponent) {
  double largest = 0;
  for (float weight : layer.kernel)
    largest = std::max(largest, std::abs(on_grid(weight, exponent)));
  return largest;
}

}  // namespace

DenseNetwork::Weights DenseNetwork::integers_of(std::span<const DenseLayer> layers,
                                                std::size_t cells, std::size_t channels) {
  Weights made;
  const DenseLayer& first = layers.front();
  const std::size_t bits = cells * channels;
  int grid = finest;  // of what comes into the next layer: in units of 2^-grid
  while (largest_sum(first, grid, 1, grid) > std::numeric_limits<std::int16_t>::max())
    if (--grid < 0) refuse_size();
  made.width = padded(first.outputs);
  made.limit = std::int16_t(clip * (1 << grid));
  made.bias.resize(made.width);
  made.rows.resize((bits + channels) * made.width);
  for (std::size_t o = 0; o < first.outputs; ++o) {
    made.bias[o] = std::int16_t(on_grid(first.bias[o], grid));
    for (std::size_t i = 0; i < bits; ++i) {
      const auto weight = std::int16_t(on_grid(first.kernel[i * first.outputs + o], grid));
      made.rows[i * made.width + o] = weight;
      auto& of_channel = made.rows[(bits + i % channels) * made.width + o];
      of_channel = std::int16_t(std::uint16_t(of_channel) + std::uint16_t(weight));
    }
  }
  for (const DenseLayer& layer : layers.subspan(1)) {
    const bool last = &layer == &layers.back();
    const double limit = clip * (1 << grid);
    int exponent = finest_kernel;
    const auto fits = [&] {
      return largest_weight(layer, exponent) <= std::numeric_limits<std::int16_t>::max() &&
             largest_sum(layer, exponent, limit, exponent + grid) < 0x1p30;  // and rounding
    };
    while (!fits())
      if (--exponent < 0) refuse_size();
    Layer& next = made.layers.emplace_back();
    next.inputs = padded(layer.inputs);
    next.outputs = layer.outputs;
    next.kernel.resize(next.inputs * next.outputs);
    next.bias.resize(next.outputs);
    for (std::size_t o = 0; o < next.outputs; ++o) {
      next.bias[o] = std::int32_t(on_grid(layer.bias[o], exponent + grid));
      for (std::size_t i = 0; i < layer.inputs; ++i)
        next.kernel[o * next.inputs + i] =
            std::int16_t(on_grid(layer.kernel[i * layer.outputs + o], exponent));
    }
    next.shift = last ? 0 : std::max(0, exponent + grid - finest);
    next.scale = std::ldexp(1.0, -(exponent + grid));
    grid += exponent - next.shift;
    next.limit = last ? 0 : std::int32_t(clip * (1 << grid));
  }
  return made;
}

DenseNetwork::DenseNetwork(std::size_t cells, std::size_t channels, std::size_t outputs,
                           const std::string& vectors)
    : cells_(cells), channels_(channels), outputs_(outputs) {
  const auto all = kinds();
  for (const auto& [name, function] : all)
    if (vectors.empty() || vectors == name) std::tie(vectors_, work_) = std::pair(name, function);
  if (!work_) throw std::invalid_argument("This processor has no vectors '" + vectors + "'.");
}

void DenseNetwork::assign(std::span<const DenseLayer> layers) {
  if (layers.size() < 2 || layers.back().outputs != outputs_)
    throw std::invalid_argument("The weights of a dense network are of another network or game.");
  std::size_t inputs = bits();
  for (const DenseLayer& layer : layers) inputs = (check(layer, inputs), layer.outputs);
  weights_ = integers_of(layers, cells_, channels_);
  static std::atomic<std::uint64_t> versions = 0;  // of all networks, so that no sums mix them up
  version_ = ++versions;
}

// ---- Answers --------------------------------------------------------------------------------

void DenseSums::answer(const DenseNetwork& network, const Game& game, const State& state,
                       std::span<const Action> actions, std::span<float> answers) {
  const std::size_t bits = network.bits(), outputs = network.outputs();
  if (bits != game.facts().plane_bytes())
    throw std::invalid_argument("The network is of another game than '" + game.facts().name + "'.");
  if (answers.size() != outputs * std::max<std::size_t>(1, actions.size()))
    throw std::invalid_argument("The network answers " + std::to_string(outputs) +
                                " values a state, and another number is asked for.");
  if (actions.empty()) {
    planes_.resize(std::max(planes_.size(), bits));
    game.planes(state, planes_.data());
    return answer(network, {planes_.data(), bits}, answers);
  }
  for (std::size_t first = 0; first < actions.size(); first += chunk) {
    const auto some = actions.subspan(first, std::min(chunk, actions.size() - first));
    planes_.resize(std::max(planes_.size(), some.size() * bits));
    game.child_planes(state, some, planes_.data());
    answer(network, {planes_.data(), some.size() * bits},
           answers.subspan(first * outputs, some.size() * outputs));
  }
}

void DenseSums::answer(const DenseNetwork& network, std::span<const std::uint8_t> planes,
                       std::span<float> answers) {
  if (network.version() == 0) throw std::invalid_argument("The network has no weights yet.");
  const std::size_t bits = network.bits(), rows = planes.size() / bits;
  if (version_ != network.version()) {
    std::size_t widest = network.weights_.width;
    for (const auto& layer : network.weights_.layers)
      widest = std::max(widest, padded(layer.outputs));
    units_.resize(2 * widest);
    products_.resize(widest);
  }
  for (std::size_t first = 0; first < rows; first += chunk)
    network.work_(network, *this, planes.data() + first * bits, std::min(chunk, rows - first),
                  answers.data() + first * network.outputs());
}

std::vector<std::string> dense_vectors() {
  std::vector<std::string> names;
  for (const auto& [name, function] : kinds()) names.push_back(name);
  return names;
}

}  // namespace athenan
