#pragma once
// The criteria of one link: counters, BER, optics. Pure; assembled by link_health.h.
#include <string>
#include <utility>
#include <vector>

#include "burnin/fabric/link_health.h"

namespace cupel::burnin {

struct LinkCase {
  const LinkLook* before = nullptr;
  const LinkLook& after;
  const LookedLink& link;

  /// Between the looks; 0 with one.
  double minutes() const;
  const MlxlinkReport* report(const PortId& port) const;
  const MlxlinkReport* earlier_report(const PortId& port) const;
  /// By one look, or by two where either end counted a link that went down.
  bool may_have_gone_down() const;
};

struct Opinion {
  std::vector<LinkDefect> defects{};
  std::vector<std::pair<std::string, PortId>> unassessed{};  // reason, end
  std::vector<std::string> listed{};                         // counts that no rule is known for
};

void judge_counters(const LinkCase& one, Opinion& opinion);
/// What no rule judges: by one look what was counted, by two what grew.
void list_counters(const LinkCase& one, const PortId& port, Opinion& opinion);
void judge_ber(const LinkCase& one, Opinion& opinion);
void judge_optics(const LinkCase& one, Opinion& opinion);

/// A BER in a report counts: the counters that it is of run long enough, and the link was not
/// down in the meantime.
bool ber_counts(const LinkCase& one, const MlxlinkReport& report);

}  // namespace cupel::burnin
