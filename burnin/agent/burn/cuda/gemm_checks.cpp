// What `gemm` checks beside each product's checksum, and how it tells of what is wrong.
#include <algorithm>
#include <cstring>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/cuda/gemm_kernels.h"
#include "burnin/agent/burn/cuda/gemm_worker.h"
#include "burnin/agent/burn/cuda/sm_kernels.h"

namespace cupel::burn {
namespace {

constexpr int kSmIterations = 20'000;
constexpr int kFewIterations = 64;  // where an error is planted and only its finding matters

}  // namespace

/// What the checksums found, with its bytes, and clears it. How many chunks.
Outcome<std::uint64_t> GemmWorker::tell_wrong(const Recipe& recipe, std::uint64_t round) {
  TRY(sync("products"));
  WrongChunks found{};
  TRY(cuda(cudaMemcpy(&found, found_, sizeof found, cudaMemcpyDefault), "reading what was found"));
  const auto listed = std::min<unsigned>(found.count, kMostEvidence);
  std::vector<std::byte> is(kChunkBytes);
  std::vector<std::byte> should(kChunkBytes);
  for (unsigned at = 0; at < listed; ++at) {
    const auto chunk = found.list[at].chunk;
    TRY(cuda(cudaMemcpy(is.data(), static_cast<std::byte*>(evidence_.get()) + at * kChunkBytes,
                        kChunkBytes, cudaMemcpyDefault),
             "reading a wrong result"));
    TRY(cuda(cudaMemcpy(should.data(), static_cast<std::byte*>(first_.get()) + chunk * kChunkBytes,
                        kChunkBytes, cudaMemcpyDefault),
             "reading the first result"));
    const auto apart = difference(should, is, recipe.shape.result_bytes());
    wrong({.what = "wrong-result",
           .round = round,
           .detail = std::string{name_of(recipe.shape.type)} + " product " +
                     std::to_string(found.list[at].product) + ": " +
                     reported(recipe.shape, chunk, apart)});
  }
  if (found.count > listed)
    wrong({.what = "wrong-result", .round = round, .detail = "further chunks of C"},
          found.count - listed);
  TRY(cuda(cudaMemsetAsync(found_, 0, sizeof(WrongChunks), stream_), "clearing"));
  TRY(sync("clearing"));
  std::memset(seen_, 0, sizeof(WrongChunks));
  return std::uint64_t{found.count};
}

/// How many chunks of the operands are not as they were filled.
Outcome<std::uint64_t> GemmWorker::operands_wrong(const Recipe& recipe) {
  const auto& shape = recipe.shape;
  const auto* sums = static_cast<const std::uint64_t*>(sums_.get()) + shape.c_bytes() / kChunkBytes;
  const auto chunks_a = shape.a_bytes() / kChunkBytes;
  auto* found = static_cast<WrongChunks*>(found_.get());
  check_chunks(a_, chunks_a, sums, 0, 0, found, evidence_, stream_);
  for (const std::uint64_t copy : {0, 1})
    check_chunks(static_cast<const std::byte*>(b_.get()) + copy * shape.b_bytes(),
                 shape.b_bytes() / kChunkBytes, sums + chunks_a, 0, 0, found, evidence_, stream_);
  TRY(launched("checking the operands"));
  unsigned count = 0;
  TRY(cuda(cudaMemcpyAsync(&count, found_, sizeof count, cudaMemcpyDefault, stream_), "reading"));
  TRY(cuda(cudaMemsetAsync(found_, 0, sizeof(WrongChunks), stream_), "clearing"));
  TRY(sync("checking the operands"));
  return std::uint64_t{count};
}

Outcome<> GemmWorker::check_operands(const Recipe& recipe, std::uint64_t round) {
  TRY(const auto count, operands_wrong(recipe));
  if (count > 0)
    wrong({.what = "wrong-operand",
           .round = round,
           .detail = std::string{name_of(recipe.shape.type)} + ": " + std::to_string(count) +
                     " chunks of A and B changed in memory while they were used"},
          count);
  return done();
}

Outcome<SmJudgement> GemmWorker::every_sm(std::uint64_t seed, int planted) {
  const int blocks = kSmBlocksEach * around_.device.gpu.sms;
  std::vector<SmReport> results(static_cast<std::size_t>(blocks));
  const auto bytes = results.size() * sizeof(SmReport);
  TRY(cuda(cudaMemsetAsync(results_, 0, bytes, stream_), "clearing"));
  sm_product(blocks, shared_bytes_, seed, planted < 0 ? kSmIterations : kFewIterations, planted,
             static_cast<SmReport*>(results_.get()), stream_);
  TRY(launched("the same work on every SM"));
  TRY(cuda(cudaMemcpyAsync(results.data(), results_, bytes, cudaMemcpyDefault, stream_),
           "reading"));
  TRY(sync("the same work on every SM"));
  return judge_sms(results);
}

Outcome<> GemmWorker::check_sms(std::uint64_t round) {
  const auto seed = seed_of(around_.options.seed(), round, kStreamSms);
  TRY(const auto judgement, every_sm(seed, -1));
  sms_seen_.insert(judgement.sms.begin(), judgement.sms.end());
  for (const auto& odd : judgement.odd)
    wrong({.what = "wrong-result",
           .sm = odd.sm,
           .round = round,
           .detail = std::string{kSmUnitNames[odd.unit]} + " of partition " +
                     std::to_string(odd.warp % 4) + " differs from most SMs"});
  if (judgement.silent > 0)
    wrong({.what = "wrong-result",
           .round = round,
           .detail = std::to_string(judgement.silent) + " blocks ran and left nothing in memory"});
  if (!judgement.decided)
    wrong({.what = "wrong-result", .round = round, .detail = "the SMs have no majority"});
  return done();
}

}  // namespace cupel::burn
