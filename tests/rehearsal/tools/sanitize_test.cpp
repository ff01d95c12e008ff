// The stage sanitize on a virtual node: what is erased and how, what is not and why, and that
// nothing is begun twice.
#include "burnin/disk/media.h"
#include "rehearsal/drive_erase.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;
using ::testing::HasSubstr;

const burnin::Parameters kErase{{"erase", "yes"}};
constexpr double kSpeed = 1000;  // each tool has 120 s to answer

std::string why_not(const burnin::Findings& findings, std::string_view drive) {
  for (const auto& each : findings.measurements)
    if (each.name == "nvme.sanitized" && each.part == drive)
      return each.value == 1 ? "it was erased" : each.traced_to;
  return "nothing was reported";
}

burnin::ErasedMedium medium(const burnin::Findings& findings, std::string_view drive) {
  for (const auto& each : burnin::media_in({findings.facts.begin(), findings.facts.end()}))
    if (each.drive == drive) return each;
  return {};
}

const DriveErase& erase_of(Bench& bench, std::size_t drive) {
  auto& machine = bench.machine;
  return machine.drive_erases()[machine.hardware().drives.at(drive).serial];
}

TEST(Sanitize, ErasesEachDriveThatIsNotInUseAndSaysHow) {
  Bench bench{{}, kSpeed};

  const auto found = found_by(bench, "sanitize", kErase);

  ASSERT_TRUE(found) << found.error().what;
  for (const auto* drive : {"nvme1", "nvme9"}) {
    EXPECT_EQ(why_not(*found, drive), "it was erased");
    EXPECT_EQ(value_of(*found, "nvme.sanitize.failed", drive), 0);
  }
  EXPECT_EQ(why_not(*found, "nvme0"), "it is mounted");
  const auto erased = medium(*found, "nvme1");
  EXPECT_EQ(erased.serial, bench.machine.hardware().drives.at(1).serial);
  EXPECT_EQ(erased.method, "Purge");
  EXPECT_EQ(erased.tool, "nvme sanitize --sanact=4");
  EXPECT_EQ(erased.verification,
            "sanitize log: completed; no known signature is left (blkid, wipefs)");
}

TEST(Sanitize, OnlyLooksUntilItIsToErase) {
  Bench bench{{}, kSpeed};

  const auto found = found_by(bench, "sanitize");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(why_not(*found, "nvme1"),
            "only looked: it would be erased by sanitize cryptographic erase (erase: yes)");
  EXPECT_EQ(why_not(*found, "nvme0"), "it is mounted");
  EXPECT_EQ(erase_of(bench, 1).action, 0);
}

TEST(Sanitize, BeginsNoEraseTwice) {
  Bench bench{{}, kSpeed};
  ASSERT_TRUE(found_by(bench, "sanitize", kErase));
  const auto began = erase_of(bench, 1).began;

  const auto again = found_by(bench, "sanitize", kErase);

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(why_not(*again, "nvme1"), "it was erased");
  EXPECT_EQ(erase_of(bench, 1).began, began);
}

TEST(Sanitize, FollowsOneThatAJobHasLeftRunning) {
  Bench bench{{}, kSpeed};
  ASSERT_EQ(bench.sh("nvme sanitize /dev/nvme2 --sanact=2").status, 0);
  const auto began = erase_of(bench, 2).began;

  const auto found = found_by(bench, "sanitize", kErase);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(why_not(*found, "nvme2"), "it was erased");
  EXPECT_EQ(medium(*found, "nvme2").technique, "sanitize block erase");
  EXPECT_EQ(erase_of(bench, 2).began, began);
}

TEST(Sanitize, NamesTheDriveThatFailsOrIsLockedOrCannot) {
  Bench bench{{{.kind = nvme_no_sanitize, .part = "nvme3"},
               {.kind = nvme_sanitize_fails, .part = "nvme4"},
               {.kind = nvme_sanitize_locked, .part = "nvme5"}},
              kSpeed};

  const auto found = found_by(bench, "sanitize", kErase);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(why_not(*found, "nvme3"), HasSubstr("its controller can only clear it"));
  EXPECT_EQ(value_of(*found, "nvme.sanitize.failed", "nvme3"), std::nullopt);
  EXPECT_THAT(why_not(*found, "nvme4"), HasSubstr("the drive reports that its sanitize failed"));
  EXPECT_EQ(value_of(*found, "nvme.sanitize.failed", "nvme4"), 1);
  EXPECT_THAT(why_not(*found, "nvme5"), HasSubstr("the drive refused its sanitize: NVMe status: "
                                                  "Command Prohibited"));
  EXPECT_EQ(value_of(*found, "nvme.sanitize.failed", "nvme5"), 1);
  EXPECT_EQ(why_not(*found, "nvme6"), "it was erased");
}

TEST(Sanitize, ClearsADriveThatCannotPurgeItselfWhereThatIsEnough) {
  Bench bench{{{.kind = nvme_no_sanitize, .part = "nvme3"}}, kSpeed};

  const auto found = found_by(bench, "sanitize", {{"erase", "yes"}, {"method", "any"}});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(why_not(*found, "nvme3"), "it was erased");
  EXPECT_EQ(medium(*found, "nvme3").method, "Clear");
  EXPECT_EQ(medium(*found, "nvme3").tool, "nvme format --ses=1");
}

TEST(Sanitize, ThatIsSkippedErasesNothingAndKeepsTheReason) {
  Bench bench{{}, kSpeed};

  const auto found = found_by(bench, "sanitize", {{"skip", "break-fix RMA 4711"}});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(why_not(*found, "nvme1"), "skipped: break-fix RMA 4711");
  EXPECT_EQ(medium(*found, "nvme1").result, "skipped");
  EXPECT_EQ(medium(*found, "nvme1").why, "break-fix RMA 4711");
  EXPECT_EQ(erase_of(bench, 1).action, 0);
}

TEST(NvmeSanitize, GoesOnForItsTimeAndRefusesASecondOneMeanwhile) {
  Bench bench{{}, 100};
  const auto log = [&] { return bench.sh("nvme sanitize-log /dev/nvme2").out; };
  const auto before = log();

  const auto ran = bench.sh(
      "nvme sanitize /dev/nvme2 --sanact=2; nvme sanitize-log /dev/nvme2; "
      "nvme sanitize /dev/nvme2 --sanact=4; nvme format /dev/nvme2n1 -s 1");
  bench.sh("sleep 120");

  EXPECT_THAT(before, HasSubstr("(SSTAT) :  0\n"));
  EXPECT_THAT(ran.out, HasSubstr("(SSTAT) :  0x2\n"));
  EXPECT_THAT(ran.err, HasSubstr("Sanitize In Progress"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(log(), HasSubstr("(SPROG) :  65535\n"));
  EXPECT_THAT(log(), HasSubstr("(SSTAT) :  0x101\n"));
  EXPECT_THAT(log(), HasSubstr("(SCDW10) :  0x2\n"));
}

}  // namespace
}  // namespace cupel::rehearsal
