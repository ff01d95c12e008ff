// Images over HTTP and HTTPS, fetched by curl as BMCs and machines fetch them.
#include "orchestrator/images/image_server.h"

#include <curl/curl.h>
#include <gmock/gmock.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>

#include "base/digest.h"
#include "base/file.h"
#include "orchestrator/controller/firmware_images.h"
#include "orchestrator/images/byte_range.h"
#include "tests/support/captures.h"
#include "tests/support/certificate.h"

namespace cupel::images {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Fetched {
  long status = 0;
  std::string head{}, body{};
};

std::size_t keep(char* bytes, std::size_t size, std::size_t count, void* into) {
  static_cast<std::string*>(into)->append(bytes, size * count);
  return size * count;
}

Fetched fetch(const std::string& url, const char* range = nullptr, const char* method = nullptr,
              const std::string& ca = {}) {
  Fetched fetched;
  const std::unique_ptr<CURL, void (*)(CURL*)> curl{curl_easy_init(), curl_easy_cleanup};
  auto* handle = curl.get();
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_TIMEOUT, 60L);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, keep);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &fetched.body);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, keep);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &fetched.head);
  if (range != nullptr) curl_easy_setopt(handle, CURLOPT_RANGE, range);
  if (method != nullptr) curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method);
  if (!ca.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, ca.c_str());
  if (curl_easy_perform(handle) == CURLE_OK)
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &fetched.status);
  return fetched;
}

class ImageServing : public ::testing::Test {
 protected:
  ImageServing() {
    for (int i = 0; i < 300'000; ++i) content += static_cast<char>(i * 7 + i / 251);
    std::ofstream{file, std::ios::binary} << content;
  }

  void start(ImageServerOptions options = {}) {
    options.endpoint = {asio::ip::make_address("127.0.0.1"), 0};
    auto started = ImageServer::start(io.get_executor(), std::move(options),
                                      [this](Access access) { log.push_back(std::move(access)); });
    ASSERT_TRUE(started) << started.error().what;
    server = *std::move(started);
  }
  std::string granted(Grant grant) {
    grant.file = file;
    grant.name = "bios.bin";
    return server->grant(std::move(grant)).value();
  }

  test::TemporaryFolder folder{};
  std::string file = folder.path() / "image";
  std::string content{};
  asio::io_context io{};
  std::vector<Access> log{};
  std::unique_ptr<ImageServer> server{};
};

TEST_F(ImageServing, SendsTheWholeFileAndAnyPartOfIt) {
  start();
  const auto url = granted({});

  EXPECT_THAT(url, StartsWith("http://127.0.0.1:"));
  EXPECT_EQ(fetch(url).body, content);
  const auto part = fetch(url, "1000-1999");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, content.substr(1000, 1000));
  EXPECT_THAT(part.head, HasSubstr("Content-Range: bytes 1000-1999/300000"));
  EXPECT_EQ(fetch(url, "-10").body, content.substr(content.size() - 10));
  EXPECT_EQ(fetch(url, "300000-").status, 416);
}

TEST_F(ImageServing, OverTlsTheSame) {
  const auto certificate = test::make_certificate();
  start({.certificate = certificate.certificate_pem, .key = certificate.key_pem});
  const std::string ca = folder.path() / "ca.pem";
  std::ofstream{ca} << certificate.certificate_pem;
  const auto url = granted({});

  EXPECT_THAT(url, StartsWith("https://"));
  EXPECT_EQ(fetch(url, nullptr, nullptr, ca).body, content);
  EXPECT_EQ(fetch(url, "5-9", nullptr, ca).body, content.substr(5, 5));
}

TEST_F(ImageServing, KnowsNothingButWhatWasGranted) {
  start();
  const auto url = granted({});
  const auto base = url.substr(0, url.find('/', 8));

  EXPECT_EQ(fetch(base + "/").status, 404);
  EXPECT_EQ(fetch(base + "/bios.bin").status, 404);
  EXPECT_EQ(fetch(url + "x").status, 404);
  EXPECT_EQ(fetch(base + "/../../etc/passwd").status, 404);
  EXPECT_EQ(fetch(url, nullptr, "DELETE").status, 405);
  EXPECT_NE(granted({}), url);
}

