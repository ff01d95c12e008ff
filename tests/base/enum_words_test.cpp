#include "base/enum_words.h"

#include <gmock/gmock.h>

namespace cupel {
namespace {

using ::testing::ElementsAre;

enum class Fruit { apple, sweet_cherry, switch_ };
struct Basket {
  enum class State : unsigned char { empty, half_full };
};
enum class Failure { kCut, kNotFound };

TEST(EnumWords, AreTheNamesWithASignInPlaceOfUnderscores) {
  EXPECT_THAT((enum_words_of<Fruit, ' '>()), ElementsAre("apple", "sweet cherry", "switch"));
  EXPECT_THAT((enum_words_of<Fruit, '-'>()), ElementsAre("apple", "sweet-cherry", "switch"));
  EXPECT_THAT((enum_words_of<Basket::State, '-'>()), ElementsAre("empty", "half-full"));
  EXPECT_THAT((enum_words_of<Failure, '-'>()), ElementsAre("cut", "not-found"));
}

TEST(EnumWords, AreReadBackAndNothingElseIs) {
  EXPECT_EQ((enum_of<Fruit, '-'>("sweet-cherry")), Fruit::sweet_cherry);
  for (const auto* word : {"sweet_cherry", "sweet cherry", "switch_", "Apple", ""})
    EXPECT_EQ((enum_of<Fruit, '-'>(word)), std::nullopt) << word;
}

TEST(EnumWords, ThereIsNoneOfAValueThatIsNoEnumerator) {
  EXPECT_EQ(enum_word<'-'>(Fruit::sweet_cherry), "sweet-cherry");
  EXPECT_THROW((void)enum_word<'-'>(static_cast<Fruit>(3)), std::out_of_range);
}

}  // namespace
}  // namespace cupel
