// The site's jobs by slurmrestd: the answers of 22.05 as the real one gives them, those of later
// versions as their source writes them. With a real slurmrestd: RealSlurmJob of the step's test.
#include "orchestrator/handoff/slurmrestd_jobs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>

#include "tests/support/captures.h"
#include "tests/support/damage.h"
#include "tests/support/replay_server.h"

namespace cupel::handoff {
namespace {
using namespace std::chrono_literals;
using test::ReplayAnswer;
using test::ReplayRequest;
using test::ReplayServer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kVariable = "CUPEL_TEST_JOBS_JWT";
constexpr const char* kName = "cupel-12-1f00c4d2a9b3e871";

// As slurmrestd 22.05.8 answers for a job that was ended, without the keys that nobody reads.
constexpr std::string_view kOf2205 = R"json({"errors": [], "jobs": [{"array_job_id": 0,
  "array_task_id": null, "comment": "submitted by cupel", "exit_code": 0, "job_id": 17,
  "job_state": "CANCELLED", "name": "cupel-12-1f00c4d2a9b3e871", "nodes": "n[1-2]",
  "state_reason": "None", "time_limit": 90, "user_id": 990, "user_name": "cupel"}]})json";

// The same as v0.0.40 and later write it.
constexpr std::string_view kOf2411 = R"json({"jobs": [{"array_job_id": {"set": true,
  "infinite": false, "number": 0}, "exit_code": {"status": ["SIGNALED"], "return_code": {"set":
  false, "infinite": false, "number": 0}, "signal": {"id": {"set": true, "infinite": false,
  "number": 9}, "name": "KILL"}}, "job_id": 17, "job_state": ["CANCELLED"],
  "name": "cupel-12-1f00c4d2a9b3e871", "state_reason": "None", "user_id": 990,
  "user_name": "cupel"}], "last_update": {"set": true, "infinite": false, "number": 1796087757},
  "meta": {"slurm": {"release": "24.11.5"}}, "errors": [], "warnings": [{"description": "x"}]})json";

// As the accounting has it: v0.0.38 with its state as a text.
constexpr std::string_view kAccounted = R"json({"jobs": [{"job_id": 17, "user": "cupel",
  "name": "cupel-12-1f00c4d2a9b3e871", "state": {"current": ["COMPLETED"], "reason": "None"},
  "association": {"account": "root", "user": "cupel", "id": 2}}], "errors": []})json";

std::vector<RestJob> jobs_in(std::string_view text) {
  auto jobs = parse_rest_jobs(parse_json(text).value(), kName);
  EXPECT_TRUE(jobs) << jobs.error().what;
  return jobs ? *std::move(jobs) : std::vector<RestJob>{};
}

/// A job of ours with one key more, or another value of it.
std::string with(std::string_view key, std::string_view value) {
  auto answer = parse_json(kOf2411).value();
  answer.at("jobs").at(0).as_object()[key] = parse_json(value).value();
  return json::serialize(answer);
}

TEST(ParseRestJobs, ReadsTextsAndListsAlike) {
  for (const auto text : {kOf2205, kOf2411}) {
    const auto jobs = jobs_in(text);

    ASSERT_THAT(jobs, SizeIs(1));
    EXPECT_EQ(jobs[0].job, (SlurmJobState{"17", "CANCELLED", "None"}));
    EXPECT_EQ(jobs[0].user, "cupel");
    EXPECT_EQ(jobs[0].user_id, 990);
  }
  const auto accounted = jobs_in(kAccounted);
  ASSERT_THAT(accounted, SizeIs(1));
  EXPECT_EQ(accounted[0].job, (SlurmJobState{"17", "COMPLETED", "None"}));
  EXPECT_EQ(accounted[0].user, "cupel");
  EXPECT_EQ(accounted[0].user_id, std::nullopt);
}

TEST(ParseRestJobs, ChoosesOneWordOfAStateAndItsFlagsAsSqueueDoes) {
  const std::vector<std::pair<const char*, const char*>> states{
      {R"(["RUNNING"])", "RUNNING"},
      {R"("running")", "RUNNING"},
      {R"(["COMPLETED", "COMPLETING"])", "COMPLETING"},
      {R"(["PENDING", "REQUEUED"])", "REQUEUED"},
      {R"(["PENDING", "RESV_DEL_HOLD"])", "RESV_DEL_HOLD"},
      {R"(["CANCELLED", "REVOKED"])", "REVOKED"},
      {R"(["FAILED", "LAUNCH_FAILED"])", "FAILED"},
      {R"(["NODE_FAIL"])", "NODE_FAIL"},
      {R"(["OUT_OF_MEMORY"])", "OUT_OF_MEMORY"},
      {R"(["RUNNING", "A_NEW_FLAG"])", "RUNNING"}};
  for (const auto& [written, word] : states) {
    const auto jobs = jobs_in(with("job_state", written));
    ASSERT_THAT(jobs, SizeIs(1));
    EXPECT_EQ(jobs[0].job.state, word) << written;
  }
}

