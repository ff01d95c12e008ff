#pragma once
// Everything that a BMC tells of its machine. Written over Fetch: it needs no socket.
#include "bmc/redfish/machine.h"
#include "bmc/redfish/pcie.h"

namespace cupel::bmc::redfish {

/// Reads it all, slow firmware last, and keeps two requests on their way wherever more than one
/// can be asked; the order of what is reported does not depend on who answers first. What cannot be
/// read is in Observed::unknown.
/// Errors: as find_machine; kCancelled, kUntrusted.
Task<Result<Observed>> read_inventory(Fetch& fetch, Deadline deadline);

/// Versions alone. Errors: as read_inventory.
Task<Result<std::vector<inventory::Part>>> read_versions(Fetch& fetch, Deadline deadline);

/// The numbers of GPUs that go by `names`: their own, where these differ in nothing else, so that
/// GPU_SXM_7 stays gpu6 when GPU_SXM_6 is gone; else their places. Names count from 0 or from 1.
std::vector<std::size_t> gpu_numbers(const std::vector<std::string_view>& names);

// The pieces, each in a file of its own; they add to what the survey has seen. Numbers in names
// count each kind by itself in the order of the BMC's own names, whether a member could be read or
// not.

/// Boards, modules and cards: no power supplies, fans or slots of their own, though HGX lists empty
/// ones for every one of its forty. Source: DSP0268, Chassis.ChassisType.
bool is_module(const Document& chassis);

/// Parts that a chassis lists in one of two places: inline in `resource` (until Redfish 2020.4), or
/// as members of `subsystem`; under the same name in both.
struct ChassisParts {
  const char* resource;
  const char* subsystem;
  const char* list;
  const char* what;  // in Observed::unknown; and one of them
  const char* one;
};
Task<void> read_list(Survey& survey, const Document& chassis, ChassisParts parts,
                     std::vector<Document>& into);

/// The chassis to read them from: whole ones; modules where no whole one links to any (an Intel
/// S2600BPB is a Card).
std::vector<const Document*> holders_of(const Machine& machine, const ChassisParts& parts);

/// CPUs, GPUs, DIMMs; the memory of a GPU goes to its GPU. compute.cpp
Task<void> read_compute(Survey& survey, const Machine& machine, PcieClaims& claims);

/// The devices that each chassis lists outside of the standard (Rules::device_list), in the order
/// of their names; empty for a chassis that has no such list. device_list.cpp
using DeviceLists = std::vector<std::vector<Document>>;
Task<void> read_device_lists(Survey& survey, const Machine& machine, DeviceLists& lists);

/// Network cards that such lists alone have, and for GPUs and adapters of the same serial number
/// the version and the slot that these do not tell. Call it when all adapters and GPUs are known.
void add_listed_cards(Survey& survey, const DeviceLists& lists);

/// Gives cards without MACs those that the System's own list of cards has for their serial number,
/// or, where one of the two has none, for their slot (Rules::card_list), those that the BIOS has
/// for their slot (Rules::bios_names_macs), and those of the System's ports that link to them. A
/// port that no key joins to a card is noted as the machine's. Call it when all cards are known.
Task<void> add_macs_of_cards(Survey& survey, const Machine& machine);

/// Whether an EthernetInterface of the System is a port of a card: neither a VLAN or bond on one,
/// nor the System's way to its BMC. adapters.cpp
bool is_port_of_card(const json::value& port);
/// Of an EthernetInterface, the permanent one first; nothing where it tells none. adapters.cpp
std::optional<std::string> mac_of(const json::value& port);

/// GPUs of machines that do not list them as Processors: call it where there were none. gpus.cpp
Task<void> read_gpus_elsewhere(Survey& survey, const Machine& machine, const DeviceLists& devices);

/// NVSwitches: the switches that a chassis links to; else those of the BMC's NVLink fabrics; else
/// those whose firmware is listed (call it after read_firmware for that). switches.cpp
Task<void> read_switches(Survey& survey, const Machine& machine, PcieClaims& claims);
void add_switches_by_firmware(Survey& survey);

/// Power supplies. psus.cpp
Task<void> read_psus(Survey& survey, const Machine& machine);

/// Fans. fans.cpp
Task<void> read_fans(Survey& survey, const Machine& machine);

/// Whether a card is a NIC, an HCA or a DPU, or none of these (Fibre Channel), as far as its name
/// and its maker say. adapters.cpp
inventory::PartKind kind_of_card(const inventory::Part& card, std::string_view name);

/// NICs, InfiniBand HCAs and DPUs, with the MACs of their ports. adapters.cpp
Task<void> read_adapters(Survey& survey, const Machine& machine, PcieClaims& claims);

/// Drives, NVMe or not. drives.cpp
Task<void> read_drives(Survey& survey, const Machine& machine, PcieClaims& claims);

/// Versions. Returns what the firmware inventory lists. firmware.cpp
Task<std::vector<Document>> read_firmware(Survey& survey, const Machine& machine);

/// Gives parts that tell no version of their own the one that `listed` has for them. firmware.cpp
void give_versions(Survey& survey, const std::vector<Document>& listed, const PcieClaims& claims);

/// Power shelves, PDUs, busbars and cooling units of a controller that has no System: one that is
/// the machine itself adds to it, the others are parts. Call it when the machine is known.
/// equipment.cpp. Source: DSP0268, PowerEquipment, ThermalEquipment.
Task<void> read_equipment(Survey& survey, const Machine& machine);

/// Notes links that a chassis lacks though all chassis like it have them, and what every machine
/// has where no chassis links to it. Call it when the parts are known. absent_links.cpp
void note_absent_links(Survey& survey, const Machine& machine);

}  // namespace cupel::bmc::redfish
