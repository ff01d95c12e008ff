// What of a vendor's behavior only shows on the wire: connections, certificates, streams.
#include "tests/rehearsal/rack_bench.h"
#include "tests/support/virtual_bmc.h"

namespace cupel::rehearsal {
namespace {
using test::VirtualBmc;
using ::testing::HasSubstr;

std::string log_in(VirtualBmc& bmc, Browser& browser) {
  const auto body = json::object{{"UserName", bmc.user()}, {"Password", bmc.password()}};
  auto fetched = browser.ask("POST", "/redfish/v1/SessionService/Sessions", json::serialize(body));
  browser.token = fetched.headers["x-auth-token"];
  return browser.token;
}

TEST(BmcWire, AnIloCutsAKeptConnection) {
  VirtualBmc bmc{"hpe-ilo5"};
  Browser browser{bmc.endpoint()};
  long opened = 0;

  for (int i = 0; i < 4; ++i) {
    const auto fetched = browser.ask("GET", "/redfish/v1");
    EXPECT_EQ(fetched.status, 200) << curl_easy_strerror(fetched.failure);
    opened += fetched.new_connections;
  }

  // libcurl asks again over a fresh one what a kept one swallowed.
  EXPECT_GT(opened, 1);
}

TEST(BmcWire, ARuleCutsAndAnotherIsLate) {
  VirtualBmc bmc{"dgx"};
  Browser browser{bmc.endpoint()};
  bmc.misbehave({.path = "/redfish/v1", .does = rehearsal::Does::drop});

  const auto lost = browser.ask("GET", "/redfish/v1");
  bmc.misbehave({.path = "/redfish/v1", .late = std::chrono::milliseconds{60}});
  const auto began = std::chrono::steady_clock::now();
  const auto late = browser.ask("GET", "/redfish/v1");

  EXPECT_NE(lost.failure, CURLE_OK);
  EXPECT_EQ(late.status, 200);
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds{60});
}

TEST(BmcWire, ANewCertificateComesWithARestartWhereItIsSo) {
  VirtualBmc bmc{VirtualBmc::Options{.bmc = {.vendor = "openbmc", .new_certificate = true}}};
  const auto before = bmc.fingerprint();
  Browser browser{bmc.endpoint()};
  log_in(bmc, browser);

  const auto restarted = browser.ask("POST", "/redfish/v1/Managers/BMC_0/Actions/Manager.Reset",
                                     R"({"ResetType": "GracefulRestart"})");

  EXPECT_EQ(restarted.status, 204);
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  bool back = false;
  while (!back && std::chrono::steady_clock::now() < until) {
    // Before it is away, and where nobody asks in the moment that it is, the old one is shown.
    const bool renewed = bmc.fingerprint() != before;
    back = renewed && Browser{bmc.endpoint()}.ask("GET", "/redfish").status == 200;
  }
  EXPECT_TRUE(back);
}

/// What a stream has said so far, and what to do about it; false: enough.
struct Reader {
  std::string reported{};
  std::function<bool(const std::string&)> take{};

  static std::size_t read(char* bytes, std::size_t size, std::size_t count, void* user) {
    auto& self = *static_cast<Reader*>(user);
    self.reported.append(bytes, size * count);
    return self.take(self.reported) ? size * count : 0;
  }
};

TEST(BmcWire, EventsAreStreamedAsTheyHappen) {
  VirtualBmc bmc{"dell"};
  Browser browser{bmc.endpoint()};
  const auto token = "X-Auth-Token: " + log_in(bmc, browser);
  bool pressed = false;
  Reader reader;
  reader.take = [&](const std::string& reported) {
    if (!std::exchange(pressed, true))
      bmc.on([](Machine& machine, auto&) { return machine.press(Reset::on); });
    return reported.find("has booted") == reported.npos;
  };

  CURL* curl = curl_easy_init();
  const auto url = "https://127.0.0.1:" + std::to_string(bmc.endpoint().port) + "/redfish/v1/SSE";
  curl_slist* headers = curl_slist_append(nullptr, token.c_str());
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Reader::read);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reader);
  const auto ended = curl_easy_perform(curl);
  char* type = nullptr;
  curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
  EXPECT_STREQ(type, "text/event-stream");
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);

  EXPECT_EQ(ended, CURLE_WRITE_ERROR);  // we had enough
  EXPECT_THAT(reader.reported, HasSubstr("The host was powered on."));
  EXPECT_THAT(reader.reported, HasSubstr("#Event.v1_7_0.Event"));
}

}  // namespace
}  // namespace cupel::rehearsal
