#include "burnin/agent/node/boot/iso_file.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::agent::boot {
namespace {

constexpr std::uint64_t kSectorSize = 2048;
constexpr std::uint64_t kVolume = 16 * kSectorSize;
constexpr std::size_t kMostFile = 64 * 1024;

std::uint32_t little(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

/// Bytes of the extent that a directory record names. Source: ECMA-119, 9.1.
std::string extent(const ReadAt& read, std::string_view record) {
  const auto length = std::min<std::size_t>(little(record, 10), kMostFile);
  return read(std::uint64_t{little(record, 2)} * kSectorSize, length);
}

/// The primary volume descriptor (ECMA-119, 8.4), whole or nothing.
std::optional<std::string> volume(const ReadAt& read) {
  auto sector = read(kVolume, kSectorSize);
  const bool is_one = sector.size() == kSectorSize && sector.substr(0, 6) ==
                                                          "\x01"
                                                          "CD001";
  return is_one ? std::optional{std::move(sector)} : std::nullopt;
}

}  // namespace

std::optional<std::string> iso_label(const ReadAt& read) {
  const auto sector = volume(read);
  if (!sector) return std::nullopt;
  return std::string{trimmed(std::string_view{*sector}.substr(40, 32))};
}

std::optional<std::string> iso_file(const ReadAt& read, std::string_view name) {
  constexpr std::size_t kRecord = 33;  // its fixed part
  const auto sector = volume(read);
  if (!sector) return std::nullopt;
  const auto folder = extent(read, std::string_view{*sector}.substr(156, 34));
  for (std::size_t at = 0; at + kRecord < folder.size();) {
    const auto length = static_cast<unsigned char>(folder[at]);
    if (length == 0) {  // records do not cross sectors
      at = (at / kSectorSize + 1) * kSectorSize;
      continue;
    }
    const auto record = std::string_view{folder}.substr(at, length);
    if (record.size() < kRecord) return std::nullopt;
    auto found = record.substr(kRecord, static_cast<unsigned char>(record[32]));
    found = found.substr(0, found.find(';'));
    if (lower_case(found) == lower_case(name)) return extent(read, record);
    at += length;
  }
  return std::nullopt;
}

}  // namespace cupel::agent::boot