TEST_F(ImageServing, OnePeerHasAShareOfItsConnections) {
  start({.connections_per_peer = 1});
  const auto url = granted({});
  const auto port = server->port();
  asio::ip::tcp::socket open{io};
  open.connect({asio::ip::make_address("127.0.0.1"), port});
  asio::write(open, asio::buffer(std::string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n"}));
  std::array<char, 1> first{};
  asio::read(open, asio::buffer(first));

  EXPECT_EQ(fetch(url).status, 0);
}

TEST_F(ImageServing, AUrlEndsAndIsOnePeersAlone) {
  start();
  const auto late = granted({.lifetime = 0s});
  const auto others = granted({.peer = asio::ip::make_address("10.0.0.9")});
  const auto taken_back = granted({});
  server->revoke(taken_back);

  EXPECT_EQ(fetch(late).status, 404);
  EXPECT_EQ(fetch(others).status, 404);
  EXPECT_EQ(fetch(taken_back).status, 404);
}

TEST_F(ImageServing, ServesNoLinkFolderOrStrangeName) {
  start();
  std::filesystem::create_symlink(file, folder.path() / "link");

  EXPECT_EQ(server->grant({.file = folder.path() / "link", .name = "a"}).error().code,
            Code::kInvalid);
  EXPECT_EQ(server->grant({.file = folder.path(), .name = "a"}).error().code, Code::kInvalid);
  EXPECT_EQ(server->grant({.file = folder.path() / "no", .name = "a"}).error().code,
            Code::kNotFound);
  for (const auto* name : {"", "a/b", "..", ".a", "a b", "a\r\nX: y"})
    EXPECT_EQ(server->grant({.file = file, .name = name}).error().code, Code::kInvalid) << name;
}

TEST_F(ImageServing, WhatIsPutInTheFilesPlaceLaterIsNotServed) {
  start();
  const auto url = granted({});
  std::filesystem::rename(file, file + ".old");
  std::ofstream{file} << "another";

  EXPECT_EQ(fetch(url).body, content);
}

TEST_F(ImageServing, AFileThatItsDiskLosesCutsItsOwnTransferAndNoOther) {
  start();
  const auto lost = granted({});
  const auto other = folder.path() / "other";
  std::ofstream{other, std::ios::binary} << content;
  const auto whole = server->grant({.file = other.string(), .name = "other.bin"}).value();
  std::filesystem::resize_file(file, 1000);

  const auto cut = fetch(lost);
  const auto good = fetch(whole);

  EXPECT_NE(cut.status, 200) << "the transfer did not end as a whole one";
  EXPECT_LE(cut.body.size(), 1000u);
  EXPECT_EQ(good.status, 200);
  EXPECT_EQ(good.body, content);
}

/// A disk that returns nothing of one file until it is let go.
class HungDisk {
 public:
  explicit HungDisk(std::string file) : file_{std::move(file)} {}
  ~HungDisk() { let_go(); }

  DiskThreads::Read reader() {
    return
        [gate = gate_, hung = file_](const OpenFile& file, std::uint64_t offset, std::size_t size) {
          if (file.path() == hung) gate->wait();
          return file.read(offset, size);
        };
  }
  void let_go() { gate_->open(); }
  std::size_t waiting() const { return gate_->count(); }
  void wait_for_read() { gate_->wait_for_one(); }

 private:
  struct Gate {
    std::mutex mutex{};
    std::condition_variable news{};
    bool is_open = false;
    std::size_t waiting = 0;
    void wait() {
      std::unique_lock lock{mutex};
      ++waiting;
      news.notify_all();
      news.wait(lock, [this] { return is_open; });
    }
    void open() {
      const std::lock_guard lock{mutex};
      is_open = true;
      news.notify_all();
    }
    std::size_t count() {
      const std::lock_guard lock{mutex};
      return waiting;
    }
    void wait_for_one() {
      std::unique_lock lock{mutex};
      news.wait(lock, [this] { return waiting > 0; });
    }
  };
  std::string file_;
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

TEST_F(ImageServing, ReadsThatHangEndTheirOwnTransfersAndHoldNoOthers) {
  for (const bool encrypted : {false, true}) {
    HungDisk disk{file};
    const auto certificate = test::make_certificate();
    ImageServerOptions options{.disk = {.of_one_file = 2, .patience = 1s}, .read = disk.reader()};
    std::string ca;
    if (encrypted) {
      options.certificate = certificate.certificate_pem;
      options.key = certificate.key_pem;
      ca = folder.path() / "ca.pem";
      std::ofstream{ca} << certificate.certificate_pem;
    }
    start(std::move(options));
    const auto hung = granted({});
    const auto other = folder.path() / "other";
    std::ofstream{other, std::ios::binary} << content;
    const auto whole = server->grant({.file = other.string(), .name = "other.bin"}).value();

    std::vector<std::future<Fetched>> stuck;
    for (int i = 0; i < 8; ++i)
      stuck.push_back(std::async(std::launch::async, [&] { return fetch(hung, {}, {}, ca); }));
    const auto good = fetch(whole, nullptr, nullptr, ca);

    EXPECT_EQ(good.status, 200);
    EXPECT_EQ(good.body, content);
    for (auto& one : stuck) {
      const auto ended = one.get();
      EXPECT_NE(ended.status, 200) << "it did not end as a whole one";
      EXPECT_EQ(ended.body, "");
    }
    EXPECT_LE(disk.waiting(), 2u) << "the file has no more threads than are its own";
    EXPECT_EQ(fetch(whole, nullptr, nullptr, ca).body, content);
    disk.let_go();
    EXPECT_EQ(fetch(hung, nullptr, nullptr, ca).body, content) << "the disk is back";
  }
}

TEST_F(ImageServing, EndsWhileAReadHangs) {
  HungDisk disk{file};
  start({.read = disk.reader()});
  const auto url = granted({});
  auto stuck = std::async(std::launch::async, [&] { return fetch(url); });
  disk.wait_for_read();

  server.reset();

  EXPECT_NE(stuck.get().status, 200);
  disk.let_go();
}

TEST_F(ImageServing, SaysWhoFetchedWhatWithoutTheSecretOfTheUrl) {
  start();
  fetch(granted({}), "0-99");
  // What the server tells comes over this loop, from a thread of its own.
  const auto stays = asio::make_work_guard(io);
  const auto deadline = Deadline::in(60s);
  while (log.empty() && !deadline.passed()) io.run_one_for(deadline.left());

  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].url, "bios.bin");
  EXPECT_EQ(log[0].peer, "127.0.0.1");
  EXPECT_EQ(log[0].status, 206);
  EXPECT_EQ(log[0].bytes, 100u);
  EXPECT_TRUE(log[0].whole);
}

TEST_F(ImageServing, WhatIsGrantedOverOneProtocolIsNotAnsweredOverTheOther) {
  const auto certificate = test::make_certificate();
  start({.certificate = certificate.certificate_pem, .key = certificate.key_pem});
  const std::string ca = folder.path() / "ca.pem";
  std::ofstream{ca} << certificate.certificate_pem;
  const auto encrypted = granted({}), plain = granted({.plain = true});
  const auto by = [](const std::string& scheme, const std::string& url) {
    return scheme + url.substr(url.find("://"));
  };

  EXPECT_THAT(plain, StartsWith("http://127.0.0.1:" + std::to_string(server->port())));
  EXPECT_EQ(fetch(encrypted, nullptr, nullptr, ca).body, content);
  EXPECT_EQ(fetch(plain).body, content);
  EXPECT_EQ(fetch(by("http", encrypted)).status, 404);
  EXPECT_EQ(fetch(by("https", plain), nullptr, nullptr, ca).status, 404);
  server->revoke(plain);
  EXPECT_EQ(fetch(plain).status, 404);
}

TEST_F(ImageServing, AnImageOfFirmwareThatIsRewrittenInPlaceIsServedAsItWasChecked) {
  inventory::ImageTrust trust;
  trust.serve = inventory::Endpoint{"127.0.0.1", 0};
  trust.only_http = true;
  controller::FirmwareImages images{io.get_executor(), trust, folder.path() / "state"};
  controller::FirmwareImages later{io.get_executor(), trust, folder.path() / "state"};
  const bmc::UpdateOrder order{.file = file, .name = "bios.bin", .sha256 = sha256_hex(content)};
  const auto serve = [&](controller::FirmwareImages& by) {
    return run_to_end(io, by.serve(order, {}, Deadline::in(std::chrono::seconds{60})));
  };
  const auto url = serve(images);
  ASSERT_TRUE(url) << url.error().what;

  std::ofstream{file} << std::string(content.size(), 'x');

  EXPECT_EQ(fetch(*url).body, content);
  const auto refused = serve(later);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUntrusted);
}

