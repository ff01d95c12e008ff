#include "orchestrator/cli/link_health_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace cupel::cli {
namespace {

using burnin::FabricProgress;
using burnin::LinkDefect;
using burnin::LinkEvent;
using burnin::LinkHealth;
using burnin::LinkProgress;
using burnin::Outcome;

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

/// "reseat on 2026-11-22 10:00 UTC by ada (dust in it)".
std::string repair_text(const LinkEvent& event) {
  return fmt::format("{} on {:%F %H:%M} UTC by {}{}", to_string(event.did), event.at, event.by,
                     event.note.empty() ? "" : fmt::format(" ({})", event.note));
}

/// "errors, symbol-ber", each fault once.
std::string faults_text(const std::vector<LinkDefect>& defects) {
  std::string text;
  for (std::size_t i = 0; i < defects.size(); ++i)
    if (i == 0 || defects[i].fault != defects[i - 1].fault)
      text += fmt::format("{}{}", i == 0 ? "" : ", ", to_string(defects[i].fault));
  return text.empty() ? "nothing" : text;
}

std::string outcome_text(const LinkProgress& link) {
  switch (link.outcome) {
    using enum Outcome;
    case helped:
      return "helped";
    case not_helped:
      return "did not help";
    case other_fault:
      return "changed what is wrong";
    case open:
      return "not judged yet: " + link.why;
    case recovered:
      return "recovered: it flapped in one window and not in this one";
    case gone:
      return "no longer wrong, without a recorded repair: it may come back";
  }
  return "unknown";
}

/// "n05 mlx5_3 - leaf1-r3 port 7: reseat on ... by ada helped: was errors, now nothing".
std::string progress_text(const LinkProgress& link) {
  std::string done;
  for (const auto& repair : link.repairs)
    done += (done.empty() ? "" : ", then ") + repair_text(repair);
  if (!done.empty()) done += link.outcome == Outcome::open ? ": " : " ";
  const auto was = link.was ? faults_text(link.was->defects) : "not recorded";
  const auto change = link.outcome == Outcome::open
                          ? fmt::format(" (was {})", was)
                          : fmt::format(": was {}, now {}", was, faults_text(link.now));
  return to_string(link.link) + ": " + done + outcome_text(link) + change;
}

std::string tried_text(const std::vector<LinkEvent>& tried, bool more) {
  std::string text;
  for (const auto& repair : tried)
    text += fmt::format("  tried: {}\n", printable(repair_text(repair)));
  if (!tried.empty() && !more)
    text +=
        "  All repairs in the order were tried. Move the cable to another port of the switch: "
        "errors that stay with the HCA are its own, errors that stay at the port the switch's\n";
  return text;
}

boost::json::array to_json(const std::vector<LinkDefect>& defects) {
  boost::json::array all;
  for (const auto& defect : defects)
    all.push_back(
        boost::json::object{{"fault", to_string(defect.fault)}, {"what", valid_utf8(defect.what)}});
  return all;
}

boost::json::array to_json(const std::vector<LinkEvent>& repairs) {
  boost::json::array all;
  for (const auto& repair : repairs) {
    auto object = burnin::to_json(repair);
    object["by"] = valid_utf8(repair.by);
    all.push_back(std::move(object));
  }
  return all;
}

boost::json::array names_of_ends(const burnin::LookedLink& link) {
  std::vector<burnin::PortId> ends{link.from};
  if (!link.to.device.empty()) ends.push_back(link.to);
  return names(ends);
}

boost::json::array to_json(const std::vector<LinkProgress>& links) {
  boost::json::array all;
  for (const auto& link : links) {
    boost::json::object object{{"ends", names_of_ends(link.link)},
                               {"outcome", to_string(link.outcome)},
                               {"repairs", to_json(link.repairs)},
                               {"now", to_json(link.now)}};
    if (link.was) object["was"] = to_json(link.was->defects);
    if (!link.why.empty()) object["why"] = valid_utf8(link.why);
    all.push_back(std::move(object));
  }
  return all;
}

boost::json::array findings_json(const LinkHealth& health, const FabricProgress& progress) {
  boost::json::array findings;
  for (std::size_t i = 0; i < health.findings.size(); ++i) {
    const auto& finding = health.findings[i];
    boost::json::array repair;
    for (const auto& step : finding.repair) repair.emplace_back(valid_utf8(step.text));
    findings.push_back(boost::json::object{{"ends", names_of_ends(finding.link)},
                                           {"defects", to_json(finding.defects)},
                                           {"tried", to_json(progress.tried[i])},
                                           {"repair", std::move(repair)}});
  }
  return findings;
}

}  // namespace

std::string health_text(const LinkHealth& health, const FabricProgress& progress) {
  std::string text;
  for (std::size_t i = 0; i < health.findings.size(); ++i) {
    const auto& finding = health.findings[i];
    text += printable(to_string(finding.link)) + "\n";
    for (const auto& defect : finding.defects)
      text += fmt::format("  {}: {}\n", to_string(defect.fault), printable(defect.what));
    text += tried_text(progress.tried[i], !finding.repair.empty());
    for (std::size_t k = 0; k < finding.repair.size(); ++k)
      text += fmt::format("  {}. {}\n", k + 1, printable(finding.repair[k].text));
  }
  for (const auto& link : progress.links) text += printable(progress_text(link)) + "\n";
  for (const auto& repair : progress.unmatched)
    text += fmt::format("{}: {}: no link of the folder has this port\n",
                        printable(to_string(repair.here)), printable(repair_text(repair)));
  for (const auto& one : health.unassessed)
    text += fmt::format("not judged: {}: {}\n", printable(ports_text(one.ports)),
                        printable(one.reason));
  for (const auto& doubt : health.doubts) text += fmt::format("not judged: {}\n", printable(doubt));
  for (const auto& line : health.listed)
    text += fmt::format("no limit is known: {}\n", printable(line));
  return text +
         fmt::format("{} of {} links have something wrong\n", health.findings.size(), health.links);
}

boost::json::object health_json(const LinkHealth& health, const FabricProgress& progress) {
  boost::json::array unassessed, doubts, listed;
  for (const auto& one : health.unassessed)
    unassessed.push_back(
        boost::json::object{{"reason", valid_utf8(one.reason)}, {"ports", names(one.ports)}});
  for (const auto& doubt : health.doubts) doubts.emplace_back(valid_utf8(doubt));
  for (const auto& line : health.listed) listed.emplace_back(valid_utf8(line));
  return {{"links", health.links},
          {"findings", findings_json(health, progress)},
          {"progress", to_json(progress.links)},
          {"unmatched_repairs", to_json(progress.unmatched)},
          {"not_judged", std::move(unassessed)},
          {"doubts", std::move(doubts)},
          {"listed", std::move(listed)}};
}

}  // namespace cupel::cli
