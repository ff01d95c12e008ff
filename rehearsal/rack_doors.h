#pragma once
// How other clients reach the nodes of a virtual rack: curl, ipmitool, ssh, each with its secrets
// in files. Texts only.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupel::rehearsal {

/// One node, as its clients see it.
struct NodeDoors {
  std::string name;
  std::string vendor;
  std::string bmc_address;
  std::uint16_t bmc_port = 0;
  std::uint16_t ipmi_port = 0;
  std::string user;      // of the BMC
  std::string secret;    // file in the rack's folder
  std::string password;  // what is in it; not reported in any text but curl's own file
  std::string certificate_pem;
  std::string ssh_address;
  std::uint16_t ssh_port = 0;
  std::string host_key;  // "ssh-ed25519 AAAA..."
};

/// Three lines for a node: what is typed, with nothing secret in it.
std::string doors_text(const NodeDoors& node, const std::filesystem::path& folder);

/// Writes what these lines refer to into the folder: `known_hosts`, `bmcs.pem`, for each password a
/// file for curl, and `doors.txt` with all lines. Secrets with mode 0600. Errors: kStorage.
Result<void> write_doors(const std::vector<NodeDoors>& nodes, const std::filesystem::path& folder);

}  // namespace cupel::rehearsal
