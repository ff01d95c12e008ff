// The table of step kinds, and what it promises of a kind whose act must not be repeated: tried
// with a kind of the test's own, which starts tasks in a service as a BMC's update service does.
#include <gmock/gmock.h>

#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/patience.h"
#include "orchestrator/steps/step_type.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/one_controller.h"
#include "tests/support/captures.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using engine::Event;
using engine::EventKind;
using engine::StepEnd;
using engine::StepRequest;
using playbooks::StepKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kUpdate = static_cast<StepKind>(100);

TEST(StepTypes, HaveOneRowForEachKindThatPlaybooksKnow) {
  std::vector<StepKind> known{StepKind::stage}, coded;
  for (const auto& row : playbooks::step_kinds()) known.push_back(row.kind);
  for (const auto& type : step_types()) coded.push_back(type.kind);

  EXPECT_THAT(coded, ::testing::UnorderedElementsAreArray(known));
}

TEST(StepTypes, CanReattachAndAbortExactlyWhereTheKindIsDoneOnce) {
  for (const auto& type : step_types()) {
    const auto& row = row_of(type.kind);
    EXPECT_NE(type.perform, nullptr) << row.name;
    EXPECT_EQ(type.reattach != nullptr, row.once) << row.name;
    EXPECT_EQ(type.abort != nullptr, row.once) << row.name;
  }
}

TEST(StepTypes, HaveADeadlineLongerThanTheTimeTheyExpect) {
  const inventory::Patience patience;
  for (const auto& row : playbooks::step_kinds()) {
    EXPECT_GT(row.expected.of(patience), 0s) << row.name;
    EXPECT_GT(row.deadline.of(patience), row.expected.of(patience)) << row.name;
  }
}

Task<Result<StepEnd>> end_at_once(StepEnvironment&, const StepRequest&) { co_return done("done"); }

/// What is done after a step of this kind with what was read of the node's kernel log before it.
bool begins_the_kernel_log_anew(StepKind kind) {
  const test::TemporaryFolder folder;
  const auto store = store::Store::open(folder.path()).value();
  inventory::Node node;
  node.name = "n1";
  node.profile = "judged";
  inventory::Inventory inventory;
  inventory.profiles["judged"] = {.name = "judged",
                                  .criteria = {{.stage = "kernel-log", .measure = "kernel.xid"}}};
  const std::vector types{StepType{.kind = kind, .perform = end_at_once}};
  StepEnvironment environment{inventory, *store, {}, {}, nullptr};
  const auto board = environment.board;
  board->kernels["n1"].mark = "b001:140";
  playbooks::PlannedStep step;
  step.kind = kind;
  step.name = playbooks::row_of(kind).name;
  const auto stop = engine::Stop::no;
  NodeSteps steps{std::move(environment), types};
  asio::io_context io;

  const auto ended = run_to_end(
      io, steps.perform({1, node, {}, step, 1, {}, Deadline::in(60s), stop, {}, [](auto) {}}));

  EXPECT_TRUE(ended) << ended.error().what;
  const bool reported = ended && ended->found.contains("kernel_log_mark");
  EXPECT_EQ(reported, !board->kernels.contains("n1")) << step.name;
  return reported;
}

/// boot-once sets where the next boot comes from, and leaves that boot to others; node-firmware
/// restarts the machine where a component's `follow` says so.
TEST(StepTypes, BeginTheKernelLogAnewExactlyAfterAKindThatMayRestartTheNode) {
  std::vector<std::string_view> anew;
  for (const auto& row : playbooks::step_kinds())
    if (begins_the_kernel_log_anew(row.kind)) anew.push_back(row.name);

  EXPECT_THAT(anew, ElementsAre("firmware", "os", "boot-ram", "power-on", "power-off",
                                "power-cycle", "node-firmware"));
}

/// Outlives every controller.
struct UpdateService {
  std::vector<std::string> tasks{};  // each under the token that it was asked for with
  std::vector<std::string> reattached{}, aborted{};
  bool hangs = false;

  std::string start(const std::string& token) {
    tasks.push_back(token);
    return "task " + std::to_string(tasks.size());
  }
  std::optional<std::string> find(const std::string& handle) const {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto name = "task " + std::to_string(i + 1);
      if (handle == name || handle == tasks[i]) return name;
    }
    return std::nullopt;
  }
};

UpdateService* service = nullptr;

Task<Result<StepEnd>> wait_for_task(std::string task) {
  if (service->hangs) {
    CO_TRY(co_await pause_for(1h));
  }
  co_return done(std::move(task));
}

Task<Result<StepEnd>> start_update(const StepRequest& request, const std::string& token) {
  auto task = service->start(token);
  CO_TRY(co_await request.started(task));
  co_return co_await wait_for_task(std::move(task));
}

Task<Result<StepEnd>> perform_update(StepEnvironment&, const StepRequest& request) {
  const auto token = "update of " + request.node.name;
  CO_TRY(co_await request.started(token));
  co_return co_await start_update(request, token);
}

Task<Result<StepEnd>> reattach_update(StepEnvironment&, const StepRequest& request) {
  service->reattached.push_back(*request.handle);
  auto task = service->find(*request.handle);
  if (task) co_return co_await wait_for_task(*std::move(task));
  co_return co_await start_update(request, *request.handle);
}

