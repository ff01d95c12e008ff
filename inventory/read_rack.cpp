#include "inventory/read_rack.h"

#include <fmt/format.h>

#include <map>

#include "base/paths.h"
#include "base/text.h"
#include "inventory/identity.h"
#include "inventory/model.h"
#include "inventory/names.h"
#include "inventory/node_range.h"
#include "inventory/rack_place.h"
#include "inventory/read_access.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

constexpr std::size_t kMostOfARack = 256;  // of one group: a mistyped range

/// Where devices of one sort are reached: a list of addresses, or a map with `address`.
struct Group {
  const YamlValue* map = nullptr;  // nullptr: it is a list
  std::vector<std::string> addresses{};
  Place where{};

  std::size_t count() const { return addresses.size(); }
};

/// The addresses of a range; an IPv6 address in brackets is one.
Result<std::vector<std::string>> addresses_of(const std::string& range) {
  const auto inner = range.substr(0, range.find(']'));
  if (range.starts_with('[') && inner.contains(':')) return std::vector{range};
  TRY(const auto count, count_names(range));
  if (count > kMostOfARack)
    return Error{Code::kInvalid,
                 fmt::format("'{}' has {} addresses, more than {}", range, count, kMostOfARack)};
  return expand(range);
}

/// Reads the parts of one rack.
class PartReader {
 public:
  PartReader(NvlRack& rack, const YamlValue* defaults, const std::filesystem::path& folder,
             const Inventory& inventory, Problems& problems)
      : rack_{rack},
        defaults_{defaults},
        folder_{folder},
        inventory_{inventory},
        problems_{problems} {}

  void read(YamlFields& fields) {
    if (const auto* value = fields.value("compute")) read_compute(*value);
    if (const auto* value = fields.value("switches")) read_switches(*value);
    if (const auto* value = fields.value("power_shelves"))
      rack_.shelves = devices(*value, "power_shelves", "shelf", default_of("bmc"));
    if (const auto* value = fields.value("cdu")) read_cdu(*value);
  }

 private:
  const YamlValue* default_of(std::string_view key) const {
    const auto* entry = defaults_ == nullptr ? nullptr : defaults_->entry(key);
    return entry == nullptr || entry->kind == YamlValue::Kind::null ? nullptr : entry;
  }
  Place place_of(const YamlValue& value) const {
    return {inventory_.file, value.line, value.column};
  }
  void print_error(Place where, std::string what) {
    problems_.push_back({std::move(where), fmt::format("rack '{}': {}", rack_.name, what)});
  }

  /// Nothing where it is neither form, or has no address, or too many.
  std::optional<Group> group_of(const YamlValue& value, std::string_view what) {
    Group group{.where = place_of(value)};
    if (value.kind == YamlValue::Kind::map) {
      group.map = &value;
      if (const auto* address = value.entry("address")) {
        group.where = place_of(*address);
        add_addresses(*address, what, group);
      }
    } else if (value.kind == YamlValue::Kind::list) {
      for (const auto& item : value.items) add_addresses(item, what, group);
    } else {
      print_error(group.where, fmt::format("{} must be a list of addresses, or a map with address, "
                                           "user and password",
                                           what));
      return std::nullopt;
    }
    if (!group.addresses.empty()) return group;
    print_error(group.where, fmt::format("{} needs addresses", what));
    return std::nullopt;
  }

  void add_addresses(const YamlValue& item, std::string_view what, Group& group) {
    const std::string range{trimmed(item.text)};
    if (item.kind != YamlValue::Kind::scalar || range.empty())
      return print_error(place_of(item), fmt::format("each of {} must be a text", what));
    auto found = addresses_of(range);
    if (!found) return print_error(place_of(item), found.error().what);
    if (group.count() + found->size() > kMostOfARack)
      return print_error(place_of(item),
                         fmt::format("{} has more than {} addresses", what, kMostOfARack));
    std::ranges::move(*found, std::back_inserter(group.addresses));
  }

  /// "a01/shelf1", "a01/shelf2".
  std::vector<std::string> names(std::string_view what, std::size_t count) const {
    std::vector<std::string> all;
    for (std::size_t i = 1; i <= count; ++i)
      all.push_back(fmt::format("{}/{}{}", rack_.name, what, i));
    return all;
  }

  std::vector<RackDevice> devices_of(const Group& group, std::string_view what,
                                     const std::vector<std::string>& called,
                                     const YamlValue* defaults) {
    AccessFields access{group.map,       defaults, std::string{what},
                        inventory_.file, folder_,  problems_};
    return access.devices(called, group.addresses, group.where);
  }

