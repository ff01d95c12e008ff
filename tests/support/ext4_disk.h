#pragma once
// A raw disk with one file system, which mke2fs has filled from a folder.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/child.h"

namespace cupel::testing {

inline bool has_ext4_tools() {
  return run({"sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; command -v mke2fs"}).status == 0;
}

/// An MBR, and from the first MiB on an ext file system of 8 MiB of this type ("ext2", "ext4") with
/// the content of `root`. What mke2fs says, where it fails.
inline std::string ext4_disk(const std::filesystem::path& folder, const std::filesystem::path& root,
                             const std::string& type) {
  const auto file = (folder / "root.img").string();
  const auto made =
      run({"sh", "-c",
           "PATH=$PATH:/usr/sbin:/sbin; rm -f '" + file + "' && truncate -s 8M '" + file +
               "' && mke2fs -q -t " + type + " -d '" + root.string() + "' '" + file + "'"});
  if (made.status != 0) return made.out + made.err;
  std::string disk(1U << 20U, '\0');
  disk.replace(510, 2, "\x55\xaa");
  disk[446 + 4] = '\x83';
  disk[446 + 9] = 8;  // sector 2048
  std::ifstream stream{file, std::ios::binary};
  disk.append(std::istreambuf_iterator<char>{stream}, {});
  return disk;
}

}  // namespace cupel::testing
