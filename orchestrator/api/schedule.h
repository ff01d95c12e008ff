#pragma once
// When the service starts runs by itself, as the site's settings say: times of the day, in the
// local time of its machine (TZ, /etc/localtime).
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inventory/yaml.h"
#include "orchestrator/engine/event.h"

namespace cupel::api {

struct Schedule {
  std::string name{};
  std::string playbook{};
  std::string nodes = "all";  // as --nodes
  std::map<std::string, std::string> set{};
  std::chrono::minutes at{};                                           // since midnight
  std::array<bool, 7> days{true, true, true, true, true, true, true};  // from Sunday on
  bool skips_missed = false;  // else a missed start is made up for, once
  bool idle_only = false;     // those nodes alone that Slurm reports idle when it begins
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

inline constexpr std::size_t kMostSchedules = 64;

/// The list under `schedules`. Every error becomes a problem.
std::vector<Schedule> schedules_of(inventory::YamlFields& above, const std::string& file,
                                   std::vector<inventory::Problem>& problems);

/// The newest time at `now` or before at which it is due. An hour that the clocks leave out in
/// spring counts as the one behind it; of an hour that comes twice, one counts.
engine::WallTime last_due(const Schedule& schedule, engine::WallTime now);
/// The first one behind `now`.
engine::WallTime next_due(const Schedule& schedule, engine::WallTime now);

/// "02:30".
std::string time_of_day(std::chrono::minutes since_midnight);

/// "02:30 mon tue", "02:30 every day".
std::string when_of(const Schedule& schedule);

}  // namespace cupel::api
