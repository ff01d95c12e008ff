// A chassis's list of devices outside of the standard (HPE iLO): cards that nothing else lists, and
// versions and slots that nothing else tells.
#include <array>
#include <map>
#include <set>

#include "bmc/redfish/inventory.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

bool is_adapter(PartKind kind) {
  return kind == PartKind::nic || kind == PartKind::hca || kind == PartKind::dpu;
}

Task<void> read_list_of(Survey& survey, const Machine& machine, const Document& chassis,
                        std::vector<Document>& devices) {
  const auto collection = survey.link(chassis, machine.rules->device_list);
  if (collection.empty()) co_return;
  devices = co_await survey.members(collection, "device");
  std::ranges::stable_sort(devices, [](const Document& left, const Document& right) {
    return natural_less(last_name(left.uri), last_name(right.uri));
  });
}

/// Source: HPE's resource HpeServerDevice: DeviceType.
bool is_network_card(const Document& device) {
  constexpr std::array<std::string_view, 3> kTypes{"LOM/NIC", "Converged Network Adapter",
                                                   "Fibre Channel Adapter"};
  const auto type = reported(device.body, "DeviceType");
  return std::ranges::find(kTypes, type) != kTypes.end();
}

std::string version_of(const Document& device) {
  return reported(device.body, "FirmwareVersion/Current/VersionString");
}

/// What the part itself does not tell, of the device that has its serial number.
void complete(Part& part, const Document& device) {
  if (part.firmware.empty()) part.firmware = version_of(device);
  if (part.slot.empty() || part.slot == last_name(part.source))
    if (auto slot = reported(device.body, "Location"); !slot.empty()) part.slot = std::move(slot);
}

void add_card(Survey& survey, const Document& device, std::map<PartKind, std::size_t>& next) {
  Part card = part_of(PartKind::nic, "", device);
  if (card.model.empty()) card.model = reported(device.body, "Name");
  card.firmware = version_of(device);
  card.kind = kind_of_card(card, card.model);
  // Any other device is listed among the PCIe devices.
  if (!is_adapter(card.kind)) return;
  card.name = std::string{to_string(card.kind)} + std::to_string(next[card.kind]++);
  survey.add(std::move(card));
}

bool lacks_macs(const Part& part) { return is_adapter(part.kind) && part.macs.empty(); }

/// Source: HPE's resource HpeBaseNetworkAdapter: SerialNumber, PhysicalPorts.
std::vector<std::string> macs_of_card(const json::value& card) {
  std::vector<std::string> macs;
  const auto* ports = find(card, "PhysicalPorts");
  const auto* list = ports == nullptr ? nullptr : ports->if_array();
  if (list == nullptr) return macs;
  for (const auto& port : *list)
    if (auto mac = canonical_mac(reported(port, "MacAddress"))) macs.push_back(*std::move(mac));
  return macs;
}

bool is_known(Survey& survey, const std::string& mac) {
  return std::ranges::any_of(survey.seen().parts, [&](const Part& part) {
    return std::ranges::find(part.macs, mac) != part.macs.end();
  });
}

/// The card that one of the links leads to a function or a port of: by its place below the card.
/// Source: DSP0268, EthernetInterface: Links.NetworkDeviceFunctions, NetworkDeviceFunction, Ports.
Part* card_of(std::vector<Part>& parts, const json::value& port) {
  auto uris = links_at(port, "Links/NetworkDeviceFunctions");
  std::ranges::move(links_at(port, "Links/Ports"), std::back_inserter(uris));
  uris.push_back(link_at(port, "Links/NetworkDeviceFunction"));
  for (const auto& uri : uris)
    for (auto& part : parts)
      if (is_adapter(part.kind) && normal(uri).starts_with(normal(part.source) + "/")) return &part;
  return nullptr;
}

/// Gives the system's ports that no part has to the cards that they link to. Returns the MACs of
/// the others. A port may tell another one than its permanent one.
Task<std::vector<std::string>> give_ports(Survey& survey, const Machine& machine) {
  std::vector<std::string> macs;
  const auto collection = link_at(machine.system.body, "EthernetInterfaces");
  const auto ports = co_await survey.members(collection, "network interface");
  auto& parts = survey.seen().parts;
  for (const auto& port : ports) {
    const auto mac = mac_of(port.body), now = canonical_mac(reported(port.body, "MACAddress"));
    if (!mac || !is_port_of_card(port.body)) continue;
    if (is_known(survey, *mac) || (now && is_known(survey, *now))) continue;
    auto* card = card_of(parts, port.body);
    auto& owners = card == nullptr ? macs : card->macs;
    if (std::ranges::find(owners, *mac) == owners.end()) owners.push_back(*mac);
  }
  co_return macs;
}

/// "15" of "PCIe 15" or "slot-15".
std::string_view number_of_slot(std::string_view slot) {
  const auto last = slot.find_last_not_of("0123456789");
  return last == slot.npos ? slot : slot.substr(last + 1);
}

