#pragma once
// The inventory of a virtual rack as a text. Pure.
#include <string>
#include <vector>

#include "inventory/profile.h"

namespace cupel::rehearsal {

struct NodeAccess {
  std::string name;
  std::string bmc;              // "127.64.1.1:40001"
  std::string bmc_pin;          // "SHA256:..."
  std::uint16_t ipmi_port = 0;  // UDP, at the BMC's host; 0: not told
  std::string ssh;
  std::string host_key;  // "SHA256:..."
};

struct RackAccess {
  std::string rack;
  std::string bmc_user;
  std::string password_file;
  std::string key_file;
  std::vector<NodeAccess> nodes;
};

/// One item for each node, as each has its own pins. Breakers of two nodes each, with a tenth to
/// spare.
std::string inventory_text(const RackAccess& access, const inventory::Profile& profile);

}  // namespace cupel::rehearsal
