#pragma once
// A disk image, compressed, and a file in the place of the disk.
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/digest.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"

namespace cupel::agent::boot {

inline std::string file_bytes(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream{path, std::ios::binary}.rdbuf();
  return std::move(bytes).str();
}

inline std::string random_bytes(std::size_t count, unsigned seed = 1) {
  std::mt19937 random{seed};
  std::string bytes(count, '\0');
  for (auto& each : bytes) each = static_cast<char>(random());
  return bytes;
}

/// Data, holes and data again; nothing of it is zero in the first and the last MiB.
inline std::string image_content(std::size_t mebibytes) {
  std::string content;
  for (std::size_t i = 0; i < mebibytes; ++i)
    content +=
        i % 4 == 2 ? std::string(1 << 20, '\0') : random_bytes(1 << 20, static_cast<unsigned>(i));
  return content;
}

class BootImage {
 public:
  explicit BootImage(std::string content, std::size_t disk_size = 0)
      : content_{std::move(content)} {
    write("image", content_);
    const auto made = testing::run({"zstd", "-q", "-1", path("image"), "-o", path("image.zst")});
    EXPECT_EQ(made.status, 0) << made.err;
    compressed_ = file_bytes(path("image.zst"));
    // What was on it before must not be left.
    write("disk", std::string(disk_size == 0 ? content_.size() + (3 << 20) : disk_size, '\x5a'));
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream{path(name), std::ios::binary} << bytes;
  }
  const std::string& content() const { return content_; }
  const std::string& compressed() const { return compressed_; }
  std::string sha256() const { return sha256_hex(compressed_); }
  std::string disk() const { return file_bytes(path("disk")); }

 private:
  test::TemporaryFolder folder_;
  std::string content_;
  std::string compressed_;
};

}  // namespace cupel::agent::boot
