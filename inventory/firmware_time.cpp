#include "inventory/firmware_time.h"

#include <algorithm>

#include "inventory/patience.h"
#include "inventory/profile.h"

namespace cupel::inventory {
namespace {

constexpr std::chrono::seconds kDrained{60 + 90};  // off, and between AC and on again
constexpr std::chrono::seconds kDeviceReset{30};

bool is_one_write(const ExpectedFirmware& one, const ExpectedFirmware& other) {
  return one.image && other.image && one.image->is_named() &&
         one.image->file == other.image->file && one.image->sha256 == other.image->sha256 &&
         one.targets == other.targets && one.is_written_on_node() == other.is_written_on_node();
}

}  // namespace

std::chrono::seconds time_of(FirmwareReset reset, const Patience& patience) {
  switch (reset) {
    case FirmwareReset::bmc_restart:
      return patience.bmc_restart;
    case FirmwareReset::host_restart:
    case FirmwareReset::host_off:
      return patience.post;
    case FirmwareReset::ac_cycle:
      return patience.bmc_restart + patience.power_on + patience.post;
    case FirmwareReset::power_drain:
      return patience.bmc_restart + patience.power_on + patience.post + kDrained;
    case FirmwareReset::device_reset:
      return kDeviceReset;
  }
  __builtin_unreachable();
}

std::chrono::seconds time_of_baseline(const Profile& profile, bool on_node) {
  std::chrono::seconds sum{0};
  const auto& all = profile.firmware;
  for (auto each = all.begin(); each != all.end(); ++each) {
    const auto& one = *each;
    if (!one.image || one.is_written_on_node() != on_node) continue;
    const auto comes_with = [&](const auto& earlier) { return is_one_write(earlier, one); };
    if (std::any_of(all.begin(), each, comes_with)) continue;
    auto time = one.takes;
    for (const auto* resets : {&one.before, &one.follow})
      for (const auto reset : *resets) time += time_of(reset, profile.patience);
    // Machines that need a stepping stone are few: one version each.
    sum += time;
  }
  return sum;
}

}  // namespace cupel::inventory
