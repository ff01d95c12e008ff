// A token or session that no command made, or that was changed since, is found by what the audit
// log has of each.
#include "orchestrator/store/token_check.h"

#include "orchestrator/store/access_tokens.h"
#include "orchestrator/store/audit_log.h"
#include "orchestrator/store/check.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

auto at(const std::string& where) { return Field("where", &Fault::where, where); }

/// A token and a session of it, as a command and the service make them.
class TokenFaults : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    const auto store = open();
    token_ = made({.name = "ada", .role = "viewer"}, "add-token", "token");
    session_ = made({.name = "ada", .role = "viewer", .session = true, .parent = token_}, "login",
                    "session");
  }
  std::string made(AccessToken request, const std::string& what, const std::string& key) const {
    auto tokens = AccessTokens::open(folder_).value();
    request.made_by = "ada";
    request.made = now();
    request.expires = request.made + std::chrono::hours{1};
    const std::string id{token_id(tokens.add(request).value())};
    auto log = AuditLog::open(folder_).value();
    const auto digest = tokens.digest(id).value();
    EXPECT_TRUE(log.append(
        {.who = "ada", .origin = "host", .what = what, .data = {{key, id}, {"sha256", digest}}}));
    return id;
  }
  std::vector<Fault> faults() const { return check_store(folder_).value().faults; }
  static WallTime now() {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }

  std::string token_, session_;
};

TEST_F(TokenFaults, AreNoneOfThoseThatWereMadeUsedAndRevoked) {
  auto tokens = AccessTokens::open(folder_).value();
  ASSERT_TRUE(tokens.note_use(token_, now()));
  EXPECT_THAT(faults(), IsEmpty());

  ASSERT_TRUE(tokens.revoke(token_, now()));

  EXPECT_THAT(faults(), IsEmpty());
  EXPECT_EQ(tokens.digest("0123456789abcdef").error().code, Code::kNotFound);
}

TEST_F(TokenFaults, NameEachThatWasChangedAfterItWasMade) {
  for (const auto* change : {"role = 'admin'", "hash = 'mine'", "racks = 'a01'",
                             "expires = expires + 1", "name = 'eve'"}) {
    SCOPED_TRACE(change);
    sql("CREATE TABLE kept AS SELECT * FROM access_token");
    sql(std::string{"UPDATE access_token SET "} + change);
    const auto found = faults();
    EXPECT_THAT(found, Contains(at("token " + token_)));
    EXPECT_THAT(found, Contains(at("session " + session_)));
    sql("DELETE FROM access_token");
    sql("INSERT INTO access_token SELECT * FROM kept");
    sql("DROP TABLE kept");
  }
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(TokenFaults, NameOneThatNoCommandMade) {
  sql("INSERT INTO access_token VALUES ('eeee', 'h', 'eve', 'admin', '*', 0, '', 'eve', 1, 2, 0, "
      "0)");

  const auto found = faults();

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].where, "token eeee");
  EXPECT_EQ(found[0].what, "the audit log has no entry that it was made (eve, admin)");
  EXPECT_THAT(found[0].advice, EndsWith("cupel token revoke eeee"));
  sql("UPDATE access_token SET id = '$(reboot)' WHERE id = 'eeee'");
  EXPECT_THAT(faults()[0].advice, EndsWith("cupel token revoke '$(reboot)'"));
}

TEST_F(TokenFaults, AreLookedForInATokenWhoseEntryCanNoMoreBeOnItsWay) {
  auto tokens = AccessTokens::open(folder_).value();
  const auto newest = AuditLog::open(folder_).value().page(0, 10).value().back().time;
  const auto add = [&](WallTime made) {
    return "token " +
           std::string{
               token_id(tokens.add({.name = "bob", .role = "viewer", .made = made, .expires = made})
                            .value())};
  };

  add(newest);
  EXPECT_THAT(faults(), IsEmpty()) << "another entry came before its own";
  const auto ahead = add(now() + std::chrono::hours{1});
  const auto before = add(newest - std::chrono::minutes{2});
  EXPECT_THAT(faults(), UnorderedElementsAre(at(ahead), at(before)));

  sql("DELETE FROM audit");
  const auto long_ago = add(now() - std::chrono::hours{25});
  EXPECT_THAT(faults(), UnorderedElementsAre(at(ahead), at(long_ago)))
      << "in a day the log has it, however little it says";
}

TEST_F(TokenFaults, NameOneThatIsGoodAgainAfterItWasRevoked) {
  {
    auto log = AuditLog::open(folder_).value();
    ASSERT_TRUE(log.append(
        {.who = "ada", .origin = "host", .what = "revoke-token", .data = {{"token", token_}}}));
  }
  const auto found = faults();

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, "it was revoked, and is not (ada, viewer)");
}

}  // namespace
}  // namespace cupel::store
