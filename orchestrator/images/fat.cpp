#include "orchestrator/images/fat.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/text.h"
#include "orchestrator/images/disk_bytes.h"

namespace cupel::images {
namespace {

constexpr std::size_t kEntry = 32;
constexpr std::uint64_t kLargestFolder = 65'536 * kEntry;

/// Of 4 bytes at most: no number of a FAT is longer.
std::uint32_t word_at(std::string_view bytes, std::size_t at, std::size_t size) {
  return static_cast<std::uint32_t>(number_at(bytes, at, size));
}

/// "BOOTX64.EFI" of eight letters and three.
std::string short_name_of(std::string_view entry) {
  auto name = std::string{trimmed(entry.substr(0, 8))};
  const auto ending = trimmed(entry.substr(8, 3));
  if (!ending.empty()) name += "." + std::string{ending};
  return printable(name);
}

/// The 13 characters of a part of a long name, up to its end.
std::string part_of_long_name(std::string_view entry) {
  constexpr std::array kAt{1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30};
  std::string part;
  for (const auto at : kAt) {
    const auto letter = word_at(entry, static_cast<std::size_t>(at), 2);
    if (letter == 0) break;
    part += letter >= ' ' && letter < 0x7f ? static_cast<char>(letter) : '?';
  }
  return part;
}

}  // namespace

std::optional<Fat> Fat::open(std::ifstream& file, std::uint64_t start) {
  constexpr std::size_t kSector = 512;
  const auto head = bytes_at(file, start, kSector);
  if (head.size() < kSector || !head.ends_with("\x55\xaa")) return std::nullopt;
  const auto sector = word_at(head, 11, 2), per_cluster = word_at(head, 13, 1);
  const auto reserved = word_at(head, 14, 2), copies = word_at(head, 16, 1);
  const auto few = word_at(head, 22, 2), table = few != 0 ? few : word_at(head, 36, 4);
  const auto small = word_at(head, 19, 2), all = small != 0 ? small : word_at(head, 32, 4);
  const bool sound = std::has_single_bit(sector) && sector >= kSector && sector <= 4096 &&
                     std::has_single_bit(per_cluster) && reserved != 0 && copies != 0 && table != 0;
  if (!sound) return std::nullopt;
  Fat fat{file};
  fat.table_ = start + std::uint64_t{reserved} * sector;
  fat.root_ = fat.table_ + std::uint64_t{copies} * table * sector;
  fat.root_bytes_ = std::uint64_t{word_at(head, 17, 2)} * kEntry;
  fat.data_ = fat.root_ + (fat.root_bytes_ + sector - 1) / sector * sector;
  fat.cluster_bytes_ = std::uint64_t{per_cluster} * sector;
  const auto end = start + std::uint64_t{all} * sector;
  if (end <= fat.data_) return std::nullopt;
  fat.clusters_ = static_cast<std::uint32_t>((end - fat.data_) / fat.cluster_bytes_);
  fat.root_cluster_ = few != 0 ? 0 : word_at(head, 44, 4);
  // As firmware and Linux tell them apart: a small FAT32 has as few clusters as a FAT16.
  fat.bits_ = few == 0 ? 32 : fat.clusters_ < 4085 ? 12 : 16;
  return fat;
}

std::uint32_t Fat::behind(std::uint32_t cluster) const {
  const auto bit = std::uint64_t{cluster} * static_cast<unsigned>(bits_);
  const auto bytes = bytes_at(*file_, table_ + bit / 8, bits_ == 32 ? 4 : 2);
  if (bytes.size() < 2 || (bits_ == 32 && bytes.size() < 4)) return 0;
  if (bits_ == 32) return word_at(bytes, 0, 4) & 0x0fff'ffff;
  const auto both = word_at(bytes, 0, 2);
  if (bits_ == 16) return both;
  return bit % 8 == 0 ? both & 0xfff : both >> 4;
}

std::string Fat::chain_bytes(std::uint32_t cluster) const {
  std::string bytes;
  // An end of the chain, a bad cluster and a loop end it alike.
  while (cluster >= 2 && cluster - 2 < clusters_ && bytes.size() < kLargestFolder) {
    const auto more = bytes_at(*file_, data_ + (cluster - 2) * cluster_bytes_, cluster_bytes_);
    bytes += more;
    if (more.size() < cluster_bytes_) break;
    cluster = behind(cluster);
  }
  return bytes;
}

std::vector<FatEntry> Fat::entries_in(std::string_view bytes) const {
  constexpr unsigned kLongName = 0x0f, kVolume = 0x08, kFolder = 0x10;
  std::vector<FatEntry> found;
  std::string long_name;
  for (; bytes.size() >= kEntry && bytes.front() != '\0'; bytes.remove_prefix(kEntry)) {
    const auto entry = bytes.substr(0, kEntry);
    const auto attributes = word_at(entry, 11, 1);
    const bool is_free = entry.front() == '\xe5';
    if (!is_free && (attributes & 0x3f) == kLongName) {
      // The last part stands first.
      long_name.insert(0, part_of_long_name(entry));
      if (long_name.size() > 255) long_name.clear();
      continue;
    }
    const auto name = std::exchange(long_name, {});
    if (is_free || (attributes & kVolume) != 0) continue;
    const auto high = bits_ == 32 ? word_at(entry, 20, 2) : 0;
    const auto short_name = short_name_of(entry);
    found.push_back({name.empty() ? short_name : name, short_name, (attributes & kFolder) != 0,
                     (high << 16) | word_at(entry, 26, 2), word_at(entry, 28, 4)});
  }
  return found;
}

std::vector<FatEntry> Fat::root() const {
  if (bits_ == 32) return folder(root_cluster_);
  return entries_in(bytes_at(*file_, root_, root_bytes_));
}

std::vector<FatEntry> Fat::folder(std::uint32_t cluster) const {
  return entries_in(chain_bytes(cluster));
}

std::optional<FatEntry> Fat::find(std::string_view path) const {
  std::optional<FatEntry> at;
  for (const auto part : split(path, '\\')) {
    if (part.empty()) continue;
    if (at && !at->is_folder) return std::nullopt;
    const auto entries = at ? folder(at->cluster) : root();
    const auto requested = lower_case(part);
    const auto next = std::ranges::find_if(entries, [&](const FatEntry& entry) {
      return lower_case(entry.name) == requested || lower_case(entry.short_name) == requested;
    });
    if (next == entries.end()) return std::nullopt;
    at = *next;
  }
  return at;
}

}  // namespace cupel::images
