#pragma once
// Size and SHA-256 of one file of any size. Blocking.
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace cupel::images {

struct FileDigest {
  std::string sha256{};
  std::uint64_t size = 0;
};

/// A regular file, no link. Errors: kNotFound; kInvalid (no regular file, or it cannot be read).
Result<std::uint64_t> size_of(const std::filesystem::path& file);
Result<FileDigest> digest_of(const std::filesystem::path& file);

}  // namespace cupel::images
