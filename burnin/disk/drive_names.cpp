#include "burnin/disk/drive_names.h"

#include <fmt/format.h>

#include "base/text.h"
#include "inventory/expected_parts.h"
#include "inventory/profile.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostDrives = 256;

bool is_drive_name(std::string_view name) {
  const auto digits = name.starts_with("nvme") ? name.substr(4) : std::string_view{};
  return !digits.empty() && digits.size() <= 4 && number<int>(digits).has_value() &&
         digits.find_first_not_of("0123456789") == digits.npos;
}

}  // namespace

Result<json::array> drive_names(std::string_view written) {
  json::array names;
  if (written == "all") return names;
  for (const auto piece : split(written, ',')) {
    const auto name = trimmed(piece);
    if (!is_drive_name(name) || names.size() == kMostDrives)
      return Error{Code::kInvalid,
                   fmt::format("drives must be all, or names like nvme0,nvme1, not '{}'",
                               shortened(printable(written), 80))};
    names.emplace_back(name);
  }
  return names;
}

int expected_drives(const inventory::Profile& profile) {
  int count = 0;
  for (const auto& each : profile.parts)
    if (each.kind == inventory::PartKind::nvme) count += static_cast<int>(each.count);
  return count;
}

}  // namespace cupel::burnin
