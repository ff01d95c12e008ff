// Stages on nodes that SSH does not reach any more, and what is left of them on those that it does.
#include <gmock/gmock.h>
#include <signal.h>
#include <time.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/text.h"
#include "inventory/model.h"
#include "orchestrator/handoff/slurm.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/ssh/detached.h"
#include "orchestrator/steps/node_steps.h"
#include "orchestrator/steps/stage_output.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/node.h"
#include "tests/support/captures.h"
#include "tests/support/fake_bmc.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using engine::Outcome;
using engine::StepEnd;
using ::testing::HasSubstr;

class StageStepTest : public ::testing::Test {
 protected:
  StageStepTest() {
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].name = "a01-n0" + std::to_string(i + 1);
    planned.kind = playbooks::StepKind::stage;
    planned.name = "cpu-memory";
  }

  static Task<Result<std::unique_ptr<ssh::Session>>> connect(std::chrono::seconds after,
                                                             std::string why) {
    if (after > 0s) {
      CO_TRY(co_await pause_for(after));
    }
    co_return Error{Code::kUnreachable, std::move(why)};
  }

  /// The first node answers SSH in an hour, the second never.
  Result<StepEnd> run(std::vector<const inventory::Node*> members, std::chrono::seconds patience) {
    StepEnvironment doors{
        inventory, *store,
        [this](const inventory::Node&) { return std::make_unique<test::FakeBmc>(machine); },
        [this](const inventory::Node& node, Deadline) {
          return connect(node.name == "a01-n01" ? 1h : 0h, silence);
        },
        nullptr};
    doors.ask_power_every = 1ms;
    doors.board = board;
    const auto stop = engine::Stop::no;
    engine::StepRequest request{1,
                                nodes[1],
                                std::move(members),
                                planned,
                                1,
                                "/var/lib/cupel-node/cupel-1-run1-cpu-memory",
                                Deadline::in(patience),
                                stop,
                                {},
                                [](const std::string&) {}};
    asio::io_context io;
    NodeSteps steps{std::move(doors)};
    return run_to_end(io, steps.perform(request));
  }

  /// `ssh-wait` of the second node.
  Result<StepEnd> wait() {
    planned.kind = playbooks::StepKind::ssh_wait;
    planned.name = "ssh-wait";
    return run({}, 2s);
  }

  std::array<inventory::Node, 2> nodes{};
  playbooks::PlannedStep planned{};
  inventory::Inventory inventory{};
  test::TemporaryFolder folder{};
  std::unique_ptr<store::Store> store = store::Store::open(folder.path()).value();
  test::FakeMachine machine{};
  std::string silence = "no route to host";  // why the second node does not answer
  std::shared_ptr<BmcBoard> board = std::make_shared<BmcBoard>();
};

TEST_F(StageStepTest, EndsSoonWhereTheBmcSaysThatItsMachineIsOff) {
  machine.power = bmc::PowerState::off;

  const auto end = run({}, 1h);

  ASSERT_TRUE(end);
  EXPECT_EQ(end->outcome, Outcome::reject);
  EXPECT_THAT(end->detail, HasSubstr("its BMC says that it is off"));
}

/// What a step before it left of the BMC's log.
std::string mark_of_log(store::Store& store, const bmc::LogEntry& entry) {
  boost::json::object document;
  document["entries"] = boost::json::array{{{"id", entry.id},
                                            {"severity", entry.severity},
                                            {"message", entry.message},
                                            {"message_id", entry.message_id},
                                            {"sensor", entry.sensor},
                                            {"source", entry.source}}};
  return store.keep_evidence(boost::json::serialize(document)).value();
}

