// A real machine behind a virtual BMC: what ipmitool and curl ask of the BMC happens to a QEMU
// process, and what happens to the process is what they are given.
#include "tests/support/qemu/qemu_system.h"

#include <signal.h>

#include <boost/asio/ip/address_v4.hpp>

#include "base/file.h"
#include "rehearsal/bmc/server.h"
#include "tests/rehearsal/served_bmc.h"
#include "tests/rehearsal/terminal.h"

namespace cupel::rehearsal {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;

class QemuTest : public ::testing::Test {
 protected:
  static constexpr const char* kUser = "admin";
  static constexpr const char* kPassword = "correct-horse-20byte";

  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(std::filesystem::exists(program_of({})), "QEMU is not there");
    CUPEL_NEEDS_REAL_PART(installed("ipmitool"), "ipmitool is not there");
    ASSERT_TRUE(ipmi.listen());
    ASSERT_TRUE(https.listen());
    thread = std::thread{[this] { io.run(); }};
  }
  void TearDown() override {
    if (!thread.joinable()) return;
    asio::post(io, [this] {
      ipmi.stop();
      https.stop();
      work.reset();
      system.press(Reset::force_off);
    });
    thread.join();  // with the process, which it waits for
  }

  cupel::testing::Ran ipmitool(const std::vector<std::string>& words) {
    return cupel::testing::run(ipmitool_line(words), {std::string{"IPMI_PASSWORD="} + kPassword},
                               std::chrono::seconds{60});
  }
  std::vector<std::string> ipmitool_line(const std::vector<std::string>& words) {
    std::vector<std::string> line{
        "ipmitool", "-I",  "lanplus", "-H", "127.0.0.1", "-p", std::to_string(ipmi.port()),
        "-U",       kUser, "-E",      "-C", "17"};
    line.insert(line.end(), words.begin(), words.end());
    return line;
  }
  std::string curl(const std::string& path, const std::string& body = {}) {
    const auto login = (folder.path() / "login").string();
    EXPECT_TRUE(write_file(login, std::string{"user = \""} + kUser + ":" + kPassword + "\"\n"));
    std::vector<std::string> line{
        "curl",
        "-q",
        "-sS",
        "-k",
        "-K",
        login,
        "https://127.0.0.1:" + std::to_string(https.port()) + "/redfish/v1/Systems/DGX" + path};
    if (!body.empty())
      line.insert(line.end(), {"-H", "Content-Type: application/json", "-d", body});
    return cupel::testing::run(line).out;
  }

  std::optional<pid_t> pid() {
    std::promise<std::optional<pid_t>> reported;
    asio::post(io, [&] { reported.set_value(system.pid()); });
    return reported.get_future().get();
  }
  bool wait_until(std::function<bool()> so) {
    auto came = std::make_shared<std::promise<void>>();
    auto reported = came->get_future();
    asio::post(io, [this, came, so = std::move(so)] {
      const auto look = [came, so, done = std::make_shared<bool>(false)](ManagedSystem::Event) {
        if (so() && !std::exchange(*done, true)) came->set_value();
      };
      system.subscribe(look);
      look(ManagedSystem::Event::powered);
    });
    return reported.wait_for(std::chrono::minutes{1}) == std::future_status::ready;
  }
  bool comes_to(Power power) {
    return wait_until([this, power] { return system.power() == power; });
  }
  bool turn_on() { return ipmitool({"power", "on"}).status == 0 && comes_to(Power::on); }

  test::TemporaryFolder folder;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  Clock clock{1};
  QemuSystem system{io.get_executor(), clock, make_hardware(dgx(), "v01-n01", 1, {})};
  ipmi::Server ipmi{io.get_executor(), system, kUser, kPassword,
                    ipmi::Peer{asio::ip::address_v4::loopback(), 0}};
  BmcServer https{io.get_executor(),
                  system,
                  {kUser, kPassword},
                  *make_certificate("v01-n01-bmc", "127.0.0.1"),
                  {asio::ip::address_v4::loopback(), 0}};
  std::thread thread;
};

