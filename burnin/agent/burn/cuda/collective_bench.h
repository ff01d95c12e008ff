#pragma once
// One way through NCCL, measured: a thread for each GPU, all in step.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "burnin/agent/burn/cuda/collective_rank.h"
#include "burnin/agent/burn/cuda/devices.h"
#include "burnin/agent/burn/links/figures.h"
#include "burnin/agent/burn/links/route.h"
#include "burnin/agent/burn/links/rows.h"
#include "burnin/agent/burn/stop.h"
#include "burnin/agent/burn/watchdog.h"
#include "burnin/agent/common/cancellable_barrier.h"

namespace cupel::burn {

/// Of --ops.
std::vector<Operation> operations_of(const Options& options);
/// The least free memory of all GPUs, in bytes. Errors: cuda.
Outcome<std::uint64_t> free_memory(const Node& node);
/// "8 MiB"
std::string size_text(std::uint64_t bytes);

class CollectiveBench {
 public:
  struct Given {
    const Options& options;
    Report& report;
    Stop& stop;
    Watchdog& watchdog;
    const Node& node;
    Communicators& all;
    Route route{};
    std::string log{};  // where NCCL writes what it does
    std::vector<Row> rows{};
    std::uint64_t most_bytes = 0;
  };

  explicit CollectiveBench(Given given);

  /// All rows, again while there is time; or the self-test; or what NCCL chooses, reported and no
  /// more. True: no rank failed.
  bool run();

 private:
  /// One thread's view.
  struct Member {
    int rank;
    Rank& own;
    WatchdogScope& scope;
  };

  Outcome<> work(int rank);
  Outcome<> work_as(Member& member);
  Outcome<> measure_all(Member& member);
  /// Each first row once: channels are opened when they are first used, and the log tells which.
  Outcome<bool> open_channels(Member& member);
  Outcome<bool> measure(Member& member, const Row& row, std::uint64_t number);
  Outcome<bool> time(Member& member, const Turn& turn, Samples& samples);
  Outcome<bool> verify(Member& member, const Turn& turn);
  Outcome<> self_test(Member& member);
  /// Runs it so many times, all ranks at once; nullopt: it is over. The slowest rank's
  /// microseconds.
  Outcome<std::optional<double>> together(Member& member, const Turn& turn, int times);
  Outcome<bool> tell_taken();
  void tell(const Turn& turn, const Samples& samples);
  bool goes_on(bool must) const;

  Turn turn_of(const Row& row, std::uint64_t number) const;
  std::string words_of(const Turn& turn) const;
  std::string part(int rank) const { return given_.node.devices[rank].part(); }
  int ranks() const { return given_.all.count(); }

  Given given_;
  Figures figures_;
  agent::CancellableBarrier barrier_;
  std::vector<double> took_;     // by rank, of the operation that all have just run
  std::vector<char> was_right_;  // by rank, of the planted bit that all have just looked for
  bool is_route_taken_ = false;  // by NCCL's own log
  bool is_survey_ = false;
};

}  // namespace cupel::burn