  std::vector<RackDevice> devices(const YamlValue& value, std::string_view what,
                                  std::string_view called, const YamlValue* defaults) {
    const auto group = group_of(value, what);
    if (!group) return {};
    return devices_of(*group, what, names(called, group->count()), defaults);
  }

  /// One for each of `count` trays; empty where none are given. "1-8" is "[1-8]".
  std::vector<std::optional<int>> slots(YamlFields& fields, std::size_t count) {
    std::vector<std::optional<int>> none(count);
    if (!fields.has("slots")) return none;
    const auto where = fields.place("slots");
    std::string range;
    for (const auto& text : fields.texts("slots"))
      range += (range.empty() ? "" : ",") + std::string{trimmed(text)};
    if (!range.contains('[')) range = "[" + range + "]";
    const auto there = count_names(range);
    if (!there || *there != count) {
      print_error(where,
                  !there ? there.error().what
                         : fmt::format("{} slots for {} trays: give one for each", *there, count));
      return none;
    }
    std::vector<std::optional<int>> found;
    const auto words = expand(range);
    for (const auto& word : *words) {
      found.push_back(slot_of(word));
      if (!found.back())
        print_error(where, fmt::format("slot must be a whole number from 1 to {}, not '{}'",
                                       kHighestSlot, word));
    }
    return found;
  }

  const Node* node_at(const Endpoint& endpoint) const {
    const auto requested = canonical(endpoint);
    const auto is_it = [&](const Node& node) { return canonical(node.bmc.endpoint) == requested; };
    const auto found = std::ranges::find_if(inventory_.nodes, is_it);
    return found == inventory_.nodes.end() || endpoint.host.empty() ? nullptr : &*found;
  }

  void read_compute(const YamlValue& value) {
    YamlFields fields{value, "compute", inventory_.file, problems_};
    const auto* bmc = fields.value("bmc");
    const auto nodes = fields.texts("nodes");
    if ((bmc != nullptr) == !nodes.empty()) {
      fields.has("slots");
      print_error(place_of(value),
                  "compute needs one of bmc: [addresses] and nodes: names of nodes");
    } else if (bmc != nullptr) {
      for (auto& device : devices(*bmc, "bmc", "compute", default_of("bmc")))
        rack_.compute.push_back({.bmc = std::move(device)});
      const bool has_own_access = bmc->kind == YamlValue::Kind::map;
      for (auto& tray : rack_.compute)
        if (const auto* node = node_at(tray.bmc.endpoint)) {
          be_node(tray, *node);
          if (!has_own_access) take_access(tray.bmc, *node);
        }
    } else {
      add_nodes(nodes, fields.place("nodes"));
    }
    const auto given = slots(fields, rack_.compute.size());
    for (std::size_t i = 0; i < given.size(); ++i) rack_.compute[i].slot = given[i];
    fields.finish();
  }

  static void be_node(ComputeTray& tray, const Node& node) {
    tray.node = node.name;
    tray.bmc.known_as = bmc_name(node);
    if (tray.bmc.mac.empty()) tray.bmc.mac = node.bmc.mac;
  }

  static void take_access(RackDevice& device, const Node& node) {
    device.user = node.bmc.user;
    device.password = node.bmc.password;
    device.trust = node.bmc.trust;
  }

  void add_nodes(const std::vector<std::string>& ranges, const Place& where) {
    for (const auto& range : ranges) {
      const auto count = count_names(range);
      if (!count || *count > kMostOfARack) {
        print_error(where, !count ? count.error().what : "more nodes than a rack has trays");
        continue;
      }
      const auto called = expand(range);
      for (const auto& name : *called) add_node(name, where);
    }
  }

  void add_node(const std::string& name, const Place& where) {
    const auto* node = inventory_.node(name);
    if (node == nullptr) {
      std::vector<std::string> known;
      for (const auto& each : inventory_.nodes) known.push_back(each.name);
      print_error(where, "there is no node '" + name + "'" + did_you_mean(name, std::span{known}));
      return;
    }
    ComputeTray tray{
        .bmc = {.name = fmt::format("{}/compute{}", rack_.name, rack_.compute.size() + 1),
                .endpoint = node->bmc.endpoint,
                .user = node->bmc.user,
                .password = node->bmc.password,
                .trust = node->bmc.trust,
                .where = where}};
    be_node(tray, *node);
    rack_.compute.push_back(std::move(tray));
  }

