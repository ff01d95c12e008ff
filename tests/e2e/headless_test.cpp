// A controller without a terminal: one that lost it, one that never had one, and one that stays.
#include "base/file.h"
#include "orchestrator/store/store.h"
#include "tests/e2e/pty.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using engine::EventKind;
using engine::RunPhase;

constexpr const char* kWaiting = R"(playbook: waiting
steps:
  - step: bmc-facts
  - step: approval
    with: {message: look at the sensors first}
)";

class HeadlessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    site.write("waiting.yaml", kWaiting);
    site.write("facts.yaml", "playbook: facts\nsteps:\n  - step: bmc-facts\n");
  }
  std::vector<std::string> waiting(const std::string& node, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"run", "waiting.yaml", "--no-console", "-n", node};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// The last words of the detached run's command, as JSON.
  json::object detached(const std::vector<std::string>& words) {
    const auto ran = site.run(words);
    const auto lines = json_lines(ran.out);
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    return lines.empty() ? json::object{} : lines.back();
  }
  engine::RunPhase phase(engine::RunId run) {
    return store::Store::open(site.file("state")).value()->run(run).value().phase;
  }
  bool was_noted(engine::RunId run) {
    const auto store = store::Store::open(site.file("state"));
    const auto events = store.value()->events(run).value();
    return std::ranges::any_of(events, [](const auto& event) {
      return event.kind == EventKind::run_resumed && event.data.contains("why") &&
             event.data.at("why") == "terminal-lost";
    });
  }

  RackSite site{{.network = 87, .ports = "bmc: 0, ssh: 0"}};
};

TEST_F(HeadlessTest, ALostTerminalEndsNeitherItsOwnRunNorOneThatWasSubmitted) {
  AtTerminal first{site.cupel(waiting("v01-n01"))};
  ASSERT_TRUE(first.shows("approval")) << first.shown();
  const auto second = detached(waiting("v01-n02", {"--detach", "--json"}));
  ASSERT_EQ(second.at("run"), 2);

  first.hang_up();
  Child follower{site.cupel({"follow", "2"})};
  ASSERT_TRUE(follower.wait_for("goes on without its terminal"));
  ASSERT_EQ(site.run({"approve", "1"}).status, 0);
  ASSERT_EQ(site.run({"approve", "2"}).status, 0);

  EXPECT_EQ(follower.wait().status, 0);
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(phase(1), RunPhase::ended);
  EXPECT_EQ(phase(2), RunPhase::ended);
  EXPECT_TRUE(was_noted(1));
  EXPECT_THAT(site.run({"store", "verify"}).status, 0);
  const auto log = read_file(site.file("state") + "/controller.log", 100'000);
  ASSERT_TRUE(log);
  EXPECT_THAT(log.value(), AllOf(HasSubstr("terminal-lost: the terminal is gone"),
                                 HasSubstr("run=1 node=- step=- run-ended: run ended"),
                                 HasSubstr("run=2 node=- step=- run-ended: run ended")));
}

TEST_F(HeadlessTest, ADetachedRunGoesOnInAProcessOfItsOwnAndCanBeFollowed) {
  const auto begun = detached(waiting("v01-n01", {"--detach", "--json"}));
  const auto pid = static_cast<pid_t>(begun.at("pid").as_int64());
  Child follower{site.cupel({"follow", "1"})};
  ASSERT_TRUE(follower.wait_for("bmc-facts done"));

  EXPECT_EQ(::getsid(pid), pid) << "it is still in the session of whoever started it";
  ASSERT_EQ(site.run({"approve", "1"}).status, 0);

  EXPECT_EQ(follower.wait().status, 0);
  const auto log = read_file(std::string{begun.at("log").as_string()}, 100'000);
  ASSERT_TRUE(log);
  EXPECT_THAT(log.value(), HasSubstr("info run=1 node=v01-n01 step=bmc-facts step-ended: done"));
}

TEST_F(HeadlessTest, AControllerThatStaysDrivesWhatIsSubmittedUntilItIsStopped) {
  Child controller{site.cupel({"controller", "--stay"})};
  ASSERT_TRUE(controller.wait_for("is the controller of"));

  const auto first = site.run({"run", "facts.yaml", "--no-console", "-n", "v01-n01"});
  controller.signal(SIGHUP);
  const auto second = site.run({"run", "facts.yaml", "--no-console", "-n", "v01-n01"});
  controller.signal(SIGTERM);
  const auto ended = controller.wait();

  EXPECT_EQ(first.status, 0) << first.out << first.err;
  EXPECT_EQ(second.status, 0) << second.out << second.err;
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("run=1 node=- step=- run-ended"),
                               HasSubstr("run=2 node=- step=- run-ended")));
  EXPECT_THAT(ended.out, Not(HasSubstr("run ended"))) << "it is said once";
}

TEST_F(HeadlessTest, AControllerThatSaysThatItIsOneHearsSignals) {
  Child controller{site.cupel({"controller", "--stay"})};
  ASSERT_TRUE(controller.wait_for("is the controller of"));

  controller.signal(SIGHUP);
  controller.signal(SIGTERM);

  EXPECT_EQ(controller.wait().status, 0);
}

TEST_F(HeadlessTest, FollowingARunThatIsOverShowsHowItEnded) {
  ASSERT_EQ(site.run({"run", "facts.yaml", "--no-console", "-n", "v01-n01"}).status, 0);

  const auto followed = site.run({"follow"});

  EXPECT_EQ(followed.status, 0) << followed.err;
  EXPECT_THAT(followed.out, HasSubstr("v01-n01 bmc-facts done"));
}

TEST_F(HeadlessTest, PlainLinesAreDatedInUtcAsReportsAre) {
  const auto ran = site.run({"run", "facts.yaml", "--no-console", "-n", "v01-n01"});

  EXPECT_THAT(ran.out, ::testing::ContainsRegex(
                           "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z v01-n01 bmc-facts done"));
}

TEST_F(HeadlessTest, SaysWhereItsOutputCouldNotBeWritten) {
  const auto full = run({"sh", "-c", "\"$0\" playbook list > /dev/full", CUPEL_BINARY});
  const auto left = run({"sh", "-c", "\"$0\" playbook list | true", CUPEL_BINARY});

  EXPECT_EQ(full.status, 3);
  EXPECT_THAT(full.err, HasSubstr("standard output could not be written"));
  EXPECT_EQ(left.err, "") << "a reader that leaves is no error";
}

TEST_F(HeadlessTest, ReportsWrongArgumentsInJsonOnRequest) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"status", "--nope", "--json"}, {"statsu", "--json"}, {"run", "--json"}}) {
    const auto ran = site.run(words);

    EXPECT_EQ(ran.status, 2);
    const auto lines = json_lines(ran.out);
    ASSERT_EQ(lines.size(), 1u) << ran.out;
    EXPECT_EQ(lines[0].at("code"), "invalid");
    EXPECT_NE(lines[0].at("error"), "");
  }
}

}  // namespace
}  // namespace cupel::testing
