#pragma once
// A self-signed certificate for 127.0.0.1, as a BMC makes one for itself.
#include <string>

namespace cupel::test {

struct SelfSigned {
  std::string key_pem;
  std::string certificate_pem;
  std::string fingerprint;  // "SHA256:..." of its DER form
};

SelfSigned make_certificate();

}  // namespace cupel::test
