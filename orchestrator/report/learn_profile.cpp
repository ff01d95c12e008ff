#include "orchestrator/report/learn_profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <map>

#include "base/text.h"
#include "burnin/stage.h"
#include "inventory/node_range.h"

namespace cupel::report {
namespace {

using inventory::Criterion;
using inventory::Part;
using inventory::PartKind;

constexpr double kBeyond = 0.03;  // of the worst number: machines of a kind differ by that much
constexpr double kMib = 1048576;

/// A text as YAML takes it for one, whatever stands in it.
std::string quoted_yaml(std::string_view text) {
  return boost::json::serialize(boost::json::value(printable(text)));
}

/// The longest list of a kind that one source reported.
std::vector<Part> parts_of(const record::NodeRecord& record, PartKind kind) {
  std::vector<Part> most;
  const auto take = [&](const std::vector<Part>& parts) {
    std::vector<Part> found;
    for (const auto& each : parts)
      if (each.kind == kind) found.push_back(each);
    if (found.size() > most.size()) most = std::move(found);
  };
  take(record.bmc_parts);
  for (const auto& [stage, findings] : record.findings) take(findings.parts);
  return most;
}

/// What all parts of all machines have in common.
struct CommonParts {
  std::optional<std::size_t> count{};
  std::optional<std::string> model{};
  std::optional<double> bytes{};
  bool same_count = true, same_model = true, same_size = true;

  void take(const std::vector<Part>& parts) {
    same_count = same_count && count.value_or(parts.size()) == parts.size();
    count = parts.size();
    for (const auto& each : parts) {
      same_model = same_model && model.value_or(each.model) == each.model;
      model = each.model;
      const auto size = each.size_bytes.value_or(0);
      same_size = same_size && bytes.value_or(size) == size;
      bytes = size;
    }
  }
};

std::string part_line(PartKind kind, const CommonParts& common) {
  const auto word = to_string(kind);
  if (!common.same_count) return fmt::format("  # {}: these machines differ in how many\n", word);
  if (common.count.value_or(0) == 0) return {};
  auto line = fmt::format("  {}: {{count: {}", word, *common.count);
  if (common.same_model && common.model && !common.model->empty())
    line += fmt::format(", model: {}", quoted_yaml(*common.model));
  if (common.same_size && common.bytes.value_or(0) >= kMib)
    line += fmt::format(", size: {:.0f}MiB", *common.bytes / kMib);
  return line + ", source: learned}\n";
}

std::string parts_yaml(std::span<const GoodMachine> machines) {
  using enum PartKind;
  std::string text;
  for (const auto kind : {gpu, cpu, dimm, nvme, psu, hca, nic, switch_chip}) {
    CommonParts common;
    for (const auto& machine : machines) common.take(parts_of(*machine.record, kind));
    text += part_line(kind, common);
  }
  return text.empty() ? text : "parts:\n" + text;
}

struct Numbers {
  std::vector<double> all{};
  std::size_t missing = 0;
};

/// What the criterion is about, of all machines, in every occurrence of its stage.
Numbers numbers_of(const Criterion& criterion, std::span<const GoodMachine> machines) {
  Numbers numbers;
  for (const auto& machine : machines)
    for (const auto& part : criterion.parts) {
      bool found = false;
      for (const auto& [stage, findings] : machine.record->findings) {
        if (burnin::base_name(stage) != criterion.stage) continue;
        for (const auto& each : findings.measurements)
          if (each.name == criterion.measure && each.part == part && each.unit == criterion.unit &&
              std::isfinite(each.value)) {
            numbers.all.push_back(each.value);
            found = true;
          }
      }
      numbers.missing += !found;
    }
  return numbers;
}

std::string limit_text(double value) { return plain(value, 4); }

/// Only limits that say how fast or how much: a count of errors is not learned.
std::string criterion_line(const Criterion& base, std::span<const GoodMachine> machines) {
  const bool learns = (base.at_least && *base.at_least > 0) || (base.at_most && *base.at_most > 0);
  const bool whole = base.at_least && base.at_most;
  const bool any = base.parts.size() == 1 && base.parts.front().contains('*');
  if (!learns || whole || any) return {};
  const auto numbers = numbers_of(base, machines);
  if (numbers.all.empty() || numbers.missing > 0) return {};
  const auto [lowest, highest] = std::ranges::minmax(numbers.all);
  auto line = fmt::format("    - {{measure: {}", base.measure);
  if (!base.parts.front().empty())
    line += fmt::format(", parts: {}", quoted_yaml(inventory::fold(base.parts)));
  if (base.at_least)
    line +=
        fmt::format(", at_least: {}", limit_text(std::max(*base.at_least, lowest * (1 - kBeyond))));
  else
    line +=
        fmt::format(", at_most: {}", limit_text(std::min(*base.at_most, highest * (1 + kBeyond))));
  if (!base.unit.empty()) line += fmt::format(", unit: {}", quoted_yaml(base.unit));
  if (!base.remedy.empty()) line += fmt::format(", remedy: {}", quoted_yaml(base.remedy));
  const auto source =
      fmt::format("learned: {} to {} of {} numbers of {} machines, and 3 % beyond",
                  limit_text(lowest), limit_text(highest), numbers.all.size(), machines.size());
  return line + fmt::format(", source: {}}}\n", quoted_yaml(source));
}

std::string criteria_yaml(const inventory::Profile& base, std::span<const GoodMachine> machines) {
  std::vector<std::string> order;
  std::map<std::string, std::string> stages;
  for (const auto& criterion : base.criteria) {
    const auto line = criterion_line(criterion, machines);
    if (line.empty()) continue;
    if (!stages.contains(criterion.stage)) order.push_back(criterion.stage);
    stages[criterion.stage] += line;
  }
  std::string text;
  for (const auto& stage : order) text += fmt::format("  {}:\n{}", stage, stages[stage]);
  return text.empty() ? text : "criteria:\n" + text;
}

}  // namespace

Result<std::string> learn_profile(const std::string& name, const inventory::Profile& base,
                                  std::span<const GoodMachine> machines) {
  if (machines.empty())
    return Error{Code::kInvalid, "a profile is learned from one machine or more"};
  std::vector<std::string> from;
  for (const auto& each : machines) from.push_back(fmt::format("{} (run {})", each.node, each.run));
  return fmt::format(
      "# Learned from {}.\n# A machine that is slow alike is not found by numbers of its own: hold "
      "them against datasheets.\nprofile: {}\nextends: {}\ndescription: {}\n{}{}",
      fmt::join(from, ", "), name, base.name,
      quoted_yaml(fmt::format("{}, as {} good machines are", base.description, machines.size())),
      parts_yaml(machines), criteria_yaml(base, machines));
}

}  // namespace cupel::report
