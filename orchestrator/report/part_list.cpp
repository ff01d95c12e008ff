#include "orchestrator/report/part_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/csv.h"
#include "inventory/asset_list.h"
#include "inventory/compare_assets.h"
#include "inventory/identity.h"
#include "orchestrator/report/summary.h"

namespace cupel::report {
namespace {

using inventory::Part;
using inventory::PartKind;
using PartKey = std::pair<PartKind, std::string>;

void add_once(std::vector<std::string>& all, const std::string& word) {
  if (!word.empty() && std::ranges::find(all, word) == all.end()) all.push_back(word);
}

void fill_field(std::string& field, const std::string& reported) {
  if (field.empty()) field = reported;
}

void merge_report(ListedPart& into, const record::SeenParts::Report& report) {
  // What an older run read may hold no more: it fills no gap of a newer reading.
  if (into.is_current && !report.is_current) return;
  add_once(into.names, report.part.name);
  add_once(into.sources, report.source);
  fill_field(into.part.model, report.part.model);
  fill_field(into.part.manufacturer, report.part.manufacturer);
  fill_field(into.part.part_number, report.part.part_number);
  fill_field(into.part.firmware, report.part.firmware);
  fill_field(into.part.slot, report.part.slot);
  if (!into.part.size_bytes) into.part.size_bytes = report.part.size_bytes;
  into.run = std::max(into.run, report.run);
}

/// The report of the card of which it is a port; nullptr: it is none.
const record::SeenParts::Report* card_of(const record::SeenParts::Report& report,
                                         std::span<const record::SeenParts::Report> reports) {
  const auto found = std::ranges::find_if(reports, [&](const auto& each) {
    return each.is_current >= report.is_current && inventory::is_port_of(report.part, each.part);
  });
  return found == reports.end() ? nullptr : &*found;
}

/// The machine itself before its parts.
int place_of_kind(const ListedPart& part) {
  return part.part.kind == PartKind::system ? -1 : static_cast<int>(part.part.kind);
}

}  // namespace

std::vector<ListedPart> list_parts(const std::string& node,
                                   std::span<const record::SeenParts::Report> reports,
                                   const RunTimes& began) {
  std::vector<ListedPart> all;
  std::map<PartKey, std::size_t> known;
  // Cards before the interfaces that are their ports.
  std::vector<const record::SeenParts::Report*> ordered;
  for (const bool ports : {false, true})
    for (const auto& report : reports)
      if ((card_of(report, reports) != nullptr) == ports) ordered.push_back(&report);
  for (const auto* each : ordered) {
    const auto& report = *each;
    auto at = all.size();
    const auto* card = card_of(report, reports);
    const auto& counted = card == nullptr ? report.part : card->part;
    if (!inventory::is_no_serial(counted.serial)) {
      PartKey key{inventory::counted_as(counted.kind), inventory::serial_key(counted.serial)};
      at = known.try_emplace(std::move(key), at).first->second;
    }
    if (at == all.size())
      all.push_back(
          {.node = node, .part = report.part, .run = report.run, .is_current = report.is_current});
    merge_report(all[at], report);
  }
  for (auto& each : all)
    if (const auto run = began.find(each.run); run != began.end()) each.seen = run->second;
  std::ranges::stable_sort(all, {}, place_of_kind);
  return all;
}

PartSheet parts_csv(std::span<const ListedPart> parts, bool rehearsal, bool all) {
  PartSheet sheet;
  sheet.text =
      csv_line({"Node", "Kind", "Serial", "Model", "Slot", "Part Number", "Name", "Manufacturer",
                "Firmware", "Size Bytes", "Source", "Run", "Seen", "Current", "Rehearsal"});
  std::set<PartKey> listed;
  for (const auto& each : parts) {
    const auto& part = each.part;
    if (!all && !inventory::is_listable_serial(part.serial)) {
      ++sheet.without_serial;
      continue;
    }
    // That two machines report one is a finding of the audit, and no second row of a list.
    if (!all && !listed.emplace(part.kind, inventory::serial_key(part.serial)).second) {
      ++sheet.twice;
      continue;
    }
    sheet.text += csv_line(
        {each.node, to_string(part.kind), part.serial, part.model, part.slot, part.part_number,
         fmt::format("{}", fmt::join(each.names, ", ")), part.manufacturer, part.firmware,
         part.size_bytes ? fmt::format("{:.0f}", *part.size_bytes) : std::string{},
         fmt::format("{}", fmt::join(each.sources, ", ")), fmt::format("{}", each.run),
         each.seen == engine::WallTime{} ? std::string{} : utc(each.seen),
         each.is_current ? "yes" : "no", rehearsal ? "REHEARSAL" : ""});
  }
  return sheet;
}

}  // namespace cupel::report
