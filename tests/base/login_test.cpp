#include "base/login.h"

#include <gtest/gtest.h>

namespace cupel {
namespace {

std::optional<std::string> name(std::uint32_t user) {
  if (user == 0) return "root";
  if (user == 1000) return "alice";
  return std::nullopt;
}

TEST(Login, NamesWhoLoggedInAlsoBehindSudo) {
  EXPECT_EQ(name_of({.user = 0, .audited = 1000}, name), "alice (as root)");
  EXPECT_EQ(name_of({.user = 0, .audited = 1000, .sudo = "mallory"}, name), "alice (as root)");
  EXPECT_EQ(name_of({.user = 1000, .audited = 1000}, name), "alice");
}

TEST(Login, MarksAsHearsayWhatOnlyTheEnvironmentSays) {
  EXPECT_EQ(name_of({.user = 0, .sudo = "alice"}, name), "root (sudo: alice)");
  EXPECT_EQ(name_of({.user = 0}, name), "root");
}

TEST(Login, GivesTheNumberOfAUserWithoutAName) {
  EXPECT_EQ(name_of({.user = 4711, .audited = 4712}, name), "4712 (as 4711)");
}

TEST(Login, TellsOfThisProcess) { EXPECT_NE(login_name(), ""); }

}  // namespace
}  // namespace cupel