/// Of the attribute that has a MAC of the slot of this number, or of a port in it; not of one that
/// is set instead ("_VirtualMACAddress").
bool is_mac_of_slot(std::string_view attribute, std::string_view number) {
  if (!attribute.ends_with("_MACAddress") && !attribute.ends_with("_PermanentMACAddress"))
    return false;
  constexpr std::string_view kSlot = "__Slot";
  const auto at = attribute.find(kSlot);
  if (at == attribute.npos || number.empty()) return false;
  const auto rest = attribute.substr(at + kSlot.size());
  return rest.find_first_not_of("0123456789") == number.size() && rest.starts_with(number);
}

/// Source: an XCC's BIOS attributes.
Task<void> add_macs_of_bios(Survey& survey, const Machine& machine) {
  const auto uri = link_at(machine.system.body, "Bios");
  if (uri.empty()) co_return;
  const auto bios = co_await survey.read(uri, "MACs of slots");
  const auto* reported_attributes = bios ? find(bios->body, "Attributes") : nullptr;
  const auto* attributes =
      reported_attributes == nullptr ? nullptr : reported_attributes->if_object();
  if (attributes == nullptr) co_return;
  for (auto& part : survey.seen().parts) {
    if (!lacks_macs(part)) continue;
    const auto number = number_of_slot(part.slot);
    std::set<std::string> macs;
    for (const auto& [name, value] : *attributes)
      if (is_mac_of_slot(name, number) && value.is_string())
        if (auto mac = canonical_mac(std::string{value.get_string()})) macs.insert(*std::move(mac));
    part.macs.assign(macs.begin(), macs.end());
  }
}

Task<void> add_macs_of_list(Survey& survey, const Machine& machine) {
  const auto collection = link_at(machine.system.body, machine.rules->card_list);
  const auto cards = co_await survey.members(collection, "network card");
  auto& parts = survey.seen().parts;
  for (const auto& card : cards) {
    const auto serial = reported(card.body, "SerialNumber");
    const auto slot = reported(card.body, "Location");
    const auto has_serial = [&](const Part& part) {
      return lacks_macs(part) && !serial.empty() && part.serial == serial;
    };
    const auto has_slot = [&](const Part& part) {
      const bool no_serial = serial.empty() || part.serial.empty();
      return lacks_macs(part) && no_serial && !slot.empty() && part.slot == slot;
    };
    auto same = std::ranges::find_if(parts, has_serial);
    if (same == parts.end() && std::ranges::count_if(parts, has_slot) == 1)
      same = std::ranges::find_if(parts, has_slot);
    if (same != parts.end()) same->macs = macs_of_card(card.body);
  }
}

}  // namespace

Task<void> add_macs_of_cards(Survey& survey, const Machine& machine) {
  auto& parts = survey.seen().parts;
  if (std::ranges::none_of(parts, lacks_macs)) co_return;
  if (!machine.rules->card_list.empty()) co_await add_macs_of_list(survey, machine);
  if (machine.rules->bios_names_macs) co_await add_macs_of_bios(survey, machine);
  // An adapter of InfiniBand has none: the ports may be those of the board.
  const auto should_have = [&](const Part& part) {
    return lacks_macs(part) && (part.kind != PartKind::hca || !machine.rules->card_list.empty());
  };
  if (std::ranges::none_of(parts, should_have)) co_return;
  const auto rest = co_await give_ports(survey, machine);
  if (rest.empty() || std::ranges::none_of(parts, should_have)) co_return;
  // Also where one card alone has none: a port of the board is on no card.
  std::string text;
  for (const auto& mac : rest) text += (text.empty() ? "" : ", ") + mac;
  survey.unknown("cards of the machine's MACs " + text, machine.system.uri,
                 "the BMC does not report on which card they are");
}

Task<void> read_device_lists(Survey& survey, const Machine& machine, DeviceLists& lists) {
  const auto& chassis = *machine.chassis;
  lists.resize(chassis.size());
  if (machine.rules->device_list.empty()) co_return;
  // Cards, and the GPUs of an iLO 5, are listed nowhere else.
  constexpr std::array kListed{PartKind::gpu, PartKind::nic, PartKind::hca, PartKind::dpu};
  survey.lists(kListed);
  const auto read = [&](Survey& piece, std::size_t at) {
    return read_list_of(piece, machine, chassis[at], lists[at]);
  };
  co_await read_beside(survey, chassis.size(), read);
}

void add_listed_cards(Survey& survey, const DeviceLists& lists) {
  auto& parts = survey.seen().parts;
  // Ports without a serial number stand for all cards where no chassis lists adapters.
  const auto is_port = [](const Part& part) {
    return is_adapter(part.kind) && part.serial.empty();
  };
  const bool has_ports = std::ranges::any_of(parts, is_port);
  std::map<PartKind, std::size_t> next;
  for (const auto& part : parts) ++next[part.kind];
  for (const auto& list : lists) {
    for (const auto& device : list) {
      const auto serial = reported(device.body, "SerialNumber");
      if (serial.empty() || is_absent(device.body)) continue;
      const auto same = [&](const Part& part) {
        return (is_adapter(part.kind) || part.kind == PartKind::gpu) && part.serial == serial;
      };
      const auto known = std::ranges::find_if(parts, same);
      if (known != parts.end()) {
        complete(*known, device);
      } else if (is_network_card(device) && !has_ports) {
        add_card(survey, device, next);
      }
    }
  }
}

}  // namespace cupel::bmc::redfish
