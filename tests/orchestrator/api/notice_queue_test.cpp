// When notices are sent, and as what; the time is the test's.
#include "orchestrator/api/notice_queue.h"

#include <gmock/gmock.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utc.h"
#include "orchestrator/api/notice_text.h"

namespace cupel::api {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

const engine::WallTime kNoon = utc_of("2026-12-10T12:00:00").value();

Notice notice_at(engine::WallTime when, std::string what, const std::string& text) {
  return {std::move(what), when, {{"text", text}}};
}

std::vector<std::string> texts(const NoticeBatch* batch) {
  std::vector<std::string> found;
  if (batch != nullptr)
    for (const auto& each : batch->notices) found.push_back(each.text());
  return found;
}

NoticeHook five_minutes() {
  NoticeHook hook;
  hook.group = 5min;
  return hook;
}

/// From an hour behind noon on, for two hours, whatever the zone of this machine.
NoticeHook quiet_at_one() {
  auto hook = five_minutes();
  const auto seconds = std::chrono::system_clock::to_time_t(kNoon);
  std::tm noon{};
  ::localtime_r(&seconds, &noon);
  const auto hour = [&](int later) { return std::chrono::hours{(noon.tm_hour + later) % 24}; };
  hook.quiet = QuietHours{hour(1), hour(3)};
  hook.urgent = {"halt"};
  return hook;
}

TEST(NoticeQueue, SendsAsOneWhatComesWithinTheGroupsTime) {
  NoticeQueue queue;
  const auto hook = five_minutes();
  EXPECT_FALSE(queue.due(hook, kNoon));
  queue.add(notice_at(kNoon, "end", "first"));
  queue.add(notice_at(kNoon + 4min, "halt", "second"));

  EXPECT_EQ(queue.due(hook, kNoon), kNoon + 5min);
  EXPECT_EQ(queue.take(hook, kNoon + 299s), nullptr);
  EXPECT_THAT(texts(queue.take(hook, kNoon + 5min)), ElementsAre("first", "second"));
  queue.add(notice_at(kNoon + 6min, "end", "third"));
  EXPECT_THAT(texts(queue.take(hook, kNoon + 6min)), ElementsAre("first", "second"))
      << "it stays the same until it is sent";
  queue.sent();
  EXPECT_EQ(queue.take(hook, kNoon + 6min), nullptr);
  EXPECT_THAT(texts(queue.take(hook, kNoon + 11min)), ElementsAre("third"));
}

TEST(NoticeQueue, HoldsInQuietHoursAllButWhatIsUrgent) {
  NoticeQueue queue;
  const auto hook = quiet_at_one();
  queue.add(notice_at(kNoon + 61min, "end", "one"));
  queue.add(notice_at(kNoon + 90min, "halt", "urgent"));
  queue.add(notice_at(kNoon + 100min, "end", "two"));

  EXPECT_EQ(queue.due(hook, kNoon + 91min), kNoon + 95min);
  EXPECT_THAT(texts(queue.take(hook, kNoon + 101min)), ElementsAre("urgent"));
  queue.sent();
  EXPECT_EQ(queue.take(hook, kNoon + 179min), nullptr);
  EXPECT_EQ(queue.due(hook, kNoon + 101min), kNoon + 3h);
  EXPECT_THAT(texts(queue.take(hook, kNoon + 3h)), ElementsAre("one", "two"));
}

TEST(NoticeQueue, HoldsARepetitionInQuietHoursToo) {
  NoticeQueue queue;
  const auto hook = quiet_at_one();
  queue.add(notice_at(kNoon + 54min, "end", "one"));
  ASSERT_NE(queue.take(hook, kNoon + 59min), nullptr);
  EXPECT_FALSE(queue.failed(kNoon + 59min, 120s, false));

  EXPECT_EQ(queue.take(hook, kNoon + 2h), nullptr);
  EXPECT_NE(queue.take(hook, kNoon + 3h), nullptr);
}

TEST(NoticeQueue, TriesAgainWithGrowingPausesAndGivesUp) {
  NoticeQueue queue;
  NoticeHook hook;
  hook.group = 0s;
  queue.add(notice_at(kNoon, "end", "one"));
  auto now = kNoon;
  const auto id = queue.take(hook, now)->id;
  std::vector<std::int64_t> pauses;

  for (bool given_up = false; !given_up;) {
    ASSERT_NE(queue.take(hook, now), nullptr);
    EXPECT_EQ(queue.take(hook, now)->id, id) << "by which a receiver knows it again";
    given_up = queue.failed(now, 0ms, false);
    if (given_up) break;
    const auto next = *queue.due(hook, now);
    EXPECT_EQ(queue.take(hook, next - 1ms), nullptr);
    pauses.push_back((next - now).count() / 1000);
    now = next;
  }

  EXPECT_THAT(pauses, ElementsAre(15, 30, 60, 120, 240, 480, 900, 900, 900));
  EXPECT_FALSE(queue.due(hook, now));
}

TEST(NoticeQueue, WaitsAsLongAsTheOtherSideWantsButAnHourAtMost) {
  NoticeQueue queue;
  NoticeHook hook;
  hook.group = 0s;
  queue.add(notice_at(kNoon, "end", "one"));
  queue.take(hook, kNoon);
  queue.failed(kNoon, 300s, false);
  EXPECT_EQ(queue.due(hook, kNoon), kNoon + 5min);
  queue.failed(kNoon, 24h, false);
  EXPECT_EQ(queue.due(hook, kNoon), kNoon + 1h);
  EXPECT_TRUE(queue.failed(kNoon, 0ms, true)) << "what will never work is not tried again";
}

TEST(NoticeQueue, IsBoundedAndCountsWhatFoundItFull) {
  NoticeQueue queue;
  NoticeHook hook;
  for (std::size_t i = 0; i < NoticeQueue::kMost; ++i)
    EXPECT_TRUE(queue.add(notice_at(kNoon, "end", "x")));
  EXPECT_FALSE(queue.add(notice_at(kNoon, "end", "x")));
  EXPECT_FALSE(queue.add(notice_at(kNoon, "end", "x")));

  const auto* batch = queue.take(hook, kNoon + 1h);

  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->notices.size(), NoticeQueue::kMost);
  EXPECT_EQ(batch->dropped, 2u);
}

