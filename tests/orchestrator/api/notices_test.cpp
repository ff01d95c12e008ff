// Notices from the journal to a real hook and a real mail server: once, grouped, tried again, and
// with no secret left behind.
#include "orchestrator/api/notices.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>

#include "base/log.h"
#include "base/utc.h"
#include "orchestrator/api/notice_book.h"
#include "orchestrator/api/schedule_book.h"
#include "orchestrator/api/site_files.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/store/controller_lock.h"
#include "tests/orchestrator/api/api_fixture.h"
#include "tests/orchestrator/api/smtp_server.h"
#include "tests/support/https_server.h"

namespace cupel::test {
namespace {

using engine::EventKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;

const engine::WallTime kNow = utc_of("2026-12-10T12:00:00").value();
constexpr const char* kSecret = "s3cr3t-0123456789";

/// A hook over TLS that keeps what it is sent.
class Hook {
 public:
  Hook()
      : server_{{.last_word = [this](Exchanged& now) {
          const std::scoped_lock lock{mutex_};
          now.status = status_;
          now.answer = answer_;
          posts_.push_back(now);
          came_.notify_all();
        }}} {}

  std::string url(const std::string& path = "/hook") const {
    return "https://" + to_string(server_.endpoint()) + path;
  }
  void answer(int status, std::string body = {}) {
    const std::scoped_lock lock{mutex_};
    status_ = status;
    answer_ = std::move(body);
  }
  std::vector<Exchanged> posts() const {
    const std::scoped_lock lock{mutex_};
    return posts_;
  }
  /// Whether so many came within a minute.
  bool wait_for(std::size_t many) {
    std::unique_lock lock{mutex_};
    return came_.wait_for(lock, 60s, [&] { return posts_.size() >= many; });
  }
  HttpsServer& server() { return server_; }

 private:
  mutable std::mutex mutex_{};
  std::condition_variable came_{};
  int status_ = 200;
  std::string answer_{};
  std::vector<Exchanged> posts_{};
  HttpsServer server_;
};

class NoticesTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    ASSERT_TRUE(log::to_file(file("log")));
  }
  void TearDown() override {
    log::off();
    notices_.reset();
    ApiTest::TearDown();
  }

  /// `entry`: of `notices:`, in braces.
  void settings(const std::string& entry, const std::string& rest = {}) {
    write("secret", std::string{kSecret} + "\n");
    write("ca.pem", hook_.server().certificate_pem());
    write("site.yaml",
          "site: here\ndefaults:\n  profile: dgx-h100\n  bmc: {user: admin, password: \"file:" +
              file("secret") +
              "\", tls: {trust: first-use}}\n  ssh: {user: root, key: " + file("secret") +
              "}\nnodes:\n  - {name: n01, bmc: {address: 127.64.99.1}, ssh: {address: "
              "127.64.99.2}}\n");
    write("service.yaml",
          "inventory: site.yaml\nrequests_per_second: 1000000\nnotices:\n  - {name: ops, " + entry +
              "}\n" + rest);
    const auto files = api::read_site_files({state(), file("service.yaml")});
    if (!files) throw std::runtime_error{files.error().what};
    shared_.state = state();
    shared_.site.put(files->site);
    shared_.inventory.put(files->inventory);
  }
  void webhook(const std::string& more = "group: 0s") {
    settings(fmt::format("webhook: \"{}\", ca: ca.pem, {}", hook_.url(), more));
  }
  /// As the service does it when the clock shows `now`.
  engine::WallTime turn(engine::WallTime now) {
    if (!notices_) notices_ = api::Notices::open(shared_).value();
    return notices_->turn(now);
  }
  void restart() { notices_.reset(); }

  void halt(engine::RunId run, const std::string& why = "9 of 10 failed") {
    append(run, EventKind::run_halted, "", "",
           serialize(json::object{{"step", "gemm"}, {"why", why}}));
  }
  api::NoticeTally tally() const {
    return api::read_notice_book(state()).value().value().tallies.at("ops");
  }
  std::string log_text() const { return text_of("log"); }
  std::string text_of(const std::string& name) const {
    std::ifstream stream{file(name)};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }
  json::value body_of(std::size_t post) const {
    return parse_json(hook_.posts().at(post).body).value();
  }

  Hook hook_{};
  api::Shared shared_{};

 private:
  std::unique_ptr<api::Notices> notices_{};
};

