#pragma once
// What a repair makes void: from what changed in a machine to the stages whose evidence no longer
// counts. Rules are data (requalify.yaml). Pure.
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"

namespace cupel::burnin {

enum class ChangeKind { replaced, moved, added, removed, firmware, setting, cable };

std::string_view to_string(ChangeKind kind);
std::optional<ChangeKind> change_kind(std::string_view word);

/// One thing that is otherwise than it was.
struct Change {
  ChangeKind kind{};
  std::string of;    // "gpu", "dimm", "cable", "setting"; of a version "driver", "kernel", "bios"
  std::string part;  // "gpu3", "dimm A7", "mlx5_5", "bios.SMT"
  std::string was{};
  std::string is{};
  friend bool operator==(const Change&, const Change&) = default;
};

/// "gpu3 replaced: serial 1652923033635 is now 1652923033999".
std::string to_string(const Change& change);

struct RequalifyRule {
  std::string of{};
  std::set<ChangeKind> kinds{};
  std::vector<std::string> stages{};
  std::string why{};
};

/// Whose a version is, by what its name has in it: "HostBMC_0" is the BMC's.
struct VersionName {
  std::string contains{};  // in lower case
  std::string of{};
};

struct RequalifyRules {
  std::vector<std::string> always{};    // stages that only look: they are run whatever changed
  std::vector<VersionName> versions{};  // the first that fits counts
  std::vector<RequalifyRule> rules{};
};

/// Each fault becomes a problem: an unknown stage, kind of part or change, a rule without a reason.
std::optional<RequalifyRules> parse_requalify_rules(std::string_view text, const std::string& file,
                                                    std::vector<inventory::Problem>& problems);

/// Those that are shipped.
const RequalifyRules& requalify_rules();

/// The stage that loads the whole machine, once after every repair: its GPUs where it has some.
std::string_view whole_node_stage(bool has_gpus);

/// "bmc" of "HostBMC_0"; "firmware" where no row fits, for which there is no rule.
std::string subject_of_version(const RequalifyRules& rules, std::string_view name);

/// What one change makes void.
struct Voided {
  bool all = false;                // no rule names the change: nothing is known to be untouched
  std::set<std::string> stages{};  // base names; empty where `all`
  std::string why{};
};

Voided voided_by(const RequalifyRules& rules, const Change& change);

}  // namespace cupel::burnin
