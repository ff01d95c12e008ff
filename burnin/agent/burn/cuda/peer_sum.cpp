#include "burnin/agent/burn/cuda/peer_sum.h"

#include <algorithm>

#include "burnin/agent/burn/cuda/train_kernels.h"

namespace cupel::burn {
namespace {

constexpr std::size_t kElement = 2;  // bytes of bf16

Failure others_left() {
  return {.code = "cuda",
          .message = "another GPU of this run failed while gradients were added up"};
}

}  // namespace

Outcome<> PeerSum::join(int rank) {
  auto& mine = ranks_[rank];
  TRY(mine.pieces,
      make_memory((most_ + 8 * ranks_.size() * ranks_.size()) * kElement, "the others' gradients"));
  TRY(mine.ready, make_event(false));
  TRY(mine.summed, make_event(false));
  for (const int other : ordinals_) {
    int can = 0;
    if (other == ordinals_[rank]) continue;
    TRY(cuda(cudaDeviceCanAccessPeer(&can, ordinals_[rank], other), "asking for peer access"));
    if (can == 0) continue;  // copies then go through the host
    const auto status = cudaDeviceEnablePeerAccess(other, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
      static_cast<void>(cudaGetLastError());
      continue;
    }
    TRY(cuda(status, "enabling peer access"));
  }
  return done();
}

Outcome<> PeerSum::sum(int rank, void* buffer, std::size_t count, cudaStream_t stream) {
  const auto ranks = ranks_.size();
  if (ranks == 1) return done();
  // Shares are whole vectors of eight; the last ones may be shorter.
  const auto piece = (count / 8 + ranks - 1) / ranks * 8;
  const auto size_of = [&](std::size_t which) {
    return std::min(piece, count - std::min(count, which * piece));
  };
  auto& mine = ranks_[rank];
  mine.buffer = buffer;
  TRY(cuda(cudaEventRecord(mine.ready, stream), "adding up"));
  if (!barrier_.arrive_and_wait()) return others_left();
  // Once and now: whoever is quicker writes down its next buffer while the slower still ask.
  std::vector<std::byte*> buffers;
  for (const auto& each : ranks_) buffers.push_back(static_cast<std::byte*>(each.buffer));
  auto share = [&](std::size_t whose, std::size_t which) {
    return buffers[whose] + which * piece * kElement;
  };
  auto* pieces = static_cast<std::byte*>(mine.pieces.get());
  const auto me = static_cast<std::size_t>(rank);
  const auto mine_bytes = size_of(me) * kElement;
  for (std::size_t other = 0; other < ranks; ++other) {
    TRY(cuda(cudaStreamWaitEvent(stream, ranks_[other].ready), "waiting for another GPU"));
    TRY(cuda(cudaMemcpyPeerAsync(pieces + other * mine_bytes, ordinals_[me], share(other, me),
                                 ordinals_[other], mine_bytes, stream),
             "fetching gradients"));
  }
  add_pieces(pieces, static_cast<int>(ranks), share(me, me), size_of(me), stream);
  TRY(launched("adding up"));
  TRY(cuda(cudaEventRecord(mine.summed, stream), "adding up"));
  if (!barrier_.arrive_and_wait()) return others_left();
  for (std::size_t other = 0; other < ranks; ++other) {
    if (other == me) continue;
    TRY(cuda(cudaStreamWaitEvent(stream, ranks_[other].summed), "waiting for another GPU"));
    TRY(cuda(cudaMemcpyPeerAsync(share(me, other), ordinals_[me], share(other, other),
                                 ordinals_[other], size_of(other) * kElement, stream),
             "fetching sums"));
  }
  return done();
}

}  // namespace cupel::burn
