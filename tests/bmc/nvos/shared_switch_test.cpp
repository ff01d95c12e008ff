// The project's own stand-in for a switch, which shares no code with ours and has faults of its
// own; it lies beside the checkout.
#include "bmc/nvos/changes.h"
#include "bmc/nvos/facts.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captures.h"
#include "tests/support/certificate.h"
#include "tests/support/child.h"
#include "tests/support/free_port.h"
#include "tests/support/real_part.h"

namespace cupel::bmc {
namespace {

constexpr const char* kProgram = SOURCE_DIR "/../shared/nvl72/fake_nvue.py";

class SharedSwitch : public ::testing::Test {
 protected:
  /// False: it is not there, and the test is over.
  bool start(const std::string& faults) {
    if (!std::filesystem::exists(kProgram)) return false;
    port_ = test::free_port();
    // Made here: the program's own would be an RSA key by a program that is started for it.
    const auto own = test::make_certificate();
    const auto certificate = folder_.path() / "own.pem", key = folder_.path() / "own.key";
    EXPECT_TRUE(write_file(certificate, own.certificate_pem));
    EXPECT_TRUE(write_file(key, own.key_pem));
    program_.emplace(std::vector<std::string>{
        "python3", kProgram, "--port", std::to_string(port_), "--apply-seconds", "0",
        "--start-seconds", "0", "--install-seconds", "0", "--reboot-seconds", "0", "--cert",
        certificate.string(), "--key", key.string(), "--fault", faults});
    EXPECT_TRUE(program_->wait_for("ready", std::chrono::seconds{300}))
        << program_->wait(std::chrono::seconds{0}).err;
    return true;
  }
  void TearDown() override {
    if (!program_) return;
    program_->signal(SIGKILL);
    program_->wait();
  }
  nvos::Nvue nvue() {
    return {transport_,
            {.node = "a01/switch1", .endpoint = {"127.0.0.1", port_}, .trust = {}, .known = &keys_},
            "admin",
            password_from(password_)};
  }
  template <class T>
  T run(Task<T> task) {
    return run_to_end(io_, std::move(task));
  }
  static Deadline soon() { return Deadline::in(60s); }
  static constexpr nvos::Pace kPace{std::chrono::milliseconds{20}};

