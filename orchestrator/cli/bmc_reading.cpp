// `cupel bmc NODES identity`, `inventory`, `firmware`, `update-service`, `sensors`, `accounts` and
// `budget`: what only looks.
#include <fmt/format.h>

#include "base/text.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/record/codec.h"

namespace cupel::cli {
namespace {

using inventory::Node;
using Reading = Task<Result<Answer>> (*)(bmc::Bmc&, Deadline);

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

/// "HPE ProLiant DL325", of a model that begins with its vendor or not.
std::string name_of(const bmc::Identity& identity) {
  const bool repeats = !identity.vendor.empty() &&
                       lower_case(identity.model).starts_with(lower_case(identity.vendor) + " ");
  return repeats ? identity.model : or_unknown(identity.vendor) + " " + or_unknown(identity.model);
}

std::string one_line(const bmc::Identity& identity) {
  return printable(fmt::format("{} serial {}, BIOS {}, BMC {}", name_of(identity),
                               or_unknown(identity.serial), or_unknown(identity.bios_version),
                               or_unknown(identity.bmc_version)));
}

boost::json::object object_of(const bmc::Identity& identity) {
  return {{"vendor", identity.vendor},   {"model", identity.model},
          {"serial", identity.serial},   {"part_number", identity.part_number},
          {"uuid", identity.uuid},       {"bios", identity.bios_version},
          {"bmc", identity.bmc_version}, {"bmc_macs", boost::json::value_from(identity.bmc_macs)},
          {"by", to_string(identity.by)}};
}

Row row_of(const inventory::Unknown& unknown) {
  return {"unknown", unknown.fact, unknown.why, unknown.source};
}

std::string unknowns(const std::vector<inventory::Unknown>& unknown) {
  std::vector<Row> rows;
  for (const auto& each : unknown) rows.push_back(row_of(each));
  return rows.empty() ? "" : "\n" + table(rows);
}

/// And where it is, which the store knows.
Task<Result<Answer>> show_identity(Connections& connections, const Node& node, Deadline deadline) {
  const auto bmc = connections.bmc(node);
  auto reported = co_await bmc->facts.identity(deadline);
  co_await bmc->log_out();
  CO_TRY(const auto identity, std::move(reported));
  Answer answer{one_line(identity), object_of(identity)};
  add_whereabouts(answer, connections.store(), node);
  co_return answer;
}

Task<Result<Answer>> read_inventory(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto seen, co_await bmc.facts.observe(deadline));
  std::vector<Row> rows{{"part", "name", "model", "serial", "firmware", "health"}};
  for (const auto& part : seen.parts)
    rows.push_back({std::string{to_string(part.kind)}, part.name, part.model, part.serial,
                    part.firmware, part.health});
  Answer answer;
  answer.text = fmt::format("{}, power {}\n{}{}", one_line(seen.identity), to_string(seen.power),
                            table(rows), unknowns(seen.unknown));
  answer.object = object_of(seen.identity);
  answer.object["power"] = to_string(seen.power);
  answer.object["requests"] = seen.requests;
  answer.object["bytes"] = seen.bytes;
  answer.object["unchanged"] = seen.unchanged;
  answer.object["parts"] = record::to_json(seen.parts);
  answer.object["unknown"] = record::to_json(seen.unknown);
  answer.object["by"] = to_string(seen.by);
  co_return answer;
}

Task<Result<Answer>> read_firmware(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto firmware, co_await bmc.update.versions(deadline));
  std::vector<Row> rows{{"component", "version", "source"}};
  for (const auto& part : firmware.value) rows.push_back({part.name, part.firmware, part.source});
  const auto count = fmt::format("{} components\n", firmware.value.size());
  co_return answer_of_bmc(count + table(rows), "firmware", record::to_json(firmware.value),
                          firmware.by);
}

/// "multipart, simple; at most 250000000 bytes; at work with /redfish/v1/TaskService/Tasks/7"
std::string one_line(const bmc::UpdateService& service) {
  if (!service.enabled) return "disabled";
  const auto ways = fmt::format("{}", fmt::join(service.ways, ", "));
  const auto most =
      service.most_bytes == 0 ? "" : fmt::format("; at most {} bytes", service.most_bytes);
  const auto busy = service.busy.empty()
                        ? "; idle"
                        : fmt::format("; at work with {}", fmt::join(service.busy, ", "));
  return printable((ways.empty() ? "no way to send an image" : ways) + most + busy);
}

