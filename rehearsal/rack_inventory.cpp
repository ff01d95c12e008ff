#include "rehearsal/rack_inventory.h"

#include <fmt/format.h>

#include "inventory/access.h"
#include "inventory/endpoint.h"
#include "inventory/fabric_rule.h"
#include "inventory/fabric_site.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/power_node.h"
#include "inventory/rehearsal_mark.h"
#include "inventory/slurm_site.h"

namespace cupel::rehearsal {
namespace {

using inventory::PowerNode;

/// A double-quoted YAML scalar.
std::string quoted(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all + "\"";
}

/// A plain one where YAML takes it for the same text, as people write names.
std::string word(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view kMore = "0123456789-_./";
  const bool begins = !text.empty() && kLetters.contains(text[0]) && text != "null";
  const bool plain =
      std::ranges::all_of(text, [&](char c) { return kLetters.contains(c) || kMore.contains(c); });
  return begins && plain ? std::string{text} : quoted(text);
}

/// "p1/b3" of "a01/p1/b3" in rack "a01".
std::string_view below(std::string_view name, std::string_view parent) {
  return name.substr(std::min(name.size(), parent.size() + 1));
}

class Writer {
 public:
  Writer(const inventory::Inventory& site, const RackAccess& access)
      : site_{site}, access_{access} {}

  std::string text() {
    text_ = fmt::format("{}\nsite: {}\n", inventory::kRehearsalMark, word(site_.site));
    rooms();
    racks();
    groups();
    if (!access_.slurm.empty()) slurm();
    if (!access_.boot.empty())
      text_ += fmt::format("boot: {{serve: {}, images: images}}\n", quoted(access_.boot));
    text_ += "nodes:\n";
    for (std::size_t i = 0; i < site_.nodes.size(); ++i) node(site_.nodes[i], access_.nodes[i]);
    if (site_.fabric) fabric(*site_.fabric);
    return std::move(text_);
  }

 private:
  static std::string list(const std::vector<std::string>& items) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ", ") + word(item);
    return "[" + text + "]";
  }

  /// The plan as the site has it; the switches' GUIDs are the virtual ones' own.
  void fabric(const inventory::FabricSite& site) {
    text_ += "fabric:\n";
    std::vector<std::string> nodes;
    bool alike = true;
    for (const auto& each : site.fabric.nodes) {
      nodes.push_back(each.name);
      alike &= each.hcas == site.fabric.nodes.front().hcas;
    }
    text_ += "  nodes: " + list(nodes) + "\n";
    if (alike && !nodes.empty()) text_ += "  hcas: " + list(site.fabric.nodes.front().hcas) + "\n";
    if (!access_.forwarding.empty()) text_ += "  forwarding: " + quoted(access_.forwarding) + "\n";
    if (!site.rule) {
      text_ += "  cables: " + quoted(site.file) + "\n";
      return;
    }
    const auto& rule = *site.rule;
    text_ += fmt::format(
        "  layout: {}\n  group: {}\n  spines: {}\n  uplinks: {}\n  planes: {}\n"
        "  switch_ports: {}\n  ports_per_cage: {}\n  width: {}\n",
        rule.layout == inventory::FabricLayout::fat_tree ? "fat-tree" : "rail-optimised",
        rule.group, rule.spines, rule.uplinks, rule.planes, rule.switch_ports, rule.ports_per_cage,
        rule.width);
    if (!rule.speed.empty()) text_ += "  speed: " + word(rule.speed) + "\n";
    if (!rule.leaf.empty()) text_ += "  leaf: " + quoted(rule.leaf) + "\n";
    if (!rule.spine.empty()) text_ += "  spine: " + quoted(rule.spine) + "\n";
  }

  /// By names: what the site says of them may not fit a rack of some of its nodes.
  void groups() {
    std::string text;
    for (const auto& [name, members] : site_.groups) {
      std::string here;
      for (const auto& member : members)
        if (site_.node(member) != nullptr) here += (here.empty() ? "" : ",") + member;
      if (!here.empty())
        text += fmt::format("  - {{name: {}, nodes: {}}}\n", word(name), quoted(here));
    }
    if (!text.empty()) text_ += "groups:\n" + text;
  }

  void rooms() {
    bool any = false;
    for (const auto& level : site_.power) {
      if (level.kind != PowerNode::Kind::room) continue;
      if (!std::exchange(any, true)) text_ += "rooms:\n";
      text_ += fmt::format("  - {{name: {}, watts: {}}}\n", word(level.name), level.watts);
    }
  }

  void racks() {
    if (!site_.racks.empty()) text_ += "racks:\n";
    for (const auto& rack : site_.racks) {
      text_ += fmt::format("  - name: {}\n    units: {}\n", word(rack.name), rack.units);
      if (!rack.room.empty()) text_ += fmt::format("    room: {}\n", word(rack.room));
      std::string pdus;
      for (const auto& level : site_.power) {
        if (level.kind == PowerNode::Kind::rack && level.name == rack.name)
          text_ += fmt::format("    watts: {}\n", level.watts);
        if (level.kind == PowerNode::Kind::pdu && level.parent == rack.name) pdus += pdu(level);
      }
      if (!pdus.empty()) text_ += "    pdus:\n" + pdus;
    }
  }

