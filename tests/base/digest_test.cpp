#include "base/digest.h"

#include <gtest/gtest.h>
#include <openssl/rand.h>

namespace cupel {
namespace {

// Source: NIST, "SHA-256 examples" to FIPS 180-4, and the empty message of its test vectors.
TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(RandomDeathTest, EndsTheProcessWhereThereAreNoRandomBytes) {
  RAND_METHOD broken = *RAND_get_rand_method();
  broken.bytes = [](unsigned char*, int) { return 0; };
  const auto draw = [&] {
    RAND_set_rand_method(&broken);
    return random_hex(8);
  };

  EXPECT_DEATH(draw(), "OpenSSL failed: no random bytes");
}

}  // namespace
}  // namespace cupel
