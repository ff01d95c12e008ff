#include "inventory/boot.h"

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

bool is_image_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr std::string_view kSigns = "._-";
  return !name.empty() && name.size() <= kLongest && kLetters.contains(name.front()) &&
         std::ranges::all_of(name,
                             [&](char c) { return kLetters.contains(c) || kSigns.contains(c); });
}

bool is_sha256(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::span<const BootWayRow> boot_ways() { return kWays; }

std::optional<BootWay> boot_way(std::string_view name) {
  const auto found = std::ranges::find(kWays, name, &BootWayRow::name);
  return found == kWays.end() ? std::nullopt : std::optional{found->way};
}

std::string_view to_string(BootWay way) {
  return std::ranges::find(kWays, way, &BootWayRow::way)->name;
}

}  // namespace cupel::inventory
