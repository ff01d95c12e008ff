#include "rehearsal/rack_of_site.h"

#include <fmt/format.h>

#include "base/text.h"
#include "inventory/endpoint.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/power_node.h"
#include "rehearsal/bmc/vendor_behavior.h"

namespace cupel::rehearsal {
namespace {

using inventory::PowerNode;

constexpr std::size_t kNodesOfABreaker = 2;
constexpr int kUsualRack = 48;
constexpr int kTallestRack = 100;  // inventory/read_power.cpp takes no more

struct VendorWord {
  std::string_view word;
  std::string_view vendor;
};

constexpr std::array<VendorWord, 14> kWords{{{"dgx", "dgx"},
                                             {"poweredge", "dell"},
                                             {"dell", "dell"},
                                             {"idrac", "dell"},
                                             {"proliant", "hpe"},
                                             {"hpe", "hpe"},
                                             {"thinksystem", "lenovo"},
                                             {"lenovo", "lenovo"},
                                             {"supermicro", "supermicro"},
                                             {"gigabyte", "ami"},
                                             {"megarac", "ami"},
                                             {"asrock", "ami"},
                                             {"openbmc", "openbmc"},
                                             {"gb200", "openbmc"}}};

/// 250 to a /24: none ends in 0 or 255, which some tools take for a network.
std::string address(int network, std::size_t index) {
  constexpr std::size_t kOfASubnet = 250;
  return fmt::format("127.{}.{}.{}", network, index / kOfASubnet, index % kOfASubnet + 1);
}

/// Files are named after it, and hosts.
Result<void> check_name(const std::string& name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  constexpr std::size_t kLongest = 200;
  if (name.find_first_not_of(kAllowed) == name.npos && name[0] != '.' && name.size() <= kLongest)
    return ok();
  return Error{Code::kInvalid, "node '" + printable(name) + "' has no name for a virtual host"};
}

/// A file for each secret that the site refers to: where two nodes share one, so do these.
class Secrets {
 public:
  std::string file(const inventory::SecretRef& ref) {
    const auto found = std::ranges::find(known_, ref);
    const auto index = found - known_.begin();
    if (found == known_.end()) known_.push_back(ref);
    return index == 0 ? "bmc-password" : fmt::format("bmc-password-{}", index + 1);
  }

 private:
  std::vector<inventory::SecretRef> known_{};
};

LoginSpec login_of(const inventory::Node& node, Secrets& secrets) {
  LoginSpec login{.user = node.bmc.user, .secret = secrets.file(node.bmc.password)};
  if (node.bmc.factory) {
    login.factory_user = node.bmc.factory->user;
    login.factory_secret = secrets.file(node.bmc.factory->password);
  }
  return login;
}

/// One rack's part of the power tree, and its nodes from the bottom up.
class RackMaker {
 public:
  RackMaker(const RackSpec& from, inventory::Inventory& into) : from_{from}, into_{into} {}

  double add(const std::string& name, const std::vector<const NodeSpec*>& nodes) {
    const auto breakers = (nodes.size() + kNodesOfABreaker - 1) / kNodesOfABreaker;
    const double breaker = widest(nodes) * static_cast<double>(kNodesOfABreaker);
    const double all = breaker * static_cast<double>(breakers);
    int units = 0;
    for (const auto* node : nodes) units += profile(*node).units;
    into_.racks.push_back({name, "hall", std::clamp(units, kUsualRack, kTallestRack), {}});
    into_.power.push_back({PowerNode::Kind::rack, name, all, "hall", {}});
    for (int feed = 1; feed <= from_.feeds; ++feed) add_pdu(name, feed, breakers, breaker);
    int unit = 1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      into_.nodes.push_back(node_of(*nodes[i], name, i, unit));
      unit += profile(*nodes[i]).units;
    }
    return all;
  }

