#include "bmc/ipmi/crypto.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <stdexcept>

namespace cupel::bmc::ipmi {
namespace {

void need(bool done, const char* what) {
  if (!done) throw std::runtime_error{std::string{"OpenSSL: "} + what};
}

template <auto Free>
struct Deleter {
  void operator()(auto* pointer) const { Free(pointer); }
};

using MacContext = std::unique_ptr<EVP_MAC_CTX, Deleter<EVP_MAC_CTX_free>>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, Deleter<EVP_CIPHER_CTX_free>>;

// Looking an algorithm up by name takes longer than using it.
EVP_MAC* hmac() {
  static const std::unique_ptr<EVP_MAC, Deleter<EVP_MAC_free>> found{
      EVP_MAC_fetch(nullptr, "HMAC", nullptr)};
  return found.get();
}

EVP_CIPHER* aes() {
  static const std::unique_ptr<EVP_CIPHER, Deleter<EVP_CIPHER_free>> found{
      EVP_CIPHER_fetch(nullptr, "AES-128-CBC", nullptr)};
  return found.get();
}

CipherContext cipher(const Block& key, int encrypting) {
  CipherContext context{EVP_CIPHER_CTX_new()};
  need(EVP_CipherInit_ex2(context.get(), aes(), key.data(), nullptr, encrypting, nullptr) == 1,
       "AES-128-CBC");
  EVP_CIPHER_CTX_set_padding(context.get(), 0);
  return context;
}

void run(EVP_CIPHER_CTX* context, const Block& iv, std::uint8_t* data, std::size_t count) {
  int done = 0;
  const bool fine = EVP_CipherInit_ex2(context, nullptr, nullptr, iv.data(), -1, nullptr) == 1 &&
                    EVP_CipherUpdate(context, data, &done, data, static_cast<int>(count)) == 1;
  need(fine && static_cast<std::size_t>(done) == count, "AES");
}

}  // namespace

struct Mac::Context {
  MacContext handle;
  std::size_t size;
};

Mac::Mac(Hash hash, View key) : context_{std::make_unique<Context>()} {
  context_->handle.reset(EVP_MAC_CTX_new(hmac()));
  context_->size = size_of(hash);
  char sha1[] = "SHA1", sha256[] = "SHA256";
  const OSSL_PARAM parameters[]{OSSL_PARAM_construct_utf8_string(
                                    OSSL_MAC_PARAM_DIGEST, hash == Hash::sha1 ? sha1 : sha256, 0),
                                OSSL_PARAM_construct_end()};
  // A key without bytes is a key (an empty password), and a null pointer is none.
  const std::uint8_t none = 0;
  const auto* bytes = key.empty() ? &none : key.data();
  need(EVP_MAC_init(context_->handle.get(), bytes, key.size(), parameters) == 1, "HMAC");
}

Mac::Mac(Mac&&) noexcept = default;
Mac& Mac::operator=(Mac&&) noexcept = default;
Mac::~Mac() = default;

Bytes Mac::of(std::initializer_list<View> parts) {
  auto* handle = context_->handle.get();
  need(EVP_MAC_init(handle, nullptr, 0, nullptr) == 1, "HMAC");
  for (const auto part : parts) EVP_MAC_update(handle, part.data(), part.size());
  Bytes code(context_->size);
  std::size_t written = 0;
  need(EVP_MAC_final(handle, code.data(), &written, code.size()) == 1, "HMAC");
  return code;
}

struct Aes::Contexts {
  CipherContext encrypting, decrypting;
};

Aes::Aes(const Block& key)
    : contexts_{std::make_unique<Contexts>(Contexts{cipher(key, 1), cipher(key, 0)})} {}
Aes::Aes(Aes&&) noexcept = default;
Aes& Aes::operator=(Aes&&) noexcept = default;
Aes::~Aes() = default;

void Aes::encrypt(const Block& iv, std::uint8_t* data, std::size_t count) {
  run(contexts_->encrypting.get(), iv, data, count);
}

void Aes::decrypt(const Block& iv, std::uint8_t* data, std::size_t count) {
  run(contexts_->decrypting.get(), iv, data, count);
}

bool same_secret(View left, View right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

Block random_block() {
  Block block;
  need(RAND_bytes(block.data(), block.size()) == 1, "no random bytes");
  return block;
}

void wipe(std::string& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

void wipe(Bytes& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

}  // namespace cupel::bmc::ipmi