TEST(ParseRestJobs, ReadsAnIdInEachForm) {
  for (const auto* id : {"17", R"("17")", R"({"set": true, "infinite": false, "number": 17})"})
    EXPECT_EQ(jobs_in(with("job_id", id)).at(0).job.id, "17") << id;
  for (const auto* id : {"null", "0", "-1", "1e20", R"("x")", R"("nan")", "[17]",
                         R"({"set": false, "infinite": false, "number": 17})"}) {
    const auto jobs = parse_rest_jobs(parse_json(with("job_id", id)).value(), kName);
    ASSERT_FALSE(jobs) << id;
    EXPECT_EQ(jobs.error().code, Code::kMalformed);
  }
}

TEST(ParseRestJobs, PassesOverOtherJobsAndNoneOfThisName) {
  EXPECT_THAT(jobs_in(R"({"jobs": []})"), IsEmpty());
  EXPECT_THAT(jobs_in(R"({"jobs": [3, null, {}, {"name": "other"}, {"name": 7}]})"), IsEmpty());
  for (const auto* state : {"null", "[]", "3", R"("")"})
    EXPECT_FALSE(parse_rest_jobs(parse_json(with("job_state", state)).value(), kName)) << state;
  for (const auto* text : {"{}", R"({"jobs": null})", R"({"jobs": {}})", "[]", "null"})
    EXPECT_EQ(parse_rest_jobs(parse_json(text).value(), kName).error().code, Code::kMalformed)
        << text;
}

TEST(ParseRestJobs, IsReadOrRefusedHoweverItWasDamaged) {
  std::mt19937 random{20261201};
  for (int round = 0; round < 20'000; ++round) {
    const auto text = round % 2 == 0 ? kOf2205 : kOf2411;
    const auto parsed = parse_json(cupel::test::damaged(std::string{text}, random));
    if (!parsed) continue;
    const auto jobs = parse_rest_jobs(*parsed, kName);
    if (!jobs) continue;
    for (const auto& each : *jobs) {
      EXPECT_FALSE(each.job.id.empty() || each.job.state.empty());
      EXPECT_LE(each.job.reason.size(), 80u);
    }
  }
}

/// What the script of a test asks for by itself.
json::object submission(int version) {
  const JobOrder order{.name = kName, .nodes = {"n1", "n2"}, .limit = 5401s};
  const BatchScript script{.text = "#!/bin/sh\n",
                           .options = {{"account", "a"},
                                       {"exclusive", ""},
                                       {"gpus-per-node", "8"},
                                       {"gres", "nic:2,tmp:1"},
                                       {"ntasks-per-node", "8"},
                                       {"reservation", "of-the-script"}}};
  const inventory::SlurmJob job{.results = "/r", .reservation = "bringup"};
  return rest_submission(order, script, "gpu", job, "/r/x.out", version);
}

TEST(RestSubmission, IsInTheOptionsOfSbatchBefore2302) {
  EXPECT_EQ(json::value(submission(38)), parse_json(R"({"script": "#!/bin/sh\n", "job": {
      "account": "a", "tasks_per_node": 8, "exclusive": "exclusive", "gres": "nic:2,tmp:1",
      "gpus_per_node": "8", "name": "cupel-12-1f00c4d2a9b3e871", "comment": "submitted by cupel",
      "nodes": "2", "nodelist": "n1,n2", "partition": "gpu", "time_limit": 91,
      "standard_output": "/r/x.out", "current_working_directory": "/r", "reservation": "bringup",
      "no_requeue": true, "environment": {"PATH":
      "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}})")
                                             .value());
}

TEST(RestSubmission, IsInTheFieldsOfAJobSince2302) {
  EXPECT_EQ(json::value(submission(41)), parse_json(R"({"job": {"script": "#!/bin/sh\n",
      "account": "a", "tasks_per_node": 8, "shared": ["none"],
      "tres_per_node": "gres/nic:2,gres/tmp:1,gres/gpu:8", "name": "cupel-12-1f00c4d2a9b3e871",
      "comment": "submitted by cupel", "nodes": "2", "required_nodes": "n1,n2", "partition": "gpu",
      "time_limit": 91, "standard_output": "/r/x.out", "current_working_directory": "/r",
      "reservation": "bringup", "requeue": false, "environment":
      ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}})")
                                             .value());
  const auto of_2302 = submission(39);
  EXPECT_EQ(of_2302.at("job").at("tres_per_node"), "gres:nic:2,gres:tmp:1,gres:gpu:8");
}