TEST_F(ImageServing, ABmcIsShownTheCertificateThatTheSiteHasByNow) {
  inventory::ImageTrust trust;
  trust.serve = inventory::Endpoint{"127.0.0.1", 0};
  trust.certificate = folder.path() / "site.pem";
  trust.certificate_key = folder.path() / "site.key";
  controller::FirmwareImages images{io.get_executor(), trust, folder.path() / "state"};
  const bmc::UpdateOrder order{.file = file, .name = "bios.bin", .sha256 = sha256_hex(content)};
  const auto serve = [&] {
    return run_to_end(io, images.serve(order, {"HTTPS"}, Deadline::in(std::chrono::seconds{60})));
  };
  const auto write = [&](const test::SelfSigned& certificate) {
    EXPECT_TRUE(write_file(trust.certificate, certificate.certificate_pem, 0600));
    EXPECT_TRUE(write_file(trust.certificate_key, certificate.key_pem, 0600));
  };

  const auto without = serve();
  write(test::make_certificate());
  const auto first = serve();
  write(test::make_certificate());
  const auto second = serve();

  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().what, HasSubstr("firmware: the certificate of serve:"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(fetch(*second, nullptr, nullptr, trust.certificate).body, content);
}

TEST_F(ImageServing, AnAddressThatIsTakenIsSaid) {
  start();
  const auto second = ImageServer::start(
      io.get_executor(), {.endpoint = {asio::ip::make_address("127.0.0.1"), server->port()}});

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
}

/// From the check of an image to the BMC that fetches it.
TEST_F(ImageServing, AnImageOfFirmwareIsServedFromWhereTheInventorySaysUntilItsUpdateEnds) {
  controller::FirmwareImages none{io.get_executor(), std::nullopt, folder.path()};
  inventory::ImageTrust trust;
  trust.serve = inventory::Endpoint{"127.0.0.1", 0};
  trust.only_http = true;
  controller::FirmwareImages images{io.get_executor(), trust, folder.path() / "state"};
  const bmc::UpdateOrder order{
      .file = file, .name = "BIOS (2.4).bin", .sha256 = sha256_hex(content)};
  const auto serve = [&](const bmc::UpdateOrder& requested) {
    return run_to_end(io, images.serve(requested, {}, Deadline::in(std::chrono::seconds{60})));
  };

  const auto url = serve(order);
  const auto other = serve(order);

  EXPECT_FALSE(none.serves());
  EXPECT_TRUE(images.serves());
  ASSERT_TRUE(url && other);
  EXPECT_NE(*url, *other);
  EXPECT_THAT(*url, ::testing::EndsWith("/BIOS--2.4-.bin"));
  EXPECT_EQ(fetch(*url).body, content);
  images.serve_no_more(*url);
  EXPECT_EQ(fetch(*url).status, 404);
  EXPECT_EQ(fetch(*other).status, 200);
}

TEST_F(ImageServing, ABmcFetchesTheBytesThatWereHashedWhateverBecomesOfTheFile) {
  inventory::ImageTrust trust;
  trust.serve = inventory::Endpoint{"127.0.0.1", 0};
  trust.only_http = true;
  controller::FirmwareImages images{io.get_executor(), trust, folder.path() / "state"};
  const bmc::UpdateOrder order{.file = file, .name = "bios.bin", .sha256 = sha256_hex(content)};
  const auto serve = [&] {
    return run_to_end(io, images.serve(order, {}, Deadline::in(std::chrono::seconds{60})));
  };

  const auto url = serve();
  // In place: the same inode, as an attacker who may write to it would.
  std::fstream{file, std::ios::in | std::ios::out | std::ios::binary} << "66.66.66";
  const auto same_copy = serve();
  ASSERT_TRUE(url && same_copy);

  EXPECT_EQ(fetch(*url).body, content);
  EXPECT_EQ(fetch(*same_copy).body, content);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "state" / "served"));
  images.serve_no_more(*url);
  images.serve_no_more(*same_copy);
  const auto changed = serve();
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, Code::kUntrusted);
}

