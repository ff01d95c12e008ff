#include "orchestrator/images/partitions.h"

#include <algorithm>

#include "orchestrator/images/disk_bytes.h"

namespace cupel::images {
namespace {

std::vector<Partition> gpt_partitions(std::ifstream& file) {
  constexpr std::size_t kHeader = 92, kEntry = 128, kMostEntries = 256;
  std::vector<Partition> found;
  const auto header = bytes_at(file, kDiskSector, kHeader);
  if (header.size() < kHeader) return found;
  const auto first = number_at(header, 72, 8) * kDiskSector, size = number_at(header, 84, 4);
  const auto count = std::min<std::uint64_t>(number_at(header, 80, 4), kMostEntries);
  for (std::uint64_t i = 0; size >= kEntry && i < count; ++i) {
    const auto entry = bytes_at(file, first + i * size, kEntry);
    if (entry.size() < kEntry) break;
    const auto type = entry.substr(0, 16);
    if (type.find_first_not_of('\0') == type.npos) continue;
    found.push_back({type, number_at(entry, 32, 8) * kDiskSector});
  }
  return found;
}

std::vector<Partition> mbr_partitions(std::ifstream& file) {
  std::vector<Partition> found;
  const auto sector = bytes_at(file, 0, kDiskSector);
  if (sector.size() < kDiskSector || !sector.ends_with("\x55\xaa")) return found;
  for (std::size_t at = 446; at < 510; at += 16) {
    // The boot sector of a file system has the same end, and code here.
    if (sector[at] != '\0' && sector[at] != '\x80') return {};
    if (sector[at + 4] == '\0') continue;
    found.push_back({sector.substr(at + 4, 1), number_at(sector, at + 8, 4) * kDiskSector});
  }
  return found;
}

}  // namespace

std::vector<Partition> partitions_of(std::ifstream& file) {
  const bool has_gpt = bytes_at(file, kDiskSector, kGptMagic.size()) == kGptMagic;
  return has_gpt ? gpt_partitions(file) : mbr_partitions(file);
}

bool holds_partitions(const Partition& partition) {
  return partition.type == "\x05" || partition.type == "\x0f" || partition.type == "\x85";
}

}  // namespace cupel::images
