#include "inventory/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/enum_words.h"
#include "base/text.h"
#include "inventory/expected_parts.h"
#include "inventory/judge_firmware.h"
#include "inventory/pci_address.h"
#include "inventory/profile.h"

namespace cupel::inventory {
namespace {

using Parts = std::vector<const Part*>;

Parts of_kind(std::span<const Part> parts, PartKind kind) {
  Parts found;
  for (const auto& part : parts)
    if (part.kind == kind) found.push_back(&part);
  return found;
}

std::string gib(double bytes) { return plain(bytes / (1024.0 * 1024 * 1024), 1) + " GiB"; }

std::string serial_words(const Part& part) {
  return part.serial.empty() ? "" : " (serial " + part.serial + ")";
}

std::string remedy_of(PartKind kind) {
  switch (kind) {
    case PartKind::gpu:
      return "power-cycle the node; then reseat or replace the GPU";
    case PartKind::dimm:
      return "reseat the DIMM; replace it if it stays away or is of the wrong kind";
    case PartKind::nvme:
      return "reseat the drive; then replace it";
    case PartKind::psu:
      return "check the feed and the cord; then replace the supply";
    case PartKind::hca:
      return "reseat the adapter; then replace it";
    default:
      return "check the part and its seat";
  }
}

bool model_fits(const std::string& model, const std::vector<std::string>& wanted) {
  const auto told = lower_case(model);
  return std::ranges::any_of(
      wanted, [&](const auto& each) { return told.find(lower_case(each)) != told.npos; });
}

/// Judges the parts of one kind as one source tells them.
class OneSource {
 public:
  OneSource(const ExpectedParts& expected, const Parts& seen, std::vector<AuditFinding>& findings)
      : expected_{expected}, seen_{seen}, findings_{findings} {}

  void judge() {
    count();
    for (const auto* part : seen_) each(*part);
  }

 private:
  void report(Finding finding, std::string part) {
    const auto there = static_cast<int>(seen_.size());
    findings_.push_back({finding, std::move(part),
                         fmt::format("{} {}s", expected_.count, to_string(expected_.kind)),
                         std::to_string(there),
                         seen_.empty() ? std::string{} : seen_.front()->source,
                         remedy_of(expected_.kind), PartCount{there, expected_.count}});
  }

  void count() {
    const auto there = static_cast<int>(seen_.size());
    if (there == expected_.count) return;
    const auto names = there < expected_.count ? absent() : std::vector<std::string>{};
    for (const auto& name : names) report(Finding::missing, name);
    if (!names.empty()) return;
    report(there < expected_.count ? Finding::missing : Finding::extra,
           std::string{to_string(expected_.kind)});
  }

  /// Which ones are missing, where their places are known: by PCI address, or by a gap in the
  /// names.
  std::vector<std::string> absent() const {
    std::vector<std::string> names;
    const bool slots_told =
        std::ranges::all_of(seen_, [](const auto* p) { return !p->slot.empty(); });
    if (!expected_.pci.empty() && slots_told) {
      for (std::size_t i = 0; i < expected_.pci.size(); ++i) {
        const bool there = std::ranges::any_of(
            seen_, [&](const auto* part) { return same_pci(part->slot, expected_.pci[i]); });
        if (!there) names.push_back(fmt::format("{}{}", to_string(expected_.kind), i));
      }
    }
    const auto gone = static_cast<std::size_t>(expected_.count) - seen_.size();
    if (names.size() == gone) return names;
    names = empty_bays(gone);
    return names.size() == gone ? names : gaps(gone);
  }

  /// Parts that are numbered as they come, in bays that say where they are: "psu2" where "PSU 3" of
  /// 1 to 6 is not told of.
  std::vector<std::string> empty_bays(std::size_t gone) const {
    if (expected_.kind != PartKind::psu && expected_.kind != PartKind::fan) return {};
    std::set<int> bays;
    std::string stem;
    for (const auto* part : seen_) {
      const auto digits = part->slot.find_last_not_of("0123456789") + 1;
      const auto bay = number<int>(std::string_view{part->slot}.substr(digits));
      const auto head = part->slot.substr(0, digits);
      if (!bay || (!stem.empty() && head != stem) || !bays.insert(*bay).second) return {};
      stem = head;
    }
    if (bays.empty()) return {};
    const int first = std::min(*bays.begin(), 1);
    std::vector<std::string> names;
    for (int i = 0; i < expected_.count; ++i)
      if (!bays.contains(first + i))
        names.push_back(fmt::format("{}{}", to_string(expected_.kind), i));
    return names.size() == gone ? names : std::vector<std::string>{};
  }

