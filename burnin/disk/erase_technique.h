#pragma once
// The ways in which an NVMe drive erases itself, best first: for the stage on the node, which takes
// one, and for the controller, which says what it is worth. Pure; for node programs too.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace cupel::burnin {

struct EraseTechnique {
  std::string_view name{};    // "sanitize block erase", as cupel-node reports it
  std::string_view method{};  // "Purge" or "Clear" of NIST SP 800-88
  std::string_view tool{};    // "nvme sanitize --sanact=2"
  std::uint32_t action =
      0;           // of nvme sanitize (--sanact), and in its log; 0: a format, which has no log
  int secure = 0;  // of nvme format (--ses); 0: a sanitize
};

// A format that erases user data may leave blocks that are not mapped: Clear. The others are named,
// or are as strong as what is named, under Purge. Source: NIST SP 800-88 Rev. 1, Table A-8; NVM
// Express base specification 2.0, Sanitize (all media of the subsystem, caches too).
inline constexpr EraseTechnique kSanitizeCrypto{"sanitize cryptographic erase", "Purge",
                                                "nvme sanitize --sanact=4", 4, 0},
    kSanitizeBlock{"sanitize block erase", "Purge", "nvme sanitize --sanact=2", 2, 0},
    kSanitizeOverwrite{"sanitize overwrite", "Purge", "nvme sanitize --sanact=3", 3, 0},
    kFormatCrypto{"format cryptographic erase", "Purge", "nvme format --ses=2", 0, 2},
    kFormatUser{"format user data erase", "Clear", "nvme format --ses=1", 0, 1};
inline constexpr std::array kEraseTechniques{kSanitizeCrypto, kSanitizeBlock, kSanitizeOverwrite,
                                             kFormatCrypto, kFormatUser};

/// nullptr for one that this version does not know.
constexpr const EraseTechnique* erase_technique(std::string_view name) {
  const auto* found = std::ranges::find(kEraseTechniques, name, &EraseTechnique::name);
  return found == kEraseTechniques.end() ? nullptr : found;
}

}  // namespace cupel::burnin
