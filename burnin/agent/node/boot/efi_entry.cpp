#include "burnin/agent/node/boot/efi_entry.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "burnin/agent/node/boot/disks.h"
#include "burnin/agent/node/boot/partition_table.h"

namespace cupel::agent::boot {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& each : words) text += (text.empty() ? "" : ",") + each;
  return text;
}

bool is_entry_number(std::string_view text) {
  return text.size() == 4 &&
         text.find_first_not_of("0123456789ABCDEFabcdef") == std::string_view::npos;
}

/// "HD(1,GPT,7a0e…,0x800,0x100000)": the GUID, in lower case. Source: UEFI 2.10, 10.6.1.6.
std::string partition_in(std::string_view path) {
  constexpr std::size_t kGuid = 36;
  const auto node = path.find("HD(");
  if (node == path.npos) return {};
  const auto fields = split(path.substr(node, path.find(')', node) - node), ',');
  if (fields.size() < 3 || fields[1] != "GPT") return {};
  auto guid = lower_case(fields[2]);
  const bool whole =
      guid.size() == kGuid && guid.find_first_not_of("0123456789abcdef-") == guid.npos;
  return whole ? guid : std::string{};
}

/// "Boot0006* Cupel OS\tHD(1,GPT,…)/File(…)". Version 15 prints the path behind a tab only with -v.
std::optional<EfiEntry> entry_in(std::string_view line) {
  constexpr std::size_t kLabel = 10;
  if (!line.starts_with("Boot") || line.size() < kLabel || !is_entry_number(line.substr(4, 4)))
    return std::nullopt;
  const auto tab = std::min(line.find('\t'), line.size());
  const auto path = line.substr(tab);
  const auto is_at = [&](std::string_view node) { return path.find(node) != path.npos; };
  return EfiEntry{std::string{line.substr(4, 4)},
                  std::string{trimmed(line.substr(kLabel - 1, tab - kLabel + 1))}, line[8] == '*',
                  is_at("MAC(") || is_at("Uri(") || is_at("IPv4(") || is_at("IPv6("),
                  partition_in(path)};
}

class Nvram {
 public:
  explicit Nvram(const RunTool& run) : run_{run} {}

  Outcome<EfiBoot> read() const {
    TRY(const auto listed, ask({"efibootmgr", "-v"}));
    return parse_efibootmgr(listed);
  }
  Outcome<void> change(const Argv& words) const {
    Argv argv{"efibootmgr", "-q"};
    argv.insert(argv.end(), words.begin(), words.end());
    TRY(ask(argv));
    return {};
  }

 private:
  Outcome<std::string> ask(const Argv& argv) const {
    const auto ended = run_(argv, {}, kToolLimit);
    if (ended.status == 0) return ended.out;
    const bool full = ended.err.find("No space left") != std::string::npos;
    const auto message = failure_text(argv, ended);
    if (full)
      return Failure{
          Cause::kNvramFull,
          message + ". The firmware's NVRAM is full: remove old boot entries or reset it"};
    return Failure{Cause::kBootOrder, message};
  }
  const RunTool& run_;
};

/// GUIDs of all partitions of this machine. Nothing where a disk does not say which it has: one
/// that cannot be read, or that is a part of a firmware's RAID, whose table lies across its disks.
std::optional<std::set<std::string>> partitions_here(const Tree& tree, const std::string& written,
                                                     const PartitionTable& table,
                                                     const RunTool& run) {
  std::set<std::string> found;
  const auto add = [&](const PartitionTable& of) {
    for (const auto& each : of.entries) found.insert(lower_case(each.uuid));
  };
  add(table);
  for (const auto& disk : read_disks(tree)) {
    const auto path = tree.real(disk.path());
    const auto holds = [&](std::string_view what) {
      return std::ranges::find(disk.holds, what) != disk.holds.end();
    };
    if (holds("unreadable") || holds("isw_raid_member") || holds("ddf_raid_member"))
      return std::nullopt;
    if (path == written || !holds("gpt")) continue;
    const auto other = read_partition_table(path, run);
    if (!other) return std::nullopt;
    add(*other);
  }
  return found;
}

/// As many as a firmware has room for in any case, so that one that lists without end is bounded.
constexpr std::size_t kMostStale = 64;

std::vector<EfiEntry> stale_entries(const EfiBoot& now, const std::set<std::string>& here) {
  std::vector<EfiEntry> stale;
  for (const auto& each : now.entries)
    if (!each.partition.empty() && !here.contains(each.partition) && stale.size() < kMostStale)
      stale.push_back(each);
  return stale;
}

