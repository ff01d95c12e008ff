#include "burnin/agent/burn/cuda/gemm_worker.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/cuda/gemm_kernels.h"
#include "burnin/agent/burn/cuda/sm_kernels.h"
#include "burnin/agent/burn/gemm_plan.h"
#include "burnin/agent/burn/links/numa.h"

namespace cupel::burn {
namespace {

constexpr double kUnverified = 0.125;    // of a round again without being verified, where asked for
constexpr std::uint64_t kPoisoned = 16;  // each so manyth product, C is overwritten first
constexpr std::uint64_t kWaveSide = 4'096;
constexpr int kWays = 8;
constexpr double kLongProduct = 0.1;                    // seconds
constexpr std::size_t kNotFree = std::size_t{1} << 30;  // left to the driver and the library

double now_of_epoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::uint64_t type_stream(const ProductShape& shape, std::uint64_t stream) {
  return 16 * static_cast<std::uint64_t>(shape.type) + stream;
}

}  // namespace

Product product_of(const ProductShape& shape) {
  Product product{.m = shape.m, .n = shape.n, .k = shape.k};
  product.lda = product.ldb = static_cast<std::int64_t>(shape.k);
  product.ldc = static_cast<std::int64_t>(shape.m);
  switch (shape.type) {
    case Type::kBf16:
      product.operand = product.result = CUDA_R_16BF;
      break;
    case Type::kFp16:
      product.operand = product.result = CUDA_R_16F;
      break;
    case Type::kTf32:
      product.operand = product.result = CUDA_R_32F;
      product.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
      break;
    case Type::kFp8:
      product.operand = CUDA_R_8F_E4M3;
      product.result = CUDA_R_16BF;
      break;
    case Type::kFp64:
      product.operand = product.result = CUDA_R_64F;
      product.compute = CUBLAS_COMPUTE_64F;
      break;
  }
  return product;
}

Outcome<GemmWorker> GemmWorker::make(const Around& around, std::shared_ptr<const CublasLt> library,
                                     const std::vector<WrittenRecipe>& recipes) {
  GemmWorker worker{around};
  stay_near(around.device.gpu.pci);
  TRY(cuda(cudaSetDevice(around.device.ordinal), "taking the GPU"));
  TRY(worker.handle_, LtHandle::make(std::move(library)));
  TRY(worker.stream_, make_stream());
  TRY(recipes.empty() ? worker.ask_for_ways() : worker.read_ways(recipes));
  TRY(worker.allocate());
  return worker;
}

Outcome<> GemmWorker::ask_for_ways() {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  TRY(cuda(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for the free memory"));
  free_bytes -= std::min(free_bytes, kNotFree);
  // A wave's edge is no sharper than a product is long.
  const auto side =
      std::min(std::bit_floor(static_cast<std::uint64_t>(around_.options.number("--side"))),
               load_pattern().form == LoadPattern::Form::kSteady ? kLargestSide : kWaveSide);
  for (const auto type :
       types_for(around_.options.words("--types"), !around_.options.given("--types"),
                 around_.device.major, around_.device.minor)) {
    const auto shape = shape_for(type, free_bytes, side);
    if (!shape)
      return Failure{.code = "memory",
                     .message = "only " + std::to_string(free_bytes >> 20) +
                                " MiB are free: too few for a product of " +
                                std::string{name_of(type)} + "; see nvidia-smi"};
    TRY(auto ways, LtProduct::ways(*handle_, product_of(*shape), kWays));
    recipes_.push_back({.shape = *shape, .ways = std::move(ways)});
  }
  if (recipes_.empty())
    return Failure{.code = "refused", .message = "this GPU multiplies none of the types asked for"};
  return done();
}

Outcome<> GemmWorker::read_ways(const std::vector<WrittenRecipe>& recipes) {
  for (const auto& written : recipes) {
    Recipe recipe{.shape = written.shape, .ways = {}, .rotates = written.rotates};
    for (const auto& way : written.ways) {
      TRY(auto product, LtProduct::read(*handle_, product_of(written.shape), way));
      recipe.ways.push_back(std::move(product));
    }
    recipes_.push_back(std::move(recipe));
  }
  return done();
}

std::vector<WrittenRecipe> GemmWorker::recipes() const {
  std::vector<WrittenRecipe> all;
  for (const auto& recipe : recipes_) {
    WrittenRecipe written{.shape = recipe.shape, .rotates = recipe.rotates};
    for (const auto& way : recipe.ways) written.ways.push_back(way.written());
    all.push_back(std::move(written));
  }
  return all;
}

Outcome<> GemmWorker::allocate() {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  for (const auto& recipe : recipes_) {
    a = std::max(a, recipe.shape.a_bytes());
    b = std::max(b, recipe.shape.b_bytes());
    c = std::max(c, recipe.shape.c_bytes());
  }
  TRY(a_, make_memory(a, "A"));
  TRY(b_, make_memory(2 * b, "B"));
  TRY(first_, make_memory(c, "the first result"));
  TRY(result_, make_memory(c, "the result"));
  TRY(evidence_, make_memory(kMostEvidence * kChunkBytes, "wrong results"));
  TRY(sums_, make_memory((a + b + c) / kChunkBytes * sizeof(std::uint64_t), "checksums"));
  TRY(found_, make_memory(sizeof(WrongChunks), "what is found"));
  TRY(samples_, make_memory(sizeof(WrongSamples), "what is found of samples"));
  const auto blocks = kSmBlocksEach * static_cast<std::size_t>(around_.device.gpu.sms);
  TRY(results_, make_memory(blocks * sizeof(SmReport), "what the SMs say"));
  TRY(seen_, make_pinned(sizeof(WrongChunks)));
  std::memset(seen_, 0, sizeof(WrongChunks));
  TRY(cuda(cudaMemsetAsync(found_, 0, sizeof(WrongChunks), stream_), "clearing"));
  TRY(cuda(static_cast<cudaError_t>(allow_sm_product(&shared_bytes_)), "asking for shared memory"));
  for (std::size_t at = 0; at < kMostQueued; ++at) {
    Slot slot;
    TRY(slot.begun, make_event());
    TRY(slot.ended, make_event());
    slots_.push_back(std::move(slot));
  }
  figures_.resize(recipes_.size());
  return done();
}

Outcome<> GemmWorker::sync(std::string_view what) {
  return cuda(cudaStreamSynchronize(stream_), what);
}

void GemmWorker::wrong(Fault fault, std::uint64_t times) {
  wrong_ += times;
  fault.part = around_.device.part();
  fault.celsius = celsius(around_.node, around_.device);
  around_.report.fault(fault, times);
}

Outcome<std::vector<WayTrials>> GemmWorker::try_ways(WatchdogScope& scope) {
  std::vector<WayTrials> all(recipes_.size());
  for (std::size_t of = 0; of < recipes_.size(); ++of) {
    const auto& recipe = recipes_[of];
    const auto name = std::string{name_of(recipe.shape.type)};
    if (around_.stop.over()) break;
    scope.doing("first product of " + name);
    TRY(begin(recipe, 0));
    for (std::size_t at = 0; at < recipe.ways.size() && !around_.stop.over(); ++at) {
      scope.doing("trying ways to multiply " + name, at);
      const auto& way = recipe.ways[at];
      WayTrial trial;
      TRY(trial.seconds, time_of(way, recipe, 1));
      const bool is_long = trial.seconds > kLongProduct;
      if (!is_long) {
        TRY(trial.seconds, time_of(way, recipe, 2));  // to warm up
        TRY(trial.seconds, time_of(way, recipe, 5));
      }
      TRY(trial.repeats, repeats(way, recipe, is_long ? 1 : 3, false));
      TRY(trial.rotates, repeats(way, recipe, is_long ? 1 : 3, true));
      all[of].push_back(trial);
      if (is_long) break;
    }
  }
  return all;
}

/// Whether so many further products are the same bits as a first one.
Outcome<bool> GemmWorker::repeats(const LtProduct& way, const Recipe& recipe, int times,
                                  bool rotated) {
  const auto chunks = recipe.shape.c_bytes() / kChunkBytes;
  auto* sums = static_cast<std::uint64_t*>(sums_.get());
  auto* found = static_cast<WrongChunks*>(found_.get());
  TRY(way.run(*handle_, 1, a_, b_, 0, result_, stream_));
  sum_chunks(result_, chunks, sums, stream_);
  for (int time = 1; time <= times; ++time) {
    const auto rotation = rotated ? rotation_of(static_cast<std::uint64_t>(time), chunks) : 0;
    TRY(way.run(*handle_, 1, a_, rotated_b(recipe, rotation), 0, result_, stream_));
    check_chunks(result_, chunks, sums, rotation, 0, found, evidence_, stream_);
  }
  TRY(launched("comparing products"));
  unsigned count = 0;
  TRY(cuda(cudaMemcpyAsync(&count, found_, sizeof count, cudaMemcpyDefault, stream_), "reading"));
  TRY(cuda(cudaMemsetAsync(found_, 0, sizeof(WrongChunks), stream_), "clearing"));
  TRY(sync("comparing products"));
  return count == 0;
}

const void* GemmWorker::rotated_b(const Recipe& recipe, std::uint64_t rotation) const {
  return static_cast<const std::byte*>(b_.get()) + rotated_by(recipe.shape, rotation);
}

/// Seconds of one product, of so many.
Outcome<double> GemmWorker::time_of(const LtProduct& way, const Recipe& recipe, int times) {
  TRY(cuda(cudaEventRecord(slots_[0].begun, stream_), "timing"));
  for (int time = 0; time < times; ++time) {
    TRY(way.run(*handle_, 1, a_, b_, 0, result_, stream_));
  }
  TRY(cuda(cudaEventRecord(slots_[0].ended, stream_), "timing"));
  TRY(sync("multiplying " + std::string{name_of(recipe.shape.type)}));
  float milliseconds = 0;
  TRY(cuda(cudaEventElapsedTime(&milliseconds, slots_[0].begun, slots_[0].ended), "timing"));
  return static_cast<double>(milliseconds) / 1e3 / times;
}

/// Fresh operands, their checksums, the first result and its checksums; plain sums of a sample.
Outcome<> GemmWorker::begin(const Recipe& recipe, std::uint64_t round) {
  const auto& shape = recipe.shape;
  const auto seed = [&](std::uint64_t stream) {
    return seed_of(around_.options.seed(), round, type_stream(shape, stream));
  };
  fill_normal(shape.type, a_, shape.m * shape.k, seed(kStreamA), stream_);
  fill_normal(shape.type, b_, shape.n * shape.k, seed(kStreamB), stream_);
  TRY(cuda(cudaMemcpyAsync(static_cast<std::byte*>(b_.get()) + shape.b_bytes(), b_, shape.b_bytes(),
                           cudaMemcpyDefault, stream_),
           "copying B"));
  auto* sums = static_cast<std::uint64_t*>(sums_.get());
  const auto chunks_a = shape.a_bytes() / kChunkBytes;
  const auto chunks_b = shape.b_bytes() / kChunkBytes;
  const auto chunks_c = shape.c_bytes() / kChunkBytes;
  sum_chunks(a_, chunks_a, sums + chunks_c, stream_);
  sum_chunks(b_, chunks_b, sums + chunks_c + chunks_a, stream_);
  TRY(launched("filling the operands"));
  // What a product leaves out must not pass for its work: the two differ, and one is NaN.
  TRY(cuda(cudaMemsetAsync(first_, 0xff, shape.c_bytes(), stream_), "poisoning C"));
  TRY(cuda(cudaMemsetAsync(result_, 0x55, shape.c_bytes(), stream_), "poisoning C"));
  TRY(recipe.ways.front().run(*handle_, 1, a_, b_, 0, first_, stream_));
  sum_chunks(first_, chunks_c, sums, stream_);
  TRY(cuda(cudaMemsetAsync(samples_, 0, sizeof(WrongSamples), stream_), "clearing"));
  const int samples = samples_of(shape);
  check_samples(shape, a_, b_, first_, seed(kStreamSamples), samples,
                static_cast<WrongSamples*>(samples_.get()), stream_);
  TRY(launched("plain sums"));
  WrongSamples seen{};
  std::vector<std::uint64_t> fingerprints(chunks_c);
  TRY(cuda(cudaMemcpyAsync(&seen, samples_, sizeof seen, cudaMemcpyDefault, stream_), "reading"));
  TRY(cuda(cudaMemcpyAsync(fingerprints.data(), sums, chunks_c * sizeof(std::uint64_t),
                           cudaMemcpyDefault, stream_),
           "reading checksums"));
  TRY(sync("the first product"));
  if (seen.checked != static_cast<unsigned>(samples))
    return Failure{.code = "cuda", .message = "not all samples were compared with plain sums"};
  for (unsigned at = 0; at < std::min<unsigned>(seen.count, kMostEvidence); ++at)
    wrong({.what = "wrong-result",
           .round = round,
           .detail = std::string{name_of(shape.type)} + " C[" + std::to_string(seen.list[at].i) +
                     ", " + std::to_string(seen.list[at].j) +
                     "]: " + std::to_string(seen.list[at].got) + ", by a plain sum " +
                     std::to_string(seen.list[at].plain)});
  if (seen.count > kMostEvidence)
    wrong({.what = "wrong-result", .round = round, .detail = "further samples"},
          seen.count - kMostEvidence);
  if (round == 0) return done();  // while ways are tried
  std::uint64_t fingerprint = 0;
  for (const auto sum : fingerprints) fingerprint = joined(fingerprint, sum);
  agent::JsonLine line{"fingerprint"};
  line.add("key", std::string{name_of(shape.type)} + " round " + std::to_string(round));
  around_.report.say(line.add("number", round).add("came_to", std::to_string(fingerprint)));
  return done();
}

/// As of the last product that ended; the GPU may write it meanwhile.
unsigned GemmWorker::wrong_chunks_seen() const {
  auto& count = static_cast<WrongChunks*>(seen_.get())->count;
  return std::atomic_ref{count}.load(std::memory_order_acquire);
}

/// Waits for the product that was queued here before.
Outcome<> GemmWorker::settle(Slot& slot, const Recipe& recipe, std::uint64_t round) {
  if (!slot.used) return done();
  slot.used = false;
  TRY(cuda(cudaEventSynchronize(slot.ended),
           "multiplying " + std::string{name_of(recipe.shape.type)}));
  float milliseconds = 0;
  TRY(cuda(cudaEventElapsedTime(&milliseconds, slot.begun, slot.ended), "timing"));
  auto& figures = figures_of(recipe);
  figures.seconds_each = static_cast<double>(milliseconds) / 1e3;
  if (milliseconds > 0)
    (slot.verified ? figures.verified : figures.unverified)
        .add(recipe.shape.operations() / (static_cast<double>(milliseconds) * 1e9));
  if (wrong_chunks_seen() == 0) return done();
  TRY(tell_wrong(recipe, round));
  return done();
}

LoadPattern GemmWorker::load_pattern() const {
  return {LoadPattern::form_of(around_.options.word("--pattern")),
          around_.options.number("--hertz")};
}

bool GemmWorker::may_begin(const LoadPattern& pattern, double seconds_each, WatchdogScope& scope) {
  if (pattern.form == LoadPattern::Form::kSteady) return true;
  const double second = now_of_epoch();
  const bool burns = pattern.burns(second);
  if (!burns) rested_ = true;
  // What is queued runs to its end: nothing is begun that would end after the load phase. Where one
  // product alone takes longer than that, each phase has one.
  const auto queued = std::ranges::count(slots_, true, &Slot::used) + 1;
  const double ends = second + static_cast<double>(queued) * seconds_each;
  if (burns && (rested_ || pattern.burns(ends))) {
    rested_ = false;
    return true;
  }
  scope.idle();
  const auto wait = std::chrono::duration<double>(pattern.changes(second) - second);
  around_.stop.wait_until(Stop::Clock::now() +
                          std::chrono::duration_cast<Stop::Clock::duration>(wait));
  return false;
}

Outcome<> GemmWorker::products(const Recipe& recipe, std::uint64_t round, Until until,
                               bool verified, WatchdogScope& scope) {
  const auto wave = load_pattern();
  const bool is_steady = wave.form == LoadPattern::Form::kSteady;
  const auto name = std::string{name_of(recipe.shape.type)};
  std::uint64_t begun = 0;
  std::uint64_t settled = 0;
  while (!until.reached(begun) && !around_.stop.over()) {
    const double each = figures_of(recipe).seconds_each;
    if (!may_begin(wave, each, scope)) continue;
    for (const auto most = is_steady ? products_queued(each) : 2; begun - settled >= most;
         ++settled) {
      TRY(settle(slots_[settled % kMostQueued], recipe, round));
    }
    scope.doing("gemm " + name, round);
    ++begun;
    TRY(queue(slots_[(begun - 1) % kMostQueued], recipe, begun, verified));
  }
  for (; settled < begun; ++settled) {
    TRY(settle(slots_[settled % kMostQueued], recipe, round));
  }
  TRY(sync("products"));
  if (wrong_chunks_seen() > 0) {
    TRY(tell_wrong(recipe, round));
  }
  return done();
}

Outcome<> GemmWorker::queue(Slot& slot, const Recipe& recipe, std::uint64_t product,
                            bool verified) {
  auto* found = static_cast<WrongChunks*>(found_.get());
  if (product % kPoisoned == 0) {  // else what is left out would still be right from before
    TRY(cuda(cudaMemsetAsync(result_, 0x55, recipe.shape.c_bytes(), stream_), "poisoning C"));
  }
  slot.verified = verified;
  slot.used = true;
  TRY(cuda(cudaEventRecord(slot.begun, stream_), "timing"));
  const auto chunks = recipe.shape.c_bytes() / kChunkBytes;
  const auto rotation = recipe.rotates ? rotation_of(product, chunks) : 0;
  TRY(recipe.ways.front().run(*handle_, 1, a_, rotated_b(recipe, rotation), 0, result_, stream_));
  if (verified) {
    check_chunks(result_, chunks, static_cast<const std::uint64_t*>(sums_.get()), rotation, product,
                 found, evidence_, stream_);
    TRY(launched("checking C"));
  }
  TRY(cuda(cudaEventRecord(slot.ended, stream_), "timing"));
  if (!verified) return done();
  return cuda(cudaMemcpyAsync(seen_, found_, sizeof(unsigned), cudaMemcpyDefault, stream_),
              "reading");
}

GemmWorker::Until GemmWorker::until(double share) const {
  const auto passes = static_cast<double>(around_.options.passes());
  if (passes > 0) return {.count = static_cast<std::uint64_t>(std::max(1.0, passes * share))};
  const auto time = time_of_type(around_.options.seconds(), recipes_.size(),
                                 load_pattern().form != LoadPattern::Form::kSteady);
  return {.moment =
              Stop::Clock::now() + std::chrono::duration_cast<Stop::Clock::duration>(time * share)};
}

Outcome<> GemmWorker::burn(WatchdogScope& scope) {
  PowerSampler power{[this] { return watts(around_.node, around_.device); }};
  auto outcome = rounds(power, scope);
  tell_figures(power.samples());
  TRY(std::move(outcome));
  const auto sms = static_cast<std::size_t>(around_.device.gpu.sms);
  if (rounds_ > 0 && sms_seen_.size() < sms)
    return Failure{.code = "cuda",
                   .message = "the same work was done by " + std::to_string(sms_seen_.size()) +
                              " of " + std::to_string(sms) +
                              " SMs: nothing is known of the others"};
  return done();
}

Outcome<> GemmWorker::rounds(const PowerSampler& power, WatchdogScope& scope) {
  const auto& options = around_.options;
  TellTimes times;
  const auto most = static_cast<std::uint64_t>(options.rounds());
  for (std::uint64_t round = 1; !around_.stop.over() && (most == 0 || round <= most); ++round) {
    scope.doing("the same work on every SM", round);
    TRY(check_sms(round));
    for (const auto& recipe : recipes_) {
      if (around_.stop.over()) break;
      scope.doing("first product of " + std::string{name_of(recipe.shape.type)}, round);
      TRY(begin(recipe, round));
      TRY(products(recipe, round, until(1), true, scope));
      if (options.flag("--unverified-baseline")) {
        TRY(products(recipe, round, until(kUnverified), false, scope));
      }
      TRY(check_operands(recipe, round));
    }
    if (around_.stop.over()) break;
    rounds_ = round;
    if (times.due(around_.report.seconds())) tell_figures(power.samples());
  }
  return done();
}

void GemmWorker::tell_figures(const Samples& watts) {
  auto& report = around_.report;
  const auto part = around_.device.part();
  for (std::size_t at = 0; at < recipes_.size(); ++at) {
    const Labels labels{{"type", std::string{name_of(recipes_[at].shape.type)}}};
    report.result("gemm.rate", part, figures_[at].verified, "TFLOP/s", labels);
    if (figures_[at].verified.count() > 0)
      report.result("gemm.spread", part, figures_[at].verified.spread(), "%", labels);
    report.result("gemm.rate.unverified", part, figures_[at].unverified, "TFLOP/s", labels);
  }
  report.say(agent::JsonLine{"wrong"}.add("count", wrong_));
  report.result("gemm.rounds", part, static_cast<double>(rounds_), "count");
  report.result("gemm.sms", part, static_cast<double>(sms_seen_.size()), "count");
  report.result("gemm.power", part, watts, "W");
  const auto limit = watts_limit(around_.node, around_.device);
  if (limit) report.result("gemm.power.limit", part, *limit, "W");
}

}  // namespace cupel::burn
