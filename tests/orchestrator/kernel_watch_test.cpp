// What is read of the kernel's log around stages on a real sshd, with a cupel-node that answers
// what the test wants, and what the verdict makes of it.
#include "orchestrator/steps/kernel_watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

#include "base/file.h"
#include "base/text.h"
#include "burnin/verdict_text.h"
#include "orchestrator/steps/verdict.h"
#include "tests/orchestrator/watch_fixture.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using burnin::Decision;
using engine::Event;
using engine::EventKind;
using engine::StepEnd;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kHead =
    R"({"kind":"kernel-log","readable":true,"boot":"b001","places":{"gpu0":"0000:1b:00.0",)"
    R"("gpu1":"0000:43:00.0"},"last":)";

class KernelWatching : public StagesOnANode {
 protected:
  void SetUp() override {
    OnANode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    begin(kernel_log_alone());
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    programs =
        std::make_shared<ssh::ProgramShelf>(std::vector{ours.path()}, sshd_->file(name + "/bin"));
    // The program looks after jobs as it is; of the log it answers what the test wants.
    std::ofstream{ours.path() / "cupel-node"}
        << "#!/bin/sh\n[ \"$1\" = kernel-log ] || exec '" NODE_BINARY "' \"$@\"\necho \"$*\" >>"
        << (ours.path() / "asked").string() << "\ncat " << (ours.path() / "answer").string()
        << "\n";
  }

  /// The machine's own profile, without the criteria of its BMC.
  static inventory::Profile kernel_log_alone() {
    auto profile = dgx();
    std::erase_if(profile.criteria, [](const auto& each) { return each.stage != "kernel-log"; });
    return profile;
  }
  StepEnd stage(const std::string& name, const std::function<void()>& meanwhile = {}) {
    return StagesOnANode::stage(name, "echo x", meanwhile);
  }
  void answer(const std::string& document) {
    std::ofstream{ours.path() / "answer"} << document << "\n";
  }
  /// The log stands at `last`; `rest` as cupel-node adds it: its messages, what was lost.
  void answer(int last, const std::string& rest = R"("messages":[])") {
    answer(std::string{kHead} + std::to_string(last) + "," + rest + "}");
  }
  std::vector<std::string> asked() const {
    const auto text = read_file(ours.path() / "asked", 1u << 20);
    std::vector<std::string> all;
    if (text)
      for (const auto line : lines(*text))
        if (!line.empty()) all.emplace_back(line);
    return all;
  }

  /// Causes of the kernel's log alone: the stages themselves proved nothing here.
  std::vector<std::string> causes() const {
    std::vector<std::string> reported;
    for (const auto& each : decide(kernel_log_alone(), record()).causes)
      if (each.criterion.starts_with("kernel") || each.criterion.contains("kernel-log") ||
          each.criterion == "node.restarted")
        reported.push_back(fmt::format("{}: {} {} {}", to_string(each.decision), each.part,
                                       each.criterion, measured_text(each)));
    return reported;
  }

  test::TemporaryFolder ours{};
};

TEST_F(KernelWatching, FailsTheGpuWhoseMemoryErrorWasContainedUnderLoad) {
  answer(100);
  const auto end = stage("disk", [this] {
    answer(140, R"("restarted":false,"lost":0,"messages":[{"class":"xid","weight":"error",)"
                R"("code":94,"part":"gpu1","pci":"0000:43:00.0","count":1,)"
                R"("detail":"pid=7, name=cupel-burn, Contained: SM"}])");
  });

  EXPECT_THAT(asked(), ElementsAre("kernel-log", "kernel-log --boot b001 --after 100"));
  EXPECT_THAT(end.detail, HasSubstr("in the kernel's log: xid 94 of gpu1: pid=7"));
  EXPECT_THAT(causes(), ElementsAre("fail: gpu1 kernel.xid 94 (contained memory error)"));
}

TEST_F(KernelWatching, FailsNoMachineWhoseKernelKilledAProcessForMemory) {
  answer(100);
  stage("disk", [this] {
    answer(140, R"("restarted":false,"lost":0,"messages":[{"class":"oom","weight":"error",)"
                R"("count":1,"detail":"Out of memory: Killed process 77"}])");
  });

  EXPECT_THAT(causes(), ElementsAre("inconclusive:  kernel.oom 1"));
}