 private:
  void add_pdu(const std::string& rack, int feed, std::size_t breakers, double watts) {
    const auto name = fmt::format("{}/p{}", rack, feed);
    const double all = watts * static_cast<double>(breakers);
    into_.power.push_back({PowerNode::Kind::pdu, name, all, rack, {}});
    for (std::size_t i = 1; i <= breakers; ++i)
      into_.power.push_back(
          {PowerNode::Kind::breaker, fmt::format("{}/b{}", name, i), watts, name, {}});
    if (from_.feeds == 1) return;  // nobody would switch the only one that a node has
    inventory::Pdu pdu{.name = name, .endpoint = {}, .user = "admin", .password = {}, .trust = {}};
    pdu.trust.kind = inventory::Trust::Kind::pinned;
    into_.pdus.push_back(std::move(pdu));
  }
  const inventory::Profile& profile(const NodeSpec& node) const {
    static const inventory::Profile none{};
    const auto found = from_.profiles.find(from_.profile_of(node));
    return found == from_.profiles.end() ? none : found->second;
  }
  double widest(const std::vector<const NodeSpec*>& nodes) const {
    constexpr double kSpare = 1.1, kLeast = 1000;
    double watts = kLeast;
    for (const auto* node : nodes) watts = std::max(watts, profile(*node).draw.loaded_watts);
    return watts * kSpare;
  }
  inventory::Node node_of(const NodeSpec& spec, const std::string& rack, std::size_t index,
                          int unit) const {
    inventory::Node node;
    node.name = spec.name;
    node.profile = from_.profile_of(spec);
    node.rack = rack;
    node.unit = unit + profile(spec).units - 1 <= kTallestRack ? unit : 0;
    for (int feed = 1; feed <= from_.feeds; ++feed) {
      node.feeds.push_back(fmt::format("{}/p{}/b{}", rack, feed, index / kNodesOfABreaker + 1));
      node.outlets.push_back(from_.feeds == 1 ? "" : fmt::format("A{}", index + 1));
    }
    node.bmc.user = spec.login.user;
    node.bmc.trust.kind = node.ssh.trust.kind = inventory::Trust::Kind::pinned;
    node.bmc.ipmi.emplace();
    node.slurm_name = spec.name;
    return node;
  }

  const RackSpec& from_;
  inventory::Inventory& into_;
};

}  // namespace

std::string pdu_address(std::size_t index) {
  constexpr int kPdus = 74;
  return address(kPdus, index);
}

std::string vendor_of(const inventory::Profile& profile) {
  auto words = lower_case(profile.name + " " + profile.description);
  for (const auto& parts : profile.parts)
    if (parts.kind == inventory::PartKind::system)
      for (const auto& model : parts.models) words += " " + lower_case(model);
  for (const auto& [word, vendor] : kWords)
    if (words.contains(word)) return std::string{vendor};
  return std::string{default_behavior().vendor};
}

Result<RackSpec> rack_of(inventory::Inventory site) {
  constexpr int kBmcs = 72, kShells = 73;
  if (site.nodes.size() > kMostNodesOfARack)
    return Error{Code::kInvalid,
                 fmt::format("{} has {} nodes, and a virtual rack holds {}: rehearse with a part "
                             "of it",
                             site.file, site.nodes.size(), kMostNodesOfARack)};
  for (const auto& node : site.nodes) {
    TRY(check_name(node.name));
  }
  RackSpec rack{.name = site.site, .profile = site.nodes.front().profile};
  rack.profiles = site.profiles;
  Secrets secrets;
  std::map<std::string, std::string> vendors;
  for (const auto& [name, profile] : site.profiles) vendors[name] = vendor_of(profile);
  for (std::size_t i = 0; i < site.nodes.size(); ++i) {
    const auto& node = site.nodes[i];
    const auto& first = inventory::bmc_name(node);
    const auto before = std::ranges::find(rack.nodes, first, &NodeSpec::name);
    const bool shares = before != rack.nodes.end();
    rack.nodes.push_back({.name = node.name,
                          .bmc_of = shares ? first : std::string{},
                          .bmc_address = shares ? before->bmc_address : address(kBmcs, i),
                          .ssh_address = address(kShells, i),
                          .bmc = {.vendor = vendors.at(node.profile), .system = node.bmc.system},
                          .profile = node.profile,
                          .login = login_of(node, secrets),
                          .identity = {.serial = node.serial, .bmc_mac = node.bmc.mac}});
  }
  rack.site = std::make_shared<const inventory::Inventory>(std::move(site));
  return rack;
}

inventory::Inventory site_of(const RackSpec& rack) {
  inventory::Inventory site;
  site.site = "rehearsal";
  site.power.push_back({PowerNode::Kind::room, "hall", 0, "", {}});
  std::vector<std::pair<std::string, std::vector<const NodeSpec*>>> racks;
  for (const auto& node : rack.nodes) {
    const auto& name = node.rack.empty() ? rack.name : node.rack;
    if (racks.empty() || racks.back().first != name) racks.push_back({name, {}});
    racks.back().second.push_back(&node);
  }
  RackMaker maker{rack, site};
  double watts = 0;
  for (const auto& [name, nodes] : racks) watts += maker.add(name, nodes);
  site.power.front().watts = watts;
  site.fabric = rack.fabric;
  return site;
}

}  // namespace cupel::rehearsal
