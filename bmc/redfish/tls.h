#pragma once
// What a BMC's certificate is held against where no authority vouches for it: the SHA-256 of the
// certificate itself. Not a replacement for an authority's check (Trust::ca), which is curl's own.
#include <string>

namespace cupel::bmc::redfish {

/// The certificate of one BMC, as expected and as presented. "SHA256:" and 64 lower-case digits.
struct PinCheck {
  std::string expected{};  // empty: whatever is presented first
  std::string presented{};
  bool refused = false;       // the last handshake presented another one than expected
  bool only_looking = false;  // refuse every certificate, having read it
};

/// Makes the handshakes of this OpenSSL context (an SSL_CTX*) fail unless the presented certificate
/// is the expected one. `check` must outlive the context.
/// Source: OpenSSL, SSL_CTX_set_cert_verify_callback(3).
void hold_certificate_against(void* ssl_context, PinCheck& check);

}  // namespace cupel::bmc::redfish
