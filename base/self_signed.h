#pragma once
// A certificate that a service makes for itself, for a site that has not given it one yet. Whoever
// connects has to compare its fingerprint once.
#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupel {

struct SelfSignedCertificate {
  std::string certificate{};  // PEM
  std::string key{};          // PEM, P-256
};

/// `names`: host names and addresses; the first is its common name. Errors: kInvalid: a name that
/// no certificate may have.
Result<SelfSignedCertificate> make_self_signed(const std::vector<std::string>& names,
                                               std::chrono::hours lasts);

/// "SHA256:..." of the first certificate's DER form, in hexadecimal. Errors: kInvalid: no PEM
/// certificate.
Result<std::string> certificate_fingerprint(const std::string& pem);

struct Validity {
  std::chrono::sys_seconds begin{}, end{};
};

/// From when until when the first certificate is valid (RFC 5280, 4.1.2.5). Errors: kInvalid: no
/// PEM certificate.
Result<Validity> certificate_validity(const std::string& pem);

}  // namespace cupel