Task<Result<void>> abort_update(StepEnvironment&, const StepRequest& request) {
  service->aborted.push_back(*request.handle);
  co_return ok();
}

struct CancelsOnceStarted : engine::Observer {
  engine::Engine* engine = nullptr;
  void on_event(const Event& event, const engine::RunState&) override {
    const bool started = event.kind == EventKind::step_started;
    if (engine != nullptr && started && event.data.at("handle") == "task 1")
      engine->stop(1, engine::Stop::cancel);
  }
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
};

class DoneOnce : public ::testing::Test {
 protected:
  DoneOnce() {
    service = &service_;
    node_.name = "n1";
    playbooks::PlannedStep step;
    step.kind = kUpdate;
    step.name = "update";
    step.deadline = 60s;
    step.once = true;
    plan_.nodes.push_back({&node_, std::make_shared<std::vector<playbooks::PlannedStep>>(1, step)});
  }
  ~DoneOnce() override { service = nullptr; }

  /// One controller, from what the journal holds to its end.
  Result<void> control(bool cancel = false) {
    NodeSteps steps{StepEnvironment{inventory_, *store_, {}, {}, nullptr}, types_};
    CancelsOnceStarted observer;
    const auto controlled =
        test::control_run(plan_, journal_, steps, observer, [&](engine::Engine& engine) {
          if (cancel) observer.engine = &engine;
        });
    phase_ = controlled.state.nodes.at("n1").steps[0].phase;
    detail_ = controlled.state.nodes.at("n1").steps[0].detail;
    return controlled.ended;
  }

  std::vector<StepType> types_{{.kind = kUpdate,
                                .perform = perform_update,
                                .reattach = reattach_update,
                                .abort = abort_update}};
  inventory::Node node_{};
  inventory::Inventory inventory_{};
  playbooks::Plan plan_{};
  test::TemporaryFolder folder_{};
  std::unique_ptr<store::Store> store_ = store::Store::open(folder_.path()).value();
  UpdateService service_{};
  test::MortalJournal journal_{};
  engine::StepState::Phase phase_{};
  std::string detail_{};
};

TEST_F(DoneOnce, JournalsAHandleBeforeItActsAndTheServicesOwnNameBehindIt) {
  ASSERT_TRUE(control());

  std::vector<std::string> handles;
  for (const auto& event : journal_.events)
    if (event.kind == EventKind::step_started)
      handles.emplace_back(event.data.at("handle").as_string());
  EXPECT_THAT(handles, ElementsAre("update of n1", "task 1"));
  EXPECT_EQ(phase_, engine::StepState::Phase::done);
}

TEST_F(DoneOnce, StartsOneTaskHoweverOftenTheControllerDies) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (const bool after : {false, true})
    for (std::size_t room = 0; room < writes; ++room) {
      service_ = {};
      journal_ = {};
      journal_.dies_after_writing = after;
      journal_.room = room;
      const auto died = control();
      ASSERT_FALSE(died) << room;
      EXPECT_EQ(died.error().code, Code::kStorage);
      journal_.room = 1'000;

      const auto ended = control();

      const auto& last = journal_.events.back();
      EXPECT_TRUE(ended || last.kind == EventKind::run_ended) << room;
      EXPECT_THAT(service_.tasks, ElementsAre("update of n1")) << room << (after ? " after" : "");
      EXPECT_EQ(phase_, engine::StepState::Phase::done) << room;
    }
}

TEST_F(DoneOnce, KilledBetweenTheHandleAndTheActActsUnderTheSameHandle) {
  journal_.dies_after_writing = true;
  journal_.room = 1;  // step-began; with step-started it dies
  ASSERT_FALSE(control());
  ASSERT_EQ(journal_.events.back().kind, EventKind::step_started);
  ASSERT_THAT(service_.tasks, ::testing::IsEmpty());
  journal_.room = 1'000;

  ASSERT_TRUE(control());

  EXPECT_THAT(service_.reattached, ElementsAre("update of n1"));
  EXPECT_THAT(service_.tasks, ElementsAre("update of n1"));
}

TEST_F(DoneOnce, KilledBetweenTheActAndItsAnswerFindsTheTaskByTheHandle) {
  journal_.room = 2;  // the act is done, and the name of its task is not written
  ASSERT_FALSE(control());
  ASSERT_THAT(service_.tasks, ElementsAre("update of n1"));
  journal_.room = 1'000;

  ASSERT_TRUE(control());

  EXPECT_THAT(service_.reattached, ElementsAre("update of n1"));
  EXPECT_THAT(service_.tasks, ElementsAre("update of n1"));
  EXPECT_EQ(detail_, "task 1");
}

TEST_F(DoneOnce, IsAbortedByItsHandleWhereItsRunIsCancelled) {
  service_.hangs = true;

  ASSERT_FALSE(control(true));

  EXPECT_THAT(service_.aborted, ElementsAre("task 1"));
  EXPECT_EQ(journal_.events.back().kind, EventKind::run_cancelled);
}

TEST_F(DoneOnce, IsTheOnlyWayToKeepAHandle) {
  types_[0].reattach = nullptr;
  types_[0].abort = nullptr;

  ASSERT_TRUE(control());

  EXPECT_THAT(service_.tasks, ::testing::IsEmpty());
  EXPECT_THAT(detail_, HasSubstr("not done once"));
}

}  // namespace
}  // namespace cupel::steps
