#include "orchestrator/rma/tar.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "base/text.h"

namespace cupel::rma {
namespace {

constexpr std::size_t kBlock = 512, kLongestTarName = 100;
constexpr std::size_t kChecksumAt = 148, kChecksumSize = 8;

using Header = std::array<char, kBlock>;

void put(Header& header, std::size_t at, std::string_view text) {
  std::memcpy(header.data() + at, text.data(), text.size());
}

bool stays_inside(std::string_view name) {
  if (name.empty() || name.size() >= kLongestTarName || name.front() == '/') return false;
  for (const auto piece : split(name, '/'))
    if (piece.empty() || piece == "." || piece == "..") return false;
  return printable(name) == name;
}

/// Places and widths are of the standard's table: name, mode, uid, gid, size, mtime, chksum,
/// typeflag, magic, version.
Header header_of(const BundleFile& file, std::chrono::sys_seconds time) {
  Header header{};
  put(header, 0, file.name);
  put(header, 100, "0000600");
  put(header, 108, "0000000");
  put(header, 116, "0000000");
  put(header, 124, fmt::format("{:011o}", file.bytes.size()));
  put(header, 136,
      fmt::format("{:011o}", std::max<std::int64_t>(time.time_since_epoch().count(), 0)));
  put(header, kChecksumAt, std::string(kChecksumSize, ' '));
  header[156] = '0';
  put(header, 257, "ustar");
  put(header, 263, "00");
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put(header, kChecksumAt, fmt::format("{:06o}", sum));
  header[kChecksumAt + 6] = '\0';
  return header;
}

}  // namespace

Result<std::string> tar_of(std::span<const BundleFile> files, std::chrono::sys_seconds time) {
  std::string tar;
  for (const auto& file : files) {
    if (!stays_inside(file.name))
      return Error{Code::kInvalid, fmt::format("a bundle holds no file called '{}'",
                                               shortened(printable(file.name), 120))};
    const auto header = header_of(file, time);
    tar.append(header.data(), header.size());
    tar += file.bytes;
    tar.append((kBlock - file.bytes.size() % kBlock) % kBlock, '\0');
  }
  tar.append(2 * kBlock, '\0');
  return tar;
}

}  // namespace cupel::rma
