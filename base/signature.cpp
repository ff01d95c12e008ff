#include "base/signature.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "base/released_by.h"
#include "base/ssh_agent.h"
#include "base/text.h"

namespace cupel {
namespace {

using Memory = Owned<BIO, BIO_free_all>;
using Key = Owned<EVP_PKEY, EVP_PKEY_free>;
using DigestContext = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;

const unsigned char* raw(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

constexpr std::size_t kPointBytes = 32;

/// A key with a passphrase is not asked for it on a terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

bool has_small_order(EVP_PKEY& key) {
  std::string point(kPointBytes, '\0');
  auto size = point.size();
  const bool read =
      EVP_PKEY_get_raw_public_key(&key, reinterpret_cast<unsigned char*>(point.data()), &size) == 1;
  return read && cupel::has_small_order(point);
}

Result<Key> checked(Key key, std::string_view what) {
  ERR_clear_error();
  if (!key)
    return Error{Code::kInvalid, "no PEM " + std::string{what} +
                                     " without a passphrase: make one with "
                                     "openssl genpkey -algorithm ed25519 -out site.key, and "
                                     "openssl pkey -in site.key -pubout -out site.pub"};
  if (EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_ED25519) {
    if (!has_small_order(*key)) return key;
    return Error{Code::kInvalid, std::string{what} +
                                     " of small order: anybody can make signatures "
                                     "for it"};
  }
  const auto* name = EVP_PKEY_get0_type_name(key.get());
  return Error{Code::kInvalid, std::string{what} + " of " + (name == nullptr ? "?" : name) +
                                   ": Ed25519 is expected"};
}

Result<Key> private_key_from(std::string_view pem) {
  const Memory bio{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  return checked(Key{PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr)},
                 "private key");
}

constexpr std::string_view kOfSsh = "ssh-ed25519";
constexpr std::size_t kKeyBytes = 32;

Result<Key> key_of_bytes(std::string_view bytes) {
  return checked(
      Key{EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(bytes), bytes.size())},
      "public key");
}

Result<Key> key_of_ssh(std::string_view line) {
  const auto parts = words(line);
  const auto blob = parts.size() < 2 ? std::nullopt : from_base64(parts[1]);
  const auto size = blob ? blob->size() : 0;
  if (size < kKeyBytes || *blob != ssh_key_blob(blob->substr(size - kKeyBytes)))
    return Error{Code::kInvalid, "no public key of Ed25519 as ssh-keygen -t ed25519 writes it"};
  return key_of_bytes(std::string_view{*blob}.substr(size - kKeyBytes));
}

Result<Key> public_key_from(std::string_view pem) {
  if (trimmed(pem).starts_with(kOfSsh)) return key_of_ssh(pem);
  const Memory bio{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  return checked(Key{PEM_read_bio_PUBKEY(bio.get(), nullptr, no_passphrase, nullptr)},
                 "public key");
}

Result<std::string> pem_of(EVP_PKEY& key) {
  const Memory bio{BIO_new(BIO_s_mem())};
  char* text = nullptr;
  const bool good = bio && PEM_write_bio_PUBKEY(bio.get(), &key) == 1;
  const auto size = good ? BIO_get_mem_data(bio.get(), &text) : 0;
  ERR_clear_error();
  if (size <= 0) return Error{Code::kInvalid, "OpenSSL did not write the public key"};
  return std::string{text, static_cast<std::size_t>(size)};
}

Result<std::string> by_agent(std::string_view bytes, std::string_view public_key) {
  TRY(const auto key, public_key_from(public_key));
  std::string open(kKeyBytes, '\0');
  auto size = open.size();
  if (EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(open.data()),
                                  &size) != 1)
    return Error{Code::kInvalid, "OpenSSL did not tell the public key"};
  return sign_by_agent(bytes, open);
}

}  // namespace

bool has_small_order(std::string_view encoded) {
  using Point = std::array<unsigned char, kPointBytes>;
  static constexpr auto filled = [](unsigned char first, unsigned char rest, unsigned char last) {
    Point point{};
    point.fill(rest);
    point.front() = first;
    point.back() = last;
    return point;
  };
  static constexpr std::array<Point, 7> kPoints{
      filled(0, 0, 0),
      filled(1, 0, 0),
      Point{0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
            0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
            0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
      Point{0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
            0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
            0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
      filled(0xec, 0xff, 0x7f),
      filled(0xed, 0xff, 0x7f),
      filled(0xee, 0xff, 0x7f)};
  if (encoded.size() != kPointBytes) return false;
  Point point{};
  std::ranges::copy(encoded, point.begin());
  point.back() &= 0x7f;
  return std::ranges::find(kPoints, point) != kPoints.end();
}

Result<void> verify_signature(std::string_view bytes, std::string_view signature,
                              std::string_view public_key) {
  if (signature.empty()) return Error{Code::kUntrusted, "the signature is empty"};
  if (signature.size() != kSignatureBytes)
    return Error{Code::kUntrusted, "the signature has " + std::to_string(signature.size()) +
                                       " bytes, and one by Ed25519 has 64: it was cut, or is of "
                                       "another algorithm"};
  TRY(const auto key, public_key_from(public_key));
  const DigestContext context{EVP_MD_CTX_new()};
  const bool good =
      context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(), raw(signature), signature.size(), raw(bytes), bytes.size()) ==
          1;
  ERR_clear_error();
  if (good) return ok();
  return Error{Code::kUntrusted, "the signature is not by this key, or was made over other bytes"};
}

Result<std::string> sign(std::string_view bytes, std::string_view private_key) {
  TRY(const auto key, private_key_from(private_key));
  std::string signature(kSignatureBytes, '\0');
  auto size = signature.size();
  const DigestContext context{EVP_MD_CTX_new()};
  const bool good =
      context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     raw(bytes), bytes.size()) == 1;
  ERR_clear_error();
  if (!good || size != kSignatureBytes) return Error{Code::kInvalid, "OpenSSL did not sign"};
  return signature;
}

Result<std::string> public_key_of(std::string_view private_key) {
  TRY(const auto key, private_key_from(private_key));
  return pem_of(*key);
}

Result<std::string> public_key_pem(std::string_view text) {
  TRY(const auto key, public_key_from(text));
  return pem_of(*key);
}

Result<SigningKey> SigningKey::of_private_key(std::string_view pem) {
  TRY(auto open, public_key_of(pem));
  return SigningKey{
      [own = std::string{pem}](std::string_view bytes) { return cupel::sign(bytes, own); },
      std::move(open)};
}

Result<SigningKey> SigningKey::of_agent(std::string_view public_key) {
  TRY(auto open, public_key_pem(public_key));
  return SigningKey{[open](std::string_view bytes) { return by_agent(bytes, open); }, open};
}

Result<SigningKey> SigningKey::of_token(TokenKey key, std::string pin) {
  TRY(const auto point, token_public_key(key, pin));
  TRY(const auto checked_key, key_of_bytes(point));
  TRY(auto open, pem_of(*checked_key));
  return SigningKey{[key = std::move(key), pin = std::move(pin)](std::string_view bytes) {
                      return sign_by_token(bytes, key, pin);
                    },
                    std::move(open)};
}

Result<std::string> SigningKey::sign(std::string_view bytes) const {
  TRY(auto signature, signer_(bytes));
  TRY(verify_signature(bytes, signature, public_key_));
  return signature;
}

Result<std::string> make_signing_key() {
  const Key key{EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")};
  const Memory bio{BIO_new(BIO_s_mem())};
  char* text = nullptr;
  const bool good =
      key && bio &&
      PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
  const auto size = good ? BIO_get_mem_data(bio.get(), &text) : 0;
  ERR_clear_error();
  if (size <= 0) return Error{Code::kFailed, "OpenSSL made no key of Ed25519"};
  return std::string{text, static_cast<std::size_t>(size)};
}

}  // namespace cupel
