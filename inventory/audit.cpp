#include "inventory/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "base/enum_words.h"
#include "base/text.h"
#include "inventory/expected_parts.h"
#include "inventory/identity.h"
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

std::string expected_words(const ExpectedParts& expected) {
  return fmt::format("{} {}s", expected.count, to_string(expected.kind));
}

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

/// A GH200 is no H200, a GB200 no B200 and an A100 no A10; an A10G is an A10.
bool has_gpu_name(std::string_view reported, std::string_view name) {
  for (auto at = reported.find(name); at != reported.npos; at = reported.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(reported[at - 1])) == 0;
    const bool ends =
        end == reported.size() || std::isdigit(static_cast<unsigned char>(reported[end])) == 0;
    if (begins && ends) return true;
  }
  return false;
}

bool model_fits(const Part& part, const std::vector<std::string>& expected) {
  const auto reported = lower_case(part.model);
  return std::ranges::any_of(expected, [&](const std::string& each) {
    const auto name = lower_case(each);
    return part.kind == PartKind::gpu ? has_gpu_name(reported, name) : reported.contains(name);
  });
}

/// Counts of adapters and drives differ between what a BMC lists and what the system sees (a
/// dual-port card is one and two): for these the node's own word goes first.
bool node_first(PartKind kind) {
  return kind == PartKind::hca || kind == PartKind::nvme || kind == PartKind::nic;
}

/// The parts of one kind as one source lists them.
struct Listed {
  Parts parts{};
  const PartialList* partial = nullptr;  // why it does not list all of them; nullptr: it does
  std::span<const PartPlace> places{};   // where machines like it have them, by this source
  bool by_bmc = false;

  int count() const { return static_cast<int>(parts.size()); }
};

/// What is missing of a list, by the places where a machine of its kind has parts.
class MissingNames {
 public:
  MissingNames(const ExpectedParts& expected, const Listed& listed)
      : expected_{expected},
        listed_{listed},
        gone_{static_cast<std::size_t>(std::max(0, expected.count - listed.count()))} {}

  /// As many as are missing; none where nothing says which ones: numbers that the kernel or the BMC
  /// gave to what is there say nothing of what is not.
  std::vector<std::string> all() const {
    for (const auto& names : {of_places(of_profile()), of_places(listed_.places), of_rows()})
      if (!names.empty() && names.size() == gone_) return names;
    return {};
  }

 private:
  std::string_view kind() const { return to_string(expected_.kind); }

  /// PCI addresses are the node's; slots stand on the machine. The kernel numbers HCAs and drives
  /// as they answer: a place has no name of its own there.
  std::vector<PartPlace> of_profile() const {
    std::vector<PartPlace> places;
    const auto& slots = listed_.by_bmc || expected_.pci.empty() ? expected_.slots : expected_.pci;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      std::string name;
      if (expected_.kind == PartKind::dimm)
        name = "dimm " + slots[i];
      else if (listed_.by_bmc || !node_first(expected_.kind))
        name = fmt::format("{}{}", kind(), i);
      places.push_back({expected_.kind, listed_.by_bmc, std::move(name), slots[i]});
    }
    return places;
  }

  bool is_at(const Part& part, const PartPlace& place) const {
    return !part.slot.empty() &&
           (same_pci(part.slot, place.slot) || lower_case(part.slot) == lower_case(place.slot));
  }

  /// Places where this list has nothing; none at all where a part of it is in another place.
  std::vector<std::string> of_places(std::span<const PartPlace> places) const {
    std::vector<std::string> names;
    std::size_t taken = 0;
    for (const auto& place : places) {
      const auto there = std::ranges::count_if(
          listed_.parts, [&](const Part* part) { return is_at(*part, place); });
      taken += static_cast<std::size_t>(there);
      if (there == 0) names.push_back(free_name(place));
    }
    return taken == listed_.parts.size() ? names : std::vector<std::string>{};
  }

  /// The name that the part has elsewhere, where no other part of this machine goes by it.
  std::string free_name(const PartPlace& place) const {
    const bool taken = std::ranges::any_of(
        listed_.parts, [&](const Part* part) { return part->name == place.name; });
    return place.name.empty() || taken ? fmt::format("{} at {}", kind(), place.slot) : place.name;
  }

  /// Names in rows, each of the same numbers: "dimm A1..A16, B1..B16" without A3, "GPU_SXM_1..8"
  /// without 6. Only where that makes exactly as many as are expected: of 1 to 5 of six nothing
  /// says whether 0 or 6 is missing.
  std::vector<std::string> of_rows() const {
    std::map<std::string, std::set<int>> rows;
    std::set<int> requested;
    for (const auto* part : listed_.parts) {
      const auto digits = part->name.find_last_not_of("0123456789") + 1;
      const auto value = number<int>(std::string_view{part->name}.substr(digits));
      if (!value) return {};
      rows[part->name.substr(0, digits)].insert(*value);
      requested.insert(*value);
    }
    if (rows.empty()) return {};
    const auto expected = static_cast<std::size_t>(expected_.count);
    if (rows.size() == 1) {
      const int first = *requested.begin(), last = *requested.rbegin();
      if (static_cast<std::size_t>(last - first) + 1 != expected) return {};
      for (int each = first; each <= last; ++each) requested.insert(each);
    }
    if (rows.size() * requested.size() != expected) return {};
    std::vector<std::string> names;
    for (const auto& [stem, there] : rows)
      for (const int each : requested)
        if (!there.contains(each)) names.push_back(stem + std::to_string(each));
    return names;
  }

  const ExpectedParts& expected_;
  const Listed& listed_;
  std::size_t gone_;
};