  /// "GPU_SXM_1..8" without 6: the number that is missing from a row of otherwise equal names.
  /// "dimm A1..A16, B1..B16" without A3: the number that the other rows have.
  std::vector<std::string> gaps(std::size_t gone) const {
    std::map<std::string, std::set<int>> rows;
    std::set<int> wanted;
    for (const auto* part : seen_) {
      const auto digits = part->name.find_last_not_of("0123456789") + 1;
      const auto value = number<int>(std::string_view{part->name}.substr(digits));
      if (!value) return {};
      rows[part->name.substr(0, digits)].insert(*value);
      wanted.insert(*value);
    }
    if (rows.empty()) return {};
    if (rows.size() == 1) {
      const int first = std::min(*wanted.begin(), 1);
      wanted.clear();
      for (int i = first; i < first + expected_.count; ++i) wanted.insert(i);
    }
    std::vector<std::string> names;
    for (const auto& [stem, there] : rows)
      for (const int each : wanted)
        if (!there.contains(each)) names.push_back(stem + std::to_string(each));
    return names.size() == gone ? names : std::vector<std::string>{};
  }

  void each(const Part& part) {
    if (!expected_.models.empty() && !part.model.empty() &&
        !model_fits(part.model, expected_.models))
      blame(Finding::wrong_model, part, fmt::format("{}", fmt::join(expected_.models, " or ")),
            part.model);
    if (expected_.size_bytes && part.size_bytes &&
        std::abs(*part.size_bytes - *expected_.size_bytes) >
            expected_.size_tolerance * *expected_.size_bytes)
      blame(Finding::wrong_size, part, gib(*expected_.size_bytes), gib(*part.size_bytes));
    if (expected_.cores && part.count && *part.count != *expected_.cores)
      blame(Finding::wrong_size, part, plain(*expected_.cores) + " cores",
            plain(*part.count) + " cores");
  }

  void blame(Finding finding, const Part& part, std::string wanted, std::string observed) {
    findings_.push_back({finding, part.name, std::move(wanted), observed + serial_words(part),
                         part.source, remedy_of(expected_.kind)});
  }

