// A stage that two nodes do as one measurement, on a real sshd with an address for each of them and
// the real cupel-node.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "burnin/criteria/judge.h"
#include "burnin/stage.h"
#include "inventory/model.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/group_rounds.h"
#include "orchestrator/steps/node_steps.h"
#include "orchestrator/store/measured.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/node.h"
#include "tests/support/captures.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using engine::Outcome;
using engine::StepEnd;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPair = "tcp-pair";
constexpr const char* kLink = "link:a01-n01/127.0.0.2<->a01-n02/127.0.0.3";

/// cupel-node as it is, but for what `tcp` does.
constexpr const char* kWithOtherTcp = R"sh(#!/bin/sh
case "$1 $2" in
  "tcp serve") :; @serve@ ;;
  "tcp send") :; @send@ ;;
esac
exec @program@ "$@"
)sh";

class GroupStage : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!testing::Sshd::installed()) return;
    sshd = std::make_unique<testing::Sshd>(std::vector<std::string>{"127.0.0.2", "127.0.0.3"});
    // Under another name: a job finds programs beside the one that looks after it first.
    std::filesystem::create_directory(sshd->file("real"));
    std::filesystem::copy_file(NODE_BINARY, sshd->file("real/program"));
  }
  static void TearDownTestSuite() { sshd.reset(); }

  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(sshd, "/usr/sbin/sshd is not installed");
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    handle = sshd->file("jobs/run-1/") + test;
    for (int i : {0, 1}) {
      nodes[i].name = "a01-n0" + std::to_string(i + 1);
      nodes[i].profile = "small";
      nodes[i].ssh = sshd->access("127.0.0." + std::to_string(i + 2));
    }
    auto& profile = inventory.profiles["small"];
    profile.name = "small";
    planned.kind = playbooks::StepKind::stage;
    planned.name = kPair;
    planned.with = {{"duration", "1s"}, {"size", "8MiB"}};
    planned.job = *burnin::stage(kPair)->prepare(profile, planned.with);
    std::filesystem::create_directories(sshd->file("path"));
    install_tcp("", "");
  }
  void TearDown() override {
    if (sshd) std::filesystem::remove_all(sshd->file("path"));
  }

  /// What the nodes run as `cupel-node tcp serve` and `tcp send`, before the real one or instead.
  void install_tcp(const std::string& serve, const std::string& send) {
    std::string text{kWithOtherTcp};
    const std::pair<std::string, std::string> all[] = {
        {"@serve@", serve}, {"@send@", send}, {"@program@", sshd->file("real/program")}};
    for (const auto& [mark, with] : all) text.replace(text.find(mark), mark.size(), with);
    const auto file = sshd->file("path/cupel-node");
    std::ofstream{file} << text;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  engine::StepRequest request(std::chrono::seconds patience) {
    return {1,    nodes[0], {&nodes[0], &nodes[1]},   planned, 1, handle, Deadline::in(patience),
            stop, {},       [](const std::string&) {}};
  }
  NodeSteps steps() {
    return NodeSteps{{inventory,
                      *store,
                      {},
                      [this](const inventory::Node& node, Deadline deadline) {
                        return ssh::connect(node.name, node.ssh, known, deadline);
                      },
                      nullptr}};
  }
  StepEnd run(std::chrono::seconds patience = 60s) {
    auto all = steps();
    auto end = run_to_end(io, all.perform(request(patience)));
    if (!end) throw std::runtime_error{end.error().what};
    return *std::move(end);
  }
  /// What the engine asks for where a step did not end as done.
  void abort() {
    auto all = steps();
    const auto gone = run_to_end(io, all.abort(request(60s)));
    EXPECT_TRUE(gone) << gone.error().what;
  }
  bool any_runs() const {
    return !testing::processes_of_job(handle + "-a01-n01").empty() ||
           !testing::processes_of_job(handle + "-a01-n02").empty();
  }

  /// As the engine journals it: one event for each member, all with the same findings.
  engine::RunId journalled(const StepEnd& end) {
    const auto id = store->begin_run({.playbook = "p", .nodes = {"a01-n01", "a01-n02"}}).value();
    for (const auto& node : nodes) {
      engine::Event event;
      event.kind = engine::EventKind::step_ended;
      event.node = node.name;
      event.step = kPair;
      event.data = end.found;
      event.data["outcome"] = "done";
      EXPECT_TRUE(store->append(id, event));
    }
    return id;
  }
  /// The criteria of the profile that the node did not meet, or that were not measured.
  std::vector<std::string> not_met(engine::RunId id, const std::string& node) {
    const auto record = record::node_record(*store, id, node).value();
    std::vector<std::string> all;
    for (const auto& each : burnin::judge(inventory.profiles["small"], {kPair}, record.findings))
      if (each.met != burnin::Met::met) all.push_back(each.measure + " " + each.part);
    return all;
  }
  void expect_of_links(const std::string& measure, double at_least, const std::string& unit) {
    inventory::Criterion criterion;
    criterion.stage = kPair;
    criterion.measure = measure;
    criterion.parts = {"link:*"};
    criterion.at_least = at_least;
    criterion.unit = unit;
    inventory.profiles["small"].criteria.push_back(criterion);
  }

  static inline std::unique_ptr<testing::Sshd> sshd;
  const engine::Stop stop = engine::Stop::no;
  asio::io_context io;
  ssh::Notebook known;
  std::array<inventory::Node, 2> nodes{};
  playbooks::PlannedStep planned{};
  inventory::Inventory inventory{};
  std::string handle{};
  test::TemporaryFolder folder{};
  std::unique_ptr<store::Store> store = store::Store::open(folder.path()).value();
};

