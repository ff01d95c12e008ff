#pragma once
// The list of certificates and keys that do not count any more. Pure.
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::certificate {

/// By what a list may name a certificate. Each is a SHA-256 in lower-case hexadecimal.
struct Revocable {
  std::string payload{};  // of the signed bytes: the same however the envelope is written
  std::string file{};     // of the file; another line end makes another one
  std::string key_id{};   // of the key that signed it
};

/// `list`: a SHA-256 on each line, with words for people behind it; empty lines and lines that
/// begin with '#' are comments. Errors: kUntrusted: a line names the certificate or its key;
/// kInvalid: a line has no SHA-256, with its number, since what it was to revoke is not known.
Result<void> check_revoked(std::string_view list, const Revocable& certificate);

}  // namespace cupel::certificate
