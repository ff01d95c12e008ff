// Several runs on one state folder: whoever came first drives them all, as each of them was
// reported, and says so.
#include "base/file.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

constexpr const char* kGated = R"(playbook: gated
steps:
  - step: bmc-facts
  - step: approval
    with: {message: wait}
)";

class SubmitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    site.write("gated.yaml", kGated);
    site.write("facts.yaml", "playbook: facts\nsteps:\n  - step: bmc-facts\n");
    site.write("tell", "#!/bin/sh\ncat >> " + site.file("told") + "\n", 0700);
  }
  Child begin(const std::string& node) {
    return Child{site.cupel({"run", "gated.yaml", "--json", "--no-console", "-n", node})};
  }
  static std::string read_facts(const std::string& node) {
    return "\"node\":\"" + node + "\",\"step\":\"bmc-facts\",\"bmc\"";
  }

  RackSite site{{.network = 79, .ports = "bmc: 0, ssh: 0"}};
};

TEST_F(SubmitTest, ASecondRunIsHandedToTheControllerThatLives) {
  auto first = begin("v01-n01");
  ASSERT_TRUE(first.wait_for("\"step-ended\""));

  const auto second = site.run({"run", "facts.yaml", "--no-console", "-n", "v01-n02"});
  ASSERT_EQ(site.run({"approve", "1"}).status, 0);

  EXPECT_EQ(second.status, 0) << second.out << second.err;
  EXPECT_THAT(second.out, HasSubstr("run 2 was submitted: process"));
  EXPECT_THAT(second.out, Not(HasSubstr("--state"))) << "it reads as a refusal";
  EXPECT_EQ(first.wait().status, 0);
}

TEST_F(SubmitTest, RunsTheSubmittersNotifyProgramInAnyController) {
  auto first = begin("v01-n01");
  ASSERT_TRUE(first.wait_for("\"step-ended\""));

  const auto second =
      site.run({"run", "facts.yaml", "--no-console", "-n", "v01-n02", "--notify", "./tell"});
  ASSERT_EQ(site.run({"approve", "1"}).status, 0);
  ASSERT_EQ(first.wait().status, 0);

  EXPECT_EQ(second.status, 0) << second.out << second.err;
  const auto reported = read_file(site.file("told"), 10'000);
  ASSERT_TRUE(reported);
  const auto notices = json_lines(*reported);
  ASSERT_EQ(notices.size(), 1u) << "the first run named nobody";
  EXPECT_EQ(notices[0].at("run"), 2);
  EXPECT_EQ(notices[0].at("notice"), "end");
}

TEST_F(SubmitTest, ARunThatStoppedIsTakenUpByTheControllerThatLives) {
  auto first = begin("v01-n01");
  ASSERT_TRUE(first.wait_for("\"step-ended\""));
  first.signal(SIGKILL);
  first.wait();
  auto second = begin("v01-n02");
  ASSERT_TRUE(second.wait_for("\"step-ended\""));
  const auto before = site.run({"status"});

  Child resumed{site.cupel({"resume", "1"})};
  ASSERT_TRUE(resumed.wait_for("run 1 was submitted"));
  ASSERT_TRUE(resumed.wait_for("run resumed"));
  Child again{site.cupel({"resume", "1"})};
  const bool reported = again.wait_for("run 1 is at work already");
  ASSERT_EQ(site.run({"approve", "1"}).status, 0);
  const auto ran = resumed.wait();
  const auto ran_again = again.wait();
  ASSERT_EQ(site.run({"approve", "2"}).status, 0);

  EXPECT_THAT(before.out, HasSubstr("interrupted"));
  EXPECT_TRUE(reported);
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(ran_again.status, 0) << ran_again.out << ran_again.err;
  EXPECT_EQ(second.wait().status, 0);
}

TEST_F(SubmitTest, AControllerSaysForWhomItStaysWhenItsOwnRunIsOver) {
  auto first = begin("v01-n01");
  ASSERT_TRUE(first.wait_for("\"step-ended\""));
  Child second{site.cupel({"run", "gated.yaml", "--no-console", "-n", "v01-n02"})};
  ASSERT_TRUE(second.wait_for("run 2 was submitted"));
  ASSERT_TRUE(second.wait_for("bmc-facts done"));

  ASSERT_EQ(site.run({"approve", "1"}).status, 0);
  const bool reported = first.wait_for("run 1 is over; this process also drives");
  second.signal(SIGINT);
  const auto left = second.wait();
  ASSERT_EQ(site.run({"cancel", "2"}).status, 0);

  EXPECT_TRUE(reported);
  EXPECT_EQ(left.status, 3);
  EXPECT_THAT(left.err, HasSubstr("run 2 goes on without this terminal"));
  EXPECT_EQ(first.wait().status, 0);
}

}  // namespace
}  // namespace cupel::testing