TEST_F(StageStepTest, EndsSoonWhereTheBmcsLogSaysThatTheSystemHasStopped) {
  const bmc::LogEntry former{
      .id = "1", .severity = "Critical", .message = "Run-time critical stop"};
  const bmc::LogEntry fresh{
      .id = "2", .severity = "Critical", .message = "OS: run-time critical stop"};
  machine.power = bmc::PowerState::on;
  machine.log = bmc::EventLog{.entries = {former}};
  board->logs["a01-n02"] = {mark_of_log(*store, former), boost::json::array{}};

  const auto before = run({}, 1s);
  machine.log->entries.push_back(fresh);
  const auto stopped = run({}, 1h);

  ASSERT_TRUE(before && stopped);
  EXPECT_THAT(before->detail, ::testing::Not(HasSubstr("has stopped")))
      << "an entry from before the stage says nothing of it";
  EXPECT_EQ(stopped->outcome, Outcome::reject);
  EXPECT_THAT(stopped->detail,
              HasSubstr("its system has stopped; the BMC's log: OS: run-time critical stop"));
}

TEST_F(StageStepTest, OfAGroupEndsSoonForAllWhereOneOfThemIsOff) {
  machine.power = bmc::PowerState::off;

  const auto end = run({&nodes[0], &nodes[1]}, 1h);

  ASSERT_TRUE(end);
  EXPECT_EQ(end->outcome, Outcome::reject);
  EXPECT_THAT(end->detail, HasSubstr("a01-n02: its BMC says that it is off"));
}

TEST_F(StageStepTest, WaitsForItsDeadlineWhereTheMachineIsOnOrNobodyKnows) {
  for (const auto power : {std::optional{bmc::PowerState::on}, std::optional<bmc::PowerState>{}}) {
    machine.power = power;

    const auto end = run({}, 4s);

    ASSERT_TRUE(end);
    EXPECT_EQ(end->outcome, Outcome::retry) << "the engine tells the deadline";
  }
}

TEST_F(StageStepTest, OfANodeThatNeverCameTellsWhatItsBmcSaid) {
  using std::chrono::sys_days;
  machine.power = bmc::PowerState::on;
  machine.log =
      bmc::EventLog{.entries = {{.id = "1", .message = "long ago"},
                                {.id = "2", .severity = "OK", .message = "Powered on"},
                                {.id = "3", .message = "State asserted", .sensor = "ACPI"},
                                {.id = "4",
                                 .time = sys_days{2026y / 11 / 21} + 2h,
                                 .severity = "Critical",
                                 .message = "OS has\nstopped"}}};

  const auto end = wait();

  ASSERT_TRUE(end);
  EXPECT_EQ(end->outcome, Outcome::needs_operator);
  EXPECT_THAT(end->detail,
              HasSubstr("no route to host; its BMC: on; Powered on; State asserted (ACPI); "
                        "2026-11-21 02:00:00 Critical: OS has"));
  EXPECT_EQ(machine.logged_out, 1);
}

TEST_F(StageStepTest, OfANodeThatNeverCameAsksForWhatItsBmcSaysIsWrong) {
  const auto asked = [this] {
    const auto end = wait();
    const auto* hands = end ? end->found.if_contains("hands") : nullptr;
    const auto needs = record::needed_from(hands);
    return needs.empty() ? std::string{} : needs[0].action;
  };

  machine.power = bmc::PowerState::off;
  EXPECT_THAT(asked(), HasSubstr("why the machine is off"));
  EXPECT_THAT(asked(), HasSubstr("cupel bmc NODE power on"));
  EXPECT_THAT(asked(), ::testing::Not(HasSubstr("screen")));
  machine.power = bmc::PowerState::on;
  EXPECT_EQ(asked(), "look at the machine: its screen, its network cables");
  machine.all = Error{Code::kTimeout, "no answer"};
  EXPECT_THAT(asked(), HasSubstr("its network cables and its BMC's"));

  silence = "connect to 10.0.0.2:22: Connection refused";
  EXPECT_THAT(asked(), HasSubstr("the machine answers, and refuses"));
  machine.all = std::nullopt;
  machine.power = bmc::PowerState::on;
  EXPECT_THAT(asked(), HasSubstr("the machine answers, and refuses"));
  machine.power = bmc::PowerState::off;
  EXPECT_THAT(asked(), HasSubstr("why the machine is off"));
}

