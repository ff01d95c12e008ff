#include "orchestrator/record/seen_parts.h"

#include <algorithm>
#include <set>

#include "burnin/stage.h"
#include "orchestrator/record/serials.h"

namespace cupel::record {
namespace {

using inventory::Part;
using inventory::PartKind;

constexpr std::string_view kBmcStep = "bmc-facts";

/// The chassis is one part, by whichever source it is reported.
std::vector<Part> without_system(std::vector<Part> parts) {
  std::erase_if(parts, [](const Part& each) { return each.kind == PartKind::system; });
  return parts;
}

/// As the BMC describes it, with the serial number by which the machine is known.
Part chassis_of(const NodeRecord& record) {
  const auto described = std::ranges::find(record.bmc_parts, PartKind::system, &Part::kind);
  Part chassis{.kind = PartKind::system, .name = "system"};
  if (described != record.bmc_parts.end()) chassis = *described;
  chassis.serial = chassis_serial(record);
  return chassis;
}

bool has_failed(const StepRecord& step) {
  if (step.outcome == "skipped") return step.skipped == Skipped::failure;
  return !step.outcome.empty() && step.outcome != "done";
}

bool lists_parts(std::string_view step) {
  const auto* stage = burnin::stage(step);
  return step == kBmcStep || (stage != nullptr && stage->lists != burnin::Lists::nothing);
}

}  // namespace

/// By source: the last reading of this run.
std::map<std::string, SeenParts::Reading, std::less<>> SeenParts::readings_of(
    const NodeRecord& record) {
  std::map<std::string, Reading, std::less<>> readings;
  if (record.bmc_reported || !record.bmc_parts.empty())
    readings[std::string{kBmcStep}] = {without_system(record.bmc_parts), record.bmc_partial};
  const auto take = [&](const std::string& stage, const burnin::Findings& findings) {
    if (!findings.parts.empty() || !findings.partial.empty())
      readings[std::string{burnin::base_name(stage)}] = {without_system(findings.parts),
                                                         findings.partial};
  };
  for (const auto& [stage, findings] : record.findings) take(stage, findings);
  for (const auto& step : record.steps)
    if (const auto found = record.findings.find(step.name); found != record.findings.end())
      take(found->first, found->second);
  return readings;
}

/// Kinds that the newest reading could not list in full, from an older one that could.
void SeenParts::complete(Source& source, const Reading& reading, engine::RunId run) {
  std::erase_if(source.partial, [&](const inventory::PartialList& each) {
    const bool has_kind = std::ranges::count(reading.parts, each.kind, &Part::kind) > 0;
    if (!has_kind || inventory::partial_list(reading.partial, each.kind) != nullptr) return false;
    for (const auto& part : reading.parts)
      if (part.kind == each.kind) source.older.push_back({.part = part, .run = run});
    return true;
  });
}

bool SeenParts::take(const NodeRecord& record, engine::RunId run) {
  if (newest_ && is_other_machine(record, *newest_)) return false;
  if (!newest_ && !chassis_serial(record).empty()) {
    newest_ = record;
    newest_run_ = run;
  }
  const auto readings = readings_of(record);
  for (const auto& [name, reading] : readings) {
    auto& source = sources_[name];
    if (source.is_read) {
      complete(source, reading, run);
      continue;
    }
    source.parts = reading.parts;
    source.partial = reading.partial;
    source.run = run;
    for (const auto& each : reading.partial)
      source.older.push_back(
          {.part = {.kind = each.kind, .name = {}, .source = each.source}, .run = run});
    source.is_read = true;
  }
  for (const auto& step : record.steps) {
    const auto base = burnin::base_name(step.name);
    if (!lists_parts(base) || readings.contains(base) || !has_failed(step)) continue;
    auto& source = sources_[std::string{base}];
    if (!source.is_read) source.failed_since = true;
  }
  return !all_read();
}

bool SeenParts::all_read() const {
  const auto is_read = [&](std::string_view name) {
    const auto source = sources_.find(name);
    return source != sources_.end() && source->second.is_read && source->second.partial.empty();
  };
  return is_read(kBmcStep) && std::ranges::all_of(burnin::stages(), [&](const auto& stage) {
           return stage.lists == burnin::Lists::nothing || is_read(stage.name);
         });
}

std::vector<Part> SeenParts::parts() const {
  std::vector<Part> all;
  for (const auto& [name, source] : sources_)
    if (source.is_read && !source.failed_since)
      all.insert(all.end(), source.parts.begin(), source.parts.end());
  if (newest_)
    all.push_back({.kind = PartKind::system, .name = "system", .serial = chassis_serial(*newest_)});
  return all;
}

std::vector<Part> SeenParts::unread() const {
  std::vector<Part> all;
  for (const auto& [name, source] : sources_) {
    if (source.is_read && source.failed_since)
      all.insert(all.end(), source.parts.begin(), source.parts.end());
    for (const auto& each : source.older) all.push_back(each.part);
  }
  return all;
}

std::vector<SeenParts::Report> SeenParts::reports() const {
  std::vector<Report> all, unread;
  for (const auto& [name, source] : sources_) {
    const bool is_current = !source.failed_since;
    for (const auto& part : source.parts)
      (is_current ? all : unread).push_back({part, name, source.run, is_current});
    for (const auto& each : source.older)
      if (!each.part.name.empty() || !each.part.serial.empty())
        unread.push_back({each.part, name, each.run, false});
  }
  if (newest_) all.push_back({chassis_of(*newest_), std::string{kBmcStep}, newest_run_, true});
  all.insert(all.end(), unread.begin(), unread.end());
  return all;
}

}  // namespace cupel::record