TEST_F(NoticesTest, TellWhatAnOperatorShouldKnowAsOneMessage) {
  const auto run = run_of_two();
  webhook("group: 5m, token: \"file:secret\"");
  turn(kNow);
  append(run, EventKind::step_ended, "a02-n01", "bmc-facts",
         R"({"outcome":"needs operator","detail":"reseat the cable","bmc_parts":[]})");
  halt(run);
  append(run, EventKind::run_ended, "", "", "{}");

  EXPECT_EQ(turn(kNow + 10s), kNow + 70s);
  EXPECT_THAT(hook_.posts(), IsEmpty());
  turn(kNow + 10s + 5min);

  ASSERT_THAT(hook_.posts(), SizeIs(1));
  EXPECT_EQ(hook_.posts()[0].authorization, std::string{"Bearer "} + kSecret);
  const auto body = body_of(0);
  EXPECT_EQ(text_at(body, "site"), "here");
  const auto& reported = body.at("notices").as_array();
  ASSERT_EQ(reported.size(), 3u);
  EXPECT_EQ(text_at(reported[0], "text"),
            "run 1: a02-n01 bmc-facts: needs operator: reseat the cable");
  EXPECT_EQ(text_at(reported[0], "rack"), "a02");
  EXPECT_EQ(text_at(reported[1], "notice"), "halt");
  EXPECT_EQ(reported[2].at("nodes").at("fail").as_int64(), 1);
  EXPECT_THAT(
      text_at(reported[2], "text").value(),
      AllOf(HasSubstr("run ended (small): 1 fail"), HasSubstr("a01-n01: "), HasSubstr("gpu3")));
  EXPECT_EQ(shared_.counters.notices_sent, 3u);
}

TEST_F(NoticesTest, SendsNothingFromBeforeItsFirstLook) {
  const auto run = run_of_two();
  halt(run);
  webhook();

  turn(kNow);
  turn(kNow + 1h);

  EXPECT_THAT(hook_.posts(), IsEmpty());
}

TEST_F(NoticesTest, ARestartTellsNothingTwiceAndLosesNothing) {
  const auto run = run_of_two();
  webhook("group: 5m");
  turn(kNow);
  halt(run, "one");
  turn(kNow);
  restart();
  halt(run, "two");
  turn(kNow + 1min);
  restart();

  turn(kNow + 6min);
  restart();
  turn(kNow + 1h);

  ASSERT_THAT(hook_.posts(), SizeIs(1));
  EXPECT_THAT(hook_.posts()[0].body, AllOf(HasSubstr("one"), HasSubstr("two")));
}

TEST_F(NoticesTest, ReportsARunThatTookPlaceWhileTheServiceWasDown) {
  webhook();
  turn(kNow);
  restart();
  const auto run = run_of_two();
  append(run, EventKind::run_ended, "", "", "{}");

  turn(kNow + 1h);

  ASSERT_THAT(hook_.posts(), SizeIs(1));
  EXPECT_THAT(hook_.posts()[0].body, HasSubstr("run ended"));
}

TEST_F(NoticesTest, AreTriedAgainUntilTheHookTakesThem) {
  const auto run = run_of_two();
  webhook();
  turn(kNow);
  halt(run);
  hook_.answer(503);

  EXPECT_EQ(turn(kNow), kNow + 15s);
  restart();
  turn(kNow + 14s);
  EXPECT_THAT(hook_.posts(), SizeIs(1));
  hook_.answer(200);
  turn(kNow + 15s);
  turn(kNow + 1h);

  ASSERT_THAT(hook_.posts(), SizeIs(2));
  EXPECT_EQ(text_at(body_of(0), "id"), text_at(body_of(1), "id"));
  EXPECT_EQ(shared_.counters.notices_sent, 1u);
  EXPECT_EQ(shared_.counters.notices_failed, 0u);
  EXPECT_EQ(tally(), (api::NoticeTally{
                         .sent = 1, .sent_at = kNow + 15s, .failed_at = kNow, .why = "HTTP 503"}));
  EXPECT_THAT(log_text(),
              AllOf(HasSubstr("notice-failed: notices ops: 1 notice not sent: HTTP 503"),
                    HasSubstr("notice-sent: notices ops: 1 notice sent")));
}

