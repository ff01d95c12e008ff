#include "burnin/fabric/cable_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin::fabric {
namespace {

using inventory::CableEnd;
using inventory::CableFault;
using inventory::CableFinding;
using inventory::Subject;

constexpr std::size_t kMostHcas = 64, kLongestWords = 400;

class CableWriter {
 public:
  CableWriter(const inventory::Fabric& plan, std::span<const Member> members)
      : plan_{plan}, map_{plan}, members_{members} {
    for (std::size_t i = 0; i < members.size(); ++i) numbers_.try_emplace(members[i].node, i);
    wrong_.resize(members.size());
  }

  GroupFindings write(const inventory::FabricAudit& audit) {
    for (const auto& finding : audit.findings) add_finding(finding);
    found_.members.resize(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i) write_member(i, audit);
    found_.reasons = reasons(audit);
    return std::move(found_);
  }

 private:
  static std::vector<std::string> reasons(const inventory::FabricAudit& audit) {
    constexpr std::size_t kMostListed = 1000;
    std::vector<std::string> lines{
        fmt::format("{} of {} cables are in their ports; {} plugs to move", audit.right,
                    audit.planned, audit.moves())};
    for (const auto& each : audit.findings) {
      if (lines.size() == kMostListed) break;
      lines.push_back(
          fmt::format("{}: {}. {}", to_string(each.fault), each.what, each.instruction));
    }
    for (const auto& each : audit.unknown) {
      if (lines.size() == kMostListed) break;
      lines.push_back("not judged: " + each);
    }
    return lines;
  }

  static std::string words_of(const CableFinding& finding) {
    return shortened(printable(fmt::format("{}: {}", to_string(finding.fault), finding.what)),
                     kLongestWords);
  }

  void add_finding(const CableFinding& finding) {
    std::set<CableEnd> ends{finding.cable};
    for (const auto& move : finding.moves) {
      // The cable is named by the end whose plug stays: the upper one where the lower plug moves.
      const auto* cable = map_.cable_at(move.cable);
      ends.insert(cable != nullptr ? cable->from : move.cable);
    }
    for (const auto& device : finding.exchanged) ends.insert({device, "", 0});
    for (const auto& end : ends) add_finding(end, finding);
  }

  void add_finding(const CableEnd& end, const CableFinding& finding) {
    const auto member = numbers_.find(end.device);
    if (member != numbers_.end()) {
      // Of a node as a whole: each of its cables.
      if (!end.hca.empty()) wrong_[member->second].try_emplace(end.hca, words_of(finding));
      const auto* node = end.hca.empty() ? map_.find_node(end.device) : nullptr;
      if (node != nullptr)
        for (const auto& hca : node->hcas)
          wrong_[member->second].try_emplace(hca, words_of(finding));
      return;
    }
    if (map_.find_switch(end.device) == nullptr) return;
    const bool whole = finding.fault == CableFault::switch_absent ||
                       finding.fault == CableFault::switches_exchanged;
    const Subject at{Subject::Kind::switch_port,
                     end.device,
                     whole ? std::string{"all"} : std::to_string(end.port),
                     {},
                     {}};
    found_.links.push_back(
        {at, {"fabric.cable.wrong", "", 1, "count", words_of(finding)}, behind(end.device)});
  }

  /// Members with a cable to that leaf, or to a leaf below that switch.
  std::vector<std::string> behind(const std::string& name) const {
    std::set<std::string_view> leaves{name};
    for (const auto& one : plan_.switches)
      for (const auto& uplink : map_.uplinks(one.name))
        if (uplink.spine == name) leaves.insert(one.name);
    std::set<std::string> nodes;
    for (const auto& cable : plan_.cables)
      if (cable.is_access() && leaves.contains(cable.to.device) &&
          numbers_.contains(cable.from.device))
        nodes.insert(cable.from.device);
    return {nodes.begin(), nodes.end()};
  }

  void write_member(std::size_t at, const inventory::FabricAudit& audit) {
    auto& findings = found_.members[at];
    const auto* node = map_.find_node(members_[at].node);
    if (node == nullptr) {
      findings.unknown.push_back({"fabric.cables", "ibnetdiscover", "the plan does not have it"});
      return;
    }
    std::vector<std::string> planned;
    std::ranges::copy_if(node->hcas, std::back_inserter(planned), [&](const auto& hca) {
      return map_.cable_at({node->name, hca, 1}) != nullptr;
    });
    findings.measurements.push_back(
        {"fabric.cables", "", static_cast<double>(planned.size()), "count"});
    for (const auto& hca : planned) {
      const auto wrong = wrong_[at].find(hca);
      const bool is_wrong = wrong != wrong_[at].end();
      findings.measurements.push_back({"fabric.cable.wrong", hca, is_wrong ? 1.0 : 0.0, "count",
                                       is_wrong ? wrong->second : std::string{}});
    }
    for (const auto& why : audit.unknown)
      findings.unknown.push_back(
          {"fabric.cable.wrong", "ibnetdiscover", shortened(printable(why), kLongestWords)});
  }

  const inventory::Fabric& plan_;
  inventory::FabricMap map_;
  std::span<const Member> members_;
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::vector<std::map<std::string, std::string>> wrong_;  // of each member, by HCA: what it is
  GroupFindings found_{};
};

}  // namespace

void read_hca_guids(std::string_view node, std::string_view text, inventory::HcaGuids& into) {
  std::size_t known = 0;
  for (const auto line : split(text, '\n')) {
    const auto parts = words(line);
    if (parts.size() != 3 || parts[0] != "guid") continue;
    const auto guid = inventory::guid_of(parts[2]);
    if (!guid || ++known > kMostHcas) continue;
    into.try_emplace(*guid, CableEnd{std::string{node}, script::clean(parts[1])});
  }
}

GroupFindings cable_findings(const inventory::Fabric& plan, const inventory::FabricAudit& audit,
                             std::span<const Member> members) {
  return CableWriter{plan, members}.write(audit);
}

}  // namespace cupel::burnin::fabric
