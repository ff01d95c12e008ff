#include "burnin/agent/burn/links/route.h"

#include <algorithm>
#include <optional>

namespace cupel::burn {
namespace {

constexpr std::size_t kMostVariables = 64;
constexpr std::size_t kMostKinds = 256;

/// The text between two marks.
std::optional<std::string_view> between(std::string_view line, std::string_view before,
                                        std::string_view after) {
  const auto from = line.find(before);
  if (from == line.npos) return std::nullopt;
  line.remove_prefix(from + before.size());
  return line.substr(0, line.find(after));
}

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\r");
  if (from == text.npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

void read_nvls(std::string_view line, Taken& taken) {
  const auto reported = between(line, "NVLS multicast support is ", "available");
  if (!reported) return;
  const bool available = reported->empty();
  taken.nvls = available && (taken.nvls || !taken.nvls_reported);
  taken.nvls_reported = true;
}

/// "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"; "[send] via NET/IB/3/GDRDMA"
void read_channel(std::string_view line, Taken& taken) {
  if (line.find("Channel ") == line.npos) return;
  const auto via = between(line, " via ", " ");
  if (!via || via->empty()) return;
  const auto name = std::string{trimmed(via->substr(0, 60))};
  if (taken.channels.size() < kMostKinds || taken.channels.contains(name)) ++taken.channels[name];
}

/// "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>"; HCAs that are one
/// device: "[0]={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB}".
void read_ports(std::string_view line, Taken& taken) {
  auto all = between(line, "NET/IB : Using", ";").value_or("");
  while (!all.empty()) {
    const auto end = std::min(all.find_first_of(" ,{}"), all.size());
    auto word = all.substr(0, end);
    all.remove_prefix(std::min(end + 1, all.size()));
    word.remove_prefix(std::min(word.rfind(']') + 1, word.size()));
    const auto colon = word.find(':');
    const auto slash = word.find('/', std::min(colon, word.size()));
    if (colon == word.npos || slash == word.npos || taken.ports.size() >= kMostKinds) continue;
    const auto link = word.substr(slash + 1, word.find('/', slash + 1) - slash - 1);
    if (link == "IB" || link == "RoCE")
      taken.ports[std::string{word.substr(0, std::min<std::size_t>(slash, 60))}] = link;
  }
}

/// "AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}"
void read_choice(std::string_view line, Taken& taken) {
  const auto mark = line.find(" Bytes -> Algo ");
  const auto algorithm = between(line, " Bytes -> Algo ", " proto ");
  const auto protocol = between(line, " proto ", " ");
  if (mark == line.npos || !algorithm || !protocol || taken.choices.size() >= kMostKinds) return;
  const auto head = line.substr(0, mark);
  const auto colon = head.rfind(": ");
  if (colon == head.npos) return;
  const auto name = head.substr(0, colon);
  const auto word = name.substr(name.find_last_of(' ') + 1);
  const auto bytes = trimmed(head.substr(colon + 1));
  taken.choices[std::string{word.substr(0, 40)} + " " + std::string{bytes.substr(0, 30)}] =
      std::string{algorithm->substr(0, 40)} + " " + std::string{protocol->substr(0, 40)};
}

int channels_by(const Taken& taken, std::string_view transport) {
  int count = 0;
  for (const auto& [name, channels] : taken.channels)
    if (name.starts_with(transport)) count += channels;
  return count;
}

}  // namespace

std::vector<Route> routes_of(std::string_view nvls, std::string_view path) {
  std::vector<Route> routes;
  if (path != "hca" && nvls != "off") routes.push_back({.nvls = true});
  if (path != "hca" && nvls != "on") routes.push_back({});
  if (path != "nvlink") routes.push_back({.hca = true});
  return routes;
}

Variables variables_of(const Route& route, std::string_view log) {
  Variables variables{
      {"NCCL_DEBUG", "INFO"},
      {"NCCL_DEBUG_SUBSYS", "INIT,NET,P2P,SHM,NVLS"},
      {"NCCL_DEBUG_FILE", std::string{log}},
      // 2: where the chip and the fabric manager offer it; 1 would insist, and fail to begin.
      {"NCCL_NVLS_ENABLE", route.nvls ? "2" : "0"},
      // All ranks are in this process: the first card with an address may be the BMC's.
      {"NCCL_SOCKET_IFNAME", "lo"},
  };
  if (!route.hca) return variables;
  variables["NCCL_P2P_DISABLE"] = "1";
  variables["NCCL_SHM_DISABLE"] = "1";
  variables["NCCL_NET"] = "IB";
  variables["NCCL_NET_DISABLE_INTRA"] = "0";
  return variables;
}

Variables nccl_variables(const char* const* environment) {
  Variables found;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry{*environment};
    const auto equals = entry.find('=');
    if (!entry.starts_with("NCCL_") || equals == entry.npos || found.size() >= kMostVariables)
      continue;
    found.emplace(entry.substr(0, equals), entry.substr(equals + 1, 400));
  }
  return found;
}

Variables parse_conf(std::string_view text) {
  Variables found;
  while (!text.empty() && found.size() < kMostVariables) {
    const auto feed = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, feed));
    text.remove_prefix(std::min(feed + 1, text.size()));
    const auto equals = line.find('=');
    if (line.starts_with('#') || equals == line.npos || equals == 0) continue;
    found.insert_or_assign(std::string{trimmed(line.substr(0, equals))},
                           std::string{trimmed(line.substr(equals + 1)).substr(0, 400)});
  }
  return found;
}

std::string json_of(const Variables& variables) {
  agent::JsonLine line;
  for (const auto& [name, value] : variables) line.add(name, value);
  return line.object_text();
}

std::string json_of(const std::map<std::string, int>& counts) {
  agent::JsonLine line;
  for (const auto& [name, count] : counts) line.add(name, count);
  return line.object_text();
}

agent::JsonLine transport_line(const Taken& taken) {
  agent::JsonLine line{"transport"};
  line.raw("channels", json_of(taken.channels)).raw("ports", json_of(taken.ports));
  return line;
}

Taken parse_log(std::string_view log) {
  Taken taken;
  while (!log.empty()) {
    const auto feed = std::min(log.find('\n'), log.size());
    const auto line = log.substr(0, feed);
    log.remove_prefix(std::min(feed + 1, log.size()));
    read_nvls(line, taken);
    read_channel(line, taken);
    read_ports(line, taken);
    read_choice(line, taken);
    if (const auto network = between(line, "Using network ", " "); network && network->size() < 60)
      taken.network = trimmed(*network);
  }
  return taken;
}

std::string objection_to(const Taken& taken, const Route& route) {
  if (!route.hca) {
    if (route.nvls && !(taken.nvls && taken.nvls_reported))
      return "NCCL says that NVLS is not available here; on NVSwitch systems of Hopper and later "
             "look at the fabric manager";
    return {};
  }
  const int over_hcas = channels_by(taken, "NET/IB");
  const int otherwise =
      channels_by(taken, "P2P") + channels_by(taken, "SHM") + channels_by(taken, "NET/Socket");
  if (over_hcas == 0) return "NCCL reported no channel over an HCA";
  if (otherwise > 0)
    return "NCCL took " + std::to_string(otherwise) + " channels by another way than the HCAs";
  return {};
}

}  // namespace cupel::burn
