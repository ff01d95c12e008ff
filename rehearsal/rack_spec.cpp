#include "rehearsal/rack_spec.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.h"
#include "inventory/load_profile.h"
#include "inventory/node_range.h"
#include "inventory/read_fabric.h"
#include "inventory/yaml.h"
#include "rehearsal/rack_of_site.h"
#include "rehearsal/scenario.h"

namespace cupel::rehearsal {
namespace {

using inventory::YamlFields;
using Problems = std::vector<inventory::Problem>;

std::vector<std::string> expanded(YamlFields& fields, std::string_view key) {
  const auto range = fields.required(key);
  if (range.empty()) return {};
  auto names = inventory::expand(range);
  if (!names) {
    fields.report(fields.place(key), names.error().what);
    return {};
  }
  if (names->size() <= kMostNodesOfARack) return *std::move(names);
  fields.report(fields.place(key), fmt::format("{} has {} names, and a virtual rack holds {} nodes",
                                               key, names->size(), kMostNodesOfARack));
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

/// Loads each profile once; a name that does not exist is an error.
class Profiles {
 public:
  Profiles(const std::string& file, Problems& problems)
      : source_{std::filesystem::path{file}.parent_path() / "profiles"}, problems_{problems} {}

  void load(YamlFields& fields, const std::string& name, RackSpec& into) {
    if (name.empty() || into.profiles.contains(name)) return;
    const auto before = problems_.size();
    auto profile = source_.load(name, problems_);
    if (profile) into.profiles.emplace(name, std::move(*profile));
    if (profile || problems_.size() > before) return;
    const auto names = source_.names();
    fields.report(fields.place("profile"), "there is no profile '" + printable(name) + "'" +
                                               inventory::did_you_mean(name, std::span{names}));
  }

 private:
  inventory::ProfileSource source_;
  Problems& problems_;
};

/// `profiles: [{nodes: v01-n[05-08], profile: a100-8}]`: what is not like the rest.
void read_profiles(YamlFields& rack, const std::string& file, Profiles& profiles, RackSpec& into,
                   Problems& problems) {
  for (const auto& item : rack.list("profiles")) {
    YamlFields fields{item, "profiles", file, problems};
    const auto name = fields.required("profile");
    profiles.load(fields, name, into);
    for (auto* node : nodes_named(fields, "nodes", into)) node->profile = name;
    fields.finish();
  }
}

/// `fabric:` as an inventory has it, and how its leaves choose uplinks.
void read_cables(YamlFields& rack, const std::string& file, RackSpec& into, Problems& problems) {
  const auto routing = rack.text("routing").value_or("by-destination");
  into.adaptive_routing = routing == "adaptive";
  if (!into.adaptive_routing && routing != "by-destination")
    rack.report(rack.place("routing"), "routing must be by-destination or adaptive");
  const auto* value = rack.value("fabric");
  if (value == nullptr || into.nodes.empty()) return;
  auto site = site_of(into);
  site.file = file;
  site.profiles = into.profiles;
  std::string digested;
  read_fabric(*value, std::filesystem::path{file}.parent_path(), site, problems, digested);
  into.fabric = std::move(site.fabric);
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
  (void)fields.text("description");  // of `cupel rack list`
  const auto racks = rack.name.empty() ? std::vector<std::string>{} : expanded(fields, "rack");
  check_names(fields, "rack", racks);
  rack.profile = fields.required("profile");
  Profiles profiles{file, problems};
  profiles.load(fields, rack.profile, rack);
  const auto names = expanded(fields, "nodes");
  check_names(fields, "nodes", names);
  check_unique(fields, names);
  const auto bmcs = addresses(fields, "bmc", names.size());
  const auto shells = addresses(fields, "ssh", names.size());
  const auto ports = read_ports(fields, file, problems);
  for (std::size_t i = 0; i < names.size(); ++i)
    rack.nodes.push_back({.name = names[i],
                          .bmc_address = i < bmcs.size() ? bmcs[i] : std::string{},
                          .bmc_port = ports.bmc,
                          .ipmi_port = ports.ipmi,
                          .ssh_address = i < shells.size() ? shells[i] : std::string{},
                          .ssh_port = ports.ssh,
                          .bmc = {.latency = true},
                          // From the first rack to the last, as many in each.
                          .rack = racks.empty() ? "" : racks[i * racks.size() / names.size()]});
  if (const auto feeds = fields.integer("feeds", 1, 2)) rack.feeds = static_cast<int>(*feeds);
  check_endpoints(fields, rack.nodes);
  read_profiles(fields, file, profiles, rack, problems);
  read_cables(fields, file, rack, problems);
  read_scenario(fields, file, rack, problems);
  fields.finish();
  if (problems.size() > before) return std::nullopt;
  return rack;
}

}  // namespace cupel::rehearsal
