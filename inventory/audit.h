#pragma once
// What should be in a machine against what was seen, part by part. Pure. Judges parts, not numbers:
// those are for criteria.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/parts.h"
#include "inventory/profile.h"

namespace cupel::inventory {

enum class Finding {
  missing,  // fewer than the profile says
  extra,    // more than the profile says
  wrong_model,
  wrong_size,
  wrong_firmware,
  wrong_serial,  // another machine than the inventory says
  unobserved,    // nobody told: no evidence, so no pass
};

std::string_view to_string(Finding finding);

/// True for what says "bad"; false for what says "not known".
constexpr bool is_failure(Finding finding) { return finding != Finding::unobserved; }

struct AuditFinding {
  Finding finding{};
  std::string part;      // "gpu3", "dimm A7", "firmware HostBMC_0"
  std::string expected;  // "32 of 64 GiB"
  std::string observed;  // "31", "HTTP 404"
  std::string source;    // who said so: a URI, a command
  std::string remedy;

  friend bool operator==(const AuditFinding&, const AuditFinding&) = default;
};

/// Two views of one machine. A source that tells of no part of a kind is silent about it, and not
/// believed to say "none": many BMCs list no GPUs.
struct Seen {
  std::span<const Part> by_bmc;
  std::span<const Part> by_node;
  std::string serial{};  // of the system, as the BMC tells it
};

/// Sorted by part. `serial` is what the inventory says, or empty.
std::vector<AuditFinding> audit(const Profile& profile, const std::string& serial,
                                const Seen& seen);

}  // namespace cupel::inventory
