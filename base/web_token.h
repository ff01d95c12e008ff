#pragma once
// Signed JSON web tokens, held against a set of public keys, by OpenSSL. What the claims mean is
// the caller's. Source: RFC 7515 (JWS, compact form), RFC 7517 (JWK), RFC 7518, RFC 7519, RFC 8037.
#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel {

/// The keys of a JSON Web Key Set that sign: RSA of 2048 bits or more (RS256), P-256 (ES256) and
/// Ed25519 (EdDSA).
class WebKeys {
 public:
  /// Errors: kInvalid: no key set, or none of its keys can be used, naming why.
  static Result<WebKeys> read(std::string_view json_web_key_set);
  WebKeys(WebKeys&&) noexcept;
  WebKeys& operator=(WebKeys&&) noexcept;
  ~WebKeys();

  /// The claims of a token that one of the keys has signed. The header's `alg` must be that of the
  /// key; `none` and symmetric ones are never accepted. Says nothing of times, issuer and audience.
  /// Errors: kMalformed: no token in compact form; kUntrusted: its signature.
  Result<boost::json::object> claims_of(std::string_view token) const;

 private:
  struct Key;
  explicit WebKeys(std::vector<Key> keys);
  std::vector<Key> keys_;
};

}  // namespace cupel
