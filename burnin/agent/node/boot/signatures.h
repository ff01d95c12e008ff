#pragma once
// What a disk or a partition holds, by the marks that its owner leaves there. What is not known and
// not zero is "data": nobody's disk is taken for empty.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cupel::agent::boot {

/// Bytes of the disk from there on, as many as there are up to `count`.
using ReadAt = std::function<std::string(std::uint64_t offset, std::size_t count)>;

/// A partition of a GPT or an MBR, in bytes.
struct Partition {
  int number = 0;
  std::uint64_t start = 0;
  std::uint64_t size = 0;
};

/// The names of what is there, sorted, as blkid calls them: "gpt", "ext4", "LVM2_member",
/// "linux_raid_member", "zfs_member". With them "cupel-unfinished": what we began ourselves.
std::vector<std::string> signatures(const ReadAt& read, std::uint64_t size);

/// The same of the disk and of each partition that the kernel has found on it; "data" where there
/// is none of these and the first or the last MiB is not zero.
std::vector<std::string> holds(const ReadAt& read, std::uint64_t size,
                               const std::vector<Partition>& partitions);

}  // namespace cupel::agent::boot
