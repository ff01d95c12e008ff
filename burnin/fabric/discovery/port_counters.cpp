#include "burnin/fabric/discovery/port_counters.h"

#include <algorithm>

#include "burnin/fabric/discovery/scan.h"
#include "inventory/seen_fabric.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostCounters = 64;  // of one port
constexpr std::size_t kLongestCounter = 64;

/// "[SymbolErrorCounter == 1200] [LinkErrorRecoveryCounter == 9]".
CounterValues counters_of(std::string_view text) {
  CounterValues counters;
  Scan scan{text};
  while (counters.size() < kMostCounters && scan.until("[")) {
    const auto name = scan.until(" == ");
    const auto value = scan.number<std::uint64_t>();
    if (!name || !value) break;
    if (name->size() <= kLongestCounter) counters.emplace(printable(valid_utf8(*name)), *value);
  }
  return counters;
}

/// `Errors for "n07 mlx5_2"`, `Errors for 0xb0cf0e0300000200 "MF0;leaf1-r2:MQM9700/U1"`.
std::string name_in(std::string_view line) {
  Scan scan{line};
  if (!scan.until("\"")) return {};
  const auto name = printable(valid_utf8(trimmed(scan.until("\"").value_or(scan.rest()))));
  return name.starts_with("MF") ? inventory::switch_name(name) : shortened(name, 128);
}

}  // namespace

Result<QueryErrors> parse_ibqueryerrors(std::string_view text) {
  if (text.size() > kLargestReport)
    return Error{Code::kMalformed, "ibqueryerrors printed more than 256 MiB"};
  QueryErrors found;
  std::string name;
  for_each_line(text, [&](std::string_view line) {
    Scan scan{line};
    if (line.starts_with("Errors for ")) name = name_in(line);
    if (scan.skip("GUID 0x")) {
      const auto guid = scan.hexadecimal();
      // "port ALL" sums up those that follow.
      if (!guid || !scan.skip(" port ")) return;
      const auto port = scan.number<int>();
      if (port && found.ports.size() < inventory::kMostLinks)
        found.ports.push_back({*guid, *port, name, counters_of(scan.rest())});
      return;
    }
    if (!scan.skip("##")) return;
    scan.skip_blanks();
    for (const auto* filter : {"Thresholds:", "Suppressed:"})
      if (scan.skip(filter)) found.filtered = found.filtered || !trimmed(scan.rest()).empty();
    if (scan.skip("Summary: ")) found.nodes_checked = scan.number<std::uint64_t>().value_or(0);
    const auto count = scan.number<std::uint64_t>();
    if (!count) return;
    if (scan.rest().starts_with(" ports checked")) found.ports_checked = *count;
    if (scan.rest().starts_with(" PMA query failures")) found.failed_queries = *count;
  });
  if (found.nodes_checked == 0)
    return Error{Code::kNoMeasurement,
                 "ibqueryerrors checked no node: it could not look, which does not mean that there "
                 "are no errors. Check that a subnet manager runs (sminfo)"};
  return found;
}

std::map<std::pair<int, int>, PortTraffic> parse_port_traffic(std::string_view text) {
  constexpr std::size_t kMostPorts = 8192;
  std::map<std::pair<int, int>, PortTraffic> ports;
  PortTraffic* port = nullptr;
  const auto value_of = [](Scan& scan) {
    while (scan.skip(".")) continue;
    const auto value = scan.number<std::uint64_t>();
    return scan.rest().empty() ? value : std::nullopt;
  };
  for_each_line(text, [&](std::string_view line) {
    Scan scan{line};
    if (scan.skip("#")) {
      port = nullptr;
      if (!scan.skip(" Port extended counters: Lid ")) return;
      const auto lid = scan.number<int>();
      const auto number = scan.skip(" port ") ? scan.number<int>() : std::nullopt;
      if (!lid || !number || ports.size() == kMostPorts) return;
      const auto [at, is_new] = ports.try_emplace({*lid, *number});
      if (is_new) port = &at->second;
      return;
    }
    if (port == nullptr) return;
    if (scan.skip("PortXmitData:"))
      port->sent = value_of(scan);
    else if (scan.skip("PortRcvData:"))
      port->received = value_of(scan);
  });
  return ports;
}

}  // namespace cupel::burnin
