#pragma once
// A process for each GPU: what ends a process, and what hangs in one, leaves the other GPUs
// burning. Each is another cupel-burn, with --alone, that sees no GPU but its own.
// Why: docs/build/decisions/process-per-gpu.md.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/options.h"
#include "burnin/agent/burn/report.h"
#include "burnin/agent/burn/stop.h"
#include "burnin/agent/burn/watchdog.h"

namespace cupel::burn {

/// --alone: of the one GPU's own process.
inline constexpr Choice kAloneChoice{
    .name = "--alone",
    .kind = Choice::Kind::kCount,
    .low = 0,
    .high = 1023,
    .help = "the number of the one GPU of a process that the command started itself"};

struct GpuProcess {
  std::string part{};                // "gpu3"
  std::string uuid{};                // "GPU-..."
  std::vector<std::string> words{};  // beside those of the command line
  std::string input{};               // its standard input
  /// Called by a thread of its own with each line. True: it was for the caller alone; what it is
  /// not is passed on to the report.
  std::function<bool(std::string_view line)> takes{};
  /// Called once, when no further line comes.
  std::function<void()> over{};
};

/// Starts `program` for each, with the options of this command line and the time that is left;
/// passes on their lines, and waits for all. A process that fails, hangs, prints nothing for
/// `hang_after` and a quarter of a minute, or ends without a last line is reported with its GPU;
/// the others go on. Of each, in their order: whether it came to its end. Cancelled by `stop`.
std::vector<bool> run_gpu_processes(const std::string& program, const Options& options,
                                    std::vector<GpuProcess> processes, Report& report, Stop& stop,
                                    Watchdog& watchdog);

}  // namespace cupel::burn
