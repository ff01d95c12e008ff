#pragma once
// The inventory that a controller gets of a virtual rack, as a text: the site's, but for addresses,
// ports, pins and secrets. Pure.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/fwd.h"

namespace cupel::rehearsal {

struct NodeAccess {
  std::string bmc;              // "127.64.1.1:40001"
  std::string bmc_pin;          // "SHA256:..."
  std::string system{};         // which System of a BMC with several; empty: it has one
  std::uint16_t ipmi_port = 0;  // UDP, at the BMC's host
  std::string password_file;
  std::string factory_password_file{};
  std::string ssh;
  std::string host_key;       // "SHA256:..."
  std::string mac{}, disk{};  // that it boots from; the serial of the drive that its OS goes to
};

struct PduAccess {
  std::string name;     // as the site has it: "a01/p1"
  std::string address;  // "127.74.0.1:40001"
  std::string pin;      // "SHA256:..."
};

struct RackAccess {
  std::string key_file;
  std::vector<NodeAccess> nodes;    // one for each of the site's, in their order
  std::vector<PduAccess> pdus{};    // one for each of the site's that switches outlets
  std::string pdu_password_file{};  // of all of them
  std::string slurm{};              // SLURM_CONF of a Slurm that knows the nodes; empty: none
  std::string forwarding{};         // file of forwarding tables; empty: routing is not static
  /// Where machines fetch what they boot; empty: they have their OS. With it host keys are trusted
  /// on first use, for an OS brings its own.
  std::string boot{};
};

/// Begins with inventory::kRehearsalMark. Names, places, feeds, users, profiles and protocols as
/// the site has them. What leads to other machines than the virtual ones is left out: bmc_networks,
/// and a Slurm that `access` does not name. Certificates and host keys that the site pins, or has
/// signed, are pinned to the virtual ones; what it trusts on first use stays so.
std::string inventory_text(const inventory::Inventory& site, const RackAccess& access);

}  // namespace cupel::rehearsal
