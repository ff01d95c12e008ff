#pragma once
// What must be so for a step to be done on a node. Pure: whoever asks brings the facts.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inventory/model.h"

namespace cupel::playbooks {

/// One test of one thing; a step's conditions must all be met, else it is skipped, saying why.
struct Condition {
  enum class About { profile, rack, fact, measure } about{};
  /// Of a fact ("bmc.vendor") or a measurement ("gpu.count") of an earlier step of this node.
  std::string name{};
  enum class Test { is, is_not, at_least, at_most } test{};
  std::vector<std::string> values{};  // any of them
  double number = 0;                  // of at_least and at_most
  inventory::Place where{};
  friend bool operator==(const Condition&, const Condition&) = default;
};

/// Facts and measurements by name: "bmc.vendor" -> "NVIDIA", "gpu.count" -> "8".
using Facts = std::map<std::string, std::string>;

/// Why the step is not done: the first condition about a fact or a measurement that is not met, as
/// a sentence; nothing where all are. What was not told meets no condition, not even "is not".
/// Texts are compared without regard to case, numbers as numbers. Conditions about profile and rack
/// were settled when the run was planned (applies()) and are passed over.
std::optional<std::string> unmet(const std::vector<Condition>& conditions, const Facts& facts);

/// Whether what the conditions say about profile and rack is so for this node.
bool applies(const std::vector<Condition>& conditions, const inventory::Node& node);

/// Those that only the run itself can settle.
std::vector<Condition> left_for_the_run(const std::vector<Condition>& conditions);

}  // namespace cupel::playbooks
