#include "bmc/ipmi/identity.h"

#include <algorithm>
#include <array>
#include <map>

#include "bmc/ipmi/accounts.h"
#include "bmc/ipmi/chassis.h"
#include "bmc/ipmi/commands.h"
#include "bmc/ipmi/fru_reader.h"

namespace cupel::bmc::ipmi {
namespace {

using inventory::Part;
using inventory::PartKind;

struct Vendor {
  std::uint32_t enterprise;
  const char* name;
};

/// Source: IANA, Private Enterprise Numbers.
constexpr std::array kVendors{
    Vendor{11, "HPE"},       Vendor{343, "Intel"},        Vendor{674, "Dell"},
    Vendor{2623, "ASUS"},    Vendor{5703, "NVIDIA"},      Vendor{6569, "Inventec"},
    Vendor{7244, "Quanta"},  Vendor{10876, "Supermicro"}, Vendor{15370, "GIGABYTE"},
    Vendor{19046, "Lenovo"}, Vendor{20301, "Lenovo"},     Vendor{20974, "AMI"},
    Vendor{40092, "Wiwynn"}, Vendor{47196, "HPE"},        Vendor{49622, "ASRock Rack"},
    Vendor{49871, "OpenBMC"}};

/// A fact that costs nothing but itself; where nobody answers, asking on is of no use.
bool ends_everything(Code code) {
  return code == Code::kTimeout || code == Code::kUnreachable || code == Code::kCancelled;
}

/// Text of a GUID whose bytes are in the order of printing.
std::string printed(const Block& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex(bytes[i], 2).substr(2);
  }
  return text;
}

bool makes_sense(const Block& bytes) {
  const auto version = bytes[6] >> 4;
  return version >= 1 && version <= 5 && (bytes[8] & 0xc0) == 0x80;
}

/// IPMI 2.0, table 43-13. Firmware, chassis and boards have no kind of their own.
std::optional<PartKind> kind_of(std::uint8_t entity) {
  switch (entity) {
    case 0x03:
    case 0x41:
      return PartKind::cpu;
    case 0x04:
    case 0x1a:
      return PartKind::drive;
    case 0x08:
    case 0x20:
      return PartKind::dimm;
    case 0x0a:
      return PartKind::psu;
    case 0x0b:
      return PartKind::pcie;
    case 0x1d:
      return PartKind::fan;
    default:
      return std::nullopt;
  }
}

Part part_of(PartKind kind, std::string name, const Fru& fru) {
  Part part{.kind = kind, .name = std::move(name)};
  part.manufacturer = fru.manufacturer();
  part.model = fru.model();
  part.serial = fru.serial();
  part.part_number = fru.part_number();
  return part;
}

std::string source_of(std::uint8_t device) { return "ipmi:fru/" + std::to_string(device); }

Task<Result<void>> read_frus(Client& client, const Repository& repository, Observed& into,
                             Deadline deadline) {
  auto locators = repository.frus;
  std::ranges::stable_sort(locators, {},
                           [](const auto& each) { return std::pair{each.entity, each.instance}; });
  std::map<PartKind, int> counted;
  for (const auto& locator : locators) {
    const auto kind = kind_of(locator.entity);
    if (!kind || !locator.logical || locator.device == 0 || locator.address != 0x20) continue;
    const auto number = counted[*kind]++;
    auto fru = co_await read_fru(client, locator.device, deadline);
    if (!fru && ends_everything(fru.error().code)) co_return std::move(fru).error();
    if (!fru) {
      const auto& error = fru.error();
      inventory::add_partial(
          into.partial, {*kind, source_of(locator.device), error.what, is_transient(error.code)});
      into.unknown.push_back({"FRU " + locator.name, source_of(locator.device), error.what});
      continue;
    }
    const Fru& reported = *fru;
    for (const auto& why : reported.damaged)
      into.unknown.push_back({"FRU " + locator.name, source_of(locator.device), why});
    auto part =
        part_of(*kind, std::string{inventory::to_string(*kind)} + std::to_string(number), reported);
    part.slot = locator.name;
    part.source = source_of(locator.device);
    into.parts.push_back(std::move(part));
  }
  co_return ok();
}

void add_system_and_bmc(Observed& into, const Found& found) {
  Part system{.kind = PartKind::system, .name = "system"};
  if (found.fru) system = part_of(PartKind::system, "system", *found.fru);
  system.serial = found.identity.serial;
  system.source = source_of(0);
  into.parts.push_back(std::move(system));
  Part bmc{.kind = PartKind::bmc, .name = "bmc"};
  bmc.firmware = found.identity.bmc_version;
  bmc.manufacturer = found.identity.vendor;
  bmc.macs = found.identity.bmc_macs;
  bmc.source = "ipmi:Get Device ID";
  into.parts.push_back(bmc);
  Part firmware{.kind = PartKind::firmware, .name = "bmc", .firmware = bmc.firmware};
  firmware.source = bmc.source;
  into.parts.push_back(std::move(firmware));
}

void use_fru(Found& found, Result<Fru> fru) {
  if (!fru) {
    found.unknown.push_back({"serial of the system", source_of(0), fru.error().what});
    return;
  }
  for (const auto& why : fru->damaged)
    found.unknown.push_back({"FRU of the system", source_of(0), why});
  const Fru& reported = *fru;
  Identity& identity = found.identity;
  if (identity.vendor.empty()) identity.vendor = reported.manufacturer();
  identity.model = reported.model();
  identity.part_number = reported.part_number();
  // A board's own serial number is not the machine's; where there is nothing else, it is reported.
  if (reported.product) identity.serial = reported.product->serial;
  if (identity.serial.empty() && reported.chassis) identity.serial = reported.chassis->serial;
  if (identity.serial.empty() && reported.board) identity.serial = reported.board->serial;
  if (identity.serial.empty())
    found.unknown.push_back({"serial of the system", source_of(0), "absent"});
  found.fru = reported;
}

}  // namespace

