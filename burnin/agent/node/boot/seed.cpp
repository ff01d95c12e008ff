#include "burnin/agent/node/boot/seed.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/node/boot/btrfs_root.h"
#include "burnin/agent/node/boot/partition_table.h"

namespace cupel::agent::boot {
namespace {

constexpr std::size_t kMostOfFstab = 256 * 1024;
// Parents before what is in them.
constexpr std::array kFolders{"var", "var/lib", "var/lib/cloud", "var/lib/cloud/seed",
                              "var/lib/cloud/seed/nocloud"};

/// openat2(2), which the C library does not have.
Descriptor open_below(int root, const char* path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return Descriptor{static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how))};
}

Failure seed_failure(std::string_view what) {
  return {Cause::kSeed, "the seed: " + std::string{what} + ": " + std::strerror(errno)};
}

/// The folder of the seed, made where it is not there. `place`: where the image mounts `root`.
Outcome<Descriptor> seed_folder(int root, const std::string& place) {
  auto folder = open_below(root, ".", O_PATH | O_DIRECTORY);
  const auto above = place + "/";
  for (const std::string each : kFolders) {
    const auto whole = "/" + each;
    if (!whole.starts_with(above)) continue;  // the mounted one itself, or above it
    const auto path = whole.substr(above.size());
    const auto name = path.substr(path.rfind('/') + 1);
    const mode_t mode = name == "nocloud" ? 0700 : 0755;
    if (::mkdirat(folder.number(), name.c_str(), mode) != 0 && errno != EEXIST)
      return seed_failure(path);
    folder = open_below(root, path.c_str(), O_PATH | O_DIRECTORY);
    if (!folder) return seed_failure(path);
  }
  return folder;
}

std::string fstab_of(int root) {
  const auto file = open_below(root, "etc/fstab", O_RDONLY | O_NONBLOCK);
  std::string text(file ? kMostOfFstab : 0, '\0');
  const auto got = file ? ::pread(file.number(), text.data(), text.size(), 0) : 0;
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

Outcome<void> write_file(int folder, const std::string& name, const std::string& text) {
  // Whatever the image has there: a link would lead elsewhere.
  ::unlinkat(folder, name.c_str(), 0);
  const Descriptor file{
      ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!file || !write_all(file.number(), text) || ::fsync(file.number()) != 0)
    return seed_failure(name);
  return {};
}

bool is_root_of_a_system(const std::string& folder) {
  struct stat what{};
  return ::stat((folder + "/etc").c_str(), &what) == 0 && S_ISDIR(what.st_mode);
}

Outcome<Descriptor> top_of(const std::string& root) {
  Descriptor top{::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!top) return seed_failure(root);
  return top;
}

/// The partition's root of a system, mounted. Errors: why it has none.
Outcome<Mounted> open_root(const TableEntry& entry, const std::string& file_system) {
  TRY(auto plain, Mounted::open(entry, file_system));
  if (is_root_of_a_system(plain.folder())) return plain;
  if (file_system != "btrfs") return Failure{Cause::kSeed, entry.node + " has no /etc"};
  std::string subvolume;
  {
    // There is one folder to mount at.
    {
      const Mounted unmounted{std::move(plain)};
    }
    TRY(const auto top, Mounted::open(entry, file_system, "subvolid=5"));
    auto found = root_subvolume(top.folder());
    if (!found) return Failure{Cause::kSeed, entry.node + ": " + found.error().text};
    subvolume = *std::move(found);
  }
  return Mounted::open(entry, file_system, "subvol=" + subvolume);
}

/// Keeps nothing open below `root`, which may be unmounted next.
Outcome<std::optional<FstabLine>> line_over_seed(const std::string& root) {
  TRY(const auto top, top_of(root));
  return fstab_over_seed(fstab_of(top.number()));
}

Outcome<void> seed_root(Mounted root, const TableEntry& entry, const Seed& seed) {
  TRY(const auto over, line_over_seed(root.folder()));
  const auto subvolume =
      over ? subvolume_of(*over, btrfs_uuid(entry.node), entry.uuid) : std::string{};
  if (subvolume.empty()) return write_seed(root.folder(), seed);
  {
    const Mounted unmounted{std::move(root)};
  }
  TRY(const auto mounted, Mounted::open(entry, "btrfs", "subvol=" + subvolume));
  return write_seed_below(mounted.folder(), over->place, seed);
}

}  // namespace

Outcome<void> write_seed_below(const std::string& root, const std::string& place,
                               const Seed& seed) {
  TRY(const auto top, top_of(root));
  TRY(const auto folder, seed_folder(top.number(), place));
  for (const auto& [name, text] : seed) {
    TRY(write_file(folder.number(), name, text));
  }
  return {};
}

Outcome<void> write_seed(const std::string& root, const Seed& seed) {
  TRY(const auto over, line_over_seed(root));
  // cloud-init would find none, and the step would wait for a report that never comes.
  if (over)
    return Failure{Cause::kSeed,
                   "the seed: /etc/fstab of the image mounts another file system at " +
                       printable(over->place) +
                       ", and hides the seed in /var/lib/cloud from cloud-init. "
                       "Import an image that has /var/lib/cloud on its root, or in a subvolume of "
                       "its btrfs that /etc/fstab names by UUID= and subvol="};
  return write_seed_below(root, {}, seed);
}

Outcome<void> seed_disk(const std::string& disk, const Seed& seed, const RunTool& run) {
  TRY(const auto table, read_partition_table(disk, run));
  std::string tried;
  for (auto entry = table.entries.rbegin(); entry != table.entries.rend(); ++entry) {
    const auto file_system = file_system_of(entry->node);
    if (file_system.empty()) continue;
    auto root = open_root(*entry, file_system);
    if (root) return seed_root(*std::move(root), *entry, seed);
    tried += ", " + root.error().text;
  }
  return Failure{Cause::kSeed,
                 disk + ": no partition holds the root of a system" + tried +
                     ". Import an image with cloud-init whose root is on ext4, XFS or btrfs"};
}

}  // namespace cupel::agent::boot