/// Of `candidates` what is in the NVRAM no more. A new entry may have the number of an old one.
std::vector<std::string> gone(const std::vector<EfiEntry>& candidates, const EfiBoot& now,
                              const std::string& own) {
  std::vector<std::string> names;
  for (const auto& each : candidates) {
    const bool stays =
        each.number != own && std::ranges::any_of(now.entries, [&](const EfiEntry& entry) {
          return entry.number == each.number && entry.label == each.label;
        });
    if (!stays) names.push_back("Boot" + each.number + " " + printable(each.label));
  }
  return names;
}

std::vector<std::string> expected_order(const EfiBoot& now, const std::string& own,
                                        const BootEntry& request) {
  std::vector<std::string> network, others;
  for (const auto& number : now.order) {
    if (number == own) continue;
    const auto entry = std::ranges::find(now.entries, number, &EfiEntry::number);
    const bool is_network = entry != now.entries.end() && entry->network;
    if (is_network && request.network_drop) continue;
    (is_network && request.network_first ? network : others).push_back(number);
  }
  network.push_back(own);
  network.insert(network.end(), others.begin(), others.end());
  return network;
}

Outcome<EfiEntry> make_entry(const Nvram& nvram, const EfiBoot& before, const std::string& disk,
                             int partition, const BootEntry& entry) {
  for (const auto& each : before.entries)
    if (each.label == entry.label) {
      TRY(nvram.change({"-b", each.number, "-B"}));
    }
  TRY(nvram.change(
      {"-c", "-d", disk, "-p", std::to_string(partition), "-L", entry.label, "-l", entry.efi}));
  TRY(const auto after, nvram.read());
  const auto made = std::ranges::find(after.entries, entry.label, &EfiEntry::label);
  if (made == after.entries.end() || !made->active)
    return Failure{Cause::kBootOrder, "the firmware does not keep the boot entry \"" + entry.label +
                                          "\": it is gone when it is read back"};
  return *made;
}

}  // namespace

EfiBoot parse_efibootmgr(std::string_view text) {
  constexpr std::string_view kOrder = "BootOrder:";
  EfiBoot found;
  for (const auto line : lines(text)) {
    if (line.starts_with(kOrder)) {
      for (const auto each : split(trimmed(line.substr(kOrder.size())), ','))
        if (is_entry_number(trimmed(each))) found.order.emplace_back(trimmed(each));
    } else if (auto entry = entry_in(line)) {
      found.entries.push_back(std::move(*entry));
    }
  }
  return found;
}

Outcome<void> check_efi_variables(const Tree& tree) {
  if (tree.exists("/sys/firmware/efi/efivars")) return {};
  return Failure{Cause::kNoEfiVariables,
                 "this machine booted without EFI variables, so that no boot entry can be made. "
                 "Boot it by UEFI, or install an image that a BIOS starts"};
}

Outcome<EnteredOs> enter_os(const Tree& tree, const std::string& disk, const BootEntry& entry,
                            const RunTool& run) {
  TRY(check_efi_variables(tree));
  TRY(const auto table, read_partition_table(disk, run));
  const auto system = efi_system_partition(table);
  if (!system)
    return Failure{Cause::kBootOrder,
                   disk + " has no EFI system partition. Use an image that boots by UEFI"};
  const Nvram nvram{run};
  TRY(const auto before, nvram.read());
  const auto here = partitions_here(tree, disk, table, run);
  auto old = here ? stale_entries(before, *here) : std::vector<EfiEntry>{};
  std::erase_if(old, [&](const EfiEntry& each) { return each.label == entry.label; });
  // First, so that a full NVRAM has room for ours.
  for (const auto& each : old) (void)nvram.change({"-b", each.number, "-B"});
  TRY(const auto own, make_entry(nvram, before, disk, system->number, entry));
  for (const auto& each : before.entries)
    if (each.label == entry.label) old.push_back(each);
  TRY(const auto now, nvram.read());
  const auto expected = expected_order(now, own.number, entry);
  if (expected != now.order) {
    TRY(nvram.change({"-o", joined(expected)}));
  }
  TRY(const auto kept, nvram.read());
  if (kept.order != expected)
    return Failure{Cause::kBootOrder, "the firmware keeps the boot order " + joined(kept.order) +
                                          ", not " + joined(expected)};
  return EnteredOs{"Boot" + own.number, expected, gone(old, kept, own.number)};
}

}  // namespace cupel::agent::boot
