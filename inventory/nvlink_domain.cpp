#include "inventory/nvlink_domain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/uuid.h"
#include "inventory/criterion.h"
#include "inventory/profile.h"

namespace cupel::inventory {
namespace {

using Trays = std::vector<std::string>;
using Groups = std::map<std::string, Trays, std::less<>>;

std::size_t count_of(const Groups& groups) {
  std::size_t all = 0;
  for (const auto& [name, trays] : groups) all += trays.size();
  return all;
}

/// The group with more than half of all; empty: none has.
std::string name_of_most(const Groups& groups) {
  for (const auto& [name, trays] : groups)
    if (2 * trays.size() > count_of(groups)) return name;
  return {};
}

std::string text_of(const Groups& groups) {
  std::string text;
  for (const auto& [name, trays] : groups)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name, fmt::join(trays, ", "));
  return text;
}

Trays all_of(const Groups& groups) {
  Trays all;
  for (const auto& [name, trays] : groups) all.insert(all.end(), trays.begin(), trays.end());
  return all;
}

/// The cluster that a rack has, as most of its trays report it; empty where none has most.
std::string audit_rack_of(const std::string& rack, const Groups& clusters,
                          std::vector<DomainFinding>& findings) {
  const auto most = name_of_most(clusters);
  if (most.empty()) {
    findings.push_back({false, all_of(clusters),
                        fmt::format("the trays of rack {} report several NVLink domains, and none "
                                    "has more than half of them: {}",
                                    rack, text_of(clusters))});
    return {};
  }
  const auto usual = clusters.find(most)->second.size();
  for (const auto& [cluster, trays] : clusters)
    for (const auto& tray : trays)
      if (cluster != most)
        findings.push_back(
            {true,
             {tray},
             fmt::format("{} is in NVLink domain {}, but {} of the {} trays of rack {} are in {}",
                         tray, cluster, usual, count_of(clusters), rack, most)});
  return most;
}

void audit_cluster(const std::string& cluster, const Groups& racks,
                   std::vector<DomainFinding>& findings) {
  if (racks.size() < 2) return;
  const auto home = name_of_most(racks);
  if (home.empty()) {
    findings.push_back({false, all_of(racks),
                        fmt::format("NVLink domain {} spans several racks, and none has more than "
                                    "half of its trays: {}",
                                    cluster, text_of(racks))});
    return;
  }
  const auto usual = racks.find(home)->second.size();
  for (const auto& [rack, trays] : racks)
    for (const auto& tray : trays)
      if (rack != home)
        findings.push_back({true,
                            {tray},
                            fmt::format("{} is a tray of rack {}, but {} of the {} trays of its "
                                        "NVLink domain {} are in rack {}",
                                        tray, rack, usual, count_of(racks), cluster, home)});
}

}  // namespace

std::string NvlinkDomain::text() const { return fmt::format("{}.{}", cluster, clique); }

std::optional<NvlinkDomain> nvlink_domain(std::string_view cluster, std::string_view clique) {
  const auto uuid = lower_case(trimmed(cluster));
  const auto partition = number<std::uint32_t>(trimmed(clique));
  if (!is_uuid(uuid) || uuid.find_first_not_of("0-") == uuid.npos) return std::nullopt;
  if (!partition || *partition == 0) return std::nullopt;
  return NvlinkDomain{uuid, *partition};
}

std::optional<NvlinkDomain> parse_nvlink_domain(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == text.npos) return std::nullopt;
  return nvlink_domain(text.substr(0, dot), text.substr(dot + 1));
}

bool belongs_in_domain(const Profile& profile) {
  return std::ranges::find(profile.criteria, kJoinedMeasure, &Criterion::measure) !=
         profile.criteria.end();
}

std::vector<DomainFinding> audit_domains(std::span<const TrayDomain> trays) {
  std::map<std::string, Groups, std::less<>> racks, clusters;
  for (const auto& each : trays)
    if (!each.rack.empty()) racks[each.rack][each.domain.cluster].push_back(each.tray);
  std::vector<DomainFinding> findings;
  // A tray that is odd in its rack says nothing of where its cluster belongs.
  for (const auto& [rack, groups] : racks)
    if (const auto own = audit_rack_of(rack, groups, findings); !own.empty())
      clusters[own][rack] = groups.find(own)->second;
  for (const auto& [cluster, groups] : clusters) audit_cluster(cluster, groups, findings);
  return findings;
}

}  // namespace cupel::inventory
