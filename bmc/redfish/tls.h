#pragma once
// What a BMC's certificate is held against where no authority vouches for it: the SHA-256 of the
// certificate itself. And TLS sessions that may be resumed, each with the certificate that was
// checked when it began. Not a replacement for an authority's check (Trust::ca), which is curl's.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

struct ssl_session_st;  // OpenSSL's SSL_SESSION

namespace cupel::bmc::redfish {

struct FreeTlsSession {
  void operator()(ssl_session_st* session) const;
};

/// The certificate of one BMC, as expected and as presented: "SHA256:" and 64 lower-case digits.
/// And what is needed to resume its TLS sessions.
struct PinCheck {
  std::string expected{};  // empty: whatever is presented first
  std::string presented{};
  bool refused = false;       // the last handshake presented another one than expected
  bool only_looking = false;  // refuse every certificate, having read it

  // The newest last: a ticket is used once (RFC 8446, C.4).
  std::vector<std::unique_ptr<ssl_session_st, FreeTlsSession>> sessions{};
  std::chrono::steady_clock::time_point checked{};  // when a certificate was last presented
  int handshakes = 0;                               // that presented one
  int resumed = 0;                                  // that did not have to

  /// From now on nothing is resumed that began before.
  void forget_sessions() { sessions.clear(); }

  static constexpr std::size_t kMostSessions = 2;
  /// A certificate is presented at least this often.
  static constexpr std::chrono::minutes kLongestTrust{60};
};

/// Makes the handshakes of this OpenSSL context (an SSL_CTX*) fail unless the certificate is the
/// expected one: the presented one, or that of the session which is resumed. Where `may_resume`,
/// a session of `check` is offered; new ones are kept in it. `check` must outlive the context.
/// Source: OpenSSL, SSL_CTX_set_cert_verify_callback(3), SSL_CTX_set_info_callback(3),
/// SSL_CTX_sess_set_new_cb(3).
void hold_certificate_against(void* ssl_context, PinCheck& check, bool may_resume);

}  // namespace cupel::bmc::redfish
