#include "rehearsal/bmc/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <memory>

#include "base/digest.h"
#include "base/file.h"

namespace cupel::rehearsal {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free_all)>;
using PrivateKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using X509Pointer = std::unique_ptr<X509, decltype(&X509_free)>;

template <class Write>
std::string written(Write write) {
  const Bio bio{BIO_new(BIO_s_mem()), &BIO_free_all};
  write(bio.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

Certificate in_text(EVP_PKEY* key, X509* x509) {
  Certificate made;
  made.key_pem = written(
      [&](BIO* bio) { PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
  made.certificate_pem = written([&](BIO* bio) { PEM_write_bio_X509(bio, x509); });
  made.fingerprint = "SHA256:" + sha256_hex(written([&](BIO* bio) { i2d_X509_bio(bio, x509); }));
  return made;
}

void name_it(X509* x509, const std::string& name, const std::string& address) {
  X509_NAME* subject = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  constexpr std::string_view kWhose = "REHEARSAL";
  X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(kWhose.data()),
                             static_cast<int>(kWhose.size()), -1, 0);
  X509_set_issuer_name(x509, subject);
  const auto where = "IP:" + address;
  X509_EXTENSION* names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, where.c_str());
  if (names) X509_add_ext(x509, names, -1);
  X509_EXTENSION_free(names);
}

/// RFC 5280, 4.1.2.2: unique for its issuer, and issuers here share their names between racks.
void number_it(X509* x509) {
  std::uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) std::abort();
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), serial >> 1);
}

}  // namespace

Result<Certificate> make_certificate(const std::string& name, const std::string& address) {
  constexpr long kDay = 86400;
  const PrivateKey key{EVP_EC_gen("P-256"), &EVP_PKEY_free};
  const X509Pointer x509{X509_new(), &X509_free};
  if (!key || !x509) return Error{Code::kFailed, "OpenSSL cannot make a P-256 key"};
  X509_set_version(x509.get(), 2);
  number_it(x509.get());
  X509_gmtime_adj(X509_getm_notBefore(x509.get()), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(x509.get()), 3650 * kDay);
  X509_set_pubkey(x509.get(), key.get());
  name_it(x509.get(), name, address);
  if (X509_sign(x509.get(), key.get(), EVP_sha256()) == 0)
    return Error{Code::kFailed, "OpenSSL cannot sign the certificate of " + name};
  return in_text(key.get(), x509.get());
}

Result<Certificate> load_or_make_certificate(const std::filesystem::path& file,
                                             const std::string& name, const std::string& address) {
  constexpr std::size_t kLimit = 64 * 1024;
  const auto text = read_file(file, kLimit);
  if (!text && text.error().code != Code::kNotFound) return text.error();
  if (!text) {
    TRY(auto made, make_certificate(name, address));
    TRY(write_file(file, made.key_pem + made.certificate_pem, 0600));
    return made;
  }
  const auto opened = [&] {
    return Bio{BIO_new_mem_buf(text->data(), static_cast<int>(text->size())), &BIO_free_all};
  };
  const PrivateKey key{PEM_read_bio_PrivateKey(opened().get(), nullptr, nullptr, nullptr),
                       &EVP_PKEY_free};
  const X509Pointer x509{PEM_read_bio_X509(opened().get(), nullptr, nullptr, nullptr), &X509_free};
  if (!key || !x509 || X509_check_private_key(x509.get(), key.get()) != 1)
    return Error{Code::kInvalid,
                 file.string() + " is no certificate with its key; remove it to get a new one"};
  return in_text(key.get(), x509.get());
}

}  // namespace cupel::rehearsal
