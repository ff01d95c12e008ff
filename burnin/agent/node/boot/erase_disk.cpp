#include "burnin/agent/node/boot/erase_disk.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::agent::boot {
namespace {

// An ATA drive of many TB overwrites itself.
constexpr std::chrono::hours kEraseLimit{24};

Outcome<std::string> erase_tool(const RunTool& run, const Argv& argv) {
  const auto ended = run(argv, {}, kEraseLimit);
  if (ended.status == 0) return ended.out;
  return Failure{Cause::kErase, failure_text(argv, ended)};
}

Outcome<void> format_nvme(const std::string& path, const RunTool& run) {
  TRY(const auto formatted, erase_tool(run, {"nvme", "format", path, "--ses=1", "--force"}));
  (void)formatted;
  return {};
}

/// "not frozen" of hdparm -I: the words between "Security:" and its end.
bool says_not(std::string_view text, std::string_view word) {
  for (const auto line : lines(text)) {
    const auto all = words(line);
    if (!all.empty() && all.back() == word) return all.size() > 1 && all.front() == "not";
  }
  return true;  // not mentioned
}

Outcome<void> erase_ata(const std::string& path, const RunTool& run) {
  // Of this erase alone: it ends with the password gone.
  const std::string password = "cupel";
  TRY(const auto identity, erase_tool(run, {"hdparm", "-I", path}));
  if (!says_not(identity, "frozen"))
    return Failure{Cause::kErase, path +
                                      ": its security is frozen by the firmware. Power the "
                                      "machine off and on, or suspend it once"};
  TRY(const auto set,
      erase_tool(run, {"hdparm", "--user-master", "u", "--security-set-pass", password, path}));
  (void)set;
  auto erased =
      erase_tool(run, {"hdparm", "--user-master", "u", "--security-erase", password, path});
  if (erased) return {};
  // A password that is left would lock the disk at its next power-on.
  (void)run({"hdparm", "--user-master", "u", "--security-disable", password, path}, {}, kToolLimit);
  return std::move(erased).error();
}

Outcome<Disk> same_disk(const Tree& tree, const Disk& disk) {
  for (auto& each : read_disks(tree))
    if (each.name == disk.name && each.serial == disk.serial && each.wwn == disk.wwn)
      return std::move(each);
  return Failure{Cause::kErase, described(disk) + ": it is not there any more"};
}

}  // namespace

Outcome<void> erase_disk(const Tree& tree, const Disk& disk, Erase how, std::string_view wipe,
                         const RunTool& run) {
  if (how == Erase::kNone) return {};
  if (!is_named(disk, wipe))
    return Failure{Cause::kErase, described(disk) +
                                      ": it is erased only where the order says `wipe` with its "
                                      "serial number or WWN"};
  TRY(const auto before, same_disk(tree, disk));
  if (!before.used_by.empty()) return Failure{Cause::kErase, described(disk) + ": it is in use"};
  if (how == Erase::kNvme) {
    TRY(format_nvme(disk.path(), run));
  } else {
    TRY(erase_ata(disk.path(), run));
  }
  TRY(const auto after, same_disk(tree, disk));
  // What was encrypted with a key that is gone reads as anything.
  const bool empty = std::ranges::all_of(
      after.holds, [](const std::string& each) { return each == "data" || each == "partitions"; });
  if (empty) return {};
  return Failure{Cause::kErase, described(after) + ": it still holds that after its erase"};
}

}  // namespace cupel::agent::boot
