#pragma once
// Small files of the node, most of them made by the kernel: read whole, bounded, never trusted.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::agent {

/// A file of sysfs or /proc that is longer is not what it is taken for.
inline constexpr std::size_t kSmallFile = 1u << 20;

/// The whole file. Errors: kNotFound; kMalformed where it is longer than `limit`; kFailed with the
/// kernel's words (a counter that the hardware does not answer for is EIO, and no zero).
Result<std::string> read_small(const std::string& path, std::size_t limit = kSmallFile);

/// Its content without blanks and line ends around it; nothing where it cannot be read. For what
/// may well be absent.
std::optional<std::string> read_word(const std::string& path);

/// The names in a folder, sorted, without "." and ".."; empty where there is none, and no more than
/// `limit`.
std::vector<std::string> names_in(const std::string& folder, std::size_t limit = 65536);

/// Where a symbolic link points to, as it is written; nothing where it is none.
std::optional<std::string> link_target(const std::string& path);

/// Replaces the file, whole or not at all, and on the disk when this returns. Errors: kFailed.
Result<void> write_durably(const std::string& path, std::string_view content);

}  // namespace cupel::agent
