// Network adapters: BlueFields are DPUs, what carries InfiniBand or RDMA is an HCA, Fibre Channel
// HBAs are PCIe devices, the rest NICs. Each kind has a count of its own.
#include <array>
#include <map>

#include "base/text.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

/// What its functions, its ports and its PCI ids say of an adapter.
struct VendorHints {
  std::vector<std::string> macs{};
  std::vector<std::string> functions{};  // PCIe functions that they are
  bool infiniband = false;
  bool fibre_channel = false;
  bool mellanox = false;
  bool bluefield = false;
};

bool holds_any(const std::string& text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](auto word) { return text.find(word) != std::string::npos; });
}

/// By maker, family or ordering number (MCX..., MBF...) where the adapter itself tells them.
PartKind kind_by(const Part& part, std::string_view name, const VendorHints& signs) {
  constexpr std::array<std::string_view, 2> kDpu{"bluefield", "mbf"};
  constexpr std::array<std::string_view, 7> kHca{"mellanox", "mlnx", "nvidia",    "connectx",
                                                 "mcx",      "cx7",  "infiniband"};
  const auto card = lower_case(part.model + " " + part.part_number + " " + std::string{name});
  if (signs.bluefield || holds_any(card, kDpu)) return PartKind::dpu;
  const auto text = card + " " + lower_case(part.manufacturer + " " + part.source);
  const bool hca = signs.infiniband || signs.mellanox || holds_any(text, kHca);
  if (hca) return PartKind::hca;
  return signs.fibre_channel ? PartKind::pcie : PartKind::nic;
}

/// "hca3"; "fc0" of a Fibre Channel HBA: the other PCIe devices have names of their own.
std::string name_of(PartKind kind, std::size_t number) {
  const auto stem = kind == PartKind::pcie ? std::string_view{"fc"} : to_string(kind);
  return std::string{stem} + std::to_string(number);
}

void add_mac(VendorHints& signs, const std::string& reported) {
  auto mac = canonical_mac(reported);
  if (mac && std::ranges::find(signs.macs, *mac) == signs.macs.end())
    signs.macs.push_back(std::move(*mac));
}

/// Source: DSP0268, NetworkDeviceFunction: Ethernet, NetDevFuncType.
void look_at_function(VendorHints& signs, const json::value& function) {
  const auto permanent = reported(function, "Ethernet/PermanentMACAddress");
  add_mac(signs, permanent.empty() ? reported(function, "Ethernet/MACAddress") : permanent);
  const auto type = reported(function, "NetDevFuncType");
  if (type == "InfiniBand") signs.infiniband = true;
  if (type == "FibreChannel") signs.fibre_channel = true;
  if (auto uri = link_at(function, "Links/PCIeFunction"); !uri.empty())
    signs.functions.push_back(std::move(uri));
}

/// Source: DSP0268, Port (Ethernet/AssociatedMACAddresses, LinkNetworkTechnology, PortProtocol) and
/// NetworkPort (AssociatedNetworkAddresses, ActiveLinkTechnology).
void look_at_port(VendorHints& signs, const json::value& port) {
  for (const auto* path : {"Ethernet/AssociatedMACAddresses", "AssociatedNetworkAddresses"}) {
    const auto* list = find(port, path);
    if (list == nullptr || !list->is_array()) continue;
    for (const auto& one : list->get_array())
      if (one.is_string()) add_mac(signs, std::string{one.get_string()});
  }
  for (const auto* path : {"LinkNetworkTechnology", "PortProtocol", "ActiveLinkTechnology"}) {
    const auto technology = reported(port, path);
    if (technology == "InfiniBand") signs.infiniband = true;
    if (technology == "FibreChannel" || technology == "FC") signs.fibre_channel = true;
  }
}

const json::array* controllers_of(const json::value& adapter) {
  const auto* list = find(adapter, "Controllers");
  return list == nullptr ? nullptr : list->if_array();
}

std::vector<std::string> controllers_links(const json::value& adapter, std::string_view path) {
  std::vector<std::string> links;
  const auto* controllers = controllers_of(adapter);
  if (controllers == nullptr) return links;
  for (const auto& one : *controllers)
    for (auto& link : links_at(one, path))
      if (std::ranges::find(links, link) == links.end()) links.push_back(std::move(link));
  return links;
}

/// What hangs below an adapter: its controllers link to it, else there is a collection.
Task<std::vector<Document>> below(Survey& survey, const Document& adapter, std::string what) {
  auto uris = controllers_links(adapter.body, "Links/" + what);
  if (!uris.empty()) co_return co_await survey.read_all(std::move(uris), what);
  co_return co_await survey.members(survey.link(adapter, what), what);
}

Task<VendorHints> look_below(Survey& survey, const Document& adapter) {
  VendorHints signs;
  const auto functions = co_await below(survey, adapter, "NetworkDeviceFunctions");
  for (const auto& one : functions) look_at_function(signs, one.body);
  if (!signs.macs.empty() || signs.infiniband) co_return signs;
  for (const auto* what : {"Ports", "NetworkPorts"}) {
    const auto ports = co_await below(survey, adapter, what);
    for (const auto& one : ports) look_at_port(signs, one.body);
    if (!signs.macs.empty() || signs.infiniband) break;
  }
  co_return signs;
}

