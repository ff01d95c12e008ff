#include "bmc/redfish/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/digest.h"

namespace cupel::bmc::redfish {
namespace {

std::string fingerprint(X509* certificate) {
  unsigned char* der = nullptr;
  const int length = i2d_X509(certificate, &der);
  if (length <= 0) return {};
  const std::string bytes{reinterpret_cast<const char*>(der), static_cast<std::size_t>(length)};
  OPENSSL_free(der);
  return "SHA256:" + sha256_hex(bytes);
}

int verify(X509_STORE_CTX* context, void* argument) {
  auto& check = *static_cast<PinCheck*>(argument);
  X509* leaf = X509_STORE_CTX_get0_cert(context);
  check.presented = leaf == nullptr ? std::string{} : fingerprint(leaf);
  if (check.expected.empty() && !check.only_looking) check.expected = check.presented;
  const bool same = !check.presented.empty() && check.presented == check.expected;
  check.refused = !same;
  // curl reads this result once more after the handshake.
  X509_STORE_CTX_set_error(context, same ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
  return same ? 1 : 0;
}

}  // namespace

void hold_certificate_against(void* ssl_context, PinCheck& check) {
  auto* context = static_cast<SSL_CTX*>(ssl_context);
  SSL_CTX_set_cert_verify_callback(context, &verify, &check);
  // A renegotiation could present another certificate in the middle of a connection.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}

}  // namespace cupel::bmc::redfish
