#include "orchestrator/requalify/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "burnin/stage.h"
#include "inventory/audit.h"
#include "inventory/versions.h"
#include "inventory/yaml.h"

namespace cupel::requalify {
namespace {

using burnin::Change;
using burnin::ChangeKind;
using inventory::Part;
using inventory::PartKind;
using record::NodeRecord;

constexpr std::string_view kByBmc = "the BMC";
constexpr double kSameSize = 0.02;  // share: sources round capacities

using Parts = std::vector<Part>;

std::string subject_of(const Part& part) {
  if (part.kind != PartKind::firmware) return std::string{to_string(part.kind)};
  return burnin::subject_of_version(burnin::requalify_rules(), part.name);
}

bool differ(std::string_view left, std::string_view right) {
  return !left.empty() && !right.empty() && trimmed(left) != trimmed(right);
}

bool differ(const std::optional<double>& left, const std::optional<double>& right) {
  if (!left || !right) return false;
  return std::abs(*left - *right) > kSameSize * std::max(std::abs(*left), std::abs(*right));
}

const Part* named(const Parts& parts, const Part& like) {
  const auto found = std::ranges::find_if(
      parts, [&](const Part& each) { return each.kind == like.kind && each.name == like.name; });
  return found == parts.end() ? nullptr : &*found;
}

const Part* with_serial(const Parts& parts, const Part& like) {
  if (like.serial.empty()) return nullptr;
  const auto found = std::ranges::find_if(parts, [&](const Part& each) {
    return each.kind == like.kind && each.serial == like.serial;
  });
  return found == parts.end() ? nullptr : &*found;
}

Change change(ChangeKind kind, const Part& part, std::string was, std::string is) {
  return {kind, subject_of(part), part.name, std::move(was), std::move(is)};
}

/// What is otherwise about one part that has its name still.
void compare_part(const Part& was, const Part& is, const Parts& before,
                  std::vector<Change>& changes) {
  if (differ(was.serial, is.serial)) {
    const auto* from = with_serial(before, is);
    if (from != nullptr)
      changes.push_back(change(ChangeKind::moved, is, "serial " + was.serial,
                               fmt::format("serial {}, which was {}", is.serial, from->name)));
    else
      changes.push_back(
          change(ChangeKind::replaced, is, "serial " + was.serial, "serial " + is.serial));
    return;
  }
  if (differ(was.model, is.model)) {
    changes.push_back(change(ChangeKind::replaced, is, was.model, is.model));
    return;
  }
  if (differ(was.size_bytes, is.size_bytes)) {
    const auto size = [](double bytes) { return plain(bytes / (1UL << 30U), 1) + " GiB"; };
    changes.push_back(
        change(ChangeKind::replaced, is, size(*was.size_bytes), size(*is.size_bytes)));
    return;
  }
  if (was.serial.empty() && !was.macs.empty() && !is.macs.empty() && was.macs != is.macs)
    changes.push_back(change(ChangeKind::replaced, is, was.macs.front(), is.macs.front()));
  if (differ(was.slot, is.slot) && !inventory::same_pci(was.slot, is.slot))
    changes.push_back(change(ChangeKind::moved, is, was.slot, is.slot));
  if (differ(was.firmware, is.firmware))
    changes.push_back(change(ChangeKind::firmware, is, was.firmware, is.firmware));
}

std::string serial_words(const Part& part) {
  return part.serial.empty() ? part.model : "serial " + part.serial;
}

void compare_sources(const Parts& before, const Parts& after, std::vector<Change>& changes) {
  for (const auto& is : after) {
    if (const auto* was = named(before, is)) {
      compare_part(*was, is, before, changes);
      continue;
    }
    const auto* from = with_serial(before, is);
    if (from != nullptr)
      changes.push_back(change(ChangeKind::moved, is, from->name, serial_words(is)));
    else if (is.kind == PartKind::firmware)
      changes.push_back(change(ChangeKind::firmware, is, "not reported", is.firmware));
    else
      changes.push_back(change(ChangeKind::added, is, {}, serial_words(is)));
  }
  for (const auto& was : before)
    if (named(after, was) == nullptr && with_serial(after, was) == nullptr)
      changes.push_back(change(ChangeKind::removed, was, serial_words(was), {}));
}

/// Serial numbers of a machine's own plates are not its parts: the chassis is compared by itself.
bool is_machine(const Part& part) { return part.kind == PartKind::system; }

void compare_facts(const NodeRecord& before, const NodeRecord& after,
                   std::vector<Change>& changes) {
  for (const auto& [name, was] : before.facts) {
    const auto found = after.facts.find(name);
    if (found == after.facts.end() || found->second == was) continue;
    if (name == "bmc.version" && inventory::abbreviates(was, found->second)) continue;
    if (name == "bios.version" || name == "bmc.version")
      changes.push_back({ChangeKind::firmware, name.substr(0, name.find('.')),
                         name.substr(0, name.find('.')), was, found->second});
    else if (name.starts_with(inventory::kBiosFact))
      changes.push_back({ChangeKind::setting, "setting", name, was, found->second});
  }
}

/// The same part under the names of two sources, or the same version as a part and as a fact.
bool is_same(const Change& one, const Change& other) {
  if (one.kind != other.kind || one.of != other.of) return false;
  if (one.part == other.part) return true;
  return one.was == other.was && one.is == other.is && one.kind != ChangeKind::setting;
}

/// What another source has told already is left out; of one source eight GPUs with another version
/// are eight changes.
void add_untold(const std::vector<Change>& more, std::vector<Change>& changes) {
  const auto told = changes.size();
  for (const auto& each : more) {
    const bool known =
        std::any_of(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(told),
                    [&](const Change& other) { return is_same(each, other); });
    if (!known) changes.push_back(each);
  }
}

}  // namespace

PartsBySource parts_by_source(const NodeRecord& record) {
  PartsBySource sources;
  if (!record.bmc_parts.empty()) sources[std::string{kByBmc}] = record.bmc_parts;
  for (const auto& step : record.steps) {
    const auto found = record.findings.find(step.name);
    if (found == record.findings.end() || found->second.parts.empty()) continue;
    sources["stage " + std::string{burnin::base_name(step.name)}] = found->second.parts;
  }
  return sources;
}

std::vector<Change> changes_between(const NodeRecord& before, const NodeRecord& after) {
  std::vector<Change> changes;
  auto was = parts_by_source(before);
  auto is = parts_by_source(after);
  // The node's own names come first: gpu3, mlx5_5. A BMC has names of its own for the same parts.
  std::vector<std::string> order;
  for (const auto& [source, parts] : was)
    if (is.contains(source)) order.push_back(source);
  std::ranges::stable_partition(order, [](const auto& each) { return each != kByBmc; });
  for (const auto& source : order) {
    std::erase_if(was[source], is_machine);
    std::erase_if(is[source], is_machine);
    std::vector<Change> found;
    compare_sources(was[source], is[source], found);
    add_untold(found, changes);
  }
  std::vector<Change> found;
  compare_facts(before, after, found);
  add_untold(found, changes);
  return changes;
}

std::vector<std::string> silent_sources(const NodeRecord& before, const NodeRecord& after) {
  std::vector<std::string> silent;
  const auto is = parts_by_source(after);
  constexpr std::string_view kLooks[] = {kByBmc, "stage node-facts", "stage gpu-facts",
                                         "stage facts"};
  for (const auto& [source, parts] : parts_by_source(before))
    if (std::ranges::find(kLooks, source) != std::end(kLooks) && !is.contains(source))
      silent.push_back(source);
  return silent;
}

Result<Change> declared_change(const NodeRecord& before, const std::string& what) {
  constexpr std::string_view kCable = "cable:";
  if (what.starts_with(kCable) && what.size() > kCable.size())
    return Change{ChangeKind::cable, "cable", what.substr(kCable.size()), {}, {}};
  for (const auto* version : {"bios", "driver", "kernel"})
    if (what == version) return Change{ChangeKind::firmware, version, version, {}, {}};
  if (what == "bmc") return Change{ChangeKind::replaced, "bmc", what, {}, {}};
  std::vector<std::string> known;
  for (const auto& [source, parts] : parts_by_source(before))
    for (const auto& part : parts) {
      if (part.kind == PartKind::firmware || is_machine(part)) continue;
      if (part.name == what)
        return Change{ChangeKind::replaced, subject_of(part), part.name, serial_words(part), {}};
      known.push_back(part.name);
    }
  return Error{
      Code::kInvalid,
      fmt::format("{} had no part '{}'{}; its parts: cupel show {}", before.node, printable(what),
                  inventory::did_you_mean(what, std::span<const std::string>{known}), before.node)};
}

std::vector<std::string> unseen(std::span<const Change> declared, std::span<const Change> seen) {
  std::vector<std::string> names;
  for (const auto& each : declared) {
    const bool told_by_serial = each.kind == ChangeKind::replaced && each.was.contains("serial ");
    const bool found = std::ranges::any_of(
        seen, [&](const Change& other) { return other.of == each.of && other.part == each.part; });
    if (told_by_serial && !found) names.push_back(each.part);
  }
  return names;
}

}  // namespace cupel::requalify
