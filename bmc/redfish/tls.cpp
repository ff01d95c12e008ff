#include "bmc/redfish/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/digest.h"

namespace cupel::bmc::redfish {

void FreeTlsSession::operator()(ssl_session_st* session) const { SSL_SESSION_free(session); }

namespace {

std::string fingerprint(X509* certificate) {
  unsigned char* der = nullptr;
  const int length = i2d_X509(certificate, &der);
  if (length <= 0) return {};
  const std::string bytes{reinterpret_cast<const char*>(der), static_cast<std::size_t>(length)};
  OPENSSL_free(der);
  return "SHA256:" + sha256_hex(bytes);
}

/// The certificate that a session began with, and that was checked then.
std::string fingerprint_of(const SSL_SESSION* session) {
  // OpenSSL's signature lacks the const; it only looks.
  X509* leaf = SSL_SESSION_get0_peer(const_cast<SSL_SESSION*>(session));
  return leaf == nullptr ? std::string{} : fingerprint(leaf);
}

int verify(X509_STORE_CTX* context, void* argument) {
  auto& check = *static_cast<PinCheck*>(argument);
  X509* leaf = X509_STORE_CTX_get0_cert(context);
  check.presented = leaf == nullptr ? std::string{} : fingerprint(leaf);
  if (check.expected.empty() && !check.only_looking) check.expected = check.presented;
  const bool same = !check.presented.empty() && check.presented == check.expected;
  check.refused = !same;
  if (same) check.checked = std::chrono::steady_clock::now();
  if (same) ++check.handshakes;
  // curl reads this result once more after the handshake.
  X509_STORE_CTX_set_error(context, same ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
  return same ? 1 : 0;
}

/// Where a context keeps its PinCheck.
int check_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

PinCheck& check_of(const SSL* ssl) {
  return *static_cast<PinCheck*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), check_index()));
}

/// Before the first byte of a handshake: the newest session, if it is of the expected certificate.
void offer_session(SSL* ssl, PinCheck& check) {
  const auto age = std::chrono::steady_clock::now() - check.checked;
  if (age > PinCheck::kLongestTrust) check.forget_sessions();
  if (check.sessions.empty()) return;
  const auto session = std::move(check.sessions.back());
  check.sessions.pop_back();
  if (fingerprint_of(session.get()) == check.expected) SSL_set_session(ssl, session.get());
}

/// After the last byte of a handshake and before the first one of a request. A session that was
/// resumed showed nothing: what it began with is held against what is expected now.
void check_resumed(const SSL* ssl, PinCheck& check) {
  if (SSL_session_reused(ssl) == 0) return;
  const auto began_with = fingerprint_of(SSL_get_session(ssl));
  check.refused = began_with.empty() || began_with != check.expected;
  check.presented = began_with;
  if (!check.refused) {
    ++check.resumed;
    return;
  }
  check.forget_sessions();
  auto* mutable_ssl = const_cast<SSL*>(ssl);
  SSL_set_verify_result(mutable_ssl, X509_V_ERR_CERT_REJECTED);  // curl reads it and gives up
  // And should it not: nothing is written or read any more (SSL_set_shutdown(3)).
  SSL_set_shutdown(mutable_ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

void on_progress(const SSL* ssl, int where, int) {
  if ((where & SSL_CB_HANDSHAKE_DONE) != 0) check_resumed(ssl, check_of(ssl));
}

void on_progress_resuming(const SSL* ssl, int where, int result) {
  if ((where & SSL_CB_HANDSHAKE_START) != 0 && SSL_in_before(ssl) != 0)
    offer_session(const_cast<SSL*>(ssl), check_of(ssl));
  on_progress(ssl, where, result);
}

/// A session of a certificate that passed, for the next connection. 1: it is ours now.
int on_new_session(SSL* ssl, SSL_SESSION* session) {
  auto& check = check_of(ssl);
  if (SSL_SESSION_is_resumable(session) == 0 || fingerprint_of(session) != check.expected) return 0;
  if (check.sessions.size() >= PinCheck::kMostSessions)
    check.sessions.erase(check.sessions.begin());
  check.sessions.emplace_back(session);
  return 1;
}

}  // namespace

void hold_certificate_against(void* ssl_context, PinCheck& check, bool may_resume) {
  auto* context = static_cast<SSL_CTX*>(ssl_context);
  SSL_CTX_set_cert_verify_callback(context, &verify, &check);
  // A renegotiation could present another certificate in the middle of a connection.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_ex_data(context, check_index(), &check);
  SSL_CTX_set_info_callback(context, may_resume ? &on_progress_resuming : &on_progress);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, &on_new_session);
  // Some 34 kB less for each kept connection, while nothing comes on it.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

}  // namespace cupel::bmc::redfish
