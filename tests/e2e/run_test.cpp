// A run from its inventory to Slurm, against real sshd, slurmctld and HTTPS BMCs: what it does, and
// what is left of it when something goes wrong in the middle.
#include <signal.h>

#include <algorithm>
#include <fstream>

#include "orchestrator/store/store.h"
#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

using ::testing::IsEmpty;

constexpr std::chrono::seconds kLong{180};

std::string text_at(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

/// What the last line of `--json` says.
json::object summary_of(const Ran& ran) {
  const auto lines = json_lines(ran.out);
  if (lines.empty()) return {};
  const auto* summary = lines.back().if_contains("summary");
  return summary != nullptr && summary->is_object() ? summary->get_object() : json::object{};
}

json::object node_of(const json::object& summary, const std::string& node) {
  const auto* nodes = summary.if_contains("nodes");
  if (nodes == nullptr || !nodes->is_array()) return {};
  for (const auto& each : nodes->get_array())
    if (each.is_object() && text_at(each.get_object(), "node") == node) return each.get_object();
  return {};
}

/// Whose stage lasts longer than any test.
void write_long_playbook(const Site& site) {
  std::string playbook{kPlaybook};
  playbook.replace(playbook.find("duration: 2s"), 12, "duration: 10m");
  site.write("qualify.yaml", playbook);
}

/// The folder of the job that run 1 started last, as its journal has it.
std::string last_job(const Site& site) {
  const auto store = store::Store::open(site.folder / "state");
  if (!store) return {};
  const auto events = (*store)->events(1);
  std::string folder;
  for (const auto& event : events ? *events : std::vector<engine::Event>{})
    if (event.kind == engine::EventKind::step_started) folder = text_at(event.data, "handle");
  return folder;
}

/// Whether a process of the job came to life: the journal knows of it a moment before.
bool lives(const std::string& job) {
  const auto end = Deadline::in(std::chrono::minutes{1});
  while (!end.passed())
    if (!processes_of_job(job).empty()) return true;
  return false;
}

std::string first_cause(const json::object& node) {
  const auto* causes = node.if_contains("causes");
  if (causes == nullptr || !causes->is_array() || causes->get_array().empty()) return {};
  return json::serialize(causes->get_array().front());
}

class RunTest : public ::testing::Test {
 protected:
  void SetUp() override { CUPEL_NEEDS_SITE(); }
};

TEST_F(RunTest, TakesGoodNodesFromCabledToSlurmAndKeepsTheProof) {
  Site site{2};

  const auto ran = site.run({"run", "qualify.yaml", "--json"});

  ASSERT_EQ(ran.status, 0) << ran.out << ran.err;
  const auto summary = summary_of(ran);
  EXPECT_EQ(text_at(node_of(summary, "s01-n01"), "verdict"), "pass");
  EXPECT_EQ(text_at(node_of(summary, "s01-n02"), "hand_off"), "resumed");
  EXPECT_EQ(site.slurm->state("s01-n01"), "idle");
  EXPECT_EQ(site.slurm->reported("s01-n02", "%f"), "qualified");
  // Every session that was opened was closed.
  EXPECT_EQ(site.bmc(1).asked().open_sessions, 0);
  EXPECT_LE(site.bmc(1).asked().most_in_flight, 2);
  const auto shown = site.run({"show", "s01-n01"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("memory.total"), HasSubstr("stress.failures")));
  const auto report = site.run({"report", "1", "--html", "report.html"});
  EXPECT_EQ(report.status, 0) << report.err;
  const auto page = site.read("report.html");
  EXPECT_THAT(page,
              AllOf(HasSubstr("s01-n02"), HasSubstr("disk.errors"), Not(HasSubstr("src=\"http"))));
  // The secret is in no file that the run left.
  const auto leaked =
      testing::run({"grep", "-rl", site.password, (site.folder / "state").string()});
  EXPECT_EQ(leaked.out, "");
}

TEST_F(RunTest, KeepsABadNodeDrainedWithItsCause) {
  Site site{2};
  site.write("profiles/lab.yaml",
             std::string{kProfile}.replace(std::string{kProfile}.find("at_least: 0.1"), 13,
                                           "at_least: 1e6"));

  const auto ran = site.run({"run", "qualify.yaml", "--json", "--nodes", "s01-n01"});

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  const auto node = node_of(summary_of(ran), "s01-n01");
  EXPECT_EQ(text_at(node, "verdict"), "fail");
  EXPECT_THAT(first_cause(node), AllOf(HasSubstr("memory.total"), HasSubstr("at least 1000000 GiB"),
                                       HasSubstr("evidence")));
  EXPECT_EQ(site.slurm->state("s01-n01"), "drain");
  EXPECT_THAT(site.slurm->reason("s01-n01"), HasSubstr("cupel: fail: memory.total"));
  EXPECT_EQ(site.slurm->state("s01-n02"), "idle") << "a node that was not asked for was touched";
}

TEST_F(RunTest, GoesOnAfterTheControllerWasKilledAndRunsNoStageTwice) {
  Site site{2};
  Child first{site.cupel({"run", "qualify.yaml", "--json"})};
  // In the middle of a stage, on both nodes or one: the journal knows the job's folder by now.
  ASSERT_TRUE(first.wait_for("\"step-started\"", kLong));
  first.signal(SIGKILL);
  first.wait();

  const auto second = site.run({"resume", "--json"});

  ASSERT_EQ(second.status, 0) << second.out << second.err;
  EXPECT_EQ(site.slurm->state("s01-n01"), "idle");
  EXPECT_EQ(site.slurm->state("s01-n02"), "idle");
  // Each stage of each node was given one job, however many controllers watched it.
  const auto store = store::Store::open(site.folder / "state");
  ASSERT_TRUE(store);
  const auto events = (*store)->events(1);
  ASSERT_TRUE(events);
  std::map<std::string, int> jobs;
  for (const auto& event : *events)
    if (event.kind == engine::EventKind::step_started) ++jobs[event.node + " " + event.step];
  EXPECT_EQ(jobs.size(), 6) << "three stages on two nodes";
  for (const auto& [job, times] : jobs) EXPECT_EQ(times, 1) << job;
}

TEST_F(RunTest, LeavesAStageAloneWhenItIsInterruptedAndFindsItAgain) {
  Site site{1};
  Child first{site.cupel({"run", "qualify.yaml", "--json"})};
  ASSERT_TRUE(first.wait_for("\"step-started\"", kLong));
  first.signal(SIGTERM);
  const auto stopped = first.wait();

  EXPECT_EQ(stopped.status, 3);
  EXPECT_THAT(stopped.err, HasSubstr("cupel resume 1"));
  const auto second = site.run({"resume", "1"});
  EXPECT_EQ(second.status, 0) << second.out << second.err;
  EXPECT_EQ(site.slurm->state("s01-n01"), "idle");
}

TEST_F(RunTest, EndsTheRemoteJobWhenTheRunIsCancelled) {
  Site site{1};
  write_long_playbook(site);
  Child first{site.cupel({"run", "qualify.yaml", "--json"})};
  ASSERT_TRUE(first.wait_for("\"step\":\"cpu-memory\",\"handle\"", kLong));
  const auto job = last_job(site);
  ASSERT_TRUE(lives(job)) << job;

  const auto cancelled = site.run({"cancel", "1"});

  EXPECT_EQ(cancelled.status, 0) << cancelled.err;
  EXPECT_EQ(first.wait().status, 3);
  EXPECT_THAT(processes_of_job(job), IsEmpty());
  EXPECT_EQ(site.slurm->state("s01-n01"), "drain");
  EXPECT_EQ(site.run({"resume", "1"}).status, 2) << "a cancelled run went on";
}

TEST_F(RunTest, EndsTheRemoteJobWhenTheRunIsCancelledAfterItsControllerWasKilled) {
  Site site{1};
  write_long_playbook(site);
  Child first{site.cupel({"run", "qualify.yaml", "--json"})};
  ASSERT_TRUE(first.wait_for("\"step\":\"cpu-memory\",\"handle\"", kLong));
  const auto job = last_job(site);
  ASSERT_TRUE(lives(job)) << job;
  first.signal(SIGKILL);
  first.wait();

  const auto cancelled = site.run({"cancel", "1"});

  EXPECT_EQ(cancelled.status, 0) << cancelled.out << cancelled.err;
  EXPECT_THAT(processes_of_job(job), IsEmpty());
  EXPECT_EQ(site.run({"resume", "1"}).status, 2) << "a cancelled run went on";
}

TEST_F(RunTest, RefusesASecondRunOnTheSameNodes) {
  Site site{2};
  Child first{site.cupel({"run", "qualify.yaml", "--json", "--nodes", "s01-n01"})};
  ASSERT_TRUE(first.wait_for("\"step-began\"", kLong));

  const auto second = site.run({"run", "qualify.yaml"});

  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.err, AllOf(HasSubstr("s01-n01"), HasSubstr("run 1")));
  EXPECT_EQ(first.wait().status, 0);
}

