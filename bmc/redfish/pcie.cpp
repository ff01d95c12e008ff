#include "bmc/redfish/pcie.h"

#include <array>

#include "base/text.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;
using inventory::PcieLink;

/// Bridges and chipset functions fill the collection of a large machine (DGX H100: 134), and tell
/// nothing of what could be replaced. Up to so many unclaimed ones are read nevertheless.
constexpr std::size_t kFew = 16;

/// The same for "/redfish/v1/Systems/X/PCIeDevices/Y/PCIeFunctions/0" and
/// "/redfish/v1/Chassis/X/PCIeDevices/Y": Dell uses both.
std::string key_of(std::string_view uri) {
  std::string key = normal(uri);
  if (const auto functions = key.find("/PCIeFunctions"); functions != key.npos)
    key.resize(functions);
  constexpr std::array<std::string_view, 2> kWays{"/redfish/v1/Systems/", "/redfish/v1/Chassis/"};
  for (const auto way : kWays)
    if (key.starts_with(way)) return key.substr(way.size());
  return key;
}

/// The device of one of its functions.
std::string device_of(const std::string& uri) { return uri.substr(0, uri.find("/PCIeFunctions")); }

int generation_of(const std::string& type) {
  return type.starts_with("Gen") ? number<int>(type.substr(3)).value_or(0) : 0;
}

int lanes_at(const json::value& value, std::string_view path) {
  const auto lanes = number_at(value, path);
  return lanes && *lanes >= 1 && *lanes <= 64 ? static_cast<int>(*lanes) : 0;
}

using Slot = PcieSlot;
using Slots = std::map<std::string, Slot>;

/// Source: DSP0268, PCIeSlots: Slots[] with Links/PCIeDevice, Lanes, PCIeType.
void add_slots(Slots& slots, const json::value& body) {
  const auto* list = find(body, "Slots");
  if (list == nullptr || !list->is_array()) return;
  for (const auto& one : list->get_array()) {
    if (!one.is_object()) continue;
    const auto devices = links_at(one, "Links/PCIeDevice");
    Slot slot{.label = reported(one, "Location/PartLocation/ServiceLabel"),
              .alone = devices.size() == 1,
              .device = {}};
    slot.could.max_generation = generation_of(reported(one, "PCIeType"));
    slot.could.max_width = lanes_at(one, "Lanes");
    for (const auto& device : devices) {
      slot.device = device;
      slots.emplace(key_of(device), slot);
    }
  }
}

Part* part_at(std::vector<Part>& parts, const std::string& source) {
  const auto found = std::ranges::find(parts, source, &Part::source);
  return found == parts.end() ? nullptr : &*found;
}

/// A card that is a part already, under its serial number.
Part* part_with_serial(std::vector<Part>& parts, const std::string& serial) {
  if (serial.empty()) return nullptr;
  const auto same = [&](const Part& part) {
    const bool card = part.kind == PartKind::hca || part.kind == PartKind::nic ||
                      part.kind == PartKind::dpu || part.kind == PartKind::gpu ||
                      part.kind == PartKind::nvme;
    return card && part.serial == serial;
  };
  const auto found = std::ranges::find_if(parts, same);
  return found == parts.end() ? nullptr : &*found;
}

/// The drives of a machine again, under serial numbers of their boards (Dell).
bool is_drive_model(const std::vector<Part>& parts, const std::string& model) {
  return !model.empty() && std::ranges::any_of(parts, [&](const Part& part) {
    return part.kind == PartKind::nvme && part.model == model;
  });
}

void connect(Part& part, std::optional<PcieLink> link, const Slots& slots,
             const std::string& device) {
  const auto slot = slots.find(key_of(device));
  if (slot != slots.end()) {
    const auto& could = slot->second.could;
    if (link && link->max_generation == 0) link->max_generation = could.max_generation;
    if (link && link->max_width == 0) link->max_width = could.max_width;
    if (part.slot.empty() || part.slot == last_name(part.source))
      if (!slot->second.label.empty()) part.slot = slot->second.label;
  }
  if (link && !part.pcie) part.pcie = link;
}

