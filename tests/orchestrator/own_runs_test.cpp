// Which runs a restarted service resumes, by what their journals say of who drove them.
#include "orchestrator/controller/own_runs.h"

#include "base/json.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::controller {
namespace {

using engine::EventKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OwnRunsTest : public store::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    opened_ = open();
    ASSERT_NE(opened_, nullptr);
  }
  /// On a node of its own.
  engine::RunId begun() {
    return opened_->begin_run(run_on({"n" + std::to_string(++nodes_)})).value();
  }
  void write(engine::RunId run, EventKind kind, json::object data = {}) {
    store::Event made;
    made.kind = kind;
    made.data = std::move(data);
    const auto written = opened_->append(run, made);
    ASSERT_TRUE(written) << written.error().what;
  }
  engine::RunId of_service() {
    const auto run = begun();
    write(run, EventKind::run_started, {{"service", true}});
    return run;
  }
  void die_and_restart(engine::RunId run) {
    write(run, EventKind::run_resumed, {{"service", true}, {"why", "service-restarted"}});
  }
  std::vector<OwnRun> own() const {
    return own_runs(store::JournalReader::open(folder_).value()).value();
  }

  std::unique_ptr<store::Store> opened_{};
  int nodes_ = 0;
};

TEST_F(OwnRunsTest, AreThoseThatItDroveWhenItWasStoppedOrDied) {
  const auto stopped = of_service(), died = of_service();
  write(stopped, EventKind::run_interrupted);

  EXPECT_THAT(own(), ElementsAre(OwnRun{stopped}, OwnRun{died}));
}

TEST_F(OwnRunsTest, AreNoneOfATerminalAndNoneThatIsOver) {
  const auto of_terminal = begun(), cancelled = of_service(), ended = of_service(),
             taken_over = of_service();
  begun();  // nothing is written of it yet
  write(of_terminal, EventKind::run_started);
  write(of_terminal, EventKind::run_interrupted);
  write(cancelled, EventKind::run_cancelled, {{"by", "alice"}});
  write(ended, EventKind::run_ended);
  write(taken_over, EventKind::run_interrupted);
  write(taken_over, EventKind::run_resumed, {{"by", "alice"}});
  write(taken_over, EventKind::run_interrupted);

  EXPECT_THAT(own(), IsEmpty());
}

TEST_F(OwnRunsTest, AreNoneThatCouldNotBeResumed) {
  const auto run = of_service();
  write(run, EventKind::run_interrupted);
  write(run, EventKind::run_interrupted, {{"why", "its inventory cannot be read any more"}});

  EXPECT_THAT(own(), IsEmpty());
}

TEST_F(OwnRunsTest, AreStuckAfterThreeDeathsWithoutAStepThatEnded) {
  const auto run = of_service(), works = of_service(), stopped = of_service();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(own(), ElementsAre(OwnRun{run}, OwnRun{works}, OwnRun{stopped})) << i;
    for (const auto each : {run, works, stopped}) die_and_restart(each);
    write(works, EventKind::step_ended, {{"outcome", "done"}});
    write(stopped, EventKind::run_interrupted);
  }

  EXPECT_THAT(own(), ElementsAre(OwnRun{run, true}, OwnRun{works}, OwnRun{stopped}));
}

}  // namespace
}  // namespace cupel::controller
