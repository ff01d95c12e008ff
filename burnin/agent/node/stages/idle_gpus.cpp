#include "burnin/agent/node/stages/idle_gpus.h"

#include <algorithm>

#include "base/text.h"
#include "burnin/gpu/idle_gpus.h"

namespace cupel::agent {
namespace {

using std::chrono::seconds;

/// A GPU that fell off its bus may hold nvidia-smi for ever. Where it only asks whether to wait on,
/// it is given up; where it lists the GPUs, the job ends at its own limit, and that it hung is what
/// was found out of the node.
constexpr seconds kAskLimit{60}, kJobsLimit{86'400};
constexpr seconds kPatience{60}, kBetweenLooks{4};
constexpr int kMostLooks = 16;
constexpr std::string_view kNoHeader = "csv,noheader", kBare = "csv,noheader,nounits";

Command query(std::string_view what, std::string_view format, seconds limit) {
  return {.argv = {"nvidia-smi", std::string{what}, "--format=" + std::string{format}},
          .limit = limit};
}

/// "00000000:1B:00.0, 42, python3": anything else is a message, such as "[N/A]".
bool names_a_holder(std::string_view line) {
  const auto is_hexadecimal = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  const auto parts = split(line, ':');
  return parts.size() >= 3 && std::ranges::all_of(parts[0], is_hexadecimal) &&
         std::ranges::all_of(parts[1], is_hexadecimal);
}

/// "00000000:1B:00.0, 97": per cent of the time. A GPU that does not say ("[N/A]") counts as idle:
/// whether it answers at all is another stage's business.
bool shows_work(std::string_view line) {
  const auto cells = split(line, ',');
  const auto percent = cells.size() > 1 ? number<int>(trimmed(cells[1])) : std::nullopt;
  return percent && *percent > burnin::kBusyPercent;
}

Work<GpuUse> look(Node& node) {
  GpuUse use;
  use.gpus = co_await node.programs.run(ask_gpu_use());
  use.programs = co_await node.programs.run(ask_gpu_programs());
  const auto holding = lines(use.programs.out);
  use.holders = static_cast<int>(std::ranges::count_if(holding, names_a_holder));
  use.busy = use.holders > 0 || std::ranges::any_of(lines(use.gpus.out), shows_work);
  co_return use;
}

Work<bool> is_mig_on(Node& node) {
  const auto ran =
      co_await node.programs.run(query("--query-gpu=mig.mode.current", kNoHeader, kJobsLimit));
  const auto modes = lines(ran.out);
  co_return std::ranges::any_of(modes, [](auto mode) { return mode.starts_with("Enabled"); });
}

}  // namespace

std::pair<std::string, std::string> cuda_order() { return {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}; }

Command ask_gpu_use() { return query("--query-gpu=pci.bus_id,utilization.gpu", kBare, kAskLimit); }

Command ask_gpu_programs() {
  return query("--query-compute-apps=gpu_bus_id,pid,process_name", kBare, kAskLimit);
}

Work<GpuUse> wait_until_unused(Node& node) {
  const auto until = node.clock.now() + kPatience;
  auto use = co_await look(node);
  for (int i = 1; use.busy && i < kMostLooks && node.clock.now() < until; ++i) {
    co_await node.clock.pause(kBetweenLooks);
    use = co_await look(node);
  }
  co_return use;
}

Work<GaveUp> wait_for_idle_gpus(Node& node) {
  if (!node.programs.has("nvidia-smi")) co_return "nvidia-smi is not installed on the node";
  const auto list = query("--query-gpu=index,pci.bus_id", kNoHeader, kJobsLimit);
  const auto listed = co_await node.programs.run(list);
  node.lines.evidence("gpus", "", list, listed);
  const bool mig = co_await is_mig_on(node);
  if (mig) co_return "MIG is on: no tool sees whole GPUs";
  const auto use = co_await wait_until_unused(node);
  if (!use.busy) co_return {};
  if (use.holders == 0) co_return "GPUs are busy, and no program is listed that makes them so";
  co_return "GPUs are in use: " + std::to_string(use.holders) +
      " other programs hold memory of theirs";
}

}  // namespace cupel::agent
