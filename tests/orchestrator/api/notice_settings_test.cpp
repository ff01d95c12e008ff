// Whom the service tells, as the settings say it; and what they may not say.
#include <gmock/gmock.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "base/utc.h"
#include "orchestrator/api/site_settings.h"

namespace cupel::api {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;

engine::WallTime at(std::string_view text) { return utc_of(text).value(); }

std::string notice_problems(const std::string& text) {
  std::vector<inventory::Problem> problems;
  EXPECT_FALSE(parse_site_settings(text, "service.yaml", problems));
  return inventory::to_string(problems);
}

TEST(NoticeSettings, AreReadWithTheirSecretsByNameAlone) {
  std::vector<inventory::Problem> problems;

  const auto settings = parse_site_settings(R"(
notices:
  - name: ops
    slack: "env:CUPEL_SLACK"
    on: [halt, action]
    racks: [a01]
    group: 5m
    quiet: {from: "22:00", to: "07:00"}
    urgent: [halt]
  - {name: tickets, webhook: "https://tickets.example.com/cupel", token: "file:/etc/cupel/token"}
  - name: mail
    mail: [ops@example.com, oncall@example.com]
    server: smtps://mail.example.com:465
    from: cupel@example.com
    user: cupel
    password: "file:/etc/cupel/smtp"
)",
                                            "service.yaml", problems);

  ASSERT_TRUE(settings) << inventory::to_string(problems);
  ASSERT_EQ(settings->notices.size(), 3u);
  const auto& [ops, tickets, mail] =
      std::tie(settings->notices[0], settings->notices[1], settings->notices[2]);
  EXPECT_EQ(ops.kind, NoticeHook::Kind::slack);
  EXPECT_EQ(ops.secret_url->where, "CUPEL_SLACK");
  EXPECT_THAT(ops.on, ElementsAre("action", "halt"));
  EXPECT_EQ(ops.group, 5min);
  EXPECT_EQ(ops.quiet, (QuietHours{22h, 7h}));
  EXPECT_TRUE(ops.is_urgent("halt"));
  EXPECT_EQ(tickets.secret->where, "/etc/cupel/token");
  EXPECT_EQ(tickets.on.size(), std::size(kNoticeKinds));
  EXPECT_THAT(mail.to, ElementsAre("ops@example.com", "oncall@example.com"));
}

TEST(NoticeSettings, OfTheShippedExampleAreRight) {
  std::ifstream example{std::string{SOURCE_DIR} + "/cmake/package/service.example.yaml"};
  std::string text;
  bool ours = false;
  for (std::string line; std::getline(example, line);) {
    ours = ours || line.starts_with("# notices:");
    if (ours) text += line.substr(2) + "\n";
  }
  std::vector<inventory::Problem> problems;

  const auto settings = parse_site_settings(text, "service.yaml", problems);

  ASSERT_TRUE(settings) << inventory::to_string(problems);
  EXPECT_EQ(settings->notices.size(), 3u);
}

TEST(NoticeSettings, OfWrongOnesEveryErrorIsReportedWithItsPlace) {
  const auto text = notice_problems(R"(
notices:
  - {name: one, slack: "https://hooks.slack.com/services/T0/B0/SECRET"}
  - {name: one, webhook: "http://10.0.0.5/x", on: [halts], group: soon}
  - {name: two, mail: [nobody], server: "https://mail", from: "a@b>", user: u}
  - {name: three, webhook: "https://u:SECRET@h/x", quiet: {from: "22", to: "7:00"}, urgent: [halt]}
  - {name: four, webhook: "https://h/x?key=SECRET", slack: "env:X"}
  - {name: five, webhook: "https://h/x?key=SECRET", urgent: [end], colour: red}
  - {name: six}
)");

  EXPECT_THAT(text, AllOf(HasSubstr("service.yaml:3:"), HasSubstr("slack is a secret"),
                          HasSubstr("service.yaml:4:"), HasSubstr("'one' is here twice"),
                          HasSubstr("http:// goes to loopback addresses alone"),
                          HasSubstr("'halts' is none of overdue, halt"), HasSubstr("group")));
  EXPECT_THAT(text, AllOf(HasSubstr("'nobody' is no mail address"), HasSubstr("a mail server is"),
                          HasSubstr("'a@b>' is no mail address"),
                          HasSubstr("user and password belong together")));
  EXPECT_THAT(text, AllOf(HasSubstr("has a user in it"), HasSubstr("'22' is no time of the day"),
                          HasSubstr("'7:00' is no time of the day")));
  EXPECT_THAT(
      text, AllOf(HasSubstr("one of webhook, slack, mail and otlp"), HasSubstr("has a query"),
                  HasSubstr("there are none"), HasSubstr("colour"), HasSubstr("service.yaml:9:")));
  EXPECT_THAT(text, Not(HasSubstr("SECRET"))) << "what may be a secret is never quoted";
}

