#include "burnin/fabric/discovery/ufm_telemetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/json.h"
#include "burnin/fabric/discovery/scan.h"

namespace cupel::burnin {
namespace {

struct Name {
  std::string_view ufm;
  std::string_view counter;
};

constexpr std::array kNames{
    Name{"Infiniband_SymbolErrors_u_Errors", "SymbolErrorCounter"},
    Name{"Infiniband_LinkRecovers_u_Errors", "LinkErrorRecoveryCounter"},
    Name{"Infiniband_LinkDowned_u_Errors", "LinkDownedCounter"},
    Name{"Infiniband_RcvErrors_u_Errors", "PortRcvErrors"},
    Name{"Infiniband_RcvRemotePhysErrors_u_Errors", "PortRcvRemotePhysicalErrors"},
    Name{"Infiniband_XmtDiscards_u_Errors", "PortXmitDiscards"},
    Name{"Infiniband_LinkIntegrityErrors_u_Errors", "LocalLinkIntegrityErrors"},
    Name{"Infiniband_ExcBufOverrunErrors_u_Errors", "ExcessiveBufferOverrunErrors"},
};

std::optional<std::uint64_t> whole(const json::value& sample, std::string_view key) {
  const auto value = number_at(sample, key);
  constexpr double kMost = 9e18;
  if (!value || !(*value >= 0 && *value < kMost)) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::optional<PortCounters> port_of_sample(const json::value& sample) {
  const auto guid = inventory::guid_of(text_at(sample, "node_guid").value_or(""));
  const auto port = whole(sample, "port_num");
  constexpr std::uint64_t kMostPorts = 255;
  if (!guid || !port || *port > kMostPorts) return std::nullopt;
  PortCounters counted{.guid = *guid, .port = static_cast<int>(*port)};
  for (const auto& [ufm, counter] : kNames)
    if (const auto value = whole(sample, ufm)) counted.counters.emplace(counter, *value);
  return counted.counters.empty() ? std::nullopt : std::optional{std::move(counted)};
}

}  // namespace

Result<UfmTelemetry> parse_ufm_telemetry(std::string_view text) {
  if (text.size() > kLargestReport)
    return Error{Code::kMalformed, "UFM's telemetry has more than 256 MiB"};
  TRY(const auto document, parse_json(text));
  UfmTelemetry telemetry;
  const auto* samples = find(document, "values");
  if (samples != nullptr && samples->is_array())
    for (const auto& sample : samples->get_array()) {
      auto port = port_of_sample(sample);
      if (!port || telemetry.ports.size() >= inventory::kMostLinks) continue;
      if (const auto micros = whole(sample, "timestamp"))
        telemetry.taken = std::max(
            telemetry.taken, std::chrono::floor<std::chrono::seconds>(std::chrono::sys_time{
                                 std::chrono::microseconds{static_cast<std::int64_t>(*micros)}}));
      telemetry.ports.push_back(std::move(*port));
    }
  if (telemetry.ports.empty())
    return Error{Code::kNoMeasurement,
                 "UFM's telemetry has counters of no port: it could not look"};
  return telemetry;
}

void add_telemetry(LinkLook& look, const UfmTelemetry& telemetry,
                   const inventory::SeenFabric& seen) {
  std::unordered_map<std::uint64_t, const inventory::SeenDevice*> devices;
  for (const auto& device : seen.devices) devices.emplace(device.guid, &device);
  std::size_t unknown = 0;
  for (const auto& port : telemetry.ports) {
    const auto device = devices.find(port.guid);
    if (device == devices.end()) {
      ++unknown;
      continue;
    }
    look.counters[{device->second->name, device->second->hca, port.port}] = port.counters;
  }
  if (unknown > 0)
    look.doubts.push_back(fmt::format(
        "UFM's telemetry has {} ports of devices that are not among the links", unknown));
}

}  // namespace cupel::burnin
