#pragma once
// What an installed system is told at its first boot, and an installer before: answers that differ
// from node to node. Networks are named by MAC address, never by an interface's name. Pure.
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupel::netboot {

struct NodeNetwork {
  std::string mac{};
  std::string address{};  // "10.0.0.5/24"; empty: by DHCP
  std::string gateway{};
  std::vector<std::string> dns{};
};

struct FirstBoot {
  std::string hostname{};
  std::vector<std::string> authorized_keys{};  // root's
  std::vector<NodeNetwork> networks{};
  std::string home_url{};  // of the ticket; empty: it does not report
  std::string ca{};  // PEM, of the boot server's certificate; empty: HTTP, or one that is known
};

/// Where an installer writes to, and from where it takes packages.
struct Installer {
  std::string disk{};    // "/dev/disk/by-id/nvme-..."
  std::string mirror{};  // "http://deb.debian.org/debian"
  std::string suite{};   // "bookworm"
};

/// Errors: kInvalid (a value that is not what it should be; it is not escaped into something else).
Result<void> check(const FirstBoot& first);
Result<void> check(const Installer& installer);

/// "meta-data", "user-data", "network-config" of cloud-init's NoCloud: JSON, which is YAML. Errors:
/// as check(). Source: cloud-init, "NoCloud", "Networking config Version 2".
Result<std::map<std::string, std::string>> cloud_seed(const FirstBoot& first,
                                                      const std::string& instance);

/// "meta-data" and "user-data" of Ubuntu's installer; the disk is meant by its serial number.
/// Source: Ubuntu, "Autoinstall configuration reference".
Result<std::map<std::string, std::string>> autoinstall_seed(const FirstBoot& first,
                                                            const std::string& instance,
                                                            const std::string& disk_serial);

/// Source: Debian installation guide, appendix B.
Result<std::string> preseed(const FirstBoot& first, const Installer& installer);
/// Source: Red Hat, "Kickstart commands and options reference".
Result<std::string> kickstart(const FirstBoot& first, const Installer& installer);

}  // namespace cupel::netboot
