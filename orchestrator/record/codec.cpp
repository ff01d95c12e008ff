#include "orchestrator/record/codec.h"

#include <algorithm>
#include <array>

#include "base/described_json.h"
#include "base/enum_words.h"
#include "burnin/criteria/compared_causes.h"
#include "orchestrator/record/fleet_codec.h"

// One row a struct, in the order in which its keys stand. A member that is not named here is not
// written.
namespace cupel::inventory {
BOOST_DESCRIBE_STRUCT(PcieLink, (), (generation, width, max_generation, max_width))
BOOST_DESCRIBE_STRUCT(Part, (),
                      (kind, name, model, manufacturer, serial, part_number, firmware, slot,
                       size_bytes, count, health, pcie, macs, source))
BOOST_DESCRIBE_STRUCT(Unknown, (), (fact, source, why))
BOOST_DESCRIBE_STRUCT(PartialList, (), (kind, source, why, passing))
BOOST_DESCRIBE_STRUCT(PartCount, (), (there, expected))
BOOST_DESCRIBE_STRUCT(AuditFinding, (), (finding, part, expected, observed, source, remedy, count))
BOOST_DESCRIBE_STRUCT(BelowFloor, (), (component, part, version, at_least, advisory, date))
BOOST_DESCRIBE_STRUCT(FloorLook, (), (policy, read, below))
}  // namespace cupel::inventory

namespace cupel::burnin {
BOOST_DESCRIBE_STRUCT(Measurement, (), (name, part, value, unit, traced_to))
BOOST_DESCRIBE_STRUCT(Findings, (), (measurements, parts, unknown, partial))
BOOST_DESCRIBE_STRUCT(Quantity, (), (value, at_least, at_most, unit, unit_of_limits))
BOOST_DESCRIBE_STRUCT(Cause, (),
                      (decision, part, criterion, measured, expected, evidence, remedy, stages,
                       quantity, consequence_of, criterion_id, place))
BOOST_DESCRIBE_STRUCT(Checked, (),
                      (stage, part, measure, quantity, met, source, criterion_id, place, remedy))
}  // namespace cupel::burnin

namespace cupel::record {
BOOST_DESCRIBE_STRUCT(Needed, (), (action, goes_on, part))
}  // namespace cupel::record

namespace cupel::described {

using inventory::Finding;

template <>
inline constexpr bool kFlat<burnin::Quantity> = true;

// The key in every journal since the first version.
template <>
inline constexpr std::string_view kKey<&burnin::Cause::expected> = "wanted";

template <>
struct Row<inventory::PartKind> : EnumRow<inventory::PartKind> {
  static inventory::PartKind known(std::string_view word) {
    return inventory::part_kind(word).value_or(inventory::PartKind::system);
  }
};

template <>
struct Row<Finding> : EnumRow<Finding> {
  static Finding known(std::string_view word) {
    return enum_of<Finding, ' '>(word).value_or(Finding::not_observed);
  }
};

template <>
struct Row<burnin::Decision> : EnumRow<burnin::Decision> {
  static burnin::Decision known(std::string_view word) {
    return enum_of<burnin::Decision, '-'>(word).value_or(burnin::Decision::inconclusive);
  }
};

template <>
struct Row<burnin::Met> : EnumRow<burnin::Met> {
  static burnin::Met known(std::string_view word) {
    return enum_of<burnin::Met, '-'>(word).value_or(burnin::Met::missing);
  }
};

}  // namespace cupel::described

namespace cupel::record {
namespace {

using inventory::AuditFinding;
using inventory::Part;
using inventory::PartialList;
using inventory::Unknown;

/// Of a verdict in the journal.
constexpr int kVerdictFormat = 2;

/// What no link has is not reported.
void bound(inventory::PcieLink& link) {
  for (auto* each : {&link.generation, &link.width, &link.max_generation, &link.max_width})
    if (*each < 0 || *each > 64) *each = 0;
}

}  // namespace

json::array to_json(const std::vector<Part>& parts) { return described::to_array(parts); }
json::array to_json(const std::vector<Unknown>& unknown) { return described::to_array(unknown); }
json::array to_json(const std::vector<PartialList>& partial) {
  return described::to_array(partial);
}
json::array to_json(const std::vector<AuditFinding>& findings) {
  return described::to_array(findings);
}
json::object to_json(const inventory::FloorLook& look) { return described::to_object(look); }
json::array to_json(const std::vector<Needed>& needs) { return described::to_array(needs); }
json::object to_json(const burnin::Findings& findings) {
  auto object = described::to_object(findings);
  if (findings.partial.empty()) object.erase("partial");
  return object;
}
json::object to_json(const burnin::Cause& cause) { return described::to_object(cause); }

json::object to_json(const burnin::Verdict& verdict) {
  return {{"verdict", to_string(verdict.decision)},
          {"format", kVerdictFormat},
          {"causes", described::to_array(verdict.causes)},
          {"checked", described::to_array(verdict.checked)}};
}

std::vector<Part> parts_from(const json::value* value) {
  auto parts = described::from_array<Part>(value);
  for (auto& part : parts)
    if (part.pcie) bound(*part.pcie);
  return parts;
}

std::vector<PartialList> partial_from(const json::value* value) {
  return described::from_array<PartialList>(value);
}

std::vector<AuditFinding> audit_from(const json::value* value) {
  return described::from_array<AuditFinding>(value);
}

std::optional<inventory::FloorLook> floor_from(const json::value* value) {
  if (value == nullptr || !value->is_object()) return std::nullopt;
  return described::from_object<inventory::FloorLook>(value->get_object());
}

std::vector<Needed> needed_from(const json::value* value) {
  return described::from_array<Needed>(value);
}

burnin::Findings findings_from(const json::object& object) {
  auto findings = described::from_object<burnin::Findings>(object);
  findings.parts = parts_from(object.if_contains("parts"));
  return findings;
}

burnin::Verdict verdict_from(const json::object& object) {
  burnin::Verdict verdict;
  const auto* decision = object.if_contains("verdict");
  verdict.decision = described::Row<burnin::Decision>::take(decision ? *decision : json::value{});
  verdict.causes = described::from_array<burnin::Cause>(object.if_contains("causes"));
  verdict.checked = described::from_array<burnin::Checked>(object.if_contains("checked"));
  verdict.slow = burnin::slow_ones(compared_from(object.if_contains("compared")));
  // What is wrong with the same number says more.
  std::erase_if(verdict.slow, [&](const burnin::Compared& slow) {
    return std::ranges::any_of(verdict.causes, [&](const burnin::Cause& cause) {
      const auto measure = burnin::compared_measure(cause.criterion);
      return cause.part == slow.part &&
             (measure.empty() ? cause.criterion : measure) == slow.measure;
    });
  });
  return verdict;
}

}  // namespace cupel::record