TEST(ByteRanges, AreReadAsTheStandardSays) {
  using enum RangeAnswer;
  const auto bytes = [](std::string_view field) { return requested_range(field, 1000).bytes; };
  EXPECT_EQ(bytes("bytes=0-499"), (ByteRange{0, 500}));
  EXPECT_EQ(bytes("bytes=500-"), (ByteRange{500, 500}));
  EXPECT_EQ(bytes("bytes=-200"), (ByteRange{800, 200}));
  EXPECT_EQ(bytes("bytes=-2000"), (ByteRange{0, 1000}));
  EXPECT_EQ(bytes("bytes=999-18446744073709551615"), (ByteRange{999, 1}));
  for (const auto* whole : {"", "items=0-1", "bytes=", "bytes=-", "bytes=5-4", "bytes=0-1,5-6",
                            "bytes=a-b", "bytes=99999999999999999999-"})
    EXPECT_EQ(requested_range(whole, 1000).answer, RangeAnswer::whole) << whole;
  EXPECT_EQ(requested_range("bytes=1000-", 1000).answer, unsatisfiable);
  EXPECT_EQ(requested_range("bytes=-0", 1000).answer, unsatisfiable);
  EXPECT_EQ(requested_range("bytes=0-", 0).answer, unsatisfiable);
}

}  // namespace
}  // namespace cupel::images
