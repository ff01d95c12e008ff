// How a run begins and goes on, without a command line and without a terminal.
#include "orchestrator/controller/submit.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>

#include "inventory/rehearsal_mark.h"
#include "orchestrator/controller/background.h"
#include "orchestrator/controller/state_folder.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::controller {
namespace {

using engine::RunPhase;
using store::ControllerLock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Shows nothing, and keeps what is reported to it.
struct NoFront : Front {
  std::vector<engine::RunId> viewed{};
  std::unique_ptr<RunView> view(const playbooks::Plan&, engine::RunId run, Origin) override {
    viewed.push_back(run);
    return nullptr;
  }
  void announce(Weight, const std::string&) override {}
  void refuse(engine::RunId, const std::string&) override {}
  void outlast(engine::RunId, const std::vector<engine::RunId>&) override {}
  bool hang_up() override { return false; }
};

/// Notes which of its views are alive, and acts once a second.
struct StayingFront : NoFront {
  struct View : RunView {
    View(std::set<engine::RunId>& all, engine::RunId which) : living{all}, run{which} {
      living.insert(run);
    }
    ~View() override { living.erase(run); }
    void on_event(const engine::Event&, const engine::RunState&) override {}
    void on_waiting(std::string_view, std::string_view, std::string_view) override {}
    void announce(Weight, const std::string&) override {}
    std::set<engine::RunId>& living;
    engine::RunId run;
  };

  std::set<engine::RunId> living{};
  std::function<void()> at_tick{}, at_hang_up = [] {};
  std::optional<Error> lost{};
  std::unique_ptr<RunView> view(const playbooks::Plan& plan, engine::RunId run,
                                Origin origin) override {
    [[maybe_unused]] const auto none = NoFront::view(plan, run, origin);
    return std::make_unique<View>(living, run);
  }
  void tick() override { at_tick(); }
  bool hang_up() override {
    at_hang_up();
    return false;
  }
  bool has_terminal() const override { return false; }
  std::optional<Error> fault() override { return lost; }
};

/// Two machines that nobody reaches, a playbook that judges what is known, and a state folder.
class SubmitTest : public store::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    write("bmc-password", "secret\n");
    std::filesystem::permissions(file("bmc-password"), std::filesystem::perms::owner_read);
    write("inventory.yaml", kInventory);
    write("judge.yaml", "playbook: judge\nsteps:\n  - step: verdict\n");
    opened_ = store::Store::open(state()).value();
  }
  static constexpr std::string_view kInventory =
      "site: oslo-1\n"
      "defaults:\n"
      "  profile: dgx-h100\n"
      "  bmc: {user: admin, password: \"file:bmc-password\"}\n"
      "  ssh: {user: root}\n"
      "nodes:\n"
      "  - {name: \"a01-n[01-02]\", bmc: {address: \"127.0.0.[11-12]\"},"
      " ssh: {address: \"127.0.0.[21-22]\"}}\n";

  std::string file(std::string_view name) const { return (folder_ / name).string(); }
  std::filesystem::path state() const { return folder_ / "state"; }
  void write(std::string_view name, std::string_view text) { std::ofstream{file(name)} << text; }
  store::Store& store() { return *opened_; }

  PlanRequest request(std::string nodes = "all") const {
    return {.playbook = file("judge.yaml"),
            .inventory = file("inventory.yaml"),
            .nodes = std::move(nodes)};
  }
  std::unique_ptr<Planned> planned(std::string nodes = "all") const {
    auto plan = plan_run(request(std::move(nodes)));
    EXPECT_TRUE(plan) << (plan ? "" : to_string(plan.error()));
    return plan ? *std::move(plan) : nullptr;
  }
  Result<Submitted> submit_to(Where where, std::string nodes = "all") {
    const Submission submission{.flags = {.consoles = false}, .begun_by = "alice", .where = where};
    return submit(store(), *planned(std::move(nodes)), submission);
  }

  std::unique_ptr<store::Store> opened_{};
};

using PlanRun = SubmitTest;

TEST_F(PlanRun, GivesThePlanWithAllThatItPointsInto) {
  const auto plan = plan_run(request("a01-n02"));

  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ((*plan)->plan.nodes.size(), 1);
  EXPECT_EQ((*plan)->plan.nodes[0].node, (*plan)->inventory.node("a01-n02"));
  EXPECT_EQ((*plan)->playbook.name, "judge");
}

TEST_F(PlanRun, GivesEveryProblemOfBothFilesAsData) {
  write("inventory.yaml", "site: oslo-1\nnodes: 7\n");
  write("judge.yaml", "playbook: judge\nsteps:\n  - step: no-such-step\n");

  const auto plan = plan_run(request());

  ASSERT_FALSE(plan);
  const auto* problems = std::get_if<std::vector<inventory::Problem>>(&plan.error());
  ASSERT_NE(problems, nullptr);
  std::set<std::string> files;
  for (const auto& problem : *problems) files.insert(problem.where.file);
  EXPECT_THAT(files, ElementsAre(file("inventory.yaml"), file("judge.yaml")));
}