TEST(NoticeQueue, ComesBackFromItsFileAsItWas) {
  NoticeQueue queue;
  const auto hook = five_minutes();
  queue.add(notice_at(kNoon, "end", "one"));
  const auto id = queue.take(hook, kNoon + 5min)->id;
  queue.failed(kNoon + 5min, 0ms, false);
  queue.add(notice_at(kNoon + 6min, "halt", "two"));

  auto again = NoticeQueue::from(queue.json());

  EXPECT_EQ(again.json(), queue.json());
  EXPECT_EQ(again.take(hook, kNoon + 20min)->id, id);
  for (const auto* text :
       {"{}", "[]", "7", R"({"waiting": [7, {"what": 1}], "batch": {"notices": 3},
                                                "dropped": -1})"})
    EXPECT_FALSE(NoticeQueue::from(parse_json(text).value()).due(hook, kNoon)) << text;
}

TEST(NoticeQueue, AWrongClockHoldsNothingForYears) {
  NoticeQueue queue;
  queue.add(notice_at(kNoon + 24h * 3650, "end", "one"));
  EXPECT_EQ(queue.due(five_minutes(), kNoon), kNoon + 5min);
}

NoticeMessage hostile() {
  json::value body{{"text", "run 1: n1: <!channel> \x1b[31m& \"x\"\nBcc: all@example.com\x80"},
                   {"deep", {{"why", std::string(100'000, 'a')}}}};
  make_sendable(body);
  return {.id = "0123456789abcdef",
          .site = "h\r\nBcc: x@y\xc3\xa9",
          .time = kNoon,
          .notices = {{"halt", kNoon, body.get_object()}, {"end", kNoon, {{"text", "run 1: end"}}}},
          .dropped = 3};
}

TEST(NoticeText, OfHostileWordsNothingReachesASlackChannelAsItsSigns) {
  const auto body = parse_json(slack_body(hostile()));

  ASSERT_TRUE(body);
  EXPECT_EQ(body->as_object().size(), 1u);
  const std::string text{body->at("text").as_string()};
  EXPECT_THAT(text, AllOf(HasSubstr("&lt;!channel&gt; "), HasSubstr("&amp; \"x\""),
                          HasSubstr("\nand 3 more"), HasSubstr("\nrun 1: end")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\nBcc")));
  EXPECT_THAT(text, Not(HasSubstr("<")));
}

TEST(NoticeText, AMailHasTheHeaderThatWeWroteAndNoOther) {
  NoticeHook hook;
  hook.from = "cupel@example.com";
  hook.to = {"a@example.com", "b@example.com"};

  const auto mail = mail_text(hook, hostile());

  const auto end = mail.find("\r\n\r\n");
  const auto head = mail.substr(0, end);
  EXPECT_THAT(head,
              AllOf(HasSubstr("Date: Thu, 10 Dec 2026 12:00:00 +0000\r\n"),
                    HasSubstr("To: <a@example.com>, <b@example.com>\r\n"),
                    HasSubstr("Message-ID: <0123456789abcdef@example.com>\r\n"),
                    HasSubstr("Subject: Cupel h??Bcc: x@y??: 1 halt, 1 end, and 3 more\r\n")));
  EXPECT_THAT(head, Not(HasSubstr("\nBcc")));
  std::string body;
  for (const auto line : lines(mail.substr(end + 4))) {
    EXPECT_LE(line.size(), 76u);
    body += line;
  }
  EXPECT_THAT(from_base64(body).value(),
              AllOf(HasSubstr("<!channel> "), HasSubstr("run 1: end\r\nand 3 more\r\n")));
}

TEST(NoticeText, IsBoundedWhateverComes) {
  NoticeMessage message{.id = "x", .time = kNoon};
  json::value body{{"text", std::string(600, '<')}};
  for (int key = 0; key < 20; ++key)
    body.as_object()["k" + std::to_string(key)] = std::string(1000, '\\');
  make_sendable(body);
  for (std::size_t i = 0; i < NoticeQueue::kMost; ++i)
    message.notices.push_back({"end", kNoon, body.get_object()});

  EXPECT_LE(webhook_body(message).size(), 256u << 10);
  EXPECT_THAT(webhook_body(message), HasSubstr("\"dropped\":"));
  EXPECT_LE(slack_body(message).size(), 4000u);
  EXPECT_THAT(slack_body(message), HasSubstr("and 99 more"));
}

}  // namespace
}  // namespace cupel::api
