#include "base/base64.h"

#include <gtest/gtest.h>

namespace cupel {
namespace {

TEST(Base64, IsThatOfTheStandard) {  // RFC 4648, 10
  for (const auto& [bytes, text] :
       {std::pair{"", ""}, std::pair{"f", "Zg=="}, std::pair{"fo", "Zm8="},
        std::pair{"foo", "Zm9v"}, std::pair{"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, IsReadWithoutPaddingAndRefusedWithOtherCharacters) {
  EXPECT_EQ(from_base64("Zm8"), "fo");
  EXPECT_EQ(from_base64("Zm 8"), std::nullopt);
  EXPECT_EQ(from_base64("Zm9v\n"), std::nullopt);
}

TEST(Base64, GivesEveryByteBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);

  EXPECT_EQ(from_base64(base64(all)), all);
}

}  // namespace
}  // namespace cupel