  void read_switches(const YamlValue& value) {
    YamlFields fields{value, "switches", inventory_.file, problems_};
    const auto* bmc = fields.value("bmc");
    const auto* nvos = fields.value("nvos");
    if (bmc == nullptr && nvos == nullptr)
      print_error(place_of(value), "switches needs bmc: [addresses], nvos: [addresses] or both");
    if (bmc != nullptr)
      for (auto& device : devices(*bmc, "bmc", "switch", default_of("bmc"))) {
        const auto name = device.name;
        rack_.switches.push_back({.name = name, .bmc = std::move(device)});
      }
    if (nvos != nullptr) add_nvos(*nvos, bmc != nullptr);
    const auto given = slots(fields, rack_.switches.size());
    for (std::size_t i = 0; i < given.size(); ++i) rack_.switches[i].slot = given[i];
    fields.finish();
  }

  /// One address for each switch; or two: all of the first port, then all of the second.
  void add_nvos(const YamlValue& value, bool has_bmcs) {
    const auto group = group_of(value, "nvos");
    if (!group) return;
    const auto most = rack_.kind == nullptr ? kMostOfARack : rack_.kind->switches;
    auto count = rack_.switches.size();
    if (!has_bmcs) count = group->count() > most ? group->count() / 2 : group->count();
    const bool fits = count > 0 && (group->count() == count || group->count() == 2 * count);
    if (!fits) {
      print_error(
          group->where,
          fmt::format("nvos has {} addresses for {} switches: give one for each, or two: all "
                      "of the first port, then all of the second",
                      group->count(), count));
      return;
    }
    std::vector<std::string> called = names("switch", count);
    while (rack_.switches.size() < count)
      rack_.switches.push_back({.name = called[rack_.switches.size()]});
    std::vector<std::string> ports;
    for (std::size_t i = 0; i < group->count(); ++i)
      ports.push_back(fmt::format("{}/nvos{}", called[i % count], i < count ? "" : "2"));
    auto all = devices_of(*group, "nvos", ports, default_of("nvos"));
    for (std::size_t i = 0; i < all.size(); ++i)
      rack_.switches[i % count].nvos.push_back(std::move(all[i]));
  }

  void read_cdu(const YamlValue& value) {
    const auto group = group_of(value, "cdu");
    if (!group) return;
    if (group->count() != 1) {
      print_error(group->where, fmt::format("a rack has one cdu, not {}", group->count()));
      return;
    }
    auto all = devices_of(*group, "cdu", {rack_.name + "/cdu"}, default_of("bmc"));
    if (!all.empty()) rack_.cdu = std::move(all.front());
  }

  NvlRack& rack_;
  const YamlValue* defaults_;
  const std::filesystem::path& folder_;
  const Inventory& inventory_;
  Problems& problems_;
};

/// Who has an address, a MAC or a slot already.
class Taken {
 public:
  Taken(std::string what, Problems& problems) : what_{std::move(what)}, problems_{problems} {}
  void use(const std::string& key, const std::string& shown, const std::string& whose,
           const Place& where) {
    if (key.empty()) return;
    const auto [found, fresh] = by_.try_emplace(key, whose);
    if (!fresh && found->second != whose)
      problems_.push_back({where, fmt::format("{} {} of {} is already that of {}", what_, shown,
                                              whose, found->second)});
  }

 private:
  std::string what_;
  Problems& problems_;
  std::map<std::string, std::string> by_{};
};

void check_slots(const NvlRack& rack, Problems& problems) {
  Taken slots{"rack '" + rack.name + "': slot", problems};
  const auto use = [&](const std::optional<int>& slot, const std::string& whose) {
    if (slot) slots.use(std::to_string(*slot), std::to_string(*slot), whose, rack.where);
  };
  for (const auto& tray : rack.compute) use(tray.slot, tray.bmc.name);
  for (const auto& tray : rack.switches) use(tray.slot, tray.name);
}

void check_counts(const NvlRack& rack, Problems& problems) {
  const auto check = [&](std::size_t count, std::size_t most, const char* what) {
    if (count > most)
      problems.push_back({rack.where, fmt::format("rack '{}' has {} {}, and a {} has {} at most",
                                                  rack.name, count, what, rack.kind->name, most)});
  };
  check(rack.compute.size(), rack.kind->compute, "compute trays");
  check(rack.switches.size(), rack.kind->switches, "switch trays");
  check(rack.shelves.size(), rack.kind->shelves, "power shelves");
}

