#include "inventory/read_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "inventory/read_bmc.h"
#include "inventory/read_boot.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

constexpr std::size_t kMostOfKind = 64;  // ports, bonds, VLANs, addresses, routes
constexpr std::size_t kMostServers = 4;
/// Source: RFC 791 (576 bytes); the largest that an interface of Linux takes.
constexpr long kLeastMtu = 576, kMostMtu = 65'535;
constexpr long kMostVlan = 4094;  // IEEE 802.1Q
constexpr std::array<std::string_view, 2> kModes{"802.3ad", "active-backup"};

bool is_ipv6(std::string_view address) { return address.contains(':'); }

/// "10.9.0.0/16", "::/0"
bool is_network(const std::string& text) {
  return text == "0.0.0.0/0" || text == "::/0" || is_interface_address(text);
}

class NetworkReader {
 public:
  NetworkReader(const YamlValue& value, std::size_t count, const std::string& file,
                Problems& problems)
      : fields_{value, "network", file, problems},
        count_{count},
        file_{file},
        problems_{problems},
        nodes_(count) {}

  std::vector<NodeNetwork> read() {
    each("ports", [&](YamlFields& fields) { read_port(fields); });
    each("bonds", [&](YamlFields& fields) { read_bond(fields); });
    each("vlans", [&](YamlFields& fields) { read_vlan(fields); });
    if (names_.empty())
      fields_.report(fields_.place(), "network has no ports: ports: [{name: lan0, mac: ...}]");
    fields_.finish();
    return std::move(nodes_);
  }

 private:
  template <class Read>
  void each(std::string_view key, Read read) {
    const auto items = fields_.list(key);
    if (items.size() > kMostOfKind)
      return fields_.report(fields_.place(key), fmt::format("more than {} {}", kMostOfKind, key));
    for (const auto& item : items) {
      YamlFields fields{item, std::string{key.substr(0, key.size() - 1)}, file_, problems_};
      read(fields);
      fields.finish();
    }
  }

  std::string name_of(YamlFields& fields) {
    auto name = fields.required("name");
    if (name.empty()) return name;
    if (!is_interface(name))
      fields.report(fields.place("name"),
                    "name is that of an interface: at most 15 letters, digits, '.', '_' and '-'");
    if (!names_.insert(name).second)
      fields.report(fields.place("name"), "interface '" + printable(name) + "' is there twice");
    return name;
  }

  void read_routes(YamlFields& fields, Addressing& into) {
    for (const auto& item : fields.list("routes")) {
      YamlFields route{item, "route", file_, problems_};
      auto to = route.required("to"), via = route.required("via");
      const bool six = is_ipv6(via);
      if (to == "default") to = six ? "::/0" : "0.0.0.0/0";
      if (route.has("via") && !is_address(via))
        route.report(route.place("via"), "via is an address: 10.0.2.1");
      else if (route.has("to") && (!is_network(to) || is_ipv6(to) != six))
        route.report(route.place("to"),
                     "to is default, or a network of the same family as via: 10.9.0.0/16");
      route.finish();
      into.routes.push_back({std::move(to), std::move(via)});
    }
    if (into.routes.size() > kMostOfKind)
      fields.report(fields.place("routes"), fmt::format("more than {} routes", kMostOfKind));
  }

  /// One for each node.
  std::vector<Addressing> addressing_of(YamlFields& fields) {
    Addressing all;
    all.dhcp4 = fields.flag("dhcp4").value_or(false);
    all.dhcp6 = fields.flag("dhcp6").value_or(false);
    all.mtu = fields.integer("mtu", kLeastMtu, kMostMtu);
    all.dns = fields.texts("dns");
    all.search = fields.texts("search");
    if (all.dns.size() > kMostServers || !std::ranges::all_of(all.dns, is_address))
      fields.report(fields.place("dns"), fmt::format("dns is at most {} addresses", kMostServers));
    if (all.search.size() > kMostServers || !std::ranges::all_of(all.search, is_domain))
      fields.report(fields.place("search"),
                    fmt::format("search is at most {} names of domains", kMostServers));
    read_routes(fields, all);
    std::vector<Addressing> nodes(count_, all);
    const auto ranges = fields.texts("addresses");
    if (ranges.size() > kMostOfKind)
      fields.report(fields.place("addresses"), fmt::format("more than {} addresses", kMostOfKind));
    for (std::size_t i = 0; i < std::min(ranges.size(), kMostOfKind); ++i) {
      const auto zipped =
          one_for_each("addresses", {ranges[i]}, fields.place("addresses"), count_, problems_);
      for (std::size_t node = 0; node < zipped.size(); ++node) {
        if (!is_interface_address(zipped[node]))
          fields.report(fields.place("addresses"), "'" + printable(zipped[node]) +
                                                       "' is not an address with a prefix: "
                                                       "10.0.2.11/24");
        nodes[node].addresses.push_back(zipped[node]);
      }
    }
    return nodes;
  }

