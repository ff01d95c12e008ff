#include "orchestrator/cli/audit_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"

namespace cupel::cli {
namespace {

using inventory::CableEnd;
using inventory::CableFinding;
using inventory::FabricAudit;

using Key = std::tuple<std::string, std::string, int>;

std::set<Key> cables_of(const CableFinding& finding) {
  std::set<Key> cables;
  const auto add = [&](const CableEnd& end) { cables.emplace(end.device, end.hca, end.port); };
  add(finding.cable);
  for (const auto& move : finding.moves) add(move.cable);
  return cables;
}

std::set<Key> cables_of(const FabricAudit& audit) {
  std::set<Key> cables;
  for (const auto& finding : audit.findings) cables.merge(cables_of(finding));
  return cables;
}

bool has(const FabricAudit& audit, const CableFinding& finding) {
  return std::ranges::find(audit.findings, finding) != audit.findings.end();
}

}  // namespace

std::string audit_progress(const FabricAudit& before, const FabricAudit& after) {
  std::string text;
  const auto wrong = cables_of(after);
  for (const auto& finding : before.findings) {
    const auto cables = cables_of(finding);
    const bool still =
        std::ranges::any_of(cables, [&](const Key& cable) { return wrong.contains(cable); });
    if (!still) text += fmt::format("done: {}\n", printable(finding.instruction));
  }
  for (const auto& finding : after.findings)
    if (!has(before, finding))
      text += fmt::format("now {}: {}\n  {}\n", to_string(finding.fault), printable(finding.what),
                          printable(finding.instruction));
  for (const auto& doubt : after.unknown)
    if (std::ranges::find(before.unknown, doubt) == before.unknown.end())
      text += fmt::format("not judged: {}\n", printable(doubt));
  if (text.empty() && before.right == after.right) return text;
  return text + fmt::format("{} of {} cables are in their ports; {} findings, {} plugs to move\n",
                            after.right, after.planned, after.findings.size(), after.moves());
}

}  // namespace cupel::cli