/// The names of a rack, or of several alike; empty where there is none that can be read.
std::vector<std::string> names_of(const YamlValue& item) {
  const auto* named = item.entry("name");
  const auto range = !item.key.empty() ? item.key : named != nullptr ? named->text : "";
  auto names = expand(range);
  return names ? *std::move(names) : std::vector<std::string>{};
}

bool has_parts(const YamlValue& item) {
  return std::ranges::any_of(kRackPartKeys, [&](auto key) { return item.entry(key) != nullptr; });
}

}  // namespace

std::vector<const RackDevice*> devices_of(const NvlRack& rack) {
  std::vector<const RackDevice*> all;
  for (const auto& one : rack.compute) all.push_back(&one.bmc);
  for (const auto& one : rack.switches) {
    if (one.bmc) all.push_back(&*one.bmc);
    for (const auto& port : one.nvos) all.push_back(&port);
  }
  for (const auto& one : rack.shelves) all.push_back(&one);
  if (rack.cdu) all.push_back(&*rack.cdu);
  return all;
}

std::vector<const YamlValue*> rack_items(YamlFields& site, Problems& problems,
                                         const std::string& file) {
  const auto* racks = site.value("racks");
  std::vector<const YamlValue*> items;
  if (racks == nullptr) return items;
  if (racks->kind == YamlValue::Kind::scalar)
    problems.push_back({{file, racks->line, racks->column},
                        "racks must be a list of racks, or a map of racks by their names"});
  for (const auto& item : racks->items) items.push_back(&item);
  return items;
}

std::vector<NvlRack> read_rack_parts(YamlFields& site, const YamlValue* defaults,
                                     const std::filesystem::path& folder,
                                     const Inventory& inventory, Problems& problems) {
  std::vector<NvlRack> racks;
  Problems reported_already;
  for (const auto* item : rack_items(site, reported_already, inventory.file)) {
    if (item->kind != YamlValue::Kind::map || !has_parts(*item)) continue;
    YamlFields fields{*item, "rack", inventory.file, problems};
    const Place where{inventory.file, item->line, item->column};
    const auto names = names_of(*item);
    if (names.size() > 1)
      fields.report(where, "a rack with parts has one name: its trays have addresses of their own");
    NvlRack rack{.name = names.empty() ? std::string{} : names.front(), .where = where};
    const auto kind = fields.text("kind").value_or("");
    rack.kind = rack_kind(kind);
    std::vector<std::string_view> known;
    for (const auto& each : rack_kinds()) known.push_back(each.name);
    if (rack.kind == nullptr)
      fields.report(fields.place("kind"),
                    kind.empty()
                        ? "rack '" + rack.name + "' needs a kind: gb200-nvl72"
                        : "there is no kind of rack '" + kind + "'" +
                              did_you_mean(kind, std::span<const std::string_view>{known}));
    PartReader{rack, defaults, folder, inventory, problems}.read(fields);
    if (rack.kind != nullptr && !rack.name.empty()) racks.push_back(std::move(rack));
  }
  return racks;
}

void check_rack_parts(const std::vector<NvlRack>& racks, const Inventory& inventory,
                      Problems& problems) {
  Taken addresses{"address", problems}, macs{"MAC", problems}, names{"name", problems},
      nodes{"node", problems};
  for (const auto& pdu : inventory.pdus) {
    const auto whose = "PDU " + pdu.name;
    if (!pdu.endpoint.host.empty()) addresses.use(canonical(pdu.endpoint), "", whose, pdu.where);
    names.use(pdu.name, pdu.name, whose, pdu.where);
  }
  for (const auto& node : inventory.nodes)
    if (!node.bmc.endpoint.host.empty())
      addresses.use(canonical(node.bmc.endpoint), "", bmc_name(node), node.where);
  for (const auto& rack : racks) {
    for (const auto* device : devices_of(rack)) {
      if (!device->endpoint.host.empty())
        addresses.use(canonical(device->endpoint), to_string(device->endpoint), device->pin_name(),
                      device->where);
      macs.use(device->mac, device->mac, device->name, device->where);
      names.use(device->name, device->name, device->name, device->where);
    }
    for (const auto& tray : rack.compute)
      nodes.use(tray.node, tray.node, tray.bmc.name, tray.bmc.where);
    check_slots(rack, problems);
    check_counts(rack, problems);
  }
}

}  // namespace cupel::inventory
