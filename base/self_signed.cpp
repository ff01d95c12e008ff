#include "base/self_signed.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cctype>

#include "base/digest.h"
#include "base/released_by.h"

namespace cupel {
namespace {

using Certificate = Owned<X509, X509_free>;
using PrivateKey = Owned<EVP_PKEY, EVP_PKEY_free>;
using Memory = Owned<BIO, BIO_free_all>;
using Extension = Owned<X509_EXTENSION, X509_EXTENSION_free>;

bool is_address(const std::string& name) {
  return name.contains(':') || name.find_first_not_of("0123456789.") == name.npos;
}

bool is_host(const std::string& name) {
  return !name.empty() && name.size() <= 253 && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == ':';
  });
}

bool add_extension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension{X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())};
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

std::string text_of(BIO* memory) {
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(memory, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

Result<Certificate> certificate_in(const std::string& pem) {
  const Memory memory{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  Certificate certificate{PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr)};
  if (!certificate) return Error{Code::kInvalid, "it is no PEM certificate"};
  return certificate;
}

}  // namespace

Result<SelfSignedCertificate> make_self_signed(const std::vector<std::string>& names,
                                               std::chrono::hours lasts) {
  std::string alternatives;
  for (const auto& name : names) {
    if (!is_host(name)) return Error{Code::kInvalid, "'" + name + "' is no host name or address"};
    alternatives += (alternatives.empty() ? "" : ",");
    alternatives += (is_address(name) ? "IP:" : "DNS:") + name;
  }
  if (names.empty()) return Error{Code::kInvalid, "a certificate needs a name"};
  const PrivateKey key{EVP_EC_gen("P-256")};
  const Certificate made{X509_new()};
  auto* certificate = made.get();
  unsigned char serial[16];
  bool good = key && certificate != nullptr && RAND_bytes(serial, sizeof serial) == 1;
  if (!good) return Error{Code::kInvalid, "no key could be made"};
  serial[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(serial, sizeof serial, nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
  BN_free(number);
  X509_set_version(certificate, X509_VERSION_3);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -300);
  X509_gmtime_adj(X509_getm_notAfter(certificate),
                  std::chrono::duration_cast<std::chrono::seconds>(lasts).count());
  X509_set_pubkey(certificate, key.get());
  auto* subject = X509_get_subject_name(certificate);
  const auto common = names.front().substr(0, 64);  // RFC 5280, ub-common-name
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common.data()),
                             static_cast<int>(common.size()), -1, 0);
  X509_set_issuer_name(certificate, subject);
  good = add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(certificate, NID_key_usage, "critical,digitalSignature") &&
         add_extension(certificate, NID_ext_key_usage, "serverAuth") &&
         add_extension(certificate, NID_subject_alt_name, alternatives) &&
         X509_sign(certificate, key.get(), EVP_sha256()) != 0;
  const Memory pem{BIO_new(BIO_s_mem())}, key_pem{BIO_new(BIO_s_mem())};
  good = good && PEM_write_bio_X509(pem.get(), certificate) == 1 &&
         PEM_write_bio_PKCS8PrivateKey(key_pem.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                       nullptr) == 1;
  if (!good) return Error{Code::kInvalid, "no certificate could be made of " + alternatives};
  return SelfSignedCertificate{text_of(pem.get()), text_of(key_pem.get())};
}

Result<std::string> certificate_fingerprint(const std::string& pem) {
  TRY(const auto certificate, certificate_in(pem));
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate.get(), &der);
  if (size <= 0) return Error{Code::kInvalid, "it is no certificate"};
  auto text =
      "SHA256:" + sha256_hex({reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)});
  OPENSSL_free(der);
  return text;
}

Result<Validity> certificate_validity(const std::string& pem) {
  TRY(const auto certificate, certificate_in(pem));
  std::tm begin{}, end{};
  if (ASN1_TIME_to_tm(X509_get0_notBefore(certificate.get()), &begin) != 1 ||
      ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &end) != 1)
    return Error{Code::kInvalid, "the certificate has no time of validity"};
  const auto seconds = [](std::tm& time) {
    return std::chrono::sys_seconds{std::chrono::seconds{::timegm(&time)}};
  };
  return Validity{seconds(begin), seconds(end)};
}

}  // namespace cupel
