#pragma once
// What must be so for a step to be done on a node. Pure: whoever asks brings the facts.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "inventory/problem.h"

namespace cupel::playbooks {

/// One test of one thing; a step's conditions must all be met, else it is skipped, saying why.
struct Condition {
  enum class About { parameter, profile, rack, fact, measure } about{};
  /// Of a parameter, or of a fact ("bmc.vendor") or a measurement ("gpu.count") of an earlier step
  /// of this node.
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
/// a sentence; nothing where all are. What was not reported meets no condition, not even "is not".
/// Texts are compared without regard to case, numbers as numbers. Conditions about parameters,
/// profile and rack were settled before (settle(), applies()) and are passed over.
std::optional<std::string> unmet(const std::vector<Condition>& conditions, const Facts& facts);

/// Whether unmet() has its reason in what was not reported, or is no number where one is needed:
/// then nobody knows whether the step belonged to the node.
bool unreported(const std::vector<Condition>& conditions, const Facts& facts);

/// Whether what the conditions say about profile and rack is so for this node.
bool applies(const std::vector<Condition>& conditions, const inventory::Node& node);

/// Whether what the conditions say about parameters is so with these values; those conditions are
/// settled then, and taken out.
bool settle(std::vector<Condition>& conditions, const Facts& values);

/// Those that only the run itself can settle.
std::vector<Condition> left_for_the_run(const std::vector<Condition>& conditions);

}  // namespace cupel::playbooks