/// A slurmctld with one job of ours, and one of another user with the same name.
class FakeJobs {
 public:
  explicit FakeJobs(int version) : version_{version} {}

  ReplayAnswer operator()(const ReplayRequest& asked) {
    const auto prefix = fmt::format("/slurm/v0.0.{}", version_);
    if (asked.path.starts_with("/slurmdb/") && accounts) return {.body = std::string{kAccounted}};
    if (!asked.path.starts_with(prefix + "/"))
      return {.status = 404,
              .body = "Unable find requested URL. Please view /openapi/v3 for API reference.",
              .content_type = "text/plain"};
    const auto path = asked.path.substr(prefix.size());
    if (path == "/job/submit") return submitted();
    if (path == "/jobs") return {.body = listed(true)};
    if (forgets || path != "/job/17" || state_.empty())
      return {.status = version_ < 39 ? 500 : 404, .body = R"({"errors": [{"description":
          "Unable to find JobId=17", "error_number": 2017, "error": "Invalid job id specified",
          "source": "slurm_load_job"}], "jobs": []})"};
    if (asked.method == "DELETE") state_ = "CANCELLED";
    return {.body = listed(false)};
  }

  std::atomic<bool> forgets{false}, accounts{false};

 private:
  ReplayAnswer submitted() {
    state_ = "RUNNING";
    if (version_ < 39) return {.body = R"({"errors": [], "job_id": 17, "step_id": "BATCH"})"};
    return {.body = R"({"result": {"job_id": 17, "step_id": "batch", "error_code": 0},
                        "errors": [], "warnings": []})"};
  }
  std::string listed(bool all) const {
    json::array jobs;
    if (all) jobs.push_back(job(5, "alice", "RUNNING"));
    if (!state_.empty() && !forgets) jobs.push_back(job(17, "cupel", state_));
    return json::serialize(json::object{{"jobs", jobs}, {"errors", json::array{}}});
  }
  json::object job(int id, const char* user, const std::string& its_state) const {
    json::object described{
        {"job_id", id}, {"name", kName}, {"user_name", user}, {"state_reason", "None"}};
    if (version_ < 39)
      described["job_state"] = its_state;
    else
      described["job_state"] = json::array{its_state};
    return described;
  }

  int version_;
  std::string state_{};  // empty: it was not submitted yet
};

class SlurmrestdJobsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv(kVariable, "a.b.c", 1);
    write("#!/bin/sh\n");
  }
  void TearDown() override { ::unsetenv(kVariable); }

  void write(const std::string& text) {
    job_.script = (folder_.path() / "a.sbatch").string();
    job_.results = folder_.path().string();
    std::ofstream{job_.script} << text;
    ::chmod(job_.script.c_str(), 0600);
  }
  SlurmrestdJobs jobs_at(const std::string& url, const std::string& user = "cupel") {
    site_.rest = inventory::SlurmRest{
        .url = url,
        .user = user,
        .token = inventory::SecretRef{inventory::SecretRef::Kind::env, kVariable}};
    return {site_, job_};
  }
  Result<void> submit(SlurmJobs& jobs) {
    return ended(jobs.submit({.name = kName, .nodes = {"n1", "n2"}, .limit = 90min}, soon()));
  }
  std::vector<SlurmJobState> found(SlurmJobs& jobs) {
    auto found = ended(jobs.find(kName, soon()));
    EXPECT_TRUE(found) << found.error().what;
    return found ? *std::move(found) : std::vector<SlurmJobState>{};
  }
  /// What becomes of a submission that is answered so.
  Error fault_of(ReplayAnswer answer) {
    ReplayServer replay{[&](const ReplayRequest&) { return answer; }};
    auto jobs = jobs_at(replay.url());
    const auto taken = submit(jobs);
    EXPECT_FALSE(taken) << answer.body;
    return taken ? Error{} : taken.error();
  }

  template <class T>
  T ended(Task<T> task) {
    return run_to_end(io_, std::move(task));
  }
  static Deadline soon() { return Deadline::in(30s); }

  asio::io_context io_{1};
  test::TemporaryFolder folder_{};
  inventory::SlurmSite site_{};
  inventory::SlurmJob job_{};
};

