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
#include <sstream>

#include "burnin/agent/common/json_line.h"
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

/// The folder of the seed, made where it is not there.
Outcome<Descriptor> seed_folder(int root) {
  auto folder = open_below(root, ".", O_PATH | O_DIRECTORY);
  for (const std::string path : kFolders) {
    const auto name = path.substr(path.rfind('/') + 1);
    const mode_t mode = name == "nocloud" ? 0700 : 0755;
    if (::mkdirat(folder.number(), name.c_str(), mode) != 0 && errno != EEXIST)
      return seed_failure(path);
    folder = open_below(root, path.c_str(), O_PATH | O_DIRECTORY);
    if (!folder) return seed_failure(path);
  }
  return folder;
}

/// Where the root mounts another file system over the seed; empty: nowhere. Source: fstab(5).
std::string mounted_over_seed(int root) {
  const auto file = open_below(root, "etc/fstab", O_RDONLY | O_NONBLOCK);
  std::string text(file ? kMostOfFstab : 0, '\0');
  const auto got = file ? ::pread(file.number(), text.data(), text.size(), 0) : 0;
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields{line};
    std::string device, place;
    if (!(fields >> device >> place) || device.starts_with('#')) continue;
    while (place.size() > 1 && place.ends_with('/')) place.pop_back();
    const bool hides = std::ranges::any_of(
        kFolders, [&](const char* folder) { return place == std::string{"/"} + folder; });
    if (hides) return place;
  }
  return {};
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

}  // namespace

Outcome<void> write_seed(const std::string& root, const Seed& seed) {
  const Descriptor top{::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!top) return seed_failure(root);
  // cloud-init would find none, and the step would wait for a report that never comes.
  if (const auto place = mounted_over_seed(top.number()); !place.empty())
    return Failure{Cause::kSeed,
                   "the seed: /etc/fstab of the image mounts another file system at " + place +
                       ", and hides the seed in /var/lib/cloud from cloud-init. "
                       "Import an image that has /var/lib/cloud on its root"};
  TRY(const auto folder, seed_folder(top.number()));
  for (const auto& [name, text] : seed) {
    TRY(write_file(folder.number(), name, text));
  }
  return {};
}

Outcome<void> seed_disk(const std::string& disk, const Seed& seed, const RunTool& run) {
  TRY(const auto table, read_partition_table(disk, run));
  std::string tried;
  for (auto entry = table.entries.rbegin(); entry != table.entries.rend(); ++entry) {
    const auto file_system = file_system_of(entry->node);
    if (file_system.empty()) continue;
    auto mounted = Mounted::open(*entry, file_system);
    if (!mounted) {
      tried += ", " + mounted.error().text;
      continue;
    }
    if (is_root_of_a_system(mounted->folder())) return write_seed(mounted->folder(), seed);
    tried += ", " + entry->node + " has no /etc";
  }
  return Failure{Cause::kSeed,
                 disk + ": no partition holds the root of a system" + tried +
                     ". Import an image with cloud-init whose root is on ext4, XFS or btrfs"};
}

}  // namespace cupel::agent::boot
