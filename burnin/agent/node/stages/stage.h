#pragma once
// The stages that cupel-node does itself: one row each, in the table of stage.cpp, and one file
// each. A stage reads files and runs tools; what the tools print is parsed by the controller, which
// can parse it again when a parser was wrong. Judges nothing.
#include <span>
#include <string>
#include <string_view>

#include "burnin/agent/common/json_value.h"
#include "burnin/agent/node/stages/clock.h"
#include "burnin/agent/node/stages/lines.h"
#include "burnin/agent/node/stages/programs.h"
#include "burnin/agent/node/stages/scratch.h"
#include "burnin/agent/node/stages/settings.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {

/// The node as a stage sees it.
struct Node {
  const Tree& tree;
  Programs& programs;
  StageClock& clock;
  StageLines& lines;
  Scratch& scratch = no_scratch();
  /// The job's own folder, where the controller lays a word for it; empty outside of a job.
  std::string job{};
  Settings& settings = no_settings();
};

/// Why a stage proves nothing ("dcgmi is not installed on the node"); empty where it did its work.
using GaveUp = std::string;

struct StageRow {
  std::string_view name;
  /// `order` is an object, and nothing else is known of it.
  Work<GaveUp> (*run)(Node& node, const JsonValue& order);
};

Work<GaveUp> run_roce(Node& node, const JsonValue& order);
Work<GaveUp> run_dcgm_diag(Node& node, const JsonValue& order);
Work<GaveUp> run_nvbandwidth(Node& node, const JsonValue& order);
Work<GaveUp> run_gpu_burn(Node& node, const JsonValue& order);
Work<GaveUp> run_cpu_memory(Node& node, const JsonValue& order);
Work<GaveUp> run_fabric_cables(Node& node, const JsonValue& order);
Work<GaveUp> run_nccl_tests(Node& node, const JsonValue& order);
Work<GaveUp> run_cpu(Node& node, const JsonValue& order);
Work<GaveUp> run_memory(Node& node, const JsonValue& order);
Work<GaveUp> run_gpu_facts(Node& node, const JsonValue& order);
Work<GaveUp> run_gpu_reset(Node& node, const JsonValue& order);
Work<GaveUp> run_node_facts(Node& node, const JsonValue& order);
Work<GaveUp> run_thermal(Node& node, const JsonValue& order);
Work<GaveUp> run_psu(Node& node, const JsonValue& order);
Work<GaveUp> run_disk(Node& node, const JsonValue& order);
Work<GaveUp> run_sanitize(Node& node, const JsonValue& order);
Work<GaveUp> run_storage(Node& node, const JsonValue& order);
Work<GaveUp> run_nvme(Node& node, const JsonValue& order);
Work<GaveUp> run_cupel_burn(Node& node, const JsonValue& order);
Work<GaveUp> run_settings(Node& node, const JsonValue& order);
Work<GaveUp> run_settings_restore(Node& node, const JsonValue& order);
Work<GaveUp> run_fabric_pairs(Node& node, const JsonValue& order);
Work<GaveUp> run_fabric_nccl(Node& node, const JsonValue& order);

std::span<const StageRow> stage_rows();

/// No order is longer.
inline constexpr std::size_t kMostOrder = 64 * 1024;

/// Does the stage of that name by its order, one JSON object. Returns what cupel-node exits with:
/// kDone, kFoundOutNothing where it gave up, kUsage where there is no such stage or the order
/// cannot be read.
Work<int> run_stage(Node& node, std::string name, std::string order);
/// The same by an order that was read, or why it could not be.
Work<int> run_stage(Node& node, std::string name, Result<JsonValue> order);

}  // namespace cupel::agent
