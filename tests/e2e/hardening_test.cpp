// What the flags of cmake/hardening.cmake come to, and whether scripts/check-hardening sees it when
// they are missing.
#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

Ran check(const std::string& program) {
  return run({SOURCE_DIR "/scripts/check-hardening", program}, {}, std::chrono::seconds{60});
}

TEST(Hardening, IsSeenInAProgramThatIsBuiltAsWhatIsShipped) {
  const auto ran = check(HARDENED_SAMPLE);

  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST(Hardening, IsMissedOneByOneInAProgramThatIsNot) {
  const auto ran = check(BARE_SAMPLE);

  EXPECT_EQ(ran.status, 1);
  for (const auto* missing : {"-pie", "-z relro", "-z now", "-z noexecstack",
                              "-fstack-protector-strong", "-D_FORTIFY_SOURCE", "-fcf-protection"})
    EXPECT_THAT(ran.err, HasSubstr(missing));
}

TEST(Hardening, ZeroesUnsetVariables) {
  EXPECT_EQ(run({HARDENED_SAMPLE}).out, "00000000\n");
  EXPECT_NE(run({BARE_SAMPLE}).out, "00000000\n") << "this test would see no difference";
}

}  // namespace
}  // namespace cupel::testing
