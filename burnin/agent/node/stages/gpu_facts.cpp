// What the driver reports of each GPU at rest, of its NVLinks and of the fabric manager, and what
// the kernel's log has of GPUs and NVSwitches since the boot. Nothing is run on the GPUs.
#include "burnin/agent/node/stages/kernel_events.h"

namespace cupel::agent {
namespace {

/// A GPU that fell off its bus may hold nvidia-smi for ever. That is a finding: the job ends at its
/// own limit.
constexpr std::chrono::hours kJobsLimit{24};
/// nvidia-smi lists every process of every GPU.
constexpr std::size_t kMostPrinted = 16u << 20;
constexpr std::size_t kMostGpus = 256;

/// Its exit status.
Work<int> ask_tool(Node& node, std::string part, std::vector<std::string> argv) {
  const Command command{.argv = std::move(argv), .limit = kJobsLimit, .most = kMostPrinted};
  const auto ran = co_await node.programs.run(command);
  node.lines.evidence(command.argv.front(), part, command, ran);
  co_return ran.status;
}

/// nvidia-smi gives up altogether over one GPU that fell off its bus: then each one is asked by
/// itself.
Work<bool> ask_gpus(Node& node) {
  const std::vector<std::string> all{"nvidia-smi", "-q", "-x"};
  const int status = co_await ask_tool(node, "", all);
  if (status == 0) co_return true;
  const auto gpus = node.tree.names("/proc/driver/nvidia/gpus");
  for (std::size_t i = 0; i < std::min(gpus.size(), kMostGpus); ++i) {
    const std::vector<std::string> one{"nvidia-smi", "-q", "-x", "-i", gpus[i]};
    co_await ask_tool(node, gpus[i], one);
  }
  co_return true;
}

Work<bool> ask_nvlinks(Node& node) {
  const std::vector<std::string> states{"nvidia-smi", "nvlink", "-s"};
  co_await ask_tool(node, "states", states);
  const std::vector<std::string> errors{"nvidia-smi", "nvlink", "-e"};
  co_await ask_tool(node, "errors", errors);
  co_return true;
}

Work<bool> ask_fabric_manager(Node& node) {
  if (node.programs.has("systemctl")) {
    const std::vector<std::string> state{"systemctl", "is-active", "nvidia-fabricmanager"};
    co_await ask_tool(node, "", state);
  }
  if (node.programs.has("nv-fabricmanager")) {
    const std::vector<std::string> version{"nv-fabricmanager", "--version"};
    co_await ask_tool(node, "", version);
  }
  co_return true;
}

}  // namespace

Work<GaveUp> run_gpu_facts(Node& node, const JsonValue&) {
  if (!node.programs.has("nvidia-smi")) co_return "nvidia-smi is not installed on the node";
  co_await ask_gpus(node);
  co_await ask_nvlinks(node);
  co_await ask_fabric_manager(node);
  co_await report_kernel_events(node, "dmesg", kJobsLimit);
  co_return {};
}

}  // namespace cupel::agent
