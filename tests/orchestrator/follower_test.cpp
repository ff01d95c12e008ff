// A job and the next one on the same node, on a real sshd.
#include "orchestrator/steps/follower.h"

#include "orchestrator/store/store.h"
#include "playbooks/plan.h"
#include "tests/orchestrator/node.h"
#include "tests/support/captures.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;

class FollowerTest : public ssh::OnANode {
 protected:
  void SetUp() override {
    OnANode::SetUp();
    if (IsSkipped()) return;
    node.name = "a01-n01";
    node.ssh = sshd_->access();
    handle.folder = sshd_->file("jobs/run-1/") +
                    ::testing::UnitTest::GetInstance()->current_test_info()->name();
    planned.job.emplace();
    planned.job->limit = 30s;
  }

  /// What the script printed; `follower` has ended it and forgotten it.
  std::string follow(Follower& follower, const std::string& script) {
    planned.job->script = script;
    auto spool = run_to_end(io, follower.follow());
    if (!spool) throw std::runtime_error{spool.error().what};
    if (!run_to_end(io, clean_up(follower))) throw std::runtime_error{"it was cancelled"};
    return spool->output.text;
  }

  static Task<Result<void>> clean_up(Follower& follower) {
    co_await follower.clean_up();
    co_return ok();
  }

  inventory::Node node;
  playbooks::PlannedStep planned;
  ssh::JobHandle handle;
  const engine::Stop stop = engine::Stop::no;
  engine::StepRequest request{.node = node,
                              .step = planned,
                              .handle = {},
                              .deadline = Deadline::in(60s),
                              .stop = stop,
                              .started = {},
                              .waiting = [](const std::string&) {}};
  inventory::Inventory inventory;
  test::TemporaryFolder folder;
  std::unique_ptr<store::Store> store = store::Store::open(folder.path()).value();
  int connections = 0;
  StepEnvironment environment{inventory,
                              *store,
                              {},
                              [this](const inventory::Node& to, Deadline deadline) {
                                ++connections;
                                return ssh::connect(to.name, to.ssh, known, deadline);
                              },
                              nullptr};
};

TEST_F(FollowerTest, GoesOnOverTheConnectionOfTheOneBeforeIt) {
  Follower first{environment, request, handle}, second{environment, request, handle};
  ASSERT_EQ(follow(first, "echo one"), "one\n");

  second.go_on_over(first.take_session());

  EXPECT_EQ(follow(second, "echo two"), "two\n");
  EXPECT_EQ(connections, 1);
}

TEST_F(FollowerTest, ConnectsAnewWhereThatConnectionHasDied) {
  Follower first{environment, request, handle}, second{environment, request, handle};
  ASSERT_EQ(follow(first, "echo one"), "one\n");
  sshd_->crash();
  sshd_->restart();
  node.ssh = sshd_->access();

  second.go_on_over(first.take_session());

  EXPECT_EQ(follow(second, "echo two"), "two\n");
  EXPECT_EQ(connections, 2);
}

}  // namespace
}  // namespace cupel::steps
