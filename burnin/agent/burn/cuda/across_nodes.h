#pragma once
// `cupel-burn collective --ranks N`: this node's part of collectives over several nodes. Every node
// does the same number of the same operations in the same order, whatever it measures: nobody asks
// another how to go on. Times as nccl-tests takes them; what this node says is of its own ranks.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "burnin/agent/burn/cuda/collective_bench.h"

namespace cupel::burn {

/// Errors: usage, no-library, nccl, memory, cuda.
Outcome<> run_across(const Options& options, Report& report, Stop& stop, Watchdog& watchdog,
                     const Node& node);

class AcrossBench {
 public:
  struct Given {
    const Options& options;
    Report& report;
    Stop& stop;
    Watchdog& watchdog;
    const Node& node;
    Communicators& all;
    std::vector<Shape> shapes{};
    std::uint64_t most_bytes = 0;
    std::uint64_t seed = 0;  // the same on every node
  };

  explicit AcrossBench(Given given);

  /// True: all shapes were run, and the last rank of all nodes has come to the end.
  bool run();
  /// Which operation each rank of this node has entered last: {"kind":"ranks", ...}.
  void tell_ranks();

 private:
  /// How far a rank is. The number of an operation is the same on every node.
  struct Place {
    std::mutex mutex{};
    const Rank* rank = nullptr;
    std::uint64_t number = 0;  // queued last
    std::string doing{};

    /// Which its GPU has begun last.
    std::uint64_t entered();
  };
  struct Member {
    int number;
    Rank& own;
    WatchdogScope& scope;
    std::uint64_t operations = 0;
  };

  Outcome<> work(int number);
  /// True: it is through.
  Outcome<bool> run_shapes(Member& member);
  Outcome<bool> measure(Member& member, const Shape& shape, std::uint64_t number);
  Outcome<bool> verify(Member& member, const Shape& shape, std::uint64_t number);
  /// Queues it, and waits; nullopt: it is over. The slowest of this node's ranks, in us.
  Outcome<std::optional<double>> together(Member& member, const Turn& turn, int times);
  void enter(const Member& member, const Turn& turn);
  void tell(const Shape& shape, double microseconds);

  std::string words_of(const Shape& shape) const;
  std::string part(int number) const {
    return given_.node.devices[static_cast<std::size_t>(number)].part();
  }
  Labels labels(const Shape& shape) const;

  Given given_;
  Figures figures_;
  agent::CancellableBarrier barrier_;
  std::vector<double> took_;
  std::vector<std::unique_ptr<Place>> places_{};
  std::atomic<int> ended_{0};  // ranks of this node that are through
};

}  // namespace cupel::burn
