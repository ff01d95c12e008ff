// The step slurm-job: with a fake Slurm whose tools, or whose slurmrestd, keep what they were
// asked, and with a real one.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "inventory/criterion.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/profile.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/node_steps.h"
#include "orchestrator/steps/verdict.h"
#include "orchestrator/store/group_document.h"
#include "playbooks/plan.h"
#include "tests/orchestrator/one_controller.h"
#include "tests/support/captures.h"
#include "tests/support/real_part.h"
#include "tests/support/replay_server.h"
#include "tests/support/slurm.h"

namespace cupel::steps {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using engine::EventKind;
using engine::Outcome;
using engine::StepEnd;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// A job prints what `prints` holds, at once; `queued` is what squeue says of it.
constexpr const char* kSbatch = R"sh(#!/bin/sh
here=$(dirname "$0")
[ ! -e "$here/refusal" ] || { cat "$here/refusal" >&2; exit 1; }
for each in "$@"; do
  case $each in
    --job-name=*) name=${each#*=} ;;
    --output=*) output=${each#*=} ;;
  esac
done
echo "$*" >> "$here/asked"
env > "$here/environment"
: > "$here/job.$name"
cp "$here/prints" "$output"
echo 17
)sh";
constexpr const char* kSqueue = R"sh(#!/bin/sh
here=$(dirname "$0")
for each in "$@"; do case $each in --name=*) name=${each#*=} ;; esac; done
[ ! -e "$here/job.$name" ] || cat "$here/queued"
)sh";
constexpr const char* kSacct = R"sh(#!/bin/sh
here=$(dirname "$0")
[ -e "$here/accounted" ] || { echo "Slurm accounting storage is disabled" >&2; exit 1; }
cat "$here/accounted"
)sh";
constexpr const char* kScancel = R"sh(#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/ended"
echo '17|CANCELLED|None' > "$here/queued"
[ ! -e "$here/late" ] || [ "$(wc -l < "$here/ended")" -lt 3 ] || : > "$here/job.$(cat "$here/late")"
)sh";

struct Nobody : engine::Observer {
  void on_event(const engine::Event&, const engine::RunState&) override {}
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
};

class SlurmJobStep : public ::testing::Test {
 protected:
  SlurmJobStep() {
    path_ = ::getenv("PATH");
    for (const auto* name : {"n1", "n2", "n3"}) {
      inventory::Node node;
      node.name = node.slurm_name = name;
      node.profile = "judged";
      inventory_.nodes.push_back(node);
    }
    inventory_.profiles["judged"] = {
        .name = "judged",
        .criteria = {
            {.stage = "slurm-job", .measure = "job.busbw", .parts = {""}, .at_least = 350}}};
    write("accept.sh", "#!/bin/sh\n", 0700);
    fs::create_directory(file("results"));
    inventory_.slurm.emplace();
    inventory_.slurm->jobs = {
        {.name = "nccl", .script = file("accept.sh"), .results = file("results")}};
    step_.kind = playbooks::StepKind::slurm_job;
    step_.name = "slurm-job";
    step_.with = {{"job", "nccl"}, {"limit", "90m"}};
    step_.deadline = 2min;
    step_.once = true;
    store::Run run;
    run.nodes = {"n1", "n2", "n3"};
    run_ = store_->begin_run(run).value();
    for (const auto* node : {"n1", "n2"}) hand_over(node, "resumed");
    hand_over("n3", "drained");
  }
  ~SlurmJobStep() override { ::setenv("PATH", path_.c_str(), 1); }