/// Some BMCs name neither maker nor model (DGX H100: "DevType7_NIC8"): the PCI ids do.
Task<void> look_at_bus(Survey& survey, const Machine& machine, Part& part, VendorHints& signs,
                       const std::vector<std::string>& devices) {
  if (!part.model.empty() || !part.manufacturer.empty() || devices.empty()) co_return;
  const auto prefix = normal(devices.front()) + "/PCIeFunctions/";
  std::string uri;
  for (const auto& function : links_at(machine.system.body, "PCIeFunctions"))
    if (uri.empty() && function.starts_with(prefix)) uri = function;
  if (uri.empty()) co_return;
  const auto function = co_await survey.read(uri, "maker of " + part.slot);
  if (!function) co_return;
  const auto vendor = reported(function->body, "VendorId");
  if (vendor.empty()) survey.unknown("maker of " + part.slot, uri, "no VendorId");
  part.manufacturer = pci_vendor(vendor);
  signs.mellanox = part.manufacturer == "Mellanox";
  // PCI ID repository: a2d6 and a2dc are the network controllers within BlueField-2 and -3.
  const auto device = lower_case(reported(function->body, "DeviceId"));
  signs.bluefield = signs.mellanox && (device == "0xa2d6" || device == "0xa2dc");
}

/// What the first controller tells: its firmware, its link, and where it sits.
void add_controller(Part& part, const json::value& adapter) {
  const auto* controllers = controllers_of(adapter);
  if (controllers == nullptr || controllers->empty()) return;
  const auto& first = controllers->front();
  if (part.firmware.empty()) part.firmware = reported(first, "FirmwarePackageVersion");
  if (part.slot.empty()) part.slot = reported(first, "Location/PartLocation/ServiceLabel");
  if (const auto* reported_interface = find(first, "PCIeInterface"))
    part.pcie = pcie_link(*reported_interface);
}

/// One place of an adapter: the part, still without a name; nothing where none could be read.
using Place = std::optional<Part>;

Task<void> read_adapter(Survey& survey, const Machine& machine, const Document& adapter,
                        Place& place, PcieClaims& claims) {
  if (adapter.body.is_null() || is_absent(adapter.body)) co_return;
  Part part = part_of(PartKind::nic, "", adapter);
  add_controller(part, adapter.body);
  if (part.slot.empty()) part.slot = last_name(adapter.uri);
  VendorHints signs = co_await look_below(survey, adapter);
  const auto devices = controllers_links(adapter.body, "Links/PCIeDevices");
  co_await look_at_bus(survey, machine, part, signs, devices);
  part.macs = std::move(signs.macs);
  part.kind = kind_by(part, reported(adapter.body, "Name"), signs);
  for (const auto& device : devices) claims.claim(device, part.source);
  for (const auto& function : signs.functions) claims.claim(function, part.source);
  place = std::move(part);
}

/// Of an empty place, or one that could not be read: that of the one before it, else of the one
/// after it. Cards of a kind stand together in the order of their names.
PartKind likely_kind(const std::vector<Place>& places, std::size_t at) {
  for (std::size_t i = at; i-- > 0;)
    if (places[i]) return places[i]->kind;
  for (std::size_t i = at + 1; i < places.size(); ++i)
    if (places[i]) return places[i]->kind;
  return PartKind::nic;
}

/// Gives every place a number of its kind. Returns how many NICs have one.
std::size_t add_numbered(Survey& survey, const std::vector<Document>& adapters,
                         std::vector<Place> places) {
  std::map<PartKind, std::size_t> next;
  std::vector<std::size_t> numbers(places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    numbers[i] = next[places[i] ? places[i]->kind : likely_kind(places, i)]++;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (adapters[i].body.is_null())
      survey.unknown("numbers of the adapters after " + std::string{last_name(adapters[i].uri)},
                     adapters[i].uri, "it could not be read");
    if (!places[i]) continue;
    places[i]->name = name_of(places[i]->kind, numbers[i]);
    survey.add(*std::move(places[i]));
  }
  return next[PartKind::nic];
}

Task<void> adapters_of(Survey& survey, const Document& chassis, std::vector<Document>& adapters) {
  adapters = co_await survey.members(survey.link(chassis, "NetworkAdapters"), "adapter");
}

/// One card that two chassis list (BlueField's BMC): the same name and the same ids.
bool is_same_card(const Document& one, const Document& other) {
  if (last_name(one.uri) != last_name(other.uri)) return false;
  return reported(one.body, "SerialNumber") == reported(other.body, "SerialNumber") &&
         last_name(one.uri) == "NvidiaNetworkAdapter";
}

/// The machine is a DPU itself: its card is the one chassis with a model.
void add_own_card(Survey& survey, const Machine& machine) {
  for (const auto& chassis : *machine.chassis) {
    if (reported(chassis.body, "ChassisType") != "Card") continue;
    survey.add(part_of(PartKind::dpu, "dpu0", chassis));
    return;
  }
}

