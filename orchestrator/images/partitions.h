#pragma once
// The partition table of a raw disk, in sectors of 512 bytes. Any bytes may stand there.
// Source: UEFI specification 2.10, 5.2 (MBR) and 5.3 (GPT).
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::images {

inline constexpr std::uint64_t kDiskSector = 512;          // bytes
inline constexpr std::string_view kGptMagic = "EFI PART";  // at the begin of the second sector

struct Partition {
  std::string type{};       // a GPT's 16 bytes, or the MBR's one
  std::uint64_t start = 0;  // in bytes
};

/// In the table's order; of a GPT the first 256. Empty: there is no table.
std::vector<Partition> partitions_of(std::ifstream& file);

/// Whether it holds others, of which partitions_of() reports none: an extended one of an MBR.
bool holds_partitions(const Partition& partition);

}  // namespace cupel::images