TEST_F(GroupStage, JournalsWhatBelongsToTheLinkOnceAndJudgesBothEndsByIt) {
  expect_of_links("tcp.throughput", 1e-9, "Gb/s");

  const auto end = run();

  ASSERT_EQ(end.outcome, Outcome::done) << end.detail;
  const auto id = journalled(end);
  EXPECT_THAT(not_met(id, "a01-n01"), IsEmpty());
  EXPECT_THAT(not_met(id, "a01-n02"), IsEmpty());
  const auto numbers = store::measured(folder.path(), {.measure = "tcp.throughput"}).value();
  ASSERT_EQ(numbers.size(), 2u) << "one for each direction";
  for (const auto& each : numbers) {
    EXPECT_EQ(each.subject, kLink);
    EXPECT_EQ(each.unit, "Gb/s");
    EXPECT_GT(each.value, 0);
  }
  const auto record = record::node_record(*store, id, "a01-n02").value();
  std::vector<std::string> traced;
  for (const auto& each : record.findings.at(kPair).measurements)
    if (each.name == "tcp.throughput") traced.push_back(each.part + " " + each.traced_to);
  EXPECT_THAT(traced, ElementsAre(std::string{kLink} + " a01-n02 to a01-n01",
                                  std::string{kLink} + " a01-n01 to a01-n02"));
  EXPECT_FALSE(any_runs());
}

