#pragma once
// Addresses of PCI devices, as tools, BMCs and people write them. Pure.
#include <optional>
#include <string>
#include <string_view>

namespace cupel::inventory {

/// Whether two PCI addresses name the same place: "00000000:1B:00.0", "0000:1b:00.0", and
/// "1b:00.0", which leaves the domain open.
bool same_pci(std::string_view left, std::string_view right);

/// A PCI address as the kernel writes it: "0000:1b:00.0" of "00000000:1B:00.0". Nothing of what has
/// no domain, which may be any, or is no address ("PCIe slot 3").
std::optional<std::string> written_pci(std::string_view text);

}  // namespace cupel::inventory
