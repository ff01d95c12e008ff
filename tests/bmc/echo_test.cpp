// BMCs that repeat what they hear: what comes out of a verb, answer or error, holds no secret.
#include "tests/support/echo.h"

#include "tests/bmc/fixture.h"

namespace cupel::bmc {
namespace {

const std::string kSecretPassword = R"(Pl4n t"ed\S3&cr<et)";

class Echoing : public OverHttps {
 protected:
  void echo(test::EchoIn where) {
    password = kSecretPassword;
    server.change([&](auto& options) {
      options.password = kSecretPassword;
      options.session_prefix = "S3SSIONtok";
      options.last_word = test::echo(where);
    });
  }
  /// Nothing of it, however spelled.
  static void expect_clean(const std::string& text) {
    for (const auto* trace : {"Pl4n", "S3&", "cr<et", "token-S3SSION", "\\u0050\\u006c", "%50%6C",
                              "&#80;", "%74%6F%6B", "&#116;&#111;"})
      EXPECT_EQ(text.find(trace), std::string::npos) << trace << " in " << text;
    EXPECT_EQ(text.find(test::basic_of("admin", kSecretPassword).substr(0, 12)), std::string::npos);
  }
};

TEST_F(Echoing, LoginsShowNoPasswordAndTheRefusalIsUnderstood) {
  echo(test::EchoIn::logins);
  const auto bmc = open();

  const auto first = run(bmc->power.state(soon()));
  const auto second = run(bmc->power.state(soon()));

  ASSERT_FALSE(first);
  EXPECT_THAT(first.error().what, HasSubstr("(hidden)"));
  EXPECT_THAT(first.error().what, HasSubstr("PropertyValueFormatError"));
  expect_clean(first.error().what);
  expect_clean(second.error().what);
}

TEST_F(Echoing, ATokenThatIsTooLongIsRefused) {
  server.change([](auto& options) { options.session_prefix = std::string(5000, 'S'); });
  const auto bmc = open();

  const auto power = run(bmc->power.state(soon()));

  ASSERT_FALSE(power);
  EXPECT_EQ(power.error().code, Code::kMalformed);
  EXPECT_THAT(power.error().what, HasSubstr("a session token of 5007 characters"));
}

TEST_F(Echoing, RefusalsShowNeitherPasswordNorToken) {
  echo(test::EchoIn::refusals);
  const auto bmc = open();

  const auto power = run(bmc->power.state(soon()));
  const auto accounts = run(bmc->accounts.read(soon()));
  const auto changed = run(bmc->accounts.change_password("admin", "An0ther-Pl4n-S3cret", soon()));
  run(bmc->log_out());

  for (const auto& error : {power.error(), accounts.error(), changed.error()}) {
    EXPECT_THAT(error.what, HasSubstr("(hidden)"));
    expect_clean(error.what);
  }
}

TEST_F(Echoing, DocumentsShowNeitherPasswordNorToken) {
  echo(test::EchoIn::documents);
  const auto bmc = open();

  const auto seen = run(bmc->facts.observe(soon()));
  const auto power = run(bmc->power.state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_EQ(power->value, PowerState::on);
  const auto& identity = seen->identity;
  EXPECT_THAT(identity.serial, HasSubstr("(hidden)"));
  expect_clean(identity.serial + identity.model + identity.vendor);
  for (const auto& part : seen->parts)
    expect_clean(part.name + part.model + part.serial + part.firmware);
  for (const auto& unknown : seen->unknown) expect_clean(unknown.why);
}

TEST_F(Echoing, EventsShowNoSecretEvenWhereTheyComeInPieces) {
  echo(test::EchoIn::documents);
  auto one = client();
  ASSERT_TRUE(run(one.get("/redfish/v1/Systems", soon())));
  auto stream = run(one.open_stream(test::HttpsServer::kEventStream, {}, soon()));
  ASSERT_TRUE(stream) << stream.error().what;

  server.publish(R"(data: {"x": "Pl4n t\"ed)");
  server.publish("\\\\S3&cr<et\"}\n\n");
  const auto text = run((*stream)->read(soon()));

  ASSERT_TRUE(text) << text.error().what;
  EXPECT_EQ(*text, "data: {\"x\": \"(hidden)\"}\n\n");
  run(one.log_out());
}

}  // namespace
}  // namespace cupel::bmc
