#pragma once
// By which ways a machine is made to fetch what it boots.
#include <optional>
#include <span>
#include <string_view>

namespace cupel::inventory {

/// A way to make a machine fetch what it boots.
enum class BootWay {
  uefi_http,  // the URL is set through the BMC
  dhcp_http,  // UEFI HTTP boot, the URL comes by DHCP
  pxe,        // by DHCP and TFTP
  media,      // a disc that the BMC fetches
};

struct BootWayRow {
  BootWay way;
  std::string_view name;
  std::string_view summary;
};

std::span<const BootWayRow> boot_ways();
std::optional<BootWay> boot_way(std::string_view name);
std::string_view to_string(BootWay way);

}  // namespace cupel::inventory
