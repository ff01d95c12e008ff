#include "burnin/agent/burn/cuda/train_worker.h"

#include <array>
#include <cmath>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/cuda/gemm_kernels.h"
#include "burnin/agent/burn/cuda/train_kernels.h"

namespace cupel::burn {
namespace {

constexpr std::uint64_t kBytes = 2;  // of bf16
constexpr std::uint64_t kStreamTokens = 101;
constexpr std::uint64_t kStreamTargets = 102;
constexpr std::uint64_t kStreamWeights = 103;

/// What a step leaves on the GPU.
struct DeviceSums {
  double loss;
  std::uint64_t gradients;
  std::uint64_t summed;
};

void* past(const Memory& memory, std::uint64_t elements) {
  return static_cast<std::byte*>(memory.get()) + elements * kBytes;
}

float* floats(const Memory& memory) { return static_cast<float*>(memory.get()); }

Outcome<LtProduct> prepared(const LtHandle& handle, const Product& product) {
  TRY(auto ways, LtProduct::ways(handle, product, 1));
  return std::move(ways.front());
}

std::int64_t signed_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// out = W^T x: (out x tokens).
Product forward(std::uint64_t in, std::uint64_t out, std::uint64_t tokens) {
  return {.transposed_a = true,
          .m = out,
          .n = tokens,
          .k = in,
          .lda = signed_of(in),
          .ldb = signed_of(in),
          .ldc = signed_of(out)};
}

/// dx = W dy.
Product back_to_input(std::uint64_t in, std::uint64_t out, std::uint64_t tokens) {
  return {.transposed_a = false,
          .m = in,
          .n = tokens,
          .k = out,
          .lda = signed_of(in),
          .ldb = signed_of(out),
          .ldc = signed_of(in)};
}

/// dW = x dy^T.
Product back_to_weights(std::uint64_t in, std::uint64_t out, std::uint64_t tokens) {
  return {.transposed_a = false,
          .transposed_b = true,
          .m = in,
          .n = out,
          .k = tokens,
          .lda = signed_of(in),
          .ldb = signed_of(out),
          .ldc = signed_of(in)};
}

}  // namespace

Outcome<TrainProducts> TrainProducts::prepare(const LtHandle& handle, const Transformer& shape) {
  const auto w = shape.width;
  const auto t = shape.tokens();
  TrainProducts made;
  TRY(made.qkv, prepared(handle, forward(w, 3 * w, t)));
  TRY(made.out, prepared(handle, forward(w, w, t)));
  TRY(made.up, prepared(handle, forward(w, 4 * w, t)));
  TRY(made.down, prepared(handle, forward(4 * w, w, t)));
  TRY(made.qkv_x, prepared(handle, back_to_input(w, 3 * w, t)));
  TRY(made.out_x, prepared(handle, back_to_input(w, w, t)));
  TRY(made.up_x, prepared(handle, back_to_input(w, 4 * w, t)));
  TRY(made.down_x, prepared(handle, back_to_input(4 * w, w, t)));
  TRY(made.qkv_w, prepared(handle, back_to_weights(w, 3 * w, t)));
  TRY(made.out_w, prepared(handle, back_to_weights(w, w, t)));
  TRY(made.up_w, prepared(handle, back_to_weights(w, 4 * w, t)));
  TRY(made.down_w, prepared(handle, back_to_weights(4 * w, w, t)));

  // All heads of one sequence at once; a head's values lie 128 apart, its scores a square.
  const auto s = shape.sequence;
  const auto head = signed_of(Transformer::kHead);
  const auto square = signed_of(s * s);
  const auto wide = signed_of(3 * w);
  const int heads = static_cast<int>(shape.heads());
  Product product{.transposed_a = true,
                  .m = s,
                  .n = s,
                  .k = Transformer::kHead,
                  .lda = wide,
                  .ldb = wide,
                  .ldc = signed_of(s),
                  .batch = heads,
                  .stride_a = head,
                  .stride_b = head,
                  .stride_c = square};
  TRY(made.scores, prepared(handle, product));  // K^T Q
  product.ldb = signed_of(w);
  TRY(made.heads_p, prepared(handle, product));  // V^T dO

  product = {.transposed_a = false,
             .m = Transformer::kHead,
             .n = s,
             .k = s,
             .lda = wide,
             .ldb = signed_of(s),
             .ldc = signed_of(w),
             .batch = heads,
             .stride_a = head,
             .stride_b = square,
             .stride_c = head};
  TRY(made.heads, prepared(handle, product));  // V P
  product.ldc = wide;
  TRY(made.scores_q, prepared(handle, product));  // K dS
  product.transposed_b = true;
  TRY(made.scores_k, prepared(handle, product));  // Q dS^T
  product.lda = signed_of(w);
  TRY(made.heads_v, prepared(handle, product));  // dO P^T
  return made;
}

Outcome<TrainWorker> TrainWorker::make(const Transformer& shape,
                                       std::shared_ptr<const CublasLt> library, int ranks) {
  TrainWorker worker;
  worker.shape_ = shape;
  worker.ranks_ = ranks;
  TRY(worker.handle_, LtHandle::make(std::move(library)));
  TRY(worker.products_, TrainProducts::prepare(*worker.handle_, shape));
  TRY(worker.stream_, make_stream());
  TRY(worker.sums_stream_, make_stream());
  TRY(worker.begun_, make_event());
  TRY(worker.computed_, make_event());
  TRY(worker.allocate());
  return worker;
}

Outcome<> TrainWorker::allocate() {
  const auto line = shape_.width * shape_.tokens() * kBytes;
  const auto scores = shape_.batch * shape_.heads() * shape_.sequence * shape_.sequence * kBytes;
  const auto row = shape_.tokens() * sizeof(float);
  const auto parameters = shape_.layer_parameters();
  struct Allocation {
    Memory* memory;
    std::uint64_t bytes;
  };
  std::vector<Allocation> requested{{&x_, line},         {&y_, line},
                                    {&inverse_, row},    {&target_, line},
                                    {&dx_, line},        {&dy_, line},
                                    {&dwide_, 4 * line}, {&dp_, scores},
                                    {&of_token_, row},   {&sums_of_step_, sizeof(DeviceSums)}};
  layers_.resize(shape_.layers);
  for (auto& layer : layers_) {
    const std::array own{Allocation{&layer.y1, line},
                         Allocation{&layer.inverse1, row},
                         Allocation{&layer.qkv, 3 * line},
                         Allocation{&layer.p, scores},
                         Allocation{&layer.o, line},
                         Allocation{&layer.y2, line},
                         Allocation{&layer.inverse2, row},
                         Allocation{&layer.h, 4 * line},
                         Allocation{&layer.g, 4 * line},
                         Allocation{&layer.weights, parameters * kBytes},
                         Allocation{&layer.gradients, parameters * kBytes},
                         Allocation{&layer.master, parameters * sizeof(float)},
                         Allocation{&layer.moments, parameters * 2 * sizeof(float)}};
    requested.insert(requested.end(), own.begin(), own.end());
    TRY(layer.ready, make_event(false));
    TRY(layer.reached, make_event(false));
    TRY(layer.summed, make_event(false));
  }
  for (const auto& one : requested) {
    TRY(*one.memory, make_memory(one.bytes, "the model"));
  }
  return done();
}

Outcome<> TrainWorker::run(const LtProduct& product, const void* a, const void* b, void* c,
                           double beta, double alpha) {
  return product.run(*handle_, alpha, a, b, beta, c, stream_);
}

Outcome<> TrainWorker::begin(std::uint64_t seed) {
  for (std::size_t at = 0; at < layers_.size(); ++at) {
    auto& layer = layers_[at];
    first_weights(floats(layer.master), layer.weights, floats(layer.moments),
                  shape_.layer_parameters(), seed_of(seed, at, kStreamWeights), 0.02f, stream_);
  }
  return launched("first weights");
}

// A layer's weights lie one after the other: qkv, out, up, down.
Outcome<> TrainWorker::forwards(Layer& layer) {
  const auto w = shape_.width;
  const auto t = shape_.tokens();
  norm(x_, layer.y1, floats(layer.inverse1), w, t, stream_);
  TRY(run(products_->qkv, layer.weights, layer.y1, layer.qkv));
  TRY(attention(layer));
  TRY(run(products_->out, past(layer.weights, 3 * w * w), layer.o, x_, 1));
  norm(x_, layer.y2, floats(layer.inverse2), w, t, stream_);
  TRY(run(products_->up, past(layer.weights, 4 * w * w), layer.y2, layer.h));
  gelu(layer.h, layer.g, 4 * w * t, stream_);
  TRY(run(products_->down, past(layer.weights, 8 * w * w), layer.g, x_, 1));
  return launched("a layer forwards");
}

Outcome<> TrainWorker::attention(Layer& layer) {
  const auto w = shape_.width;
  const auto s = shape_.sequence;
  const double scale = 1 / std::sqrt(static_cast<double>(Transformer::kHead));
  const auto squares = shape_.heads() * s * s;
  for (std::uint64_t at = 0; at < shape_.batch; ++at) {
    const auto tokens = at * s * 3 * w;
    TRY(run(products_->scores, past(layer.qkv, tokens + w), past(layer.qkv, tokens),
            past(layer.p, at * squares), 0, scale));
  }
  softmax(layer.p, s, shape_.batch * shape_.heads() * s, stream_);
  for (std::uint64_t at = 0; at < shape_.batch; ++at) {
    TRY(run(products_->heads, past(layer.qkv, at * s * 3 * w + 2 * w), past(layer.p, at * squares),
            past(layer.o, at * s * w)));
  }
  return done();
}

Outcome<> TrainWorker::backwards(Layer& layer) {
  const auto w = shape_.width;
  const auto t = shape_.tokens();
  const auto& to = layer.gradients;
  TRY(run(products_->down_x, past(layer.weights, 8 * w * w), dx_, dwide_));
  TRY(run(products_->down_w, layer.g, dx_, past(to, 8 * w * w)));
  gelu_back(layer.h, dwide_, 4 * w * t, stream_);
  TRY(run(products_->up_x, past(layer.weights, 4 * w * w), dwide_, dy_));
  TRY(run(products_->up_w, layer.y2, dwide_, past(to, 4 * w * w)));
  norm_back(dy_, layer.y2, floats(layer.inverse2), dx_, false, w, t, stream_);
  TRY(run(products_->out_x, past(layer.weights, 3 * w * w), dx_, dy_));
  TRY(run(products_->out_w, layer.o, dx_, past(to, 3 * w * w)));
  TRY(attention_back(layer));
  TRY(run(products_->qkv_x, layer.weights, dwide_, dy_));
  TRY(run(products_->qkv_w, layer.y1, dwide_, to));
  norm_back(dy_, layer.y1, floats(layer.inverse1), dx_, false, w, t, stream_);
  return launched("a layer backwards");
}

/// From the gradient of the heads' output in dy_ to that of Q, K and V in dwide_.
Outcome<> TrainWorker::attention_back(Layer& layer) {
  const auto w = shape_.width;
  const auto s = shape_.sequence;
  const double scale = 1 / std::sqrt(static_cast<double>(Transformer::kHead));
  const auto squares = shape_.heads() * s * s;
  for (std::uint64_t at = 0; at < shape_.batch; ++at) {
    const auto wide = at * s * 3 * w;
    const auto* of = past(dy_, at * s * w);
    TRY(run(products_->heads_v, of, past(layer.p, at * squares), past(dwide_, wide + 2 * w)));
    TRY(run(products_->heads_p, past(layer.qkv, wide + 2 * w), of, past(dp_, at * squares)));
  }
  softmax_back(layer.p, dp_, s, shape_.batch * shape_.heads() * s, stream_);
  for (std::uint64_t at = 0; at < shape_.batch; ++at) {
    const auto wide = at * s * 3 * w;
    const auto* of = past(dp_, at * squares);
    TRY(run(products_->scores_q, past(layer.qkv, wide + w), of, past(dwide_, wide), 0, scale));
    TRY(run(products_->scores_k, past(layer.qkv, wide), of, past(dwide_, wide + w), 0, scale));
  }
  return done();
}

/// While the layer below is on its way backwards.
Outcome<> TrainWorker::add_up(Layer& layer, const SumUp& sum_up) {
  auto* sums = static_cast<DeviceSums*>(sums_of_step_.get());
  const auto words = shape_.layer_parameters() * kBytes / 8;
  TRY(cuda(cudaEventRecord(layer.ready, stream_), "gradients"));
  TRY(cuda(cudaStreamWaitEvent(sums_stream_, layer.ready), "gradients"));
  add_checksum(layer.gradients, words, &sums->gradients, sums_stream_);
  TRY(cuda(cudaEventRecord(layer.reached, sums_stream_), "gradients"));
  ++*queued_;
  TRY(sum_up(layer.gradients, shape_.layer_parameters(), sums_stream_));
  add_checksum(layer.gradients, words, &sums->summed, sums_stream_);
  TRY(launched("checksum of gradients"));
  return cuda(cudaEventRecord(layer.summed, sums_stream_), "gradients");
}

Outcome<StepResult> TrainWorker::step(std::uint64_t seed, int number, const SumUp& sum_up,
                                      const Wait& wait) {
  const auto w = shape_.width;
  const auto t = shape_.tokens();
  auto* device = static_cast<DeviceSums*>(sums_of_step_.get());
  const auto turn = static_cast<std::uint64_t>(number);
  *queued_ = 0;
  TRY(cuda(cudaEventRecord(begun_, stream_), "beginning a step"));
  TRY(cuda(cudaMemsetAsync(sums_of_step_, 0, sizeof(DeviceSums), stream_), "clearing"));
  normal_bf16(x_, w * t, seed_of(seed, turn, kStreamTokens), 1, stream_);
  normal_bf16(target_, w * t, seed_of(seed, turn, kStreamTargets), 1, stream_);
  for (auto& layer : layers_) {
    TRY(forwards(layer));
  }
  norm(x_, y_, floats(inverse_), w, t, stream_);
  loss_and_gradient(y_, target_, dy_, floats(of_token_), &device->loss, w, t, stream_);
  norm_back(dy_, y_, floats(inverse_), dx_, true, w, t, stream_);
  TRY(launched("the loss"));
  for (std::size_t at = layers_.size(); at-- > 0;) {
    TRY(backwards(layers_[at]));
    TRY(add_up(layers_[at], sum_up));
  }
  TRY(cuda(cudaEventRecord(computed_, stream_), "gradients"));
  for (auto& layer : layers_) {
    TRY(cuda(cudaStreamWaitEvent(stream_, layer.summed), "gradients"));
    adamw(floats(layer.master), layer.weights, floats(layer.moments), layer.gradients,
          1.0f / static_cast<float>(ranks_), shape_.layer_parameters(), number, stream_);
  }
  TRY(launched("the optimiser"));
  TRY(wait(stream_));  // before the copy, which would wait itself
  DeviceSums sums{};
  TRY(cuda(cudaMemcpyAsync(&sums, sums_of_step_, sizeof sums, cudaMemcpyDefault, stream_),
           "reading"));
  TRY(cuda(cudaStreamSynchronize(stream_), "a training step"));
  float milliseconds = 0;
  TRY(cuda(cudaEventElapsedTime(&milliseconds, begun_, computed_), "timing a step"));
  return StepResult{.loss = sums.loss,
                    .gradients = sums.gradients,
                    .summed = sums.summed,
                    .own_seconds = milliseconds / 1000.0};
}

Outcome<> TrainWorker::meet(const SumUp& sum_up, const Wait& wait) {
  constexpr std::size_t kFew = 8;  // elements
  TRY(sum_up(layers_.front().gradients, kFew, sums_stream_));
  return wait(sums_stream_);
}

/// The last layer's gradients come first.
std::optional<std::uint64_t> TrainWorker::passed() const {
  const auto queued = std::min<std::size_t>(*queued_, layers_.size());
  for (std::size_t done = 0; done < queued; ++done) {
    const auto status = cudaEventQuery(layers_[layers_.size() - 1 - done].reached);
    if (status == cudaErrorNotReady) return done;
    if (status != cudaSuccess) return std::nullopt;
  }
  return queued;
}

Outcome<std::uint64_t> TrainWorker::gradients_now() {
  auto* device = static_cast<DeviceSums*>(sums_of_step_.get());
  TRY(cuda(cudaMemsetAsync(sums_of_step_, 0, sizeof(DeviceSums), stream_), "clearing"));
  for (auto& layer : layers_)
    add_checksum(layer.gradients, shape_.layer_parameters() * kBytes / 8, &device->gradients,
                 stream_);
  TRY(launched("checksum of gradients"));
  DeviceSums sums{};
  TRY(cuda(cudaMemcpyAsync(&sums, sums_of_step_, sizeof sums, cudaMemcpyDefault, stream_),
           "reading"));
  TRY(cuda(cudaStreamSynchronize(stream_), "checksum of gradients"));
  return sums.gradients;
}

Outcome<> TrainWorker::plant(PlantKind kind, std::uint64_t random) {
  constexpr std::uint64_t kBlock = 1024;  // elements; a layer has a multiple of it
  const auto elements = shape_.layer_parameters() / kBlock * kBlock;
  const auto planting = planting_of(kind, random, elements, kBlock, kBytes);
  plant_errors(layers_[scrambled(~random) % layers_.size()].gradients, kBytes, planting, stream_);
  return launched("planting");
}

}  // namespace cupel::burn
