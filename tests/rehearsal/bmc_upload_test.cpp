// Images on their way to a BMC over HTTPS: large ones, too large ones, such that break off, and
// such that it fetches itself.
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "base/digest.h"
#include "rehearsal/bmc/https_server.h"
#include "rehearsal/bmc/image.h"
#include "tests/rehearsal/bmc_bench.h"
#include "tests/rehearsal/rack_bench.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"
#include "tests/support/virtual_bmc.h"

namespace cupel::rehearsal {
namespace {
using test::VirtualBmc;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kCurl = "/usr/bin/curl";

std::string image_of(std::size_t size) {
  std::string bytes;
  const auto made =
      write_image({{{"PSU_1", "9.9"}}, "", size}, [&](std::string_view piece) { bytes += piece; });
  EXPECT_TRUE(made);
  return bytes;
}

class UploadOverHttps : public ::testing::Test {
 protected:
  /// As an operator types it; prints the body and the status.
  cupel::testing::Ran push(VirtualBmc& bmc, const std::string& file) {
    const auto secret = (folder.path() / "curlrc").string();
    EXPECT_TRUE(write_file(secret, "user = \"admin:" + bmc.password() + "\"\n", 0600));
    const auto path = bmc.on([](Machine&, BmcService& service) {
      return std::string{service.state().update_behavior.multipart};
    });
    return cupel::testing::run({kCurl, "-q", "-sS", "-k", "-K", secret, "-w", "\n%{http_code}",
                                "-F", "UpdateParameters={};type=application/json", "-F",
                                "UpdateFile=@" + file + ";type=application/octet-stream",
                                "https://127.0.0.1:" + std::to_string(bmc.endpoint().port) + path});
  }
  static std::optional<Update> last(VirtualBmc& bmc) {
    return bmc.on([](Machine&, BmcService& service) {
      const auto& all = service.state().updates.all();
      return all.empty() ? std::optional<Update>{} : std::optional<Update>{all.back()};
    });
  }
  test::TemporaryFolder folder;
};

TEST_F(UploadOverHttps, HashesALargeImageAndKeepsNoneOfIt) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kCurl), "curl is not there");
  constexpr std::size_t kSize = 96u << 20;
  VirtualBmc bmc{"dgx"};
  const auto file = (folder.path() / "image.bin").string();
  {
    std::ofstream out{file, std::ios::binary};
    ASSERT_TRUE(write_image({{{"PSU_1", "9.9"}}, "", kSize}, [&](std::string_view piece) {
      out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    }));
  }
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);

  const auto ran = push(bmc, file);
  getrusage(RUSAGE_SELF, &after);
  const auto reported = cupel::testing::run({"/usr/bin/sha256sum", file}).out;

  EXPECT_THAT(ran.out, HasSubstr("\n202")) << ran.err;
  const auto update = last(bmc);
  ASSERT_TRUE(update);
  EXPECT_EQ(update->size, kSize);
  EXPECT_EQ(update->sha256, reported.substr(0, 64));
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 32 * 1024);  // KiB
  EXPECT_TRUE(bmc.wait_until([](Machine& machine) {
    return std::ranges::any_of(machine.hardware().psus,
                               [](const Psu& psu) { return psu.firmware == "9.9"; });
  }));
}

TEST_F(UploadOverHttps, RefusesWhatIsLargerThanTheBmcTakes) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kCurl), "curl is not there");
  VirtualBmc bmc{"openbmc"};
  const auto file = folder.path() / "image.bin";
  ASSERT_TRUE(write_file(file.string(), "virtual firmware\n"));
  std::filesystem::resize_file(file, 209'715'200);  // the parts around it are too much

  const auto ran = push(bmc, file.string());

  EXPECT_THAT(ran.out, HasSubstr("\n413")) << ran.err;
  EXPECT_FALSE(last(bmc));
}

