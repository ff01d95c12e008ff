#pragma once
// A disk with an EFI system partition that mkfs.vfat and mtools have made: what a firmware reads.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/child.h"

namespace cupel::testing {

inline bool has_fat_tools() {
  return run({"sh", "-c", "command -v mkfs.vfat && command -v mcopy && command -v mmd"}).status ==
         0;
}

/// A MBR, and from the first MiB on a FAT of so many bits (12, 16, 32) with these files, each in a
/// folder below \EFI: "debian/shimx64.efi".
inline std::string esp_disk(const std::filesystem::path& folder, int bits,
                            const std::vector<std::string>& files) {
  const auto esp = (folder / "esp").string();
  const auto kibibytes = bits == 12 ? 512 : bits == 16 ? 4'200 : 36'000;
  auto script = "set -e; rm -f '" + esp + "'; mkfs.vfat -F " + std::to_string(bits) + " -s 1 -C '" +
                esp + "' " + std::to_string(kibibytes) + "; mmd -i '" + esp + "' ::/EFI";
  for (const auto& file : files) {
    const auto of_vendor = "::/EFI/" + file.substr(0, file.find('/'));
    script += "; mmd -D s -i '" + esp + "' '" + of_vendor + "' || :; echo MZ | mcopy -D o -i '" +
              esp + "' - '::/EFI/" + file + "'";
  }
  const auto made = run({"bash", "-c", script});
  if (made.status != 0) return made.out + made.err;
  std::string disk(1U << 20U, '\0');
  disk.replace(510, 2, "\x55\xaa");
  disk[446 + 4] = '\xef';
  disk[446 + 9] = 8;  // sector 2048
  std::ifstream stream{esp, std::ios::binary};
  disk.append(std::istreambuf_iterator<char>{stream}, {});
  return disk;
}

}  // namespace cupel::testing
