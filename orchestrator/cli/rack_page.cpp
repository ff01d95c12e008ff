#include "orchestrator/cli/rack_page.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/readable_json.h"
#include "base/text.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/record/codec.h"

namespace cupel::cli {
namespace {

namespace json = boost::json;
using bmc::rack::BmcReading;
using bmc::rack::SwitchReading;
using inventory::RackPlace;

/// Lines of what was not read that a page shows; the object has all of them.
constexpr std::size_t kMostLines = 40;

std::string number_or(const std::optional<int>& number, std::string_view otherwise) {
  return number ? std::to_string(*number) : std::string{otherwise};
}

/// "slot 4, tray 3", of whoever says it; "slot 4 | slot 5" where they differ.
std::string place_text(const std::vector<RackPlace>& places) {
  std::vector<std::string> all;
  for (const auto& place : places) {
    auto text = place.slot ? "slot " + std::to_string(*place.slot) : std::string{"no slot"};
    if (place.tray) text += ", tray " + std::to_string(*place.tray);
    if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
  }
  return all.empty() ? "nothing" : fmt::format("{}", fmt::join(all, " | "));
}

std::string leaks_text(const BmcReading& reading) {
  if (reading.leaks.empty()) return "no leak detector";
  std::size_t bad = 0;
  for (const auto& leak : reading.leaks) bad += lower_case(leak.state) == "ok" ? 0 : 1;
  const auto past = reading.latched.empty() ? "" : ", leak in the log";
  return bad == 0
             ? fmt::format("{} leak detectors OK{}", reading.leaks.size(), past)
             : fmt::format("{} of {} leak detectors not OK{}", bad, reading.leaks.size(), past);
}

Row row_of(const DeviceReading<BmcReading>& one) {
  const auto slot = number_or(one.slot, "-");
  if (!one.reading) return {slot, one.name, one.node, "not read", "", "", ""};
  const auto& reading = *one.reading;
  return {slot,
          one.name,
          one.node,
          place_text(reading.places),
          reading.identity.serial,
          reading.identity.model,
          leaks_text(reading)};
}

Row row_of(const DeviceReading<SwitchReading>& one) {
  const auto slot = number_or(one.slot, "-");
  if (!one.reading) return {slot, one.name, "", "not read", "", "", ""};
  const auto& reading = *one.reading;
  auto state =
      "cluster " + (reading.cluster.state.empty() ? "not reported" : reading.cluster.state);
  if (reading.controller && reading.cluster.state == "enabled")
    state +=
        ", nmx-controller " + reading.controller->status + " " + reading.controller->control_plane;
  return {slot,
          one.name,
          "",
          place_text({reading.place}),
          reading.platform.serial,
          reading.platform.product + " " + reading.images.running(),
          state};
}

/// By the slot that is expected, else by the one that is reported; those without one last.
int order_of(const std::optional<int>& expected, const std::vector<RackPlace>& places) {
  if (expected) return *expected;
  for (const auto& place : places)
    if (place.slot) return *place.slot;
  return inventory::kHighestSlot + 1;
}

std::string trays_text(const RackPage& page) {
  std::vector<std::pair<int, Row>> rows;
  for (const auto& one : page.compute)
    rows.emplace_back(
        order_of(one.slot, one.reading ? one.reading->places : std::vector<RackPlace>{}),
        row_of(one));
  for (const auto& one : page.switches)
    rows.emplace_back(order_of(one.slot, one.reading ? std::vector{one.reading->place}
                                                     : std::vector<RackPlace>{}),
                      row_of(one));
  std::ranges::stable_sort(rows, {}, &std::pair<int, Row>::first);
  std::vector<Row> all{{"slot", "tray", "node", "reports", "serial", "model", "state"}};
  for (auto& [slot, row] : rows) all.push_back(std::move(row));
  return table(all);
}

std::string equipment_text(const RackPage& page) {
  std::vector<Row> rows{{"equipment", "model", "serial", "supplies", "power"}};
  const auto add = [&](const DeviceReading<BmcReading>& one) {
    if (!one.reading) return rows.push_back({one.name, "not read", "", "", ""});
    std::size_t supplies = 0;
    for (const auto& part : one.reading->parts)
      supplies += part.kind == inventory::PartKind::psu ? 1 : 0;
    const auto watts = one.reading->watts ? plain(*one.reading->watts, 0) + " W" : "";
    rows.push_back({one.name, one.reading->identity.model, one.reading->identity.serial,
                    supplies == 0 ? "" : std::to_string(supplies), watts});
  };
  for (const auto& one : page.shelves) add(one);
  for (const auto& one : page.cdu) add(one);
  return rows.size() == 1 ? "" : "\n" + table(rows) + "\n";
}

std::string partitions_text(const RackPage& page) {
  std::vector<Row> rows{{"partition", "name", "GPUs", "health", "reported by"}};
  for (const auto& one : page.switches)
    if (one.reading)
      for (const auto& each : one.reading->partitions)
        rows.push_back({each.id, each.name, number_or(each.gpus, "-"), each.health, one.name});
  return rows.size() == 1 ? "" : "\n" + table(rows) + "\n";
}

std::string faults_text(const std::vector<RackFault>& faults) {
  if (faults.empty()) return "nothing contradicts\n";
  std::string text = fmt::format("{} wrong:\n", faults.size());
  for (const auto& each : faults) text += "  " + printable(each.what) + "\n";
  return text;
}

std::string not_read_text(const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = fmt::format("{} not read, and not known to be well:\n", lines.size());
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i)
    text += "  " + printable(lines[i]) + "\n";
  if (lines.size() > kMostLines)
    text += fmt::format("  and {} more: --json has them all\n", lines.size() - kMostLines);
  return text;
}

json::object object_of_place(const RackPlace& place) {
  json::object object{{"part", place.part}};
  if (place.slot) object["slot"] = *place.slot;
  if (place.tray) object["tray"] = *place.tray;
  if (place.host) object["host"] = *place.host;
  if (place.module) object["module"] = *place.module;
  if (!place.chassis_serial.empty()) object["chassis_serial"] = place.chassis_serial;
  if (!place.topology.empty()) object["topology"] = place.topology;
  return object;
}

template <class Reading>
json::object object_of_device(const DeviceReading<Reading>& one) {
  json::object object{{"name", one.name}};
  if (one.slot) object["expected_slot"] = *one.slot;
  if (!one.node.empty()) object["node"] = one.node;
  if (!one.reading) {
    object["error"] = one.reading.error().what;
    object["code"] = to_string(one.reading.error().code);
  }
  return object;
}

json::array array_of_leaks(const BmcReading& reading) {
  json::array leaks;
  for (const auto& leak : reading.leaks)
    leaks.push_back(json::object{{"detector", leak.name}, {"state", leak.state}});
  for (const auto& past : reading.latched)
    leaks.push_back(json::object{{"detector", past.detector}, {"in_log", past.message}});
  return leaks;
}

json::object object_of_bmc(const DeviceReading<BmcReading>& one) {
  auto object = object_of_device(one);
  if (!one.reading) return object;
  const auto& reading = *one.reading;
  object["vendor"] = reading.identity.vendor;
  object["model"] = reading.identity.model;
  object["serial"] = reading.identity.serial;
  object["bmc_macs"] = json::value_from(reading.identity.bmc_macs);
  json::array places;
  for (const auto& place : reading.places) places.push_back(object_of_place(place));
  object["places"] = std::move(places);
  object["leak_detectors"] = array_of_leaks(reading);
  if (!reading.parts.empty()) object["parts"] = record::to_json(reading.parts);
  if (reading.watts) object["watts"] = *reading.watts;
  object["unknown"] = record::to_json(reading.unknown);
  return object;
}

json::object object_of_switch(const DeviceReading<SwitchReading>& one) {
  auto object = object_of_device(one);
  if (!one.reading) return object;
  const auto& reading = *one.reading;
  object["serial"] = reading.platform.serial;
  object["product"] = reading.platform.product;
  object["image"] = reading.images.running();
  object["places"] = json::array{object_of_place(reading.place)};
  object["cluster"] =
      json::object{{"state", reading.cluster.state}, {"connection", reading.cluster.connection}};
  if (reading.controller)
    object["nmx_controller"] = json::object{{"status", reading.controller->status},
                                            {"reason", reading.controller->reason},
                                            {"control_plane", reading.controller->control_plane}};
  json::array partitions;
  for (const auto& each : reading.partitions) {
    json::object partition{{"id", each.id}, {"name", each.name}, {"health", each.health}};
    if (each.gpus) partition["gpus"] = *each.gpus;
    partitions.push_back(std::move(partition));
  }
  object["partitions"] = std::move(partitions);
  object["health"] = reading.health.status;
  object["leak_sensors"] = json::value_from(reading.leakage);
  object["answered_at"] = reading.port;
  object["unknown"] = record::to_json(reading.unknown);
  return object;
}

}  // namespace

