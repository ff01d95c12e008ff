// The boot server of a site, from the files that its inventory names.
#include "orchestrator/controller/boot_files.h"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <fstream>

#include "base/self_signed.h"
#include "inventory/boot.h"
#include "inventory/model.h"
#include "tests/orchestrator/netboot/fetch.h"
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
    // A key that others can read is refused.
    std::filesystem::permissions(folder_.path() / name, std::filesystem::perms{0600});
    return folder_.path() / name;
  }
  void serve_tls(std::chrono::hours certificate_lasts) {
    const auto made = put_certificate(certificate_lasts);
    inventory_.boot->key = put("site.key", made.key);
    inventory_.boot->ca = inventory_.boot->certificate;
  }
  SelfSignedCertificate put_certificate(std::chrono::hours lasts) {
    auto made = make_self_signed({"127.0.0.1"}, lasts).value();
    inventory_.boot->certificate = put("site.pem", made.certificate);
    return made;
  }
  /// Whether a machine that trusts the certificate in this file is answered.
  static bool is_trusted(const netboot::Ticket& ticket, const std::string& ca) {
    return test::fetch({.url = ticket.base_url + "ram.efi", .ca = ca}).status != 0;
  }
  std::shared_ptr<os::BootInterface> door() { return files_.door(); }

  test::TemporaryFolder folder_;
  inventory::Inventory inventory_{};
  asio::io_context io_;
  BootServers servers_;
  std::chrono::hours later_{};
  BootFiles files_{io_.get_executor(), inventory_, folder_.path(), servers_,
                   [this] { return seconds_now() + later_; }};
};

TEST_F(BootFilesOfASite, ServeByTlsWithACertificateThatHolds) {
  serve_tls(24h);

  EXPECT_THAT(door()->draw().value().base_url, ::testing::StartsWith("https://127.0.0.1:"));
  EXPECT_THAT(door()->ca.value(), HasSubstr("BEGIN CERTIFICATE"));
}

TEST_F(BootFilesOfASite, BootNoRamSystemThatWouldNotObeyThem) {
  const auto store = images::ImageStore::open(folder_.path() / "images").value();
  auto made = store.begin("ram-1").value();
  std::ofstream{made.folder() / "ram.efi"} << "program";
  ASSERT_TRUE(store.keep(std::move(made),
                         {.name = "ram-1",
                          .kind = images::ImageKind::ram,
                          .arch = "x86_64",
                          .https_only = true,
                          .boot_host = "127.0.0.1"},
                         {"ram.efi"}));

  const auto by_http = door()->ram_system("ram-1");
  serve_tls(24h);
  const auto by_https = door()->ram_system("ram-1");

  inventory_.boot->host = "127.0.0.2";
  const auto by_another_address = door()->ram_system("ram-1");

  ASSERT_FALSE(by_http);
  EXPECT_EQ(by_http.error().code, Code::kInvalid);
  EXPECT_THAT(by_http.error().what, HasSubstr("RAM system ram-1 was built with --ca"));
  EXPECT_THAT(by_http.error().what, HasSubstr("boot: {tls: {certificate, key, ca}}"));
  EXPECT_TRUE(by_https) << by_https.error().what;
  ASSERT_FALSE(by_another_address);
  EXPECT_THAT(by_another_address.error().what, HasSubstr("and boot: serve is 127.0.0.2"));
}

TEST_F(BootFilesOfASite, RefuseAKeyThatOthersCanRead) {
  serve_tls(24h);
  std::filesystem::permissions(inventory_.boot->key, std::filesystem::perms{0644});

  EXPECT_THAT(door()->draw().error().what, HasSubstr("site.key may be read by others"));
}

TEST_F(BootFilesOfASite, NameACertificateThatHasExpired) {
  serve_tls(-1h);

  const auto drawn = door()->draw();

  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().code, Code::kInvalid);
  EXPECT_THAT(drawn.error().what, AllOf(HasSubstr("site.pem"), HasSubstr("expired on 20")));
}

TEST_F(BootFilesOfASite, NameACertificateThatIsNotValidYet) {
  serve_tls(24h);

  later_ = -1h;

  const auto drawn = door()->draw();
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().code, Code::kInvalid);
  EXPECT_THAT(drawn.error().what, AllOf(HasSubstr("site.pem: valid from 20"),
                                        HasSubstr("this machine's clock says 20")));
}

TEST_F(BootFilesOfASite, NameACertificateThatExpiresWhileTheyServe) {
  serve_tls(24h);
  ASSERT_TRUE(door()->draw());
  ASSERT_TRUE(door()->check_certificate());

  later_ = 25h;

  const auto checked = door()->check_certificate();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::kInvalid);
  EXPECT_THAT(checked.error().what,
              AllOf(HasSubstr("boot: tls: certificate: "), HasSubstr("site.pem: expired on 20"),
                    HasSubstr("Renew it")));
  EXPECT_FALSE(door()->draw()) << "no machine is sent to a server that it rejects";
}

TEST_F(BootFilesOfASite, ServeByARenewedCertificateWithoutARestart) {
  serve_tls(24h);
  const auto before = door()->draw().value();
  const auto old_ca = put("old.pem", read_file(inventory_.boot->ca, 100'000).value());
  ASSERT_TRUE(is_trusted(before, old_ca));

  later_ = 25h;
  serve_tls(48h);

  const auto after = door()->draw();
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_TRUE(is_trusted(*after, inventory_.boot->ca));
  EXPECT_TRUE(is_trusted(before, inventory_.boot->ca)) << "a machine that boots already goes on";
  EXPECT_FALSE(is_trusted(before, old_ca));
}

TEST_F(BootFilesOfASite, TakeARenewedCertificateWhileAMachineIsWaitedFor) {
  serve_tls(24h);
  const auto ticket = door()->draw().value();
  ASSERT_TRUE(door()->open(ticket, {.machine = {.node = "n1"}}, netboot::BootStage::issued));

  serve_tls(48h);
  const auto waited = run_to_end(io_, door()->next(ticket.token, Deadline::in(1ms)));

  EXPECT_EQ(waited.error().code, Code::kTimeout);
  EXPECT_TRUE(is_trusted(ticket, inventory_.boot->ca));
}

TEST_F(BootFilesOfASite, KeepACertificateThatHoldsWhileItsFilesAreReplaced) {
  serve_tls(24h);
  const auto ticket = door()->draw().value();
  const auto old_ca = put("old.pem", read_file(inventory_.boot->ca, 100'000).value());

  const auto renewed = put_certificate(48h);  // its key is not there yet
  EXPECT_TRUE(door()->check_certificate());
  EXPECT_TRUE(is_trusted(ticket, old_ca));

  put("site.key", renewed.key);
  EXPECT_TRUE(door()->check_certificate());
  EXPECT_TRUE(is_trusted(ticket, inventory_.boot->certificate));
}

TEST_F(BootFilesOfASite, NameACaThatHasExpiredUnlessAnotherIsBesideIt) {
  serve_tls(24h);
  const auto holds = read_file(inventory_.boot->ca, 100'000).value();
  const auto expired = make_self_signed({"ca"}, -1h).value().certificate;
  inventory_.boot->ca = put("ca.pem", expired);

  const auto alone = door()->ca;
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().what,
              AllOf(HasSubstr("boot: tls: ca: "), HasSubstr("ca.pem: expired")));

  put("ca.pem", expired + holds);
  EXPECT_TRUE(door()->ca);
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
