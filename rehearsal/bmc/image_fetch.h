#pragma once
// How a virtual BMC fetches an image that somebody names by its URI.
#include "rehearsal/bmc/image_reader.h"
#include "rehearsal/http_client.h"

namespace cupel::rehearsal {

/// The image, hashed as it comes. Errors: kUnreachable, kFailed (not 200, or longer than `limit`).
Task<Result<ReceivedImage>> fetch_image(LoopbackUri uri, std::size_t limit);

}  // namespace cupel::rehearsal
