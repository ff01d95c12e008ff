#include "burnin/agent/node/boot/grow.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "burnin/agent/node/boot/partition_table.h"

namespace cupel::agent::boot {
namespace {

constexpr std::chrono::seconds kGrowLimit{1800};
constexpr int kCorrected = 3;  // e2fsck(8): 1 and 2 are "errors corrected"

Outcome<void> must_run(const RunTool& run, const Argv& argv, std::string_view input = {},
                       int highest = 0) {
  const auto ended = run(argv, input, kGrowLimit);
  if (ended.status >= 0 && ended.status <= highest) return {};
  return Failure{Cause::kGrow, failure_text(argv, ended)};
}

Outcome<void> grow_file_system(const TableEntry& entry, const std::string& file_system,
                               const RunTool& run) {
  if (file_system == "ext4") {
    TRY(must_run(run, {"e2fsck", "-f", "-p", entry.node}, {}, kCorrected));
    return must_run(run, {"resize2fs", entry.node});
  }
  TRY(const auto mounted, Mounted::open(entry, file_system));
  if (file_system == "xfs") return must_run(run, {"xfs_growfs", mounted.folder()});
  return must_run(run, {"btrfs", "filesystem", "resize", "max", mounted.folder()});
}

}  // namespace

Outcome<void> reread_partitions(const std::string& disk) {
  const Descriptor file{::open(disk.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file && ::ioctl(file.number(), BLKRRPART) == 0) return {};
  return Failure{Cause::kGrow,
                 disk + ": the kernel does not read its partitions again: " + std::strerror(errno)};
}

Outcome<void> grow_last_partition(const std::string& disk, const RunTool& run) {
  TRY(const auto table, read_partition_table(disk, run));
  if (table.entries.empty())
    return Failure{Cause::kGrow,
                   disk + ": the image has no partition. Import an image with a partition table"};
  const auto& last = table.entries.back();
  if (table.label == "gpt") {
    TRY(must_run(run, {"sfdisk", "-q", "--no-reread", "--relocate", "gpt-bak-std", disk}));
  }
  // Only what can use the room is grown: swap would take the rest of the disk, LVM keep it unused.
  const auto file_system = file_system_on(disk, last);
  if (file_system.empty()) return reread_partitions(disk);
  TRY(must_run(run, {"sfdisk", "-q", "-f", "--no-reread", "-N", std::to_string(last.number), disk},
               ", +\n"));
  TRY(reread_partitions(disk));
  return grow_file_system(last, file_system, run);
}

}  // namespace cupel::agent::boot
