// Sets what a playbook asks for, for as long as its run lasts. What was before is on the disk
// before anything is changed, and a timer of the node's own is laid down, which sets it back where
// no run does.
#include <algorithm>

#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/settings_guard.h"
#include "burnin/agent/node/stages/settings_plan.h"

namespace cupel::agent {
namespace {

constexpr std::uint64_t kMostSeconds = 400 * 3600;

/// What an earlier run wrote there was before ours.
Result<void> remember(const Node& node, const SettingsPlan& plan) {
  TRY(auto record, read_record(node));
  TRY(forget_undone(node, record));
  TRY(auto earlier, read_expected(node));
  KeptSettings expected;
  for (const auto& each : plan.all) {
    if (find_kept(record.before, each.setting) == nullptr)
      record.before.push_back({each.setting, each.before});
    expected.push_back({each.setting, each.expected});
  }
  for (auto& each : earlier)
    if (find_kept(expected, each.setting) == nullptr) expected.push_back(std::move(each));
  TRY(write_expected(node, expected));
  node.settings.remove(std::string{settings_place::kPutBack});
  return write_record(node, record.before);
}

/// A restore of the node's own that is at work now is ended: the record holds all of it still. Not
/// before it is known that there is a record to go on with, or none.
Work<GaveUp> make_record(Node& node, const SettingsPlan& plan) {
  const auto made = node.settings.make_folder(std::string{settings_place::kFolder});
  if (!made) co_return made.error().what;
  if (auto why = why_record_unsafe(node); !why.empty()) co_return why;
  if (const auto record = read_record(node); !record) co_return record.error().what;
  co_await stop_guard(node);
  const auto kept = remember(node, plan);
  co_return kept ? "" : kept.error().what;
}

Work<bool> change_all(Node& node, const SettingsPlan& plan) {
  for (const auto& each : plan.all) {
    const auto changed = co_await change_setting(node, each.setting, each.expected);
    report_setting(node, "set", each.setting, each.before, each.expected, changed);
  }
  for (const auto& each : plan.refused)
    report_setting(node, "set", each.setting, each.before, each.expected,
                   {"none", "the driver has no application clocks any more: use gpu_clocks"});
  co_return true;
}

}  // namespace

Work<GaveUp> run_settings(Node& node, const JsonValue& order) {
  OrderReader reader{order};
  const auto seconds = reader.amount("at_most", 1, kMostSeconds);
  if (!reader.why().empty()) co_return reader.why();
  const auto requests = requests_of(order);
  if (!requests) co_return requests.error().what;
  if (auto why = why_record_unsafe(node); !why.empty()) co_return why;
  SettingsPlan plan;
  for (const auto& request : *requests) {
    auto why = co_await plan_request(node, request, plan);
    if (!why.empty()) co_return why;
  }
  auto why = co_await make_record(node, plan);
  if (!why.empty()) co_return why;
  const auto guard = co_await lay_guard(node, seconds);
  if (!guard.lasts.empty()) node.lines.note("guard", guard.lasts);
  if (!guard.why.empty()) node.lines.note("guard-why", guard.why);
  co_await change_all(node, plan);
  co_return {};
}

}  // namespace cupel::agent