TEST_F(RunTest, TriesAWrongPasswordOnceAndTouchesNothing) {
  Site site{1};
  site.password = "not it";

  const auto ran = site.run({"run", "qualify.yaml", "--json"});

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  const auto asked = site.bmc(1).asked();
  EXPECT_EQ(asked.refused, 1) << "a second try may lock the account";
  EXPECT_THAT(asked.resets, ::testing::IsEmpty());
  EXPECT_THAT(first_cause(node_of(summary_of(ran), "s01-n01")), HasSubstr("bmc-facts"));
  EXPECT_EQ(site.slurm->state("s01-n01"), "drain");
}

TEST_F(RunTest, RefusesACertificateThatChangedUntilAPersonAcceptsIt) {
  Site site{1, Site::Slurm::none};
  ASSERT_EQ(site.run({"bmc", "s01-n01", "power"}).status, 0);
  site.bmc(1).restart_with_new_certificate();
  const auto before = site.bmc(1).asked().logins;

  const auto refused = site.run({"bmc", "s01-n01", "power"});

  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("certificate"), HasSubstr("cupel bmc s01-n01 ")));
  EXPECT_EQ(site.bmc(1).asked().logins, before) << "the password went to a stranger";
  const auto accepted = site.run({"bmc", "s01-n01", "accept-certificate"});
  EXPECT_EQ(accepted.status, 0) << accepted.err;
  EXPECT_EQ(site.run({"bmc", "s01-n01", "power"}).status, 0);
}

