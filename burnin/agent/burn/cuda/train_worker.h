#pragma once
// One GPU's part of `train`: the model's memory and products, forwards and backwards, and the
// optimiser. All GPUs are given the same tokens, so that all must come to the same bits.
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "burnin/agent/burn/cuda/cublaslt.h"
#include "burnin/agent/burn/planting.h"
#include "burnin/agent/burn/transformer.h"

namespace cupel::burn {

/// The products of a layer, prepared once; alike on all GPUs of a model.
struct TrainProducts {
  LtProduct qkv, out, up, down;                    // forwards
  LtProduct qkv_x, out_x, up_x, down_x;            // gradients of what went in
  LtProduct qkv_w, out_w, up_w, down_w;            // gradients of the weights
  LtProduct scores, heads;                         // attention
  LtProduct heads_v, heads_p, scores_q, scores_k;  // and back

  static Outcome<TrainProducts> prepare(const LtHandle& handle, const Transformer& shape);
};

class TrainWorker {
 public:
  /// Adds up a layer's gradients over all GPUs, queued on the stream.
  using SumUp = std::function<Outcome<>(void* gradients, std::size_t count, cudaStream_t stream)>;
  /// Until all that was queued on the stream is done.
  using Wait = std::function<Outcome<>(cudaStream_t stream)>;

  /// On the current device.
  static Outcome<TrainWorker> make(const Transformer& shape,
                                   std::shared_ptr<const CublasLt> library, int ranks);

  /// The same weights on every GPU, and the same again for the same seed.
  Outcome<> begin(std::uint64_t seed);
  /// A whole step, waited for. `number` counts from 1.
  Outcome<StepResult> step(std::uint64_t seed, int number, const SumUp& sum_up, const Wait& wait);
  /// Until all GPUs are here.
  Outcome<> meet(const SumUp& sum_up, const Wait& wait);
  /// Of the layers of the present step, how many this GPU would add up: for each of them all GPUs
  /// wait for each other. Nothing where it is not known. From any thread.
  std::optional<std::uint64_t> passed() const;
  /// The checksum of the gradients as they lie there now.
  Outcome<std::uint64_t> gradients_now();
  /// Plants an error in one layer's, chosen by a random number; the same again takes it back. Of a
  /// kind that flips bits.
  Outcome<> plant(PlantKind kind, std::uint64_t random);

 private:
  struct Layer {
    Memory y1, inverse1, qkv, p, o, y2, inverse2, h, g;
    Memory weights, gradients, master, moments;
    Event ready;    // its gradients
    Event reached;  // the point where all GPUs wait for each other
    Event summed;   // over all GPUs
  };

  Outcome<> allocate();
  Outcome<> forwards(Layer& layer);
  Outcome<> backwards(Layer& layer);
  Outcome<> attention(Layer& layer);
  Outcome<> attention_back(Layer& layer);
  Outcome<> add_up(Layer& layer, const SumUp& sum_up);
  Outcome<> run(const LtProduct& product, const void* a, const void* b, void* c, double beta = 0,
                double alpha = 1);

  Transformer shape_;
  std::optional<LtHandle> handle_;
  std::optional<TrainProducts> products_;
  int ranks_ = 1;
  Stream stream_;
  Stream sums_stream_;
  Event begun_, computed_;  // a step; its gradients, without their sums
  std::vector<Layer> layers_;
  std::unique_ptr<std::atomic<std::size_t>> queued_ =  // layers whose `reached` is, in this step
      std::make_unique<std::atomic<std::size_t>>(0);
  Memory x_, y_, inverse_, target_, dx_, dy_, dwide_, dp_, of_token_, sums_of_step_;
};

}  // namespace cupel::burn
