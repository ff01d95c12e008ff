// How an installed system's first boot ended: what cloud-init says of it, and what the step makes
// of that.
#include "orchestrator/os/first_boot.h"

#include "inventory/user_data.h"
#include "tests/orchestrator/os_step.h"

namespace cupel::steps {
namespace {

using os::FirstBoot;
using os::read_first_boot;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kGood = "{ \"v1\": {  \"datasource\": \"x\",  \"errors\": [] } }\nfetched\n";
constexpr const char* kFailed =
    "{ \"v1\": {  \"datasource\": \"x\",  \"errors\": [\"('scripts-user', RuntimeError('Runparts: "
    "1 "
    "failures'))\"] } }\nfetching\ntoken s3cret-value refused\n";

TEST(FirstBootOutput, SaysWhatFailedWithItsLastLinesAndWithoutSecrets) {
  const auto seen = read_first_boot(kFailed);

  EXPECT_EQ(seen.how, FirstBoot::How::failed);
  EXPECT_EQ(seen.text({"s3cret", "s3cret-value"}),
            "('scripts-user', RuntimeError('Runparts: 1 failures')). Its last lines: fetching | "
            "token *** refused");
}

TEST(FirstBootOutput, HidesSecretsByTheirFormThatTheInventoryDoesNotHave) {
  const auto text = read_first_boot(
                        "{\"v1\": {\"errors\": [\"e\"]}}\nmysql_pwd=hunter2\n"
                        "curl -u admin:hunter2 http://10.0.0.1\nno such host\n")
                        .text({});

  EXPECT_EQ(text, "e. Its last lines: mysql_pwd=*** | curl -u *** http://10.0.0.1 | no such host");
}

TEST(FirstBootOutput, IsGoodWithoutErrorsAndUnknownWithoutCloudInit) {
  EXPECT_EQ(read_first_boot(kGood).how, FirstBoot::How::good);
  EXPECT_EQ(read_first_boot("no cloud-init\n").how, FirstBoot::How::unknown);
  EXPECT_EQ(read_first_boot("disabled\n").how, FirstBoot::How::unknown);
}

TEST(FirstBootOutput, WithoutAResultSaysNothingYet) {
  for (const auto* output :
       {"", "\n", "\nlines\n", "{}\n", "{\"v1\": {\"errors\": 3}}\n", "{\"v1\"", "no cloud-"}) {
    const auto seen = read_first_boot(output);
    EXPECT_EQ(seen.how, FirstBoot::How::pending) << output;
    EXPECT_THAT(seen.text({}), HasSubstr("cloud-init left no result")) << output;
  }
}

TEST(FirstBootOutput, LeavesOutALineThatMayHaveBeenCutInASecret) {
  const auto tail = "cret-value\n" + std::string(4080, 'x') + "\nlast";

  const auto text =
      read_first_boot("{\"v1\": {\"errors\": [\"e\"]}}\n" + tail).text({"s3cret-value"});

  EXPECT_THAT(text, Not(HasSubstr("cret")));
  EXPECT_THAT(text, HasSubstr(" | last"));
}

/// Whose scripts are killed, as by a restart of the machine.
struct RestartingSession final : ssh::Session {
  Task<Result<ssh::CommandOutcome>> run(std::string, std::string, ssh::Sink sink,
                                        Deadline) override {
    ++scripts;
    sink(ssh::Stream::out, "no cloud-init\n");
    co_return ssh::CommandOutcome{.exit_status = 143};
  }
  int scripts = 0;
};

TEST(WaitForFirstBoot, ThatIsKilledSaysNothingAndDisownsNothing) {
  RestartingSession session;
  asio::io_context io{1};

  const auto seen = run_to_end(
      io, os::wait_for_first_boot(session, false, Deadline::in(std::chrono::minutes{1})));

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->how, FirstBoot::How::pending);
  EXPECT_EQ(session.scripts, 1);
}

class FirstBootStep : public OsStep {
 protected:
  FirstBootStep() {
    const std::string file = "i.yaml";
    std::vector<inventory::Problem> problems;
    const auto document = inventory::parse_yaml(
        "user_data: {runcmd: ['login {{secret \"env:CUPEL_TEST_TOKEN\"}}']}", file, problems);
    node_.user_data = {inventory::read_os(&document->root, "/srv", file, problems)};
    EXPECT_TRUE(problems.empty()) << inventory::to_string(problems);
    ::setenv("CUPEL_TEST_TOKEN", "s3cret-value", 1);
  }
  ~FirstBootStep() override { ::unsetenv("CUPEL_TEST_TOKEN"); }
};

TEST_F(FirstBootStep, FailsTheStepWithTheLastLinesAndNoSecretInAnyEvent) {
  first_boot_ = {kFailed};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("its first boot failed: ('scripts-user'"));
  EXPECT_THAT(end_.detail, HasSubstr("token *** refused"));
  EXPECT_THAT(needed(), HasSubstr("token *** refused"));
  EXPECT_THAT(needed(), HasSubstr("cupel run os --nodes n1 --set wipe=yes"));
  EXPECT_THAT(needed(), Not(HasSubstr("s3cret-value")));
}

TEST_F(FirstBootStep, IsDoneOnceCloudInitIs) {
  first_boot_ = {kGood};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(end_.detail, "debian-12 is on disk DISK1, and up, booted by http");
}

TEST_F(FirstBootStep, SaysThatNothingIsKnownWithoutCloudInit) {
  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("it has no command cloud-init"));
}

TEST_F(FirstBootStep, IsAskedAgainWhereNothingIsKnownYet) {
  first_boot_ = {"", "\n", kGood};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(first_boot_.size(), 1U);
}

class InstalledByAnEarlierRun : public FirstBootStep {
 protected:
  InstalledByAnEarlierRun() {
    store_->pin("ssh:n1", "SHA256:before");
    machine_.does = test::BootMachine::Does::old_system;
    machine_.old_system_image = {digest_};
  }
};

TEST_F(InstalledByAnEarlierRun, FailsWhereItsFirstBootDidAndShowsNothingOfItsOldSecrets) {
  first_boot_ = {kFailed};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("its first boot failed: cloud-init reports errors"));
  EXPECT_THAT(needed(), HasSubstr("cupel run os --nodes n1 --set wipe=yes"));
  EXPECT_THAT(needed(), Not(HasSubstr("s3cret-value")));
  EXPECT_EQ(machine_.boots, 0);
}

TEST_F(InstalledByAnEarlierRun, IsDoneOnceItsFirstBootHasEndedWell) {
  first_boot_ = {"\n", kGood};

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(end_.detail, "debian-12 runs already");
  EXPECT_EQ(first_boot_.size(), 1U) << "it was asked until it had ended";
  EXPECT_EQ(machine_.boots, 0);
}

TEST_F(FirstBootStep, BootsNothingWithASecretThatIsNotUtf8AndDoesNotShowIt) {
  ::setenv("CUPEL_TEST_TOKEN", "s3cret-value\xff", 1);

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("user_data: the secret env:CUPEL_TEST_TOKEN (i.yaml:1:"));
  EXPECT_THAT(end_.detail, HasSubstr("is not UTF-8"));
  EXPECT_THAT(needed(), Not(HasSubstr("s3cret-value")));
  EXPECT_EQ(machine_.boots, 0);
}

TEST_F(FirstBootStep, BootsNothingWithoutItsSecret) {
  ::unsetenv("CUPEL_TEST_TOKEN");

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail,
              HasSubstr("user_data: environment variable CUPEL_TEST_TOKEN is not set"));
  EXPECT_EQ(machine_.boots, 0);
}

}  // namespace
}  // namespace cupel::steps
