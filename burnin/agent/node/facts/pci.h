#pragma once
// One PCI device and the way from it up to its root port: what each link carries and what it could.
#include <optional>
#include <string>
#include <vector>

#include "burnin/agent/node/tree.h"

namespace cupel::agent {

/// What one device tells of the link that it hangs on (of a port: of the link that hangs on it).
struct LinkEnd {
  std::optional<double> speed{}, width{};          // GT/s, lanes: now
  std::optional<double> max_speed{}, max_width{};  // what this end could
};

enum class Acs { unknown, none, off, on };  // on: requests or completions are sent up for a check
std::string_view to_string(Acs acs);

struct PciNode {
  std::string address{};
  LinkEnd link{};
  Acs acs = Acs::unknown;
};

/// One link between two devices: what it carries, and what both ends could.
struct Hop {
  std::string below{}, above{};  // addresses; above is empty where the tree ends
  std::optional<double> speed{}, width{}, max_speed{}, max_width{};
  std::optional<double> gbits{};  // of payload's encoding, one way
  std::optional<double> max_gbits{};
  bool sunk() const { return gbits && max_gbits && *gbits < *max_gbits * 0.99; }
};

/// From the device itself up to its root port. None where it is not below /sys/devices.
std::vector<PciNode> way_to_root(const Tree& tree, const std::string& address);

/// The links on that way: the device with the port above it, a switch's upstream port with the one
/// above that, and so on.
std::vector<Hop> hops_of(const std::vector<PciNode>& way);

/// The one that carries least; of equal ones, one that could carry more, else the lowest. nullptr
/// where no link tells its speed.
const Hop* weakest(const std::vector<Hop>& hops);

/// Gb/s that one direction of such a link carries after its line code. Source: PCI Express base
/// specification: 8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s, 1b/1b in FLIT mode at 64 GT/s.
double link_gbits(double speed, double width);

/// "32.0 GT/s PCIe": 32.
std::optional<double> transfers_in(std::string_view text);

/// Of a configuration space of 4096 bytes; unknown of a shorter one (only root reads the whole).
/// Source: include/uapi/linux/pci_regs.h: PCI_EXT_CAP_ID_ACS, PCI_ACS_CTRL.
Acs acs_of(std::string_view configuration);

}  // namespace cupel::agent
