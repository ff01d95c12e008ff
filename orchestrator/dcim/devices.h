#pragma once
// Devices as NetBox (3.7 to 4.x) and Nautobot (2.x) list them, and what a node needs of them.
// Sources: NetBox, "Device", "Interface", "IP Address"; Nautobot, "Device".
#include <map>

#include "orchestrator/dcim/client.h"

namespace cupel::dcim {

struct Device {
  std::string id{};
  std::string name{};
  std::string type{};     // slug of its device type, or the model where it has none: "dgx-h100"
  std::string model{};    // "DGX H100"
  std::string profile{};  // custom field cupel_profile; empty: by its type
  std::string serial{};   // empty: none, or a filler
  std::string rack{}, rack_id{};
  int unit = 0;           // lowest, from 1; 0: none
  std::string status{};   // "active"
  std::string address{};  // of the OS: primary IP, without its prefix length
  std::string bmc{};      // out-of-band IP; else of the one interface that is for management alone
  std::string bmc_mac{};  // of that interface: "aa:bb:cc:00:11:22"
  std::string updated{};  // last_updated
};

/// Errors: kMalformed: it has no id or name, or is half a device (Nautobot without depth=1).
Result<Device> parse_device(const json::object& item);

/// "10.0.2.11" of "10.0.2.11/24"; empty where it is no address.
std::string host_of(std::string_view address);

/// Takes the addresses and MACs of interfaces that are for management alone into `devices`, by id.
/// `addresses`: NetBox' ip-addresses; those of Nautobot stand in the interfaces. What is ambiguous
/// (two such interfaces with an address, and no out-of-band IP) is left out, and is named by
/// inventory_text().
void take_management(const std::vector<json::object>& interfaces,
                     const std::vector<json::object>& addresses, std::vector<Device>& devices);

/// Devices of these filters with their management interfaces, by name.
Task<Result<std::vector<Device>>> read_devices(Client& client, const Server& server,
                                               Filters filters, Deadline deadline);

/// Heights in units of the racks of these devices, by name. Errors: as Client::list().
Task<Result<std::map<std::string, int>>> read_racks(Client& client,
                                                    const std::vector<Device>& devices,
                                                    Deadline deadline);

}  // namespace cupel::dcim
