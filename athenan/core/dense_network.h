// A network of dense layers in integers that is updated, not recomputed: the sums of its first
// layer are known for one state, and those of another differ only where their planes do.
//
//   planes (bits) → sums s = b + Σ of the rows of set bits → clip → layer → clip → … → tanh
//
// All weights are int16 on a grid of their layer: the finest power of two with which no sum can
// overflow, whatever the planes. So nothing is ever saturated but by the clip, which is the
// network's own (ReLU6), and the answers do not depend on the order of the sums: not on threads,
// on the width of the processor's vectors, or on which state the sums were updated from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/users.h"
#include "games/game.h"

namespace athenan {

// Of one layer, as it was learned.
struct DenseLayer {
  std::size_t inputs = 0, outputs = 0;
  std::span<const float> kernel;  // [inputs, outputs]
  std::span<const float> bias;    // [outputs]
};

class DenseNetwork;

// The first layer's sums of one state of reference, and room to work in. Of one search, or of
// whoever asks: it is never used twice at a time.
class DenseSums {
 public:
  // Answers of the children of a state by these actions, or without any of the state itself:
  // [rows, outputs], in [-1, 1].
  void answer(const DenseNetwork& network, const Game& game, const State& state,
              std::span<const Action> actions, std::span<float> answers);
  // The same of planes [rows, bits], which are 0 or 1.
  void answer(const DenseNetwork& network, std::span<const std::uint8_t> planes,
              std::span<float> answers);

 private:
  friend struct DenseWork;
  std::uint64_t version_ = 0;  // of the weights that the sums are of; 0: none
  std::vector<std::uint8_t> planes_;
  // The reference: planes r and, for each channel, whether most of it is set. A channel that is
  // counts as a row of its own (the sum of its rows), and what is not set in it is taken away: a
  // plane that says who moves changes by one row.
  std::vector<std::uint8_t> reference_, next_;
  std::vector<std::uint8_t> filled_, next_filled_;  // [channels]
  std::vector<std::uint32_t> counts_;
  std::vector<std::int16_t> sums_;
  std::vector<const std::int16_t*> added_, removed_;  // rows that change the sums
  std::vector<std::int16_t> units_;                   // inputs and outputs of a layer
  std::vector<std::int32_t> products_;
};

class DenseNetwork {
 public:
  // channels: of the planes, which are [cells, channels]; outputs: answers of a state. vectors:
  // one of dense_vectors(); empty takes the best.
  DenseNetwork(std::size_t cells, std::size_t channels, std::size_t outputs,
               const std::string& vectors = "");

  // Weights from now on; throws with a sentence if they do not fit, and changes nothing then.
  void assign(std::span<const DenseLayer> layers);

  std::size_t bits() const { return cells_ * channels_; }
  std::size_t outputs() const { return outputs_; }
  std::uint64_t version() const { return version_; }  // of the weights; 0: there are none yet
  const std::string& vectors() const { return vectors_; }
  Users& users() const { return users_; }

 private:
  friend struct DenseWork;
  friend class DenseSums;

  struct Layer {
    std::size_t inputs = 0, outputs = 0;  // inputs with padding
    std::vector<std::int16_t> kernel;     // [outputs, inputs]
    std::vector<std::int32_t> bias;
    int shift = 0;           // of the sums, to the grid of the next layer's inputs
    std::int32_t limit = 0;  // 6 on that grid
    double scale = 1;        // of the last layer's sums
  };
  struct Weights {
    std::size_t width = 0;           // of the first layer, with padding
    std::vector<std::int16_t> rows;  // [bits + channels, width]; the last: sums of a channel's rows
    std::vector<std::int16_t> bias;
    std::int16_t limit = 0;  // 6 on the first layer's grid
    std::vector<Layer> layers;
  };
  static Weights integers_of(std::span<const DenseLayer> layers, std::size_t cells,
                             std::size_t channels);

  std::size_t cells_, channels_, outputs_;
  std::string vectors_;
  void (*work_)(const DenseNetwork&, DenseSums&, const std::uint8_t*, std::size_t,
                float*) = nullptr;
  Weights weights_;
  std::uint64_t version_ = 0;
  mutable Users users_{"network"};
};

// The kinds of vectors that this processor has and this program was compiled for; the best last.
std::vector<std::string> dense_vectors();

}  // namespace athenan
