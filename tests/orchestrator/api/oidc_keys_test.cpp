// The keys of an identity provider from its address: a second service plays the provider, with its
// key set as a page and a certificate of its own.
#include "orchestrator/api/oidc_keys.h"

#include <openssl/evp.h>

#include "base/base64.h"
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

std::string base64url(std::string_view bytes) {
  auto text = base64(bytes);
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text.substr(0, text.find('='));
}

/// An Ed25519 key, its public half as a key set, and tokens that it signs.
class SigningKey {
 public:
  SigningKey() : key_{EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")} {}
  SigningKey(const SigningKey&) = delete;
  SigningKey& operator=(const SigningKey&) = delete;
  ~SigningKey() { EVP_PKEY_free(key_); }

  std::string key_set() const {
    std::string raw(32, '\0');
    std::size_t size = raw.size();
    EVP_PKEY_get_raw_public_key(key_, reinterpret_cast<unsigned char*>(raw.data()), &size);
    return R"({"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k1","x":")" + base64url(raw) + "\"}]}";
  }
  std::string token() const {
    const auto ends =
        std::chrono::floor<seconds>(report::wall_now()).time_since_epoch().count() + 600;
    const auto text = base64url(R"({"alg":"EdDSA","kid":"k1"})") + "." +
                      base64url(R"({"iss":"https://id.example","aud":"cupel","sub":"carol",)"
                                R"("groups":["ops"],"exp":)" +
                                std::to_string(ends) + "}");
    std::string signature(64, '\0');
    std::size_t length = signature.size();
    auto* context = EVP_MD_CTX_new();
    EVP_DigestSignInit(context, nullptr, nullptr, nullptr, key_);
    EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &length,
                   reinterpret_cast<const unsigned char*>(text.data()), text.size());
    EVP_MD_CTX_free(context);
    return text + "." + base64url(signature);
  }

 private:
  EVP_PKEY* key_;
};

class ApiOidcKeys : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    pages_ = {{"/keys", "application/json", keys_, "", false},
              {"/large", "application/json", large_, "", false},
              {"/none", "application/json", "{\"keys\":[]}", "", false}};
    const std::filesystem::path folder = file("provider");
    ASSERT_TRUE(store::Store::open(folder));
    api::ServiceOptions options;
    options.state = folder;
    options.listen = {"127.0.0.1:0"};
    options.page = pages_;
    auto opened = api::Service::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().what;
    provider_ = *std::move(opened);
    provider_->start();
  }
  void TearDown() override {
    ApiTest::TearDown();
    provider_.reset();
  }

  api::OidcSettings settings(const std::string& page) const {
    api::OidcSettings oidc;
    oidc.keys = provider_->addresses().front() + page;
    oidc.ca = file("provider/service-certificate.pem");
    return oidc;
  }
  static Result<WebKeys> fetched(const api::OidcSettings& oidc) {
    asio::io_context io;
    return run_to_end(io, api::fetch_oidc_keys(oidc));
  }

  SigningKey key_{};
  std::string keys_ = key_.key_set();
  std::string large_ = R"({"keys":[],"more":")" + std::string(2u << 20, 'a') + "\"}";
  std::vector<api::StaticFile> pages_{};
  std::unique_ptr<api::Service> provider_{};
};

TEST_F(ApiOidcKeys, AreFetchedAndLetItsTokensIn) {
  const auto oidc = settings("/keys");
  write("service.yaml", "oidc:\n  issuer: https://id.example\n  audience: cupel\n  keys: " +
                            oidc.keys + "\n  ca: provider/service-certificate.pem\n" +
                            "  grants:\n    - {group: ops, role: operator}\n");
  auto options = usual();
  options.settings = file("service.yaml");
  serve(options);

  // The service begins without them.
  Heard who;
  const auto enough = std::chrono::steady_clock::now() + seconds{60};
  while (who.status != 200 && std::chrono::steady_clock::now() < enough)
    who = ask({.target = "/api/v1/whoami", .token = key_.token()});

  ASSERT_EQ(who.status, 200) << who.body;
  EXPECT_THAT(who.body, HasSubstr("\"name\":\"carol\""));
  ASSERT_TRUE(service().reload());
  EXPECT_EQ(ask({.target = "/api/v1/whoami", .token = key_.token()}).status, 200)
      << "a reload keeps those that were fetched";
}

TEST_F(ApiOidcKeys, AreVerifiedAndBounded) {
  auto unknown = settings("/keys");
  unknown.ca.clear();

  EXPECT_TRUE(fetched(settings("/keys")));
  const auto untrusted = fetched(unknown), large = fetched(settings("/large"));

  ASSERT_FALSE(untrusted);
  EXPECT_EQ(untrusted.error().code, Code::kUntrusted) << untrusted.error().what;
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, Code::kMalformed) << large.error().what;
  EXPECT_FALSE(fetched(settings("/none")));
  EXPECT_FALSE(fetched(settings("/missing")));
}

TEST_F(ApiOidcKeys, AreNeverFetchedInClear) {
  std::vector<inventory::Problem> problems;

  const auto parsed =
      api::parse_site_settings("oidc: {issuer: a, audience: b, keys: \"http://id.example/keys\"}\n",
                               "service.yaml", problems);

  EXPECT_FALSE(parsed);
  EXPECT_THAT(inventory::to_string(problems), HasSubstr("https:// address"));
}

}  // namespace
}  // namespace cupel::test
