#include "burnin/agent/node/stages/stage.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/agent/node/subcommand.h"

namespace cupel::agent {
namespace {

constexpr int kLinesProtocol = 1;
constexpr std::array kStages{StageRow{"dcgm-diag", run_dcgm_diag},
                             StageRow{"roce", run_roce},
                             StageRow{"nvbandwidth", run_nvbandwidth},
                             StageRow{"gpu-burn", run_gpu_burn},
                             StageRow{"cpu-memory", run_cpu_memory},
                             StageRow{"fabric-cables", run_fabric_cables},
                             StageRow{"nccl-tests", run_nccl_tests},
                             StageRow{"cpu", run_cpu},
                             StageRow{"memory", run_memory},
                             StageRow{"thermal", run_thermal},
                             StageRow{"psu", run_psu},
                             StageRow{"node-facts", run_node_facts},
                             StageRow{"gpu-facts", run_gpu_facts},
                             StageRow{"gpu-reset", run_gpu_reset},
                             StageRow{"disk", run_disk},
                             StageRow{"storage", run_storage},
                             StageRow{"nvme", run_nvme},
                             StageRow{"sanitize", run_sanitize},
                             StageRow{"cupel-burn", run_cupel_burn},
                             StageRow{"settings", run_settings},
                             StageRow{"settings-restore", run_settings_restore},
                             StageRow{"fabric-pairs", run_fabric_pairs},
                             StageRow{"fabric-nccl", run_fabric_nccl}};

/// The last line but one: without `done` behind it the output was cut.
void give_up(StageLines& lines, std::string_view why) {
  lines.write(JsonLine{"gave-up"}.add("why", why));
}

int end(StageLines& lines, int status) {
  lines.write(JsonLine{"done"}.add("status", status));
  return status;
}

int refuse(StageLines& lines, const std::string& why) {
  give_up(lines, why);
  return end(lines, kUsage);
}

}  // namespace

std::span<const StageRow> stage_rows() { return kStages; }

Work<int> run_stage(Node& node, std::string name, std::string order) {
  auto read =
      order.size() <= kMostOrder
          ? JsonValue::parse(order)
          : Error{Code::kMalformed, "it is longer than " + std::to_string(kMostOrder) + " bytes"};
  co_return co_await run_stage(node, std::move(name), std::move(read));
}

Work<int> run_stage(Node& node, std::string name, Result<JsonValue> order) {
  const auto* row = std::ranges::find(kStages, std::string_view{name}, &StageRow::name);
  JsonLine header{"stage"};
  header.add("stage", std::string_view{name}).add("protocol", kLinesProtocol);
  node.lines.write(header.add("program", "cupel-node").add("version", CUPEL_VERSION));
  if (row == kStages.end())
    co_return refuse(node.lines, "cupel-node has no stage '" + shortened(printable(name), 80) +
                                     "': bring the cupel-node of this controller's version");
  if (!order || order->object() == nullptr)
    co_return refuse(node.lines,
                     "the order is no JSON object" +
                         (order ? std::string{} : ": " + std::string{order.error().what}));
  const auto why = co_await row->run(node, *order);
  if (!why.empty()) give_up(node.lines, why);
  co_return end(node.lines, why.empty() ? kDone : kFoundOutNothing);
}

}  // namespace cupel::agent
