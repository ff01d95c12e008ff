#include "tests/support/fabric_files.h"

#include <zlib.h>

#include <array>
#include <filesystem>
#include <memory>

namespace cupel::testing {

std::optional<std::string> fabric_file(const std::string& path) {
  const auto file = std::filesystem::path{SOURCE_DIR} / "../shared/fabric/samples" / path;
  // gzread() gives a file that is not packed as it is.
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> packed{gzopen(file.c_str(), "rb"), gzclose};
  if (!packed) return std::nullopt;
  std::string text;
  std::array<char, 1 << 16> piece{};
  constexpr std::size_t kLimit = 64u << 20;
  for (int read = 1; read > 0 && text.size() < kLimit;) {
    read = gzread(packed.get(), piece.data(), piece.size());
    if (read < 0) return std::nullopt;
    text.append(piece.data(), static_cast<std::size_t>(read));
  }
  return text;
}

}  // namespace cupel::testing