TEST_F(UploadOverHttps, IsResetAtItsByte) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kCurl), "curl is not there");
  VirtualBmc bmc{VirtualBmc::Options{
      .bmc = {.vendor = "dgx"}, .faults = {{.kind = FaultKind::upload_cut, .bytes = 300'000}}}};
  const auto file = (folder.path() / "image.bin").string();
  ASSERT_TRUE(write_file(file, image_of(1'000'000)));

  const auto ran = push(bmc, file);

  EXPECT_NE(ran.status, 0);
  EXPECT_FALSE(last(bmc));
}

TEST_F(UploadOverHttps, EndsWith401WhereTheSessionDiedMeanwhile) {
  VirtualBmc bmc{VirtualBmc::Options{
      .bmc = {.vendor = "dgx"}, .faults = {{.kind = FaultKind::session_dies, .bytes = 300'000}}}};
  Browser browser{bmc.endpoint()};
  const auto body = json::object{{"UserName", bmc.user()}, {"Password", bmc.password()}};
  auto session = browser.ask("POST", "/redfish/v1/SessionService/Sessions", json::serialize(body));
  browser.token = session.headers["x-auth-token"];
  const auto form =
      "--b\r\nContent-Disposition: form-data; name=\"UpdateParameters\"\r\n\r\n{}\r\n"
      "--b\r\nContent-Disposition: form-data; name=\"UpdateFile\"\r\n\r\n" +
      image_of(1'000'000) + "\r\n--b--\r\n";

  const auto ended = browser.ask("POST", "/redfish/v1/UpdateService/upload", form,
                                 {"Content-Type: multipart/form-data; boundary=b"});

  EXPECT_EQ(ended.status, 401);
  EXPECT_FALSE(last(bmc));
}

/// Somebody's server for images.
class ImageServer : public WebService {
 public:
  HttpResponse handle(const HttpRequest& request) override {
    if (request.target != "/secret/image.bin?x=1") return {.status = 404};
    return {.status = 200, .body = image};
  }
  std::string image = image_of(3'000'000);
};

class SimpleUpdateFrom : public BmcBench {
 public:
  SimpleUpdateFrom()
      : BmcBench{BmcSpec{.vendor = "dell"}, {}, 500},
        server{io.get_executor(),
               images,
               "images",
               *make_certificate("images", "127.0.0.1"),
               {asio::ip::address_v4::loopback(), 0}} {
    boot();
    EXPECT_TRUE(server.listen());
  }
  ~SimpleUpdateFrom() { server.stop(); }

  const Update& ends_with(const std::string& target) {
    const auto uri = "https://127.0.0.1:" + std::to_string(server.port()) + target;
    const json::object order{{"ImageURI", uri}, {"TransferProtocol", "HTTPS"}};
    const auto action = std::string{service.state().update_behavior.simple};
    EXPECT_EQ(ask("POST", action, json::serialize(order)).status, 202);
    EXPECT_TRUE(run_until([&] { return service.state().updates.all().back().is_over(); }));
    return service.state().updates.all().back();
  }
  ImageServer images;
  HttpsServer server;
};

TEST(SimpleUpdate, FetchesTheImageAndLooksAtWhatCame) {
  SimpleUpdateFrom bench;

  const auto& update = bench.ends_with("/secret/image.bin?x=1");

  EXPECT_EQ(update.stage, Update::Stage::done) << update.message;
  EXPECT_EQ(update.size, 3'000'000);
  EXPECT_EQ(update.sha256, sha256_hex(bench.images.image));
}

TEST(SimpleUpdate, FailsWhereTheImageIsNotThereOrIsDamaged) {
  SimpleUpdateFrom bench;

  EXPECT_EQ(bench.ends_with("/other.bin").message_id, "Update.1.0.TransferFailed");
  bench.images.image.pop_back();
  EXPECT_EQ(bench.ends_with("/secret/image.bin?x=1").message_id, "Update.1.0.VerificationFailed");
  bench.server.close();
  EXPECT_EQ(bench.ends_with("/secret/image.bin?x=1").message_id, "Update.1.0.TransferFailed");
}

TEST(LoopbackUri, IsFetchedFromThisMachineAlone) {
  EXPECT_TRUE(loopback_uri("http://127.0.0.1:8080/a?b"));
  EXPECT_EQ(loopback_uri("https://127.1.2.3")->target, "/");
  for (const auto* other : {"https://repository.example/x", "http://10.0.0.1/x", "ftp://127.0.0.1/",
                            "http://127.0.0.1:99999/", "http://127.0.0.1/a b", "http://", ""})
    EXPECT_FALSE(loopback_uri(other)) << other;
}

}  // namespace
}  // namespace cupel::rehearsal