  /// From here on sbatch and the like are fakes.
  void install_fakes() {
    write("sbatch", kSbatch, 0700);
    write("squeue", kSqueue, 0700);
    write("sacct", kSacct, 0700);
    write("scancel", kScancel, 0700);
    write("prints", "a log line\n{\"busbw\": 391.5, \"ranks\": 16}\n");
    write("queued", "17|COMPLETED|None\n");
    ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    std::ofstream{file(name)} << text;
    ::chmod(file(name).c_str(), mode);
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream{file(name)}.rdbuf();
    return text.str();
  }
  void hand_over(const std::string& node, const std::string& how) {
    append(node, EventKind::step_began, {{"attempt", 1}});
    append(node, EventKind::step_ended, {{"outcome", "done"}, {"slurm", how}});
  }
  void append(const std::string& node, EventKind kind, boost::json::object data,
              const char* step = "hand-off") {
    engine::Event event;
    event.kind = kind;
    event.node = node;
    event.step = step;
    event.data = std::move(data);
    ASSERT_TRUE(store_->append(run_, event));
  }

  StepEnvironment environment() {
    StepEnvironment environment{inventory_, *store_, {}, {}, nullptr};
    environment.ask_job_every = 20ms;
    return environment;
  }
  /// Of `count` nodes; of one as a step that it does alone.
  engine::StepRequest request(std::size_t count, std::optional<std::string> handle = {}) {
    std::vector<const inventory::Node*> members;
    for (std::size_t i = 0; count > 1 && i < count; ++i) members.push_back(&inventory_.nodes[i]);
    return {run_,
            inventory_.nodes[first_],
            std::move(members),
            step_,
            1,
            std::move(handle),
            Deadline::in(2min),
            stop_,
            [this](std::string name) { return keep(std::move(name)); },
            [this](const std::string& what) {
              waited_.push_back(what);
              if (on_waiting) on_waiting(what);
            }};
  }
  Task<Result<void>> keep(std::string name) {
    handle_ = std::move(name);
    co_return ok();
  }
  StepEnd perform(std::size_t count, std::optional<std::string> handle = {}) {
    NodeSteps steps{environment()};
    asio::io_context io;
    auto ended = run_to_end(io, steps.perform(request(count, std::move(handle))));
    EXPECT_TRUE(ended) << ended.error().what;
    return ended ? *std::move(ended) : StepEnd{.outcome = Outcome::retry};
  }
  Result<void> abort(std::string handle) {
    NodeSteps steps{environment()};
    asio::io_context io;
    return run_to_end(io, steps.abort(request(2, std::move(handle))));
  }
  /// What a node has of what the step found.
  burnin::Findings found_on(const StepEnd& end, const std::string& node) {
    const std::string hash{end.found.at("evidence").as_string()};
    const auto document = parse_json(store_->evidence(hash).value()).value();
    return record::findings_from(store::found_on(document.as_object(), node).value());
  }
  std::size_t submitted() const {
    return fs::exists(file("asked")) ? lines(read("asked")).size() : 0;
  }

  test::TemporaryFolder folder_{};
  std::unique_ptr<store::Store> store_ = store::Store::open(folder_.path() / "state").value();
  inventory::Inventory inventory_{};
  playbooks::PlannedStep step_{};
  engine::RunId run_{};
  std::size_t first_ = 0;
  engine::Stop stop_ = engine::Stop::no;
  std::string path_{}, handle_{};
  std::vector<std::string> waited_{};
  std::function<void(const std::string&)> on_waiting{};
};

TEST_F(SlurmJobStep, RunsTheSitesScriptOnTheNodesThatSlurmWasGivenAndMeasuresWhatItPrints) {
  install_fakes();

  const auto end = perform(3);

  ASSERT_EQ(end.outcome, Outcome::done) << end.detail;
  EXPECT_EQ(
      end.detail,
      "job 17 on 2 nodes: job.busbw 391.5 job.ranks 16; without what Slurm was not given: n3");
  EXPECT_THAT(read("asked"),
              AllOf(HasSubstr("--nodes=2 --nodelist=n1,n2 --partition=gpu --time=90 "),
                    HasSubstr("--job-name=" + handle_ + " "), HasSubstr(" --no-requeue "),
                    HasSubstr("--output=" + file("results/" + handle_ + ".out") + " "),
                    HasSubstr(" " + file("accept.sh") + "\n")));
  EXPECT_THAT(found_on(end, "n1").measurements,
              ::testing::ElementsAre(burnin::Measurement{.name = "job.busbw", .value = 391.5},
                                     burnin::Measurement{.name = "job.ranks", .value = 16}));
  EXPECT_THAT(found_on(end, "n2").measurements, SizeIs(2));
  EXPECT_THAT(found_on(end, "n3").measurements, IsEmpty());
}

