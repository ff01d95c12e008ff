#pragma once
// What a vendor's installer is given so that it installs one node and asks nobody: its answer file,
// the script that reports for it, and what it leaves in the new system. Every value is checked for
// what it may consist of: none is escaped into something else. Pure.
#include <map>

#include "base/json.h"
#include "base/result.h"
#include "inventory/fwd.h"
#include "orchestrator/netboot/ticket.h"

namespace cupel::os {

/// The name in the URL of what answers the installer's questions.
inline constexpr std::string_view kAnswerFile = "preseed.cfg";

struct InstallerRequest {
  const inventory::Node* node = nullptr;
  std::string image{}, digest{};  // of the installer, as the new system says it
  std::string mirror{};           // "http://10.0.0.1/debian"
  std::string public_key{};       // "ssh-ed25519 AAAA..."
  bool wipe = false;              // the disk may hold something
  netboot::Ticket ticket{};
  json::array networks{};  // as in a node's order
};

struct InstallerFiles {
  std::string arguments{};                     // of its kernel: BootOrder::ticket_arguments
  std::map<std::string, std::string> texts{};  // "preseed.cfg", "installer.sh"
  std::string late{};                          // secret: a script for its end, with the home URL
};

/// Of Debian's installer. Source: Debian 12 installation guide, appendix B; netcfg 1.187 for
/// BOOTIF. Errors: kInvalid (a value that is not what it should be; no serial number of a disk; a
/// boot server with TLS, whose certificate the installer cannot check).
Result<InstallerFiles> debian_installer(const InstallerRequest& request);

}  // namespace cupel::os
