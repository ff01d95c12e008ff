#include "burnin/fabric/discovery/rdma_counters.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "burnin/fabric/discovery/scan.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kLargestText = 16u << 20;
constexpr std::size_t kMostPortsOfNode = 256;
constexpr std::size_t kMostCountersOfPort = 64;  // of one port

/// Names of sysfs to those of PortCounters.
constexpr auto kKnown = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"symbol_error", "SymbolErrorCounter"},
     {"link_error_recovery", "LinkErrorRecoveryCounter"},
     {"link_downed", "LinkDownedCounter"},
     {"port_rcv_errors", "PortRcvErrors"},
     {"local_link_integrity_errors", "LocalLinkIntegrityErrors"},
     {"excessive_buffer_overrun_errors", "ExcessiveBufferOverrunErrors"},
     {"port_rcv_remote_physical_errors", "PortRcvRemotePhysicalErrors"},
     {"port_rcv_switch_relay_errors", "PortRcvSwitchRelayErrors"},
     {"port_xmit_discards", "PortXmitDiscards"},
     {"port_xmit_wait", "PortXmitWait"},
     {"VL15_dropped", "VL15Dropped"}});

/// Of RoCE: packets that were lost, sent again, or marked.
constexpr auto kOfRoce = std::to_array<std::string_view>(
    {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err",
     "implied_nak_seq_err", "duplicate_request", "out_of_buffer", "np_cnp_sent",
     "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored", "rx_icrc_encapsulated",
     "req_cqe_error", "resp_cqe_error", "req_remote_access_errors", "roce_adp_retrans",
     "roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_cnps"});

std::string_view counter_named(std::string_view name) {
  for (const auto& [sysfs, known] : kKnown)
    if (sysfs == name) return known;
  return std::ranges::find(kOfRoce, name) != kOfRoce.end() ? name : std::string_view{};
}

bool is_of_ethernet(std::string_view name) {
  const bool direction = name.starts_with("rx_") || name.starts_with("tx_");
  return direction &&
         (name.contains("discard") || name.contains("pause") || name.contains("err") ||
          name.contains("out_of_buffer")) &&
         !name.contains("duration") && !name.contains("transition");
}

Error nothing(std::string_view what) {
  return Error{Code::kNoMeasurement, std::string{what} + " has no counter of an HCA's port"};
}

}  // namespace

Result<HostCounters> parse_rdma_counters(std::string_view text) {
  if (text.size() > kLargestText) return Error{Code::kMalformed, "counters of more than 16 MiB"};
  HostCounters found;
  for_each_line(text, [&](std::string_view line) {
    // ".../mlx5_3/ports/1/hw_counters/out_of_sequence:12"
    const auto colon = line.rfind(':');
    if (colon == line.npos) return;
    const auto parts = split(line.substr(0, colon), '/');
    const auto value = number<std::uint64_t>(trimmed(line.substr(colon + 1)));
    if (parts.size() < 5 || !value || !parts[parts.size() - 2].ends_with("counters")) return;
    const auto port = number<int>(parts[parts.size() - 3]);
    const auto hca = parts[parts.size() - 5];
    const auto name = counter_named(parts.back());
    if (!port || *port < 1 || parts[parts.size() - 4] != "ports" || name.empty()) return;
    const std::pair key{printable(valid_utf8(hca.substr(0, 64))), *port};
    if (!found.contains(key) && found.size() >= kMostPortsOfNode) return;
    found[key].insert_or_assign(std::string{name}, *value);
  });
  if (found.empty()) return nothing("the file");
  return found;
}

Result<CounterValues> parse_ethtool_counters(std::string_view text) {
  if (text.size() > kLargestText)
    return Error{Code::kMalformed, "ethtool printed more than 16 MiB"};
  CounterValues found;
  for_each_line(text, [&](std::string_view line) {
    const auto colon = line.find(':');
    if (colon == line.npos) return;
    const auto name = trimmed(line.substr(0, colon));
    const auto value = number<std::uint64_t>(trimmed(line.substr(colon + 1)));
    if (value && is_of_ethernet(name) && name.size() <= 64 && found.size() < kMostCountersOfPort)
      found.emplace(printable(valid_utf8(name)), *value);
  });
  if (found.empty()) return nothing("what ethtool -S printed");
  return found;
}

}  // namespace cupel::burnin
