#include "base/keyed_tags.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace cupel {
namespace {

/// A tag of zeros would be everybody's: nothing goes on.
void demand_gmac(int result) {
  if (result == 1) return;
  std::fputs("cupel: OpenSSL failed: no GMAC\n", stderr);
  std::abort();
}

}  // namespace

KeyedTags::KeyedTags() { demand_gmac(RAND_bytes(key_.data(), static_cast<int>(key_.size()))); }

/// The tag of a message that is all additional data. A number stands for one message as long as
/// tags stay in here: none is ever reported.
KeyedTags::Tag KeyedTags::of(std::uint64_t number, std::string_view bytes) const {
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };
  std::array<unsigned char, 12> nonce{};
  std::memcpy(nonce.data(), &number, sizeof number);
  const std::unique_ptr<EVP_CIPHER_CTX, Free> context{EVP_CIPHER_CTX_new()};
  demand_gmac(context == nullptr ? 0 : 1);
  demand_gmac(
      EVP_EncryptInit_ex(context.get(), EVP_aes_128_gcm(), nullptr, key_.data(), nonce.data()));
  int length = 0;
  const auto* input = reinterpret_cast<const unsigned char*>(bytes.data());
  demand_gmac(
      EVP_EncryptUpdate(context.get(), nullptr, &length, input, static_cast<int>(bytes.size())));
  demand_gmac(EVP_EncryptFinal_ex(context.get(), nullptr, &length));
  Tag tag{};
  demand_gmac(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, static_cast<int>(tag.size()),
                                  tag.data()));
  return tag;
}

}  // namespace cupel
