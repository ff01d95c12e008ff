#include "bmc/redfish/accounts.h"

#include "tests/bmc/acting.h"

namespace cupel::bmc {
namespace {

constexpr const char* kAccounts = "/redfish/v1/AccountService/Accounts";
constexpr const char* kNew = "Gr4phite-Crucible";

class Accounts : public Acting {
 protected:
  void SetUp() override {
    Acting::SetUp();
    server.set("/redfish/v1/AccountService",
               json::value{{"MinPasswordLength", 8}, {"Accounts", link(kAccounts)}});
    have({{"1", "admin"}});
  }
  static std::string uri(const std::string& slot) { return std::string{kAccounts} + "/" + slot; }
  void have(const std::vector<std::pair<std::string, std::string>>& slots) {
    std::vector<std::string> uris;
    for (const auto& [slot, user] : slots) {
      uris.push_back(uri(slot));
      server.set(uri(slot), json::value{{"Id", slot},
                                        {"@odata.etag", "\"of " + slot + "\""},
                                        {"UserName", user},
                                        {"RoleId", user.empty() ? "None" : "Administrator"},
                                        {"Enabled", !user.empty()},
                                        {"Locked", false},
                                        {"Password", nullptr}});
    }
    server.set(kAccounts, collection(uris));
  }
  Result<Protocol> change(const std::string& user, const std::string& to) {
    const auto bmc = open();
    auto done = run(bmc->accounts.change_password(user, to, soon()));
    run(bmc->log_out());
    return done;
  }
  std::string written_to() const { return machine.patched.empty() ? "" : machine.patched.back(); }
};

TEST_F(Accounts, LeavesOutTheSlotsThatADellHasEmpty) {
  have({{"1", ""}, {"2", "admin"}, {"3", ""}, {"16", "audit"}});
  const auto bmc = open();

  const auto reported = run(bmc->accounts.read(soon()));
  run(bmc->log_out());

  EXPECT_THAT(reported->value, ElementsAre(Account{.id = "2",
                                                   .user = "admin",
                                                   .role = "Administrator",
                                                   .enabled = true,
                                                   .locked = false,
                                                   .source = uri("2")},
                                           Account{.id = "16",
                                                   .user = "audit",
                                                   .role = "Administrator",
                                                   .enabled = true,
                                                   .locked = false,
                                                   .source = uri("16")}));
}

TEST_F(Accounts, FindsTheAccountByItsUserInWhateverSlot) {
  have({{"1", ""}, {"2", "admin"}, {"7", "audit"}});

  const auto done = change("audit", kNew);

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(written_to(), uri("7"));
}

TEST_F(Accounts, NamesTheEtagOfTheMemberWhichCollectionsDoNotShow) {
  server.change([](auto& options) { options.wants_if_match = true; });

  ASSERT_TRUE(change("admin", kNew));
  EXPECT_TRUE(server.asked().patches.front().starts_with(uri("1") + " \"of 1\" "));
}

TEST_F(Accounts, SaysStarToADgxThatTakesNoEtag) {
  server.misbehave({.method = "PATCH", .times = 2, .status = 412});

  const auto done = change("admin", kNew);

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(server.asked().patches.front().starts_with(uri("1") + " * "));
}

TEST_F(Accounts, LogsInWithTheNewPasswordWhereTheBmcEndsTheSessionOfTheOld) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));

  const auto done = run(bmc->accounts.change_password("admin", kNew, soon()));
  server.expire_sessions();
  password = kNew;
  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(state) << state.error().what;
  EXPECT_EQ(server.asked().refused, 0);
  EXPECT_EQ(server.asked().open_sessions, 0);
}

TEST_F(Accounts, AsksNothingAfterTheChange) {
  ASSERT_TRUE(change("admin", kNew));
  const auto lines = server.asked().lines;
  EXPECT_TRUE(lines[lines.size() - 2].starts_with("PATCH"));
  EXPECT_TRUE(lines.back().starts_with("DELETE"));
}

TEST_F(Accounts, SaysWhichUsersThereAreWhereThereIsNoSuchOne) {
  have({{"1", "admin"}, {"2", "audit"}});

  const auto done = change("operator", kNew);

  EXPECT_EQ(done.error().code, Code::kNotFound);
  EXPECT_THAT(done.error().what, HasSubstr("it has: admin, audit"));
}

std::string wants_change(const std::string& argument) {
  return test::refusal("Base.1.8.PasswordChangeRequired",
                       "The password for this account must be changed. PATCH the Password property "
                       "of the resource " +
                           argument + ".");
}

TEST_F(Accounts, SaysWhatToDoWhereTheFactoryPasswordHasToChangeFirst) {
  server.misbehave({.method = "GET",
                    .path = "/redfish/v1/Systems",
                    .times = 9,
                    .status = 403,
                    .body = wants_change(uri("1"))});
  const auto bmc = open();

  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  EXPECT_EQ(state.error().code, Code::kRefused);
  EXPECT_THAT(state.error().what, HasSubstr("cupel bmc NODE password rotate"));
}

TEST_F(Accounts, ChangesAFactoryPasswordInTheAccountThatTheBmcNames) {
  server.misbehave({.method = "GET",
                    .path = "/redfish/v1/Systems",
                    .times = 9,
                    .status = 403,
                    .body = wants_change(uri("1"))});
  server.misbehave({.method = "GET",
                    .path = "/redfish/v1/AccountService",
                    .times = 9,
                    .status = 403,
                    .body = wants_change(uri("1"))});

  const auto done = change("admin", kNew);

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(written_to(), uri("1"));
}

