#include "base/web_token.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <optional>

#include "base/base64.h"
#include "base/json.h"
#include "base/released_by.h"
#include "base/signature.h"
#include "base/text.h"

namespace cupel {
namespace {

constexpr std::size_t kLongestToken = 16u * 1024;
constexpr std::size_t kMostKeys = 100;

using PublicKey = Owned<EVP_PKEY, EVP_PKEY_free>;
using KeyContext = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using DigestContext = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;
using Builder = Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using Parameters = Owned<OSSL_PARAM, OSSL_PARAM_free>;
using Number = Owned<BIGNUM, BN_free>;

/// Without padding, as JOSE writes it. Source: RFC 4648, 5.
std::optional<std::string> base64url(std::string_view text) {
  if (text.find_first_of("+/=") != text.npos) return std::nullopt;
  std::string usual{text};
  for (char& c : usual) c = c == '-' ? '+' : c == '_' ? '/' : c;
  return from_base64(usual);
}

const unsigned char* octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string text_in(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

std::optional<std::string> bytes_in(const json::object& object, std::string_view key) {
  auto bytes = base64url(text_in(object, key));
  return bytes && !bytes->empty() ? bytes : std::nullopt;
}

PublicKey made_of(const char* type, const OSSL_PARAM* parameters) {
  const KeyContext context{EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr)};
  EVP_PKEY* key = nullptr;
  const bool made = context && EVP_PKEY_fromdata_init(context.get()) == 1 &&
                    EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY,
                                      const_cast<OSSL_PARAM*>(parameters)) == 1;
  return PublicKey{made ? key : nullptr};
}

PublicKey rsa_key(const json::object& jwk) {
  const auto modulus = bytes_in(jwk, "n"), exponent = bytes_in(jwk, "e");
  if (!modulus || !exponent || modulus->size() < 256 || modulus->size() > 1024) return {};
  const Number n{BN_bin2bn(octets(*modulus), static_cast<int>(modulus->size()), nullptr)};
  const Number e{BN_bin2bn(octets(*exponent), static_cast<int>(exponent->size()), nullptr)};
  const Builder builder{OSSL_PARAM_BLD_new()};
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  const Parameters parameters{OSSL_PARAM_BLD_to_param(builder.get())};
  return made_of("RSA", parameters.get());
}

PublicKey p256_key(const json::object& jwk) {
  const auto x = bytes_in(jwk, "x"), y = bytes_in(jwk, "y");
  if (text_in(jwk, "crv") != "P-256" || !x || !y || x->size() != 32 || y->size() != 32) return {};
  const std::string point = "\x04" + *x + *y;  // uncompressed: SEC 1, 2.3.3
  const Builder builder{OSSL_PARAM_BLD_new()};
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                   point.size());
  const Parameters parameters{OSSL_PARAM_BLD_to_param(builder.get())};
  return made_of("EC", parameters.get());
}

PublicKey ed25519_key(const json::object& jwk) {
  const auto x = bytes_in(jwk, "x");
  if (text_in(jwk, "crv") != "Ed25519" || !x || x->size() != 32) return {};
  if (has_small_order(*x)) return {};
  return PublicKey{EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, octets(*x), x->size())};
}

/// r and s of 32 bytes each, as OpenSSL wants them. Source: RFC 7518, 3.4.
std::optional<std::string> der_signature(std::string_view both) {
  if (both.size() != 64) return std::nullopt;
  const Owned<ECDSA_SIG, ECDSA_SIG_free> signature{ECDSA_SIG_new()};
  ECDSA_SIG_set0(signature.get(), BN_bin2bn(octets(both), 32, nullptr),
                 BN_bin2bn(octets(both) + 32, 32, nullptr));
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  if (size <= 0) return std::nullopt;
  std::string bytes{reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)};
  OPENSSL_free(der);
  return bytes;
}

bool is_signed_by(EVP_PKEY* key, std::string_view algorithm, std::string_view text,
                  const std::string& signature) {
  auto bytes = std::optional{signature};
  if (algorithm == "ES256") bytes = der_signature(signature);
  if (!bytes) return false;
  const DigestContext context{EVP_MD_CTX_new()};
  const auto* digest = algorithm == "EdDSA" ? nullptr : EVP_sha256();
  return EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), octets(*bytes), bytes->size(), octets(text),
                          text.size()) == 1;
}

Result<json::object> object_of(std::string_view part) {
  const Error malformed{Code::kMalformed, "it is no web token"};
  const auto text = base64url(part);
  if (!text) return malformed;
  auto value = parse_json(*text);
  if (!value || !value->is_object()) return malformed;
  return std::move(value->get_object());
}

}  // namespace

struct WebKeys::Key {
  std::string id{};
  std::string algorithm{};
  PublicKey key{};
};

WebKeys::WebKeys(std::vector<Key> keys) : keys_{std::move(keys)} {}
WebKeys::WebKeys(WebKeys&&) noexcept = default;
WebKeys& WebKeys::operator=(WebKeys&&) noexcept = default;
WebKeys::~WebKeys() = default;

Result<WebKeys> WebKeys::read(std::string_view json_web_key_set) {
  TRY(const auto value, within("the key set", parse_json(json_web_key_set)));
  const auto* list = find(value, "keys");
  if (list == nullptr || !list->is_array())
    return Error{Code::kInvalid, "the key set has no list \"keys\""};
  std::vector<Key> keys;
  for (const auto& each : list->get_array()) {
    if (!each.is_object() || keys.size() == kMostKeys) continue;
    const auto& jwk = each.get_object();
    const auto type = text_in(jwk, "kty"), use = text_in(jwk, "use");
    if (!use.empty() && use != "sig") continue;
    Key key{text_in(jwk, "kid")};
    key.algorithm = type == "RSA" ? "RS256" : type == "EC" ? "ES256" : "EdDSA";
    key.key = type == "RSA" ? rsa_key(jwk) : type == "EC" ? p256_key(jwk) : ed25519_key(jwk);
    const auto named = text_in(jwk, "alg");
    const bool fits = named.empty() || named == key.algorithm;
    if (key.key && fits) keys.push_back(std::move(key));
  }
  if (keys.empty())
    return Error{Code::kInvalid,
                 "the key set has no key that can be used: RSA of 2048 bits or more for RS256, "
                 "P-256 for ES256, Ed25519 for EdDSA"};
  return WebKeys{std::move(keys)};
}

Result<json::object> WebKeys::claims_of(std::string_view token) const {
  const auto parts = split(token, '.');
  if (token.size() > kLongestToken || parts.size() != 3)
    return Error{Code::kMalformed, "it is no web token"};
  TRY(const auto header, object_of(parts[0]));
  const auto signature = base64url(parts[2]);
  const auto algorithm = text_in(header, "alg"), id = text_in(header, "kid");
  // An extension that must be understood, and is not. Source: RFC 7515, 4.1.11.
  if (!signature || header.contains("crit")) return Error{Code::kMalformed, "it is no web token"};
  const auto text = token.substr(0, parts[0].size() + 1 + parts[1].size());
  for (const auto& key : keys_) {
    const bool named = id.empty() || key.id.empty() || id == key.id;
    if (named && key.algorithm == algorithm &&
        is_signed_by(key.key.get(), algorithm, text, *signature))
      return object_of(parts[1]);
  }
  return Error{Code::kUntrusted, "no key of the key set has signed the token"};
}

}  // namespace cupel
