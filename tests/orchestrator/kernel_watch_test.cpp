// What is read of the kernel's log around stages on a real sshd, with a cupel-node that answers
// what the test wants, and what the verdict makes of it.
#include "orchestrator/steps/kernel_watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

#include "base/file.h"
#include "base/text.h"
#include "burnin/verdict_text.h"
#include "inventory/load_profile.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/verdict.h"
#include "tests/orchestrator/node.h"
#include "tests/support/captures.h"
#include "tests/support/fake_bmc.h"

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

/// The machine's own profile, without the criteria of its BMC.
inventory::Profile dgx() {
  std::vector<inventory::Problem> problems;
  auto profile = inventory::ProfileSource{"/nowhere"}.load("dgx-h100", problems).value();
  std::erase_if(profile.criteria, [](const auto& each) { return each.stage != "kernel-log"; });
  return profile;
}

class KernelWatching : public ssh::OnANode {
 protected:
  void SetUp() override {
    OnANode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    inventory.profiles.emplace("dgx-h100", dgx());
    node.name = "a01-n01";
    node.profile = "dgx-h100";
    planned.kind = playbooks::StepKind::stage;
    run = store->begin_run({.playbook = "p", .nodes = {node.name}}).value();
    programs =
        std::make_shared<ssh::ProgramShelf>(std::vector{ours.path()}, sshd_->file(name + "/bin"));
    std::ofstream{ours.path() / "cupel-node"} << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo "
                                                 "'{\"kind\":\"version\",\"protocol\":1}'; "
                                                 "exit 0; fi\necho \"$*\" >>" +
                                                     (ours.path() / "asked").string() + "\ncat " +
                                                     (ours.path() / "answer").string() + "\n";
  }

  StepEnvironment doors() {
    StepEnvironment all{
        inventory, *store,
        [this](const inventory::Node&) { return std::make_unique<test::FakeBmc>(machine); },
        [this](const inventory::Node&, Deadline deadline) {
          return ssh::connect("a01-n01", sshd_->access(), known, deadline);
        },
        std::nullopt};
    all.board = board;
    all.programs = programs;
    return all;
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

  /// One step; `meanwhile` happens once its node works. What it found is in the journal behind it.
  StepEnd stage(const std::string& name, const std::function<void()>& meanwhile = {}) {
    planned.name = name;
    planned.job = burnin::Job{"echo x", 1s, 60s};
    engine::StepRequest request{run,
                                node,
                                {},
                                planned,
                                1,
                                {},
                                Deadline::in(60s),
                                stop,
                                [&](std::string) -> Task<Result<void>> {
                                  if (meanwhile) meanwhile();
                                  co_return ok();
                                },
                                [](const std::string&) {}};
    NodeSteps steps{doors()};
    auto ended = run_to_end(io, steps.perform(request));
    if (!ended) throw std::runtime_error{ended.error().what};
    auto end = std::move(ended).value();
    auto data = end.found;
    data["outcome"] = to_string(end.outcome);
    data["detail"] = end.detail;
    Event began{.kind = EventKind::step_began, .node = node.name, .step = name};
    Event event{.kind = EventKind::step_ended, .node = node.name, .step = name, .data = data};
    EXPECT_TRUE(store->append(run, began));
    EXPECT_TRUE(store->append(run, event));
    return end;
  }
  record::NodeRecord record() const { return record::node_record(*store, run, node.name).value(); }
  /// Causes of the kernel's log alone: the stages themselves proved nothing here.
  std::vector<std::string> causes() const {
    std::vector<std::string> told;
    for (const auto& each : decide(dgx(), record()).causes)
      if (each.criterion.starts_with("kernel") || each.criterion.contains("kernel-log"))
        told.push_back(fmt::format("{}: {} {} {}", to_string(each.decision), each.part,
                                   each.criterion, measured_text(each)));
    return told;
  }

  const engine::Stop stop = engine::Stop::no;
  inventory::Node node{};
  playbooks::PlannedStep planned{};
  inventory::Inventory inventory{};
  test::FakeMachine machine{};
  std::shared_ptr<BmcBoard> board = std::make_shared<BmcBoard>();
  std::shared_ptr<ssh::ProgramShelf> programs{};
  test::TemporaryFolder folder{}, ours{};
  std::unique_ptr<store::Store> store = store::Store::open(folder.path()).value();
  engine::RunId run = 0;
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
  const auto told = record();
  const auto& unknown = told.findings.at("kernel-log@disk").unknown;
  ASSERT_EQ(unknown.size(), 1);
  EXPECT_THAT(unknown.front().why, HasSubstr("overwritten 512 records"));
}

TEST_F(KernelWatching, NeverTakesARestartInBetweenForNoErrors) {
  answer(100);
  stage("disk", [this] { answer(30, R"("restarted":true,"lost":0,"messages":[])"); });

  EXPECT_THAT(causes(), ElementsAre("inconclusive:  kernel_log.complete 0"));
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

}  // namespace
}  // namespace cupel::steps
