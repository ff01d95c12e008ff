#pragma once
// Bodies that come compressed though nobody asked for that: HPE's BIOS attribute registries are
// always gzip'ed, some servers compress everything, and not all of them say so in a header.
// Source: RFC 1952 (gzip), RFC 1950 (zlib, which HTTP calls deflate: RFC 9110, 8.4.1.2).
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::bmc::redfish {

/// Whether it begins as gzip or zlib begin, which JSON and HTML never do.
bool is_compressed(std::string_view body);

/// Its text of at most `limit` bytes. Errors: kMalformed: longer than that, cut off, or damaged.
Result<std::string> inflated(std::string_view body, std::size_t limit);

}  // namespace cupel::bmc::redfish
