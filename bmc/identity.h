#pragma once
// What a BMC reports its machine to be, and the protocol of that report.
#include <string>
#include <string_view>
#include <vector>

namespace cupel::bmc {

/// Which protocol gave an answer.
enum class Protocol { redfish, ipmi };

std::string_view to_string(Protocol protocol);

struct Identity {
  std::string vendor;  // as detected: "NVIDIA", "Dell", ...; empty: unknown
  std::string model;
  std::string serial;  // of the system (Dell: the service tag)
  std::string part_number;
  std::string uuid;
  std::string bios_version;
  std::string bmc_version;
  std::vector<std::string> bmc_macs{};  // of the BMC's own ports: "aa:bb:cc:00:11:22"
  Protocol by = Protocol::redfish;
  friend bool operator==(const Identity&, const Identity&) = default;
};

}  // namespace cupel::bmc
