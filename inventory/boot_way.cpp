#include "inventory/boot_way.h"

#include <algorithm>
#include <array>

namespace cupel::inventory {
namespace {

constexpr std::array kWays{
    BootWayRow{BootWay::uefi_http, "http", "UEFI HTTP boot of a URL that the BMC is given"},
    BootWayRow{BootWay::dhcp_http, "dhcp-http", "UEFI HTTP boot of a URL that comes by DHCP"},
    BootWayRow{BootWay::pxe, "pxe", "PXE, by DHCP and TFTP"},
    BootWayRow{BootWay::media, "media", "a virtual disc that the BMC fetches"},
};

}  // namespace

std::span<const BootWayRow> boot_ways() { return kWays; }

std::optional<BootWay> boot_way(std::string_view name) {
  const auto found = std::ranges::find(kWays, name, &BootWayRow::name);
  return found == kWays.end() ? std::nullopt : std::optional{found->way};
}

std::string_view to_string(BootWay way) {
  return std::ranges::find(kWays, way, &BootWayRow::way)->name;
}

}  // namespace cupel::inventory
