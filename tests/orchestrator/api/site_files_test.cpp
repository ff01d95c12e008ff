// Files that say who is admin are the site's alone: each key of service.yaml that names one.
#include "orchestrator/api/site_files.h"

#include <sys/stat.h>

#include "base/self_signed.h"
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using ::testing::HasSubstr;

class ApiSiteFiles : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    const auto made = make_self_signed({"localhost"}, std::chrono::hours{1}).value();
    for (const auto* name : {"certificate.pem", "client-ca.pem", "oidc-ca.pem", "notices-ca.pem"})
      write(name, made.certificate);
    write("key.pem", made.key);
    write("keys.json", R"({"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k1","x":)"
                       R"("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})");
    write("service.yaml",
          "tls: {certificate: certificate.pem, key: key.pem, client_ca: client-ca.pem}\n"
          "oidc: {issuer: 'https://id.test', audience: cupel, keys: keys.json, ca: oidc-ca.pem,\n"
          "       grants: [{group: ops, role: admin}]}\n"
          "notices: [{name: ops, webhook: 'https://tickets.test/x', ca: notices-ca.pem}]\n");
  }
  /// What is refused and why; empty: nothing.
  std::string refusal() const {
    const auto read = api::read_site_files({state(), file("service.yaml"), {}, {}});
    return read ? "" : read.error().what;
  }
  void mode(const std::string& name, unsigned bits) const {
    std::filesystem::permissions(file(name), std::filesystem::perms{bits});
  }
};

TEST_F(ApiSiteFiles, ThatOthersCanChangeAreRefused) {
  ASSERT_EQ(refusal(), "");
  for (const auto* name : {"service.yaml", "certificate.pem", "client-ca.pem", "oidc-ca.pem",
                           "notices-ca.pem", "keys.json"}) {
    mode(name, 0666);
    EXPECT_THAT(refusal(), HasSubstr(file(name) + " can be changed by other users")) << name;
    mode(name, 0644);
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(ApiSiteFiles, AKeyThatOthersCanReadIsRefused) {
  mode("key.pem", 0644);

  EXPECT_THAT(refusal(), HasSubstr(file("key.pem") + " may be read by others"));
}

TEST_F(ApiSiteFiles, ThatAreFoldersAreRefusedAndPipesHoldUpNoService) {
  namespace fs = std::filesystem;
  for (const std::string name : {"certificate.pem", "key.pem", "keys.json", "client-ca.pem"}) {
    fs::rename(file(name), file("kept"));
    fs::create_directory(file(name));
    fs::permissions(file(name), fs::perms::owner_all);
    EXPECT_NE(refusal(), "") << name << " is a folder";

    fs::remove(file(name));
    ASSERT_EQ(::mkfifo(file(name).c_str(), 0600), 0);
    const auto of_pipe = refusal();  // without a program that writes to it: without bytes
    if (name == "keys.json") EXPECT_THAT(of_pipe, HasSubstr(file(name)));

    fs::remove(file(name));
    fs::rename(file("kept"), file(name));
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(ApiSiteFiles, OfAnotherUserAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  for (const auto* name : {"certificate.pem", "client-ca.pem", "oidc-ca.pem", "notices-ca.pem",
                           "keys.json", "key.pem"}) {
    ASSERT_EQ(::chown(file(name).c_str(), 12345, 12345), 0);
    EXPECT_THAT(refusal(), HasSubstr(file(name))) << name;
    ASSERT_EQ(::chown(file(name).c_str(), 0, 0), 0);
  }
}

}  // namespace
}  // namespace cupel::test