TEST_F(RunTest, SaysWhatToDoWhereSlurmDoesNotKnowTheNode) {
  Site site{1};
  const auto inventory = site.read("inventory.yaml");
  site.write("inventory.yaml", inventory + "    slurm_name: nobody\n");

  const auto ran = site.run({"run", "qualify.yaml", "--json"});

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(first_cause(node_of(summary_of(ran), "s01-n01")),
              AllOf(HasSubstr("nobody"), HasSubstr("cupel slurm conf")));
  EXPECT_EQ(site.bmc(1).asked().requests, 0) << "a node that Slurm may use was touched";
}

TEST_F(RunTest, WaitsForTheJobsOfANodeBeforeItTouchesIt) {
  Site site{1};
  Child job{{"srun", "--time=5", "-w", "s01-n01", "sh", "-c", "echo job runs; exec sleep 600"},
            {"SLURM_CONF=" + site.slurm->configuration()}};
  ASSERT_TRUE(job.wait_for("job runs")) << job.wait(std::chrono::seconds{0}).err;
  site.write("short.yaml",
             "playbook: short\nsteps:\n  - {step: slurm-drain, deadline: 8s}\n  - step: verdict\n");
  const auto blocked = site.run({"run", "short.yaml", "--json", "--wait-for-repair", "0s"});
  const auto actions = site.run({"actions"});
  EXPECT_THAT(blocked.out, HasSubstr("it waited for jobs that still run on it: "));
  EXPECT_THAT(actions.out, HasSubstr("scancel JOB"));
  Child cupel{site.cupel({"run", "qualify.yaml", "--json"})};
  ASSERT_TRUE(cupel.wait_for("step-began", kLong));
  std::string state;
  for (int looks = 0; looks < 500 && state != "drng"; ++looks) state = site.slurm->state("s01-n01");

  EXPECT_EQ(state, "drng");
  EXPECT_EQ(site.bmc(1).asked().requests, 0) << "a node with somebody's job was touched";
  testing::run({"scancel", "--me"}, {"SLURM_CONF=" + site.slurm->configuration()});
  job.wait(std::chrono::minutes{1});
  const auto ran = cupel.wait(kLong);
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(site.slurm->state("s01-n01"), "idle");
}

