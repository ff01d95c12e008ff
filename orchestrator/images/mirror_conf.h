#pragma once
// Configurations of nginx that give each rack a mirror of the image store: one beside the store,
// and one for a machine of the rack that caches what it fetches from there. Text alone: nothing is
// started. Who fetches compares digests, so that a mirror need not be trusted.
#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace cupel::images {

/// Serves the compressed disks of `folder` below /images/, and nothing else of it: virtual discs
/// hold tickets. Errors: kInvalid (a folder whose name cannot stand in a configuration).
Result<std::string> store_conf(const std::filesystem::path& folder, std::uint16_t port);

struct MirrorRequest {
  std::string from{};  // "http://10.0.0.1:8082/images"
  std::uint16_t port = 0;
  int gigabytes = 0;  // most that the cache holds
};

/// Fetches each piece once, however many ask for it. Errors: kInvalid (`from` is no such URL).
Result<std::string> mirror_conf(const MirrorRequest& request);

}  // namespace cupel::images