TEST_F(NoticesTest, AreGivenUpLoggedAndCountedAndNoSecretIsInTheLog) {
  const auto run = run_of_two();
  write("url", hook_.url(std::string{"/services/"} + kSecret) + "\n");
  settings("slack: \"file:url\", ca: ca.pem, group: 0s");
  turn(kNow);
  halt(run);
  hook_.answer(404, kSecret);

  turn(kNow);
  turn(kNow + 24h);

  ASSERT_THAT(hook_.posts(), SizeIs(1)) << "what will never work is not tried again";
  EXPECT_EQ(hook_.posts()[0].path, std::string{"/services/"} + kSecret);
  EXPECT_EQ(shared_.counters.notices_failed, 1u);
  EXPECT_THAT(log_text(), HasSubstr("notice-given-up: notices ops: 1 notice given up: HTTP 404"));
  EXPECT_EQ(tally(), (api::NoticeTally{.lost = 1, .failed_at = kNow, .why = "HTTP 404"}));
  for (const auto* name : {"log", "state/notices.json"})
    EXPECT_THAT(text_of(name), Not(HasSubstr(kSecret))) << name;
}

TEST_F(NoticesTest, ABrokenHookAndALongAnswerDoNoHarm) {
  const auto run = run_of_two();
  webhook();
  turn(kNow);
  halt(run);
  hook_.server().misbehave({.method = "POST", .kind = Habit::Kind::reset_connection});
  turn(kNow);
  EXPECT_THAT(hook_.posts(), IsEmpty());
  hook_.answer(200, std::string(1u << 20, 'x'));

  turn(kNow + 1h);

  EXPECT_THAT(hook_.posts(), SizeIs(1));
  EXPECT_EQ(shared_.counters.notices_sent, 1u) << "its status came";
}

TEST_F(NoticesTest, AreNotSentToAnUntrustedCertificate) {
  const auto run = run_of_two();
  settings(fmt::format("webhook: \"{}\", group: 0s, token: \"file:secret\"", hook_.url()));
  turn(kNow);
  halt(run);

  turn(kNow);

  EXPECT_EQ(hook_.server().asked().requests, 0);
  EXPECT_THAT(log_text(),
              AllOf(HasSubstr("not sent: SSL certificate problem"), Not(HasSubstr(kSecret))));
}

TEST_F(NoticesTest, ReportsAMissingSecretAndRetries) {
  const auto run = run_of_two();
  settings("slack: \"file:url\", ca: ca.pem, group: 0s");
  turn(kNow);
  halt(run);
  turn(kNow);
  EXPECT_THAT(log_text(), HasSubstr(file("url")));
  write("url", "http://example.com/" + std::string{kSecret});
  turn(kNow + 15s);
  EXPECT_THAT(log_text(), AllOf(HasSubstr("must begin with https://"), Not(HasSubstr(kSecret))));
  write("url", hook_.url());

  turn(kNow + 1h);

  EXPECT_THAT(hook_.posts(), SizeIs(1));
}

TEST_F(NoticesTest, AHookOfOneRackHearsOfNoOther) {
  const auto run = run_of_two();
  webhook("group: 0s, racks: [a02], on: [action, end]");
  turn(kNow);
  for (const auto* node : {"a01-n01", "a02-n01"})
    append(run, EventKind::step_ended, node, "bmc-facts",
           R"({"outcome":"BMC unresponsive","detail":"cold reset"})");
  halt(run);

  turn(kNow);

  ASSERT_THAT(hook_.posts(), SizeIs(1));
  EXPECT_THAT(hook_.posts()[0].body,
              AllOf(HasSubstr("a02-n01"), Not(HasSubstr("a01-n01")), Not(HasSubstr("halt"))));
}

TEST_F(NoticesTest, ASlackHookGetsOneTextWithItsSignsEscaped) {
  const auto run = run_of_two();
  write("url", hook_.url());
  settings("slack: \"file:url\", ca: ca.pem, group: 0s");
  turn(kNow);
  halt(run, "<!channel> \x1b[2J&\nfake");

  turn(kNow);

  ASSERT_THAT(hook_.posts(), SizeIs(1));
  const std::string text{body_of(0).at("text").as_string()};
  EXPECT_THAT(text, AllOf(HasSubstr("Cupel here: 1 halt\nrun 1: halted: &lt;!channel&gt; "),
                          HasSubstr("&amp;"), Not(HasSubstr("\x1b")), Not(HasSubstr("\nfake"))));
}

TEST_F(NoticesTest, GoByMailWithALogin) {
  SmtpServer mail;
  const auto run = run_of_two();
  settings(
      fmt::format("mail: [ops@example.com, oncall@example.com], server: \"{}\", "
                  "from: cupel@example.com, user: cupel, password: \"file:secret\", group: 0s",
                  mail.url()));
  turn(kNow);
  halt(run, ".\r\n.\r\nMAIL FROM:<x@y>");

  turn(kNow);

  ASSERT_THAT(mail.mails(), SizeIs(1)) << log_text();
  const auto sent = mail.mails()[0];
  EXPECT_EQ(sent.login, std::string("\0cupel\0", 7) + kSecret);
  EXPECT_THAT(sent.from, HasSubstr("<cupel@example.com>"));
  EXPECT_THAT(sent.to, ElementsAre("<ops@example.com>", "<oncall@example.com>"));
  EXPECT_THAT(sent.text, HasSubstr("Subject: Cupel here: 1 halt\r\n"));
  EXPECT_EQ(shared_.counters.notices_sent, 1u);
}