TEST_F(KernelWatching, BeginsWhereTheReadingBeforeEndedAndReadsAfterStagesThatOnlyLook) {
  answer(100);
  stage("node-facts");
  EXPECT_TRUE(asked().empty()) << "nothing has loaded the machine yet";

  stage("disk", [this] { answer(140); });
  answer(170);
  stage("node-facts@after");
  board = std::make_shared<BmcBoard>();  // another controller, which has the journal alone
  answer(180);
  stage("disk@again");

  EXPECT_THAT(asked(), ElementsAre("kernel-log", "kernel-log --boot b001 --after 100",
                                   "kernel-log --boot b001 --after 140",
                                   "kernel-log --boot b001 --after 170"));
  EXPECT_TRUE(causes().empty()) << causes().front();
}

TEST_F(KernelWatching, NeverTakesALostPartOfTheLogForNoErrors) {
  answer(100);
  stage("disk", [this] { answer(9000, R"("restarted":false,"lost":512,"messages":[])"); });
  answer(9001);
  stage("disk@later");

  EXPECT_THAT(causes(), ElementsAre("inconclusive:  kernel_log.complete 0"));
  const auto reported = record();
  const auto& unknown = reported.findings.at("kernel-log@disk").unknown;
  ASSERT_EQ(unknown.size(), 1);
  EXPECT_THAT(unknown.front().why, HasSubstr("overwritten 512 records"));
}

TEST_F(KernelWatching, FailsAMachineThatRestartedByItself) {
  answer(100);
  const auto end = stage("disk", [this] {
    answer(30, R"("restarted":true,"booted":1795919165,"lost":0,"messages":[])");
  });

  EXPECT_THAT(end.detail, HasSubstr("the node restarted by itself at 2026-11-29"));
  const auto reported = causes();
  ASSERT_EQ(reported.size(), 2u);
  EXPECT_THAT(reported.front(), HasSubstr("fail:  node.restarted 1"));
  EXPECT_THAT(reported.back(), HasSubstr("inconclusive:  kernel_log.complete 0"));
  for (const auto& each : decide(kernel_log_alone(), record()).causes)
    if (each.criterion == "kernel_log.complete") EXPECT_EQ(each.consequence_of, "node.restarted");
}

TEST_F(KernelWatching, ReadsTheWholeBootThatAStepOfTheRunBegan) {
  StepEnd end;
  planned.name = "power-on";
  engine::StepRequest request{run, node, {}, planned, 1, {}, Deadline::in(60s), stop, {}, {}};
  auto all = doors();
  KernelWatch::begin_with_boot(end);
  KernelWatch::forget(all, request, end);
  Event switched{.kind = EventKind::step_ended, .node = node.name, .step = "power-on"};
  switched.data = end.found;
  ASSERT_TRUE(store->append(run, switched));

  answer(40, R"("restarted":false,"from_boot":true,"lost":0,"messages":[{"class":"gpu",)"
             R"("weight":"error","part":"gpu1","count":1,"detail":"RmInitAdapter failed!"}])");
  stage("disk", [this] { answer(60, R"("restarted":false,"lost":0,"messages":[])"); });
  answer(90, R"("restarted":false,"lost":0,"messages":[])");
  stage("disk@later");

  EXPECT_THAT(asked(), ElementsAre("kernel-log --from-boot", "kernel-log --boot b001 --after 40",
                                   "kernel-log --boot b001 --after 60"));
  EXPECT_THAT(causes(), ElementsAre("fail: gpu1 kernel.gpu 1"));
}

TEST_F(KernelWatching, BeginsAnewAfterARestartOfItsOwn) {
  answer(100);
  stage("disk", [this] { answer(140); });
  Event cycled{.kind = EventKind::step_ended, .node = node.name, .step = "power-cycle"};
  StepEnd end;
  planned.name = "power-cycle";
  engine::StepRequest request{run, node, {}, planned, 1, {}, Deadline::in(60s), stop, {}, {}};
  auto all = doors();
  KernelWatch::forget(all, request, end);
  cycled.data = end.found;
  ASSERT_TRUE(store->append(run, cycled));

  answer(7);
  stage("disk@later");

  EXPECT_EQ(asked()[2], "kernel-log") << "the new boot's log is another one";
  EXPECT_TRUE(causes().empty()) << causes().front();
}