bool is_there(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST_F(QemuTest, IpmitoolStartsItSeesItAndEndsIt) {
  EXPECT_THAT(ipmitool({"power", "status"}).out, HasSubstr("Power is off"));
  EXPECT_EQ(pid(), std::nullopt);

  ASSERT_TRUE(turn_on());

  const auto running = pid();
  ASSERT_TRUE(running);
  EXPECT_TRUE(is_there(*running));
  EXPECT_THAT(ipmitool({"power", "status"}).out, HasSubstr("Power is on"));
  EXPECT_EQ(ipmitool({"power", "off"}).status, 0);
  EXPECT_TRUE(comes_to(Power::off));
  EXPECT_FALSE(is_there(*running));
  EXPECT_THAT(ipmitool({"power", "status"}).out, HasSubstr("Power is off"));
  EXPECT_THAT(ipmitool({"sel", "list"}).out, AllOf(HasSubstr("S0/G0"), HasSubstr("S5/G2")));
}

TEST_F(QemuTest, CurlStartsItSeesItAndEndsIt) {
  CUPEL_NEEDS_REAL_PART(installed("curl"), "curl is not there");
  EXPECT_THAT(curl(""), HasSubstr(R"("PowerState":"Off")"));

  curl("/Actions/ComputerSystem.Reset", R"({"ResetType": "On"})");

  ASSERT_TRUE(comes_to(Power::on));
  const auto running = pid();
  ASSERT_TRUE(running);
  EXPECT_TRUE(is_there(*running));
  EXPECT_THAT(curl(""), HasSubstr(R"("PowerState":"On")"));
  curl("/Actions/ComputerSystem.Reset", R"({"ResetType": "ForceOff"})");
  EXPECT_TRUE(comes_to(Power::off));
  EXPECT_FALSE(is_there(*running));
}

TEST_F(QemuTest, ACycleIsAnotherProcessAndAResetIsTheSame) {
  ASSERT_TRUE(turn_on());
  const auto first = pid();

  EXPECT_EQ(ipmitool({"power", "reset"}).status, 0);
  EXPECT_EQ(pid(), first);
  EXPECT_EQ(ipmitool({"power", "cycle"}).status, 0);

  EXPECT_TRUE(wait_until([this, first] {
    return system.power() == Power::on && system.pid() && system.pid() != first;
  }));
  EXPECT_FALSE(is_there(first.value_or(0)));
}

TEST_F(QemuTest, AMachineWithoutAnOperatingSystemIgnoresAGracefulShutdown) {
  ASSERT_TRUE(turn_on());

  EXPECT_EQ(ipmitool({"power", "soft"}).status, 0);
  EXPECT_EQ(ipmitool({"power", "reset"}).status, 0);

  // QEMU answers in turn: the reset is after the polite word.
  EXPECT_TRUE(wait_until([this] { return system.asked_to_shut_down() == 1; }));
  EXPECT_THAT(ipmitool({"power", "status"}).out, HasSubstr("Power is on"));
}

TEST_F(QemuTest, AProcessThatDiesIsAMachineThatIsOff) {
  ASSERT_TRUE(turn_on());

  asio::post(io, [this] { system.pull_cord(); });

  EXPECT_TRUE(comes_to(Power::off));
  EXPECT_THAT(ipmitool({"power", "status"}).out, HasSubstr("Power is off"));
  EXPECT_TRUE(turn_on());
}

TEST_F(QemuTest, ItsFirmwareSpeaksOverSerialOverLan) {
  cupel::testing::Terminal terminal{ipmitool_line({"sol", "activate"}),
                                    {std::string{"IPMI_PASSWORD="} + kPassword}};
  ASSERT_TRUE(terminal.wait_for("SOL Session operational")) << terminal.shown();

  ASSERT_TRUE(turn_on());

  EXPECT_TRUE(terminal.wait_for("SeaBIOS")) << terminal.shown();
  EXPECT_TRUE(terminal.wait_for("No bootable device")) << terminal.shown();
  EXPECT_EQ(ipmitool({"sol", "deactivate"}).status, 0);
}

TEST_F(QemuTest, BootsOnceFromWhatIpmitoolSays) {
  cupel::testing::Terminal terminal{ipmitool_line({"sol", "activate"}),
                                    {std::string{"IPMI_PASSWORD="} + kPassword}};
  ASSERT_TRUE(terminal.wait_for("SOL Session operational")) << terminal.shown();

  EXPECT_EQ(ipmitool({"chassis", "bootdev", "cdrom"}).status, 0);
  ASSERT_TRUE(turn_on());

  EXPECT_TRUE(terminal.wait_for("Booting from DVD/CD")) << terminal.shown();
  EXPECT_THAT(ipmitool({"chassis", "bootparam", "get", "5"}).out, HasSubstr("No override"));
}

}  // namespace
}  // namespace cupel::rehearsal
