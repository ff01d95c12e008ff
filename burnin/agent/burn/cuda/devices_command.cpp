// `cupel-burn devices`: the start line alone. What CUDA sees of this node, and nothing more.
#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/cuda/devices.h"

namespace cupel::burn {
namespace {

Outcome<> run(const Options& options, Report& report, Stop&, Watchdog& watchdog) {
  TRY(const auto node, list_devices(options, watchdog));
  report.start(start_of(options, node));
  return done();
}

}  // namespace

Command devices_command() {
  return {.name = "devices", .help = "lists the GPUs", .choices = {}, .run = run};
}

}  // namespace cupel::burn
