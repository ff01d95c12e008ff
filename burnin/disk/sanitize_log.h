#pragma once
// The sanitize status log of an NVMe drive, as `nvme sanitize-log` prints it: read by the stage on
// the node, which waits by it, and once more by the controller, whose verdict it is. Pure; for
// node programs too. Source: NVM Express base specification 2.0, Sanitize Status
// (log page 81h).
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace cupel::burnin {

struct SanitizeLog {
  // As the specification numbers them. Others are of later versions, and prove nothing.
  static constexpr std::uint32_t kNever = 0, kDone = 1, kRunning = 2, kFailed = 3,
                                 kDoneDeallocated = 4;

  std::uint32_t progress = 0;  // of 65536; 65535 where none runs
  std::uint32_t status = 0;
  std::uint32_t command = 0;  // dword 10 of the last sanitize command

  std::uint32_t state() const { return status & 7U; }
  /// Completed; 4: and the drive deallocated blocks although it was asked not to.
  bool is_done() const { return state() == kDone || state() == kDoneDeallocated; }
  /// Nothing was written since the last one that completed.
  bool is_untouched() const { return (status & 0x100U) != 0; }
  /// The sanitize action of the last command: 2 block erase, 3 overwrite, 4 cryptographic erase.
  std::uint32_t action() const { return command & 7U; }
  /// It may be the same erase that the other tells of.
  bool reads_as(const SanitizeLog& other) const {
    return status == other.status && command == other.command;
  }
  double percent() const { return progress * 100.0 / 65536; }
};

/// The number behind the colon in the line that has `name`: "(SSTAT) :  0x101".
inline std::optional<std::uint32_t> number_behind(std::string_view text, std::string_view name) {
  for (const auto line : lines(text)) {
    const auto at = line.find(name);
    const auto colon = at == line.npos ? line.npos : line.find(':', at);
    if (colon == line.npos) continue;
    const auto cells = words(line.substr(colon + 1));
    auto digits = cells.empty() ? std::string_view{} : cells.front();
    const bool hexadecimal = digits.starts_with("0x");
    if (hexadecimal) digits.remove_prefix(2);
    std::uint32_t value = 0;
    const auto* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value, hexadecimal ? 16 : 10);
    if (digits.empty() || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

/// Nothing where one of the three is not there: a status that was not read is not 0.
inline std::optional<SanitizeLog> read_sanitize_log(std::string_view text) {
  const auto progress = number_behind(text, "(SPROG)"), status = number_behind(text, "(SSTAT)"),
             command = number_behind(text, "(SCDW10)");
  if (!progress || !status || !command || *progress > 0xFFFF || *status > 0xFFFF)
    return std::nullopt;
  return SanitizeLog{*progress, *status, *command};
}

}  // namespace cupel::burnin
