#include "inventory/judge_firmware.h"

#include <algorithm>

#include "inventory/versions.h"

namespace cupel::inventory {
namespace {

/// What writes it is where it is looked for: a BMC writes what it lists.
bool is_of_way(UpdateWay way, PartKind kind) {
  if (kind == PartKind::firmware) return true;
  switch (way) {
    case UpdateWay::mstflint:
      return kind == PartKind::hca || kind == PartKind::nic || kind == PartKind::dpu;
    case UpdateWay::nvme:
      return kind == PartKind::nvme;
    case UpdateWay::site_tool:
      return kind == PartKind::gpu;
    case UpdateWay::bmc:
      return false;
  }
  __builtin_unreachable();
}

}  // namespace

bool covers(const ExpectedFirmware& expected, const Part& part) {
  if (!is_of_way(expected.way, part.kind)) return false;
  const auto fits = [&](const std::string& pattern) {
    return fits_pattern(pattern, part.name) ||
           (!part.model.empty() && fits_pattern(pattern, part.model));
  };
  return expected.ids.empty() ? fits(expected.component) : std::ranges::any_of(expected.ids, fits);
}

bool is_expected_version(const ExpectedFirmware& expected, std::string_view version) {
  if (!expected.version.empty()) return compare_versions(version, expected.version) == 0;
  const bool reached =
      expected.at_least.empty() || compare_versions(version, expected.at_least) >= 0;
  return reached && (expected.below.empty() || compare_versions(version, expected.below) < 0);
}

std::string expected_version(const ExpectedFirmware& expected) {
  if (!expected.version.empty()) return expected.version;
  if (expected.below.empty()) return "at least " + expected.at_least;
  if (expected.at_least.empty()) return "before " + expected.below;
  return "at least " + expected.at_least + ", before " + expected.below;
}

}  // namespace cupel::inventory