TEST_F(SlurmJobStep, TakesPartitionAndReservationOfTheJobAndRunsOnOneNodeToo) {
  install_fakes();
  inventory_.slurm->jobs[0].partition = "accept";
  inventory_.slurm->jobs[0].reservation = "bringup";

  const auto end = perform(1);

  EXPECT_EQ(end.detail, "job 17 on 1 node: job.busbw 391.5 job.ranks 16");
  EXPECT_TRUE(end.found.contains("measurements"));
  EXPECT_THAT(read("asked"), AllOf(HasSubstr("--nodelist=n1 --partition=accept "),
                                   HasSubstr(" --reservation=bringup ")));
}

TEST_F(SlurmJobStep, GivesTheJobNothingOfOurEnvironment) {
  install_fakes();
  ::setenv("CUPEL_TEST_SECRET", "a-password", 1);

  EXPECT_EQ(perform(2).outcome, Outcome::done);

  ::unsetenv("CUPEL_TEST_SECRET");
  EXPECT_THAT(read("environment"), Not(HasSubstr("a-password")));
}

TEST_F(SlurmJobStep, SubmitsNothingWhereSlurmWasGivenNoneOfItsNodes) {
  install_fakes();
  first_ = 2;

  const auto end = perform(1);

  EXPECT_EQ(end.outcome, Outcome::done);
  EXPECT_EQ(end.detail, "nothing was submitted: Slurm was given none of its nodes");
  EXPECT_EQ(submitted(), 0);
}

/// The job failed, the node was drained for it, and a person has it tried again: no pass without
/// it.
TEST_F(SlurmJobStep, IsNoSuccessOfANodeThatWasDrainedSinceItWasTried) {
  install_fakes();
  append("n1", EventKind::step_began, {{"attempt", 1}}, "slurm-job");
  append("n1", EventKind::step_ended, {{"outcome", "failed"}}, "slurm-job");
  append("n1", EventKind::step_began, {{"attempt", 1}}, "hand-off@accepted");
  append("n1", EventKind::step_ended, {{"outcome", "done"}, {"slurm", "drained"}},
         "hand-off@accepted");

  const auto alone = perform(1);
  const auto beside = perform(2);

  EXPECT_EQ(alone.outcome, Outcome::reject);
  EXPECT_EQ(alone.detail,
            "nothing was submitted for n1: drained since the job was tried; begin a new run, in "
            "which Slurm is given what passes");
  EXPECT_EQ(beside.outcome, Outcome::done) << beside.detail;
  EXPECT_THAT(read("asked"), HasSubstr("--nodes=1 --nodelist=n2 "));
  const std::string hash{beside.found.at("evidence").as_string()};
  const auto document = parse_json(store_->evidence(hash).value()).value();
  EXPECT_EQ(document.at("n1").at("outcome"), "failed");
}

TEST_F(SlurmJobStep, WaitsForItsNodesWithSlurmsReason) {
  install_fakes();
  write("queued", "17|PENDING|Resources\n");
  on_waiting = [this](const std::string& what) {
    if (what.contains("Resources")) write("queued", "17|COMPLETED|None\n");
  };

  EXPECT_EQ(perform(2).outcome, Outcome::done);

  EXPECT_THAT(waited_, ::testing::Contains("job 17 to start: Slurm's reason is Resources"));
}

