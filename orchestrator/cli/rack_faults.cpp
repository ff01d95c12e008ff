// What is wrong in a rack, of what its parts say.
#include <fmt/format.h>

#include "base/text.h"
#include "orchestrator/cli/rack_page.h"

namespace cupel::cli {
namespace {

using bmc::rack::BmcReading;
using bmc::rack::SwitchReading;
using Faults = std::vector<RackFault>;

void add_leaks(const std::vector<DeviceReading<BmcReading>>& devices, Faults& faults) {
  for (const auto& one : devices) {
    if (!one.reading) continue;
    for (const auto& leak : one.reading->leaks)
      if (!leak.state.empty() && lower_case(leak.state) != "ok")
        faults.push_back(
            {"leak", {one.name}, fmt::format("{}: {} is {}", one.name, leak.name, leak.state)});
    for (const auto& past : one.reading->latched)
      faults.push_back({"leak in the log",
                        {one.name},
                        fmt::format("{}: its log reports a leak at {}: {}", one.name, past.detector,
                                    past.message)});
  }
}

void add_switch(const DeviceReading<SwitchReading>& one, Faults& faults) {
  if (!one.reading) return;
  for (const auto& [sensor, state] : one.reading->leakage)
    if (state != "ok")
      faults.push_back(
          {"leak",
           {one.name},
           fmt::format("{}: {} is {}", one.name, sensor, state.empty() ? "not reported" : state)});
  const auto& health = one.reading->health;
  if (health.status.empty() || lower_case(health.status) == "ok") return;
  std::string issues;
  for (const auto& [part, issue] : health.issues)
    issues += fmt::format("{}{}: {}", issues.empty() ? "" : "; ", part, issue);
  faults.push_back({"health",
                    {one.name},
                    fmt::format("{}: its health is {}{}{}", one.name, health.status,
                                issues.empty() ? "" : ": ", issues)});
}

/// Exactly one switch has the cluster on, and its controller is configured.
void add_controllers(const RackPage& page, Faults& faults) {
  std::vector<const DeviceReading<SwitchReading>*> on;
  bool all_read = true;
  for (const auto& one : page.switches) {
    all_read = all_read && one.reading.has_value();
    if (one.reading && one.reading->cluster.state == "enabled") on.push_back(&one);
  }
  if (on.size() > 1) {
    RackFault fault{.kind = "controller"};
    for (const auto* one : on) fault.devices.push_back(one->name);
    fault.what = fmt::format("{} have the cluster on: one switch alone may control the domain",
                             fmt::join(fault.devices, " and "));
    faults.push_back(std::move(fault));
  }
  if (on.empty() && all_read && !page.switches.empty())
    faults.push_back(
        {"controller", {}, "no switch has the cluster on: nothing controls the domain"});
  for (const auto* one : on) {
    const auto why = not_controlling(one->reading->cluster, one->reading->controller);
    for (const auto& each : why)
      faults.push_back({"controller", {one->name}, fmt::format("{}: {}", one->name, each)});
  }
}

void add_partitions(const RackPage& page, Faults& faults) {
  for (const auto& one : page.switches) {
    if (!one.reading) continue;
    for (const auto& each : one.reading->partitions)
      if (each.health != "healthy")
        faults.push_back({"partition",
                          {one.name},
                          fmt::format("{}: partition {} ({}) is {}", one.name, each.id, each.name,
                                      each.health.empty() ? "not reported" : each.health)});
  }
}

/// Of a rack whose trays are all in the inventory, the GPUs that no partition has.
void add_missing_gpus(const RackPage& page, Faults& faults) {
  const auto& kind = *page.rack->kind;
  if (page.rack->compute.size() != kind.compute) return;
  for (const auto& one : page.switches) {
    if (!one.reading || one.reading->partitions.empty()) continue;
    int held = 0;
    for (const auto& each : one.reading->partitions) {
      if (!each.gpus) return;  // nobody knows
      held += *each.gpus;
    }
    if (held != kind.gpus)
      faults.push_back(
          {"partition",
           {one.name},
           fmt::format("{}: its partitions hold {} of {} GPUs", one.name, held, kind.gpus)});
  }
}

/// A compute tray that answered, and said nothing of its slot or of leaks.
void add_silent_trays(const RackPage& page, std::vector<std::string>& lines) {
  for (const auto& one : page.compute) {
    if (!one.reading) continue;
    const auto has_slot = [](const inventory::RackPlace& place) { return place.slot.has_value(); };
    if (std::ranges::none_of(one.reading->places, has_slot))
      lines.push_back(one.name + ": slots of the GPUs: not reported");
    if (one.reading->leaks.empty()) lines.push_back(one.name + ": leak detectors: none reported");
  }
}

void add_supplies(const std::vector<DeviceReading<BmcReading>>& shelves, Faults& faults) {
  for (const auto& one : shelves) {
    if (!one.reading) continue;
    for (const auto& part : one.reading->parts)
      if (part.health == "Critical" || part.health == "Warning")
        faults.push_back(
            {"health", {one.name}, fmt::format("{}: {} is {}", one.name, part.name, part.health)});
    for (const auto& sensor : one.reading->sensors)
      if (sensor.health == "Critical" || sensor.health == "Warning")
        faults.push_back({"health",
                          {one.name},
                          fmt::format("{}: {} is {}", one.name, sensor.name, sensor.health)});
  }
}

template <class Reading>
void add_not_read(const std::vector<DeviceReading<Reading>>& devices,
                  std::vector<std::string>& lines) {
  for (const auto& one : devices) {
    if (!one.reading) {
      const std::string_view what = one.reading.error().what;
      const bool names_it = what.starts_with(one.name);
      lines.push_back(fmt::format("{}{}{}", names_it ? "" : one.name, names_it ? "" : ": ", what));
      continue;
    }
    for (const auto& each : one.reading->unknown)
      lines.push_back(fmt::format("{}: {}: {}", one.name, each.fact, each.why));
  }
}

}  // namespace

std::vector<inventory::SeenTray> seen_trays(const RackPage& page) {
  std::vector<inventory::SeenTray> all;
  const auto& rack = *page.rack;
  for (std::size_t i = 0; i < page.compute.size(); ++i) {
    const auto& one = page.compute[i];
    inventory::SeenTray tray{
        .name = one.name, .expected_slot = one.slot, .expected_mac = rack.compute[i].bmc.mac};
    if (one.reading) {
      tray.serial = one.reading->identity.serial;
      tray.macs = one.reading->identity.bmc_macs;
      tray.places = one.reading->places;
    }
    all.push_back(std::move(tray));
  }
  for (std::size_t i = 0; i < page.switches.size(); ++i) {
    const auto& one = page.switches[i];
    inventory::SeenTray tray{.name = one.name, .is_switch = true, .expected_slot = one.slot};
    if (rack.switches[i].bmc) tray.expected_mac = rack.switches[i].bmc->mac;
    const auto is_its = [&](const auto& bmc) { return bmc.name == one.name; };
    const auto bmc = std::ranges::find_if(page.switch_bmcs, is_its);
    if (bmc != page.switch_bmcs.end() && bmc->reading) {
      tray.macs = bmc->reading->identity.bmc_macs;
      tray.serial = bmc->reading->identity.serial;
    }
    if (one.reading) tray.places = {one.reading->place};
    if (one.reading && !one.reading->platform.serial.empty())
      tray.serial = one.reading->platform.serial;
    all.push_back(std::move(tray));
  }
  return all;
}

std::vector<RackFault> faults_of(const RackPage& page) {
  Faults faults;
  for (auto& each : audit_rack(seen_trays(page)))
    faults.push_back(
        {std::string{to_string(each.kind)}, std::move(each.trays), std::move(each.what)});
  add_leaks(page.compute, faults);
  add_leaks(page.switch_bmcs, faults);
  add_leaks(page.shelves, faults);
  add_leaks(page.cdu, faults);
  for (const auto& one : page.switches) add_switch(one, faults);
  add_controllers(page, faults);
  add_partitions(page, faults);
  add_missing_gpus(page, faults);
  add_supplies(page.shelves, faults);
  add_supplies(page.cdu, faults);
  return faults;
}

std::vector<std::string> not_read(const RackPage& page) {
  std::vector<std::string> lines;
  add_not_read(page.compute, lines);
  add_silent_trays(page, lines);
  add_not_read(page.switch_bmcs, lines);
  add_not_read(page.switches, lines);
  add_not_read(page.shelves, lines);
  add_not_read(page.cdu, lines);
  return lines;
}

}  // namespace cupel::cli
