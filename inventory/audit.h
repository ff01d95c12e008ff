#pragma once
// What should be in a machine against what was seen, part by part. Pure. Judges parts, not numbers:
// those are for criteria.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/fwd.h"
#include "inventory/parts.h"

namespace cupel::inventory {

enum class Finding {
  missing,  // fewer than the profile says
  extra,    // more than the profile says
  wrong_model,
  wrong_size,
  wrong_firmware,
  wrong_serial,  // another machine than the inventory says
  wrong_name,    // it calls itself otherwise
  wrong_setting,
  wrong_clock,
  unhealthy,     // its BMC says Critical, or Warning; the kernel calls a drive dead
  not_observed,  // not reported, a part or its model, size or cores: no evidence, so no pass
};

std::string_view to_string(Finding finding);

/// True for what says "bad"; false for what says "not known".
constexpr bool is_failure(Finding finding) { return finding != Finding::not_observed; }

/// How many parts of a kind there are, and how many there should be.
struct PartCount {
  int there = 0;
  int expected = 0;
  friend bool operator==(const PartCount&, const PartCount&) = default;
};

struct AuditFinding {
  Finding finding{};
  std::string part;                  // "gpu3", "dimm A7", "firmware HostBMC_0"
  std::string expected;              // "32 of 64 GiB"
  std::string observed;              // "31", "HTTP 404"
  std::string source;                // who said so: a URI, a command
  std::string remedy;                // NODE stands for the node's name
  std::optional<PartCount> count{};  // where it is about how many there are

  friend bool operator==(const AuditFinding&, const AuditFinding&) = default;
};

/// Two views of one machine. A source that reports no part of a kind does not report
/// "none": many BMCs list no GPUs. Nor does a list that is not whole say that a part is missing.
struct Seen {
  std::span<const Part> by_bmc{};
  std::span<const Part> by_node{};
  std::string serial{};  // of the system, as the BMC tells it
  /// What steps said in words: "node.hostname", "bios.SMT" (BiosFact), "bmc.clock_ahead" and
  /// "node.clock_ahead" in seconds of ours.
  std::map<std::string, std::string, std::less<>> facts{};
  /// Kinds of which a source could not list all parts.
  std::span<const PartialList> partial_by_bmc{};
  std::span<const PartialList> partial_by_node{};
};

constexpr std::string_view kHostNameFact = "node.hostname", kClockFact = "bmc.clock_ahead",
                           kNodeClockFact = "node.clock_ahead", kBiosFact = "bios.",
                           /// What its BMC calls critical that is no part: a name in each line.
    kCriticalFact = "bmc.critical";

/// Where a machine has a part of a kind, and how it is called there, as a source of one of the two
/// views reports it.
struct PartPlace {
  PartKind kind{};
  bool by_bmc = false;  // else by the node
  std::string name{};   // empty: machines call it by different names
  std::string slot{};
  friend bool operator==(const PartPlace&, const PartPlace&) = default;
};

/// What the inventory says of one machine. What is empty is not checked.
struct ExpectedNode {
  std::string serial{};
  std::vector<std::string> names{};  // its host name is one of them, up to the first dot
  bool rehearsal = false;            // its time runs faster than ours
  /// All places of a kind, as machines like it have them: they name what is missing. Of kinds
  /// without them the profile's slots do; else a missing part has its kind for a name.
  std::vector<PartPlace> places{};
};

/// Sorted by part.
std::vector<AuditFinding> audit(const Profile& profile, const ExpectedNode& requested,
                                const Seen& seen);

}  // namespace cupel::inventory
