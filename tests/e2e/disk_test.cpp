// A disk that is full and one that became read-only: real ones, in a mount namespace of their own
// that is gone with the process.
#include <fmt/format.h>

#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

bool may_mount() {
  return run({"unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"}).status == 0;
}

class DiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(may_mount(), "no mount namespace may be made here");
    site.write("facts.yaml", "playbook: facts\nsteps:\n  - step: bmc-facts\n");
    std::filesystem::create_directories(site.file("state"));
  }

  /// Shell lines in a namespace in which the state folder is a tmpfs of that size. `cupel` is the
  /// program with this site's state, `$state` that folder.
  Ran on_small_disk(const std::string& size, const std::string& lines) const {
    std::string cupel;
    for (const auto& word : site.cupel({})) cupel += fmt::format("'{}' ", word);
    const auto script = fmt::format(
        "state='{}'\ncupel() {{ {} \"$@\"; }}\nmount -t tmpfs -o size={} none \"$state\" || exit "
        "99\n{}",
        site.file("state"), cupel, size, lines);
    return run({"unshare", "-m", "sh", "-c", script});
  }

  RackSite site{{.network = 81}};
};

TEST_F(DiskTest, AFullOneStopsTheRunWhichGoesOnWhenThereIsRoom) {
  const auto ran = on_small_disk("16m", R"sh(
    cupel status >/dev/null || exit 98
    dd if=/dev/zero of="$state/ballast" bs=4k 2>/dev/null
    truncate -s -96k "$state/ballast"
    cupel run facts.yaml --no-console; echo "stopped with $?"
    cupel store verify; echo "checked with $?"
    rm "$state/ballast"
    cupel resume 1 --no-console; echo "resumed with $?"
    cupel store verify; echo "checked with $?"
  )sh");

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("stopped with 3"), HasSubstr("resumed with 0"),
                             Not(HasSubstr("checked with 1"))))
      << ran.err;
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("No space left"), HasSubstr("Make room, then: cupel resume 1")));
}

TEST_F(DiskTest, AReadOnlyOneIsNamedAndNothingBegins) {
  const auto ran = on_small_disk("16m", R"sh(
    cupel run facts.yaml --no-console -n v01-n01; echo "ran with $?"
    before=$(cat "$state"/cupel.db* | sha256sum)
    mount -o remount,ro "$state" || exit 97
    cupel run facts.yaml --no-console -n v01-n02; echo "refused with $?"
    cupel resume 1; echo "resume refused with $?"
    [ "$before" = "$(cat "$state"/cupel.db* | sha256sum)" ] && echo untouched
  )sh");

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("ran with 0"), HasSubstr("refused with 3"), HasSubstr("untouched")))
      << ran.err;
  EXPECT_THAT(ran.err, AllOf(HasSubstr(site.file("state")), HasSubstr("read-only")));
}

}  // namespace
}  // namespace cupel::testing
