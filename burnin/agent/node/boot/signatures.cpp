#include "burnin/agent/node/boot/signatures.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "burnin/agent/node/boot/image_content.h"

namespace cupel::agent::boot {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view name;
  std::int64_t offset;  // below 0: from the end
  std::string_view bytes;
};

// Source: libblkid's superblock probes (util-linux, libblkid/src/superblocks and partitions).
constexpr std::array kSignatures{
    Signature{"gpt", 512, "EFI PART"sv},
    Signature{"gpt", 4096, "EFI PART"sv},
    Signature{"gpt", -512, "EFI PART"sv},
    Signature{"gpt", -4096, "EFI PART"sv},
    Signature{"ext4", 1024 + 56, "\x53\xEF"sv},
    Signature{"xfs", 0, "XFSB"sv},
    Signature{"btrfs", 65536 + 64, "_BHRfS_M"sv},
    Signature{"f2fs", 1024, "\x10\x20\xF5\xF2"sv},
    Signature{"bcachefs", 4096 + 24, "\xC6\x85\x73\xF6\x66\xCE\x90\xA9"sv},
    Signature{"vfat", 82, "FAT32   "sv},
    Signature{"vfat", 54, "FAT16   "sv},
    Signature{"vfat", 54, "FAT12   "sv},
    Signature{"exfat", 3, "EXFAT   "sv},
    Signature{"ntfs", 3, "NTFS    "sv},
    Signature{"iso9660", 32769, "CD001"sv},
    Signature{"squashfs", 0, "hsqs"sv},
    Signature{"swap", 4096 - 10, "SWAPSPACE2"sv},
    Signature{"crypto_LUKS", 0, "LUKS\xBA\xBE"sv},
    Signature{"LVM2_member", 0, "LABELONE"sv},
    Signature{"LVM2_member", 512, "LABELONE"sv},
    Signature{"LVM2_member", 1024, "LABELONE"sv},
    Signature{"LVM2_member", 1536, "LABELONE"sv},
    Signature{"linux_raid_member", 0, "\xFC\x4E\x2B\xA9"sv},
    Signature{"linux_raid_member", 4096, "\xFC\x4E\x2B\xA9"sv},
    Signature{"ddf_raid_member", -512, "\xDE\x11\xDE\x11"sv},
    Signature{"isw_raid_member", -1024, "Intel Raid ISM Cfg Sig. "sv},
    Signature{"bcache", 4096 + 24, "\xC6\x85\x73\xF6\x4E\x1A\x45\xCA"sv},
    Signature{"ceph_bluestore", 0, "bluestore block device"sv},
    Signature{"VMFS", 1048576, "\x0D\xD0\x01\xC0"sv},
    Signature{"cupel-unfinished", static_cast<std::int64_t>(kUnfinishedAt), kUnfinished},
};

std::uint64_t place(std::int64_t offset, std::uint64_t size) {
  const auto distance = static_cast<std::uint64_t>(offset < 0 ? -offset : offset);
  if (offset >= 0) return distance;
  return size >= distance ? size - distance : size;
}

/// Linux's metadata 0.90 and 1.0 stand at the end. Source: md(4).
bool is_raid_at_end(const ReadAt& read, std::uint64_t size) {
  constexpr auto kMagic = "\xFC\x4E\x2B\xA9"sv;
  constexpr std::uint64_t kOld = 65536;
  if (size < 2 * kOld) return false;
  const auto old = (size / kOld - 1) * kOld, newer = (size - 8192) / 4096 * 4096;
  return read(old, 4) == kMagic || read(newer, 4) == kMagic;
}

/// One of the uberblocks of the first or the last label. Source: ZFS on-disk specification, 1.3.
bool is_zfs(const ReadAt& read, std::uint64_t size) {
  constexpr std::uint64_t kLabel = 256 * 1024, kUberblocks = 128 * 1024;
  if (size < 4 * kLabel) return false;
  for (const auto label : {std::uint64_t{0}, size / kLabel * kLabel - kLabel}) {
    const auto all = read(label + kUberblocks, kUberblocks);
    for (std::size_t at = 0; at + 8 <= all.size(); at += 1024) {
      const auto magic = std::string_view{all}.substr(at, 8);
      if (magic == "\x0C\xB1\xBA\0\0\0\0\0"sv || magic == "\0\0\0\0\0\xBA\xB1\x0C"sv) return true;
    }
  }
  return false;
}

/// A table of partitions, and no boot sector of a file system.
bool is_mbr(const ReadAt& read) {
  const auto sector = read(0, 512);
  if (sector.size() < 512 || sector.substr(510) != "\x55\xAA") return false;
  bool any = false;
  for (std::size_t entry = 446; entry < 510; entry += 16) {
    const auto active = static_cast<unsigned char>(sector[entry]);
    if (active != 0 && active != 0x80) return false;
    const auto type = static_cast<unsigned char>(sector[entry + 4]);
    any = any || (type != 0 && type != 0xEE);
  }
  return any;
}

bool is_zero(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) { return c == 0; });
}

}  // namespace

std::vector<std::string> signatures(const ReadAt& read, std::uint64_t size) {
  std::set<std::string> found;
  for (const auto& each : kSignatures)
    if (read(place(each.offset, size), each.bytes.size()) == each.bytes) found.emplace(each.name);
  if (is_raid_at_end(read, size)) found.emplace("linux_raid_member");
  if (is_zfs(read, size)) found.emplace("zfs_member");
  if (!found.contains("gpt") && !found.contains("vfat") && !found.contains("ntfs") && is_mbr(read))
    found.emplace("mbr");
  return {found.begin(), found.end()};
}

std::vector<std::string> holds(const ReadAt& read, std::uint64_t size,
                               const std::vector<Partition>& partitions) {
  const auto whole = signatures(read, size);
  std::set<std::string> all{whole.begin(), whole.end()};
  for (const auto& part : partitions) {
    const auto within = [&](std::uint64_t offset, std::size_t count) {
      if (offset >= part.size) return std::string{};
      const auto most = std::min<std::uint64_t>(count, part.size - offset);
      return read(part.start + offset, static_cast<std::size_t>(most));
    };
    for (auto& each : signatures(within, part.size)) all.insert(std::move(each));
  }
  if (all.empty() && !partitions.empty()) all.emplace("partitions");
  const auto edge = static_cast<std::size_t>(std::min<std::uint64_t>(kMiB, size));
  if (all.empty() && (!is_zero(read(0, edge)) || !is_zero(read(size - edge, edge))))
    all.emplace("data");
  return {all.begin(), all.end()};
}

}  // namespace cupel::agent::boot
