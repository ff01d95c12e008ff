#include "burnin/agent/burn/cuda/collective_rank.h"

#include <thread>

#include "burnin/agent/burn/cuda/link_kernels.h"
#include "burnin/agent/burn/links/collective_call.h"

namespace cupel::burn {
namespace {

constexpr int kPoison = 0xff;  // NaN, as float and as bfloat16

}  // namespace

Outcome<Rank> Rank::open(const Communicators& all, int number, std::uint64_t most_bytes) {
  Rank opened;
  opened.all_ = &all;
  opened.number_ = number;
  opened.rank_ = all.rank_of(number);
  TRY(opened.one_, device_memory(most_bytes));
  TRY(opened.other_, device_memory(most_bytes));
  TRY(opened.found_, Counter::create());
  TRY(opened.stream_, new_stream());
  TRY(opened.begin_, new_event());
  TRY(opened.end_, new_event());
  return opened;
}

/// In place all lies in one buffer; all-gather's own part of it is what is sent.
std::byte* Rank::sent(const Turn& turn) const {
  auto* const one = static_cast<std::byte*>(one_.get());
  if (!turn.in_place || turn.shape.operation != Operation::kAllGather) return one;
  return one + in_place_offset(turn.shape, rank_) * bytes_of(turn.shape.scalar);
}

/// Reduce-scatter's own part is where the sum goes.
std::byte* Rank::received(const Turn& turn) const {
  if (!turn.in_place) return static_cast<std::byte*>(other_.get());
  auto* const one = static_cast<std::byte*>(one_.get());
  if (turn.shape.operation != Operation::kReduceScatter) return one;
  return one + in_place_offset(turn.shape, rank_) * bytes_of(turn.shape.scalar);
}

Outcome<> Rank::prepare(const Turn& turn) {
  auto* const poisoned = turn.in_place ? one_.get() : other_.get();
  TRY(cuda(cudaMemsetAsync(poisoned, kPoison, turn.shape.bytes, stream_.get()),
           "poisoning memory"));
  // In place a broadcast overwrites what others have; that must not look like what it brings.
  const bool sends =
      !turn.in_place || turn.shape.operation != Operation::kBroadcast || turn.root == rank_;
  if (sends) {
    fill_numbers(sent(turn), turn.shape, turn.seed, rank_, stream_.get());
    TRY(launched("filling memory"));
  }
  return cuda(cudaStreamSynchronize(stream_.get()), "filling memory");
}

Outcome<> Rank::queue(const Turn& turn, int times) {
  *is_begin_queued_ = false;
  TRY(cuda(cudaEventRecord(begin_.get(), stream_.get()), "beginning an operation"));
  *is_begin_queued_ = true;
  for (int time = 0; time < times; ++time) {
    TRY(enqueue(all_->library(), turn.shape, rank_, turn.root, sent(turn), received(turn),
                all_->of(number_), stream_.get()));
    TRY(all_->settled(number_));
  }
  return cuda(cudaEventRecord(end_.get(), stream_.get()), "ending an operation");
}

Outcome<> Rank::wait(const std::function<bool()>& is_over) {
  for (;;) {
    const auto status = cudaEventQuery(end_.get());
    if (status == cudaSuccess) return done();
    if (status != cudaErrorNotReady) return cuda(status, "waiting for an operation of NCCL");
    cudaGetLastError();  // "not ready" would be the next call's error
    TRY(all_->sound(number_));
    if (is_over())
      return Failure{.code = "nccl", .message = "given up: another GPU could not go on"};
    std::this_thread::yield();
  }
}

std::optional<std::uint64_t> Rank::passed() const {
  if (!*is_begin_queued_) return std::nullopt;
  const auto status = cudaEventQuery(begin_.get());
  if (status == cudaSuccess) return 1;
  return status == cudaErrorNotReady ? std::optional<std::uint64_t>{0} : std::nullopt;
}

Outcome<double> Rank::microseconds(int times) const {
  TRY(const double milliseconds, milliseconds_between(begin_, end_));
  return milliseconds * 1000 / times;
}

Outcome<Mismatches> Rank::check(const Turn& turn) {
  TRY(found_.clear(stream_.get()));
  check_numbers(received(turn), turn.shape, turn.seed, rank_, turn.root, found_.on_device(),
                stream_.get());
  TRY(launched("checking memory"));
  return found_.read(stream_.get());
}

Outcome<> Rank::plant(const Turn& turn, std::uint64_t word, int bit) {
  flip_bit(received(turn), word, bit, stream_.get());
  TRY(launched("turning over a bit"));
  return cuda(cudaStreamSynchronize(stream_.get()), "turning over a bit");
}

}  // namespace cupel::burn