TEST_F(PlanRun, RefusesNodesThatTheInventoryDoesNotHave) {
  const auto plan = plan_run(request("b99-n01"));

  ASSERT_FALSE(plan);
  const auto* error = std::get_if<Error>(&plan.error());
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(error->what, HasSubstr("b99-n01"));
}

TEST_F(SubmitTest, WritesTheRunAndTakesTheLockWhereNoControllerLives) {
  const auto submitted = submit_to(Where::here);

  ASSERT_TRUE(submitted) << submitted.error().what;
  EXPECT_TRUE(submitted->lock);
  EXPECT_EQ(ControllerLock::holder(state())->pid, ::getpid());
  const auto run = store().run(submitted->run.id).value();
  EXPECT_EQ(run.phase, RunPhase::running);
  EXPECT_EQ(run.playbook, "judge");
  EXPECT_THAT(run.nodes, ElementsAre("a01-n01", "a01-n02"));
  EXPECT_EQ(run_options_of(run.options).begun_by, "alice");
  EXPECT_FALSE(run_options_of(run.options).consoles);
}

TEST_F(SubmitTest, LeavesTheRunToTheControllerThatLives) {
  const auto living = ControllerLock::take(state());
  ASSERT_TRUE(living);

  const auto submitted = submit_to(Where::here);

  ASSERT_TRUE(submitted) << submitted.error().what;
  EXPECT_FALSE(submitted->lock);
  EXPECT_EQ(store().run(submitted->run.id)->phase, RunPhase::submitted);
  EXPECT_THAT(store().submitted(10).value(), ElementsAre(submitted->run.id));
}

TEST_F(SubmitTest, TakesNoLockForARunThatIsLeftToTheBackground) {
  const auto submitted = submit_to(Where::background);

  ASSERT_TRUE(submitted) << submitted.error().what;
  EXPECT_FALSE(submitted->lock);
  EXPECT_FALSE(ControllerLock::holder(state()));
  EXPECT_EQ(store().run(submitted->run.id)->phase, RunPhase::submitted);
}

TEST_F(SubmitTest, RefusesNodesThatAnotherRunHolds) {
  ASSERT_TRUE(submit_to(Where::background, "a01-n02"));

  const auto second = submit_to(Where::background);

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_THAT(second.error().what, HasSubstr("a01-n02"));
  EXPECT_EQ(store().runs(10)->size(), 1);
}

TEST_F(SubmitTest, WritesNothingWhereASecretIsMissing) {
  std::filesystem::remove(file("bmc-password"));

  const auto submitted = submit_to(Where::here);

  ASSERT_FALSE(submitted);
  EXPECT_EQ(submitted.error().code, Code::kInvalid);
  EXPECT_THAT(submitted.error().what, HasSubstr("bmc-password"));
  EXPECT_THAT(store().runs(10).value(), IsEmpty());
  EXPECT_FALSE(ControllerLock::holder(state()));
}

TEST_F(SubmitTest, AgainKeepsTheOptionsButForWhatIsSaidThisTime) {
  const auto run = submit_to(Where::background)->run;
  auto stopped = store::Event{};
  stopped.kind = engine::EventKind::run_interrupted;
  ASSERT_TRUE(store().append(run.id, stopped));

  const auto again =
      submit_again(store(), *planned(), store().run(run.id).value(),
                   {.flags = {.look_again = std::chrono::seconds{7}}, .where = Where::background});

  ASSERT_TRUE(again) << again.error().what;
  const auto now = store().run(run.id).value();
  EXPECT_EQ(now.phase, RunPhase::submitted);
  const auto options = run_options_of(now.options);
  EXPECT_EQ(options.look_again, std::chrono::seconds{7});
  EXPECT_EQ(options.begun_by, "alice");
  EXPECT_FALSE(options.consoles);
}

TEST_F(SubmitTest, AgainTakesTheLockWhereNoControllerLives) {
  const auto run = submit_to(Where::background)->run;

  const auto again = submit_again(store(), *planned(), run, {.where = Where::here});

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->lock);
  EXPECT_FALSE(again->at_work);
}

TEST_F(SubmitTest, TakesOverFromAControllerThatIsGoneAndFromNoOther) {
  const auto run = submit_to(Where::background)->run;
  {
    const auto living = ControllerLock::take(state());
    const auto refused = take_over(store(), run);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kConflict);
  }

  const auto taken = take_over(store(), run);

  ASSERT_TRUE(taken) << taken.error().what;
  EXPECT_TRUE(taken->lock);
}

