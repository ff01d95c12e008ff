#pragma once
// Where the body of a request ends, for both HTTP servers.
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/fields.hpp>

namespace cupel {

/// Whether a body behind this head has an end that is known: a length, or the transfer coding
/// chunked alone. Where not, what follows the head must not be read as a request: answer 501 or
/// nothing, and close. Source: RFC 9112, 6.1 and 6.3.
inline bool has_known_coding(const boost::beast::http::fields& head) {
  constexpr auto kField = boost::beast::http::field::transfer_encoding;
  const auto codings = head.count(kField);
  return codings == 0 || (codings == 1 && boost::beast::iequals(head[kField], "chunked"));
}

}  // namespace cupel
