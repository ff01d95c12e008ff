#pragma once
// What cupel-burn says: JSON lines, one writer for all threads. Each line goes out whole and at
// once, so that a spool that is cut off loses at most the last.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/burn/hang.h"
#include "burnin/agent/burn/statistics.h"
#include "burnin/agent/common/json_line.h"

namespace cupel::burn {

/// A GPU as the start line tells of it.
struct Gpu {
  int index = 0;  // by PCI address, as nvidia-smi counts
  std::string uuid{};
  std::string pci{};
  std::string name{};
  int sms = 0;
  std::uint64_t memory = 0;  // bytes
};

struct Start {
  std::string command{};
  std::string cuda{};
  std::string driver{};
  std::string nccl{};  // empty: not used
  std::vector<Gpu> gpus{};
  std::string parameters = "{}";  // JSON
};

/// "type": "bf16"
using Labels = std::map<std::string, std::string>;

struct Fault {
  std::string what{};  // "wrong-result", "wrong-memory", "gpu-error"
  std::string part{};
  std::optional<int> sm{};
  std::optional<std::uint64_t> round{};
  std::optional<std::uint64_t> address{};
  std::optional<int> celsius{};
  std::string detail{};
};

class Report {
 public:
  using Clock = std::chrono::steady_clock;
  /// Gets a line with its line feed.
  using Sink = std::function<void(std::string_view)>;
  static constexpr std::uint64_t kMostFaultLines = 1000;

  explicit Report(Sink sink, std::function<Clock::time_point()> now = Clock::now);

  void start(const Start& start);
  void progress(double of_seconds, std::uint64_t round, std::string_view doing);
  void result(std::string_view name, std::string_view part, double value, std::string_view unit,
              const Labels& labels = {});
  /// With its median, count and spread. Without samples there is no line: no evidence, no figure.
  void result(std::string_view name, std::string_view part, const Samples& samples,
              std::string_view unit, const Labels& labels = {});
  /// Printed at once, and counted; after kMostFaultLines only counted. `times`: how many it stands
  /// for.
  void fault(const Fault& fault, std::uint64_t times = 1);
  /// With "late": all that may hang, where it is not the one alone that is named.
  void hang(const Hang& hang);
  /// Hardware that reports its own defect is a fault; all else is an error.
  void failure(const Failure& failure);
  /// What was planted and not found is a fault too: a detector that does not detect.
  void self_test(std::string_view planted, std::uint64_t found, std::uint64_t of,
                 std::string_view detail = {});
  void end(bool complete, bool stopped);
  /// A line of a kind of its own: what a command has to say beside figures.
  void say(const agent::JsonLine& line);
  /// What another cupel-burn wrote, as it is, counted as if it were this one's. Its start and end
  /// are not to be relayed.
  void relay(std::string_view line, std::uint64_t faults, bool failed);
  /// What is relayed next reports a hang.
  void relayed_hang() { has_hang_ = true; }

  double seconds() const;
  std::uint64_t faults() const { return faults_; }
  bool failed() const { return failed_; }
  /// A hang was reported.
  bool has_hang() const { return has_hang_; }

 private:
  void write(std::string_view line);

  Sink sink_;
  std::function<Clock::time_point()> now_;
  Clock::time_point begun_;
  std::timed_mutex mutex_;
  std::atomic<std::uint64_t> faults_{0};
  std::atomic<std::uint64_t> fault_lines_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> has_hang_{false};
};

/// To standard output, unbuffered.
Report::Sink to_stdout();

/// 0 nothing wrong, 1 fault found, 2 could not find out, 4 stopped.
int exit_status(const Report& report, bool stopped);

}  // namespace cupel::burn
