#include "bmc/rotate.h"

#include <gmock/gmock.h>

#include "tests/support/guarded_bmc.h"

namespace cupel::bmc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RotateTest : public ::testing::Test {
 protected:
  Result<Rotated> rotate() {
    RotationDoors doors{.node = "a01-n01", .user = "admin", .new_password = "ours"};
    doors.with_new = [this] { return std::make_unique<test::GuardedBmc>(bmc, "ours"); };
    doors.with_old = [this] { return std::make_unique<test::GuardedBmc>(bmc, "factory"); };
    doors.note = [this]() -> Result<std::optional<RotationNote>> { return note; };
    doors.write_note = [this](std::optional<RotationNote> written) {
      return bmc.act([&] { note = written; });
    };
    doors.forget_refusals = [this] { ++forgotten; };
    return run_to_end(io, rotate_password(doors, Deadline::in(std::chrono::minutes{1})));
  }

  asio::io_context io;
  test::Guarded bmc;
  std::optional<RotationNote> note;
  int forgotten = 0;
};

TEST_F(RotateTest, LeavesABmcAloneThatHasTheNewPasswordAlready) {
  bmc.password = "ours";

  const auto rotated = rotate();

  EXPECT_EQ(rotated.value(), Rotated::already);
  EXPECT_EQ(bmc.refused, 0);
  EXPECT_EQ(bmc.changes, 0);
}

TEST_F(RotateTest, ChangesTheFactorysPasswordAndProvesTheNewOne) {
  const auto rotated = rotate();

  EXPECT_EQ(rotated.value(), Rotated::changed);
  EXPECT_EQ(bmc.password, "ours");
  EXPECT_EQ(bmc.refused, 1) << "the new one, before it was true";
  EXPECT_EQ(bmc.open_sessions, 0);
  EXPECT_FALSE(note);
}

TEST_F(RotateTest, WritesItDownBeforeItChangesAnything) {
  bmc.loses_answer_of_change = true;

  const auto rotated = rotate();

  EXPECT_EQ(rotated.error().code, Code::kUnreachable);
  ASSERT_TRUE(note);
  EXPECT_THAT(to_text(*note), Not(HasSubstr("ours")));
  EXPECT_EQ(rotation_note_of(to_text(*note)), *note);
}

TEST_F(RotateTest, FindsAChangeDoneWhoseAnswerWasLost) {
  bmc.loses_answer_of_change = true;
  ASSERT_FALSE(rotate());

  const auto again = rotate();

  EXPECT_EQ(again.value(), Rotated::finished_earlier);
  EXPECT_EQ(bmc.changes, 1);
  EXPECT_EQ(bmc.refused, 1);
  EXPECT_EQ(forgotten, 1) << "the new password was refused once, and must be tried again";
  EXPECT_FALSE(note);
}

TEST_F(RotateTest, TriesEachPasswordOnceWhereNeitherIsRight) {
  bmc.password = "somebody else's";

  const auto rotated = rotate();

  EXPECT_EQ(rotated.error().code, Code::kRefused);
  EXPECT_THAT(rotated.error().what, HasSubstr("neither the inventory's password"));
  EXPECT_EQ(bmc.refused, 2);
  EXPECT_FALSE(note) << "nothing is pending";
}

TEST_F(RotateTest, TriesTheOldPasswordAgainAfterASingleRefusal) {
  bmc.wrong_after = 5;

  const auto rotated = rotate();

  EXPECT_EQ(rotated.value(), Rotated::changed);
  EXPECT_EQ(bmc.refused, 1) << "and not five";
  EXPECT_FALSE(note);
}

TEST_F(RotateTest, ComesBackToTheNewPasswordThatWasRefusedInAMood) {
  bmc.password = "ours";
  bmc.wrong_after = 5;
  bmc.moods = 1;

  const auto rotated = rotate();

  EXPECT_EQ(rotated.value(), Rotated::already);
  EXPECT_EQ(bmc.changes, 0);
  EXPECT_EQ(bmc.refused, 2) << "the new one in a mood, and the old one rightly";
  EXPECT_FALSE(note);
}

