#pragma once
// Which links of a fabric are bad, by one look or by two: what is wrong with each, and how it is
// mended. What cannot be judged is neither good nor bad and is listed apart. Pure.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/fabric/link_look.h"
#include "burnin/fabric/repair_step.h"
#include "inventory/fabric.h"

namespace cupel::burnin {

/// In the order in which they are looked at; the first one decides how to begin.
/// Source: NVIDIA Cable Validation Tool 1.9.1, "Hierarchical anomalies".
enum class LinkFault {
  dirty_optics,  // one lane has ten times the errors of the others, and 2 dB less light
  temperature,
  optical_power,
  not_active,  // the port, and it says why
  lost,        // a link of the first look is gone
  flapped,
  errors,
  raw_ber,
  effective_ber,
  symbol_ber,
  wrong_type,    // of cable: not the plan's
  wrong_length,  // not the plan's
  wrong_serial,  // not the cable or transceiver that the plan has there
  odd_width,
  odd_speed,
  odd_firmware,
  odd_cable,
};

std::string_view to_string(LinkFault fault);
/// The fault of that name; nothing for any other word.
std::optional<LinkFault> link_fault(std::string_view name);

struct LinkDefect {
  LinkFault fault{};
  std::string what{};
  friend bool operator==(const LinkDefect&, const LinkDefect&) = default;
};

struct LinkFinding {
  LookedLink link{};
  std::vector<LinkDefect> defects{};  // in the order of LinkFault
  std::vector<RepairStep> repair{};   // in order: the next one where the one before did not help
  friend bool operator==(const LinkFinding&, const LinkFinding&) = default;
};

/// Ends that were not judged for one reason.
struct Unassessed {
  std::string reason{};
  std::vector<PortId> ports{};
  friend bool operator==(const Unassessed&, const Unassessed&) = default;
};

struct LinkHealth {
  std::size_t links = 0;
  std::vector<LinkFinding> findings{};
  std::vector<Unassessed> unassessed{};
  std::vector<std::string> doubts{};  // of the looks
  /// What was counted and has no rule: neither good nor bad. At most kMostListed, and a last one
  /// that counts the rest.
  std::vector<std::string> listed{};
  bool passed() const { return findings.empty() && unassessed.empty() && doubts.empty(); }
};

inline constexpr std::size_t kMostListed = 1'000;

/// Minutes that a link has to be up before a BER of it counts.
/// Source: NVIDIA, InfiniBand Cluster Bring-up Procedure, "UFM Telemetry".
inline constexpr double kMinutesOfBer = 125;

/// `before`: nothing where there was one look only. Counters of which it is known when they were
/// cleared are then judged by that time, others are listed; states, BER, optics and what is unlike
/// the others are judged. `plan`: nothing where there is none; cables and
/// transceivers are then not compared with it.
LinkHealth judge_links(const LinkLook* before, const LinkLook& after,
                       const inventory::Fabric* plan = nullptr);

}  // namespace cupel::burnin