TEST_F(RunTest, StopsOnAFullDiskAndGoesOnWhenThereIsRoom) {
  Site site{1};
  // Room for the journal to begin with, none for the evidence and all the events.
  Child full{site.cupel({"run", "qualify.yaml", "--json"}), {}, 200'000};

  const auto stopped = full.wait(kLong);

  ASSERT_EQ(stopped.status, 3) << stopped.out << stopped.err;
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("resume"), HasSubstr("room")));
  const auto resumed = site.run({"resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.out << resumed.err;
  EXPECT_EQ(site.slurm->state("s01-n01"), "idle");
}

TEST_F(RunTest, SaysEveryErrorOfAnInventoryAndTouchesNothing) {
  Site site{1, Site::Slurm::none};
  site.write("inventory.yaml", R"(site: e2e
sluurm: {partition: gpu}
racks: [{name: a01, units: 4.5}]
defaults:
  profile: labb
  bmc: {user: admin, password: hunter2, tls: {trust: none}}
  ssh: {user: root, key: /nowhere/key}
nodes:
  - {name: "s01-n[01-02]", bmc: {address: "127.0.0.[1-3]"}, ssh: {address: "127.0.0.[1-2]"}}
  - {name: s01-n02, bmc: {address: 127.0.0.9, protocol: redfsh}, ssh: {adress: 127.0.0.9}}
  - {name: s01-n03, rack: a02, bmc: {address: 127.0.0.9}, ssh: {address: 127.0.0.3}}
)");

  const auto checked = site.run({"inventory", "check", "inventory.yaml"});
  const auto ran = site.run({"run", "qualify.yaml"});

  EXPECT_EQ(checked.status, 2);
  EXPECT_EQ(ran.status, 2);
  for (const auto* part : {"'sluurm'", "did you mean 'slurm'", "'labb'", "password must say where",
                           "trust must be first-use", "/nowhere/key", "3 addresses for 2 nodes",
                           "'redfsh'", "'adress'", "inventory.yaml:2:1"})
    EXPECT_THAT(checked.err, HasSubstr(part));
  EXPECT_GE(std::ranges::count(checked.err, '\n'), 10);
  EXPECT_FALSE(std::filesystem::exists(site.folder / "state" / "cupel.db"));
}

TEST_F(RunTest, RefusesAPlaybookWithAnUnknownStage) {
  Site site{1};
  site.write("bad.yaml", "playbook: bad\nsteps:\n  - stage: gpu-fact\n  - stage: disk\n");

  const auto ran = site.run({"run", "bad.yaml"});

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("bad.yaml:3:"), HasSubstr("did you mean 'gpu-facts'")));
  EXPECT_EQ(site.slurm->state("s01-n01"), "idle");
}

TEST_F(RunTest, SaysWhereSlurmAndTheInventoryDisagree) {
  Site site{1};

  const auto conf = site.run({"slurm", "conf"});

  EXPECT_THAT(conf.out, HasSubstr("NodeName=s01-n01"));
  EXPECT_THAT(conf.out, HasSubstr("PartitionName=gpu"));

  site.write("gres.conf", "Include gpu.conf\nAutoDetect=off\n");
  site.write("gpu.conf", "AutoDetect=nvml\n");
  const auto compared =
      site.run({"slurm", "conf", "--check", "--gres", (site.folder / "gres.conf").string()});

  EXPECT_EQ(compared.status, 1) << compared.out << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("gres.conf:2: AutoDetect=off again"));
}

TEST_F(RunTest, RefusesAHostKeyThatChanged) {
  Site site{1};
  const auto known = site.run({"exec", "s01-n01", "--", "true"});
  ASSERT_EQ(known.status, 0) << known.err;
  site.sshd->crash();
  std::filesystem::copy_file(site.sshd->file("strange"), site.sshd->file("host"),
                             std::filesystem::copy_options::overwrite_existing);
  site.sshd->restart();
  site.write_inventory();

  const auto ran = site.run({"run", "qualify.yaml", "--json"});

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(first_cause(node_of(summary_of(ran), "s01-n01")), HasSubstr("host key"));
  EXPECT_EQ(site.slurm->state("s01-n01"), "drain");
}

}  // namespace
}  // namespace cupel::testing
