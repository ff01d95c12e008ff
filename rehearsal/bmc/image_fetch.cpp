#include "rehearsal/bmc/image_fetch.h"

#include <fmt/format.h>

#include "base/try.h"

namespace cupel::rehearsal {

Task<Result<ReceivedImage>> fetch_image(LoopbackUri uri, std::size_t limit) {
  ImageReader reader;
  HttpAsk ask{.uri = uri};
  HttpSink sink = [&reader](std::string_view bytes) { reader.take(bytes); };
  CO_TRY(const auto reply, co_await ask_http(std::move(ask), limit, std::move(sink)));
  if (reply.status != 200)
    co_return Error{Code::kFailed, fmt::format("{}:{}: HTTP {}", uri.host, uri.port, reply.status)};
  co_return reader.finish();
}

}  // namespace cupel::rehearsal