TEST_F(KernelWatching, KeepsABootThatNothingHasReadWhereThePowerWasOnAlready) {
  StepEnd booted, found_on;
  planned.name = "os";
  engine::StepRequest request{run, node, {}, planned, 1, {}, Deadline::in(60s), stop, {}, {}};
  auto all = doors();
  KernelWatch::begin_with_boot(booted);
  KernelWatch::forget(all, request, booted);
  Event os{.kind = EventKind::step_ended, .node = node.name, .step = "os"};
  os.data = booted.found;
  ASSERT_TRUE(store->append(run, os));

  planned.name = "power-on";
  KernelWatch::forget(all, request, found_on);
  answer(40, R"("restarted":false,"from_boot":true,"lost":0,"messages":[])");
  stage("disk", [this] { answer(60); });

  EXPECT_FALSE(found_on.found.contains("kernel_log_mark"));
  EXPECT_EQ(asked().front(), "kernel-log --from-boot");
}

TEST_F(KernelWatching, ReadsLaterWhatCouldNotBeReadAtFirst) {
  answer(100);
  stage("disk",
        [this] { answer(R"({"kind":"kernel-log","readable":false,"why":"no permission"})"); });
  EXPECT_THAT(causes(),
              ElementsAre("inconclusive:  stage kernel-log@disk the kernel's log: no permission"));

  answer(150);
  stage("disk@later");

  EXPECT_EQ(asked().back(), "kernel-log --boot b001 --after 100") << "where it stood before both";
  EXPECT_TRUE(causes().empty()) << causes().front();
}

TEST_F(KernelWatching, SaysThatNobodyKnowsWhereTheLogStoodBefore) {
  answer("nonsense");
  stage("disk", [this] { answer(140, R"("unasked":0)"); });
  answer(170);
  stage("disk@later");

  EXPECT_EQ(asked().back(), "kernel-log --boot b001 --after 140");
  EXPECT_THAT(causes(), ElementsAre("inconclusive:  kernel_log.complete 0"));
}

constexpr const char* kXid94 =
    R"("restarted":false,"lost":0,"messages":[{"class":"xid","weight":"error",)"
    R"("code":94,"part":"gpu1","pci":"0000:43:00.0","count":1,"detail":"Contained"}])";

Task<bool> through(Task<void> work) {
  co_await std::move(work);
  co_return true;
}

TEST_F(KernelWatching, KeepsWhatItReadWhileTheStageRanAndGoesOnFromThere) {
  const auto request = request_for("disk", "echo x", {});
  auto all = doors();
  KernelWatch watch{all, request, 0s};
  const auto connected = session();
  StepEnd end;

  answer(100);
  run_to_end(io, through(watch.before()));
  run_to_end(io, through(watch.meanwhile(*connected)));
  answer(140, kXid94);
  run_to_end(io, through(watch.meanwhile(*connected)));
  answer(170, R"("restarted":false,"lost":0,"messages":[])");
  run_to_end(io, through(watch.after(end, connected.get())));
  journal("disk", end);

  EXPECT_THAT(asked(), ElementsAre("kernel-log", "kernel-log --boot b001 --after 100",
                                   "kernel-log --boot b001 --after 140"));
  EXPECT_THAT(causes(), ElementsAre("fail: gpu1 kernel.xid 94 (contained memory error)"));
}

TEST_F(KernelWatching, ReadsNowAndThenAndNotAtEveryLook) {
  const auto request = request_for("disk", "echo x", {});
  auto all = doors();
  KernelWatch watch{all, request};
  const auto connected = session();

  answer(100);
  run_to_end(io, through(watch.before()));
  for (int i = 0; i < 5; ++i) run_to_end(io, through(watch.meanwhile(*connected)));

  EXPECT_EQ(asked().size(), 1) << "five minutes have not passed";
}

TEST_F(KernelWatching, ReadsAroundAStageOfSeveralNodesFromBeforeItBegan) {
  answer(140, kXid94);
  std::filesystem::rename(ours.path() / "answer", ours.path() / "later");
  answer(100);
  const auto later = (ours.path() / "later").string(), now = (ours.path() / "answer").string();
  const auto script = "cp " + later + " " + now;
  auto request = request_for("disk", script, {});
  request.members = {&node};

  perform(request);

  EXPECT_THAT(asked(), ElementsAre("kernel-log", "kernel-log --boot b001 --after 100"));
  EXPECT_THAT(causes(), ElementsAre("fail: gpu1 kernel.xid 94 (contained memory error)"));
}

}  // namespace
}  // namespace cupel::steps
