#pragma once
// From what a playbook asks for to the settings of this node, each with what it is now. All that
// speaks against one of them is found before anything is changed.
#include "burnin/agent/node/stages/settings_record.h"

namespace cupel::agent {

/// As the playbook names it: "power_limit" "600"; "gpu_clocks" "210,1980"; "irq_affinity" "local".
struct SettingRequest {
  std::string name{};
  std::string value{};
};

struct PlannedSetting {
  Setting setting{};
  std::string before{};
  std::string expected{};
};

struct SettingsPlan {
  static constexpr std::size_t kMost = 4096;  // of one node: eight HCAs have 1,000 interrupts

  std::vector<PlannedSetting> all{};
  std::vector<PlannedSetting> refused{};  // what the driver no longer has
  std::vector<std::string> gpus{};        // a line of nvidia-smi each, once one was asked for
};

/// "the order has no settings that this stage knows"; else the requests, in order, and within
/// bounds.
Result<std::vector<SettingRequest>> requests_of(const JsonValue& order);

/// Adds the settings of one request. Not empty: it cannot be, or could not be set back.
Work<GaveUp> plan_request(Node& node, SettingRequest request, SettingsPlan& plan);

}  // namespace cupel::agent
