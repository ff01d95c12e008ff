#pragma once
// What one node is to do in one boot: the answer to its hello, the files that it may fetch and the
// seed of what is installed, from what the inventory and the playbook say. Pure.
#include "base/json.h"
#include "inventory/fwd.h"
#include "orchestrator/os/boot_door.h"

namespace cupel::os {

struct BootRequest {
  BootImage boots{};              // what the machine fetches: a RAM system, or an installer
  std::optional<BootImage> os{};  // nothing: the RAM system stays up
  bool seed = true;               // cloud-init's, on the root of what is installed
  bool grow = true;               // the last partition, up to the disk's end
  bool wipe = false;              // the disk may hold something
  std::string erase{"none"};      // "nvme", "ata": before it is written; needs wipe
  bool network_first = false;     // the network stays before the disk in the EFI boot order
  bool network_drop = false;      // or is left out of it
  std::string public_key{};       // that logs in: "ssh-ed25519 AAAA..."
  std::string ca{};               // PEM, of the boot server; empty: HTTP
  json::object user_data{};       // of the site, with the node's values and secrets
};

/// The same for the same request and ticket, so that a ticket can be opened again. Errors: kInvalid
/// where neither inventory nor profile say which disk is the node's, or what may be wiped or
/// erased, or user data is too long or for an installer; and as debian_installer().
Result<netboot::BootOrder> boot_order(const inventory::Inventory& inventory,
                                      const inventory::Node& node, const BootRequest& request,
                                      const netboot::Ticket& ticket);

}  // namespace cupel::os
