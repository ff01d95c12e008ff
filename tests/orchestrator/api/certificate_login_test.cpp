// Client certificates: signed by the site's authority, they are who their common name says.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using ::testing::HasSubstr;

struct Pem {
  std::string certificate{}, key{};
};

std::string text_of(BIO* memory) {
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(memory, &bytes);
  std::string text(bytes, static_cast<std::size_t>(size));
  BIO_free(memory);
  return text;
}

/// An authority with its own certificate, and what it signs.
class Authority {
 public:
  Authority() : key_{EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")} {
    certificate_ = signed_certificate("cupel test authority", key_);
  }
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;
  ~Authority() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }

  std::string certificate() const { return pem_of(certificate_); }
  Pem issue(const std::string& name) {
    EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
    X509* certificate = signed_certificate(name, key);
    BIO* memory = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(memory, key, nullptr, nullptr, 0, nullptr, nullptr);
    Pem pem{pem_of(certificate), text_of(memory)};
    X509_free(certificate);
    EVP_PKEY_free(key);
    return pem;
  }

 private:
  static std::string pem_of(X509* certificate) {
    BIO* memory = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(memory, certificate);
    return text_of(memory);
  }
  /// By this authority; its own where it has none yet.
  X509* signed_certificate(const std::string& name, EVP_PKEY* key) {
    X509* made = X509_new();
    X509_set_version(made, 2);  // X.509 v3
    ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_set_pubkey(made, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509* issuer = certificate_ == nullptr ? made : certificate_;
    X509_set_issuer_name(made, X509_get_subject_name(issuer));
    if (issuer == made) {
      X509V3_CTX context;
      X509V3_set_ctx(&context, made, made, nullptr, nullptr, 0);
      X509_EXTENSION* is_authority =
          X509V3_EXT_conf_nid(nullptr, &context, NID_basic_constraints, "critical,CA:TRUE");
      X509_add_ext(made, is_authority, -1);
      X509_EXTENSION_free(is_authority);
    }
    X509_sign(made, key_, EVP_sha256());
    return made;
  }

  EVP_PKEY* key_;
  X509* certificate_ = nullptr;
  long serial_ = 0;
};

class ApiCertificates : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    const auto server = authority_.issue("localhost");
    write("server.pem", server.certificate);
    write("server.key", server.key);
    write("ca.pem", authority_.certificate());
    write("service.yaml",
          "tls: {certificate: server.pem, key: server.key, client_ca: ca.pem}\n"
          "certificates:\n  - {name: monitoring, role: viewer, racks: [a01]}\n");
    auto options = usual();
    options.settings = file("service.yaml");
    serve(options);
  }

  /// What is answered to who shows this certificate.
  Heard ask_as(const Pem& pem, const Ask& asked) {
    asio::io_context io;
    asio::ssl::context context{asio::ssl::context::tls_client};
    context.use_certificate_chain(asio::buffer(pem.certificate));
    context.use_private_key(asio::buffer(pem.key), asio::ssl::context::pem);
    asio::ssl::stream<asio::ip::tcp::socket> stream{io, context};
    stream.lowest_layer().connect(endpoint());
    boost::system::error_code refused;
    stream.handshake(asio::ssl::stream_base::client, refused);
    return refused ? Heard{} : heard_of(exchanged(stream, request_text(asked)));
  }

  Authority authority_{};
};

TEST_F(ApiCertificates, OfTheSitesAuthorityAreWhoTheirNameSays) {
  const auto who = ask_as(authority_.issue("monitoring"), {.target = "/api/v1/whoami"});

  ASSERT_EQ(who.status, 200) << who.body;
  const auto body = who.json();
  EXPECT_EQ(body.at("name"), "monitoring");
  EXPECT_EQ(body.at("kind"), "certificate");
  EXPECT_EQ(body.at("role"), "viewer");
  EXPECT_EQ(body.at("racks"), json::array{"a01"});
}

TEST_F(ApiCertificates, OfANameThatIsNotGrantedAreNoIdentity) {
  const auto other = ask_as(authority_.issue("eve"), {.target = "/api/v1/whoami"});

  EXPECT_EQ(other.status, 401) << other.body;
}

TEST_F(ApiCertificates, OfANameThatIsNotPrintableAreNoIdentity) {
  for (const auto* name : {"monitoring\u200b", "\u202emonitoring", "moni\ttoring"}) {
    const auto other = ask_as(authority_.issue(name), {.target = "/api/v1/whoami"});

    EXPECT_EQ(other.status, 401) << other.body;
  }
}

TEST_F(ApiCertificates, OfAnotherAuthorityGetNoConnection) {
  Authority elsewhere;

  const auto forged = ask_as(elsewhere.issue("monitoring"), {.target = "/api/v1/whoami"});

  EXPECT_EQ(forged.status, 0) << forged.body;
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(ApiCertificates, AreNotNeededWhereATokenIsShown) {
  EXPECT_EQ(ask_tls({.target = "/api/v1/whoami"}).status, 401);
  const auto by_token = ask_tls({.target = "/api/v1/whoami", .token = token("alice", "operator")});

  EXPECT_EQ(by_token.status, 200) << by_token.body;
  EXPECT_THAT(by_token.body, HasSubstr("\"kind\":\"token\""));
}

}  // namespace
}  // namespace cupel::test
