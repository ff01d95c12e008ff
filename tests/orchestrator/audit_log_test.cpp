#include "orchestrator/store/audit_log.h"

#include <array>
#include <cstdarg>
#include <cstdio>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/purpose.h"
#include "tests/orchestrator/store_fixture.h"

namespace {

/// "PRIORITY TEXT" of each line, in this process.
std::string& sent_to_syslog() {
  static std::string lines;
  return lines;
}

}  // namespace

/// In place of the C library's: a test does not write into the machine's own log.
extern "C" void syslog(int priority, const char* format, ...) {
  std::array<char, 512> line{};
  va_list values;
  va_start(values, format);
  std::vsnprintf(line.data(), line.size(), format, values);
  va_end(values);
  sent_to_syslog() += std::to_string(priority) + " " + line.data() + "\n";
}

namespace cupel::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AuditLogTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    sent_to_syslog().clear();
  }
  static AuditEntry entry(std::string what, std::string who = "ada") {
    return {.who = std::move(who), .origin = "command line", .what = std::move(what)};
  }

  static std::vector<std::string> whats(const std::vector<AuditEntry>& entries) {
    std::vector<std::string> all;
    for (const auto& each : entries) all.push_back(each.what);
    return all;
  }
};

TEST_F(AuditLogTest, SeveralEntriesAreOneStepOfTheChain) {
  const auto store = open();
  auto log = AuditLog::open(folder_).value();
  ASSERT_TRUE(log.append(entry("token-made")));

  ASSERT_TRUE(log.append(std::vector{entry("link-judged"), entry("link-repaired")}));

  EXPECT_THAT(whats(log.page(0, 10).value()),
              ElementsAre("token-made", "link-judged", "link-repaired"));
  soci::session sql;
  open_session(sql, folder_, Access::read_only);
  const auto chain = audit_chain(sql);
  EXPECT_EQ(chain.broken_at, std::nullopt);
  EXPECT_EQ(chain.head.sequence, 3);
}

TEST_F(AuditLogTest, LinesHaveAllThatTheChainIsOf) {
  const auto store = open();
  auto log = AuditLog::open(folder_).value();
  for (const auto* what : {"one", "two", "three"}) ASSERT_TRUE(log.append(entry(what)));
  constexpr auto kAll = std::string::npos;

  const auto first = log.lines(0, 2, kAll).value();
  const auto rest = log.lines(2, 100, kAll).value();
  const auto none = log.lines(3, 100, kAll).value();
  const auto bounded = log.lines(0, 100, 1).value();
  const auto beyond = log.lines(9, 1, kAll);

  EXPECT_EQ(first.head.sequence, 2);
  EXPECT_EQ(rest.before, first.head);
  EXPECT_EQ(none.text, "");
  EXPECT_EQ(none.head, rest.head);
  EXPECT_EQ(bounded.head.sequence, 1) << "none is added once there are so many bytes";
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().what, "the audit log has no entry 9");
  const auto line = parse_json(rest.text).value();
  const auto text = [&](const char* key) { return text_at(line, key).value(); };
  EXPECT_EQ(sha256_hex(fmt::format("{}\n3\n{}\n{}\n{}\n{}\n{}", rest.before.hash,
                                   line.as_object().at("time").as_int64(), text("who"),
                                   text("origin"), text("what"), text("data"))),
            rest.head.hash);
}

TEST_F(AuditLogTest, LinesOfAChangedEntryAreRefused) {
  const auto store = open();
  auto log = AuditLog::open(folder_).value();
  for (const auto* what : {"one", "two"}) ASSERT_TRUE(log.append(entry(what)));
  sql("UPDATE audit SET who = 'eve' WHERE sequence = 2");

  const auto lines = log.lines(0, 100, std::string::npos);

  ASSERT_FALSE(lines);
  EXPECT_THAT(lines.error().what, HasSubstr("entry 2 of the audit log is missing or was changed"));
}

/// Where the chain ends now.
std::string head_in(const std::filesystem::path& folder) {
  soci::session sql;
  open_session(sql, folder, Access::read_only);
  return to_string(audit_chain(sql).head);
}

TEST_F(AuditLogTest, TheLogOfAServiceHasTheEndOfTheChainAfterEachEntry) {
  const auto store = open();
  auto log = AuditLog::open(folder_).value();
  ASSERT_TRUE(log::to_file(folder_ / "service.log"));

  ASSERT_TRUE(log.append(entry("token-made")));
  const auto first = head_in(folder_);
  ASSERT_TRUE(log.append(std::vector{entry("link-judged"), entry("link-repaired")}));
  const auto second = head_in(folder_);
  log::off();

  const auto lines = read_file(folder_ / "service.log", 1u << 16).value();
  EXPECT_THAT(lines, HasSubstr("audit-head: " + first + "\n"));
  EXPECT_THAT(lines, HasSubstr("audit-head: " + second + "\n"));
  EXPECT_EQ(sent_to_syslog(), "");
}

TEST_F(AuditLogTest, ACommandWithoutALogSendsTheEndOfTheChainToSyslog) {
  const auto store = open();
  auto log = AuditLog::open(folder_).value();

  ASSERT_TRUE(log.append(entry("token-made")));

  EXPECT_EQ(sent_to_syslog(),
            "86 audit-head: " + head_in(folder_) + " of " + folder_.string() + "\n");
}

TEST_F(AuditLogTest, TheNewestOfAKindAreReadOldestFirst) {
  const auto store = open();
  auto log = AuditLog::open(folder_).value();
  ASSERT_TRUE(log.append(std::vector{entry("link-judged"), entry("token-made"),
                                     entry("link-repaired", "bob"), entry("link-judged", "eve")}));

  const auto all = log.newest("link-", 10).value();
  const auto two = log.newest("link-", 2).value();

  EXPECT_THAT(whats(all), ElementsAre("link-judged", "link-repaired", "link-judged"));
  EXPECT_THAT(whats(two), ElementsAre("link-repaired", "link-judged"));
  EXPECT_EQ(two[0].who, "bob");
}

TEST_F(AuditLogTest, AStoreThatKnowsLinksHoldsSomething) {
  const auto store = open();
  auto log = AuditLog::open(folder_).value();
  ASSERT_TRUE(log.append(entry("token-made")));
  EXPECT_EQ(purpose_of(folder_), Purpose::none);

  ASSERT_TRUE(log.append(entry("link-repaired")));

  EXPECT_EQ(purpose_of(folder_), Purpose::site);
}

}  // namespace
}  // namespace cupel::store