  asio::io_context io_;
  redfish::Transport transport_{io_.get_executor()};
  RememberedKeys keys_;
  std::string password_ = "secret1";
  test::TemporaryFolder folder_;
  std::optional<testing::Child> program_;
  std::uint16_t port_ = 0;
};
#define CUPEL_START_SWITCH(faults) \
  CUPEL_NEEDS_REAL_PART(start(faults), "no " << kProgram << " beside the checkout")

TEST_F(SharedSwitch, IsTurnedOnConfiguredAndStopped) {
  CUPEL_START_SWITCH("");
  auto one = nvue();

  const auto on = run(nvos::set_cluster(one, true, kPace, soon()));
  ASSERT_TRUE(on) << on.error().what;
  EXPECT_TRUE(on->changed);
  const auto before = run(nvos::read_app(one, "nmx-controller", soon()));
  ASSERT_TRUE(before && *before);
  EXPECT_EQ((*before)->control_plane, "CONTROL_PLANE_STATE_UNCONFIGURED");
  const auto again = run(nvos::set_cluster(one, true, kPace, soon()));
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_FALSE(again->changed) << "config apply executed with no config diff";
  const auto stopped = run(nvos::stop_app(one, "nmx-controller", kPace, soon()));
  ASSERT_TRUE(stopped) << stopped.error().what;
  const auto after = run(nvos::read_app(one, "nmx-controller", soon()));
  ASSERT_TRUE(after && *after);
  EXPECT_EQ((*after)->reason, "stopped by user");
}

TEST_F(SharedSwitch, SaysWhereItIsAndWhatItRuns) {
  CUPEL_START_SWITCH("");
  auto one = nvue();

  const auto place = run(nvos::read_place(one, soon()));
  const auto images = run(nvos::read_images(one, soon()));
  const auto partitions = run(nvos::read_partitions(one, soon()));
  const auto firmware = run(nvos::read_firmware(one, soon()));

  ASSERT_TRUE(place && images && partitions && firmware);
  EXPECT_EQ(place->slot, 11);
  EXPECT_EQ(images->running(), "nvos-25.02.2344");
  EXPECT_EQ(partitions->at(0).gpus, 72);
  EXPECT_EQ(firmware->at("ASIC1"), "35.2014.4652");
}

TEST_F(SharedSwitch, SaysNothingOfItsPlaceWhereItDoesNotKnowIt) {
  CUPEL_START_SWITCH("location-missing");
  auto one = nvue();

  const auto place = run(nvos::read_place(one, soon()));

  ASSERT_TRUE(place);
  EXPECT_EQ(place->slot, std::nullopt);
  EXPECT_EQ(place->chassis_serial, "");
}

TEST_F(SharedSwitch, FailsWithItsWordsWhereItCannotApply) {
  CUPEL_START_SWITCH("apply-fail");
  auto one = nvue();

  const auto on = run(nvos::set_cluster(one, true, kPace, soon()));

  ASSERT_FALSE(on);
  EXPECT_THAT(on.error().what, HasSubstr("simulated failure"));
}

TEST_F(SharedSwitch, AnswersEveryQuestionWithYes) {
  CUPEL_START_SWITCH("ays");
  auto one = nvue();

  EXPECT_TRUE(run(nvos::set_cluster(one, true, kPace, soon())));
}

TEST_F(SharedSwitch, InstallsAnImageThoughItsActionEndsAsAnErrorThatTellsOfAReboot) {
  CUPEL_START_SWITCH("action-error-reboot");
  auto one = nvue();

  const auto fetched = run(nvos::fetch_image(one, "scp://h/nvos-25.02.4282.bin", kPace, soon()));
  ASSERT_TRUE(fetched) << fetched.error().what;
  const auto installed = run(nvos::install_image(one, "nvos-25.02.4282.bin", true, kPace, soon()));

  ASSERT_TRUE(installed) << installed.error().what;
  EXPECT_TRUE(installed->reboots);
}

TEST_F(SharedSwitch, GetsAnotherPasswordThanTheFactorys) {
  CUPEL_START_SWITCH("login-default");
  auto old_one = nvue();
  EXPECT_THAT(run(old_one.get("cluster", soon())).error().what, HasSubstr("log in to it once"));
  const std::string fresh = "another secret";
  nvos::Nvue new_one{
      transport_,
      {.node = "a01/switch1", .endpoint = {"127.0.0.1", port_}, .trust = {}, .known = &keys_},
      "admin",
      password_from(fresh)};

  const auto changed = run(nvos::set_password(old_one, new_one, "admin", fresh, kPace, soon()));

  ASSERT_TRUE(changed) << changed.error().what;
  EXPECT_TRUE(run(new_one.get("cluster", soon())));
}

TEST_F(SharedSwitch, ReportsALeakTwice) {
  CUPEL_START_SWITCH("leak");
  auto one = nvue();

  const auto health = run(nvos::read_health(one, soon()));
  const auto leakage = run(nvos::read_leakage(one, soon()));

  ASSERT_TRUE(health && leakage);
  EXPECT_EQ(health->issues.at("LEAKAGE-1"), "detected leakage");
  EXPECT_EQ(leakage->at("LEAKAGE-1"), "leak");
}

TEST_F(SharedSwitch, KnowsNoAppWhileItsClusterIsOffOnSomeVersions) {
  CUPEL_START_SWITCH("apps-hidden");
  auto one = nvue();

  const auto app = run(nvos::read_app(one, "nmx-controller", soon()));

  ASSERT_TRUE(app) << app.error().what;
  EXPECT_FALSE(app->has_value());
}

TEST_F(SharedSwitch, CountsThePartitionsGpusAsATextWhereItIsDegraded) {
  CUPEL_START_SWITCH("partition-degraded");
  auto one = nvue();

  const auto partitions = run(nvos::read_partitions(one, soon()));

  ASSERT_TRUE(partitions);
  EXPECT_EQ(partitions->at(0).gpus, 71);
  EXPECT_EQ(partitions->at(0).health, "degraded");
}

}  // namespace
}  // namespace cupel::bmc
