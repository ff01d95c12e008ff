#pragma once
// PCIe devices and slots: how parts are connected, and what else is on the bus.
#include <map>

#include "bmc/redfish/machine.h"

namespace cupel::bmc::redfish {

/// Which parts said which PCIe device they are.
class PcieClaims {
 public:
  /// `device`: URI of the device or of one of its functions. The part is identified by its source.
  void claim(const std::string& device, const std::string& source);
  /// The sources of those that claim it; several share a bridge.
  std::vector<std::string> claimants(const std::string& device) const;
  std::vector<std::string> devices_of(const std::string& source) const;

 private:
  std::map<std::string, std::vector<std::string>> by_device_;
  std::map<std::string, std::vector<std::string>> by_source_;
};

/// "Gen5" x16 of PCIeInterface; nothing where neither was reported.
/// Source: DSP0268, PCIeDevice, PCIeInterface (LanesInUse, MaxLanes, PCIeType, MaxPCIeType).
std::optional<inventory::PcieLink> pcie_link(const json::value& pcie_interface);

/// What a PCI vendor's number says (PCI ID repository); empty: none that Cupel knows.
std::string_view pci_vendor(std::string_view vendor_id);

/// A place that a device may be in, as its chassis tells.
struct PcieSlot {
  std::string label;
  inventory::PcieLink could{};  // what the slot itself supports
  bool alone = false;           // one device in it
  std::string device{};         // URI
};

/// What chassis and system list, before any device was asked.
struct PcieListing {
  std::vector<std::string> devices;       // URIs, in the order of their names
  std::map<std::string, PcieSlot> slots;  // by device
};

Task<PcieListing> list_pcie_devices(Survey& survey, const Machine& machine);

/// Gives each claimed device's link and slot to its part, and adds what nobody claims and sits in
/// a slot, or is one of few. Call it when all other parts are there.
Task<void> read_pcie(Survey& survey, const Machine& machine, const PcieClaims& claims,
                     PcieListing listing);

}  // namespace cupel::bmc::redfish
