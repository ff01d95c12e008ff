#include "orchestrator/dcim/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cmath>
#include <set>

#include "base/text.h"
#include "inventory/identity.h"

namespace cupel::dcim {
namespace {

constexpr std::size_t kAtOnce = 50;  // ids in one request: its line stays below 4 KiB
constexpr int kHighestUnit = 100;

std::string text_of(const json::value& item, std::string_view path) {
  return text_at(item, path).value_or("");
}

std::string address_at(const json::value& item, std::string_view path) {
  const auto* found = find(item, path);
  if (found == nullptr || !found->is_object()) return {};
  return host_of(text_of(*found, "address").empty() ? text_of(*found, "host")
                                                    : text_of(*found, "address"));
}

std::string id_at(const json::value& item, std::string_view path) {
  const auto* found = find(item, path);
  const auto* object = found == nullptr ? nullptr : found->if_object();
  return object == nullptr ? std::string{} : id_of(*object);
}

/// What one interface for management has.
struct Port {
  std::string device{}, mac{};
  std::vector<std::string> addresses{};
};

/// By the interface's id. Those that carry other traffic, too, are left out.
std::map<std::string, Port> ports_of(const std::vector<json::object>& interfaces,
                                     const std::vector<json::object>& addresses) {
  std::map<std::string, Port> ports;
  for (const auto& each : interfaces) {
    const json::value item = each;
    if (flag_at(item, "mgmt_only") != true) continue;
    Port port{.device = id_at(item, "device"), .mac = lower_case(text_of(item, "mac_address"))};
    const auto* own = find(item, "ip_addresses");
    if (const auto* list = own == nullptr ? nullptr : own->if_array())
      for (const auto& address : *list)
        if (const auto host = host_of(text_of(address, "address")); !host.empty())
          port.addresses.push_back(host);
    ports.emplace(id_of(each), std::move(port));
  }
  for (const auto& each : addresses) {
    const json::value item = each;
    const auto port = ports.find(id_at(item, "assigned_object"));
    const bool is_interface = text_of(item, "assigned_object_type") == "dcim.interface";
    const auto host = host_of(text_of(item, "address"));
    if (is_interface && port != ports.end() && !host.empty())
      port->second.addresses.push_back(host);
  }
  return ports;
}

Filters of_ids(std::string_view key, const std::vector<Device>& devices, std::size_t begin) {
  Filters filters;
  for (auto at = begin; at < std::min(begin + kAtOnce, devices.size()); ++at)
    filters.emplace_back(key, devices[at].id);
  return filters;
}

void append(std::vector<json::object>& into, std::vector<json::object> more) {
  std::ranges::move(more, std::back_inserter(into));
}

}  // namespace

std::string host_of(std::string_view address) {
  boost::system::error_code failed;
  const auto host = std::string{trimmed(address.substr(0, address.find('/')))};
  const auto parsed = asio::ip::make_address(host, failed);
  return failed ? std::string{} : parsed.to_string();
}

Result<Device> parse_device(const json::object& object) {
  const json::value item = object;
  Device device;
  device.id = id_of(object);
  device.name = text_of(item, "name");
  if (device.id.empty()) return Error{Code::kMalformed, "a device has no id"};
  if (device.name.empty())
    return Error{Code::kMalformed, fmt::format("device {} has no name", device.id)};
  device.model = text_of(item, "device_type/model");
  device.type = text_at(item, "device_type/slug").value_or(device.model);
  if (device.type.empty())
    return Error{Code::kMalformed,
                 fmt::format("device {} has no device type with a model", printable(device.name))};
  device.profile = text_of(item, "custom_fields/cupel_profile");
  device.serial = text_of(item, "serial");
  if (inventory::is_no_serial(device.serial)) device.serial.clear();
  device.rack = text_of(item, "rack/name");
  device.rack_id = id_at(item, "rack");
  const auto unit = number_at(item, "position").value_or(0);
  if (unit >= 1 && unit <= kHighestUnit) device.unit = static_cast<int>(std::floor(unit));
  device.status = text_at(item, "status/value").value_or(text_of(item, "status/name"));
  device.address = address_at(item, "primary_ip");
  if (device.address.empty()) device.address = address_at(item, "primary_ip4");
  if (device.address.empty()) device.address = address_at(item, "primary_ip6");
  device.bmc = address_at(item, "oob_ip");
  device.updated = text_of(item, "last_updated");
  return device;
}

void take_management(const std::vector<json::object>& interfaces,
                     const std::vector<json::object>& addresses, std::vector<Device>& devices) {
  std::multimap<std::string, Port> by_device;
  for (auto& [id, port] : ports_of(interfaces, addresses))
    by_device.emplace(port.device, std::move(port));
  for (auto& device : devices) {
    const auto [begin, end] = by_device.equal_range(device.id);
    const auto has = [&](const Port& port) {
      return device.bmc.empty()
                 ? !port.addresses.empty()
                 : std::ranges::find(port.addresses, device.bmc) != port.addresses.end();
    };
    std::vector<const Port*> meant;
    for (auto at = begin; at != end; ++at)
      if (has(at->second)) meant.push_back(&at->second);
    if (meant.size() != 1) continue;
    const auto& port = *meant.front();
    if (device.bmc.empty() && port.addresses.size() == 1) device.bmc = port.addresses.front();
    if (!device.bmc.empty()) device.bmc_mac = port.mac;
  }
}

Task<Result<std::vector<Device>>> read_devices(Client& client, const Server& server,
                                               Filters filters, Deadline deadline) {
  const bool nautobot = server.product == Product::nautobot;
  // Nautobot names related objects by their ids alone, unless it is asked for more.
  if (nautobot) filters.emplace_back("depth", "1");
  CO_TRY(const auto items,
         co_await client.list("/api/dcim/devices/", std::move(filters), deadline));
  std::vector<Device> devices;
  for (const auto& item : items) {
    CO_TRY(auto device, parse_device(item));
    devices.push_back(std::move(device));
  }
  std::ranges::sort(devices, {}, &Device::name);
  std::vector<json::object> interfaces, addresses;
  for (std::size_t at = 0; at < devices.size(); at += kAtOnce) {
    auto of = of_ids(nautobot ? "device" : "device_id", devices, at);
    if (!nautobot) {
      CO_TRY(auto found, co_await client.list("/api/ipam/ip-addresses/", of, deadline));
      append(addresses, std::move(found));
    }
    of.emplace_back("mgmt_only", "true");
    if (nautobot) of.emplace_back("depth", "1");
    CO_TRY(auto found, co_await client.list("/api/dcim/interfaces/", std::move(of), deadline));
    append(interfaces, std::move(found));
  }
  take_management(interfaces, addresses, devices);
  co_return devices;
}

Task<Result<std::map<std::string, int>>> read_racks(Client& client,
                                                    const std::vector<Device>& devices,
                                                    Deadline deadline) {
  std::map<std::string, std::string> names;  // by id
  for (const auto& device : devices)
    if (!device.rack_id.empty()) names.emplace(device.rack_id, device.rack);
  std::vector<Device> racks;  // of which the id alone is asked for
  for (const auto& [id, name] : names) racks.push_back({.id = id, .name = name});
  std::map<std::string, int> heights;
  for (std::size_t at = 0; at < racks.size(); at += kAtOnce) {
    CO_TRY(const auto items,
           co_await client.list("/api/dcim/racks/", of_ids("id", racks, at), deadline));
    for (const auto& item : items) {
      const auto known = names.find(id_of(item));
      const auto height = number_at(json::value(item), "u_height").value_or(0);
      if (known != names.end())
        heights[known->second] = static_cast<int>(std::clamp(height, 0.0, double{kHighestUnit}));
    }
  }
  co_return heights;
}

}  // namespace cupel::dcim