TEST(NoticeSettings, AnOtlpReceiverGetsEachRunWhole) {
  std::vector<inventory::Problem> problems;

  const auto settings = parse_site_settings(
      "notices:\n  - {name: otel, otlp: \"https://collector.example.com:4318\", token: "
      "\"file:/etc/cupel/otlp-token\", ca: /etc/cupel/otlp.pem, metrics: 1m}\n",
      "service.yaml", problems);
  const auto wrong = notice_problems(R"(
notices:
  - {name: one, otlp: "http://10.0.0.5:4318", token: SECRET, on: [halt], racks: [a01]}
  - {name: two, otlp: "https://h/?key=SECRET", group: 5m, urgent: [end], metrics: 5s, colour: red}
)");

  ASSERT_TRUE(settings) << inventory::to_string(problems);
  const auto& otel = settings->notices.at(0);
  EXPECT_EQ(otel.kind, NoticeHook::Kind::otlp);
  EXPECT_EQ(to_string(otel.kind), "otlp");
  EXPECT_EQ(otel.url, "https://collector.example.com:4318");
  EXPECT_THAT(otel.on, ElementsAre("end"));
  EXPECT_EQ(otel.group, 0min);
  EXPECT_EQ(otel.metrics, 1min);
  EXPECT_THAT(wrong,
              AllOf(HasSubstr("service.yaml:3:"), HasSubstr("http:// goes to loopback addresses"),
                    HasSubstr("token is a secret"), HasSubstr("on does not go with otlp"),
                    HasSubstr("racks does not go with otlp")));
  EXPECT_THAT(wrong, AllOf(HasSubstr("service.yaml:4:"), HasSubstr("has a query"),
                           HasSubstr("group does not go with otlp"),
                           HasSubstr("urgent does not go with otlp"), HasSubstr("colour"),
                           HasSubstr("is 10s at least, and 1h at most"), Not(HasSubstr("SECRET"))));
}

TEST(NoticeSettings, RacksThatNameNoneAreNotAllOfThem) {
  const std::string notice = "notices:\n  - {name: ops, slack: 'env:S', racks: ";
  const std::string user = "users:\n  - {name: bob, role: admin, racks: ";
  const std::string group =
      "oidc:\n  issuer: https://id.test\n  audience: cupel\n  keys: /etc/keys\n  grants:\n"
      "  - {group: ops, role: admin, racks: ";
  for (const auto& begin : {notice, user, group})
    for (const auto* racks : {"[]", "null", "''", "['']"})
      EXPECT_THAT(notice_problems(begin + racks + "}\n"), HasSubstr("leave racks out for all"))
          << begin << racks;
}

TEST(NoticeSettings, SendInClearToLoopbackAddressesAlone) {
  using Kind = NoticeHook::Kind;
  for (const auto* url : {"https://example.com/x", "http://127.0.0.1:80/x", "http://[::1]/x"})
    EXPECT_FALSE(fault_in_hook_url(Kind::webhook, url)) << url;
  for (const auto* url :
       {"http://example.com/x", "http://127.0.0.1.example.com/", "http://localhost/",
        "http://127.1/", "http://127.0.0.1@example.com/", "file:///etc/passwd", "gopher://h/",
        "https://", "https:///x", "https://h/ x", "https://h/\r\nHost: x", "", "h/x"})
    EXPECT_TRUE(fault_in_hook_url(Kind::webhook, url)) << url;
  EXPECT_FALSE(fault_in_hook_url(Kind::mail, "smtp://mail.example.com:587"));
  EXPECT_TRUE(fault_in_hook_url(Kind::mail, "smtp://mail.example.com/x"));
  EXPECT_FALSE(is_loopback_url("smtp://mail.example.com:587"));
}

TEST(NoticeSettings, QuietHoursGoOverMidnightInLocalTime) {
  NoticeHook hook;
  EXPECT_FALSE(is_quiet(hook, at("2026-12-10T23:00:00")));
  const char* zone = std::getenv("TZ");
  const std::string before = zone == nullptr ? "" : zone;
  ::setenv("TZ", "Europe/Berlin", 1);
  ::tzset();
  hook.quiet = QuietHours{22h, 7h};

  EXPECT_FALSE(is_quiet(hook, at("2026-12-10T20:59:59")));
  EXPECT_TRUE(is_quiet(hook, at("2026-12-10T21:00:00")));
  EXPECT_TRUE(is_quiet(hook, at("2026-12-11T05:59:59")));
  EXPECT_FALSE(is_quiet(hook, at("2026-12-11T06:00:00")));
  EXPECT_EQ(quiet_until(hook, at("2026-12-10T22:00:00")), at("2026-12-11T06:00:00"));
  EXPECT_EQ(quiet_until(hook, at("2026-12-10T12:00:00")), at("2026-12-10T12:00:00"));
  hook.quiet = QuietHours{12h, 13h};
  EXPECT_TRUE(is_quiet(hook, at("2026-12-10T11:30:00")));
  EXPECT_FALSE(is_quiet(hook, at("2026-12-10T12:00:00")));

  zone == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", before.c_str(), 1);
  ::tzset();
}

}  // namespace
}  // namespace cupel::api
