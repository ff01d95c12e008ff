#include "rehearsal/rack_spec.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.h"
#include "inventory/load_profile.h"
#include "inventory/node_range.h"
#include "inventory/yaml.h"
#include "rehearsal/bmc/manners.h"
#include "rehearsal/read_faults.h"

namespace cupel::rehearsal {
namespace {

using inventory::YamlFields;
using Problems = std::vector<inventory::Problem>;

std::vector<std::string> expanded(YamlFields& fields, std::string_view key) {
  const auto range = fields.required(key);
  if (range.empty()) return {};
  auto names = inventory::expand(range);
  if (!names) {
    fields.report(fields.place(key), names.assume_error().what);
    return {};
  }
  if (names.assume_value().size() <= kMostNodesOfARack) return std::move(names).assume_value();
  fields.report(fields.place(key),
                fmt::format("{} has {} names, and a virtual rack holds {} nodes", key,
                            names.assume_value().size(), kMostNodesOfARack));
  return {};
}

/// 127.0.0.0/8 in four plain numbers.
bool is_loopback(std::string_view address) {
  const auto parts = split(address, '.');
  if (parts.size() != 4 || parts[0] != "127") return false;
  return std::ranges::all_of(
      parts, [](std::string_view part) { return number<std::uint8_t>(part).has_value(); });
}

std::vector<std::string> addresses(YamlFields& fields, std::string_view key, std::size_t nodes) {
  auto all = expanded(fields, key);
  for (const auto& address : all)
    if (!is_loopback(address))
      fields.report(fields.place(key),
                    fmt::format("{} address '{}' is none of this machine's own (127.x.y.z): a "
                                "virtual rack is not for others",
                                key, address));
  if (all.empty() || nodes == 0 || all.size() == nodes) return all;
  fields.report(
      fields.place(key),
      fmt::format("{} has {} addresses for {} nodes: give one for each", key, all.size(), nodes));
  return {};
}

/// File names, host names and YAML are made of them.
void check_names(YamlFields& fields, std::string_view key, const std::vector<std::string>& names) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  constexpr std::size_t kLongest = 63;  // RFC 1035, 2.3.4
  for (const auto& name : names)
    if (name.find_first_not_of(kAllowed) != name.npos || name.size() > kLongest || name[0] == '-')
      fields.report(fields.place(key), "'" + printable(name) + "' is no name for a host");
}

void check_unique(YamlFields& fields, const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const auto& name : names)
    if (!seen.insert(name).second)
      fields.report(fields.place("nodes"), "node '" + name + "' stands twice");
}

BootTimes read_boot(YamlFields& rack, const std::string& file, Problems& problems) {
  BootTimes times;
  const auto* value = rack.value("boot");
  if (value == nullptr) return times;
  YamlFields fields{*value, "boot", file, problems};
  const auto read = [&](std::string_view key, VirtualTime& into) {
    if (const auto span = fields.duration(key)) into = *span;
  };
  read("power_on", times.power_on);
  read("power_off", times.power_off);
  read("shutdown", times.shutdown);
  read("post", times.post);
  read("report_lag", times.report_lag);
  fields.finish();
  return times;
}

struct Ports {
  std::uint16_t bmc = 0, ipmi = 0, ssh = 0;
};

Ports read_ports(YamlFields& rack, const std::string& file, Problems& problems) {
  const auto* value = rack.value("ports");
  if (value == nullptr) return {};
  YamlFields fields{*value, "ports", file, problems};
  Ports ports;
  ports.bmc = static_cast<std::uint16_t>(fields.integer("bmc", 0, 65535).value_or(0));
  ports.ipmi = static_cast<std::uint16_t>(fields.integer("ipmi", 0, 65535).value_or(0));
  ports.ssh = static_cast<std::uint16_t>(fields.integer("ssh", 0, 65535).value_or(0));
  fields.finish();
  return ports;
}

BmcSpec read_kind(YamlFields& fields, BmcSpec usual) {
  if (const auto vendor = fields.text("vendor")) {
    std::vector<std::string_view> known;
    for (const auto& row : all_manners()) known.push_back(row.vendor);
    if (manners_of(*vendor) == nullptr)
      fields.report(fields.place("vendor"), "there is no BMC of vendor '" + *vendor + "'" +
                                                inventory::did_you_mean(*vendor, std::span{known}));
    usual.vendor = *vendor;
  }
  usual.licensed = fields.flag("licensed").value_or(usual.licensed);
  usual.factory_password = fields.flag("factory_password").value_or(usual.factory_password);
  usual.new_certificate = fields.flag("new_certificate").value_or(usual.new_certificate);
  return usual;
}

