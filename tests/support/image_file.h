#pragma once
// A firmware image on disk, as an order names it; gone with its test.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/digest.h"
#include "bmc/update.h"

namespace cupel::test {

class ImageFile {
 public:
  explicit ImageFile(std::string bytes) : bytes_{std::move(bytes)} {
    std::string form = (std::filesystem::temp_directory_path() / "cupel-image-XXXXXX").string();
    const int fd = ::mkstemp(form.data());
    if (fd >= 0) ::close(fd);
    path_ = form;
    std::ofstream{path_, std::ios::binary} << bytes_;
  }
  ImageFile(const ImageFile&) = delete;
  ImageFile& operator=(const ImageFile&) = delete;
  ~ImageFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  bmc::UpdateOrder order(std::string component = "bios") const {
    return {.file = path_.string(),
            .name = "image.bin",
            .bytes = bytes_.size(),
            .sha256 = sha256_hex(bytes_),
            .component = std::move(component)};
  }

 private:
  std::string bytes_;
  std::filesystem::path path_;
};

/// What the virtual BMCs take as new firmware.
inline std::string virtual_image(const std::string& component, const std::string& version) {
  return "virtual firmware\n" + component + " " + version + "\n";
}

}  // namespace cupel::test
