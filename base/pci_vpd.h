#pragma once
// Vital product data of a PCI device, as /sys/bus/pci/devices/*/vpd holds it: what the card's maker
// wrote on it. Pure. Source: PCI Local Bus Specification 3.0, appendix I.
#include <optional>
#include <string>
#include <string_view>

namespace cupel {

/// The largest one: its address has 15 bits (I.2).
inline constexpr std::size_t kMostVpd = 32 * 1024;

struct PciVpd {
  std::string name{};         // the identifier string
  std::string part_number{};  // PN
  std::string serial{};       // SN
  friend bool operator==(const PciVpd&, const PciVpd&) = default;
};

/// Texts are printable, without blanks around them. Nothing where the bytes are no VPD: a resource
/// or a keyword that goes beyond the end, no read-only resource, or a checksum (RV) that is wrong.
std::optional<PciVpd> parse_pci_vpd(std::string_view bytes);

}  // namespace cupel