  std::string pdu(const PowerNode& pdu) const {
    auto text = fmt::format("      - name: {}\n        watts: {}\n",
                            word(below(pdu.name, pdu.parent)), pdu.watts);
    bool any = false;
    for (const auto& level : site_.power) {
      if (level.kind != PowerNode::Kind::breaker || level.parent != pdu.name) continue;
      if (!std::exchange(any, true)) text += "        breakers:\n";
      text += fmt::format("          - {{name: {}, watts: {}}}\n",
                          word(below(level.name, pdu.name)), level.watts);
    }
    return text + redfish(pdu.name);
  }

  std::string redfish(const std::string& name) const {
    const auto pdu = std::ranges::find(site_.pdus, name, &inventory::Pdu::name);
    const auto access = std::ranges::find(access_.pdus, name, &PduAccess::name);
    if (pdu == site_.pdus.end() || access == access_.pdus.end()) return {};
    return fmt::format("        redfish: {{address: {}, user: {}, password: {}, tls: {{{}}}}}\n",
                       quoted(access->address), quoted(pdu->user),
                       quoted("file:" + access_.pdu_password_file), tls(pdu->trust, access->pin));
  }

  /// What the site pins, or has signed, is pinned to the virtual one's.
  static std::string tls(const inventory::Trust& trust, const std::string& pin) {
    const bool pinned = trust.kind != inventory::Trust::Kind::first_use;
    return pinned ? "pin: " + quoted(pin) : std::string{"trust: first-use"};
  }

  void slurm() {
    const auto slurm =
        site_.slurm.value_or(inventory::SlurmSite{.partition = "gpu", .features = {"qualified"}});
    std::string features;
    for (const auto& feature : slurm.features)
      features += (features.empty() ? "" : ", ") + word(feature);
    text_ += fmt::format("slurm: {{partition: {}, features: [{}], configuration: {}}}\n",
                         word(slurm.partition), features, quoted(access_.slurm));
  }

  void node(const inventory::Node& node, const NodeAccess& access) {
    text_ += fmt::format("  - name: {}\n    profile: {}\n", word(node.name), word(node.profile));
    if (!node.rack.empty()) text_ += fmt::format("    rack: {}\n", word(node.rack));
    if (node.unit > 0) text_ += fmt::format("    unit: {}\n", node.unit);
    constexpr std::array<std::string_view, 2> kFeeds{"breaker", "second_breaker"};
    constexpr std::array<std::string_view, 2> kOutlets{"outlet", "second_outlet"};
    for (std::size_t i = 0; i < std::min(kFeeds.size(), node.feeds.size()); ++i) {
      text_ += fmt::format("    {}: {}\n", kFeeds[i], word(below(node.feeds[i], node.rack)));
      if (i < node.outlets.size() && !node.outlets[i].empty())
        text_ += fmt::format("    {}: {}\n", kOutlets[i], quoted(node.outlets[i]));
    }
    if (!node.serial.empty()) text_ += fmt::format("    serial: {}\n", quoted(node.serial));
    if (node.slurm_name != node.name)
      text_ += fmt::format("    slurm_name: {}\n", word(node.slurm_name));
    if (node.host_name == inventory::kAnyHostName)  // a virtual machine has its node's name
      text_ += fmt::format("    host_name: {}\n", inventory::kAnyHostName);
    bmc(node.bmc, access);
    if (!access_.boot.empty()) boot(access);
    const bool pinned =
        node.ssh.trust.kind != inventory::Trust::Kind::first_use && access_.boot.empty();
    text_ += fmt::format("    ssh: {{address: {}, user: {}, key: {}, host_key: {}, sudo: {}}}\n",
                         quoted(access.ssh), quoted(node.ssh.user), quoted(access_.key_file),
                         quoted(pinned ? access.host_key : "first-use"), node.ssh.sudo);
  }

  /// Not every profile has an Ethernet port, nor a drive.
  void boot(const NodeAccess& access) {
    std::string keys;
    if (!access.mac.empty()) keys += fmt::format("macs: [{}]", quoted(access.mac));
    if (!access.disk.empty())
      keys += fmt::format("{}disk: {}", keys.empty() ? "" : ", ", quoted(access.disk));
    if (!keys.empty()) text_ += fmt::format("    boot: {{{}}}\n", keys);
  }

  void bmc(const inventory::BmcAccess& bmc, const NodeAccess& access) {
    text_ += fmt::format(
        "    bmc: {{address: {}, protocol: {}, user: {}, password: {}, tls: {{{}}}",
        quoted(access.bmc), bmc.protocol == inventory::BmcProtocol::ipmi ? "ipmi" : "redfish",
        quoted(bmc.user), quoted("file:" + access.password_file), tls(bmc.trust, access.bmc_pin));
    if (!access.system.empty()) text_ += fmt::format(", system: {}", quoted(access.system));
    // Of a BMC with several machines, IPMI would reach the first alone.
    if (bmc.ipmi && access.system.empty())
      text_ += fmt::format(
          ", ipmi: {{port: {}{}}}", access.ipmi_port,
          bmc.ipmi->cipher ? fmt::format(", cipher: {}", *bmc.ipmi->cipher) : std::string{});
    if (bmc.factory)
      text_ += fmt::format(", factory: {{user: {}, password: {}}}", quoted(bmc.factory->user),
                           quoted("file:" + access.factory_password_file));
    if (!bmc.mac.empty()) text_ += fmt::format(", mac: {}", quoted(bmc.mac));
    text_ += "}\n";
  }

  const inventory::Inventory& site_;
  const RackAccess& access_;
  std::string text_{};
};

}  // namespace

std::string inventory_text(const inventory::Inventory& site, const RackAccess& access) {
  return Writer{site, access}.text();
}

}  // namespace cupel::rehearsal