TEST_F(StageStepTest, OfANodeThatNeverCameSaysItAllTheSameWhereItsBmcTellsNothing) {
  machine.all = Error{Code::kTimeout, "no answer"};

  const auto end = wait();

  ASSERT_TRUE(end);
  EXPECT_EQ(end->outcome, Outcome::needs_operator);
  EXPECT_EQ(end->detail, "no route to host");
}

TEST_F(StageStepTest, AtItsLimitIsAFindingUnlessItWaitedForOurOwnReadings) {
  StepEnvironment doors{inventory, *store, {}, {}, nullptr};
  const auto stop = engine::Stop::no;
  const engine::StepRequest request{1,  nodes[0],         {},   planned, 1,
                                    {}, Deadline::in(1h), stop, {},      [](const std::string&) {}};
  planned.job = burnin::Job{"", 1s, 3860s};
  const Spool at_limit{.output = {.text = "", .errors = "", .exit_status = 124}};

  const auto by_itself = read_output(doors, request, at_limit);
  planned.name = "psu@again";  // it waits until the BMC was read in each phase
  const auto paced = read_output(doors, request, at_limit);

  ASSERT_TRUE(by_itself && paced);
  EXPECT_TRUE(by_itself->found.contains("hung"));
  EXPECT_FALSE(paced->found.contains("hung"));
  EXPECT_EQ(paced->outcome, Outcome::reject);
  EXPECT_THAT(paced->detail, HasSubstr("readings of the BMC came too slowly"));
}

