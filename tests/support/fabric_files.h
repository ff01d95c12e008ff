#pragma once
// Captured outputs of fabric tools, which do not belong in this tree: ../shared/fabric/samples
// beside the checkout. What is packed there (".gz") is unpacked here.
#include <optional>
#include <string>

#include "tests/support/real_part.h"

namespace cupel::testing {

std::optional<std::string> fabric_file(const std::string& path);

}  // namespace cupel::testing

/// `text` becomes the file's; ends the test where it is not there.
#define CUPEL_NEEDS_FABRIC_FILE(text, path)                                 \
  const auto text##_found = ::cupel::testing::fabric_file(path);            \
  CUPEL_NEEDS_REAL_PART(text##_found, "no capture of a fabric " << (path)); \
  const std::string& text = *text##_found