std::string text_of(const RackPage& page) {
  const auto trays = seen_trays(page);
  const auto or_unknown = [](const std::string& text) {
    return text.empty() ? std::string{"unknown"} : text;
  };
  const auto head =
      fmt::format("{}: {}, chassis {}, topology {}", page.rack->name, page.rack->kind->name,
                  or_unknown(chassis_of_most(trays)), or_unknown(topology_of_most(trays)));
  return printable(head) + "\n" + trays_text(page) + "\n" + equipment_text(page) +
         partitions_text(page) + faults_text(faults_of(page)) + not_read_text(not_read(page));
}

json::object object_of(const RackPage& page) {
  const auto trays = seen_trays(page);
  json::object object{{"rack", page.rack->name},
                      {"kind", page.rack->kind->name},
                      {"chassis_serial", chassis_of_most(trays)},
                      {"topology", topology_of_most(trays)}};
  const auto put = [&](const char* key, const auto& devices, auto one_of) {
    json::array all;
    for (const auto& one : devices) all.push_back(one_of(one));
    object[key] = std::move(all);
  };
  put("compute", page.compute, object_of_bmc);
  put("switch_bmcs", page.switch_bmcs, object_of_bmc);
  put("switches", page.switches, object_of_switch);
  put("power_shelves", page.shelves, object_of_bmc);
  put("cdu", page.cdu, object_of_bmc);
  json::array wrong;
  for (const auto& each : faults_of(page))
    wrong.push_back(json::object{
        {"kind", each.kind}, {"devices", json::value_from(each.devices)}, {"what", each.what}});
  object["wrong"] = std::move(wrong);
  object["not_read"] = json::value_from(not_read(page));
  make_readable(object);
  return object;
}

}  // namespace cupel::cli
