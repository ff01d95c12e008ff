#include "base/signature.h"

#include <gmock/gmock.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <boost/asio.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/task.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel {
namespace {

using ::testing::HasSubstr;

/// By OpenSSL itself, as `openssl genpkey` makes them.
std::string pem_of(EVP_PKEY* key, bool is_private) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio{BIO_new(BIO_s_mem()), BIO_free};
  if (is_private)
    PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  else
    PEM_write_bio_PUBKEY(bio.get(), key);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

struct Pair {
  std::string own, open;
};

Pair pair_of(EVP_PKEY* made) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key{made, EVP_PKEY_free};
  return {pem_of(key.get(), true), pem_of(key.get(), false)};
}

Pair ed25519() { return pair_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")); }

TEST(Signature, IsOfTheseBytesByThisKeyAlone) {
  const auto key = ed25519(), other = ed25519();
  const auto signature = sign("images: []\n", key.own);

  ASSERT_TRUE(signature) << signature.error().what;
  EXPECT_EQ(signature->size(), kSignatureBytes);
  EXPECT_TRUE(verify_signature("images: []\n", *signature, key.open));
  EXPECT_FALSE(verify_signature("images: [] \n", *signature, key.open));
  EXPECT_FALSE(verify_signature("", *signature, key.open));
  EXPECT_FALSE(verify_signature("images: []\n", *signature, other.open));
}

TEST(Signature, FailsForEachBitThatDiffers) {
  const auto key = ed25519();
  const auto signature = sign("x", key.own);

  ASSERT_TRUE(signature);
  for (std::size_t bit = 0; bit < 8 * kSignatureBytes; ++bit) {
    auto damaged = *signature;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto verified = verify_signature("x", damaged, key.open);
    ASSERT_FALSE(verified) << "bit " << bit;
    EXPECT_EQ(verified.error().code, Code::kUntrusted);
  }
}

TEST(Signature, TakesNoResultForAFailure) {
  const auto key = ed25519();
  const auto whole = sign("x", key.own);
  ASSERT_TRUE(whole);

  for (std::size_t size = 0; size < kSignatureBytes; ++size) {
    const auto verified = verify_signature("x", whole->substr(0, size), key.open);
    ASSERT_FALSE(verified) << size << " bytes";
    EXPECT_EQ(verified.error().code, Code::kUntrusted);
  }
  EXPECT_FALSE(verify_signature("x", *whole + "\n", key.open));
  EXPECT_FALSE(verify_signature("x", std::string(kSignatureBytes, '\0'), key.open));
  EXPECT_THAT(verify_signature("x", "", key.open).error().what, HasSubstr("empty"));
}

TEST(Signature, RefusesKeysOfOtherAlgorithms) {
  const auto rsa = pair_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048}));
  const auto curve = pair_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const std::string signature(kSignatureBytes, 'a');

  EXPECT_EQ(sign("x", rsa.own).error().what, "private key of RSA: Ed25519 is expected");
  EXPECT_EQ(verify_signature("x", signature, curve.open).error().what,
            "public key of EC: Ed25519 is expected");
  EXPECT_THAT(verify_signature("x", signature, "").error().what, HasSubstr("no PEM public key"));
  EXPECT_THAT(sign("x", "nothing").error().what, HasSubstr("no PEM private key"));
  EXPECT_THAT(sign("x", ed25519().open).error().what, HasSubstr("no PEM private key"));
}

TEST(Signature, FindsThePublicKeyOfAPrivateOne) {
  const auto key = ed25519();

  const auto open = public_key_of(key.own);

  ASSERT_TRUE(open) << open.error().what;
  EXPECT_EQ(*open, key.open);
}