struct Device {
  std::string uri;
  std::string claimant{};  // source of the one part that it is; empty: none, or several
};

/// Which devices are worth a request: those that are parts and have reported no link yet, those
/// alone in their slot, and all others where there are few.
std::vector<Device> worth_reading(Survey& survey, const std::vector<std::string>& listed,
                                  const PcieClaims& claims, const Slots& slots) {
  const bool has_drives = std::ranges::count(survey.seen().parts, PartKind::nvme, &Part::kind) > 0;
  std::vector<Device> chosen, others;
  for (const auto& uri : listed) {
    const auto claimants = claims.claimants(uri);
    if (claimants.size() == 1) {
      const auto* part = part_at(survey.seen().parts, claimants.front());
      if (part != nullptr && !part->pcie) chosen.push_back({uri, claimants.front()});
      if (part != nullptr) continue;
    }
    if (part_at(survey.seen().parts, uri) != nullptr) continue;
    // Drives that do not say which device they are (Supermicro: "NVMeSSD3").
    if (lower_case(last_name(uri)).find("nvme") != std::string::npos && has_drives) continue;
    const auto slot = slots.find(key_of(uri));
    const bool alone = slot != slots.end() && slot->second.alone;
    (alone ? chosen : others).push_back({uri});
  }
  if (others.size() <= kFew) {
    chosen.insert(chosen.end(), others.begin(), others.end());
  } else {
    survey.unknown(std::to_string(others.size()) + " PCIe devices", others.front().uri,
                   "not asked: in no slot of their own");
  }
  return chosen;
}

void add_device(Survey& survey, const Document& device, const Slots& slots, std::size_t number) {
  if (is_absent(device.body)) return;
  const auto link = find(device.body, "PCIeInterface") != nullptr
                        ? pcie_link(*find(device.body, "PCIeInterface"))
                        : std::nullopt;
  if (auto* known = part_with_serial(survey.seen().parts, reported(device.body, "SerialNumber"))) {
    if (known->firmware.empty()) known->firmware = reported(device.body, "FirmwareVersion");
    return connect(*known, link, slots, device.uri);
  }
  Part part = part_of(PartKind::pcie, "pcie" + std::to_string(number), device);
  if (part.model.empty()) part.model = reported(device.body, "Name");
  if (is_drive_model(survey.seen().parts, part.model)) return;
  connect(part, link, slots, device.uri);
  survey.add(std::move(part));
}

}  // namespace

void PcieClaims::claim(const std::string& device, const std::string& source) {
  if (device.empty()) return;
  auto& sources = by_device_[key_of(device)];
  if (std::ranges::find(sources, source) != sources.end()) return;
  sources.push_back(source);
  auto& devices = by_source_[source];
  const auto same = [&](const std::string& other) { return key_of(other) == key_of(device); };
  if (std::ranges::none_of(devices, same)) devices.push_back(device);
}

std::vector<std::string> PcieClaims::devices_of(const std::string& source) const {
  const auto found = by_source_.find(source);
  return found == by_source_.end() ? std::vector<std::string>{} : found->second;
}

std::vector<std::string> PcieClaims::claimants(const std::string& device) const {
  const auto found = by_device_.find(key_of(device));
  return found == by_device_.end() ? std::vector<std::string>{} : found->second;
}

std::optional<PcieLink> pcie_link(const json::value& pcie_interface) {
  const PcieLink link{
      .generation = generation_of(reported(pcie_interface, "PCIeType")),
      .width = lanes_at(pcie_interface, "LanesInUse"),
      .max_generation = generation_of(reported(pcie_interface, "MaxPCIeType")),
      .max_width = lanes_at(pcie_interface, "MaxLanes"),
  };
  return link.generation > 0 || link.width > 0 ? std::optional{link} : std::nullopt;
}

