#include "orchestrator/record/former_codec.h"

#include <boost/json.hpp>
#include <cmath>
#include <string>
#include <string_view>

#include "base/text.h"

namespace cupel::record {
namespace {

namespace json = boost::json;

struct NumberWithUnit {
  double value = 0;
  std::string unit{};
};

/// "12.5 GB/s" in its two parts.
std::optional<NumberWithUnit> number_with_unit(std::string_view text) {
  const auto blank = text.find(' ');
  const auto value = number<double>(text.substr(0, blank));
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return NumberWithUnit{*value, std::string{blank == text.npos ? "" : text.substr(blank + 1)}};
}

/// "81.5 GiB (SM 17, round 3)": what stands in the brackets goes into `place`.
void read_measured(std::string_view text, burnin::Checked& into) {
  const auto bracket = text.find(" (");
  if (bracket != text.npos && text.ends_with(')')) {
    into.place = text.substr(bracket + 2, text.size() - bracket - 3);
    text = text.substr(0, bracket);
  }
  const auto found = number_with_unit(text);
  if (!found) return;
  into.quantity.value = found->value;
  into.quantity.unit = found->unit;
}

/// "at least 79 GiB", "at most 0 errors", "exactly 8 GPUs", "between 1 and 2 V".
void read_limits(std::string_view text, burnin::Quantity& into) {
  const auto behind = [&](std::string_view head) {
    return text.starts_with(head) ? number_with_unit(text.substr(head.size())) : std::nullopt;
  };
  auto least = behind("at least "), most = behind("at most ");
  if (const auto exactly = behind("exactly ")) least = most = exactly;
  constexpr std::string_view kBetween = "between ", kAnd = " and ";
  if (const auto parted = text.find(kAnd); text.starts_with(kBetween) && parted != text.npos) {
    least = number_with_unit(text.substr(kBetween.size(), parted - kBetween.size()));
    most = number_with_unit(text.substr(parted + kAnd.size()));
  }
  if (least) into.at_least = least->value;
  if (most) into.at_most = most->value;
  const auto unit = most ? most->unit : least ? least->unit : std::string{};
  if (into.value && into.unit != unit)
    into.unit_of_limits = unit;
  else
    into.unit = unit;
}

burnin::Checked checked_from(const json::object& object) {
  const auto text = [&](std::string_view key) {
    const auto* value = object.if_contains(key);
    return std::string{
        value != nullptr && value->is_string() ? std::string_view{value->get_string()} : ""};
  };
  burnin::Checked checked;
  checked.stage = text("stage");
  checked.part = text("part");
  checked.measure = text("measure");
  checked.source = text("source");
  read_measured(text("measured"), checked);
  read_limits(text("wanted"), checked.quantity);
  const auto* met = object.if_contains("met");
  const bool is_met = met != nullptr && met->is_bool() && met->get_bool();
  const bool compared = checked.quantity.value && checked.quantity.unit_of_limits.empty();
  if (is_met)
    checked.met = burnin::Met::met;
  else
    checked.met = compared ? burnin::Met::failed : burnin::Met::missing;
  return checked;
}

}  // namespace

std::vector<burnin::Checked> former_checked(const json::value* value) {
  std::vector<burnin::Checked> all;
  const auto* array = value == nullptr ? nullptr : value->if_array();
  if (array == nullptr) return all;
  for (const auto& each : *array)
    if (each.is_object()) all.push_back(checked_from(each.get_object()));
  return all;
}

std::optional<inventory::PartCount> former_count(const inventory::AuditFinding& finding) {
  const bool counts = finding.finding == inventory::Finding::missing ||
                      finding.finding == inventory::Finding::extra;
  if (!counts) return std::nullopt;
  const auto there = number<int>(finding.observed);
  const auto blank = finding.expected.find(' ');
  const auto expected = number<int>(std::string_view{finding.expected}.substr(0, blank));
  if (!there || !expected) return std::nullopt;
  return inventory::PartCount{*there, *expected};
}

}  // namespace cupel::record
