#include "orchestrator/images/seed_place.h"

#include <fmt/format.h>

#include <fstream>
#include <ranges>

#include "base/fstab.h"
#include "base/text.h"
#include "base/try.h"
#include "orchestrator/images/disk_bytes.h"
#include "orchestrator/images/ext4.h"
#include "orchestrator/images/partitions.h"

namespace cupel::images {
namespace {

/// Of the root of a system; empty where it has none. Errors: kNotFound: there is no such root;
/// kMalformed: that cannot be seen.
Result<std::string> fstab_of_root(std::ifstream& file, const Partition& partition) {
  TRY(const auto system, Ext4::open(file, partition.start));
  auto fstab = system.text("etc/fstab");
  if (fstab || fstab.error().code != Code::kNotFound) return fstab;
  TRY(const bool has_etc, system.has_folder("etc"));
  if (has_etc) return std::string{};
  return fstab;
}

/// A root may be in it, and nothing looks into it here.
bool may_hold_root(std::ifstream& file, const Partition& partition) {
  constexpr std::uint64_t kBtrfsMagicAt = 65536 + 64;
  return holds_partitions(partition) || bytes_at(file, partition.start, 4) == "XFSB" ||
         bytes_at(file, partition.start + kBtrfsMagicAt, 8) == "_BHRfS_M";
}

std::string why_hidden(std::string_view fstab) {
  constexpr std::size_t kLongestDevice = 100;
  const auto over = fstab_over_seed(fstab);
  if (!over) return {};
  return fmt::format(
      "its /etc/fstab mounts {} at {}, which hides the seed in /var/lib/cloud from cloud-init",
      shortened(printable(over->device), kLongestDevice), over->place);
}

}  // namespace

std::string why_no_seed(const std::string& file) {
  std::ifstream stream{file, std::ios::binary};
  const auto partitions = partitions_of(stream);
  bool may_be_elsewhere = false;
  // As the RAM system: it takes the last one with a root.
  for (const auto& each : partitions | std::views::reverse) {
    const auto fstab = fstab_of_root(stream, each);
    if (fstab) return why_hidden(*fstab);
    may_be_elsewhere =
        may_be_elsewhere || fstab.error().code != Code::kNotFound || may_hold_root(stream, each);
  }
  return may_be_elsewhere ? "" : "none of its partitions has a root on ext4, XFS or btrfs";
}

}  // namespace cupel::images