  const ExpectedParts& expected_;
  const Parts& seen_;
  std::vector<AuditFinding>& findings_;
};

/// Counts of adapters and drives differ between what a BMC lists and what the system sees (a
/// dual-port card is one and two): for these the node's own word goes first.
bool node_first(PartKind kind) {
  return kind == PartKind::hca || kind == PartKind::nvme || kind == PartKind::nic;
}

/// A profile counts the HCAs that the system sees, and a BMC lists cards: one with two ports is two
/// HCAs and one card. Fewer cards than HCAs are no evidence that one is missing.
bool may_count_cards(const ExpectedParts& expected, const Parts& by_bmc) {
  return expected.kind == PartKind::hca && static_cast<int>(by_bmc.size()) < expected.count;
}

/// One property of each part that the profile asks for.
struct WantedProperty {
  std::string_view name;
  std::string expected;  // empty: the profile does not ask for it
  bool (*is_reported)(const Part*);
};

/// A property that no judged source reports for every part is not as the profile says, only not
/// contradicted: no evidence, so no pass.
void judge_silence(const ExpectedParts& expected, std::span<const Parts> judged,
                   std::vector<AuditFinding>& findings) {
  const WantedProperty properties[] = {
      {"model", fmt::format("{}", fmt::join(expected.models, " or ")),
       [](const Part* part) { return !part->model.empty(); }},
      {"size", expected.size_bytes ? gib(*expected.size_bytes) : std::string{},
       [](const Part* part) { return part->size_bytes.has_value(); }},
      {"core count", expected.cores ? plain(*expected.cores) + " cores" : std::string{},
       [](const Part* part) { return part->count.has_value(); }}};
  for (const auto& [name, wanted, is_reported] : properties) {
    if (wanted.empty()) continue;
    const auto whole = [&](const Parts& parts) { return std::ranges::all_of(parts, is_reported); };
    if (std::ranges::any_of(judged, whole)) continue;
    const auto& first = judged.front();
    const auto why = fmt::format("its {} is not reported", name);
    const auto blame = [&](const std::string& part, const std::string& source) {
      findings.push_back({Finding::not_observed, part, wanted, why, source, "look at the machine"});
    };
    if (std::ranges::none_of(first, is_reported)) {
      blame(std::string{to_string(expected.kind)}, first.front()->source);
      continue;
    }
    for (const auto* part : first)
      if (!is_reported(part)) blame(part->name, part->source);
  }
}

void judge_kind(const ExpectedParts& expected, const Seen& seen,
                std::vector<AuditFinding>& findings) {
  const auto by_node = of_kind(seen.by_node, expected.kind);
  const auto by_bmc = of_kind(seen.by_bmc, expected.kind);
  if (by_node.empty() && by_bmc.empty()) {
    if (expected.count == 0) return;
    findings.push_back({Finding::not_observed, std::string{to_string(expected.kind)},
                        fmt::format("{} {}s", expected.count, to_string(expected.kind)),
                        "neither the BMC nor the node reported it", "", "look at the machine"});
    return;
  }
  const auto before = findings.size();
  std::vector<Parts> judged;
  if (!by_node.empty()) judged.push_back(by_node);
  if (!by_node.empty()) OneSource{expected, by_node, findings}.judge();
  const bool settled = findings.size() > before || (!by_node.empty() && node_first(expected.kind));
  if (!settled && !by_bmc.empty() && may_count_cards(expected, by_bmc)) {
    findings.push_back(
        {Finding::not_observed, std::string{to_string(expected.kind)},
         fmt::format("{} {}s", expected.count, to_string(expected.kind)),
         fmt::format("{} adapters by the BMC alone, some of which may have two ports",
                     by_bmc.size()),
         by_bmc.front()->source, "turn the node on: it counts its own HCAs"});
    return;
  }
  if (!settled && !by_bmc.empty()) judged.push_back(by_bmc);
  if (!settled && !by_bmc.empty()) OneSource{expected, by_bmc, findings}.judge();
  judge_silence(expected, judged, findings);
}

void judge_firmware(const ExpectedFirmware& expected, const Seen& seen,
                    std::vector<AuditFinding>& findings) {
  bool told = false;
  for (const auto& parts : {seen.by_bmc, seen.by_node})
    for (const auto& part : parts) {
      if (part.firmware.empty() || !covers(expected, part)) continue;
      told = true;
      if (is_expected_version(expected, part.firmware)) continue;
      findings.push_back({Finding::wrong_firmware, "firmware " + part.name,
                          expected_version(expected), part.firmware, part.source,
                          "bring it to the baseline: cupel firmware plan NODE"});
    }
  if (!told)
    findings.push_back({Finding::not_observed, "firmware " + expected.component,
                        expected_version(expected), "neither the BMC nor the node reported it", "",
                        "read the version by hand"});
}

/// Parts that their BMC reports as Warning or Critical, and drives that the kernel reports as dead.
/// A part without a reported health is not judged, nor is firmware: a GB200's BMC reports Warning
/// where it only has a newer version.
void judge_health(const Seen& seen, std::vector<AuditFinding>& findings) {
  constexpr std::string_view kDead = "dead";  // the kernel's nvme_ctrl_state; others pass by
  for (const auto* drive : of_kind(seen.by_node, PartKind::nvme))
    if (drive->health == kDead)
      findings.push_back({Finding::unhealthy, drive->name, "live",
                          drive->health + serial_words(*drive), drive->source,
                          remedy_of(drive->kind)});
  for (const auto& part : seen.by_bmc) {
    const auto health = lower_case(part.health);
    if (health != "critical" && health != "warning") continue;
    if (part.kind == PartKind::firmware || part.kind == PartKind::system) continue;
    findings.push_back(
        {Finding::unhealthy, part.name, "OK", part.health + serial_words(part), part.source,
         part.kind == PartKind::fan ? "look whether it turns, and at its connector; replace it"
                                    : remedy_of(part.kind)});
  }
}

/// What the BMC calls critical as a whole: the system, a chassis, a sensor. Their health is often
/// no more than that of a part in them: where a part is named, the part alone is.
void judge_whole(const Seen& seen, std::vector<AuditFinding>& findings) {
  const bool named = std::ranges::any_of(findings, [](const AuditFinding& each) {
    return each.finding == Finding::unhealthy || each.finding == Finding::missing;
  });
  if (named) return;
  constexpr std::string_view kRemedy =
      "read why: cupel bmc NODE log, cupel bmc NODE sensors; mend what they name";
  for (const auto& part : seen.by_bmc)
    if (part.kind == PartKind::system && lower_case(part.health) == "critical")
      findings.push_back(
          {Finding::unhealthy, "system", "OK", part.health, part.source, std::string{kRemedy}});
  const auto told = seen.facts.find(kCriticalFact);
  if (told == seen.facts.end()) return;
  for (const auto name : split(told->second, '\n'))
    if (!name.empty())
      findings.push_back(
          {Finding::unhealthy, std::string{name}, "OK", "Critical", "", std::string{kRemedy}});
}

void judge_serial(const std::string& wanted, const Seen& seen,
                  std::vector<AuditFinding>& findings) {
  std::string by_node;
  for (const auto* system : of_kind(seen.by_node, PartKind::system)) by_node = system->serial;
  const auto blame = [&](std::string expected, const std::string& observed, std::string remedy) {
    findings.push_back(
        {Finding::wrong_serial, "system", std::move(expected), observed, "", std::move(remedy)});
  };
  constexpr std::string_view kAnother =
      "this is another machine: check the cabling, or correct the inventory";
  if (!wanted.empty() && !seen.serial.empty() && wanted != seen.serial)
    return blame(wanted, seen.serial, std::string{kAnother});
  if (!wanted.empty() && !by_node.empty() && wanted != by_node)
    return blame(wanted, by_node, std::string{kAnother});
  if (wanted.empty() && !seen.serial.empty() && !by_node.empty() && by_node != seen.serial)
    blame("one machine", "BMC " + seen.serial + ", node " + by_node,
          "the BMC is another machine's than the node's address: check both cables");
}

void judge_name(const Wanted& wanted, const Seen& seen, std::vector<AuditFinding>& findings) {
  const auto told = seen.facts.find(kHostNameFact);
  if (told == seen.facts.end() || told->second.empty() || wanted.names.empty()) return;
  const auto name = lower_case(told->second.substr(0, told->second.find('.')));
  const bool fits = std::ranges::any_of(wanted.names, [&](const std::string& each) {
    return lower_case(each.substr(0, each.find('.'))) == name;
  });
  if (fits) return;
  findings.push_back(
      {Finding::wrong_name, "host name", wanted.names.front(), told->second,
       "/proc/sys/kernel/hostname",
       "hostnamectl set-hostname, or correct the inventory (host_name: NAME, or any)"});
}

void judge_settings(const Profile& profile, const Seen& seen, std::vector<AuditFinding>& findings) {
  for (const auto& setting : profile.bios) {
    const auto told = seen.facts.find(std::string{kBiosFact} + setting.attribute);
    const bool known = told != seen.facts.end();
    if (known && lower_case(told->second) == lower_case(setting.value)) continue;
    findings.push_back({known ? Finding::wrong_setting : Finding::not_observed,
                        "bios " + setting.attribute, setting.value,
                        known ? told->second : "the BMC did not tell", "",
                        fmt::format("cupel bmc NODE bios set {}={}; then restart the node",
                                    setting.attribute, setting.value)});
  }
}

/// What a clock that is off says cannot be held against anything, and its TLS may fail. Not for
/// drift: a BMC may keep local time, and a reading may wait for a controller that was away. A
/// rehearsal's time runs faster than ours.
void judge_clock(std::string_view fact, std::string_view part, std::string_view remedy,
                 const Wanted& wanted, const Seen& seen, std::vector<AuditFinding>& findings) {
  constexpr double kDay = 86400, kHour = 3600;
  const int days = wanted.rehearsal ? 30 : 1;
  const auto told = seen.facts.find(fact);
  const auto ahead = told == seen.facts.end() ? std::nullopt : number<double>(told->second);
  // A node keeps UTC, and a reading that waited can only make it look behind.
  const bool hour =
      fact == kNodeClockFact && !wanted.rehearsal && ahead && *ahead > kHour / 2 && *ahead <= kDay;
  if (!ahead || (!hour && std::abs(*ahead) <= days * kDay)) return;
  const auto amount = std::abs(*ahead);
  findings.push_back({Finding::wrong_clock, std::string{part},
                      hour        ? "at most 30 minutes ahead of ours"
                      : days == 1 ? "within a day of ours"
                                  : "within 30 days of ours",
                      amount >= kDay ? fmt::format("{} days {}", plain(amount / kDay, 0),
                                                   *ahead > 0 ? "ahead" : "behind")
                                     : fmt::format("{} minutes ahead", plain(amount / 60, 0)),
                      "", std::string{remedy}});
}

}  // namespace

std::string_view to_string(Finding finding) { return enum_word<' '>(finding); }

std::vector<AuditFinding> audit(const Profile& profile, const Wanted& wanted, const Seen& seen) {
  std::vector<AuditFinding> findings;
  for (const auto& expected : profile.parts) judge_kind(expected, seen, findings);
  for (const auto& expected : profile.firmware) judge_firmware(expected, seen, findings);
  judge_serial(wanted.serial, seen, findings);
  judge_name(wanted, seen, findings);
  judge_settings(profile, seen, findings);
  judge_clock(kClockFact, "bmc clock", "cupel bmc NODE clock set, and give the BMC an NTP server",
              wanted, seen, findings);
  judge_clock(kNodeClockFact, "node clock", "set it, and start chrony or ntpd", wanted, seen,
              findings);
  judge_health(seen, findings);
  judge_whole(seen, findings);
  std::ranges::sort(findings, {}, &AuditFinding::part);
  return findings;
}

}  // namespace cupel::inventory
