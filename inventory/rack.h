#pragma once
// A rack that is one machine: compute trays, NVLink switch trays, power shelves and a cooling unit,
// each in its slot, as the operators wrote them down. A rack of servers is Rack in model.h; where
// parts say that they sit is rack_place.h.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/endpoint.h"
#include "inventory/load.h"
#include "inventory/problem.h"
#include "inventory/secret_ref.h"

namespace cupel::inventory {

/// What a rack of one kind has at most.
struct RackKind {
  std::string_view name;                               // "gb200-nvl72"
  std::size_t compute = 0, switches = 0, shelves = 0;  // trays
  int gpus = 0;                                        // of all trays
};
/// Source: NVIDIA GB200 and GB300 NVL72: 18 compute trays of 4 GPUs, 9 NVLink switch trays; DGX
/// racks have 8 power shelves, others 6.
std::span<const RackKind> rack_kinds();
/// nullptr: there is none of that name.
const RackKind* rack_kind(std::string_view name);

/// Something of a rack that is reached by HTTPS.
struct RackDevice {
  std::string name{};   // "a01/switch1"
  Endpoint endpoint{};  // HTTPS
  std::string user{};
  SecretRef password{};
  Trust trust{};
  std::string mac{};       // of its own port, where the operators know it
  std::string known_as{};  // by which its certificate and refused logins are kept; empty: its name
  std::string certificate{}, key{};  // PEM files by which we show who we are; empty: nothing
  Place where{};

  const std::string& pin_name() const { return known_as.empty() ? name : known_as; }
};

struct ComputeTray {
  RackDevice bmc{};
  std::optional<int> slot{};  // of the rack, from 1, compute and switch trays counted together
  std::string node{};         // that the tray is; empty: the inventory has no node with this BMC
};

struct SwitchTray {
  std::string name{};  // "a01/switch1"
  std::optional<int> slot{};
  std::optional<RackDevice> bmc{};
  std::vector<RackDevice> nvos{};  // management ports of its operating system: one of them answers
};

struct NvlRack {
  std::string name{};
  const RackKind* kind = nullptr;
  std::vector<ComputeTray> compute{};
  std::vector<SwitchTray> switches{};
  std::vector<RackDevice> shelves{};
  std::optional<RackDevice> cdu{};
  Place where{};
};

/// All that is reached over the network: trays, management ports, shelves, cooling unit.
std::vector<const RackDevice*> devices_of(const NvlRack& rack);

/// An inventory with what stands in its racks.
struct LoadedRacks {
  std::optional<Inventory> inventory{};
  std::vector<NvlRack> racks{};     // those that have a kind, in the order of the file
  std::vector<Problem> problems{};  // as load_inventory()
};
/// Keys, certificates and authorities of its devices are the user's or root's, and keys are not
/// open to others.
LoadedRacks load_racks(const std::filesystem::path& file);
/// As load_racks() but for the files that the devices name, from a text; `folder` is what relative
/// paths are relative to.
LoadedRacks parse_racks(std::string_view text, const std::string& file,
                        const std::filesystem::path& folder);

}  // namespace cupel::inventory
