#include "tests/support/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

#include "base/digest.h"

namespace cupel::test {
namespace {

template <class Write>
std::string written(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio{BIO_new(BIO_s_mem()), &BIO_free_all};
  write(bio.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

SelfSigned make_certificate() {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{EVP_EC_gen("P-256"),
                                                                &EVP_PKEY_free};
  const std::unique_ptr<X509, decltype(&X509_free)> certificate{X509_new(), &X509_free};
  X509* x509 = certificate.get();
  X509_set_version(x509, 2);
  static long serial = 0;
  ASN1_INTEGER_set(X509_get_serialNumber(x509), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x509), 24L * 3600);
  X509_set_pubkey(x509, key.get());
  X509_NAME* name = X509_get_subject_name(x509);
  const auto* text = reinterpret_cast<const unsigned char*>("bmc under test");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
  X509_set_issuer_name(x509, name);
  X509_EXTENSION* where =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
  X509_add_ext(x509, where, -1);
  X509_EXTENSION_free(where);
  X509_sign(x509, key.get(), EVP_sha256());

  SelfSigned made;
  made.key_pem = written([&](BIO* bio) {
    PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  made.certificate_pem = written([&](BIO* bio) { PEM_write_bio_X509(bio, x509); });
  made.fingerprint = "SHA256:" + sha256_hex(written([&](BIO* bio) { i2d_X509_bio(bio, x509); }));
  return made;
}

}  // namespace cupel::test
