#pragma once
// Versions in the names and sentences of advisories: ranges as CSAF has them, and as vendors write
// them. Pure.
#include <string>
#include <string_view>
#include <vector>

namespace cupel::inventory {

struct VersionBound {
  enum Kind {
    exact,
    below,  // all before it
    up_to,  // the same, and itself
    from,   // itself, and all later ones
  } kind = exact;
  std::string version{};  // "595.71.05"
  friend bool operator==(const VersionBound&, const VersionBound&) = default;
};

using VersionBounds = std::vector<VersionBound>;

/// "<V2.9.2", "vers:intdot/>=1.0|<1.2", "All versions prior to 46.3008", "28.4702", "0.0 to 4.5.2",
/// "1.7.21 and older versions". Empty where the text has no version: "All versions".
VersionBounds version_bounds(std::string_view text);

/// "runc" of "runc 1.1.12".
std::string name_without_version(std::string_view name);

/// "2.9.2" of "Update to V2.9.2 or later version"; empty where no version is followed by "or
/// later", "or newer" or "or above".
std::string version_to_update_to(std::string_view sentence);

}  // namespace cupel::inventory