TEST_F(SlurmrestdJobsTest, SubmitsFollowsAndEndsAJobWithEachVersion) {
  for (const int version : {37, 38, 39, 40, 41}) {
    FakeJobs fake{version};
    ReplayServer replay{std::ref(fake)};
    auto jobs = jobs_at(replay.url());

    ASSERT_TRUE(submit(jobs)) << version;
    const auto running = found(jobs);
    ASSERT_TRUE(ended(jobs.cancel(kName, soon()))) << version;
    const auto over = found(jobs);

    EXPECT_THAT(running, ElementsAre(SlurmJobState{"17", "RUNNING", "None"})) << version;
    EXPECT_THAT(over, ElementsAre(SlurmJobState{"17", "CANCELLED", "None"})) << version;
    auto lines = replay.lines();
    lines.erase(lines.begin(), lines.begin() + (41 - version));  // newer versions, in vain
    const auto path = fmt::format("/slurm/v0.0.{}", version);
    EXPECT_THAT(lines, ElementsAre("POST " + path + "/job/submit", "GET " + path + "/job/17",
                                   "GET " + path + "/jobs", "DELETE " + path + "/job/17",
                                   "GET " + path + "/job/17"));
    EXPECT_THAT(replay.asked().back().head, AllOf(HasSubstr("X-SLURM-USER-NAME: cupel\r\n"),
                                                  HasSubstr("X-SLURM-USER-TOKEN: a.b.c\r\n")));
  }
}

TEST_F(SlurmrestdJobsTest, TakesNoJobOfAnotherUserForItsOwn) {
  FakeJobs fake{41};
  ReplayServer replay{std::ref(fake)};
  auto jobs = jobs_at(replay.url());

  EXPECT_THAT(found(jobs), IsEmpty());
  EXPECT_TRUE(ended(jobs.cancel(kName, soon())));

  EXPECT_THAT(replay.lines(), Not(::testing::Contains(HasSubstr("DELETE"))));
}

TEST_F(SlurmrestdJobsTest, SaysThatItCannotTellWhoseAJobIs) {
  FakeJobs fake{41};
  ReplayServer replay{std::ref(fake)};
  ReplayServer silent{
      [](const ReplayRequest&) -> ReplayAnswer { return {.body = with("user_name", R"("")")}; }};
  auto nameless = jobs_at(replay.url(), "");
  const auto no_user = ended(nameless.find(kName, soon()));
  auto jobs = jobs_at(silent.url());
  const auto whose = ended(jobs.find(kName, soon()));

  ASSERT_FALSE(no_user || whose);
  EXPECT_EQ(no_user.error().code, Code::kInvalid);
  EXPECT_EQ(no_user.error().what,
            "slurm: rest has no user, and its token names none: write user: NAME beside it");
  EXPECT_EQ(whose.error().code, Code::kMalformed);
  EXPECT_THAT(whose.error().what, HasSubstr("does not say whose job 17 is"));
}

TEST_F(SlurmrestdJobsTest, AsksTheAccountingForWhatSlurmctldHasForgotten) {
  for (const int version : {38, 41}) {
    FakeJobs fake{version};
    fake.accounts = true;
    ReplayServer replay{std::ref(fake)};
    auto jobs = jobs_at(replay.url());
    ASSERT_TRUE(submit(jobs));
    fake.forgets = true;

    EXPECT_THAT(found(jobs), ElementsAre(SlurmJobState{"17", "COMPLETED", "None"}));

    EXPECT_EQ(replay.lines().back(),
              fmt::format("GET /slurmdb/v0.0.{}/jobs?job_name={}", version, kName));
    fake.accounts = false;
    EXPECT_THAT(found(jobs), IsEmpty()) << "of a site without accounting";
  }
}

/// The step ends at once where slurmrestd is found to be of no use, and the job would run on.
TEST_F(SlurmrestdJobsTest, IsOutOfReachWhereItHadAVersionBefore) {
  FakeJobs fake{41};
  std::atomic<bool> behind_a_proxy{false};
  ReplayServer replay{[&](const ReplayRequest& asked) -> ReplayAnswer {
    if (!behind_a_proxy) return fake(asked);
    return {.status = 404, .body = "The requested URL was not found", .content_type = "text/html"};
  }};
  auto jobs = jobs_at(replay.url());
  ASSERT_TRUE(submit(jobs));
  behind_a_proxy = true;

  const auto lost = ended(jobs.find(kName, soon()));
  behind_a_proxy = false;

  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::kUnreachable) << lost.error().what;
  EXPECT_THAT(found(jobs), SizeIs(1));
}

