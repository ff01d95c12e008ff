#pragma once
// /etc/fstab of an image, as far as it decides where cloud-init looks for its seed. Source:
// fstab(5).
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"

namespace cupel {

/// A line of /etc/fstab.
struct FstabLine {
  std::string device{}, place{}, file_system{}, options{};
};

/// The line of the file system that hides `var/lib/cloud/seed/nocloud` of the root: the deepest of
/// them. Nothing: none does.
inline std::optional<FstabLine> fstab_over_seed(std::string_view fstab) {
  constexpr std::string_view kSeedFolder = "/var/lib/cloud/seed/nocloud";
  std::optional<FstabLine> deepest;
  for (const auto text : lines(fstab)) {
    const auto fields = words(text);
    if (fields.size() < 2 || fields[0].starts_with('#')) continue;
    std::string place;
    for (const auto part : split(fields[1], '/'))
      if (!part.empty()) place += "/" + std::string{part};
    const bool hides =
        !place.empty() && (kSeedFolder == place || kSeedFolder.starts_with(place + "/"));
    // A later line of one place is mounted over the earlier one.
    if (!hides || (deepest && deepest->place.size() > place.size())) continue;
    const auto field = [&](std::size_t i) {
      return i < fields.size() ? std::string{fields[i]} : std::string{};
    };
    deepest = FstabLine{field(0), place, field(2), field(3)};
  }
  return deepest;
}

}  // namespace cupel