TEST_F(SlurmJobStep, EndsAtOnceWithSlurmsReasonWhereTheJobNeverStarts) {
  install_fakes();
  write("queued", "17|PENDING|PartitionTimeLimit\n");

  const auto end = perform(2);

  EXPECT_EQ(end.outcome, Outcome::reject);
  EXPECT_EQ(
      end.detail,
      "job 17 never starts: Slurm's reason is PartitionTimeLimit: look with: squeue --job=17");
}

TEST_F(SlurmJobStep, SaysWhatSbatchRefused) {
  install_fakes();
  write("refusal", "sbatch: error: Invalid partition name specified\n");

  const auto end = perform(2);

  EXPECT_EQ(end.outcome, Outcome::reject);
  EXPECT_EQ(end.detail,
            "sbatch ended with exit status 1: sbatch: error: Invalid partition name "
            "specified");
}

TEST_F(SlurmJobStep, OfAJobThatFailedTellsItsLastLine) {
  install_fakes();
  write("prints", "NCCL WARN\nrank 3: no route\n\n");
  write("queued", "17|FAILED|NonZeroExitCode\n");

  const auto end = perform(2);

  EXPECT_EQ(end.outcome, Outcome::reject);
  EXPECT_EQ(end.detail,
            "job 17 ended as FAILED (NonZeroExitCode); its last line: rank 3: no "
            "route: look at " +
                file("results/" + handle_ + ".out"));
}

TEST_F(SlurmJobStep, MeasuresNothingOfALineThatIsNoObjectOfNumbers) {
  install_fakes();
  write("prints", "{\"busbw\": \"fast\"}\n");

  const auto end = perform(2);

  EXPECT_EQ(end.outcome, Outcome::reject);
  EXPECT_THAT(end.detail, HasSubstr("'busbw' is no number"));
}

TEST_F(SlurmJobStep, RefusesAScriptThatOthersCanChange) {
  install_fakes();
  ::chmod(file("accept.sh").c_str(), 0777);

  const auto end = perform(2);

  EXPECT_EQ(end.outcome, Outcome::reject);
  EXPECT_THAT(end.detail, HasSubstr("can be changed by other users"));
  EXPECT_EQ(submitted(), 0);
}

TEST_F(SlurmJobStep, FindsAJobOfAnEarlierControllerByItsName) {
  install_fakes();
  ASSERT_EQ(perform(2).outcome, Outcome::done);

  const auto end = perform(2, handle_);

  EXPECT_EQ(end.outcome, Outcome::done) << end.detail;
  EXPECT_EQ(submitted(), 1);
}

TEST_F(SlurmJobStep, DoesNotSubmitAgainWhatSlurmHasForgotten) {
  install_fakes();
  ASSERT_EQ(perform(2).outcome, Outcome::done);
  fs::remove(file("job." + handle_));

  const auto forgotten = perform(2, handle_);
  write("accounted", "17|COMPLETED|None\n");
  const auto accounted = perform(2, handle_);

  EXPECT_EQ(forgotten.outcome, Outcome::reject);
  EXPECT_THAT(forgotten.detail, HasSubstr("Slurm has no job " + handle_ + " any more"));
  EXPECT_EQ(accounted.outcome, Outcome::done) << accounted.detail;
  EXPECT_EQ(submitted(), 1);
}

TEST_F(SlurmJobStep, DoesNotSubmitAgainWhereTheFolderDoesNotSayWhetherTheJobBegan) {
  install_fakes();
  write("tail", "#!/bin/sh\necho 'tail: cannot open: Stale file handle' >&2\nexit 1\n", 0700);

  const auto end = perform(2, "cupel-1-of-a-dead-controller");

  EXPECT_EQ(end.outcome, Outcome::reject);
  EXPECT_EQ(submitted(), 0);
}

