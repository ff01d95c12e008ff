#pragma once
// Files as one tar archive. Source: POSIX.1-2017, pax, "ustar Interchange Format". Writes only.
#include <chrono>
#include <span>
#include <string>

#include "base/result.h"

namespace cupel::rma {

struct BundleFile {
  std::string name{};  // "rma-a01-n07/cover.txt": at most 100 bytes, no leading slash, no ".."
  std::string bytes{};
  friend bool operator==(const BundleFile&, const BundleFile&) = default;
};

/// Plain files of mode 0600, owned by root, all of one time: the same files give the same bytes.
/// Errors: kInvalid for a name that tar does not hold or that leads out of the folder.
Result<std::string> tar_of(std::span<const BundleFile> files, std::chrono::sys_seconds time);

}  // namespace cupel::rma
