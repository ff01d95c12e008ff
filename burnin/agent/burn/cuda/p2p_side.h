#pragma once
// GPUs that reach each other's memory: what flows from one to another, one flow or several at once.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/cuda/devices.h"
#include "burnin/agent/burn/cuda/link_memory.h"
#include "burnin/agent/burn/links/pairs.h"

namespace cupel::burn {

/// What moves the data: the sender's copy engine; its SMs, by stores into the peer's memory; the
/// receiver's SMs, by loads from it.
enum class Engine { kCopy, kStores, kLoads };

/// "ce", "sm", "sm-load"
std::string_view name_of(Engine engine);

class Peers {
 public:
  /// Opens access between all pairs that have it. Errors: cuda, memory.
  static Outcome<Peers> open(std::span<const Device> devices, std::size_t bytes);

  /// Both may reach the other's memory.
  bool has_access(Pair pair) const { return access_.at({pair.from, pair.to}) == 1; }
  const Matrix& access() const { return access_; }
  int count() const { return static_cast<int>(sides_.size()); }
  std::uint64_t words() const { return words_; }

  /// Fresh data in the senders, each its own. Errors: cuda.
  Outcome<> prepare(std::span<const Pair> flows, std::uint64_t seed);
  /// Milliseconds that each flow took for `copies` of its data, all begun at one moment. No GPU is
  /// the sender of two flows, nor the receiver of two. Errors: cuda.
  Outcome<std::vector<double>> move(std::span<const Pair> flows, Engine engine, int copies);
  /// What is wrong in each receiver. Errors: cuda.
  Outcome<std::vector<Mismatches>> check(std::span<const Pair> flows, std::uint64_t seed);
  /// Turns over a bit of what a flow brought. Errors: cuda.
  Outcome<> plant(Pair flow, std::uint64_t word, int bit);

 private:
  struct Side {
    std::string part{};  // "gpu3"
    int ordinal = 0;
    int sms = 0;
    DeviceMemory sent{};
    DeviceMemory received{};
    Counter found{};
    StreamHandle stream{};
    EventHandle begin{};
    EventHandle end{};
  };

  Peers() : access_{0} {}
  Outcome<> open_access();
  /// Whose stream moves this flow.
  Side& mover(Pair flow, Engine engine) {
    return sides_[static_cast<std::size_t>(engine == Engine::kLoads ? flow.to : flow.from)];
  }
  Outcome<> queue(Pair flow, Engine engine, int copies);
  Outcome<> queue_on(const Side& side, Pair flow, Engine engine, int copies);
  Outcome<> wait_for_all();

  std::vector<Side> sides_;
  Matrix access_;
  std::uint64_t words_ = 0;
  HostMemory gate_;
  StreamHandle gate_stream_;
  EventHandle gate_event_;
};

}  // namespace cupel::burn