TEST_F(SubmitTest, DrivesARunToItsEnd) {
  auto plan = planned();
  auto submitted = submit(store(), *plan, {.flags = {.consoles = false}, .begun_by = "alice"});
  ASSERT_TRUE(submitted) << submitted.error().what;
  const auto id = submitted->run.id;
  NoFront front;

  const auto drove =
      drive(front, store(), std::move(plan), *std::move(submitted), {.version = "test"});

  ASSERT_TRUE(drove) << drove.error().what;
  EXPECT_EQ(store().run(id)->phase, RunPhase::ended);
  EXPECT_THAT(front.viewed, ElementsAre(id));
  EXPECT_FALSE(ControllerLock::holder(state()));
}

TEST_F(SubmitTest, DrivesNoRunOfAnotherProcess) {
  auto plan = planned();
  auto submitted = submit_to(Where::background);
  const auto id = submitted->run.id;
  NoFront front;

  const auto drove = drive(front, store(), std::move(plan), *std::move(submitted), {});

  ASSERT_FALSE(drove);
  EXPECT_EQ(drove.error().code, Code::kInvalid);
  EXPECT_EQ(store().run(id)->phase, RunPhase::submitted);
}

TEST_F(SubmitTest, AControllerThatStaysKeepsNothingOfARunThatHasEnded) {
  const auto lock = ControllerLock::take(state());
  ASSERT_TRUE(lock);
  StayingFront front;
  const auto is_gone = [&](engine::RunId run) {
    return store().run(run)->phase == RunPhase::ended && !front.living.contains(run);
  };
  const auto first = submit_to(Where::background)->run.id;
  engine::RunId second = 0;
  int ticks = 0;
  front.at_tick = [&] {
    if (second == 0 && is_gone(first)) second = submit_to(Where::background)->run.id;
    const bool through = second != 0 && is_gone(second);
    if (through || ++ticks == 30) ::raise(SIGTERM);
  };

  Controller controller{front, store(), {.version = "test", .stays = true}};
  const auto worked = controller.work();

  EXPECT_TRUE(worked) << worked.error().what;
  EXPECT_LT(ticks, 30) << "what went on beside the first run did not end with it";
  EXPECT_THAT(front.viewed, ElementsAre(first, second));
}

TEST_F(SubmitTest, AControllerHearsSignalsFromBeforeItWorks) {
  StayingFront front;
  int reads = 0, ticks = 0;
  front.at_hang_up = [&] {
    ++reads;
    ::raise(SIGTERM);
  };
  front.at_tick = [&] { ASSERT_LT(++ticks, 30); };
  Controller controller{front, store(), {.version = "test", .stays = true}};
  ::raise(SIGHUP);

  const auto worked = controller.work();

  EXPECT_TRUE(worked) << worked.error().what;
  EXPECT_EQ(reads, 1);
}

TEST_F(SubmitTest, AControllerThatHearsNoSignalsAnyMoreEndsWithAnError) {
  StayingFront front;
  front.at_hang_up = []() { throw std::runtime_error{"a bug in the reload"}; };
  int ticks = 0;
  front.at_tick = [&] {
    if (++ticks == 1) ::raise(SIGHUP);
    ASSERT_LT(ticks, 30) << "it goes on, and hears neither SIGHUP nor SIGTERM";
  };
  Controller controller{front, store(), {.version = "test", .stays = true}};

  const auto worked = controller.work();

  ASSERT_FALSE(worked);
  EXPECT_THAT(worked.error().what, HasSubstr("a bug in the reload"));
}

TEST_F(SubmitTest, AControllerEndsWithWhatItsFrontHasLost) {
  StayingFront front;
  int ticks = 0;
  front.at_tick = [&] {
    if (++ticks == 2) front.lost = Error{Code::kFailed, "listener-stopped"};
    ASSERT_LT(ticks, 30);
  };
  Controller controller{front, store(), {.version = "test", .stays = true}};

  const auto worked = controller.work();

  ASSERT_FALSE(worked);
  EXPECT_EQ(worked.error().what, "listener-stopped");
}

TEST_F(SubmitTest, AControllerThatStaysResumesWhatOneLikeItDroveWhenItWasStopped) {
  write("judge.yaml",
        "playbook: judge\nsteps:\n  - step: approval\n    with: {message: look first}\n"
        "  - step: verdict\n");
  const auto lock = ControllerLock::take(state());
  const auto run = submit_to(Where::background)->run.id;
  const auto stay = [&](const std::function<bool()>& through) {
    StayingFront front;
    int ticks = 0;
    front.at_tick = [&] {
      if (through() || ++ticks == 30) ::raise(SIGTERM);
    };
    Controller controller{front, store(), {.version = "test", .stays = true}};
    [[maybe_unused]] const auto worked = controller.work();
    EXPECT_LT(ticks, 30);
  };
  const auto phase = [&] { return store().run(run)->phase; };

  stay([&] { return phase() == RunPhase::running; });
  const auto stopped = phase();
  stay([&] {
    engine::Command approve;
    approve.run = run;
    approve.kind = engine::Command::Kind::approve;
    approve.by = "alice";
    return phase() == RunPhase::ended || !store().ask(approve);
  });

  EXPECT_EQ(stopped, RunPhase::interrupted);
  EXPECT_EQ(phase(), RunPhase::ended);
  const auto events = store().events(run).value();
  const auto resumed =
      std::ranges::find(events, engine::EventKind::run_resumed, &engine::Event::kind);
  ASSERT_NE(resumed, events.end());
  EXPECT_EQ(resumed->data.at("why"), "service-restarted");
  EXPECT_EQ(resumed->data.at("by"), "cupel");
}