/// Judges the parts of one kind as one source tells them.
class OneSource {
 public:
  OneSource(const ExpectedParts& expected, const Listed& listed,
            std::vector<AuditFinding>& findings)
      : expected_{expected}, listed_{listed}, findings_{findings} {}

  /// Each part that is there.
  void judge_parts() {
    for (const auto* part : listed_.parts) each(*part);
  }

  void report_missing(const std::string& seen_by_others) {
    const auto names = MissingNames{expected_, listed_}.all();
    for (const auto& name : names)
      report(Finding::missing, name, seen_by_others, remedy_of(expected_.kind));
    if (names.empty())
      report(Finding::missing, std::string{to_string(expected_.kind)}, seen_by_others,
             "find out which one it is, by the places of another machine; then " +
                 remedy_of(expected_.kind));
  }

  void report_extra() {
    report(Finding::extra, std::string{to_string(expected_.kind)}, {}, remedy_of(expected_.kind));
  }

 private:
  void report(Finding finding, std::string part, const std::string& seen_by_others,
              std::string remedy) {
    findings_.push_back({finding, std::move(part), expected_words(expected_),
                         std::to_string(listed_.count()) + seen_by_others,
                         listed_.parts.empty() ? std::string{} : listed_.parts.front()->source,
                         std::move(remedy), PartCount{listed_.count(), expected_.count}});
  }

