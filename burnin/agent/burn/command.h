#pragma once
// The commands of cupel-burn: a table, a file for each.
#include <span>
#include <string_view>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/burn/options.h"
#include "burnin/agent/burn/report.h"
#include "burnin/agent/burn/stop.h"
#include "burnin/agent/burn/watchdog.h"

namespace cupel::burn {

struct Command {
  std::string_view name;
  std::string_view help;
  std::span<const Choice> choices;
  /// Writes the start line and all that it finds; the program writes the end. A failure of one GPU
  /// it reports itself (run_workers); one that it returns is reported by the program.
  Outcome<> (*run)(const Options& options, Report& report, Stop& stop, Watchdog& watchdog);
  /// What no choice can say of itself, before a GPU is touched; nullptr: nothing. Errors: usage.
  Outcome<> (*check)(const Options& options) = nullptr;
};

/// Each in cuda/<name>_command.cpp.
Command devices_command();
Command gemm_command();
Command hbm_command();
Command train_command();
Command pcie_command();
Command p2p_command();
Command collective_command();
Command nccl_id_command();

}  // namespace cupel::burn
