#pragma once
// Bytes packed as gzip does, so that people read what is kept with zcat.
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::store {

/// The same bytes give the same packed bytes. Source: RFC 1952.
std::string gzipped(std::string_view bytes);

/// Errors: kMalformed: it is no whole gzip file, or holds more than `limit` bytes.
Result<std::string> gunzipped(std::string_view packed, std::size_t limit);

}  // namespace cupel::store