TEST_F(SlurmJobStep, SubmitsOnceHoweverOftenTheControllerDies) {
  install_fakes();
  ASSERT_EQ(run_, 1) << "of which control_run() makes a run";
  playbooks::Plan plan;
  plan.nodes.push_back(
      {&inventory_.nodes[0], std::make_shared<std::vector<playbooks::PlannedStep>>(1, step_)});
  const auto control = [&](test::MortalJournal& journal) {
    NodeSteps steps{environment()};
    Nobody nobody;
    return test::control_run(plan, journal, steps, nobody);
  };
  test::MortalJournal whole;
  ASSERT_TRUE(control(whole).ended);
  for (const bool after : {false, true})
    for (std::size_t room = 0; room < whole.events.size(); ++room) {
      fs::remove(file("asked"));
      test::MortalJournal journal;
      journal.room = room;
      journal.dies_after_writing = after;
      ASSERT_FALSE(control(journal).ended) << room;
      journal.room = 1'000;

      const auto again = control(journal);

      const auto& last = journal.events.back();
      EXPECT_TRUE(again.ended || last.kind == EventKind::run_ended) << room;
      EXPECT_EQ(submitted(), 1) << room << (after ? " after" : "");
    }
}

/// Else it would pass the second verdict without any job.
TEST_F(SlurmJobStep, IsDoneByANodeAloneThatHasNoPartnerOrIsLeft) {
  install_fakes();
  step_.together = playbooks::Together::all;
  const auto steps = std::make_shared<std::vector<playbooks::PlannedStep>>(1, step_);
  playbooks::Plan alone, two;
  alone.nodes.push_back({&inventory_.nodes[0], steps});
  for (const auto node : {0u, 1u}) two.nodes.push_back({&inventory_.nodes[node], steps});
  two.groups = {{.step = "slurm-job", .members = {0, 1}}};
  engine::Event gone;
  gone.kind = EventKind::step_skipped;
  gone.node = "n2";
  gone.step = "slurm-job";
  gone.data = {{"why", "it failed before"}, {"because", "failure"}};
  gone.sequence = 1;
  test::MortalJournal of_alone, of_two;
  of_two.events.push_back(gone);
  const auto control = [&](const playbooks::Plan& plan, test::MortalJournal& journal) {
    NodeSteps own{environment()};
    Nobody nobody;
    return test::control_run(plan, journal, own, nobody).ended;
  };

  EXPECT_TRUE(control(alone, of_alone));
  EXPECT_EQ(submitted(), 1);
  EXPECT_TRUE(control(two, of_two));
  EXPECT_EQ(submitted(), 2);

  EXPECT_THAT(read("asked"), Not(HasSubstr("--nodes=2")));
}

TEST_F(SlurmJobStep, IsEndedByItsNameHoweverOften) {
  install_fakes();
  ASSERT_EQ(perform(2).outcome, Outcome::done);
  write("queued", "17|RUNNING|None\n");

  EXPECT_TRUE(abort(handle_));
  EXPECT_TRUE(abort(handle_)) << "a second time";

  EXPECT_THAT(read("ended"), HasSubstr("--name=" + handle_ + "\n"));
  EXPECT_TRUE(abort("cupel-1-that-never-began"));
}

TEST_F(SlurmJobStep, IsEndedWhereSlurmctldTakesItLate) {
  install_fakes();
  write("late", "cupel-1-cut-off");

  EXPECT_TRUE(abort("cupel-1-cut-off"));

  EXPECT_EQ(lines(read("ended")).size(), 3) << "it was there from the third scancel on";
}

TEST_F(SlurmJobStep, IsEndedByItsNameWhereTheInventoryHasLostIt) {
  install_fakes();
  ASSERT_EQ(perform(2).outcome, Outcome::done);
  write("queued", "17|RUNNING|None\n");
  inventory_.slurm->jobs.clear();

  EXPECT_TRUE(abort(handle_));

  EXPECT_THAT(read("ended"), HasSubstr("--name=" + handle_ + "\n"));
}

