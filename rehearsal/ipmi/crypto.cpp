#include "rehearsal/ipmi/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <memory>
#include <stdexcept>

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::size_t kBlock = 16;

struct Cipher {
  struct Free {
    void operator()(EVP_CIPHER_CTX* used) const { EVP_CIPHER_CTX_free(used); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> context{EVP_CIPHER_CTX_new()};
};

Bytes run(bool encrypt, View key, View iv, View blocks) {
  const Cipher cipher;
  Bytes out(blocks.size());
  int count = 0;
  const bool good = key.size() >= kBlock && iv.size() == kBlock &&
                    EVP_CipherInit_ex(cipher.context.get(), EVP_aes_128_cbc(), nullptr, key.data(),
                                      iv.data(), encrypt ? 1 : 0) == 1 &&
                    EVP_CIPHER_CTX_set_padding(cipher.context.get(), 0) == 1 &&
                    EVP_CipherUpdate(cipher.context.get(), out.data(), &count, blocks.data(),
                                     static_cast<int>(blocks.size())) == 1;
  if (!good) throw std::runtime_error{"AES-CBC-128 of a virtual BMC"};
  return out;
}

}  // namespace

Bytes hmac(Hash hash, View key, View text) {
  Bytes code(EVP_MAX_MD_SIZE);
  unsigned size = 0;
  const auto* digest = hash == Hash::sha1 ? EVP_sha1() : EVP_sha256();
  const auto* made = HMAC(digest, key.data(), static_cast<int>(key.size()), text.data(),
                          text.size(), code.data(), &size);
  if (made == nullptr) throw std::runtime_error{"HMAC of a virtual BMC"};
  code.resize(size);
  return code;
}

Bytes aes_encrypt(View key, View iv, View blocks) { return run(true, key, iv, blocks); }

std::optional<Bytes> aes_decrypt(View key, View iv, View blocks) {
  if (blocks.empty() || blocks.size() % kBlock != 0) return std::nullopt;
  return run(false, key, iv, blocks);
}

Bytes random_bytes(std::size_t count) {
  Bytes bytes(count);
  if (RAND_bytes(bytes.data(), static_cast<int>(count)) != 1)
    throw std::runtime_error{"no random bytes"};
  return bytes;
}

bool same(View one, View other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace cupel::rehearsal::ipmi
