#pragma once
// An answer's first lines, and which part of its body goes out. Pure. Source: RFC 9110, RFC 9112.
#include "orchestrator/images/byte_range.h"
#include "orchestrator/images/http_message.h"

namespace cupel::images {

struct HttpReply {
  unsigned status = 0;
  std::uint64_t whole_size = 0;  // of all of the body
  ByteRange bytes{};
  std::vector<Piece> pieces{};
};

/// `range`: the request's field, or empty.
HttpReply reply_of(const HttpAnswer& answer, std::string_view range);

std::string head_of(const HttpAnswer& answer, const HttpReply& reply, bool keep_alive);

}  // namespace cupel::images
