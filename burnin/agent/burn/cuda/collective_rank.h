#pragma once
// One GPU of a collective: its buffers, its stream, its communicator. One thread's.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "burnin/agent/burn/cuda/communicators.h"
#include "burnin/agent/burn/cuda/link_memory.h"
#include "burnin/agent/burn/links/operation.h"

namespace cupel::burn {

/// One operation as it is run: its shape, from whom, where, with which data.
struct Turn {
  Shape shape{};
  bool in_place = false;
  int root = 0;
  std::uint64_t seed = 0;
};

class Rank {
 public:
  /// By number on this node, on the current device. Errors: memory, cuda.
  static Outcome<Rank> open(const Communicators& all, int number, std::uint64_t most_bytes);

  /// Data to send, and in the rest what no operation leaves there. Waits. Errors: cuda.
  Outcome<> prepare(const Turn& turn);
  /// Queues so many of them between two events. Errors: nccl, cuda.
  Outcome<> queue(const Turn& turn, int times);
  /// Until all that is queued has run. Errors: nccl (also one that no call reported), cuda; and
  /// `is_over` says that another rank has failed.
  Outcome<> wait(const std::function<bool()>& is_over);
  /// 1 where the GPU has begun what was queued last, 0 where it has not yet; nothing where that is
  /// not known. From any thread.
  std::optional<std::uint64_t> passed() const;
  /// Of what was queued last, each. Errors: cuda.
  Outcome<double> microseconds(int times) const;
  /// What is wrong in what was received. Errors: cuda.
  Outcome<Mismatches> check(const Turn& turn);
  /// Turns over one bit of what was received. Errors: cuda.
  Outcome<> plant(const Turn& turn, std::uint64_t word, int bit);

 private:
  Rank() = default;
  std::byte* sent(const Turn& turn) const;
  std::byte* received(const Turn& turn) const;

  const Communicators* all_ = nullptr;
  int number_ = 0;  // on this node
  int rank_ = 0;
  DeviceMemory one_;    // what is sent
  DeviceMemory other_;  // what is received
  Counter found_;
  StreamHandle stream_;
  EventHandle begin_;
  EventHandle end_;
  std::unique_ptr<std::atomic<bool>> is_begin_queued_ = std::make_unique<std::atomic<bool>>(false);
};

}  // namespace cupel::burn
