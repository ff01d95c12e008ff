#include "orchestrator/requalify/swap.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "burnin/criteria/compared_causes.h"
#include "burnin/stage.h"

namespace cupel::requalify {
namespace {

using burnin::Cause;
using record::NodeRecord;

/// Serial numbers by the names of parts, the newest reading last.
std::map<std::string, std::string, std::less<>> serials_by_name(const NodeRecord& record) {
  std::map<std::string, std::string, std::less<>> serials;
  const auto take = [&](const std::vector<inventory::Part>& parts) {
    for (const auto& part : parts)
      if (!part.serial.empty()) serials[part.name] = part.serial;
  };
  take(record.bmc_parts);
  for (const auto& step : record.steps)
    if (const auto found = record.findings.find(step.name); found != record.findings.end())
      take(found->second.parts);
  return serials;
}

bool fails(const NodeRecord& record, std::string_view part, std::string_view criterion) {
  if (!record.verdict) return false;
  return std::ranges::any_of(record.verdict->causes, [&](const Cause& cause) {
    return cause.decision == burnin::Decision::fail && cause.part == part &&
           cause.criterion == criterion;
  });
}

bool is_of_stages(const Cause& cause, std::string_view stage) {
  return cause.stages.empty() || std::ranges::any_of(cause.stages, [&](const auto& each) {
           return burnin::base_name(each) == burnin::base_name(stage);
         });
}

/// Whether it was found out of the part: by a number, or by a finding. A part of which a stage gave
/// nothing has a stage's name for its criterion; an audit, which looks at all parts, an audit's.
bool is_measured(const NodeRecord& record, std::string_view part, const Cause& cause) {
  if (!record.verdict) return false;
  if (fails(record, part, cause.criterion)) return true;
  if (cause.criterion.starts_with("audit: ")) return record.audit.has_value();
  return std::ranges::any_of(record.verdict->checked, [&](const burnin::Checked& each) {
    const bool named = each.measure == cause.criterion ||
                       each.measure == burnin::compared_measure(cause.criterion) ||
                       burnin::base_name(each.stage) == burnin::base_name(cause.criterion);
    return named && each.part == part && each.met != burnin::Met::missing &&
           is_of_stages(cause, each.stage);
  });
}

SwapAnswer answer_of(const Cause& cause, const NodeRecord& before, const NodeRecord& after) {
  SwapAnswer answer{.part = cause.part, .criterion = cause.criterion, .told = SwapTold::unmeasured};
  const auto was = serials_by_name(before), is = serials_by_name(after);
  const auto mine = was.find(cause.part);
  if (mine == was.end()) return answer;
  for (const auto& [name, serial] : is)
    if (serial == mine->second) answer.is_now = name;
  if (answer.is_now == cause.part) {
    answer.told = SwapTold::unmoved;
    return answer;
  }
  const bool in_place = fails(after, cause.part, cause.criterion);
  if (answer.is_now.empty()) {
    if (in_place && is.contains(cause.part)) answer.told = SwapTold::place;
    return answer;
  }
  if (!is_measured(after, cause.part, cause) || !is_measured(after, answer.is_now, cause))
    return answer;
  const bool with_part = fails(after, answer.is_now, cause.criterion);
  answer.told = with_part && in_place ? SwapTold::both
                : with_part           ? SwapTold::part
                : in_place            ? SwapTold::place
                                      : SwapTold::gone;
  return answer;
}

}  // namespace

std::vector<SwapAnswer> read_swap(const NodeRecord& before, const NodeRecord& after) {
  std::vector<SwapAnswer> answers;
  if (!before.verdict) return answers;
  std::set<std::pair<std::string, std::string>> known;
  for (const auto& cause : before.verdict->causes) {
    const bool own = cause.decision == burnin::Decision::fail && !cause.part.empty() &&
                     cause.consequence_of.empty();
    if (own && known.emplace(cause.part, cause.criterion).second)
      answers.push_back(answer_of(cause, before, after));
  }
  return answers;
}

std::string to_string(const SwapAnswer& answer) {
  const auto part = answer.is_now.empty() || answer.is_now == answer.part
                        ? answer.part
                        : fmt::format("{} (now {})", answer.part, answer.is_now);
  switch (answer.told) {
    case SwapTold::part:
      return fmt::format("{}: {} went with the part: replace it", part, answer.criterion);
    case SwapTold::place:
      return fmt::format(
          "{}: {} stayed at {}, with another part there: the slot, its cable or what "
          "the slot is on is at fault",
          part, answer.criterion, answer.part);
    case SwapTold::gone:
      return fmt::format(
          "{}: {} fails nowhere any more: it was the contact, or it comes and goes; "
          "watch it",
          part, answer.criterion);
    case SwapTold::both:
      return fmt::format(
          "{}: {} fails with both parts and in both places: it is neither of the two "
          "alone",
          part, answer.criterion);
    case SwapTold::unmeasured:
      return fmt::format(
          "{}: not measured: {} was not checked again both at {} and with the part that moved, or "
          "no serial number says where it is now; the swap decides nothing",
          part, answer.criterion, answer.part);
    case SwapTold::unmoved:
      return fmt::format("{}: it sits where it was, so that {} says nothing new", part,
                         answer.criterion);
  }
  __builtin_unreachable();
}

}  // namespace cupel::requalify