/// Of all nodes, and of those that `but` names.
void read_bmcs(YamlFields& rack, const std::string& file, Problems& problems,
               std::vector<NodeSpec>& nodes) {
  const auto* value = rack.value("bmcs");
  if (value == nullptr) return;
  YamlFields fields{*value, "bmcs", file, problems};
  const auto usual = read_kind(fields, {});
  for (auto& node : nodes) node.bmc = usual;
  for (const auto& item : fields.list("but")) {
    YamlFields some{item, "but", file, problems};
    const auto names = expanded(some, "nodes");
    const auto kind = read_kind(some, usual);
    for (const auto& name : names) {
      const auto node = std::ranges::find(nodes, name, &NodeSpec::name);
      if (node != nodes.end())
        node->bmc = kind;
      else
        some.report(some.place("nodes"), "there is no node '" + printable(name) + "'");
    }
    some.finish();
  }
  fields.finish();
}

/// With ports of the operating system's choice, one address may serve many.
void check_endpoints(YamlFields& rack, const std::vector<NodeSpec>& nodes) {
  std::map<std::string, std::string> tcp, udp;
  const auto take = [&](auto& taken, std::string_view key, const std::string& address,
                        std::uint16_t port, const std::string& node) {
    if (port == 0 || address.empty()) return;
    const auto endpoint = fmt::format("{}:{}", address, port);
    const auto [found, fresh] = taken.try_emplace(endpoint, node);
    if (!fresh)
      rack.report(rack.place(key), fmt::format("{} of node '{}' is already that of '{}'", endpoint,
                                               node, found->second));
  };
  for (const auto& node : nodes) {
    take(tcp, "bmc", node.bmc_address, node.bmc_port, node.name);
    take(udp, "bmc", node.bmc_address, node.ipmi_port, node.name);
    take(tcp, "ssh", node.ssh_address, node.ssh_port, node.name);
  }
}

std::optional<inventory::Profile> read_profile(YamlFields& rack, const std::string& file,
                                               const std::string& name, Problems& problems) {
  if (name.empty()) return std::nullopt;
  const inventory::ProfileSource source{std::filesystem::path{file}.parent_path() / "profiles"};
  const auto before = problems.size();
  auto profile = source.load(name, problems);
  if (!profile && problems.size() == before) {
    const auto names = source.names();
    rack.report(rack.place("profile"), "there is no profile '" + name + "'" +
                                           inventory::did_you_mean(name, std::span{names}));
  }
  return profile;
}

}  // namespace

std::optional<RackSpec> parse_rack(std::string_view text, const std::string& file,
                                   Problems& problems) {
  const auto before = problems.size();
  const auto document = inventory::parse_yaml(text, file, problems);
  if (!document) return std::nullopt;
  YamlFields fields{document->root, "rack", file, problems};
  RackSpec rack;
  rack.name = fields.required("rack");
  if (!rack.name.empty()) check_names(fields, "rack", {rack.name});
  rack.profile = fields.required("profile");
  const auto profile = read_profile(fields, file, rack.profile, problems);
  const auto names = expanded(fields, "nodes");
  check_names(fields, "nodes", names);
  check_unique(fields, names);
  const auto bmcs = addresses(fields, "bmc", names.size());
  const auto shells = addresses(fields, "ssh", names.size());
  const auto ports = read_ports(fields, file, problems);
  rack.boot = read_boot(fields, file, problems);
  for (std::size_t i = 0; i < names.size(); ++i)
    rack.nodes.push_back({.name = names[i],
                          .bmc_address = i < bmcs.size() ? bmcs[i] : std::string{},
                          .bmc_port = ports.bmc,
                          .ipmi_port = ports.ipmi,
                          .ssh_address = i < shells.size() ? shells[i] : std::string{},
                          .ssh_port = ports.ssh});
  check_endpoints(fields, rack.nodes);
  read_bmcs(fields, file, problems, rack.nodes);
  read_faults(fields.list("faults"), file, profile ? &*profile : nullptr, rack, problems);
  fields.finish();
  if (problems.size() > before) return std::nullopt;
  return rack;
}

}  // namespace cupel::rehearsal
