#pragma once
// Where the body of a request ends, for both HTTP servers.
#include <cstddef>
#include <string_view>

#include "base/text.h"

namespace cupel {

/// Whether a body behind a head of this version (10, 11) with so many fields Transfer-Encoding, the
/// first of them `coding`, has an end that is known: a length, or the transfer coding chunked
/// alone, which HTTP/1.0 does not have. Where not, what follows the head must not be read as a
/// request: answer 501 or nothing, and close. Source: RFC 9112, 6.1 and 6.3.
inline bool has_known_coding(unsigned version, std::size_t fields, std::string_view coding) {
  constexpr unsigned kHttp11 = 11;
  return fields == 0 || (version >= kHttp11 && fields == 1 && lower_case(coding) == "chunked");
}

}  // namespace cupel