std::string_view pci_vendor(std::string_view vendor_id) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kVendors{
      {{"0x15b3", "Mellanox"},
       {"0x10de", "NVIDIA"},
       {"0x8086", "Intel"},
       {"0x14e4", "Broadcom"},
       {"0x144d", "Samsung"},
       {"0x1002", "AMD"}}};
  const auto id = lower_case(vendor_id);
  for (const auto& [known, name] : kVendors)
    if (known == id) return name;
  return {};
}

namespace {

/// What one chassis lists.
Task<void> list_chassis(Survey& survey, const Document& chassis, PcieListing& listing) {
  // The modules of a baseboard list one device each, which its part names itself.
  if (chassis.body.is_null() || is_module(chassis)) co_return;
  if (const auto uri = survey.link(chassis, "PCIeSlots"); !uri.empty()) {
    const auto body = co_await survey.read(uri, "PCIe slots");
    if (body) add_slots(listing.slots, body->body);
    if (body && find(body->body, "Slots") == nullptr)
      survey.unknown("PCIe slots", uri, "lists no Slots");
  }
  const auto collection = survey.link(chassis, "PCIeDevices");
  if (!collection.empty()) listing.devices = co_await survey.links(collection, "PCIe devices");
}

void apply(Survey& survey, const Document& device, const Device& asked, const Slots& slots,
           std::size_t place) {
  if (device.body.is_null()) return;
  auto* part = part_at(survey.seen().parts, asked.claimant);
  // A card that holds drives is none of them (Lenovo's M.2 adapter).
  const auto serial = reported(device.body, "SerialNumber");
  const bool holder = part != nullptr && part->kind == PartKind::nvme && !serial.empty() &&
                      !part->serial.empty() && serial != part->serial;
  if (part == nullptr || holder) return add_device(survey, device, slots, place);
  const auto* reported_interface = find(device.body, "PCIeInterface");
  connect(*part, reported_interface == nullptr ? std::nullopt : pcie_link(*reported_interface),
          slots, device.uri);
  if (!part->pcie) survey.unknown("PCIe link of " + part->name, device.uri, "absent");
}

}  // namespace

Task<PcieListing> list_pcie_devices(Survey& survey, const Machine& machine) {
  const auto& chassis = *machine.chassis;
  std::vector<PcieListing> each(chassis.size());
  const auto read = [&](Survey& piece, std::size_t at) {
    return list_chassis(piece, chassis[at], each[at]);
  };
  co_await read_beside(survey, chassis.size(), read);
  PcieListing all;
  std::set<std::string> known;
  const auto list = [&](const std::string& uri) {
    if (known.insert(key_of(uri)).second) all.devices.push_back(uri);
  };
  for (auto& one : each) {
    all.slots.merge(one.slots);  // who was first stays
    for (const auto& uri : one.devices) list(uri);
  }
  for (const auto& uri : links_at(machine.system.body, "PCIeDevices")) list(uri);
  std::ranges::stable_sort(all.devices, natural_less,
                           [](const std::string& uri) { return last_name(uri); });
  co_return all;
}

Task<void> read_pcie(Survey& survey, const Machine& machine, const PcieClaims& claims,
                     PcieListing listing) {
  auto& [listed, slots] = listing;
  std::set<std::string> known;
  for (const auto& uri : listed) known.insert(key_of(uri));
  for (const auto& part : survey.seen().parts)
    for (const auto& device : claims.devices_of(part.source))
      if (known.insert(key_of(device)).second &&
          key_of(device).find("/PCIeDevices/") != std::string::npos)
        listed.push_back(device_of(device));
  const auto worth_reading_now = worth_reading(survey, listed, claims, slots);
  std::vector<std::string> uris;
  for (const auto& device : worth_reading_now) uris.push_back(device.uri);
  const auto documents = co_await survey.read_all(std::move(uris), "PCIe device");
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto place = std::ranges::find(listed, worth_reading_now[i].uri) - listed.begin();
    apply(survey, documents[i], worth_reading_now[i], slots, static_cast<std::size_t>(place));
  }
  for (auto& part : survey.seen().parts)
    for (const auto& device : claims.devices_of(part.source))
      connect(part, std::nullopt, slots, device);
}

}  // namespace cupel::bmc::redfish
