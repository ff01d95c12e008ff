#pragma once
// Captured outputs of real tools, which do not belong in this tree: ../shared/samples beside the
// checkout.
#include <filesystem>
#include <optional>
#include <string>

#include "base/file.h"
#include "tests/support/real_part.h"

namespace cupel::testing {

inline std::filesystem::path samples() { return SOURCE_DIR "/../shared/samples"; }

inline std::optional<std::string> sample(const std::string& path) {
  auto text = read_file(samples() / path, 64u << 20);
  if (!text) return std::nullopt;
  return *std::move(text);
}

}  // namespace cupel::testing

/// `text` becomes the sample's; ends the test where it is not there.
#define CUPEL_NEEDS_SAMPLE(text, path)                                                    \
  const auto text##_found = ::cupel::testing::sample(path);                               \
  CUPEL_NEEDS_REAL_PART(text##_found,                                                     \
                        "no sample " << (path) << " in " << ::cupel::testing::samples()); \
  const std::string& text = *text##_found
