// The Python client and its examples, run by python3 against the built service.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "orchestrator/api/endpoint.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

constexpr const char* kParts = R"(playbook: parts
steps:
  - step: power-on
  - step: bmc-facts
  - step: audit
  - step: verdict
)";

class PythonClient : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(run({"python3", "-c", ""}).status == 0,
                          "no python3: apt-get install python3");
    std::filesystem::create_directory(site.file("books"));
    site.write("books/parts.yaml", kParts);
    site.write("service.yaml", "playbooks: books\n");
    const auto listening = api::listening_tcp_socket("127.0.0.1:0");
    ASSERT_TRUE(listening) << listening.error().what;
    // For the service to inherit.
    ASSERT_EQ(::fcntl(listening->descriptor, F_SETFD, 0), 0);
    listening_ = *listening;
    const auto made = site.run({"token", "add", "alice", "--role", "operator"});
    ASSERT_EQ(made.status, 0) << made.err;
    site.write("token", made.out);
  }
  void TearDown() override {
    if (listening_) ::close(listening_->descriptor);
  }
  /// Its TCP socket is passed as systemd would.
  std::vector<std::string> serving() const {
    auto words = site.cupel({"serve", "--config", site.file("service.yaml"), "--inventory",
                             site.file("inventory.yaml"), "--socket", site.file("s")});
    words.insert(words.begin(), {"bash", "-c",
                                 fmt::format("exec 3<&{}; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"",
                                             listening_->descriptor),
                                 "bash"});
    return words;
  }
  std::vector<std::string> over_tls() const {
    return {"CUPEL_SERVER=https://" + listening_->address, "CUPEL_TOKEN_FILE=" + site.file("token"),
            "CUPEL_CA=" + site.file("state/service-certificate.pem")};
  }
  static Ran example(const std::string& name, const std::vector<std::string>& arguments,
                     std::vector<std::string> where) {
    std::vector<std::string> words{"python3", "-B", SOURCE_DIR "/docs/api/" + name};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run(std::move(words), std::move(where));
  }

  RackSite site{{.network = 101,
                 .ports = "bmc: 0, ssh: 0",
                 .faults = "{node: v01-n02, fault: psu-missing, part: psu2}"}};

 private:
  std::optional<api::ListeningSocket> listening_{};
};

TEST_F(PythonClient, ItsExamplesFollowARunAndListWhatFailedWithItsCause) {
  Child service{serving()};
  ASSERT_TRUE(service.wait_for("serving "));

  const auto none = example("failed_nodes.py", {}, over_tls());
  const auto followed = example("start_and_follow.py",
                                {"parts", "all", "--no-console", "--set", "wait=1s"}, over_tls());
  const auto run_one =
      example("start_and_follow.py", {"parts", "all", "--no-console", "--wait-for-repair", "0"},
              over_tls());
  const auto failed = example("failed_nodes.py", {}, over_tls());
  const auto at_its_socket =
      example("failed_nodes.py", {}, {"CUPEL_SERVER=unix:" + site.file("s")});
  const auto drained = example("drain_list.py", {}, over_tls());

  EXPECT_EQ(none.status, 0) << none.out << none.err;
  EXPECT_EQ(followed.status, 3) << "the playbook has no such parameter" << followed.out;
  EXPECT_THAT(followed.err, HasSubstr("'wait'"));
  EXPECT_EQ(run_one.status, 1) << run_one.out << run_one.err;
  EXPECT_THAT(run_one.out,
              AllOf(HasSubstr("run 1\n"), HasSubstr(" run-started "), HasSubstr(" v01-n02 audit "),
                    HasSubstr(" run-ended"), HasSubstr("\nv01-n01 pass")));
  EXPECT_EQ(failed.status, 1) << failed.out << failed.err;
  EXPECT_THAT(failed.out, AllOf(HasSubstr("v01-n02 "), HasSubstr("in run 1: "), HasSubstr("psu")));
  EXPECT_THAT(failed.out, Not(HasSubstr("v01-n01")));
  EXPECT_EQ(at_its_socket.out, failed.out) << at_its_socket.err;
  EXPECT_EQ(drained.status, 0) << drained.err;
  EXPECT_THAT(drained.out, ::testing::StartsWith("node,run,state,hand_off,cause\nv01-n02,1,"));
  EXPECT_THAT(drained.out, AllOf(HasSubstr("psu"), Not(HasSubstr("v01-n01"))));
}

TEST_F(PythonClient, GivesNoTokenToAServiceThatIsNotTrustedAndTakesNoneThatOthersCanRead) {
  Child service{serving()};
  ASSERT_TRUE(service.wait_for("serving "));

  auto untrusting = over_tls();
  untrusting.pop_back();
  const auto untrusted = example("failed_nodes.py", {}, untrusting);
  site.write("token", "cupel_0", 0644);
  const auto open = example("failed_nodes.py", {}, over_tls());
  site.write("token", "cupel_0", 0600);
  const auto wrong = example("failed_nodes.py", {}, over_tls());
  const auto nowhere = example("failed_nodes.py", {}, {"CUPEL_SERVER=http://127.0.0.1:9"});

  EXPECT_EQ(untrusted.status, 3);
  EXPECT_THAT(untrusted.err, HasSubstr("name the authority of its certificate with ca_file"));
  EXPECT_EQ(open.status, 3);
  EXPECT_THAT(open.err, HasSubstr("token: other users may read or change it"));
  EXPECT_EQ(wrong.status, 3);
  EXPECT_THAT(wrong.err, HasSubstr("the token is not one of this service"));
  EXPECT_EQ(nowhere.status, 3);
  EXPECT_THAT(nowhere.err, HasSubstr("the service is https://HOST:PORT or unix:/PATH"));
}

/// A service that is stopped and started again, as at an update of its package.
TEST_F(PythonClient, ItsStreamGoesOnBehindTheLastEventOfAServiceThatWasStartedAgain) {
  constexpr const char* kWaits = R"(playbook: waits
steps:
  - step: bmc-facts
  - step: approval
    with: {message: look at the sensors first}
  - step: power-on
)";
  site.write("books/waits.yaml", kWaits);
  Child first{serving()};
  ASSERT_TRUE(first.wait_for("serving "));
  std::vector<std::string> words{"python3", "-B",      SOURCE_DIR "/docs/api/start_and_follow.py",
                                 "waits",   "v01-n01", "--no-console"};
  Child followed{std::move(words), {"CUPEL_SERVER=unix:" + site.file("s")}};
  ASSERT_TRUE(followed.wait_for(" step-ended v01-n01 bmc-facts"));

  first.signal(SIGTERM);
  ASSERT_EQ(first.wait().status, 0);
  Child second{serving()};
  ASSERT_TRUE(second.wait_for("serving "));
  ASSERT_TRUE(followed.wait_for(" run-resumed"));
  const auto approved = site.run({"approve", "1", "approval"});
  const auto ran = followed.wait();

  EXPECT_EQ(approved.status, 0) << approved.err;
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const auto started = ran.out.find(" run-started");
  ASSERT_NE(started, ran.out.npos) << ran.out;
  EXPECT_EQ(ran.out.find(" run-started", started + 1), ran.out.npos) << "it begins again";
  EXPECT_THAT(ran.out, HasSubstr("\nv01-n01 pass"));
}

}  // namespace
}  // namespace cupel::testing