/// A stage that burns for hours, on a real sshd.
class StageOnANode : public ssh::OnANode {
 protected:
  void SetUp() override {
    OnANode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    node.name = "a01-n01";
    planned.kind = playbooks::StepKind::stage;
    planned.name = "cpu-memory";
    planned.job = burnin::Job{"echo up; sleep 31001 & sleep 31002", 1s, 1h};
    handle = sshd_->file("jobs/run-1/") +
             ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  /// A test that failed half-way would leave its stage to the next one of its name.
  void TearDown() override {
    if (handle.empty()) return;
    for (const auto pid : cupel::testing::processes_of_job(handle)) ::kill(pid, SIGKILL);
  }

  StepEnvironment doors() {
    return {inventory,
            *store,
            {},
            [this](const inventory::Node&, Deadline deadline) {
              return ssh::connect("a01-n01", sshd_->access(), known, deadline);
            },
            nullptr};
  }
  /// As they are brought by a controller that has them: `watch` is looked after by cupel-node.
  StepEnvironment doors_with_programs() {
    planned.name = "watch";
    inventory.profiles[node.profile];
    auto all = doors();
    all.programs = std::make_shared<ssh::ProgramShelf>(
        std::vector<std::filesystem::path>{ours.path()},
        sshd_->file("bin-of-") + handle.substr(handle.rfind('/') + 1));
    return all;
  }
  engine::StepRequest request(std::chrono::seconds patience) {
    return {1,
            node,
            {},
            planned,
            1,
            handle,
            Deadline::in(patience),
            stop,
            {},
            [this](const std::string& what) { on_waiting(what); }};
  }
  bool burns() const { return !cupel::testing::processes_of_job(handle).empty(); }
  /// By controllers of which each goes away after a while, and leaves it.
  void burn(NodeSteps& steps) {
    while (!burns()) ASSERT_TRUE(run_to_end(io, steps.perform(request(5s))));
  }

  const engine::Stop stop = engine::Stop::no;
  inventory::Node node{};
  playbooks::PlannedStep planned{};
  inventory::Inventory inventory{};
  std::string handle{};
  std::function<void(const std::string&)> on_waiting = [](const std::string&) {};
  test::TemporaryFolder folder{};
  test::TemporaryFolder ours{};
  std::unique_ptr<store::Store> store = store::Store::open(folder.path()).value();
};

TEST_F(StageOnANode, OfWhichNothingIsHeardSaysSoAndEndsByItsDeadline) {
  std::filesystem::copy_file(NODE_BINARY, ours.path() / "cupel-node");
  NodeSteps steps{doors_with_programs()};
  pid_t keeper = 0;
  std::vector<std::string> reported;
  // As soon as it runs its supervisor hangs, and it is long since its heart beat.
  on_waiting = [&](const std::string& what) {
    reported.push_back(what);
    std::ifstream{handle + "/keeper"} >> keeper;
    if (keeper == 0 || reported.size() > 1) return;
    ::kill(keeper, SIGSTOP);
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    std::ofstream{handle + "/beat"} << now.tv_sec - 93 << "\n";
  };

  const auto tried = run_to_end(io, steps.perform(request(30s)));

  ASSERT_TRUE(tried);
  EXPECT_EQ(tried->outcome, Outcome::reject);
  EXPECT_THAT(tried->detail, ::testing::ContainsRegex("nothing heard for [0-9]+ s"));
  EXPECT_THAT(
      reported,
      ::testing::Contains(::testing::ContainsRegex("nothing heard for (9[3-9]|[1-9][0-9]{2,}) s")));
  ASSERT_TRUE(burns());
  const auto gone = run_to_end(io, steps.abort(request(60s)));
  EXPECT_TRUE(gone) << gone.error().what;
  EXPECT_FALSE(burns());
  EXPECT_FALSE(std::filesystem::exists(handle));
}

TEST_F(StageOnANode, WhoseCLibraryIsTooOldForItsProgramSaysSo) {
  std::ofstream{ours.path() / "cupel-node"}
      << "#!/bin/sh\necho \"$0: /lib64/libc.so.6: version \\`GLIBC_2.34' not found (required by "
         "$0)\" >&2\nexit 1\n";
  NodeSteps steps{doors_with_programs()};
  planned.job = burnin::Job{"true\n", 1s, 60s};

  const auto tried = run_to_end(io, steps.perform(request(30s)));

  ASSERT_TRUE(tried);
  EXPECT_EQ(tried->outcome, Outcome::reject);
  EXPECT_THAT(tried->detail, HasSubstr("older than glibc 2.34"));
}

TEST_F(StageOnANode, WhoseProgramPrintsBytesThatAreNoTextEndsInAnEventThatCanBeRead) {
  std::ofstream{ours.path() / "cupel-node"} << "#!/bin/sh\nprintf 'cannot: \\377\\302\\302\\200"
                                               "\\233[31m\\n' >&2\nexit 1\n";
  NodeSteps steps{doors_with_programs()};
  planned.job = burnin::Job{"true\n", 1s, 60s};

  const auto tried = run_to_end(io, steps.perform(request(30s)));

  ASSERT_TRUE(tried);
  const auto detail = tried->detail;
  EXPECT_THAT(detail, HasSubstr("cannot: "));
  EXPECT_EQ(printable(detail), detail);
  const auto run = store->begin_run({.playbook = "p", .nodes = {node.name}}).value();
  engine::Event ended;
  ended.kind = engine::EventKind::step_ended;
  ended.data["detail"] = detail;
  EXPECT_TRUE(store->append(run, ended));
}

TEST_F(StageOnANode, ThatDoesNotAnswerIsSaidToBeUnreachable) {
  auto silent = doors();
  silent.ssh = [](const inventory::Node&, Deadline) -> Task<Result<std::unique_ptr<ssh::Session>>> {
    co_return Error{Code::kTimeout, "no answer"};
  };
  NodeSteps steps{std::move(silent)};

  const auto gone = run_to_end(io, steps.abort(request(1s)));

  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Code::kUnreachable);
}

TEST_F(StageOnANode, GoesOnWithoutItsControllerUntilItIsLetGo) {
  NodeSteps steps{doors()};
  burn(steps);

  ASSERT_TRUE(run_to_end(io, steps.abort(request(30s))));

  EXPECT_FALSE(burns());
  EXPECT_FALSE(std::filesystem::exists(handle));
  EXPECT_TRUE(run_to_end(io, steps.abort(request(30s)))) << "a second time";
}