TEST_F(GroupStage, FailsBothEndsOfALinkThatIsSlowerThanTheCriterion) {
  expect_of_links("tcp.throughput", 90'000, "Gb/s");

  const auto end = run();

  ASSERT_EQ(end.outcome, Outcome::done) << end.detail;
  const auto id = journalled(end);
  const auto expected = ElementsAre("tcp.throughput " + std::string{kLink});
  EXPECT_THAT(not_met(id, "a01-n01"), expected);
  EXPECT_THAT(not_met(id, "a01-n02"), expected);
}

TEST_F(GroupStage, EndsForAllWhereOneMembersJobDies) {
  install_tcp("", "kill -9 $PPID; kill -9 $$");

  const auto end = run();

  EXPECT_EQ(end.outcome, Outcome::reject);
  EXPECT_THAT(end.detail, HasSubstr("a01-n02 (client): "));
  abort();
  EXPECT_FALSE(any_runs()) << "the server would have waited for a minute";
}

TEST_F(GroupStage, EndsAtItsDeadlineWhereTheServerNeverComesUp) {
  install_tcp("exec sleep 31003", "");

  auto patience = 4s;  // enough for both to be reached and to begin
  auto end = run(patience);
  while (!any_runs() && patience < 60s) {
    abort();
    end = run(patience *= 4);
  }

  EXPECT_NE(end.outcome, Outcome::done);
  EXPECT_TRUE(any_runs());
  abort();
  EXPECT_FALSE(any_runs());
  EXPECT_FALSE(std::filesystem::exists(handle + "-a01-n01"));
  EXPECT_FALSE(std::filesystem::exists(handle + "-a01-n02"));
}

TEST_F(GroupStage, SaysWhyTheFirstMemberEndedBeforeItHandedAnythingOver) {
  install_tcp("echo 'port 4711: Address already in use' >&2; exit 2", "");

  const auto end = run();

  EXPECT_EQ(end.outcome, Outcome::reject);
  EXPECT_THAT(end.detail, HasSubstr("a01-n01 (server): exit status 2: port 4711: Address already "
                                    "in use"));
}

TEST_F(GroupStage, MeasuresNothingWithAMemberThatHasAnotherToken) {
  install_tcp("", "read -r token; echo 00000000000000000000000000000000 | " +
                      std::string{NODE_BINARY} + " \"$@\"; exit $?");

  const auto end = run();

  EXPECT_EQ(end.outcome, Outcome::reject);
  EXPECT_THAT(end.detail,
              HasSubstr("a01-n02 (client): exit status 2: tcp: 127.0.0.2 refused the token"));
  abort();
  EXPECT_FALSE(any_runs());
}

TEST_F(GroupStage, HasNoTokenInAnyCommandLine) {
  const auto seen = sshd->file("seen");
  install_tcp("", "tr '\\0' ' ' < /proc/$$/cmdline > " + seen +
                      "; tr '\\0' ' ' < /proc/$PPID/cmdline >> " + seen);

  const auto end = run();

  ASSERT_EQ(end.outcome, Outcome::done) << end.detail;
  const auto lines = read_file(seen, 100'000).value();
  EXPECT_THAT(lines, HasSubstr("tcp send --to 127.0.0.2"));
  EXPECT_FALSE(std::ranges::any_of(lines, [run = 0](char c) mutable {
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    run = digit ? run + 1 : 0;
    return run == 32;
  })) << lines;
}

TEST_F(GroupStage, GoesOnWhereAnEarlierControllerLeftIt) {
  const auto first = run();
  ASSERT_EQ(first.outcome, Outcome::done) << first.detail;

  const auto again = run();

  EXPECT_EQ(again.outcome, Outcome::done) << again.detail;
  EXPECT_EQ(again.found, first.found) << "the jobs have ended, and are read, not repeated";
}

TEST(FoundBefore, IsTheNewestTryOfEachNodeThatEndedWellWhereverItsNumbersAreKept) {
  const test::TemporaryFolder folder;
  const auto store = store::Store::open(folder.path()).value();
  const std::vector<std::string> nodes{"n1", "n2", "n3"};
  const auto run = store->begin_run({.playbook = "p", .nodes = nodes}).value();
  const auto end = [&](const std::string& node, const std::string& step, const char* outcome,
                       boost::json::object data) {
    engine::Event event;
    event.kind = engine::EventKind::step_ended;
    event.node = node;
    event.step = step;
    event.data = std::move(data);
    event.data["outcome"] = outcome;
    EXPECT_TRUE(store->append(run, event));
  };
  const auto document = store
                            ->keep_evidence(
                                R"({"n1":{"measurements":[{"name":"rate","value":1}]},
                                    "n2":{"measurements":[{"name":"rate","value":2}]}})")
                            .value();
  for (const auto* node : {"n1", "n2"})
    end(node, "fabric-pairs", "done", {{"together", true}, {"evidence", document}});
  const auto own = [](double value) {
    return parse_json(R"({"measurements":[{"name":"rate","value":)" + std::to_string(value) + "}]}")
        .value()
        .as_object();
  };
  end("n2", "fabric-pairs@again", "done", own(3));
  end("n2", "fabric-nccl", "done", own(4));
  end("n3", "fabric-pairs", "failed", own(5));

  const auto found = found_before(*store, run, nodes, "fabric-pairs");

  ASSERT_EQ(found.size(), 3u);
  ASSERT_TRUE(found[0] && found[1]);
  EXPECT_EQ(found[0]->measurements.at(0).value, 1);
  EXPECT_EQ(found[1]->measurements.at(0).value, 3);
  EXPECT_FALSE(found[2]);
  const auto but = found_before(*store, run, nodes, "fabric-pairs", "fabric-pairs@again");
  ASSERT_TRUE(but[1]);
  EXPECT_EQ(but[1]->measurements.at(0).value, 2) << "a step's own earlier try is left out";
}

}  // namespace
}  // namespace cupel::steps