TEST(CompanionTasks, AreCancelledOnceAndMayAwaitWhileTheyCleanUp) {
  asio::io_context io;
  bool cleaned = false, ended_at_once = true;
  const auto companion = [](bool& done) -> Task<Result<void>> {
    [[maybe_unused]] const auto cut = co_await pause_for(std::chrono::hours{1});
    const auto rest = co_await pause_for(std::chrono::milliseconds{1});
    done = !cut && rest;
    co_return ok();
  };
  const auto all = [&]() -> Task<bool> {
    TaskGroup group{io.get_executor()};
    group.start(companion(cleaned));
    [[maybe_unused]] const auto begun = co_await pause_for(std::chrono::milliseconds{1});
    group.cancel();
    ended_at_once = group.ended();
    group.cancel();
    co_await group.end();
    co_return group.ended();
  };

  EXPECT_TRUE(run_to_end(io, all()));
  EXPECT_FALSE(ended_at_once);
  EXPECT_TRUE(cleaned) << "a second wish to end cuts no clean-up";
}

using Background = SubmitTest;

TEST_F(Background, NamesAllPathsFromTheRoot) {
  const auto here = std::filesystem::current_path().string();

  const auto words = words_of({.state = "state", .programs = "bin", .log = "/var/log/a"});
  const auto few = words_of({.state = "/var/lib/cupel", .log = "none"});

  EXPECT_THAT(words, ElementsAre("cupel", "--state", here + "/state", "--programs", here + "/bin",
                                 "--log", "/var/log/a", "controller"));
  EXPECT_THAT(few,
              ElementsAre("cupel", "--state", "/var/lib/cupel", "--log", "none", "controller"));
}

TEST_F(Background, NamesTheControllerThatHasBegunTheRun) {
  const auto lock = ControllerLock::take(state());
  const auto run = submit_to(Where::background)->run;
  auto begun = store::Event{};
  begun.kind = engine::EventKind::run_started;
  ASSERT_TRUE(store().append(run.id, begun));
  asio::io_context io;

  const auto process = run_to_end(io, leave_to_background({.state = state()}, store(), run.id));

  ASSERT_TRUE(process) << process.error().what;
  EXPECT_EQ(*process, ::getpid());
}

TEST_F(Background, SaysWhereToReadWhyTheControllerEnded) {
  const auto run = submit_to(Where::background)->run;
  asio::io_context io;
  auto leaving = leave_to_background({.state = state(), .program = "/bin/false"}, store(), run.id);

  const auto process = run_to_end(io, std::move(leaving));

  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, Code::kFailed);
  EXPECT_THAT(process.error().what, HasSubstr(controller_log(state()).string()));
  EXPECT_EQ(store().run(run.id)->phase, RunPhase::submitted);
}

using StateFolderTest = SubmitTest;

TEST_F(StateFolderTest, OfRealMachinesOpensForThem) {
  EXPECT_TRUE(open_store_for({.path = state()}, planned()->inventory));
}

TEST_F(StateFolderTest, BecomesARehearsalsWhereItIsNamedAndEmpty) {
  const auto text = std::string{inventory::kRehearsalMark} + "\n" + std::string{kInventory};
  write("inventory.yaml", text);
  const auto plan = planned();

  const auto unnamed = open_store_for({.path = folder_ / "other"}, plan->inventory);
  const auto named = open_store_for({.path = folder_ / "other", .named = true}, plan->inventory);

  EXPECT_TRUE(is_of_virtual_rack(file("inventory.yaml")));
  ASSERT_FALSE(unnamed);
  EXPECT_EQ(unnamed.error().code, Code::kConflict);
  EXPECT_THAT(unnamed.error().what, HasSubstr("only --state can make one of it"));
  EXPECT_TRUE(named) << named.error().what;
  write("inventory.yaml", kInventory);
  EXPECT_FALSE(open_store_for({.path = folder_ / "other"}, planned()->inventory))
      << "real machines in a rehearsal's folder";
}

}  // namespace
}  // namespace cupel::controller
