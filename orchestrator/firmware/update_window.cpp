#include "orchestrator/firmware/update_window.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/text.h"
#include "inventory/firmware_time.h"
#include "inventory/profile.h"

namespace cupel::firmware {
namespace {

constexpr std::size_t kLongestList = 300;

/// All writes of one version, and the resets around them.
std::chrono::seconds time_of_first(const FirmwarePlan& plan, const inventory::Profile& profile) {
  const auto& first = plan.updates.front();
  std::chrono::seconds time{0};
  for (const auto& update : plan.updates)
    if (update.expected == first.expected && update.version == first.version)
      time += first.expected->takes;
  for (const auto* resets : {&first.expected->before, &first.expected->follow})
    for (const auto reset : *resets) time += inventory::time_of(reset, profile.patience);
  return time;
}

std::string named(const FirmwareUpdate& update) {
  return update.expected->component + " " + update.version;
}

/// Each component and version once.
std::string list_of(const std::vector<FirmwareUpdate>& updates) {
  std::string list;
  const FirmwareUpdate* before = nullptr;
  for (const auto& update : updates) {
    if (before == nullptr || named(*before) != named(update))
      list += (list.empty() ? "" : ", ") + named(update);
    before = &update;
  }
  return shortened(list, kLongestList);
}

/// "Mon 13:00 +3h" for "Mon 13:00 +1h" and 2 h: the run need not begin in the second in which it
/// opens.
std::string longer(const inventory::MaintenanceWindow& window, std::chrono::seconds needs) {
  const auto hours = std::chrono::ceil<std::chrono::hours>(needs) + std::chrono::hours{1};
  if (hours > std::chrono::days{7}) return "any";
  return fmt::format("{}+{}h", window.text.substr(0, window.text.find('+')), hours.count());
}

long minutes_of(std::chrono::seconds time) {
  return std::chrono::ceil<std::chrono::minutes>(time).count();
}

}  // namespace

std::string why_not_in(const inventory::MaintenanceWindow& window,
                       const inventory::Profile& profile, const FirmwarePlan& plan,
                       std::chrono::sys_seconds now) {
  if (plan.updates.empty()) return {};
  const auto left = inventory::left_of(window, now);
  const auto needs = time_of_first(plan, profile);
  if (needs <= left) return {};
  const auto& first = plan.updates.front();
  auto text = fmt::format("the window {} (UTC) ", window.text);
  text += left.count() == 0 ? std::string{"is closed"}
                            : fmt::format("has {}m left, and {} takes {}m",
                                          std::chrono::floor<std::chrono::minutes>(left).count(),
                                          named(first), minutes_of(needs));
  if (needs > window.lasts)
    return fmt::format("{}; {} takes {}m and fits into no such window; left: {}", text,
                       named(first), minutes_of(needs), list_of(plan.updates));
  return fmt::format("{}; it opens again {:%F %H:%M} UTC; left: {}", text,
                     inventory::next_opening(window, now), list_of(plan.updates));
}

std::string way_on_after(const inventory::MaintenanceWindow& window,
                         const inventory::Profile& profile, const FirmwarePlan& plan) {
  const auto needs = time_of_first(plan, profile);
  if (needs <= window.lasts) return "once the window is open: cupel retry RUN NODE";
  return fmt::format(
      "begin it in a longer window: cupel run firmware --nodes NODE --set 'window={}'",
      longer(window, needs));
}

}  // namespace cupel::firmware