Result<DeviceId> parse_device_id(View reported) {
  Reader reader{reported};
  reader.u16();  // device, and revision
  const auto major = reader.u8() & 0x7f;
  const auto minor = reader.u8();
  reader.u16();  // IPMI version, and support
  DeviceId device{.manufacturer = reader.u24() & 0xfffff, .product = reader.u16()};
  if (!reader.ok()) return Error{Code::kMalformed, "Get Device ID: an answer cut short"};
  device.firmware = std::to_string(major) + "." + hex(minor, 2).substr(2);  // minor is BCD
  return device;
}

std::string vendor_of(std::uint32_t enterprise) {
  const auto found = std::ranges::find(kVendors, enterprise, &Vendor::enterprise);
  return found != kVendors.end() ? found->name : "";
}

std::string guid_text(View sixteen) {
  Block bytes{};
  if (sixteen.size() != bytes.size()) return {};
  std::ranges::copy(sixteen, bytes.begin());
  if (std::ranges::all_of(bytes, [&](auto each) { return each == bytes[0]; })) return {};
  Block standard = bytes;
  std::ranges::reverse(standard);
  Block smbios = bytes;
  std::reverse(smbios.begin(), smbios.begin() + 4);
  std::reverse(smbios.begin() + 4, smbios.begin() + 6);
  std::reverse(smbios.begin() + 6, smbios.begin() + 8);
  for (const auto& each : {standard, smbios, bytes})
    if (makes_sense(each)) return printed(each);
  return printed(standard);
}

Task<Result<Found>> identify(Client& client, Deadline deadline) {
  Found found;
  found.identity.by = Protocol::ipmi;
  CO_TRY(const Bytes reported, co_await client.ask(kGetDeviceId, {}, deadline));
  const auto device = parse_device_id(reported);
  if (device) {
    found.identity.vendor = vendor_of(device->manufacturer);
    found.identity.bmc_version = device->firmware;
  } else {
    found.unknown.push_back({"BMC", "ipmi:Get Device ID", device.error().what});
  }
  auto fru = co_await read_fru(client, 0, deadline);
  if (!fru && ends_everything(fru.error().code)) co_return std::move(fru).error();
  use_fru(found, std::move(fru));
  const auto guid = co_await client.ask(kGetSystemGuid, {}, deadline);
  if (!guid && ends_everything(guid.error().code)) co_return guid.error();
  if (guid) found.identity.uuid = guid_text(*guid);
  if (found.identity.uuid.empty())
    found.unknown.push_back(
        {"UUID of the system", "ipmi:Get System GUID", guid ? "no GUID" : guid.error().what});
  const auto mac = co_await read_mac(client, deadline);
  if (!mac && ends_everything(mac.error().code)) co_return mac.error();
  if (mac)
    found.identity.bmc_macs.push_back(*mac);
  else
    found.unknown.push_back({"MAC of the BMC", "ipmi:LAN parameter 5", mac.error().what});
  co_return found;
}

Task<Result<Observed>> take_stock(Client& client, const Repository& repository, Deadline deadline) {
  const int requests = client.requests();
  const auto bytes = client.bytes();
  CO_TRY(Found found, co_await identify(client, deadline));
  Observed observed;
  observed.identity = found.identity;
  observed.by = Protocol::ipmi;
  observed.unknown = repository.unknown;
  observed.unknown.insert(observed.unknown.end(), found.unknown.begin(), found.unknown.end());
  CO_TRY(observed.power, co_await read_power(client, deadline));
  add_system_and_bmc(observed, found);
  // Of records that were not read, some may have named a part.
  if (!repository.unknown.empty())
    for (const auto kind : inventory::kCountedKinds)
      inventory::add_partial(observed.partial, {kind, repository.unknown.front().source,
                                                repository.unknown.front().why});
  CO_TRY(co_await read_frus(client, repository, observed, deadline));
  observed.requests = client.requests() - requests;
  observed.bytes = client.bytes() - bytes;
  co_return observed;
}

}  // namespace cupel::bmc::ipmi