/// A refusal whose text names nobody: the account is among its arguments.
std::string wants_change_of(const std::string& argument) {
  json::object message{{"MessageId", "Base.1.8.PasswordChangeRequired"},
                       {"Message", "The password must be changed. PATCH it at the target URI."}};
  message["MessageArgs"] = json::array(1, json::value(argument));
  json::object error{{"code", "Base.1.8.PasswordChangeRequired"}};
  error["@Message.ExtendedInfo"] = json::array(1, json::value(std::move(message)));
  return serialize(json::object{{"error", std::move(error)}});
}

TEST_F(Accounts, ChangesAFactoryPasswordThatOnlyRefusalsSayMustChange) {
  have({{"1", "audit"}, {"7", "admin"}});
  server.misbehave({.method = "GET",
                    .path = "/redfish/v1/Systems",
                    .times = 9,
                    .status = 403,
                    .body = wants_change_of("")});

  const auto done = change("admin", kNew);

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(written_to(), uri("7")) << "the accounts are shown";
}

TEST_F(Accounts, ChangesAFactoryPasswordAtTheUriAmongTheArgumentsOfARefusal) {
  have({{"7", "admin"}});
  for (const auto* path : {"/redfish/v1/Systems", "/redfish/v1/AccountService"})
    server.misbehave({.method = "GET",
                      .path = path,
                      .times = 9,
                      .status = 403,
                      .body = wants_change_of(uri("7"))});

  const auto done = change("admin", kNew);

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(written_to(), uri("7"));
}

TEST_F(Accounts, ChangesAFactoryPasswordByBasicWhereTheBmcGivesNoSessionBefore) {
  have({{"7", "admin"}});
  server.misbehave({.method = "POST",
                    .path = "/redfish/v1/SessionService/Sessions",
                    .times = 9,
                    .status = 403,
                    .body = wants_change_of(uri("7"))});
  for (const auto* path : {"/redfish/v1/Systems", "/redfish/v1/AccountService"})
    server.misbehave({.method = "GET",
                      .path = path,
                      .times = 9,
                      .status = 401,
                      .body = wants_change_of(uri("7"))});

  const auto done = change("admin", kNew);

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(written_to(), uri("7"));
  EXPECT_EQ(server.asked().refused, 0);
}

TEST_F(Accounts, ChangesAFactoryPasswordInItsVendorsAccountWhereTheBmcNamesNone) {
  auto root = test::small_machine("/redfish/v1");
  const auto to_be_changed = [&](const char* vendor) {
    root.as_object()["Vendor"] = vendor;
    server.set("/redfish/v1", root);
    have({{"1", "admin"}, {"2", "admin"}, {"admin", "admin"}});
    for (const auto* path : {"/redfish/v1/Systems", "/redfish/v1/AccountService"})
      server.misbehave({.method = "GET", .path = path, .status = 403, .body = wants_change("")});
    const auto done = change("admin", kNew);
    password = kNew;
    return done ? written_to() : done.error().what;
  };

  EXPECT_EQ(to_be_changed("Lenovo"), uri("1"));
  EXPECT_EQ(to_be_changed("Dell"), uri("2"));
  EXPECT_EQ(to_be_changed("NVIDIA"), uri("admin"));
}

TEST_F(Accounts, TakesTheStricterOfWhatTheBmcSaysAndWhatIsKnownOfTheModel) {
  become("NVIDIA", "DGXH100");

  const auto done = change("admin", "Short-1");
  const auto plain = change("admin", "NoSpecialCharacter1");

  EXPECT_EQ(done.error().code, Code::kInvalid);
  EXPECT_THAT(done.error().what, HasSubstr("at least 13 characters"));
  EXPECT_THAT(plain.error().what, HasSubstr("no letter and no digit"));
  EXPECT_THAT(machine.patched, ElementsAre());
}

TEST_F(Accounts, KeepsThePasswordToItselfWhereTheBmcRepeatsIt) {
  server.misbehave(
      {.method = "PATCH",
       .status = 400,
       .body = test::refusal("Base.1.8.PropertyValueFormatError",
                             std::string{"The value "} + kNew + " of Password breaks a rule.")});

  const auto done = change("admin", kNew);

  EXPECT_EQ(done.error().code, Code::kInvalid);
  EXPECT_THAT(done.error().what, HasSubstr("breaks a rule"));
  EXPECT_THAT(done.error().what, HasSubstr("sent {\"Password\":\"(hidden)\"}"));
  EXPECT_THAT(done.error().what, Not(HasSubstr(kNew)));
}

TEST(PasswordRules, NameTheRuleThatIsBroken) {
  const redfish::PasswordRules rules{.shortest = 10, .longest = 20, .classes = 3, .special = true};
  const auto wrong = [&](std::string_view password) {
    const auto checked = redfish::check_password(rules, "root", password);
    return checked ? std::string{} : checked.error().what;
  };

  EXPECT_EQ(wrong("Good-enough-1"), "");
  EXPECT_THAT(wrong("Sh-1"), HasSubstr("at least 10 characters"));
  EXPECT_THAT(wrong("This-1-is-far-too-long-for-it"), HasSubstr("at most 20 characters"));
  EXPECT_THAT(wrong("NoSpecial123"), HasSubstr("no letter and no digit"));
  EXPECT_THAT(wrong("only-lower-case"), HasSubstr("at least 3 kinds"));
  EXPECT_THAT(wrong("My-root-word-1"), HasSubstr("the user's name"));
  EXPECT_THAT(wrong("With blank-12"), HasSubstr("without blanks"));
}

}  // namespace
}  // namespace cupel::bmc
