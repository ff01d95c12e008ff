// Sets back what `settings` changed, by the record on the node's disk, and reports what did not
// stay as it was set. For a run, for a person, and for the node's own timer.
#include <array>

#include "base/text.h"
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/settings_guard.h"

namespace cupel::agent {
namespace {

using namespace settings_place;

constexpr std::array<std::string_view, 3> kBy{"run", "hand", "timer"};

/// "3,GPU-8f6a...": how nvidia-smi counts them now. `why`: it does not list them.
struct Gpus {
  std::vector<std::string> lines{};
  std::string why{};
};

/// Empty where it is not listed.
std::string index_of(const Gpus& gpus, const std::string& uuid) {
  for (const auto& each : gpus.lines) {
    const auto line = without_blanks(each);
    const auto comma = line.find(',');
    if (comma != line.npos && line.substr(comma + 1) == uuid) return line.substr(0, comma);
  }
  return {};
}

Work<Gpus> list_gpus(Node& node, const KeptSettings& before, const KeptSettings& expected) {
  bool any = false;
  for (const auto* all : {&before, &expected})
    for (const auto& each : *all) any = any || each.setting.is_of_gpu();
  Gpus gpus;
  if (any) gpus.lines = co_await ask_all_gpus(node, "--query-gpu=index,uuid", gpus.why);
  co_return gpus;
}

/// What was measured under a setting that did not stay was measured under another one. `stayed`:
/// the machine has not restarted, so that locked clocks, which nobody can read, are taken as set.
Work<bool> report_held(Node& node, const KeptSettings& expected, const Gpus& gpus, bool stayed) {
  for (auto each : expected) {
    if (each.setting.is_of_gpu()) each.setting.gpu = index_of(gpus, each.setting.part);
    std::string is;
    if (!each.setting.is_of_gpu() || !each.setting.gpu.empty())
      is = co_await read_setting(node, each.setting);
    if (each.setting.key == "gpu.clocks" && stayed) is = each.value;
    if (each.setting.key == "irq" && is_inside(is, each.value)) is = each.value;
    report_setting(node, "held", each.setting, "", each.value, {is, ""});
  }
  co_return true;
}

/// Without the list nobody knows whether all stayed as it was set. All is put back nevertheless.
KeptSettings expected_or_report(const Node& node) {
  auto expected = read_expected(node);
  if (expected) return *std::move(expected);
  report_setting(node, "held", {"the list of what was set", "all"}, "", "readable",
                 {"not: " + expected.error().what, ""});
  return {};
}

/// How many are not as they were.
Work<std::size_t> set_back(Node& node, const KeptSettings& before, const Gpus& gpus) {
  std::size_t left = 0;
  for (auto each : before) {
    if (each.setting.is_of_gpu()) each.setting.gpu = index_of(gpus, each.setting.part);
    Changed changed{"", gpus.why.empty() ? "nvidia-smi does not report it" : gpus.why};
    if (!each.setting.is_of_gpu() || !each.setting.gpu.empty())
      changed = co_await change_setting(node, each.setting, each.value);
    if (changed.is != each.value || changed.why == kNeedsRestart) ++left;
    report_setting(node, "restored", each.setting, each.value, "", changed);
  }
  co_return left;
}

/// The record goes after the word of who has set it back, and before the timer: whatever a crash
/// leaves of these, the next one finds the rest.
Work<GaveUp> clear(Node& node, const std::string& by) {
  const auto noted = node.settings.replace(std::string{kPutBack}, by + "\n");
  if (!noted) co_return noted.error().what;
  // In this order: without a record what was expected would be taken for lost.
  for (const auto path : {kExpectedFile, kBefore}) node.settings.remove(std::string{path});
  if (node.settings.read(std::string{kBefore}))
    co_return std::string{kBefore} + " cannot be removed, and all in it is as it was";
  co_await remove_guard(node);
  co_return {};
}

std::string put_back_before(const Node& node) {
  const auto by = node.settings.read(std::string{kPutBack});
  return by && !trimmed(*by).empty() ? "before, by the " + std::string{trimmed(*by)} : "none";
}

Work<GaveUp> restore(Node& node, std::string by) {
  auto record = read_record(node);
  if (!record) co_return record.error().what;
  const auto expected = expected_or_report(node);
  const auto gpus = co_await list_gpus(node, record->before, expected);
  co_await report_held(node, expected, gpus, record->this_boot);
  const auto forgotten = forget_undone(node, *record);
  if (!forgotten) co_return forgotten.error().what;
  if (!record->there) {
    node.settings.remove(std::string{kExpectedFile});
    node.lines.note("record", put_back_before(node));
    if (has_guard(node)) co_await remove_guard(node);  // a crash left it
    co_return {};
  }
  const auto left = co_await set_back(node, record->before, gpus);
  if (left > 0) {
    node.lines.note("record", "kept");
    co_return {};
  }
  auto why = co_await clear(node, by);
  if (why.empty()) node.lines.note("record", "gone");
  co_return why;
}

}  // namespace

/// By the timer only when it is due. Anybody else ends what the timer has begun.
Work<GaveUp> run_settings_restore(Node& node, const JsonValue& order) {
  OrderReader reader{order};
  const auto by = order.find("by") == nullptr ? "run" : reader.word("by", kBy);
  if (!reader.why().empty()) co_return reader.why();
  if (auto why = why_record_unsafe(node); !why.empty()) co_return why;
  if (by == "timer") {
    if (!is_guard_due(node)) co_return {};
  } else {
    co_await stop_guards_work(node);
  }
  auto why = co_await restore(node, by);
  co_return why;
}

}  // namespace cupel::agent
