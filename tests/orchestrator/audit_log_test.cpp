#include "orchestrator/store/audit_log.h"

#include "orchestrator/store/database.h"
#include "orchestrator/store/purpose.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {

using ::testing::ElementsAre;

class AuditLogTest : public StoreTest {
 protected:
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
