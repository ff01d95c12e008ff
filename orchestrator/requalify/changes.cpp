#include "orchestrator/requalify/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "burnin/stage.h"
#include "inventory/audit.h"
#include "inventory/pci_address.h"
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

/// Where one part of the kind sits there. nullptr: none does, several do, or the slot is not known.
const Part* at_slot(const Parts& parts, const Part& like) {
  if (like.slot.empty()) return nullptr;
  const Part* only = nullptr;
  for (const auto& each : parts) {
    if (each.kind != like.kind || each.slot.empty() || !inventory::same_pci(each.slot, like.slot))
      continue;
    if (only != nullptr) return nullptr;
    only = &each;
  }
  return only;
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

/// The place of a part that another part's name may be now.
std::string former_place(const Part& from, const Part& is) {
  return from.name == is.name && !from.slot.empty() ? "at " + from.slot : from.name;
}

void compare_serials(const Part& was, const Part& is, const Parts& before,
                     std::vector<Change>& changes) {
  auto words = "serial " + is.serial;
  const auto* from = with_serial(before, is);
  if (from != nullptr) words += ", which was " + former_place(*from, is);
  if (was.name != is.name) words += fmt::format(" ({} was {})", is.slot, was.name);
  changes.push_back(change(from != nullptr ? ChangeKind::moved : ChangeKind::replaced, is,
                           "serial " + was.serial, std::move(words)));
}

/// What is otherwise about one part that has its place still.
void compare_part(const Part& was, const Part& is, const Parts& before,
                  std::vector<Change>& changes) {
  if (differ(was.serial, is.serial)) return compare_serials(was, is, before, changes);
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

/// Of each part of `after` the one of `before` that it is compared with; nullptr: none. By slot
/// where both readings name it: a kernel may number drives anew at each boot. A part whose slot is
/// new is known by its serial number. The rest goes by name.
std::vector<const Part*> partners_of(const Parts& before, const Parts& after) {
  std::vector<const Part*> partners(after.size());
  std::set<const Part*> taken;
  const auto pair_by = [&](auto partner_of) {
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (partners[i] != nullptr) continue;
      const Part* was = partner_of(after[i]);
      if (was != nullptr && taken.insert(was).second) partners[i] = was;
    }
  };
  const auto has_slot = [](const Parts& parts, const Part& part) {
    return at_slot(parts, part) != nullptr;
  };
  pair_by([&](const Part& is) { return has_slot(after, is) ? at_slot(before, is) : nullptr; });
  pair_by([&](const Part& is) {
    const auto* was = has_slot(after, is) ? with_serial(before, is) : nullptr;
    return was != nullptr && has_slot(before, *was) ? was : nullptr;
  });
  pair_by([&](const Part& is) { return named(before, is); });
  return partners;
}

using Partial = std::span<const inventory::PartialList>;

/// What a list that is not whole lacks is no part that was added or removed. The partial lists name
/// the kinds of which the two readings do not list all.
void compare_sources(const Parts& before, const Parts& after, Partial was_partial,
                     Partial is_partial, std::vector<Change>& changes) {
  const auto is_whole = [](Partial partial, const Part& part) {
    return inventory::partial_list(partial, part.kind) == nullptr;
  };
  const auto partners = partners_of(before, after);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto& is = after[i];
    if (partners[i] != nullptr) {
      compare_part(*partners[i], is, before, changes);
      continue;
    }
    const auto* from = with_serial(before, is);
    if (from != nullptr)
      changes.push_back(change(ChangeKind::moved, is, from->name, serial_words(is)));
    else if (is.kind == PartKind::firmware)
      changes.push_back(change(ChangeKind::firmware, is, "not reported", is.firmware));
    else if (is_whole(was_partial, is))
      changes.push_back(change(ChangeKind::added, is, {}, serial_words(is)));
  }
  for (const auto& was : before)
    if (is_whole(is_partial, was) && std::ranges::find(partners, &was) == partners.end() &&
        with_serial(after, was) == nullptr)
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

/// What another source has reported already is left out; of one source eight GPUs with another
/// version are eight changes.
void add_unreported(const std::vector<Change>& more, std::vector<Change>& changes) {
  const auto reported = changes.size();
  for (const auto& each : more) {
    const bool known =
        std::any_of(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(reported),
                    [&](const Change& other) { return is_same(each, other); });
    if (!known) changes.push_back(each);
  }
}

}  // namespace

const Part* in_place_of(const Part& like, const Parts& then, const Parts& now) {
  const bool has_slot = at_slot(then, like) != nullptr;
  if (const auto* there = has_slot ? at_slot(now, like) : nullptr) return there;
  const auto* there = named(now, like);
  const bool elsewhere = there != nullptr && has_slot && at_slot(now, *there) != nullptr;
  return elsewhere ? nullptr : there;
}

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

namespace {

/// The kinds of which the newest reading of a source does not list all.
Partial partial_of(const NodeRecord& record, std::string_view source) {
  if (source == kByBmc) return record.bmc_partial;
  Partial partial;
  for (const auto& step : record.steps)
    if (const auto found = record.findings.find(step.name);
        found != record.findings.end() && !found->second.parts.empty() &&
        source == "stage " + std::string{burnin::base_name(step.name)})
      partial = found->second.partial;
  return partial;
}

}  // namespace

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
    compare_sources(was[source], is[source], partial_of(before, source), partial_of(after, source),
                    found);
    add_unreported(found, changes);
  }
  std::vector<Change> found;
  compare_facts(before, after, found);
  add_unreported(found, changes);
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

std::vector<std::string> partial_sources(const NodeRecord& record) {
  std::vector<std::string> words;
  for (const auto& [source, parts] : parts_by_source(record))
    for (const auto& each : partial_of(record, source))
      words.push_back(fmt::format("{} could not list all {}s: {}: {}", source, to_string(each.kind),
                                  each.source, each.why));
  return words;
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

bool is_of_same_part(const Change& declared, const Change& seen) {
  if (declared.of != seen.of) return false;
  return declared.part == seen.part ||
         (declared.was.starts_with("serial ") && declared.was == seen.was);
}

std::vector<std::string> unseen(std::span<const Change> declared, std::span<const Change> seen) {
  std::vector<std::string> names;
  for (const auto& each : declared) {
    const bool reported_by_serial =
        each.kind == ChangeKind::replaced && each.was.contains("serial ");
    const bool found = std::ranges::any_of(
        seen, [&](const Change& other) { return is_of_same_part(each, other); });
    if (reported_by_serial && !found) names.push_back(each.part);
  }
  return names;
}

}  // namespace cupel::requalify
