#pragma once
// How a virtual BMC fetches an image that somebody names by its URI: by HTTP or HTTPS, and only
// from this machine, for a virtual rack asks nobody else for anything.
#include <optional>
#include <string>
#include <string_view>

#include "base/task.h"
#include "rehearsal/bmc/image_reader.h"

namespace cupel::rehearsal {

struct ImageUri {
  bool tls = false;
  std::string host{};  // an address, 127.0.0.0/8
  std::uint16_t port = 0;
  std::string target{};  // path and query
};

/// Nothing where it is no http or https URI of a loopback address.
std::optional<ImageUri> loopback_uri(std::string_view uri);

/// The image, hashed as it comes; certificates are not looked at, as BMCs do unless told. Errors:
/// kUnreachable, kFailed (not 200, or longer than `limit`).
Task<Result<ReceivedImage>> fetch_image(ImageUri uri, std::size_t limit);

}  // namespace cupel::rehearsal