Task<Result<Answer>> read_update_service(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto service, co_await bmc.update.service(deadline));
  auto answer = answer_of_bmc(one_line(service), "enabled", service.enabled, service.by);
  answer.object["ways"] = boost::json::value_from(service.ways);
  answer.object["busy"] = boost::json::value_from(service.busy);
  if (service.most_bytes > 0) answer.object["most_bytes"] = service.most_bytes;
  co_return answer;
}

std::string value_of(const bmc::Sensor& sensor) {
  if (sensor.value) return plain(*sensor.value) + (sensor.unit.empty() ? "" : " " + sensor.unit);
  return sensor.state.empty() ? "not read" : sensor.state;
}

/// "5..95, critical 0..100": what it may be; nothing where the BMC does not tell.
std::string limits_of(const bmc::Sensor& sensor) {
  const auto range = [](const std::optional<double>& low, const std::optional<double>& high) {
    if (!low && !high) return std::string{};
    return (low ? plain(*low) : "") + ".." + (high ? plain(*high) : "");
  };
  const auto warn = range(sensor.warn_below, sensor.warn_above);
  const auto critical = range(sensor.critical_below, sensor.critical_above);
  if (critical.empty()) return warn;
  return warn + (warn.empty() ? "" : ", ") + "critical " + critical;
}

boost::json::object object_of(const bmc::Sensor& sensor) {
  boost::json::object object{
      {"kind", to_string(sensor.kind)}, {"name", sensor.name},     {"unit", sensor.unit},
      {"state", sensor.state},          {"health", sensor.health}, {"source", sensor.source}};
  const auto put = [&](std::string_view key, const std::optional<double>& value) {
    if (value) object[key] = *value;
  };
  put("value", sensor.value);
  put("warn_below", sensor.warn_below);
  put("warn_above", sensor.warn_above);
  put("critical_below", sensor.critical_below);
  put("critical_above", sensor.critical_above);
  return object;
}

Task<Result<Answer>> read_sensors(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto seen, co_await bmc.sensors.read(deadline));
  std::vector<Row> rows{{"kind", "sensor", "value", "health", "may be"}};
  boost::json::array all;
  for (const auto& sensor : seen.sensors) {
    rows.push_back({std::string{to_string(sensor.kind)}, sensor.name, value_of(sensor),
                    sensor.health, limits_of(sensor)});
    all.push_back(object_of(sensor));
  }
  const auto watts = seen.watts ? plain(*seen.watts) + " W" : "power draw unknown";
  auto answer = answer_of_bmc(fmt::format("{}, {} sensors\n{}{}", watts, seen.sensors.size(),
                                          table(rows), unknowns(seen.unknown)),
                              "sensors", std::move(all), seen.by);
  if (seen.watts) answer.object["watts"] = *seen.watts;
  answer.object["unknown"] = record::to_json(seen.unknown);
  co_return answer;
}

Task<Result<Answer>> read_accounts(bmc::Bmc& bmc, Deadline deadline) {
  CO_TRY(const auto accounts, co_await bmc.accounts.read(deadline));
  std::vector<Row> rows{{"slot", "user", "role", "state"}};
  boost::json::array all;
  for (const auto& account : accounts.value) {
    const auto* state = account.locked ? "locked" : account.enabled ? "enabled" : "disabled";
    rows.push_back({account.id, account.user, account.role, state});
    all.push_back({{"id", account.id},
                   {"user", account.user},
                   {"role", account.role},
                   {"enabled", account.enabled},
                   {"locked", account.locked},
                   {"source", account.source}});
  }
  const auto count = fmt::format("{} accounts\n", accounts.value.size());
  co_return answer_of_bmc(count + table(rows), "accounts", std::move(all), accounts.by);
}

CommandRow row_of(const BmcCommand& command, std::string_view name, std::string_view summary,
                  Reading reading) {
  CommandRow row{name, summary};
  row.run = [command, reading] {
    return ask(command, [reading](bmc::Bmc& one, const Node&, Deadline deadline) {
      return reading(one, deadline);
    });
  };
  return row;
}

}  // namespace

std::vector<CommandRow> bmc_reading_commands(const BmcCommand& command) {
  CommandRow identity_row{
      "identity", "vendor, model, serial number and versions; where the BMC is if it moved"};
  identity_row.run = [command] { return ask_over_connections(command, show_identity); };
  return {identity_row,
          row_of(command, "inventory", "parts, serial numbers and firmware", read_inventory),
          row_of(command, "firmware", "all versions; may take minutes", read_firmware),
          row_of(command, "update-service",
                 "how the BMC takes firmware images, and what it is installing now",
                 read_update_service),
          row_of(command, "sensors", "power, temperatures, fans, leaks", read_sensors),
          row_of(command, "accounts", "who may log in to the BMC", read_accounts)};
}

}  // namespace cupel::cli
