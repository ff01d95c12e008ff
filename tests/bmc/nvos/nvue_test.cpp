// Requests: who may ask, and what a refusal means.
#include "bmc/nvos/changes.h"
#include "bmc/nvos/facts.h"
#include "tests/bmc/nvos/fake_switch.h"
#include "tests/support/captures.h"
#include "tests/support/certificate.h"

namespace cupel::bmc {
namespace {

class NvueRequests : public NvosSwitch {};

TEST_F(NvueRequests, ShowUserAndPasswordAndPinTheCertificate) {
  on("GET cluster", R"({"state": "enabled"})");

  const auto answer = run(nvue_.get("cluster", soon()));

  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(text_at(*answer, "state"), "enabled");
  EXPECT_EQ(keys_.pins["bmc:a01/switch1"], server_.fingerprint());
}

TEST_F(NvueRequests, TryAWrongPasswordOnce) {
  right_ = "another";

  const auto first = run(nvue_.get("cluster", soon()));
  const auto second = run(nvue_.get("system", soon()));

  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, Code::kRefused);
  EXPECT_THAT(first.error().what, HasSubstr("check the user and the password"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kRefused);
  EXPECT_EQ(asked("GET cluster") + asked("GET system"), 1);

  EXPECT_THAT(second.error().what, HasSubstr("run: cupel rack show a01 --retry-logins"));
  password_ = "another";
  EXPECT_EQ(run(nvue_.get("gone", soon())).error().code, Code::kNotFound) << "it has changed";
}

TEST_F(NvueRequests, SayThatAFactoryPasswordHasToBeChangedFirst) {
  on("GET cluster",
     {{403, R"({"title": "Forbidden", "detail": "the password has to be changed"})"}});

  const auto answer = run(nvue_.get("cluster", soon()));

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kRefused);
  EXPECT_THAT(answer.error().what, HasSubstr("Forbidden: the password has to be changed"));
  EXPECT_THAT(answer.error().what, HasSubstr("log in to it once by SSH"));
}

TEST_F(NvueRequests, TakeAProxyWithoutAServiceForBusyAndNoJson) {
  on("GET cluster", {{502, "<html>Bad Gateway</html>"}});
  on("GET system", {{200, "<html>"}});

  EXPECT_EQ(run(nvue_.get("cluster", soon())).error().code, Code::kBusy);
  EXPECT_EQ(run(nvue_.get("system", soon())).error().code, Code::kMalformed);
}

TEST_F(NvueRequests, StopAtAnotherCertificateAndSayWhereToWriteIt) {
  on("GET cluster", "{}");
  ASSERT_TRUE(run(nvue_.get("cluster", soon())));
  server_.restart_with_new_certificate();

  const auto answer = run(nvue_.get("cluster", soon()));

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kUntrusted);
  EXPECT_THAT(answer.error().what, HasSubstr("tls: {pin: \"" + server_.fingerprint() + "\"}"));
}

TEST_F(NvueRequests, DoNotShowASecretThatTheSwitchRepeats) {
  on("GET cluster", {{400, R"({"title": "bad login secret one"})"}});

  const auto answer = run(nvue_.get("cluster", soon()));

  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().what, Not(HasSubstr("secret one")));
}

TEST_F(NvueRequests, TakeAnEmptyAnswerOfSuccessForOneWithoutABody) {
  on("PATCH cluster", {{200, ""}});

  EXPECT_TRUE(run(nvue_.patch("cluster?rev=1", json::object{{"state", "enabled"}}, soon())));
}

/// A switch that asks for a certificate, too.
class MutualTls : public NvosSwitch {
 protected:
  MutualTls() {
    on("GET cluster", R"({"state": "enabled"})");
    server_.change(
        [this](test::HttpsServer::Options& options) { options.client_ca = ours_.certificate_pem; });
    server_.restart_with_new_certificate();
    EXPECT_TRUE(write_file(file("ours.pem"), ours_.certificate_pem, 0600));
    EXPECT_TRUE(write_file(file("ours.key"), ours_.key_pem, 0600));
    EXPECT_TRUE(write_file(file("theirs.pem"), theirs_.certificate_pem, 0600));
    EXPECT_TRUE(write_file(file("theirs.key"), theirs_.key_pem, 0600));
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  Result<json::value> asked_with(const std::string& certificate, const std::string& key) {
    auto who = peer();
    who.certificate = certificate;
    who.certificate_key = key;
    nvos::Nvue nvue{transport_, who, "admin", password_from(password_)};
    return run(nvue.get("cluster", soon()));
  }

  test::SelfSigned ours_ = test::make_certificate(), theirs_ = test::make_certificate();
  test::TemporaryFolder folder_;
};

TEST_F(MutualTls, IsOpenedByTheCertificateThatTheSwitchKnows) {
  const auto answer = asked_with(file("ours.pem"), file("ours.key"));

  EXPECT_TRUE(answer) << answer.error().what;
}

TEST_F(MutualTls, IsClosedWithoutACertificateWithAnotherAndWithAFileThatIsNotThere) {
  EXPECT_FALSE(asked_with("", ""));
  EXPECT_FALSE(asked_with(file("theirs.pem"), file("theirs.key")));
  const auto gone = asked_with(file("gone.pem"), file("ours.key"));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Code::kInvalid) << gone.error().what;
  EXPECT_EQ(asked("GET cluster"), 0);
}

}  // namespace
}  // namespace cupel::bmc
