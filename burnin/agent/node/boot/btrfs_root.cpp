#include "burnin/agent/node/boot/btrfs_root.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"

namespace cupel::agent::boot {
namespace {

constexpr std::size_t kMostEntries = 1024;  // of a top level that are looked at
constexpr std::size_t kLongestName = 255;

/// What may stand in the option subvol= of mount(2): a comma would be the next option.
bool is_subvolume(std::string_view path) {
  return !path.empty() && path.size() <= kLongestName && printable(path) == path &&
         path.find(',') == path.npos && path.find("..") == path.npos;
}

bool is_there(const std::string& path) {
  struct stat what{};
  return ::lstat(path.c_str(), &what) == 0;
}

bool is_folder(const std::string& path) {
  struct stat what{};
  return ::lstat(path.c_str(), &what) == 0 && S_ISDIR(what.st_mode);
}

/// Links are not followed: os-release is one into the image's own /usr.
bool is_root(const std::string& folder) {
  return is_folder(folder) && is_folder(folder + "/etc") &&
         (is_there(folder + "/etc/os-release") || is_there(folder + "/usr/lib/os-release"));
}

/// In their order.
std::vector<std::string> names_in(const std::string& folder) {
  struct Close {
    void operator()(DIR* open) const { ::closedir(open); }
  };
  std::vector<std::string> names;
  const std::unique_ptr<DIR, Close> open{::opendir(folder.c_str())};
  while (open && names.size() < kMostEntries) {
    const auto* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::string without_slashes(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string{path};
}

/// The value of KEY=value, without the quotes that fstab(5) allows.
std::string tag(std::string_view device, std::string_view key) {
  if (!device.starts_with(key)) return {};
  auto value = device.substr(key.size());
  if (value.size() > 1 && value.starts_with('"') && value.ends_with('"'))
    value = value.substr(1, value.size() - 2);
  return lower_case(value);
}

}  // namespace

Outcome<std::string> root_subvolume(const std::string& top) {
  std::vector<std::string> roots;
  std::string named;
  for (const auto& name : names_in(top)) {
    if (!is_subvolume(name) || !is_root(top + "/" + name)) continue;
    named += (named.empty() ? "" : ", ") + name;
    roots.push_back(name);
  }
  if (roots.size() == 1) return roots.front();
  if (roots.empty())
    return Failure{Cause::kSeed,
                   "neither its default subvolume nor one of its top level has /etc/os-release"};
  return Failure{Cause::kSeed, "several subvolumes hold a system: " + named +
                                   ". Make one the default before the image is imported: btrfs "
                                   "subvolume set-default"};
}

std::string subvolume_of(const FstabLine& line, std::string_view uuid, std::string_view part_uuid) {
  constexpr std::string_view kSubvolume = "subvol=";
  const auto by_uuid = tag(line.device, "UUID="), by_part = tag(line.device, "PARTUUID=");
  const bool same = (!by_uuid.empty() && by_uuid == lower_case(uuid)) ||
                    (!by_part.empty() && by_part == lower_case(part_uuid));
  if (line.file_system != "btrfs" || !same) return {};
  for (const auto option : split(line.options, ',')) {
    if (!option.starts_with(kSubvolume)) continue;
    auto subvolume = without_slashes(option.substr(kSubvolume.size()));
    return is_subvolume(subvolume) ? subvolume : std::string{};
  }
  return {};
}

std::string btrfs_uuid(const std::string& device) {
  // struct btrfs_super_block: a checksum of 32 bytes, then fsid; magic at 64.
  constexpr off_t kSuperBlock = 65536, kId = 32, kMagicAt = 64;
  constexpr std::string_view kMagic = "_BHRfS_M", kDigits = "0123456789abcdef";
  const Descriptor file{::open(device.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  std::array<char, 16> id{};
  std::array<char, kMagic.size()> magic{};
  const auto read = [&file](auto& into, off_t at) {
    return ::pread(file.number(), into.data(), into.size(), kSuperBlock + at) ==
           static_cast<ssize_t>(into.size());
  };
  if (!file || !read(magic, kMagicAt) || !read(id, kId)) return {};
  if (std::string_view{magic.data(), magic.size()} != kMagic) return {};
  std::string text;
  for (const char each : id) {
    if (text.size() == 8 || text.size() == 13 || text.size() == 18 || text.size() == 23)
      text += '-';
    const auto byte = static_cast<unsigned char>(each);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace cupel::agent::boot
