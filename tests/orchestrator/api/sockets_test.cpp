// Where a service listens: at sockets that systemd has passed, and at the addresses of its
// settings; and what it reads again of them.
#include "base/log.h"
#include "orchestrator/api/endpoint.h"
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ApiSockets : public ApiTest {
 protected:
  /// A service whose settings name an address, with this socket of systemd.
  void serve_with(int passed) {
    write("service.yaml", "listen: [127.0.0.1:0]\n");
    auto options = usual();
    options.listen.clear();
    options.settings = file("service.yaml");
    options.passed = {passed};
    serve(options);
  }
};

TEST_F(ApiSockets, ListenAtTheSettingsAddressesBesideAPassedUnixSocket) {
  serve_with(api::listening_unix_socket(file("s")).value());

  EXPECT_THAT(service().addresses(), ElementsAre(file("s"), StartsWith("https://127.0.0.1:")));
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(ask_tls({.target = "/healthz"}).status, 200);
}

TEST_F(ApiSockets, NeitherListenNorAreAskedAtAPathThatTheKernelDoesNotTake) {
  for (const auto& path : {std::string{}, file(std::string(120, 's'))}) {
    const auto socket = api::listening_unix_socket(path);
    ASSERT_FALSE(socket);
    EXPECT_EQ(socket.error().code, Code::kInvalid);
    EXPECT_THAT(socket.error().what, HasSubstr("empty or over 107 bytes"));
    EXPECT_FALSE(api::is_served(std::filesystem::path{path}));
  }
}

TEST_F(ApiSockets, OfOtherSettingsAreNamedInTheLogAndOpenedAtTheNextStart) {
  write("service.yaml", "listen: [127.0.0.1:0]\n");
  auto options = usual();
  options.listen.clear();
  options.settings = file("service.yaml");
  serve(options);
  ASSERT_TRUE(log::to_file(file("log")));

  const auto same = service().reload();
  write("service.yaml", "listen: [127.0.0.1:0, \"127.0.0.2:0\"]\n");
  const auto other = service().reload();
  log::off();

  EXPECT_TRUE(same && other);
  std::ifstream log{file("log")};
  std::ostringstream text;
  text << log.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("listen-not-changed"));
  EXPECT_EQ(text.str().find("listen-not-changed"), text.str().rfind("listen-not-changed"));
  EXPECT_EQ(service().addresses().size(), 2u);
}

TEST_F(ApiSockets, AnInventoryIsReadAgainAndABrokenOneChangesNothing) {
  write("secret", "s3cr3t\n");
  const auto inventory = [&](const std::string& nodes) {
    return "site: here\ndefaults:\n  profile: dgx-h100\n  bmc: {user: admin, password: \"file:" +
           file("secret") +
           "\", tls: {trust: first-use}}\n  ssh: {user: root, key: " + file("secret") +
           "}\nnodes:\n" + nodes;
  };
  const std::string one =
      "  - {name: n1, bmc: {address: 127.64.99.1}, ssh: {address: 127.64.98.1}}\n";
  write("site.yaml", inventory(one));
  auto options = usual();
  options.inventory = file("site.yaml");
  serve(options);
  const auto nodes = [&] { return get("/api/v1/inventory").json().at("nodes"); };
  ASSERT_EQ(nodes(), 1);

  write("site.yaml", inventory(one + "  - {name: n2, bmc: {address: 127.64.99.2}, ssh: {address: "
                                     "127.64.98.2}}\n"));
  EXPECT_TRUE(service().reload());
  EXPECT_EQ(nodes(), 2);
  write("site.yaml", "site: here\nnodes: 7\n");
  EXPECT_FALSE(service().reload());

  EXPECT_EQ(nodes(), 2);
}

TEST_F(ApiSockets, APassedTcpSocketReplacesTheSettingsAddresses) {
  const auto passed = api::listening_tcp_socket("127.0.0.1:0").value();
  serve_with(passed.descriptor);

  EXPECT_THAT(service().addresses(), ElementsAre("https://" + passed.address, file("s")));
  EXPECT_EQ(ask_tls({.target = "/healthz"}).status, 200);
}

}  // namespace
}  // namespace cupel::test
