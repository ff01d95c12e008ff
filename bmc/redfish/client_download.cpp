// The client's way of reading a file: piece by piece, and from this BMC alone.
#include "base/text.h"
#include "bmc/redfish/client.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr int kGood = 200;

Task<Result<std::uint64_t>> taken(Stream& file, const Client::Sink& sink, std::uint64_t most,
                                  Deadline deadline) {
  std::uint64_t bytes = 0;
  for (;;) {
    CO_TRY(const std::string piece, co_await file.read(deadline));
    if (piece.empty()) co_return bytes;
    if (piece.size() > most - bytes)
      co_return Error{Code::kMalformed,
                      "a file of more than " + std::to_string(most) + " bytes, the limit"};
    CO_TRY(sink(piece));
    bytes += piece.size();
  }
}

}  // namespace

Task<Result<std::uint64_t>> Client::download(std::string uri, Sink sink, std::uint64_t most,
                                             Deadline deadline) {
  if (!is_path(uri))
    co_return Error{Code::kInvalid,
                    peer_.node + ": not a path of this BMC: " + printable(shortened(uri, 200))};
  const std::string what = asked(Method::get, uri);
  CO_TRY(co_await ensure_credentials(deadline));
  Request request = with_credentials({.path = std::move(uri)});
  ++requests_;
  CO_TRY(const auto file, co_await transport_.open_file(peer_, std::move(request), deadline));
  const Response head{.status = file->status()};
  if (head.status != kGood) {
    CO_TRY(understood(what, head));
    co_return Error{Code::kMalformed,
                    what + ": HTTP " + std::to_string(head.status) + " instead of a file"};
  }
  auto bytes = co_await taken(*file, sink, most, deadline);
  if (!bytes) co_return std::move(bytes).error().within(what);
  co_return bytes;
}

}  // namespace cupel::bmc::redfish