  static bool is_domain(const std::string& text) {
    constexpr std::size_t kLongest = 253;  // RFC 1035, 2.3.4, without its root
    return !text.empty() && text.size() <= kLongest && !text.starts_with('-') &&
           std::ranges::all_of(text, [](unsigned char c) {
             return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '.';
           });
  }

  void read_port(YamlFields& fields) {
    const auto name = name_of(fields);
    const bool there = fields.has("mac");
    if (!there) fields.required("mac");
    const auto macs =
        there ? one_for_each("MACs", fields.texts("mac"), fields.place("mac"), count_, problems_)
              : std::vector<std::string>{};
    auto has = addressing_of(fields);
    for (std::size_t i = 0; i < count_; ++i) {
      NodePort port{.name = name, .has = std::move(has[i])};
      if (i < macs.size()) port.mac = mac_in(fields, macs[i]);
      ports_[name] =
          ports_[name] || port.has.dhcp4 || port.has.dhcp6 || !port.has.addresses.empty();
      nodes_[i].ports.push_back(std::move(port));
    }
  }

  std::string mac_in(YamlFields& fields, const std::string& text) {
    auto mac = mac_of(text);
    if (!mac)
      fields.report(fields.place("mac"),
                    "'" + printable(text) + "' is not the MAC of a port (aa:bb:cc:00:11:22)");
    else if (!macs_.insert(*mac).second)
      fields.report(fields.place("mac"), *mac + " is there twice");
    return mac.value_or("");
  }

  void read_bond(YamlFields& fields) {
    const auto name = name_of(fields);
    const auto mode = fields.required("mode");
    if (fields.has("mode") && std::ranges::find(kModes, mode) == kModes.end())
      fields.report(fields.place("mode"), fmt::format("mode of a bond is {}, not '{}'",
                                                      fmt::join(kModes, " or "), printable(mode)));
    const auto members = fields.texts("ports");
    if (members.empty()) fields.report(fields.place("ports"), "bond needs ports");
    for (const auto& member : members) check_member(fields, member);
    bonds_.insert(name);
    auto has = addressing_of(fields);
    for (std::size_t i = 0; i < count_; ++i)
      nodes_[i].bonds.push_back({name, mode, members, std::move(has[i])});
  }

  void check_member(YamlFields& fields, const std::string& member) {
    const auto port = ports_.find(member);
    if (port == ports_.end())
      fields.report(fields.place("ports"), "there is no port '" + printable(member) + "'");
    else if (!members_.insert(member).second)
      fields.report(fields.place("ports"), "port '" + member + "' is in a bond already");
    else if (port->second)
      fields.report(fields.place("ports"),
                    "port '" + member + "' has an address of its own: give it to the bond");
  }

  void read_vlan(YamlFields& fields) {
    const auto name = name_of(fields), link = fields.required("link");
    if (!fields.has("id")) fields.required("id");
    const auto id = fields.integer("id", 1, kMostVlan).value_or(0);
    if (fields.has("link") && !ports_.contains(link) && !bonds_.contains(link))
      fields.report(fields.place("link"), "there is no port or bond '" + printable(link) + "'");
    if (members_.contains(link))
      fields.report(fields.place("link"), "port '" + link + "' is in a bond: link the bond");
    auto has = addressing_of(fields);
    for (std::size_t i = 0; i < count_; ++i)
      nodes_[i].vlans.push_back({name, id, link, std::move(has[i])});
  }

  YamlFields fields_;
  std::size_t count_;
  const std::string& file_;
  Problems& problems_;
  std::vector<NodeNetwork> nodes_;
  std::set<std::string> names_{}, macs_{}, members_{}, bonds_{};
  std::map<std::string, bool> ports_{};  // whether it has an address of its own
};

}  // namespace

std::vector<std::shared_ptr<const NodeNetwork>> read_node_network(const YamlValue* value,
                                                                  std::size_t count,
                                                                  const std::string& file,
                                                                  Problems& problems) {
  std::vector<std::shared_ptr<const NodeNetwork>> all(count);
  if (value == nullptr) return all;
  auto read = NetworkReader{*value, count, file, problems}.read();
  for (std::size_t i = 0; i < count; ++i)
    all[i] = std::make_shared<const NodeNetwork>(std::move(read[i]));
  return all;
}

}  // namespace cupel::inventory
