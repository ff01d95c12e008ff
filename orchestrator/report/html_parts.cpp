#include "orchestrator/report/html_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "orchestrator/report/html_text.h"

namespace cupel::report {
namespace {

using inventory::Part;

/// A part, and who reported it.
struct SeenPart {
  Part part{};
  std::vector<std::string> slots{};
  std::vector<std::string> seen_by{};
};

void add_once(std::vector<std::string>& into, const std::string& text) {
  if (!text.empty() && std::ranges::find(into, text) == into.end()) into.push_back(text);
}

void fill(std::string& into, const std::string& from) {
  if (into.empty()) into = from;
}

/// The same part of several sources, whose serial number is the same or is reported by one alone.
void add_seen(std::vector<SeenPart>& all, const Part& part, const std::string& seen_by) {
  const auto same = [&](const SeenPart& known) {
    const auto& other = known.part;
    const bool agree = part.serial.empty() || other.serial.empty() || part.serial == other.serial;
    return other.kind == part.kind && other.name == part.name && agree;
  };
  auto found = std::ranges::find_if(all, same);
  if (found == all.end()) found = all.insert(all.end(), {part, {}, {}});
  fill(found->part.serial, part.serial);
  fill(found->part.model, part.model);
  fill(found->part.firmware, part.firmware);
  if (!found->part.size_bytes) found->part.size_bytes = part.size_bytes;
  add_once(found->slots, part.slot);
  add_once(found->seen_by, seen_by);
}

std::vector<SeenPart> parts_of_node(const record::NodeRecord& record) {
  std::vector<SeenPart> all;
  for (const auto& part : record.bmc_parts) add_seen(all, part, "BMC");
  for (const auto& [stage, findings] : record.findings)
    for (const auto& part : findings.parts) add_seen(all, part, stage);
  return all;
}

std::string list_of(const std::vector<std::string>& texts, std::string_view between) {
  std::string text;
  for (const auto& each : texts) text += (text.empty() ? "" : std::string{between}) + escaped(each);
  return text;
}

std::string one(const SeenPart& each) {
  auto text = escaped(each.part.name);
  if (!each.part.serial.empty()) text += fmt::format(" <i>{}</i>", escaped(each.part.serial));
  // "DIMM A1" of dimm A1 says nothing.
  std::vector<std::string> slots;
  for (const auto& slot : each.slots)
    if (!each.part.name.contains(slot) && !slot.contains(each.part.name) &&
        !slot.starts_with("DIMM"))
      slots.push_back(slot);
  if (!slots.empty()) text += " in " + list_of(slots, ", ");
  return text;
}

}  // namespace

std::string parts_html(const record::NodeRecord& record) {
  const auto all = parts_of_node(record);
  if (all.empty()) return {};
  // Those that are alike, in the order in which each kind was met.
  using Alike = std::tuple<inventory::PartKind, std::string, std::string, std::string, std::string>;
  std::map<Alike, std::string> rows;
  std::vector<Alike> order;
  for (const auto& each : all) {
    const auto size = each.part.size_bytes
                          ? plain(*each.part.size_bytes / (1024.0 * 1024 * 1024), 1) + " GiB"
                          : std::string{};
    Alike alike{each.part.kind, each.part.model, size, each.part.firmware,
                list_of(each.seen_by, ", ")};
    const auto [row, fresh] = rows.try_emplace(alike);
    if (fresh) order.push_back(alike);
    row->second += (fresh ? "" : ", ") + one(each);
  }
  auto text = table_begin({{"Kind", 9},
                           {"Model", 18},
                           {"Size", 8},
                           {"Firmware", 12},
                           {"Names, serial numbers, slots", 41},
                           {"Seen by", 12}});
  for (const auto& alike : order)
    text +=
        fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td class=sn>{}<td>{}",
                    to_string(std::get<0>(alike)), escaped(std::get<1>(alike)), std::get<2>(alike),
                    escaped(std::get<3>(alike)), rows.at(alike), std::get<4>(alike));
  return folded(record.node + ".parts", "Parts and serial numbers", text.append(kTableEnd));
}

}  // namespace cupel::report