  void each(const Part& part) {
    if (!expected_.models.empty() && !part.model.empty() && !model_fits(part, expected_.models))
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

  void blame(Finding finding, const Part& part, std::string expected, std::string observed) {
    auto remedy = finding == Finding::wrong_model
                      ? "exchange it for the model that was ordered, or correct the profile"
                      : remedy_of(expected_.kind);
    findings_.push_back({finding, part.name, std::move(expected), observed + serial_words(part),
                         part.source, std::move(remedy)});
  }

  const ExpectedParts& expected_;
  const Listed& listed_;
  std::vector<AuditFinding>& findings_;
};

/// A profile counts the HCAs that the system sees, and a BMC lists cards: one with two ports is two
/// HCAs and one card. Fewer cards than HCAs are no evidence that one is missing.
bool may_count_cards(const ExpectedParts& expected, const Parts& by_bmc) {
  return expected.kind == PartKind::hca && static_cast<int>(by_bmc.size()) < expected.count;
}

/// One property of each part that the profile asks for.
struct ExpectedProperty {
  std::string_view name;
  std::string expected;  // empty: the profile does not ask for it
  bool (*is_reported)(const Part*);
};

/// A property that no judged source reports for every part is not as the profile says, only not
/// contradicted: no evidence, so no pass.
void judge_silence(const ExpectedParts& expected, std::span<const Parts> judged,
                   std::vector<AuditFinding>& findings) {
  const ExpectedProperty properties[] = {
      {"model", fmt::format("{}", fmt::join(expected.models, " or ")),
       [](const Part* part) { return !part->model.empty(); }},
      {"size", expected.size_bytes ? gib(*expected.size_bytes) : std::string{},
       [](const Part* part) { return part->size_bytes.has_value(); }},
      {"core count", expected.cores ? plain(*expected.cores) + " cores" : std::string{},
       [](const Part* part) { return part->count.has_value(); }}};
  for (const auto& [name, requested, is_reported] : properties) {
    if (requested.empty()) continue;
    const auto whole = [&](const Parts& parts) { return std::ranges::all_of(parts, is_reported); };
    if (std::ranges::any_of(judged, whole)) continue;
    const auto& first = judged.front();
    const auto why = fmt::format("its {} is not reported", name);
    const auto blame = [&](const std::string& part, const std::string& source) {
      findings.push_back(
          {Finding::not_observed, part, requested, why, source, "look at the machine"});
    };
    if (std::ranges::none_of(first, is_reported)) {
      blame(std::string{to_string(expected.kind)}, first.front()->source);
      continue;
    }
    for (const auto* part : first)
      if (!is_reported(part)) blame(part->name, part->source);
  }
}

/// Whether parts of the kind are missing is not known.
AuditFinding undecided(const ExpectedParts& expected, std::string observed, std::string source,
                       std::string remedy) {
  return {Finding::not_observed,    std::string{to_string(expected.kind)},
          expected_words(expected), std::move(observed),
          std::move(source),        std::move(remedy)};
}

/// A list that is short and not whole: what it lacks may be there.
AuditFinding not_read(const ExpectedParts& expected, const Listed& listed) {
  const auto& [kind, source, why, passing] = *listed.partial;
  return undecided(
      expected,
      fmt::format("{} listed by the {}, which could not be read whole: {}: {}", listed.count(),
                  listed.by_bmc ? "BMC" : "node", source, why),
      source,
      passing ? "read it again: cupel retry RUN NODE --from bmc-facts" : "look at the machine");
}

bool names_one_of(const Parts& parts, std::span<const std::string> names) {
  return std::ranges::any_of(
      parts, [&](const Part* part) { return std::ranges::find(names, part->name) != names.end(); });
}

/// How many there are, as the node lists them. What it lists is there and can be used, whatever the
/// BMC lists of it.
void count_by_node(const ExpectedParts& expected, const Listed& node, const Listed& bmc,
                   std::vector<AuditFinding>& findings) {
  OneSource source{expected, node, findings};
  if (node.count() > expected.count) return source.report_extra();
  if (node.count() == expected.count) return;
  const bool bmc_has_all = bmc.count() >= expected.count;
  if (node.partial == nullptr)
    return source.report_missing(bmc_has_all ? fmt::format("; the BMC lists {}", bmc.count()) : "");
  if (bmc_has_all) return;
  const bool by_bmc = !bmc.parts.empty() && bmc.partial == nullptr;
  const auto names = by_bmc ? MissingNames{expected, bmc}.all() : std::vector<std::string>{};
  if (names.empty() || names_one_of(node.parts, names))
    return findings.push_back(not_read(expected, node));
  OneSource{expected, bmc, findings}.report_missing({});
}

/// How many there are, as the BMC lists them; `node_has_all`: the node lists as many as there
/// should be.
void count_by_bmc(const ExpectedParts& expected, const Listed& bmc, bool node_has_all,
                  std::vector<AuditFinding>& findings) {
  OneSource source{expected, bmc, findings};
  if (bmc.count() > expected.count) return source.report_extra();
  if (bmc.count() == expected.count) return;
  if (node_has_all && bmc.partial != nullptr) return;
  if (node_has_all)
    return findings.push_back(undecided(
        expected, fmt::format("{} by the BMC, {} by the node", bmc.count(), expected.count),
        bmc.parts.front()->source, "find out which of them the BMC does not list"));
  if (may_count_cards(expected, bmc.parts))
    return findings.push_back(undecided(
        expected,
        fmt::format("{} adapters by the BMC alone, some of which may have two ports", bmc.count()),
        bmc.parts.front()->source, "turn the node on: it counts its own HCAs"));
  if (bmc.partial != nullptr) return findings.push_back(not_read(expected, bmc));
  source.report_missing({});
}

void judge_kind(const ExpectedParts& expected, const Seen& seen,
                std::span<const PartPlace> all_places, std::vector<AuditFinding>& findings) {
  std::vector<PartPlace> places[2];
  for (const auto& each : all_places)
    if (each.kind == expected.kind) places[each.by_bmc ? 1 : 0].push_back(each);
  const Listed node{of_kind(seen.by_node, expected.kind),
                    partial_list(seen.partial_by_node, expected.kind), places[0], false};
  const Listed bmc{of_kind(seen.by_bmc, expected.kind),
                   partial_list(seen.partial_by_bmc, expected.kind), places[1], true};
  if (node.parts.empty() && bmc.parts.empty()) {
    if (expected.count == 0) return;
    const auto* why = bmc.partial != nullptr ? bmc.partial : node.partial;
    findings.push_back(
        undecided(expected,
                  why == nullptr ? "neither the BMC nor the node reported it"
                                 : fmt::format("not read: {}: {}", why->source, why->why),
                  why == nullptr ? std::string{} : why->source, "look at the machine"));
    return;
  }
  const auto before = findings.size();
  std::vector<Parts> judged;
  if (!node.parts.empty()) {
    judged.push_back(node.parts);
    count_by_node(expected, node, bmc, findings);
    OneSource{expected, node, findings}.judge_parts();
  }
  const bool settled =
      findings.size() > before || (!node.parts.empty() && node_first(expected.kind));
  if (!settled && !bmc.parts.empty()) {
    const bool node_has_all = !node.parts.empty() && node.count() == expected.count;
    // A node that could not list all of them has left the count to the BMC.
    if (node.parts.empty() || node_has_all) count_by_bmc(expected, bmc, node_has_all, findings);
    judged.push_back(bmc.parts);
    OneSource{expected, bmc, findings}.judge_parts();
  }
  judge_silence(expected, judged, findings);
}

void judge_firmware(const ExpectedFirmware& expected, const Seen& seen,
                    std::vector<AuditFinding>& findings) {
  bool reported = false;
  for (const auto& parts : {seen.by_bmc, seen.by_node})
    for (const auto& part : parts) {
      if (part.firmware.empty() || !covers(expected, part)) continue;
      reported = true;
      if (is_expected_version(expected, part.firmware)) continue;
      findings.push_back({Finding::wrong_firmware, "firmware " + part.name,
                          expected_version(expected), part.firmware, part.source,
                          "bring it to the baseline: cupel firmware plan NODE"});
    }
  if (!reported)
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
  const auto reported = seen.facts.find(kCriticalFact);
  if (reported == seen.facts.end()) return;
  for (const auto name : split(reported->second, '\n'))
    if (!name.empty())
      findings.push_back(
          {Finding::unhealthy, std::string{name}, "OK", "Critical", "", std::string{kRemedy}});
}

void judge_serial(const std::string& requested, const Seen& seen,
                  std::vector<AuditFinding>& findings) {
  std::string by_node;
  for (const auto* system : of_kind(seen.by_node, PartKind::system)) by_node = system->serial;
  const auto blame = [&](std::string expected, const std::string& observed, std::string remedy) {
    findings.push_back(
        {Finding::wrong_serial, "system", std::move(expected), observed, "", std::move(remedy)});
  };
  constexpr std::string_view kAnother =
      "this is another machine: check the cabling, or correct the inventory";
  const auto differ = [](std::string_view one, std::string_view other) {
    return !is_no_serial(one) && !is_no_serial(other) && serial_key(one) != serial_key(other);
  };
  if (differ(requested, seen.serial)) return blame(requested, seen.serial, std::string{kAnother});
  if (differ(requested, by_node)) return blame(requested, by_node, std::string{kAnother});
  if (requested.empty() && differ(seen.serial, by_node))
    blame("one machine", "BMC " + seen.serial + ", node " + by_node,
          "the BMC is another machine's than the node's address: check both cables");
}

void judge_name(const ExpectedNode& expected, const Seen& seen,
                std::vector<AuditFinding>& findings) {
  const auto reported = seen.facts.find(kHostNameFact);
  if (reported == seen.facts.end() || reported->second.empty() || expected.names.empty()) return;
  const auto name = lower_case(reported->second.substr(0, reported->second.find('.')));
  const bool fits = std::ranges::any_of(expected.names, [&](const std::string& each) {
    return lower_case(each.substr(0, each.find('.'))) == name;
  });
  if (fits) return;
  // The name of another machine is right, there.
  const bool is_another = std::ranges::any_of(findings, [](const AuditFinding& each) {
    return each.finding == Finding::wrong_serial && each.part == "system";
  });
  findings.push_back(
      {Finding::wrong_name, "host name", expected.names.front(), reported->second,
       "/proc/sys/kernel/hostname",
       is_another
           ? "this is another machine: check the cabling, or correct the inventory"
           : "hostnamectl set-hostname, or correct the inventory (host_name: NAME, or any)"});
}

void judge_settings(const Profile& profile, const Seen& seen, std::vector<AuditFinding>& findings) {
  for (const auto& setting : profile.bios) {
    const auto reported = seen.facts.find(std::string{kBiosFact} + setting.attribute);
    const bool known = reported != seen.facts.end();
    if (known && lower_case(reported->second) == lower_case(setting.value)) continue;
    findings.push_back({known ? Finding::wrong_setting : Finding::not_observed,
                        "bios " + setting.attribute, setting.value,
                        known ? reported->second : "the BMC did not tell", "",
                        fmt::format("cupel bmc NODE bios set {}={}; then restart the node",
                                    setting.attribute, setting.value)});
  }
}

/// What a clock that is off says cannot be held against anything, and its TLS may fail. Not for
/// drift: a BMC may keep local time. A node keeps UTC, and what its reading waited for us is no
/// part of the fact; a node that is off by more than the five minutes that a credential of MUNGE
/// lives cannot work in Slurm (munge(1), --ttl). A rehearsal's time runs faster than ours.
void judge_clock(std::string_view fact, std::string_view part, std::string_view remedy,
                 const ExpectedNode& expected, const Seen& seen,
                 std::vector<AuditFinding>& findings) {
  constexpr double kDay = 86400, kMinutes = 300;
  const int days = expected.rehearsal ? 30 : 1;
  const auto reported = seen.facts.find(fact);
  const auto ahead = reported == seen.facts.end() ? std::nullopt : number<double>(reported->second);
  if (!ahead) return;
  const auto amount = std::abs(*ahead);
  const bool minutes = fact == kNodeClockFact && !expected.rehearsal && amount <= kDay;
  if (amount <= (minutes ? kMinutes : days * kDay)) return;
  const auto* way = *ahead > 0 ? "ahead" : "behind";
  findings.push_back({Finding::wrong_clock, std::string{part},
                      minutes     ? "within 5 minutes of ours"
                      : days == 1 ? "within a day of ours"
                                  : "within 30 days of ours",
                      amount >= kDay ? fmt::format("{} days {}", plain(amount / kDay, 0), way)
                                     : fmt::format("{} minutes {}", plain(amount / 60, 0), way),
                      "", std::string{remedy}});
}

}  // namespace

std::string_view to_string(Finding finding) { return enum_word<' '>(finding); }

std::vector<AuditFinding> audit(const Profile& profile, const ExpectedNode& requested,
                                const Seen& seen) {
  std::vector<AuditFinding> findings;
  for (const auto& expected : profile.parts) judge_kind(expected, seen, requested.places, findings);
  for (const auto& expected : profile.firmware) judge_firmware(expected, seen, findings);
  judge_serial(requested.serial, seen, findings);
  judge_name(requested, seen, findings);
  judge_settings(profile, seen, findings);
  judge_clock(kClockFact, "bmc clock", "cupel bmc NODE clock set, and give the BMC an NTP server",
              requested, seen, findings);
  judge_clock(
      kNodeClockFact, "node clock",
      "set it, and start chrony or ntpd; where all nodes are off, look at this machine's clock",
      requested, seen, findings);
  judge_health(seen, findings);
  judge_whole(seen, findings);
  std::ranges::sort(findings, {}, &AuditFinding::part);
  return findings;
}

}  // namespace cupel::inventory
