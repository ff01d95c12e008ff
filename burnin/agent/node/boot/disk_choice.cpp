#include "burnin/agent/node/boot/disk_choice.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace cupel::agent::boot {
namespace {

bool fits(const Disk& disk, const DiskHint& hint) {
  return (hint.serial.empty() || disk.serial == trimmed(hint.serial)) &&
         (hint.wwn.empty() || disk.wwn == plain_wwn(hint.wwn)) &&
         (hint.model.empty() || disk.model == trimmed(hint.model)) &&
         disk.size >= hint.size_min.value_or(0) && disk.size <= hint.size_max.value_or(UINT64_MAX);
}

std::string hint_text(const DiskHint& hint) {
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    text += (text.empty() ? "" : ", ") + std::string{name} + " " + printable(value);
  };
  const auto bytes = [](const auto& size) { return size ? std::to_string(*size) : std::string{}; };
  add("serial", hint.serial);
  add("wwn", hint.wwn);
  add("model", hint.model);
  add("at least bytes", bytes(hint.size_min));
  add("at most bytes", bytes(hint.size_max));
  return text;
}

std::string list(const std::vector<Disk>& disks) {
  constexpr std::size_t kMost = 16;
  if (disks.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, disks.size()); ++i)
    text += (i == 0 ? "" : "; ") + described(disks[i]);
  if (disks.size() > kMost) text += "; and " + std::to_string(disks.size() - kMost) + " more";
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& each : words) text += (text.empty() ? "" : ", ") + each;
  return text;
}

Outcome<void> must_be_free(const Disk& disk, std::string_view wipe) {
  if (disk.read_only) return Failure{Cause::kDiskRefused, described(disk) + ": it is read-only"};
  if (!disk.used_by.empty())
    return Failure{Cause::kDiskRefused, described(disk) +
                                            ": it is in use: " + joined(disk.used_by) +
                                            ". Release it in the RAM system"};
  if (is_named(disk, wipe)) return {};
  if (disk.usb || disk.removable)
    return Failure{Cause::kDiskRefused,
                   described(disk) + ": a USB or removable disk is written only where the order " +
                       "says `wipe` with its serial number"};
  if (disk.holds.empty() || std::ranges::count(disk.holds, "cupel-unfinished") > 0) return {};
  return Failure{Cause::kDiskNotEmpty,
                 described(disk) + ". Empty it, or set `wipe` to its serial number" +
                     (wipe.empty() ? "" : " (the order says " + printable(wipe) + ")")};
}

/// Before it is erased or written: with other sectors the kernel finds none of an image's
/// partitions.
Outcome<void> must_count_as_images(const Disk& disk) {
  constexpr std::uint64_t kOfImages = 512;
  if (disk.sector == kOfImages) return {};
  return Failure{Cause::kDiskRefused,
                 described(disk) + ": its sectors have " + std::to_string(disk.sector) +
                     " bytes, and partition tables of images count in sectors of 512. Format it "
                     "with 512 (nvme format --lbaf; a virtual disk: in its RAID controller), or "
                     "name another disk"};
}

}  // namespace

bool is_named(const Disk& disk, std::string_view wipe) {
  const bool by_serial = !disk.serial.empty() && trimmed(wipe) == disk.serial;
  return by_serial || (!disk.wwn.empty() && plain_wwn(wipe) == disk.wwn);
}

Outcome<Disk> choose_disk(const std::vector<Disk>& disks, const DiskHint& hint,
                          std::string_view wipe) {
  const bool by_size = !hint.model.empty() && (hint.size_min || hint.size_max);
  if (hint.serial.empty() && hint.wwn.empty() && !by_size)
    return Failure{Cause::kOrder,
                   "the order names no disk: it must say serial, wwn, or model and size"};
  std::vector<Disk> found;
  std::ranges::copy_if(disks, std::back_inserter(found),
                       [&](const Disk& disk) { return fits(disk, hint); });
  if (found.empty())
    return Failure{Cause::kDiskMissing, "no disk is " + hint_text(hint) +
                                            ". This machine has: " + list(disks) +
                                            ". Correct the disk in the playbook or the inventory"};
  if (found.size() > 1)
    return Failure{Cause::kDiskAmbiguous, std::to_string(found.size()) + " disks are " +
                                              hint_text(hint) + ": " + list(found) +
                                              ". Name one by its serial number"};
  TRY(must_be_free(found.front(), wipe));
  TRY(must_count_as_images(found.front()));
  return std::move(found.front());
}

}  // namespace cupel::agent::boot
