#include "burnin/fabric/discovery/sonic.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "inventory/identity.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kLargestState = 64u << 20;
constexpr std::size_t kMostSonicPorts = 4096;
constexpr int kMostLanes = 16;
constexpr std::size_t kLongestField = 200;

/// The fields of a key: under "value" where a dump has them there.
const json::object* fields_of(const json::value& entry) {
  const auto* object = entry.if_object();
  if (object == nullptr) return nullptr;
  const auto* value = object->if_contains("value");
  return value != nullptr && value->is_object() ? &value->get_object() : object;
}

/// Without the blanks that EEPROMs end with; "N/A" is nothing.
std::string field(const json::object& fields, std::string_view name) {
  const auto* value = fields.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  const auto text = trimmed(value->get_string());
  return text == "N/A" ? std::string{} : shortened(printable(valid_utf8(text)), kLongestField);
}

std::optional<double> reading(const json::object& fields, std::string_view name) {
  const auto value = number<double>(field(fields, name));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

struct State {
  const json::object* about = nullptr;        // TRANSCEIVER_INFO
  const json::object* readings = nullptr;     // TRANSCEIVER_DOM_SENSOR
  const json::object* limits = nullptr;       // TRANSCEIVER_DOM_THRESHOLD
  const json::object* firmware = nullptr;     // TRANSCEIVER_FIRMWARE_INFO
  const json::object* transceiver = nullptr;  // TRANSCEIVER_STATUS_SW
  const json::object* port = nullptr;         // PORT_TABLE
};

const json::object** place_of(State& state, std::string_view table) {
  if (table == "TRANSCEIVER_INFO") return &state.about;
  if (table == "TRANSCEIVER_DOM_SENSOR") return &state.readings;
  if (table == "TRANSCEIVER_DOM_THRESHOLD") return &state.limits;
  if (table == "TRANSCEIVER_FIRMWARE_INFO") return &state.firmware;
  if (table == "TRANSCEIVER_STATUS_SW") return &state.transceiver;
  if (table == "PORT_TABLE") return &state.port;
  return nullptr;
}

std::string type_of(const json::object& about) {
  const auto compliance = field(about, "specification_compliance");
  if (compliance.starts_with("passive_copper")) return "Passive copper cable";
  if (compliance.starts_with("active_cable")) return "Active cable";
  if (compliance.starts_with("sm_media") || compliance.starts_with("nm_850_media"))
    return "Optical Module (separated)";
  return field(about, "type");
}

std::vector<Ranged> light_of(const State& state) {
  std::vector<Ranged> lanes;
  for (int lane = 1; lane <= kMostLanes; ++lane) {
    const auto name = fmt::format("rx{}power", lane);
    if (!state.readings->contains(name)) break;
    const auto value = reading(*state.readings, name);
    if (!value) return {};
    lanes.push_back({*value});
    if (state.limits == nullptr) continue;
    lanes.back().low = reading(*state.limits, "rxpowerlowalarm");
    lanes.back().high = reading(*state.limits, "rxpowerhighalarm");
  }
  return lanes;
}

CableModule module_of(const State& state) {
  CableModule module;
  if (state.about != nullptr) {
    module.type = type_of(*state.about);
    module.vendor = field(*state.about, "manufacturer");
    module.part = field(*state.about, "model");
    module.serial = inventory::reported_serial(field(*state.about, "serial"));
  }
  if (state.firmware != nullptr) module.firmware = field(*state.firmware, "active_firmware");
  if (state.readings == nullptr) return module;
  module.rx_dbm = light_of(state);
  if (const auto celsius = reading(*state.readings, "temperature")) {
    module.celsius = Ranged{*celsius};
    if (state.limits != nullptr) {
      module.celsius->low = reading(*state.limits, "templowalarm");
      module.celsius->high = reading(*state.limits, "temphighalarm");
    }
  }
  return module;
}

SonicPort port_of_state(const std::string& name, const State& state) {
  SonicPort port{.name = name, .module = module_of(state)};
  if (state.port != nullptr) port.down = field(*state.port, "netdev_oper_status") == "down";
  if (state.transceiver != nullptr) {
    port.error = field(*state.transceiver, "error");
    if (port.error == "Unknown") port.error.clear();  // the daemon has not looked
  }
  return port;
}

}  // namespace

Result<std::vector<SonicPort>> parse_sonic_state(std::string_view text) {
  if (text.size() > kLargestState)
    return Error{Code::kMalformed, "SONiC's STATE_DB has more than 64 MiB"};
  TRY(const auto document, parse_json(text));
  if (!document.is_object()) return Error{Code::kMalformed, "SONiC's STATE_DB is no JSON object"};
  std::map<std::string, State> states;
  for (const auto& [key, entry] : document.get_object()) {
    const std::string_view whole = key;
    const auto bar = whole.find('|');
    const auto* fields = fields_of(entry);
    if (bar == whole.npos || fields == nullptr) continue;
    State unused;
    if (place_of(unused, whole.substr(0, bar)) == nullptr) continue;
    const auto name = shortened(printable(valid_utf8(whole.substr(bar + 1))), kLongestField);
    if (states.size() >= kMostSonicPorts && !states.contains(name))
      return Error{Code::kMalformed, "SONiC's STATE_DB has more than 4,096 ports"};
    *place_of(states[name], whole.substr(0, bar)) = fields;
  }
  std::vector<SonicPort> ports;
  for (const auto& [name, state] : states)
    if (state.about != nullptr || state.readings != nullptr)
      ports.push_back(port_of_state(name, state));
  if (ports.empty())
    return Error{Code::kNoMeasurement, "SONiC's STATE_DB has no transceiver: it could not look"};
  return ports;
}

MlxlinkReport report_of(const SonicPort& port) {
  MlxlinkReport report{.state = port.down ? "Down" : "Active", .module = port.module};
  if (port.error.empty()) return report;
  report.state = "Transceiver error";
  report.recommendation = port.error;
  return report;
}

}  // namespace cupel::burnin
