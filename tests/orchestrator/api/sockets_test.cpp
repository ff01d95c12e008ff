// Where a service listens: at sockets that systemd has passed, and at the addresses of its
// settings.
#include "orchestrator/api/endpoint.h"
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::test {
namespace {

using ::testing::ElementsAre;
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

TEST_F(ApiSockets, APassedTcpSocketReplacesTheSettingsAddresses) {
  const auto passed = api::listening_tcp_socket("127.0.0.1:0").value();
  serve_with(passed.descriptor);

  EXPECT_THAT(service().addresses(), ElementsAre("https://" + passed.address, file("s")));
  EXPECT_EQ(ask_tls({.target = "/healthz"}).status, 200);
}

}  // namespace
}  // namespace cupel::test
