#include "base/signature.h"

#include <gmock/gmock.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <memory>

#include "base/web_token.h"

namespace cupel {
namespace {

using ::testing::HasSubstr;

/// By OpenSSL itself, as `openssl genpkey` makes them.
std::string pem_of(EVP_PKEY* key, bool is_private) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio{BIO_new(BIO_s_mem()), BIO_free};
  if (is_private)
    PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  else
    PEM_write_bio_PUBKEY(bio.get(), key);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

struct Pair {
  std::string own, open;
};

Pair pair_of(EVP_PKEY* made) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key{made, EVP_PKEY_free};
  return {pem_of(key.get(), true), pem_of(key.get(), false)};
}

Pair ed25519() { return pair_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")); }

TEST(Signature, IsOfTheseBytesByThisKeyAlone) {
  const auto key = ed25519(), other = ed25519();
  const auto signature = sign("images: []\n", key.own);

  ASSERT_TRUE(signature) << signature.error().what;
  EXPECT_EQ(signature->size(), kSignatureBytes);
  EXPECT_TRUE(verify_signature("images: []\n", *signature, key.open));
  EXPECT_FALSE(verify_signature("images: [] \n", *signature, key.open));
  EXPECT_FALSE(verify_signature("", *signature, key.open));
  EXPECT_FALSE(verify_signature("images: []\n", *signature, other.open));
}

TEST(Signature, FailsForEachBitThatDiffers) {
  const auto key = ed25519();
  const auto signature = sign("x", key.own);

  ASSERT_TRUE(signature);
  for (std::size_t bit = 0; bit < 8 * kSignatureBytes; ++bit) {
    auto damaged = *signature;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto verified = verify_signature("x", damaged, key.open);
    ASSERT_FALSE(verified) << "bit " << bit;
    EXPECT_EQ(verified.error().code, Code::kUntrusted);
  }
}

TEST(Signature, TakesNoResultForAFailure) {
  const auto key = ed25519();
  const auto whole = sign("x", key.own);
  ASSERT_TRUE(whole);

  for (std::size_t size = 0; size < kSignatureBytes; ++size) {
    const auto verified = verify_signature("x", whole->substr(0, size), key.open);
    ASSERT_FALSE(verified) << size << " bytes";
    EXPECT_EQ(verified.error().code, Code::kUntrusted);
  }
  EXPECT_FALSE(verify_signature("x", *whole + "\n", key.open));
  EXPECT_FALSE(verify_signature("x", std::string(kSignatureBytes, '\0'), key.open));
  EXPECT_THAT(verify_signature("x", "", key.open).error().what, HasSubstr("empty"));
}

TEST(Signature, RefusesKeysOfOtherAlgorithms) {
  const auto rsa = pair_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048}));
  const auto curve = pair_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const std::string signature(kSignatureBytes, 'a');

  EXPECT_EQ(sign("x", rsa.own).error().what, "private key of RSA: Ed25519 is expected");
  EXPECT_EQ(verify_signature("x", signature, curve.open).error().what,
            "public key of EC: Ed25519 is expected");
  EXPECT_THAT(verify_signature("x", signature, "").error().what, HasSubstr("no PEM public key"));
  EXPECT_THAT(sign("x", "nothing").error().what, HasSubstr("no PEM private key"));
  EXPECT_THAT(sign("x", ed25519().open).error().what, HasSubstr("no PEM private key"));
}

/// By such a key the same signature fits every text.
TEST(Signature, RefusesAKeyOfSmallOrder) {
  for (const unsigned sign_bit : {0x00U, 0x80U}) {
    std::string point(32, '\0');
    point.front() = 1;
    point.back() = static_cast<char>(sign_bit);
    auto* key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                            reinterpret_cast<const unsigned char*>(point.data()),
                                            point.size());
    ASSERT_NE(key, nullptr);
    BIO* memory = BIO_new(BIO_s_mem());
    PEM_write_bio_PUBKEY(memory, key);
    char* text = nullptr;
    const auto size = BIO_get_mem_data(memory, &text);
    const std::string pem(text, static_cast<std::size_t>(size));
    BIO_free(memory);
    EVP_PKEY_free(key);

    EXPECT_THAT(public_key_pem(pem).error().what, HasSubstr("small order"));
    EXPECT_THAT(verify_signature("x", point.substr(0, 1) + std::string(63, '\0'), pem).error().what,
                HasSubstr("small order"));
  }
}

