#include "orchestrator/api/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "base/utc.h"
#include "inventory/names.h"
#include "orchestrator/api/named_list.h"

namespace cupel::api {
namespace {

using inventory::YamlFields;

constexpr std::array<std::string_view, 7> kDays{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr int kWeek = 7;

void take_days(YamlFields& fields, Schedule& schedule) {
  if (!fields.has("days")) return;
  schedule.days = {};
  const auto words = fields.texts("days");
  for (const auto& word : words) {
    const auto found = std::ranges::find(kDays, lower_case(word));
    if (found == kDays.end())
      fields.report(fields.place("days"),
                    fmt::format("'{}' is none of {}", printable(word), fmt::join(kDays, ", ")));
    else
      schedule.days[static_cast<std::size_t>(found - kDays.begin())] = true;
  }
  if (words.empty()) fields.report(fields.place("days"), "names no day: leave it out for all");
}

void take_set(YamlFields& fields, Schedule& schedule) {
  for (const auto& each : fields.texts("set")) {
    const auto equals = each.find('=');
    if (equals == each.npos || equals == 0)
      fields.report(fields.place("set"), fmt::format("'{}' is not NAME=VALUE", printable(each)));
    else
      schedule.set[each.substr(0, equals)] = each.substr(equals + 1);
  }
}

Schedule schedule_of(YamlFields& fields) {
  Schedule schedule;
  schedule.name = fields.required("name");
  if (const auto fault = inventory::fault_in_name(inventory::Named::rack, schedule.name);
      fault && !schedule.name.empty())
    fields.report(fields.place("name"), *fault);
  schedule.playbook = fields.required("playbook");
  schedule.nodes = fields.text("nodes").value_or(schedule.nodes);
  const auto at = fields.required("at");
  if (const auto minute = minute_of_day(at))
    schedule.at = *minute;
  else if (!at.empty())
    fields.report(fields.place("at"),
                  fmt::format("'{}' is no time of the day: \"02:30\", in quotes", printable(at)));
  take_days(fields, schedule);
  take_set(fields, schedule);
  const auto missed = fields.text("missed").value_or("once");
  if (missed != "once" && missed != "skip")
    fields.report(fields.place("missed"),
                  fmt::format("is once or skip, not '{}'", printable(missed)));
  schedule.skips_missed = missed == "skip";
  schedule.idle_only = fields.flag("idle_only").value_or(false);
  fields.finish();
  return schedule;
}

/// Of the day `offset` days after that of `now`; nothing where it is not due on that day.
std::optional<engine::WallTime> due_on(const Schedule& schedule, engine::WallTime now, int offset) {
  const auto seconds = std::chrono::system_clock::to_time_t(now);
  std::tm day{};
  if (::localtime_r(&seconds, &day) == nullptr) return std::nullopt;
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(schedule.at);
  day.tm_mday += offset;
  day.tm_hour = static_cast<int>(hours.count());
  day.tm_min = static_cast<int>((schedule.at - hours).count());
  day.tm_sec = 0;
  day.tm_isdst = -1;
  const auto due = std::mktime(&day);
  if (due == -1 || !schedule.days[static_cast<std::size_t>(day.tm_wday)]) return std::nullopt;
  return engine::WallTime{std::chrono::seconds{due}};
}

}  // namespace

std::vector<Schedule> schedules_of(YamlFields& above, const std::string& file,
                                   std::vector<inventory::Problem>& problems) {
  return read_named(
      above, {"schedules", "schedule", kMostSchedules}, file, problems,
      [](YamlFields& fields, const inventory::YamlValue&) { return schedule_of(fields); });
}

engine::WallTime last_due(const Schedule& schedule, engine::WallTime now) {
  for (int offset = 1; offset >= -kWeek; --offset)
    if (const auto due = due_on(schedule, now, offset); due && *due <= now) return *due;
  return {};
}

engine::WallTime next_due(const Schedule& schedule, engine::WallTime now) {
  for (int offset = -1; offset <= kWeek; ++offset)
    if (const auto due = due_on(schedule, now, offset); due && *due > now) return *due;
  return engine::WallTime::max();
}

std::string time_of_day(std::chrono::minutes since_midnight) {
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(since_midnight);
  return fmt::format("{:02}:{:02}", hours.count(), (since_midnight - hours).count());
}

std::string when_of(const Schedule& schedule) {
  auto text = time_of_day(schedule.at);
  if (std::ranges::all_of(schedule.days, [](bool each) { return each; }))
    return text + " every day";
  for (std::size_t day = 0; day < kDays.size(); ++day)
    if (schedule.days[day]) text += fmt::format(" {}", kDays[day]);
  return text;
}

}  // namespace cupel::api
