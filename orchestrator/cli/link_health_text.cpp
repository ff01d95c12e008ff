#include "orchestrator/cli/link_health_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace cupel::cli {
namespace {

using burnin::LinkHealth;

/// "3 ports (n03 mlx5_0, leaf1-r1 port 3, n04 mlx5_0)", the first few of many.
std::string ports_text(const std::vector<burnin::PortId>& ports) {
  constexpr std::size_t kShown = 3;
  std::string first;
  for (std::size_t i = 0; i < std::min(kShown, ports.size()); ++i)
    first += (i == 0 ? "" : ", ") + to_string(ports[i]);
  return fmt::format("{} ports ({}{})", ports.size(), first, ports.size() > kShown ? ", ..." : "");
}

boost::json::array names(const std::vector<burnin::PortId>& ports) {
  boost::json::array all;
  for (const auto& port : ports) all.emplace_back(valid_utf8(to_string(port)));
  return all;
}

}  // namespace

std::string health_text(const LinkHealth& health) {
  std::string text;
  for (const auto& finding : health.findings) {
    text += printable(to_string(finding.link)) + "\n";
    for (const auto& defect : finding.defects)
      text += fmt::format("  {}: {}\n", to_string(defect.fault), printable(defect.what));
    for (std::size_t i = 0; i < finding.repair.size(); ++i)
      text += fmt::format("  {}. {}\n", i + 1, printable(finding.repair[i]));
  }
  for (const auto& one : health.unassessed)
    text += fmt::format("not judged: {}: {}\n", printable(ports_text(one.ports)),
                        printable(one.reason));
  for (const auto& doubt : health.doubts) text += fmt::format("not judged: {}\n", printable(doubt));
  return text +
         fmt::format("{} of {} links have something wrong\n", health.findings.size(), health.links);
}

boost::json::object health_json(const LinkHealth& health) {
  boost::json::array findings, unassessed, doubts;
  for (const auto& finding : health.findings) {
    boost::json::array defects, repair;
    for (const auto& defect : finding.defects)
      defects.push_back(boost::json::object{{"fault", to_string(defect.fault)},
                                            {"what", valid_utf8(defect.what)}});
    for (const auto& step : finding.repair) repair.emplace_back(valid_utf8(step));
    std::vector<burnin::PortId> ends{finding.link.from};
    if (!finding.link.to.device.empty()) ends.push_back(finding.link.to);
    findings.push_back(boost::json::object{
        {"ends", names(ends)}, {"defects", std::move(defects)}, {"repair", std::move(repair)}});
  }
  for (const auto& one : health.unassessed)
    unassessed.push_back(
        boost::json::object{{"reason", valid_utf8(one.reason)}, {"ports", names(one.ports)}});
  for (const auto& doubt : health.doubts) doubts.emplace_back(valid_utf8(doubt));
  return {{"links", health.links},
          {"findings", std::move(findings)},
          {"not_judged", std::move(unassessed)},
          {"doubts", std::move(doubts)}};
}

}  // namespace cupel::cli