TEST_F(RotateTest, ReportsBothPasswordsWrongAfterRepeatedRefusals) {
  bmc.password = "somebody else's";
  bmc.wrong_after = 5;

  const auto rotated = rotate();

  EXPECT_EQ(rotated.error().code, Code::kRefused);
  EXPECT_THAT(rotated.error().what, HasSubstr("neither the inventory's password"));
  EXPECT_LE(bmc.refused, 12);
  EXPECT_FALSE(note);
}

TEST_F(RotateTest, StopsBeforeTheAccountIsLocked) {
  note = RotationNote{rotation_digest("a01-n01", "admin", "ours"), kMostRefused};

  const auto rotated = rotate();

  EXPECT_EQ(rotated.error().code, Code::kRefused);
  EXPECT_EQ(bmc.acts, 0) << "nothing was sent";
}

TEST_F(RotateTest, SaysThatAnEarlierChangeToAnotherPasswordWasNotFinished) {
  bmc.password = "last year's";
  note = RotationNote{rotation_digest("a01-n01", "admin", "last year's"), 1};

  const auto rotated = rotate();

  EXPECT_THAT(rotated.error().what, HasSubstr("an earlier change, to another password"));
}

TEST_F(RotateTest, SaysWhatTheBmcsPolicyRefuses) {
  bmc.refuses_change = Error{Code::kInvalid, "password too short"};

  const auto rotated = rotate();

  EXPECT_EQ(rotated.error().code, Code::kInvalid);
  EXPECT_EQ(bmc.password, "factory");
  EXPECT_FALSE(note);
}

TEST_F(RotateTest, DetectsAPasswordChangeThatTheBmcLoses) {
  bmc.forgets_change = true;

  const auto rotated = rotate();

  EXPECT_EQ(rotated.error().code, Code::kFailed);
  EXPECT_TRUE(note);
}

/// The contract: the controller dies at any act, just before or just after it took effect, and the
/// next one ends with the new password in place and a bounded number of refused logins.
TEST_F(RotateTest, ACrashAtEveryActLosesNeitherThePasswordNorTheAccount) {
  ASSERT_TRUE(rotate());
  const int whole = bmc.acts;
  ASSERT_GE(whole, 6);

  for (int at = 0; at < whole; ++at)
    for (const bool effective : {false, true}) {
      bmc = {};
      note.reset();
      bmc.crash_at = at;
      bmc.effective = effective;
      const auto crashed = rotate();
      ASSERT_FALSE(crashed) << at;
      bmc.crash_at = -1;

      const auto again = rotate();

      ASSERT_TRUE(again) << at << ": " << again.error().what;
      EXPECT_EQ(bmc.password, "ours") << at;
      EXPECT_LE(bmc.refused, 2) << at;
      EXPECT_LE(bmc.changes, 2) << at;
      EXPECT_FALSE(note) << at;
    }
}

TEST_F(RotateTest, DoesNotCallAPasswordWrongThatTheBmcAcceptsAndWantsChanged) {
  bmc.refuses_change = Error{Code::kRefused,
                             "HTTP 403: (Base.1.8.PasswordChangeRequired); the BMC wants this "
                             "account's password changed before anything else: cupel bmc NODE "
                             "password rotate"};

  const auto rotated = rotate();

  EXPECT_EQ(rotated.error().code, Code::kRefused);
  EXPECT_THAT(rotated.error().what, HasSubstr("accepts the factory's password"));
  EXPECT_THAT(rotated.error().what, Not(HasSubstr("neither")));
  EXPECT_THAT(rotated.error().what, Not(HasSubstr("password rotate")));
}

}  // namespace
}  // namespace cupel::bmc
