// The self-test of `gemm`: errors of a single bit in what a product came to, in its operands, and
// in what one SM came to; of a whole element, NaN and patterns in what a product came to. Each must
// be found, and where it is.
#include <algorithm>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/cuda/gemm_kernels.h"
#include "burnin/agent/burn/cuda/gemm_worker.h"
#include "burnin/agent/burn/self_test.h"

namespace cupel::burn {

Outcome<> GemmWorker::self_test(WatchdogScope& scope, int times) {
  for (const auto& recipe : recipes_) {
    TRY(begin(recipe, 1));
    for (const auto kind :
         {PlantKind::kBit, PlantKind::kElement, PlantKind::kNan, PlantKind::kPattern}) {
      TRY(plant_in_results(recipe, kind, times_of(kind, times), scope));
    }
    TRY(plant_in_operands(recipe, times, scope));
  }
  return plant_in_sms(times, scope);
}

/// C is changed between the product and its checksum, each time in one chunk.
Outcome<> GemmWorker::plant_in_results(const Recipe& recipe, PlantKind kind, int times,
                                       WatchdogScope& scope) {
  const auto& shape = recipe.shape;
  const auto bytes = shape.result_bytes();
  const auto chunks = shape.c_bytes() / kChunkBytes;
  const auto seed =
      seed_of(around_.options.seed(), static_cast<std::uint64_t>(kind), kStreamPlants);
  auto* found = static_cast<WrongChunks*>(found_.get());
  std::uint64_t count = 0;
  int turn = 0;
  for (; turn < times && !around_.stop.over(); ++turn) {
    scope.doing("planting in results", static_cast<std::uint64_t>(turn));
    const auto planting = planting_of(kind, random_at(seed, static_cast<std::uint64_t>(turn)),
                                      shape.c_bytes() / bytes, kChunkBytes / bytes, bytes);
    TRY(recipe.ways.front().run(*handle_, 1, a_, b_, 0, result_, stream_));
    plant_errors(result_, bytes, planting, stream_);
    check_chunks(result_, chunks, static_cast<const std::uint64_t*>(sums_.get()), 0, 1, found,
                 evidence_, stream_);
    TRY(launched("planting"));
    WrongChunks seen{};
    TRY(cuda(cudaMemcpyAsync(&seen, found_, sizeof seen, cudaMemcpyDefault, stream_), "reading"));
    TRY(cuda(cudaMemsetAsync(found_, 0, sizeof seen, stream_), "clearing"));
    TRY(sync("planting in results"));
    count += seen.count == 1 && seen.list[0].chunk == planting.first * bytes / kChunkBytes;
  }
  return tell_self_test(around_.report, around_.stop, planted_name("result", kind), count, turn,
                        times, around_.device.part() + " " + std::string{name_of(shape.type)});
}

/// A bit of A or B is flipped, found by their checksums, and flipped back.
Outcome<> GemmWorker::plant_in_operands(const Recipe& recipe, int times, WatchdogScope& scope) {
  const auto& shape = recipe.shape;
  std::uint64_t count = 0;
  int turn = 0;
  for (; turn < times && !around_.stop.over(); ++turn) {
    scope.doing("planting in operands", static_cast<std::uint64_t>(turn));
    const bool in_a = turn % 2 == 0;
    void* operand = in_a ? a_.get() : b_.get();
    const auto bit = random_at(seed_of(around_.options.seed(), 1, kStreamPlants),
                               static_cast<std::uint64_t>(turn)) %
                     (8 * (in_a ? shape.a_bytes() : shape.b_bytes()));
    flip_bit(operand, bit, stream_);
    TRY(launched("planting"));
    TRY(const auto found, operands_wrong(recipe));
    count += found == 1;
    flip_bit(operand, bit, stream_);
    TRY(launched("planting"));
  }
  return tell_self_test(around_.report, around_.stop, "operand-bit", count, turn, times,
                        around_.device.part() + " " + std::string{name_of(shape.type)});
}

/// A bit of what one SM's tensor core came to, which must be named.
Outcome<> GemmWorker::plant_in_sms(int times, WatchdogScope& scope) {
  std::uint64_t count = 0;
  const auto seed = seed_of(around_.options.seed(), 2, kStreamPlants);
  TRY(const auto sound, every_sm(seed, -1));
  if (sound.sms.empty())
    return Failure{.code = "cuda", .message = "no SM said anything: nothing to plant an error in"};
  int turn = 0;
  for (; turn < times && !around_.stop.over(); ++turn) {
    scope.doing("planting in SMs", static_cast<std::uint64_t>(turn));
    const auto at = static_cast<std::uint64_t>(turn);
    const int sm = sound.sms[random_at(seed, at) % sound.sms.size()];
    TRY(const auto judgement, every_sm(seed + at, sm));
    count += judgement.decided && !judgement.odd.empty() &&
             std::ranges::all_of(judgement.odd, [&](const OddSm& odd) {
               return odd.sm == sm && odd.unit == 0 && odd.warp == 0;
             });
  }
  return tell_self_test(around_.report, around_.stop, "sm-bit", count, turn, times,
                        around_.device.part());
}

}  // namespace cupel::burn
