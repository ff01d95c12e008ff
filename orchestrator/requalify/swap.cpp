#include "orchestrator/requalify/swap.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

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

SwapAnswer answer_of(const Cause& cause, const NodeRecord& before, const NodeRecord& after) {
  SwapAnswer answer{.part = cause.part, .criterion = cause.criterion, .told = SwapTold::unmoved};
  const auto was = serials_by_name(before);
  const auto mine = was.find(cause.part);
  if (mine == was.end()) return answer;
  for (const auto& [name, serial] : serials_by_name(after))
    if (serial == mine->second) answer.is_now = name;
  if (answer.is_now == cause.part) return answer;
  const bool with_part = !answer.is_now.empty() && fails(after, answer.is_now, cause.criterion);
  const bool in_place = fails(after, cause.part, cause.criterion);
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
    case SwapTold::unmoved:
      return fmt::format("{}: it sits where it was, so that {} says nothing new", part,
                         answer.criterion);
  }
  __builtin_unreachable();
}

}  // namespace cupel::requalify