TEST_F(NoticesTest, AMailIsTriedAgainAfterA4xxAndNotAfterA5xx) {
  SmtpServer mail;
  const auto run = run_of_two();
  settings(fmt::format(
      "mail: [ops@example.com], server: \"{}\", from: cupel@example.com, group: 0s", mail.url()));
  turn(kNow);
  halt(run);
  mail.answer("451 greylisted");
  EXPECT_EQ(turn(kNow), kNow + 15s);
  EXPECT_THAT(log_text(), HasSubstr("(SMTP 451); it is tried again"));
  mail.answer("550 no such user");

  turn(kNow + 15s);
  turn(kNow + 1h);

  EXPECT_THAT(mail.mails(), IsEmpty());
  EXPECT_EQ(shared_.counters.notices_failed, 1u);
  EXPECT_THAT(log_text(), HasSubstr("given up: "));
}

TEST_F(NoticesTest, ReportsAnApprovalOnce) {
  const auto run = run_of_two();
  webhook();
  turn(kNow);
  const auto lock = store::ControllerLock::take(state());
  ASSERT_TRUE(lock);
  const auto status = [&](bool waits) {
    controller::RunStatus one{.run = run};
    if (waits) one.approvals = {{"go", 2}};
    ASSERT_TRUE(controller::write_status(
        state(), controller::to_text({.pid = ::getpid(), .runs = {std::move(one)}})));
  };
  status(true);
  turn(kNow + 1s);
  restart();
  turn(kNow + 2s);
  EXPECT_THAT(hook_.posts(), SizeIs(1));
  status(false);
  turn(kNow + 3s);
  status(true);

  turn(kNow + 4s);

  ASSERT_THAT(hook_.posts(), SizeIs(2)) << "it waits again";
  EXPECT_THAT(hook_.posts()[0].body, HasSubstr("go waits for approval on 2 nodes"));
}

TEST_F(NoticesTest, ReportsAScheduleThatStartedNothing) {
  settings(fmt::format("webhook: \"{}\", ca: ca.pem, group: 0s", hook_.url()),
           "schedules:\n  - {name: nightly, playbook: audit, at: \"02:30\"}\n");
  turn(kNow);
  auto book = api::ScheduleBook::open(state()).value();
  ASSERT_TRUE(book.put("nightly", {.due = kNow, .outcome = "begun"}));
  turn(kNow);
  ASSERT_TRUE(book.put("nightly", {.due = kNow, .outcome = "refused", .why = "n01 is in run 7"}));

  turn(kNow);
  turn(kNow + 1min);

  ASSERT_THAT(hook_.posts(), SizeIs(1));
  EXPECT_THAT(hook_.posts()[0].body, HasSubstr("was refused: n01 is in run 7"));
}

TEST_F(NoticesTest, ABookThatIsNoneSendsNothingAndSaysWhatToDo) {
  const auto run = run_of_two();
  webhook();
  write("state/notices.json", "[");
  halt(run);

  turn(kNow);

  EXPECT_THAT(hook_.posts(), IsEmpty());
  EXPECT_THAT(log_text(), HasSubstr("notices.json is no list of notices: remove it"));
}

TEST_F(NoticesTest, TheServiceSendsThemAndCounts) {
  const auto run = run_of_two();
  webhook();
  turn(kNow);
  restart();
  halt(run);
  auto options = usual();
  options.settings = file("service.yaml");
  serve(options);

  EXPECT_TRUE(hook_.wait_for(1)) << log_text();
  append(run, EventKind::run_ended, "", "", "{}");
  service().front().announce(controller::Weight::information, "");
  EXPECT_TRUE(hook_.wait_for(2)) << log_text();
  std::string metrics;
  for (int asked = 0; asked < 10'000 && !metrics.contains("cupel_notices_sent_total 2"); ++asked)
    metrics = get("/metrics").body;

  EXPECT_THAT(metrics, AllOf(HasSubstr("\ncupel_notices_sent_total 2"),
                             HasSubstr("\ncupel_notices_failed_total 0")));
}

}  // namespace
}  // namespace cupel::test
