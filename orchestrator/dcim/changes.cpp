#include "orchestrator/dcim/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::dcim {
namespace {

constexpr std::size_t kLongestEntry = 1000;
constexpr std::array<std::string_view, 3> kTakenOut{"decommissioning", "offline", "inventory"};

void add_status(const Device& now, const NodeResult& result, const ChangeRules& rules,
                DeviceChange& change) {
  const bool judged = result.state == "pass" || result.state == "fail";
  const auto& expected = result.state == "pass" ? rules.passed : rules.failed;
  if (!judged || now.status == expected) return;
  if (std::ranges::find(kTakenOut, now.status) != kTakenOut.end()) {
    change.warnings.push_back(
        fmt::format("stays {}: it is being taken out", printable(now.status)));
    return;
  }
  change.fields["status"] = expected;
  change.words.push_back(fmt::format("status {} -> {}", printable(now.status), expected));
}

void add_serial(const Device& now, const NodeResult& result, const ChangeRules& rules,
                DeviceChange& change) {
  if (result.serial.empty() || result.serial == now.serial) return;
  if (now.serial.empty() || rules.serials) {
    change.fields["serial"] = valid_utf8(result.serial);
    change.words.push_back(fmt::format("serial {} -> {}",
                                       now.serial.empty() ? "(none)" : printable(now.serial),
                                       printable(result.serial)));
    return;
  }
  change.warnings.push_back(
      fmt::format("its serial number is {}, and the machine says {}: --serials writes that",
                  printable(now.serial), printable(result.serial)));
}

void add_entry(const NodeResult& result, DeviceChange& change) {
  const auto* kind = result.state == "pass"   ? "success"
                     : result.state == "fail" ? "danger"
                                              : "warning";
  // Comments are Markdown: what a machine printed stands in a code span, which ends at a backquote.
  auto cause = printable(result.cause);
  std::ranges::replace(cause, '`', '\'');
  auto text = journal_mark(result.run) + result.state;
  if (!cause.empty()) text += ": `" + shortened(cause, kLongestEntry) + "`";
  change.journal = {{"assigned_object_type", "dcim.device"},
                    {"assigned_object_id", number<std::int64_t>(change.id).value_or(0)},
                    {"kind", kind},
                    {"comments", text}};
  change.words.push_back(fmt::format("journal: run {} {}", result.run, result.state));
}

}  // namespace

std::string journal_mark(std::int64_t run) { return fmt::format("Cupel run {}: ", run); }

DeviceChange change_of(const Device& now, const NodeResult& result, const ChangeRules& rules,
                       bool has_entry) {
  DeviceChange change{.id = now.id, .node = now.name};
  add_status(now, result, rules, change);
  add_serial(now, result, rules, change);
  const bool judged =
      result.state == "pass" || result.state == "fail" || result.state == "inconclusive";
  if (judged && !has_entry) add_entry(result, change);
  return change;
}

}  // namespace cupel::dcim
