// SHA-256 by libcrypto and by our own code: the same digests, whatever the steps are.
#include "burnin/agent/common/sha256.h"

#include <gtest/gtest.h>

#include "base/digest.h"

namespace cupel::agent {
namespace {

using By = Sha256::By;

std::string hex(By by, std::string_view text, std::size_t step = 1 << 20) {
  Sha256 hash{by};
  for (; !text.empty(); text.remove_prefix(std::min(step, text.size())))
    hash.update(text.substr(0, step));
  return hash.hex();
}

// NIST, "Secure Hash Standard" examples.
TEST(Sha256, GivesThePublishedDigests) {
  for (const auto by : {By::kBest, By::kPortable}) {
    EXPECT_EQ(hex(by, ""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex(by, "abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(by, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hex(by, std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST(Sha256, DoesNotDependOnHowTheStreamIsCut) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);

  for (std::size_t length = 0; length <= text.size(); ++length) {
    const auto part = std::string_view{text}.substr(0, length);
    const auto expected = sha256_hex(part);
    for (const std::size_t step : {1u, 13u, 63u, 64u, 65u})
      ASSERT_EQ(hex(By::kPortable, part, step), expected) << length << " by " << step;
    ASSERT_EQ(hex(By::kBest, part, 17), expected);
  }
}

}  // namespace
}  // namespace cupel::agent