TEST_F(StageOnANode, ThatWasEndedHalfDoneHasNoResultAndBeginsAnew) {
  NodeSteps steps{doors()};
  burn(steps);
  const auto on = session();
  ASSERT_TRUE(run_to_end(io, ssh::stop_job(*on, {handle}, Deadline::in(60s))));

  const auto found = run_to_end(io, steps.perform(request(20s)));

  ASSERT_TRUE(found);
  EXPECT_TRUE(found->begin_anew);
  EXPECT_EQ(found->outcome, Outcome::reject);
}

/// A scontrol with one node, whose state it keeps in a file.
constexpr const char* kScontrol = R"sh(#!/bin/sh
cd "$(dirname "$0")" || exit 1
case "$*" in
  *show*) echo "NodeName=a01-n01 CPUTot=1 RealMemory=1 State=$(cat state) Reason=cupel: tested" ;;
  *State=DRAIN*) echo IDLE+DRAIN > state; echo "$*" >> asked ;;
  *State=RESUME*) echo IDLE > state ;;
esac
)sh";

class HandOff : public StageOnANode {
 protected:
  void SetUp() override {
    StageOnANode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    node.slurm_name = node.name;
    write("scontrol", kScontrol);
    write("state", "IDLE+DRAIN\n");
    std::filesystem::permissions(folder.path() / "scontrol", std::filesystem::perms::owner_all);
    path = ::getenv("PATH");
    ::setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
    std::filesystem::create_directories(sshd_->file("settings"));
    planned.kind = playbooks::StepKind::hand_off;
    planned.name = "hand-off";
    inventory.profiles[node.profile].name = node.profile;
  }
  void TearDown() override {
    if (!path.empty()) ::setenv("PATH", path.c_str(), 1);
    if (sshd_) std::filesystem::remove_all(sshd_->file("settings"));
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder.path() / name} << text;
  }
  /// A run that has passed the node, with a stage that ran there.
  engine::RunId passed() {
    store::Run run;
    run.nodes = {node.name};
    const auto id = store->begin_run(run).value();
    const auto append = [&](engine::EventKind kind, const char* step, boost::json::object data) {
      engine::Event event;
      event.kind = kind;
      event.node = node.name;
      event.step = step;
      event.data = std::move(data);
      ASSERT_TRUE(store->append(id, event));
    };
    burnin::Verdict verdict;
    verdict.decision = burnin::Decision::pass;
    auto judged = record::to_json(verdict);
    judged["outcome"] = "done";
    append(engine::EventKind::step_began, "node-facts", {{"attempt", 1}});
    append(engine::EventKind::step_ended, "node-facts", {{"outcome", "done"}});
    append(engine::EventKind::step_began, "verdict", {{"attempt", 1}});
    append(engine::EventKind::step_ended, "verdict", std::move(judged));
    return id;
  }
  std::string hand_off(engine::RunId id) {
    auto way = doors();
    way.scheduler_of = [](const inventory::Node&) {
      return std::make_shared<handoff::Slurm>(inventory::SlurmSite{});
    };
    NodeSteps steps{std::move(way)};
    auto asked = request(20s);
    asked.run = id;
    const auto ended = run_to_end(io, steps.perform(std::move(asked)));
    return ended ? ended->detail : ended.error().what;
  }
  std::string path{};
};

TEST_F(HandOff, KeepsANodeDrainedOnWhichSettingsOfSomeRunAreStillSet) {
  const auto id = passed();
  std::ofstream{sshd_->file("settings/before")}
      << "cupel-settings|1|a-boot\ngpu.power|GPU-1|700.00\ngpu.power|GPU-2|700.00\n";

  const auto kept = hand_off(id);
  std::filesystem::remove(sshd_->file("settings/before"));
  const auto given = hand_off(id);

  EXPECT_THAT(kept, HasSubstr("kept drained in Slurm: cupel: inconclusive: settings not put back: "
                              "gpu.power (run 1)"));
  EXPECT_THAT(read_file(folder.path() / "asked", 10'000).value(),
              HasSubstr("not put back: gpu.power"));
  EXPECT_EQ(given, "resumed in Slurm");
}

}  // namespace
}  // namespace cupel::steps
