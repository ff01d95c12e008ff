// The boot server of a site, from the files that its inventory names.
#include "orchestrator/controller/boot_files.h"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <fstream>

#include "base/self_signed.h"
#include "tests/support/captures.h"

namespace cupel::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class BootFilesOfASite : public ::testing::Test {
 protected:
  BootFilesOfASite() {
    std::filesystem::create_directories(folder_.path() / "images");
    inventory_.boot = inventory::BootSite{.host = "127.0.0.1"};
  }
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream{folder_.path() / name} << text;
    return folder_.path() / name;
  }
  void serve_tls(std::chrono::hours certificate_lasts) {
    const auto made = make_self_signed({"127.0.0.1"}, certificate_lasts).value();
    inventory_.boot->certificate = put("site.pem", made.certificate);
    inventory_.boot->key = put("site.key", made.key);
    inventory_.boot->ca = inventory_.boot->certificate;
  }
  std::shared_ptr<os::BootDoor> door() { return files_.door(); }

  test::TemporaryFolder folder_;
  inventory::Inventory inventory_{};
  asio::io_context io_;
  BootServers servers_;
  BootFiles files_{io_.get_executor(), inventory_, folder_.path(), servers_};
};

TEST_F(BootFilesOfASite, ServeByTlsWithACertificateThatHolds) {
  serve_tls(24h);

  EXPECT_THAT(door()->draw().value().base_url, ::testing::StartsWith("https://127.0.0.1:"));
  EXPECT_THAT(door()->ca.value(), HasSubstr("BEGIN CERTIFICATE"));
}

TEST_F(BootFilesOfASite, NameACertificateThatHasExpired) {
  serve_tls(-1h);

  const auto drawn = door()->draw();

  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().code, Code::kInvalid);
  EXPECT_THAT(drawn.error().what, AllOf(HasSubstr("site.pem"), HasSubstr("expired on 20")));
}

TEST_F(BootFilesOfASite, NameACaThatCannotBeRead) {
  serve_tls(24h);
  inventory_.boot->ca = folder_.path() / "absent.pem";
  EXPECT_FALSE(door()->ca);

  inventory_.boot->ca = put("empty.pem", "");
  ASSERT_FALSE(door()->ca);
  EXPECT_THAT(door()->ca.error().what, HasSubstr("empty.pem"));
}

}  // namespace
}  // namespace cupel::controller
