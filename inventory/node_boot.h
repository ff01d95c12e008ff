#pragma once
// What a node has that its boot goes by. Read by inventory/read_boot.h.
#include <string>
#include <vector>

namespace cupel::inventory {

/// `boot:` of a node.
struct NodeBoot {
  std::vector<std::string> macs{};  // "aa:bb:cc:00:11:22"; the first is the one that it boots from
  std::string address{};            // with its prefix's length: "10.0.2.11/24"; empty: by DHCP
  std::string disk{};               // serial of the disk that the OS is written to
  std::string disk_wwn{};           // its WWN: hexadecimal digits in lower case, without a prefix
  friend bool operator==(const NodeBoot&, const NodeBoot&) = default;
};

}  // namespace cupel::inventory
