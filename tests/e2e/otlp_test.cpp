// `cupel export otlp`, as an operator uses it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "orchestrator/store/store.h"
#include "tests/support/child.h"
#include "tests/support/proto_json.h"
#include "tests/support/replay_server.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class OtlpCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "cupel-otlp-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    write("token", "s3cr3t\n");
    write("ca.pem", server.certificate_pem());
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder_ / name} << text;
    fs::permissions(folder_ / name, fs::perms::owner_read | fs::perms::owner_write);
  }
  /// A run of one node whose only step failed; over, or not.
  void run_of_one(bool over = true) const {
    const auto store = store::Store::open(file("state"));
    ASSERT_TRUE(store) << store.error().what;
    store::Run run;
    run.playbook = "small";
    run.nodes = {"n1"};
    const auto id = (*store)->begin_run(run);
    ASSERT_TRUE(id);
    using engine::EventKind;
    std::vector<engine::Event> events{
        {EventKind::run_started,
         "",
         "",
         {{"site", "here"},
          {"nodes", json::array{json::object{{"name", "n1"}}}},
          {"steps", json::array{"bmc-facts"}}}},
        {EventKind::step_began, "n1", "bmc-facts"},
        {EventKind::step_ended, "n1", "bmc-facts", {{"outcome", "reject"}, {"detail", "no BMC"}}}};
    if (over) events.push_back({EventKind::run_ended});
    ASSERT_TRUE((*store)->append(*id, events));
  }
  Ran exported(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{
        CUPEL_BINARY, "--state", file("state"),           "export", "otlp",        "--url",
        server.url(), "--token", "file:" + file("token"), "--ca",   file("ca.pem")};
    words.insert(words.end(), more.begin(), more.end());
    return run(std::move(words));
  }

  std::vector<test::ReplayAnswer> answers{};  // of the first requests; then: taken
  test::ReplayServer server{[this](const test::ReplayRequest&) {
                              if (answers.empty()) return test::ReplayAnswer{.body = "{}"};
                              auto answer = answers.front();
                              answers.erase(answers.begin());
                              return answer;
                            },
                            true};

 private:
  fs::path folder_{};
};

TEST_F(OtlpCommand, SendsARunAndTriesAgainWhatWasPutOff) {
  run_of_one();
  answers = {{.status = 429, .body = "{}", .lines = "Retry-After: 1\r\n"},
             {.status = 503, .body = "{}"},
             {.gone = true}};

  const auto sent = exported({"--run", "1"});

  EXPECT_EQ(sent.status, 0) << sent.out << sent.err;
  EXPECT_EQ(sent.out, "run 1: 3 spans, 4 log records and 2 data points are sent\n");
  EXPECT_THAT(server.lines(), ElementsAre("POST /v1/traces", "POST /v1/traces", "POST /v1/traces",
                                          "POST /v1/traces", "POST /v1/logs", "POST /v1/metrics"));
  const auto traces = parse_json(server.asked().front().body);
  ASSERT_TRUE(traces);
  EXPECT_THAT(test::proto_faults(*traces, "ExportTraceServiceRequest"), IsEmpty());
  for (const auto& each : server.asked()) {
    EXPECT_THAT(each.head, HasSubstr("Authorization: Bearer s3cr3t\r\n"));
    EXPECT_THAT(each.body, Not(HasSubstr("s3cr3t")));
  }
  EXPECT_THAT(sent.out + sent.err, Not(HasSubstr("s3cr3t")));
}

TEST_F(OtlpCommand, SaysWhatAReceiverRejectedOrRefused) {
  run_of_one();
  answers = {{.body = R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}})"}};
  const auto rejected = exported();
  answers = {{.body = "{}"}, {.status = 400, .body = R"({"message":"no logs here"})"}};
  const auto refused = exported();

  EXPECT_EQ(rejected.status, 1);
  EXPECT_THAT(rejected.out, HasSubstr("the receiver rejected 2 of them: too old\n"));
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("POST /v1/logs: HTTP 400: no logs here"),
                                 HasSubstr("1 of 3 requests were taken before it")));
  EXPECT_EQ(server.asked().size(), 5u) << "no other try";
}

TEST_F(OtlpCommand, SendsNothingOfARunThatGoesOnOrWithWrongOptions) {
  run_of_one(false);

  const auto open = exported(), none = exported({"--run", "7"});
  const auto wrong = run({CUPEL_BINARY, "--state", file("state"), "export", "otlp", "--url",
                          "http://10.0.0.5:4318", "--token", "s3cr3t", "--ca", file("none.pem")});

  EXPECT_EQ(open.status, 2);
  EXPECT_THAT(open.err, HasSubstr("run 1 is not over: cupel"));
  EXPECT_EQ(none.status, 2) << none.out;
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("--url: "), HasSubstr("--token "), HasSubstr("none.pem"),
                               Not(HasSubstr("s3cr3t"))));
  EXPECT_THAT(server.asked(), IsEmpty());
}

}  // namespace
}  // namespace cupel::testing