TEST(Signature, AKeyOfSmallOrderIsNoneOfAWebKeySetEither) {
  const auto set = [](const std::string& first) {
    const auto x = first + std::string(41, 'A');  // 32 bytes, the others 0
    return R"({"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k1","x":")" + x + "\"}]}";
  };

  const auto refused = WebKeys::read(set("AQ"));

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("no key that can be used"));
  EXPECT_TRUE(WebKeys::read(set("CQ")));
}

TEST(Signature, FindsThePublicKeyOfAPrivateOne) {
  const auto key = ed25519();

  const auto open = public_key_of(key.own);

  ASSERT_TRUE(open) << open.error().what;
  EXPECT_EQ(*open, key.open);
}

TEST(Signature, AKeyThatIsMadeSignsAndIsAnotherOneEachTime) {
  const auto key = make_signing_key(), other = make_signing_key();
  ASSERT_TRUE(key && other);

  const auto signature = sign("images: []\n", *key);

  ASSERT_TRUE(signature) << signature.error().what;
  EXPECT_TRUE(verify_signature("images: []\n", *signature, *public_key_of(*key)));
  EXPECT_FALSE(verify_signature("images: []\n", *signature, *public_key_of(*other)));
}

TEST(TokenKeyName, IsReadAsTheStandardHasIt) {
  const auto key = parse_token_key(
      "pkcs11:token=My%20site;serial=ab12;object=certificates;id=%01%ff;type=private"
      "?module-path=/usr/lib/x.so&pin-source=file:/etc/cupel/pin");

  ASSERT_TRUE(key) << key.error().what;
  EXPECT_EQ(*key, (TokenKey{.module = "/usr/lib/x.so",
                            .pin_source = "file:/etc/cupel/pin",
                            .token = "My site",
                            .serial = "ab12",
                            .object = "certificates",
                            .id = "\x01\xff"}));
}

TEST(TokenKeyName, IsRefusedWithTheReason) {
  const auto why = [](const std::string& uri) {
    const auto key = parse_token_key(uri);
    return key ? std::string{"taken"} : key.error().what;
  };

  EXPECT_THAT(why("pkcs11:object=a?module-path=/x.so&pin-value=1234"),
              HasSubstr("seen in the list of processes"));
  EXPECT_THAT(why("pkcs11:object=a;pin-value=1234?module-path=/x.so"),
              HasSubstr("seen in the list of processes"));
  EXPECT_THAT(why("pkcs11:token=a?module-path=/x.so"), HasSubstr("which key?"));
  EXPECT_THAT(why("pkcs11:object=a"), HasSubstr("which module?"));
  EXPECT_THAT(why("pkcs11:object=a?module-path=x.so"), HasSubstr("absolute"));
  EXPECT_THAT(why("pkcs11:object=a;object=b?module-path=/x.so"), HasSubstr("object twice"));
  EXPECT_THAT(why("pkcs11:object=a;colour=b?module-path=/x.so"), HasSubstr("'colour'"));
  EXPECT_THAT(why("pkcs11:object=%zz?module-path=/x.so"), HasSubstr("no percent-encoded text"));
  EXPECT_THAT(why("pkcs11:?module-path=/x.so"), HasSubstr("is no attribute"));
  EXPECT_THAT(why("pkcs12:object=a"), HasSubstr("expected pkcs11:"));
  EXPECT_THAT(why("pkcs11:object=" + std::string(3000, 'a')), HasSubstr("expected pkcs11:"));
}

}  // namespace
}  // namespace cupel
