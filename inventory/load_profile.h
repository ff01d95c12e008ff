#pragma once
// Profiles from YAML: the shipped ones, compiled into the binary, and a site's own beside its
// inventory.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/profile.h"

namespace cupel::inventory {

/// Where profiles come from: `<folder>/<name>.yaml` first, then the shipped ones.
class ProfileSource {
 public:
  explicit ProfileSource(std::filesystem::path folder) : folder_{std::move(folder)} {}

  /// The profile with all that it `extends:`. Every fault becomes a problem. Nothing if there is no
  /// such profile (no problem is added then) or it cannot be read: no shipped one stands in for the
  /// site's own.
  std::optional<Profile> load(std::string_view name, std::vector<Problem>& problems) const;

  /// Names for "did you mean".
  std::vector<std::string> names() const;

  /// The path of the site's own, "NAME.yaml" of a shipped one.
  std::string file(std::string_view name) const;

  /// The text of the file, for the inventory's digest; empty if there is none, or it is unread().
  std::string text(std::string_view name) const;

  /// Why the site's own of this name cannot be read; nothing where it can be, or there is none.
  std::optional<std::string> unread(std::string_view name) const;

 private:
  std::filesystem::path folder_;
};

/// One profile file, on top of what it extends. Pure but for `source`, which finds the one it
/// extends.
std::optional<Profile> parse_profile(std::string_view text, const std::string& file,
                                     const ProfileSource& source, std::vector<Problem>& problems);

}  // namespace cupel::inventory
