#include "orchestrator/requalify/swap.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "burnin/criteria/compared_causes.h"
#include "burnin/criteria/fleet_measures.h"
#include "burnin/stage.h"
#include "orchestrator/requalify/changes.h"

namespace cupel::requalify {
namespace {

using burnin::Against;
using burnin::Cause;
using burnin::Compared;
using inventory::Part;
using record::NodeRecord;

/// Where a part is now.
struct Seat {
  std::string name{};           // as its source calls it; empty: it is in no place of this machine
  std::string place{};          // what the source calls whatever sits where it was; empty: nothing
  bool is_in_place = false;     // it sits where it was, whatever its name is
  bool other_in_place = false;  // another one sits there
};

const Part* with_serial_and_name(const std::vector<Part>& parts, std::string_view name) {
  const auto found = std::ranges::find_if(
      parts, [&](const Part& each) { return each.name == name && !each.serial.empty(); });
  return found == parts.end() ? nullptr : &*found;
}

/// By the source that named it: a BMC and the node call one part by two names, and two parts by
/// one. Nothing where no source has both readings, or where several parts report its serial number.
std::optional<Seat> seat_of(const std::string& part, const PartsBySource& before,
                            const PartsBySource& after) {
  for (const auto& [source, parts] : before) {  // stages, which measure, come before the BMC
    const auto* was = with_serial_and_name(parts, part);
    const auto now = after.find(source);
    if (was == nullptr || now == after.end()) continue;
    const auto is_it = [&](const Part& each) {
      return each.kind == was->kind && each.serial == was->serial;
    };
    const auto found = std::ranges::find_if(now->second, is_it);
    if (std::ranges::count_if(parts, is_it) > 1 || std::ranges::count_if(now->second, is_it) > 1)
      return std::nullopt;
    const auto* there = in_place_of(*was, parts, now->second);
    return Seat{.name = found == now->second.end() ? std::string{} : found->name,
                .place = there == nullptr ? std::string{} : there->name,
                .is_in_place = there != nullptr && is_it(*there),
                .other_in_place = there != nullptr && !there->serial.empty() && !is_it(*there)};
  }
  return std::nullopt;
}

/// "hbm.copy", whether it is below a limit or unlike the fleet's.
std::string_view number_of(std::string_view criterion) {
  const auto compared = burnin::compared_measure(criterion);
  return compared.empty() ? criterion : compared;
}

bool has_cause(const NodeRecord& record, std::string_view part, std::string_view criterion,
               burnin::Decision decision) {
  if (!record.verdict) return false;
  return std::ranges::any_of(record.verdict->causes, [&](const Cause& cause) {
    return cause.decision == decision && cause.part == part &&
           number_of(cause.criterion) == number_of(criterion);
  });
}

bool is_of_stages(const Cause& cause, std::string_view stage) {
  return cause.stages.empty() || std::ranges::any_of(cause.stages, [&](const auto& each) {
           return burnin::base_name(each) == burnin::base_name(stage);
         });
}

bool has_number(const NodeRecord& record, std::string_view part, std::string_view measure,
                const Cause& cause) {
  return std::ranges::any_of(record.findings, [&](const auto& stage) {
    return is_of_stages(cause, stage.first) &&
           std::ranges::any_of(stage.second.measurements, [&](const auto& each) {
             return each.name == measure && each.part == part;
           });
  });
}

/// Whether numbers of the part's kind were compared with other machines. Of those that are alike
/// only the one nearest to its limit is kept.
bool was_compared(std::span<const Compared> compared, std::string_view part,
                  std::string_view measure, const Cause& cause) {
  return std::ranges::any_of(compared, [&](const Compared& each) {
    return each.against == Against::fleet && each.measure == measure &&
           burnin::kind_of_part(each.part) == burnin::kind_of_part(part) &&
           is_of_stages(cause, each.stage);
  });
}

/// What one verdict was made of.
struct Judged {
  const NodeRecord& record;
  std::span<const Compared> compared;
};

/// Whether it fails of the part, or is as bad beside its like, if not so far that it fails.
bool fails(const Judged& judged, std::string_view part, std::string_view criterion) {
  if (has_cause(judged.record, part, criterion, burnin::Decision::fail)) return true;
  const auto measure = burnin::compared_measure(criterion);
  return !measure.empty() && std::ranges::any_of(judged.compared, [&](const Compared& each) {
    return each.against == Against::fleet && each.measure == measure && each.part == part &&
           (each.found == burnin::Likeness::slow || each.found == burnin::Likeness::outlier);
  });
}

/// Whether it was found out of the part: by a number, or by a finding. A part of which a stage gave
/// nothing has a stage's name for its criterion; an audit, which looks at all parts, an audit's.
bool is_measured(const Judged& judged, std::string_view part, const Cause& cause) {
  const auto& record = judged.record;
  if (!record.verdict) return false;
  if (fails(judged, part, cause.criterion)) return true;
  if (has_cause(record, part, cause.criterion, burnin::Decision::inconclusive)) return false;
  if (cause.criterion.starts_with("audit: ")) return record.audit.has_value();
  if (const auto measure = burnin::compared_measure(cause.criterion); !measure.empty())
    return cause.criterion.starts_with(to_string(Against::fleet)) &&
           has_number(record, part, measure, cause) &&
           was_compared(judged.compared, part, measure, cause);
  return std::ranges::any_of(record.verdict->checked, [&](const burnin::Checked& each) {
    const bool named = each.measure == cause.criterion ||
                       burnin::base_name(each.stage) == burnin::base_name(cause.criterion);
    return named && each.part == part && each.met != burnin::Met::missing &&
           is_of_stages(cause, each.stage);
  });
}

SwapAnswer answer_of(const Cause& cause, const PartsBySource& was, const PartsBySource& is,
                     const Judged& after) {
  SwapAnswer answer{
      .part = cause.part, .criterion = cause.criterion, .result = SwapResult::unmeasured};
  const auto seat = seat_of(cause.part, was, is);
  if (!seat) return answer;
  answer.is_now = seat->name;
  if (seat->is_in_place) {
    answer.result = SwapResult::unmoved;
    return answer;
  }
  if (seat->place.empty()) return answer;
  const bool in_place = fails(after, seat->place, cause.criterion);
  if (answer.is_now.empty()) {
    if (in_place && seat->other_in_place) answer.result = SwapResult::place;
    return answer;
  }
  if (!is_measured(after, seat->place, cause) || !is_measured(after, answer.is_now, cause))
    return answer;
  const bool with_part = fails(after, answer.is_now, cause.criterion);
  answer.result = with_part && in_place ? SwapResult::both
                  : with_part           ? SwapResult::part
                  : in_place            ? SwapResult::place
                                        : SwapResult::gone;
  return answer;
}

}  // namespace

std::vector<SwapAnswer> read_swap(const NodeRecord& before, const NodeRecord& after,
                                  std::span<const Compared> compared) {
  std::vector<SwapAnswer> answers;
  if (!before.verdict) return answers;
  const auto was = parts_by_source(before), is = parts_by_source(after);
  std::set<std::pair<std::string, std::string>> known;
  for (const auto& cause : before.verdict->causes) {
    const bool bad = cause.decision == burnin::Decision::fail || burnin::is_to_be_repeated(cause);
    const bool own = bad && !cause.part.empty() && cause.consequence_of.empty();
    if (own && known.emplace(cause.part, cause.criterion).second)
      answers.push_back(answer_of(cause, was, is, {after, compared}));
  }
  return answers;
}

std::string to_string(const SwapAnswer& answer) {
  const auto part = answer.is_now.empty() || answer.is_now == answer.part
                        ? answer.part
                        : fmt::format("{} (now {})", answer.part, answer.is_now);
  switch (answer.result) {
    case SwapResult::part:
      return fmt::format("{}: {} went with the part: replace it", part, answer.criterion);
    case SwapResult::place:
      return fmt::format(
          "{}: {} stayed at {}, with another part there: the slot, its cable or what "
          "the slot is on is at fault",
          part, answer.criterion, answer.part);
    case SwapResult::gone:
      return fmt::format(
          "{}: {} fails nowhere any more: it was the contact, or it comes and goes; "
          "watch it",
          part, answer.criterion);
    case SwapResult::both:
      return fmt::format(
          "{}: {} fails with both parts and in both places: it is neither of the two "
          "alone",
          part, answer.criterion);
    case SwapResult::unmeasured:
      return fmt::format(
          "{}: not measured: {} was not checked again both at {} and with the part that moved, or "
          "no serial number says where it is now; the swap decides nothing",
          part, answer.criterion, answer.part);
    case SwapResult::unmoved:
      return fmt::format("{}: it sits where it was, so that {} says nothing new", part,
                         answer.criterion);
  }
  __builtin_unreachable();
}

}  // namespace cupel::requalify
