#include "burnin/stage.h"

#include <algorithm>
#include <array>

#include "burnin/board/event_log.h"
#include "burnin/board/psu.h"
#include "burnin/cpu/cpu.h"
#include "burnin/cpu/cpu_memory.h"
#include "burnin/disk/disk.h"
#include "burnin/disk/nvme.h"
#include "burnin/disk/sanitize.h"
#include "burnin/disk/storage.h"
#include "burnin/fabric/cable_stage.h"
#include "burnin/fabric/nccl_stage.h"
#include "burnin/fabric/pair_stage.h"
#include "burnin/gpu/burn_stages.h"
#include "burnin/gpu/gpu_facts.h"
#include "burnin/gpu/gpu_reset.h"
#include "burnin/memory/memory.h"
#include "burnin/network/roce.h"
#include "burnin/network/tcp_pair.h"
#include "burnin/node/log_readings.h"
#include "burnin/node/node_facts.h"
#include "burnin/node/thermal.h"
#include "burnin/node/watch.h"
#include "burnin/settings/settings.h"
#include "burnin/tools/dcgm_diag.h"
#include "burnin/tools/gpu_burn.h"
#include "burnin/tools/nccl_tests.h"
#include "burnin/tools/nvbandwidth.h"

namespace cupel::burnin {

std::span<const Stage> stages() {
  static const std::array kStages{
      node_facts(),
      gpu_facts(),
      cpu_memory(),
      disk(),
      // Of cupel-node itself.
      facts(),
      watch(),
      // The host's parts, one by one.
      cpu(),
      memory(),
      nvme(),
      storage(),
      thermal(),
      // What cupel-burn does to GPUs and their links.
      gemm(),
      hbm(),
      pcie(),
      p2p(),
      collective(),
      train(),
      gpu_reset(),
      // Tools that users have.
      dcgm_diag(),
      nvbandwidth(),
      nccl_tests(),
      gpu_burn(),
      // Of the logs, the BMC, and of what a playbook sets.
      event_log(),
      kernel_log(),
      psu(),
      settings(),
      settings_restore(),
      // Before a machine leaves.
      sanitize(),
      // Between nodes.
      roce(),
      tcp_pair(),
      fabric_cables(),
      fabric_pairs(),
      fabric_nccl(),
  };
  return kStages;
}

std::string_view base_name(std::string_view step) { return step.substr(0, step.find('@')); }

const Stage* stage(std::string_view name) {
  name = base_name(name);
  for (const Stage& each : stages())
    if (each.name == name) return &each;
  return nullptr;
}

const Stage& bmc_log_stage() { return *std::ranges::find(stages(), true, &Stage::is_bmc_log); }

bool is_bmc_log(std::string_view step) { return base_name(step) == bmc_log_stage().name; }

std::string bmc_log_name(std::string_view step) {
  if (is_bmc_log(step)) return std::string{step};
  return std::string{bmc_log_stage().name} + "@" + std::string{step};
}

const Stage& kernel_log_stage() {
  return *std::ranges::find(stages(), true, &Stage::is_kernel_log);
}

std::string kernel_log_name(std::string_view step) {
  const auto name = kernel_log_stage().name;
  if (base_name(step) == name) return std::string{step};
  return std::string{name} + "@" + std::string{step};
}

bool is_log(std::string_view step) {
  return is_bmc_log(step) || base_name(step) == kernel_log_stage().name;
}

bool is_seen_by_bmc(std::string_view step) {
  const auto* one = stage(step);
  return one != nullptr && (one->is_bmc_log || one->beside.bmc_sensors);
}

bool is_load(const Stage& stage) {
  constexpr double kLeast = 0.1;
  return std::max(stage.load.share, stage.load.without_gpus) >= kLeast;
}

bool takes_feeds(std::string_view step, const Parameters& with) {
  const auto* one = stage(step);
  return one != nullptr && one->beside.pdu_feeds != nullptr && one->beside.pdu_feeds(with);
}

}  // namespace cupel::burnin
