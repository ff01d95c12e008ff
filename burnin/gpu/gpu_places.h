#pragma once
// Which GPU of the profile sits at a PCI address: tools number the GPUs that they see, a record
// names the place.
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "inventory/pci_address.h"
#include "inventory/profile.h"

namespace cupel::burnin {

/// The profile's addresses of gpu0, gpu1, ...; empty where it knows none.
inline std::span<const std::string> gpu_places(const inventory::Profile& profile) {
  for (const auto& parts : profile.parts)
    if (parts.kind == inventory::PartKind::gpu) return parts.pci;
  return {};
}

/// "gpu5" by the profile's places; nothing if the address is none of them.
inline std::optional<std::string> gpu_at(std::string_view address,
                                         std::span<const std::string> places) {
  for (std::size_t i = 0; i < places.size(); ++i)
    if (inventory::same_pci(address, places[i])) return fmt::format("gpu{}", i);
  return std::nullopt;
}

}  // namespace cupel::burnin