/// A key of ssh-keygen's, in a file and in a real agent.
class AgentKey : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/bin/ssh-agent"), "no ssh-agent");
    const auto made = testing::run(
        {"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "site", "-f", file("site")});
    ASSERT_EQ(made.status, 0) << made.err;
    agent_.emplace(std::vector<std::string>{"/usr/bin/ssh-agent", "-D", "-a", file("agent")});
    ASSERT_TRUE(agent_->wait_for("SSH_AUTH_SOCK"));
    ::setenv("SSH_AUTH_SOCK", file("agent").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("SSH_AUTH_SOCK"); }

  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string open_key() const { return *read_file(file("site.pub"), 1000); }
  void add() {
    const auto added =
        testing::run({"/usr/bin/ssh-add", "-q", file("site")}, {"SSH_AUTH_SOCK=" + file("agent")});
    ASSERT_EQ(added.status, 0) << added.err;
  }

 private:
  test::TemporaryFolder folder_{};
  std::optional<testing::Child> agent_{};
};

TEST_F(AgentKey, SignsAsTheSameKeyInAFileDoes) {
  add();
  const auto key = SigningKey::of_agent(open_key());
  ASSERT_TRUE(key) << key.error().what;

  const auto signature = key->sign("some bytes");

  ASSERT_TRUE(signature) << signature.error().what;
  EXPECT_TRUE(verify_signature("some bytes", *signature, open_key()));
  EXPECT_TRUE(verify_signature("some bytes", *signature, key->public_key()));
  EXPECT_EQ(verify_signature("other bytes", *signature, open_key()).error().code, Code::kUntrusted);
}

TEST_F(AgentKey, OfAnotherIsNotReplacedByWhatTheAgentHas) {
  add();
  const auto key = SigningKey::of_agent(ed25519().open);
  ASSERT_TRUE(key) << key.error().what;

  EXPECT_THAT(key->sign("x").error().what, HasSubstr("does not hold this key"));
}

TEST_F(AgentKey, SaysWhatIsMissing) {
  const auto key = SigningKey::of_agent(open_key()).value();

  EXPECT_THAT(key.sign(std::string(300'000, 'x')).error().what, HasSubstr("240 KiB"));
  ::setenv("SSH_AUTH_SOCK", file("nothing").c_str(), 1);
  EXPECT_THAT(key.sign("x").error().what, HasSubstr("no agent answers"));
  ::unsetenv("SSH_AUTH_SOCK");
  EXPECT_THAT(key.sign("x").error().what, HasSubstr("SSH_AUTH_SOCK is not set"));
  EXPECT_FALSE(SigningKey::of_agent("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA=="));
  EXPECT_FALSE(SigningKey::of_agent("ssh-rsa AAAAB3NzaC1yc2E="));
}

/// A socket that answers whatever a test wants.
TEST_F(AgentKey, IsNotDeceivedByWhatIsNoAgent) {
  const auto key = SigningKey::of_agent(open_key()).value();
  const std::string answers[] = {
      std::string{"\xff\xff\xff\xff", 4}, std::string{"\0\0\0\0", 4},
      std::string{"\0\0\0\x05\x0e\0\0\xff\xff", 9}, "no",
      std::string{"\0\0\0\x17\x0e\0\0\0\x12\0\0\0\x0bssh-ed25519\0\0\0\0", 27}};
  for (std::size_t i = 0; i < std::size(answers); ++i) {
    asio::io_context io;
    const auto path = file("s" + std::to_string(i));
    asio::local::stream_protocol::acceptor door{io, asio::local::stream_protocol::endpoint{path}};
    std::thread server{[&] {
      auto one = door.accept();
      boost::system::error_code ended;
      asio::write(one, asio::buffer(answers[i]), ended);
      one.shutdown(asio::socket_base::shutdown_send, ended);
      std::string rest(4096, ' ');
      while (!ended) one.read_some(asio::buffer(rest), ended);
    }};
    ::setenv("SSH_AUTH_SOCK", path.c_str(), 1);

    const auto signature = key.sign("x");

    EXPECT_FALSE(signature) << i;
    server.join();
  }
}

TEST(Signature, AKeyThatIsMadeSignsAndIsAnotherOneEachTime) {
  const auto key = make_signing_key(), other = make_signing_key();
  ASSERT_TRUE(key && other);

  const auto signature = sign("images: []\n", *key);

  ASSERT_TRUE(signature) << signature.error().what;
  EXPECT_TRUE(verify_signature("images: []\n", *signature, *public_key_of(*key)));
  EXPECT_FALSE(verify_signature("images: []\n", *signature, *public_key_of(*other)));
}

}  // namespace
}  // namespace cupel
