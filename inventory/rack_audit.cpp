#include "inventory/rack_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "inventory/identity.h"

namespace cupel::inventory {
namespace {

using Kind = RackFinding::Kind;
using Findings = std::vector<RackFinding>;

/// The one value that all of these have that have any.
template <class Value, class Of>
std::optional<Value> agreed(const std::vector<RackPlace>& places, Of of) {
  std::optional<Value> value;
  for (const auto& place : places) {
    const auto reported = of(place);
    if (!reported) continue;
    if (value && *value != *reported) return std::nullopt;
    value = reported;
  }
  return value;
}

std::optional<std::string> text_or_nothing(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

/// Chassis serials are one where serial_key() is; shown as first reported.
template <class Of>
std::string of_most(std::span<const SeenTray> trays, Of of) {
  std::map<std::string, std::pair<std::size_t, std::string>> votes;
  std::size_t all = 0;
  for (const auto& tray : trays) {
    const auto reported = of(tray);
    if (reported.empty()) continue;
    auto& [count, shown] = votes[serial_key(reported)];
    if (count++ == 0) shown = reported;
    ++all;
  }
  for (const auto& [key, vote] : votes)
    if (2 * vote.first > all) return vote.second;
  return {};
}

bool is_of(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() || serial_key(one) == serial_key(other);
}

std::string slot_text(const std::optional<int>& slot) {
  return slot ? "slot " + std::to_string(*slot) : "no slot";
}

/// "GPU_0 reports slot 4, GPU_2 slot 5".
std::string reported_by_parts(const SeenTray& tray) {
  std::string text;
  for (const auto& place : tray.places) {
    const auto chassis = place.chassis_serial.empty() ? "" : " of chassis " + place.chassis_serial;
    text += fmt::format("{}{} reports {}{}", text.empty() ? "" : ", ", place.part,
                        slot_text(place.slot), chassis);
  }
  return text;
}

void add_two_answers(std::span<const SeenTray> trays, Findings& findings) {
  for (const auto& tray : trays) {
    const auto has_slot = [](const RackPlace& place) { return place.slot.has_value(); };
    const auto has_chassis = [](const RackPlace& place) { return !place.chassis_serial.empty(); };
    const bool slots = std::ranges::any_of(tray.places, has_slot) && !tray.slot();
    const bool chassis =
        std::ranges::any_of(tray.places, has_chassis) && tray.chassis_serial().empty();
    if (slots || chassis)
      findings.push_back({Kind::two_answers,
                          {tray.name},
                          fmt::format("{}: its parts do not agree where they are: {}", tray.name,
                                      reported_by_parts(tray))});
  }
}

void add_another_bmc(std::span<const SeenTray> trays, Findings& findings) {
  for (const auto& tray : trays) {
    const bool known = tray.expected_mac.empty() || tray.macs.empty() ||
                       std::ranges::find(tray.macs, tray.expected_mac) != tray.macs.end();
    if (!known)
      findings.push_back({Kind::another_bmc,
                          {tray.name},
                          fmt::format("{}: another BMC answers at its address: its MAC is {}, the "
                                      "inventory expects {}",
                                      tray.name, tray.macs.front(), tray.expected_mac)});
  }
}

void add_one_machine(std::span<const SeenTray> trays, Findings& findings) {
  std::map<std::string, std::vector<const SeenTray*>> by_serial;
  for (const auto& tray : trays)
    if (!is_no_serial(tray.serial)) by_serial[serial_key(tray.serial)].push_back(&tray);
  for (const auto& [serial, same] : by_serial) {
    if (same.size() < 2) continue;
    RackFinding finding{.kind = Kind::one_machine};
    for (const auto* tray : same) finding.trays.push_back(tray->name);
    finding.what = fmt::format("one machine answers for {}: serial number {}",
                               fmt::join(finding.trays, " and "), same.front()->serial);
    findings.push_back(std::move(finding));
  }
}

void add_racks(std::span<const SeenTray> trays, const std::string& most, Findings& findings) {
  std::map<std::string, std::vector<std::string>> by_chassis;
  for (const auto& tray : trays)
    if (const auto chassis = tray.chassis_serial(); !chassis.empty())
      by_chassis[serial_key(chassis)].push_back(tray.name);
  if (by_chassis.size() < 2) return;
  if (most.empty()) {
    RackFinding finding{.kind = Kind::several_racks};
    std::string parts;
    for (const auto& [chassis, names] : by_chassis) {
      parts += fmt::format("{}chassis {}: {}", parts.empty() ? "" : "; ", chassis,
                           fmt::join(names, ", "));
      std::ranges::copy(names, std::back_inserter(finding.trays));
    }
    finding.what =
        "the trays report several racks, and none of them has most of the trays: " + parts;
    findings.push_back(std::move(finding));
    return;
  }
  for (const auto& tray : trays)
    if (!is_of(tray.chassis_serial(), most))
      findings.push_back({Kind::another_rack,
                          {tray.name},
                          fmt::format("{} is a tray of another rack: it reports chassis {}, most "
                                      "trays report {}",
                                      tray.name, tray.chassis_serial(), most)});
}

void add_one_slot(const std::vector<const SeenTray*>& trays, Findings& findings) {
  std::map<int, std::vector<std::string>> by_slot;
  for (const auto* tray : trays)
    if (const auto slot = tray->slot()) by_slot[*slot].push_back(tray->name);
  for (const auto& [slot, names] : by_slot)
    if (names.size() > 1)
      findings.push_back({Kind::one_slot, names,
                          fmt::format("{} report one slot: {}", fmt::join(names, " and "), slot)});
}

bool is_misplaced(const SeenTray& tray) {
  const auto slot = tray.slot();
  return slot && tray.expected_slot && *slot != *tray.expected_slot;
}

void add_moved(const std::vector<const SeenTray*>& trays, Findings& findings) {
  std::vector<const SeenTray*> moved;
  for (const auto* tray : trays)
    if (is_misplaced(*tray)) moved.push_back(tray);
  Findings alone;
  while (!moved.empty()) {
    const auto* tray = moved.front();
    moved.erase(moved.begin());
    const auto partner = std::ranges::find_if(moved, [&](const SeenTray* other) {
      return other->slot() == tray->expected_slot && tray->slot() == other->expected_slot;
    });
    if (partner == moved.end()) {
      alone.push_back({Kind::moved,
                       {tray->name},
                       fmt::format("{} is in slot {}, expected in slot {}", tray->name,
                                   *tray->slot(), *tray->expected_slot)});
      continue;
    }
    findings.push_back({Kind::swapped,
                        {tray->name, (*partner)->name},
                        fmt::format("{} and {} are in each other's slots: {} is in slot {}, {} in "
                                    "slot {}",
                                    tray->name, (*partner)->name, tray->name, *tray->slot(),
                                    (*partner)->name, *(*partner)->slot())});
    moved.erase(partner);
  }
  std::ranges::move(alone, std::back_inserter(findings));
}

void add_topologies(std::span<const SeenTray> trays, Findings& findings) {
  const auto most = topology_of_most(trays);
  for (const auto& tray : trays)
    if (!most.empty() && !is_of(tray.topology(), most))
      findings.push_back({Kind::another_topology,
                          {tray.name},
                          fmt::format("{} is set up for another topology: {}, most report {}",
                                      tray.name, tray.topology(), most)});
}

}  // namespace

std::optional<int> SeenTray::slot() const {
  return agreed<int>(places, [](const RackPlace& place) { return place.slot; });
}

std::string SeenTray::chassis_serial() const {
  return agreed<std::string>(
             places, [](const RackPlace& place) { return text_or_nothing(place.chassis_serial); })
      .value_or("");
}

std::string SeenTray::topology() const {
  return agreed<std::string>(places,
                             [](const RackPlace& place) { return text_or_nothing(place.topology); })
      .value_or("");
}

std::string_view to_string(RackFinding::Kind kind) {
  constexpr std::array<std::string_view, 9> kWords{
      "two answers", "another BMC", "one machine", "another rack",    "several racks",
      "one slot",    "swapped",     "moved",       "another topology"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string chassis_of_most(std::span<const SeenTray> trays) {
  return of_most(trays, [](const SeenTray& tray) { return tray.chassis_serial(); });
}

std::string topology_of_most(std::span<const SeenTray> trays) {
  return of_most(trays, [](const SeenTray& tray) { return tray.topology(); });
}

std::vector<RackFinding> audit_rack(std::span<const SeenTray> trays) {
  Findings findings;
  add_two_answers(trays, findings);
  add_another_bmc(trays, findings);
  add_one_machine(trays, findings);
  const auto most = chassis_of_most(trays);
  add_racks(trays, most, findings);
  std::vector<const SeenTray*> ours;
  for (const auto& tray : trays)
    if (is_of(tray.chassis_serial(), most)) ours.push_back(&tray);
  add_one_slot(ours, findings);
  add_moved(ours, findings);
  add_topologies(trays, findings);
  return findings;
}

}  // namespace cupel::inventory