TEST_F(SlurmJobStep, FailsANodeByItsCriterionAndLeavesOthersAsTheyWere) {
  const auto& profile = inventory_.profiles.at("judged");
  record::NodeRecord node;
  record::StepRecord done;
  done.name = "slurm-job";
  done.outcome = "done";
  node.steps.push_back(done);
  node.audit.emplace();
  node.bmc_reported = true;
  const auto decided = [&](double busbw) {
    node.findings["slurm-job"].measurements = {{.name = "job.busbw", .value = busbw}};
    return decide(profile, node);
  };

  EXPECT_EQ(decide(profile, node).decision, burnin::Decision::pass) << "it had no part in the job";
  EXPECT_EQ(decided(391).decision, burnin::Decision::pass);
  const auto slow = decided(12);
  EXPECT_EQ(slow.decision, burnin::Decision::fail);
  ASSERT_THAT(slow.causes, SizeIs(1));
  EXPECT_EQ(slow.causes[0].criterion, "job.busbw");
}

/// The step by a slurmrestd of Slurm 24.11, whose one job is done at once, and which says of no
/// submission how it went.
class SlurmJobStepByRest : public SlurmJobStep {
 protected:
  static constexpr const char* kToken = "CUPEL_TEST_JOB_TOKEN";

  SlurmJobStepByRest() {
    ::setenv(kToken, "a.b.c", 1);
    install_fakes();  // of which none is run
    inventory_.slurm->rest = inventory::SlurmRest{
        .url = server_.url(),
        .user = "cupel",
        .token = inventory::SecretRef{inventory::SecretRef::Kind::env, kToken}};
  }
  ~SlurmJobStepByRest() override { ::unsetenv(kToken); }

  test::ReplayAnswer answer(const test::ReplayRequest& asked) {
    if (!asked.path.starts_with("/slurm/v0.0.41/"))
      return {.status = 404, .body = "Unable find requested URL.", .content_type = "text/plain"};
    const std::lock_guard lock{mutex_};
    if (asked.method == "POST" && ++posts_ > lost_) {
      job_ = text_at(parse_json(asked.body).value(), "job/name").value_or("");
      write("results/" + job_ + ".out", read("prints"));
    }
    if (asked.method == "POST")
      return {.status = 502, .body = "<html>", .content_type = "text/html"};
    json::array jobs;
    if (!job_.empty())
      jobs.push_back(json::object{{"job_id", 17},
                                  {"name", job_},
                                  {"user_name", "cupel"},
                                  {"job_state", json::array{"COMPLETED"}},
                                  {"state_reason", "None"}});
    return {.body = json::serialize(json::object{{"jobs", jobs}, {"errors", json::array{}}})};
  }

  std::atomic<int> posts_{0}, lost_{0};
  std::mutex mutex_{};
  std::string job_{};
  test::ReplayServer server_{[this](const test::ReplayRequest& asked) { return answer(asked); }};
};

TEST_F(SlurmJobStepByRest, SubmitsOnceWhereTheAnswerWasLost) {
  const auto end = perform(3);

  ASSERT_EQ(end.outcome, Outcome::done) << end.detail;
  EXPECT_EQ(
      end.detail,
      "job 17 on 2 nodes: job.busbw 391.5 job.ranks 16; without what Slurm was not given: n3");
  EXPECT_EQ(posts_.load(), 1);
  EXPECT_EQ(submitted(), 0) << "sbatch is not needed";
}

TEST_F(SlurmJobStepByRest, SubmitsAgainWhereNothingOfTheJobIsFound) {
  lost_ = 1;

  const auto end = perform(2);

  EXPECT_EQ(end.outcome, Outcome::done) << end.detail;
  EXPECT_EQ(posts_.load(), 2);
}

TEST_F(SlurmJobStepByRest, FindsAJobOfAnEarlierControllerByItsName) {
  const std::string name = "cupel-1-of-a-dead-controller";
  write("results/" + name + ".out", read("prints"));
  {
    const std::lock_guard lock{mutex_};
    job_ = name;
  }

  const auto end = perform(2, name);

  EXPECT_EQ(end.outcome, Outcome::done) << end.detail;
  EXPECT_EQ(posts_.load(), 0);
}

