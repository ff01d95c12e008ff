// Updates against a server that others wrote: that of fwupd's own tests of its Redfish plugin, with
// the answers that its authors took from real BMCs. Debian has it in fwupd's sources.
#include <cstdlib>

#include "base/file.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captures.h"
#include "tests/support/certificate.h"
#include "tests/support/child.h"
#include "tests/support/image_file.h"
#include "tests/support/real_part.h"

namespace cupel::bmc {
namespace {

using State = UpdateProgress::State;

/// scripts/setup.sh puts it there.
std::filesystem::path fwupds_server() {
  const char* reported = std::getenv("CUPEL_FWUPD_SERVER");
  return reported == nullptr ? "/var/cache/cupel-tests/fwupd-redfish.py" : reported;
}

class FwupdServer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(fwupds_server()))
      GTEST_SKIP() << fwupds_server() << " is not there: scripts/setup.sh takes it from Debian's "
                   << "sources of fwupd";
    const auto certificate = test::make_certificate();
    ASSERT_TRUE(write_file(folder_.path() / "certificate", certificate.certificate_pem, 0600));
    ASSERT_TRUE(write_file(folder_.path() / "key", certificate.key_pem, 0600));
    server_.emplace(std::vector<std::string>{"/usr/bin/python3",
                                             SOURCE_DIR "/tests/bmc/serve_fwupd.py",
                                             fwupds_server().string(), folder_.path().string()});
    ASSERT_TRUE(server_->wait_for("ready\n")) << server_->wait(0s).err;
    std::ifstream{folder_.path() / "port"} >> port_;
  }
  void TearDown() override {
    if (!server_) return;
    server_->signal(SIGKILL);
    server_->wait();
  }

  /// One that logs in as this user, by which the server tells whose BMC it is.
  std::unique_ptr<Bmc> open(const std::string& user) {
    return redfish::open(
        transport_, "a01-n01",
        {.endpoint = {"127.0.0.1", port_}, .user = user, .password = {}, .trust = {}},
        password_from(password_), keys_);
  }
  template <class T>
  T run(Task<T> task) {
    return run_to_end(io_, std::move(task));
  }
  static Deadline soon() { return Deadline::in(60s); }
  /// What it says, poll by poll, until it no longer runs.
  std::vector<UpdateProgress> followed(Bmc& bmc, const UpdateTicket& ticket) {
    std::vector<UpdateProgress> seen;
    while (seen.size() < 10) {
      auto now = run(bmc.update.progress(ticket, soon()));
      EXPECT_TRUE(now) << now.error().what;
      if (!now) break;
      seen.push_back(*now);
      if (now->state != State::running) break;
    }
    return seen;
  }

  asio::io_context io_;
  redfish::Transport transport_{io_.get_executor()};
  RememberedKeys keys_;
  std::string password_ = "password2";
  test::TemporaryFolder folder_;
  std::optional<testing::Child> server_;
  std::uint16_t port_ = 0;
};

UpdateOrder of_bmc(const test::ImageFile& image) {
  auto order = image.order("bmc");
  order.name = "firmware.exe";
  order.targets = {"/redfish/v1/UpdateService/FirmwareInventory/BMC"};
  order.apply = ApplyTime::immediate;
  return order;
}

TEST_F(FwupdServer, TakesAFormAndItsTaskAsksForAReset) {
  const test::ImageFile image{"hello"};
  const auto bmc = open("username2");

  const auto service = run(bmc->update.service(soon()));
  const auto ticket = run(bmc->update.push(of_bmc(image), soon()));

  ASSERT_TRUE(service) << service.error().what;
  EXPECT_THAT(service->ways, ::testing::ElementsAre("multipart", "push"));
  ASSERT_TRUE(ticket) << ticket.error().what;
  EXPECT_EQ(*ticket, (UpdateTicket{"multipart", "/redfish/v1/TaskService/Tasks/545"}));
  const auto seen = followed(*bmc, *ticket);
  ASSERT_EQ(seen.size(), 5u);
  EXPECT_EQ(seen.front().percent, 0);
  EXPECT_EQ(seen[3].percent, 75);
  EXPECT_EQ(seen.back().state, State::needs_reset);
  // Asked once too often, its task has failed: what was over is not looked at again.
  const auto later = run(bmc->update.progress(*ticket, soon()));
  ASSERT_TRUE(later) << later.error().what;
  EXPECT_EQ(later->state, State::failed);
  EXPECT_THAT(later->message, HasSubstr("Error verifying image"));
}

TEST_F(FwupdServer, RefusesAnImageOfAnother) {
  const test::ImageFile image{"not hello"};
  const auto bmc = open("username2");

  const auto ticket = run(bmc->update.push(of_bmc(image), soon()));

  ASSERT_FALSE(ticket);
  EXPECT_THAT(ticket.error().what, HasSubstr("data invalid"));
}

TEST_F(FwupdServer, AsSupermicroVerifiesBeforeItInstalls) {
  const test::ImageFile image{"hello"};
  auto order = image.order();
  order.targets = {"/redfish/v1/Systems/1/Bios"};
  const auto bmc = open("smc_username");

  const auto verify = run(bmc->update.push(order, soon()));

  ASSERT_TRUE(verify) << verify.error().what;
  EXPECT_EQ(*verify, (UpdateTicket{"verify", "/redfish/v1/TaskService/Tasks/546"}));
  EXPECT_EQ(followed(*bmc, *verify).back().state, State::verified);
  const auto install = run(bmc->update.go_on(*verify, soon()));
  ASSERT_TRUE(install) << install.error().what;
  EXPECT_EQ(install->task, "/redfish/v1/TaskService/Tasks/546");
  EXPECT_EQ(followed(*bmc, *install).back().state, State::done);
}

TEST_F(FwupdServer, AsSupermicroIsBusyWithAnotherUpdate) {
  const test::ImageFile image{"stuck"};
  auto order = image.order();
  order.targets = {"/redfish/v1/Systems/1/Bios"};
  const auto bmc = open("smc_username");

  const auto ticket = run(bmc->update.push(order, soon()));

  ASSERT_FALSE(ticket);
  EXPECT_EQ(ticket.error().code, Code::kBusy);
  EXPECT_THAT(ticket.error().what, HasSubstr("OemFirmwareAlreadyInUpdateMode"));
}

TEST_F(FwupdServer, AsHpeTakesAFormWithItsSessionAndSaysItsOwnState) {
  const test::ImageFile image{"hello"};
  const auto bmc = open("hpe_username");

  const auto ticket = run(bmc->update.push(image.order(), soon()));

  ASSERT_TRUE(ticket) << ticket.error().what;
  EXPECT_EQ(*ticket, (UpdateTicket{"form", ""}));
  const auto seen = followed(*bmc, *ticket);
  EXPECT_EQ(seen.back().state, State::done);
  EXPECT_EQ(seen.back().reported, "Complete");
}

}  // namespace
}  // namespace cupel::bmc
