#include "burnin/fabric/nccl_transport.h"

#include <fmt/format.h>

#include "base/text.h"
#include "inventory/node_range.h"

namespace cupel::burnin::fabric {
namespace {

constexpr std::string_view kTcp = "NET/Socket";

/// Within one node NCCL has P2P and SHM; NVLink between nodes is P2P of a multi-node domain.
bool is_between_nodes(std::string_view way) {
  return way.starts_with("NET/") || way.contains("MNNVL");
}

}  // namespace

std::string transport_words(const AcrossReport& report) {
  std::string words;
  for (const auto& [way, count] : report.channels)
    words += fmt::format("{}{}: {} channels", words.empty() ? "" : ", ", way, count);
  return words;
}

std::optional<double> tcp_channels(const AcrossReport& report) {
  std::int64_t tcp = 0, all = 0;
  for (const auto& [way, count] : report.channels) {
    if (!is_between_nodes(way)) continue;
    all += count;
    if (way.starts_with(kTcp)) tcp += count;
  }
  if (all == 0) return std::nullopt;
  return static_cast<double>(tcp);
}

bool asks_for_tcp(const std::map<std::string, std::string>& environment) {
  const auto is = [&](const std::string& name, std::string_view value) {
    const auto set = environment.find(name);
    return set != environment.end() && lower_case(set->second) == value;
  };
  return is("NCCL_NET", "socket") || is("NCCL_IB_DISABLE", "1");
}

std::vector<std::string> set_to_tcp(std::span<const AcrossReport* const> reports,
                                    std::span<const std::string> nodes) {
  std::vector<std::string> set;
  std::size_t reported = 0;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i] == nullptr) continue;
    ++reported;
    if (asks_for_tcp(reports[i]->variables)) set.push_back(nodes[i]);
  }
  if (4 * set.size() < 3 * reported) set.clear();
  return set;
}

std::vector<std::string> roce_settings_on_infiniband(std::span<const AcrossReport* const> reports,
                                                     std::span<const std::string> nodes) {
  constexpr std::size_t kLongest = 200, kMost = 8;
  std::map<std::string, std::vector<std::string>> by_value;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i] == nullptr || !reports[i]->has_infiniband || reports[i]->has_roce) continue;
    const auto set = reports[i]->variables.find("NCCL_IB_GID_INDEX");
    // NCCL's own word for "choose", and the only GID that a fabric without routers has.
    if (set == reports[i]->variables.end() || set->second == "-1" || set->second == "0") continue;
    by_value[set->second].push_back(nodes[i]);
  }
  std::vector<std::string> output;
  for (const auto& [value, names] : by_value) {
    if (output.size() == kMost) break;
    output.push_back(fmt::format(
        "NCCL_IB_GID_INDEX={} is set on {}, whose HCAs are InfiniBand: it chooses an address of "
        "RoCE, and collectives may end with status 4, vendor err 81; leave it out of nccl.conf and "
        "of fabric: nccl: environment:, unless InfiniBand routers need it",
        value, shortened(inventory::fold(names), kLongest)));
  }
  return output;
}

}  // namespace cupel::burnin::fabric