/// By Slurm's tools, and by slurmrestd.
class RealSlurmJob : public SlurmJobStep, public ::testing::WithParamInterface<const char*> {
 protected:
  static constexpr const char* kToken = "CUPEL_TEST_REAL_JOB_TOKEN";

  void SetUp() override {
    using testing::LoopbackSlurm;
    const bool by_rest = std::string_view{GetParam()} == "Slurmrestd";
    CUPEL_NEEDS_REAL_PART(
        by_rest ? LoopbackSlurm::rest_installed() : LoopbackSlurm::installed(),
        "slurmctld, slurmd, munged, slurmrestd or slurm-wlm-jwt-plugin is not installed");
    slurm_ = std::make_unique<LoopbackSlurm>(
        "n[1-2]", "NodeName=n[1-2] CPUs=1 RealMemory=500 State=UNKNOWN\n",
        by_rest ? LoopbackSlurm::Rest::beside_it : LoopbackSlurm::Rest::none);
    inventory_.slurm->configuration = slurm_->configuration();
    if (!by_rest) return;
    ::setenv(kToken, slurm_->rest_token().c_str(), 1);
    inventory_.slurm->rest = inventory::SlurmRest{
        .url = slurm_->rest_url(),
        .token = inventory::SecretRef{inventory::SecretRef::Kind::env, kToken}};
    install_fakes();  // of which none is run
  }
  void TearDown() override { ::unsetenv(kToken); }
  StepEnvironment asking_every(std::chrono::milliseconds pause) {
    auto real = environment();
    real.ask_job_every = pause;
    return real;
  }
  std::unique_ptr<testing::LoopbackSlurm> slurm_{};
};

TEST_P(RealSlurmJob, RunsOnBothNodesAndItsNumbersComeBack) {
  write("accept.sh",
        "#!/bin/sh\necho on $SLURM_JOB_NODELIST\necho \"{\\\"nodes\\\": $SLURM_JOB_NUM_NODES}\"\n",
        0700);
  NodeSteps steps{asking_every(500ms)};
  asio::io_context io;

  const auto end = run_to_end(io, steps.perform(request(2)));

  ASSERT_TRUE(end) << end.error().what;
  ASSERT_EQ(end->outcome, Outcome::done) << end->detail;
  EXPECT_THAT(end->detail, HasSubstr(" on 2 nodes: job.nodes 2"));
  EXPECT_THAT(read("results/" + handle_ + ".out"), HasSubstr("on n[1-2]\n"));
  EXPECT_EQ(submitted(), 0);
}

TEST_P(RealSlurmJob, IsEndedWhileItRuns) {
  write("accept.sh", "#!/bin/sh\nexec sleep 600\n", 0700);
  NodeSteps steps{asking_every(500ms)};
  asio::io_context io;
  std::optional<Result<void>> ended;
  on_waiting = [&](const std::string& what) {
    if (!what.contains("(RUNNING)") || ended) return;
    asio::io_context other;
    ended = run_to_end(other, NodeSteps{asking_every(5s)}.abort(request(2, handle_)));
  };

  const auto end = run_to_end(io, steps.perform(request(2)));

  ASSERT_TRUE(end) << end.error().what;
  EXPECT_EQ(end->outcome, Outcome::reject);
  EXPECT_THAT(end->detail, HasSubstr(" ended as CANCELLED "));
  ASSERT_TRUE(ended);
  EXPECT_TRUE(*ended) << ended->error().what;
}

INSTANTIATE_TEST_SUITE_P(By, RealSlurmJob, ::testing::Values("Tools", "Slurmrestd"),
                         [](const auto& by) { return std::string{by.param}; });

}  // namespace
}  // namespace cupel::steps