TEST_F(SlurmrestdJobsTest, FindsAndEndsAJobByTheAccountingWhereTheListCannotBeRead) {
  std::string running{kAccounted};
  running.replace(running.find("COMPLETED"), 9, "RUNNING");
  ReplayServer replay{[&](const ReplayRequest& asked) -> ReplayAnswer {
    if (asked.path.starts_with("/slurmdb/")) return {.body = running};
    return {.body = R"({"errors": []})"};
  }};
  auto jobs = jobs_at(replay.url());

  EXPECT_TRUE(ended(jobs.cancel(kName, soon())));

  EXPECT_EQ(replay.lines().back(), "DELETE /slurm/v0.0.41/job/17");
  EXPECT_THAT(found(jobs), ElementsAre(SlurmJobState{"17", "RUNNING", "None"}));
}

// The first three as slurmrestd 22.05.8 answers.
TEST_F(SlurmrestdJobsTest, SaysWhatSlurmRefused) {
  const auto partition = fault_of({.status = 500, .body = R"({"errors": [{"error_code": 2000,
      "error": "Invalid partition name specified"}]})"});
  const auto key = fault_of({.status = 400, .body = R"({"errors": [{"description":
      "Disabled key: \"required_nodes\"", "error_number": 1, "error": "Operation not permitted",
      "source": "openapi specification"}, {"error_code": 9001, "error":
      "Failure during parsing"}]})"});
  const auto environment = fault_of({.status = 400, .body = R"({"errors": [{"error":
      "environment must be set", "error_code": 2127}]})"});
  const auto with_200 = fault_of({.body = R"({"errors": [{"error_number": 2015,
      "error": "Requested partition configuration not available now"}], "job_id": 0})"});

  for (const auto* each : {&partition, &key, &environment, &with_200})
    EXPECT_EQ(each->code, Code::kFailed) << each->what;
  EXPECT_THAT(partition.what, HasSubstr(" (API v0.0.41): Invalid partition name specified (2000)"));
  EXPECT_THAT(key.what, HasSubstr("Disabled key: \"required_nodes\""));
  EXPECT_THAT(environment.what, HasSubstr("environment must be set (2127)"));
}

TEST_F(SlurmrestdJobsTest, DoesNotSayThatAJobWasNotTakenWhereSlurmctldMayHaveHeardOfIt) {
  const std::vector<ReplayAnswer> unclear{
      {.status = 502, .body = "<html>", .content_type = "text/html"},
      {.status = 503, .body = "busy", .content_type = "text/plain"},
      {.status = 500, .body = R"({"errors": [{"error_number": 5004, "error":
          "Socket timed out on send/recv operation"}]})"},
      {.status = 502, .body = R"({"errors": [{"error_number": 1802, "error":
          "Unable to contact slurm controller"}]})"},
      {.status = 500, .body = R"({"errors": [{"error_number": -1, "error":
          "Unspecified error"}]})"},
      {.body = R"({"errors": [{"error_number": 0, "error": "No error"}]})"}};
  for (const auto& answer : unclear) {
    const auto fault = fault_of(answer);
    EXPECT_TRUE(is_lost(fault.code)) << fault.what;
  }
}

TEST_F(SlurmrestdJobsTest, ListsTheJobsWhereTheAnswerHasNoId) {
  FakeJobs fake{41};
  ReplayServer replay{[&](const ReplayRequest& asked) -> ReplayAnswer {
    const auto answer = fake(asked);
    return asked.method == "POST" ? ReplayAnswer{.body = R"({"errors": [], "job_id": null})"}
                                  : answer;
  }};
  auto jobs = jobs_at(replay.url());

  ASSERT_TRUE(submit(jobs));

  EXPECT_THAT(found(jobs), ElementsAre(SlurmJobState{"17", "RUNNING", "None"}));
  EXPECT_EQ(replay.lines().back(), "GET /slurm/v0.0.41/jobs");
}

TEST_F(SlurmrestdJobsTest, SendsNoScriptThatItCannotPassOnWhole) {
  FakeJobs fake{41};
  ReplayServer replay{std::ref(fake)};
  auto jobs = jobs_at(replay.url());
  for (const auto* text : {"", "#!/bin/sh\n#SBATCH --array=1-4\n", "#!/bin/sh\n\xff\n"}) {
    write(text);
    const auto taken = submit(jobs);
    ASSERT_FALSE(taken) << text;
    EXPECT_EQ(taken.error().code, Code::kInvalid);
  }
  write("#!/bin/sh\n");
  ::chmod(job_.script.c_str(), 0666);
  EXPECT_EQ(submit(jobs).error().code, Code::kInvalid);

  EXPECT_THAT(replay.asked(), IsEmpty());
}

}  // namespace
}  // namespace cupel::handoff