/// The port for the maintenance of a node, which is on its board and no adapter (Cray EX:
/// "ManagementEthernet").
Task<void> add_management_port(Survey& survey, const Machine& machine, std::size_t number) {
  const auto collection = link_at(machine.system.body, "EthernetInterfaces");
  if (collection.empty()) co_return;
  auto uris = co_await survey.links(collection, "network interface");
  std::erase_if(uris, [](const std::string& uri) {
    return lower_case(last_name(uri)).find("management") == std::string::npos;
  });
  const auto ports = co_await survey.read_all(std::move(uris), "network interface");
  for (const auto& port : ports) {
    auto mac = mac_of(port.body);
    const auto has_it = [&](const Part& part) {
      return std::ranges::find(part.macs, *mac) != part.macs.end();
    };
    if (!mac || std::ranges::any_of(survey.seen().parts, has_it)) continue;
    Part nic = part_of(PartKind::nic, name_of(PartKind::nic, number++), port);
    nic.slot = last_name(port.uri);
    nic.macs.push_back(*std::move(mac));
    survey.add(std::move(nic));
  }
}

/// VLANs and bonds on a port that is listed too. A port of its own may have a VLAN as well.
/// Source: DSP0268, EthernetInterface: EthernetInterfaceType, VLAN, Links.RelatedInterfaces.
bool is_virtual(const json::value& port) {
  if (reported(port, "EthernetInterfaceType") == "Virtual") return true;
  const auto* vlan = find(port, "VLAN");
  return vlan != nullptr && vlan->is_object() && !links_at(port, "Links/RelatedInterfaces").empty();
}

}  // namespace

bool is_port_of_card(const json::value& port) {
  return !is_virtual(port) && find(port, "Links/HostInterface") == nullptr;
}

std::optional<std::string> mac_of(const json::value& port) {
  auto mac = canonical_mac(reported(port, "PermanentMACAddress"));
  return mac ? mac : canonical_mac(reported(port, "MACAddress"));
}

namespace {

/// Where no chassis lists adapters: what the system knows of its ports.
Task<void> add_interfaces(Survey& survey, const Machine& machine) {
  const auto collection = survey.link(machine.system, "EthernetInterfaces");
  auto ports = co_await survey.members(collection, "network interface");
  std::ranges::stable_sort(ports, [](const Document& left, const Document& right) {
    return natural_less(last_name(left.uri), last_name(right.uri));
  });
  std::erase_if(ports, [](const Document& port) { return is_virtual(port.body); });
  std::size_t number = 0;
  for (const auto& port : ports) {
    const auto mine = number++;
    if (port.body.is_null() || !is_port_of_card(port.body)) continue;
    Part nic = part_of(PartKind::nic, "nic" + std::to_string(mine), port);
    nic.slot = reported(port.body, "Name");
    if (auto mac = mac_of(port.body)) nic.macs.push_back(*std::move(mac));
    if (nic.macs.empty()) {
      survey.unknown("MACs of " + nic.name, port.uri, "none that is one");
      continue;
    }
    survey.add(std::move(nic));
  }
}

}  // namespace

PartKind kind_of_card(const Part& card, std::string_view name) {
  const auto text = lower_case(name);
  constexpr std::array<std::string_view, 2> kFibreChannel{"fibre channel", " fc hba"};
  return kind_by(card, name, {.fibre_channel = holds_any(text, kFibreChannel)});
}

Task<void> read_adapters(Survey& survey, const Machine& machine, PcieClaims& claims) {
  // Which of these a card is, what is below it decides.
  constexpr std::array kCards{PartKind::nic, PartKind::hca, PartKind::dpu};
  survey.lists(kCards);
  const auto& chassis = *machine.chassis;
  std::vector<std::vector<Document>> found(chassis.size());
  const auto read = [&](Survey& piece, std::size_t at) {
    return adapters_of(piece, chassis[at], found[at]);
  };
  co_await read_beside(survey, chassis.size(), read);
  std::vector<Document> adapters;
  for (auto& some : found) {
    for (auto& adapter : some) {
      const auto same = [&](const Document& other) { return is_same_card(adapter, other); };
      if (std::ranges::none_of(adapters, same)) adapters.push_back(std::move(adapter));
    }
  }
  std::ranges::stable_sort(adapters, [](const Document& left, const Document& right) {
    return natural_less(last_name(left.uri), last_name(right.uri));
  });
  if (lower_case(last_name(machine.system.uri)) == "bluefield") add_own_card(survey, machine);
  if (adapters.empty()) co_return co_await add_interfaces(survey, machine);
  std::vector<Place> places(adapters.size());
  const auto look = [&](Survey& piece, std::size_t at) {
    return read_adapter(piece, machine, adapters[at], places[at], claims);
  };
  co_await read_beside(survey, adapters.size(), look);
  const auto nics = add_numbered(survey, adapters, std::move(places));
  co_await add_management_port(survey, machine, nics);
}

}  // namespace cupel::bmc::redfish
