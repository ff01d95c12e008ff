// One whole boot on a written /sys and a file as its disk, against a small HTTP server.
#include "burnin/agent/node/boot/run_boot.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "burnin/agent/common/sha256.h"
#include "tests/agent/boot_image.h"
#include "tests/agent/node_tree.h"

namespace cupel::agent::boot {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

class RunBoot : public ::testing::Test {
 protected:
  RunBoot() {
    // HTTP files with ranges are nginx's work; this one is enough for a stream that holds.
    folder_ = image_.path("boot/") + kToken;
    std::filesystem::create_directories(folder_);
    std::filesystem::copy(image_.path("image.zst"), folder_ + "/image");
    for (const auto* each : {"/dev", "/root", "/run/cupel"})
      std::filesystem::create_directories(node_.root() + each);
    node_.write("/sys/block/nvme0n1/device/serial", "CUPEL01");
    node_.write("/sys/block/nvme0n1/size", std::to_string(kDisk / 512));
    node_.write_bytes("/dev/nvme0n1", std::string(kDisk, '\0'));
    node_.write("/sys/class/dmi/id/product_serial", "SN1");
    node_.write("/etc/cupel/any-boot-server", "");
    EXPECT_TRUE(server_.wait_for("port "));
  }

  std::string order(const std::string& serial, const std::string& more = "",
                    const std::string& mirror = "") const {
    return R"({"version":1,"node":"n01","action":"deploy","authorized_keys":["ssh-ed25519 AAAA"],)"
           R"("image":{"name":"i","file":"image","mirror":")" +
           mirror + R"(","sha256":")" + image_.sha256() + R"(","size":)" +
           std::to_string(image_.compressed().size()) + R"(,"content_size":)" +
           std::to_string(image_.content().size()) +
           R"(,"compression":"zstd"},"disk":{"serial":")" + serial + "\"}" + more + "}";
  }

  /// Posts are answered here; the image comes from the server.
  int boot(const std::string& order) {
    BootInterfaces doors;
    doors.tree = node_.tree();
    doors.restart = [this] { ++restarts_; };
    doors.console = [this](const std::string& line) { console_.push_back(line); };
    doors.server.url = "http://127.0.0.1:" + port() + "/boot/" + kToken + "/";
    doors.server.pause = [](std::chrono::milliseconds) {};
    doors.server.mirror_patience = std::chrono::seconds{0};
    doors.progress_every = progress_every_;
    doors.server.run = [this, order](const Argv& argv, std::string_view input,
                                     std::chrono::seconds) {
      const auto name = argv.back().substr(argv.back().rfind('/') + 1);
      std::unique_lock lock{mutex_};
      if (argv.front() == "tpm2_nvread")
        return argv.at(1) == "0x1c0000a" ? Finished{0, "certificate", ""} : Finished{1, "", ""};
      if (argv.front() == "nvme") {
        const auto often = [this] { return std::ranges::count(states_, R"("erasing")") > 3; };
        return Finished{heard_.wait_for(lock, std::chrono::seconds{20}, often) ? 0 : 1, "", ""};
      }
      if (name == "progress") {
        const auto state = input.substr(std::min(input.find(':') + 1, input.size()));
        states_.emplace_back(state.substr(0, state.find(',')));
        heard_.notify_all();
      }
      posts_[name] = std::string{input};
      asked_.push_back(name);
      if (name == forgets_hello_at_ && std::ranges::count(asked_, name) == 1)
        return Finished{0, "{\"cause\":\"no-hello\"}\n403", ""};
      return Finished{0, name == "hello" ? order + "\n200" : "\n204", ""};
    };
    return run_boot(doors);
  }

  std::string port() const {
    std::ifstream file{image_.path("port")};
    std::string text;
    file >> text;
    return text;
  }
  std::string mirror() const {
    return "http://127.0.0.1:" + port() + "/images/i/disk.raw.zst?sha256=" + image_.sha256();
  }
  std::string disk() const { return file_bytes(node_.root() + "/dev/nvme0n1"); }

  static constexpr std::size_t kDisk = 16 << 20;
  const BootImage image_{image_content(8)};
  const NodeTree node_;
  std::string folder_;
  testing::Child server_{
      {"/usr/bin/python3", "-u", "-c",
       "import http.server,os,sys\nos.chdir(sys.argv[1])\n"
       "s=http.server.ThreadingHTTPServer(('127.0.0.1',0),http.server.SimpleHTTPRequestHandler)\n"
       "open('port','w').write(str(s.server_port))\nprint('port ',flush=True)\ns.serve_forever()",
       image_.path("")}};
  int restarts_ = 0;
  std::vector<std::string> console_;
  std::map<std::string, std::string> posts_;
  std::vector<std::string> asked_;
  std::chrono::milliseconds progress_every_{60'000};
  std::mutex mutex_;
  std::condition_variable heard_;
  std::vector<std::string> states_;  // of progress
  std::string forgets_hello_at_;     // the boot server has restarted when this is asked first
};

TEST_F(RunBoot, WritesTheImageOntoTheDiskOfTheOrderAndRestarts) {
  const auto status = boot(order("CUPEL01"));

  EXPECT_EQ(status, 0) << ::testing::PrintToString(console_);
  EXPECT_EQ(restarts_, 1);
  EXPECT_TRUE(disk().starts_with(image_.content()));
  EXPECT_THAT(posts_["hello"], HasSubstr(R"("serial":"SN1")"));
  EXPECT_THAT(posts_["done"], HasSubstr(image_.sha256()));
  EXPECT_EQ(file_bytes(node_.root() + "/root/.ssh/authorized_keys"), "ssh-ed25519 AAAA\n");
  EXPECT_THAT(console_, Contains(HasSubstr("CUPEL disk nvme0n1")));
}

TEST_F(RunBoot, SaysTheDigestOfTheTpmsCertificateWhichMayBeItsEccKeysAlone) {
  node_.write_bytes("/dev/tpm0", "");

  EXPECT_EQ(boot(order("CUPEL01")), 0) << ::testing::PrintToString(console_);

  Sha256 hash;
  hash.update(std::string_view{"certificate"});
  EXPECT_THAT(posts_["hello"], HasSubstr(R"("tpm_ek":")" + hash.hex() + "\""));
}

TEST_F(RunBoot, WritesTheImageFromItsMirrorWhereThatHasIt) {
  std::filesystem::create_directories(image_.path("images/i"));
  std::filesystem::rename(folder_ + "/image", image_.path("images/i/disk.raw.zst"));

  EXPECT_EQ(boot(order("CUPEL01", "", mirror())), 0) << ::testing::PrintToString(console_);

  EXPECT_TRUE(disk().starts_with(image_.content()));
  EXPECT_THAT(posts_["done"], ::testing::Not(HasSubstr("mirror_failure")));
}

TEST_F(RunBoot, WritesTheImageFromTheBootServerWhereItsMirrorHasNone) {
  EXPECT_EQ(boot(order("CUPEL01", "", mirror())), 0) << ::testing::PrintToString(console_);

  EXPECT_TRUE(disk().starts_with(image_.content()));
  EXPECT_THAT(posts_["done"], HasSubstr(R"("mirror_failure":")" + mirror() + ": the image"));
  EXPECT_THAT(console_, Contains(HasSubstr("CUPEL mirror failed")));
}

TEST_F(RunBoot, WritesTheImageFromTheBootServerWhereItsMirrorServesOtherBytes) {
  std::filesystem::create_directories(image_.path("images/i"));
  auto other = file_bytes(image_.path("image.zst"));
  other.back() = static_cast<char>(other.back() ^ 1);
  std::ofstream{image_.path("images/i/disk.raw.zst"), std::ios::binary} << other;

  EXPECT_EQ(boot(order("CUPEL01", "", mirror())), 0) << ::testing::PrintToString(console_);

  EXPECT_TRUE(disk().starts_with(image_.content()));
  EXPECT_THAT(posts_["done"], HasSubstr("mirror_failure"));
  EXPECT_THAT(posts_["done"], HasSubstr(image_.sha256()));
}

TEST_F(RunBoot, SaysHelloAgainToABootServerThatHasNoneOfIt) {
  forgets_hello_at_ = "done";

  EXPECT_EQ(boot(order("CUPEL01")), 0) << ::testing::PrintToString(console_);

  ASSERT_GE(asked_.size(), 3u);
  const std::vector<std::string> last(asked_.end() - 3, asked_.end());
  EXPECT_EQ(last, (std::vector<std::string>{"done", "hello", "done"}));
  EXPECT_EQ(restarts_, 1);
}

TEST_F(RunBoot, ReportsAgainAndAgainWhileADriveErasesItself) {
  progress_every_ = std::chrono::milliseconds{1};

  EXPECT_EQ(boot(order("CUPEL01", R"(,"erase":"nvme","wipe":"CUPEL01")")), 0)
      << ::testing::PrintToString(console_);
  EXPECT_TRUE(disk().starts_with(image_.content()));
}

TEST_F(RunBoot, AMachineThatStaysUpTakesItsNameBeforeAnybodyCanLogIn) {
  node_.write("/proc/sys/kernel/hostname", "cupel-ram");

  const auto status = boot(
      R"({"version":1,"node":"n01","action":"stay","hostname":"a01-n01","authorized_keys":["k"]})");

  EXPECT_EQ(status, 0) << ::testing::PrintToString(console_);
  EXPECT_EQ(restarts_, 0);
  EXPECT_EQ(disk(), std::string(kDisk, '\0'));
  EXPECT_EQ(file_bytes(node_.root() + "/proc/sys/kernel/hostname"), "a01-n01\n");
  EXPECT_EQ(file_bytes(node_.root() + "/root/.ssh/authorized_keys"), "k\n");
}

TEST_F(RunBoot, ReportsADiskThatIsNotThereAndTouchesNone) {
  EXPECT_EQ(boot(order("OTHER")), 2);

  EXPECT_EQ(restarts_, 0);
  EXPECT_EQ(disk(), std::string(kDisk, '\0'));
  EXPECT_THAT(posts_["failed"], HasSubstr(R"("cause":"disk-missing")"));
  EXPECT_THAT(posts_["failed"], HasSubstr("nvme0n1: serial CUPEL01"));
}

TEST_F(RunBoot, ADiskThatHoldsSomethingIsWrittenOnlyWithItsSerialNumber) {
  auto used = std::string(kDisk, '\0');
  used.replace(512, 8, "EFI PART");
  node_.write_bytes("/dev/nvme0n1", used);

  EXPECT_EQ(boot(order("CUPEL01", R"(,"wipe":"OTHER")")), 2);
  EXPECT_THAT(posts_["failed"], HasSubstr(R"("cause":"disk-not-empty")"));
  EXPECT_TRUE(disk() == used);
  EXPECT_EQ(boot(order("CUPEL01", R"(,"wipe":"CUPEL01")")), 0);
  EXPECT_TRUE(disk().starts_with(image_.content()));
}

TEST_F(RunBoot, WithoutEfiVariablesTheDiskIsLeftAsItIs) {
  auto used = std::string(kDisk, '\0');
  used.replace(512, 8, "EFI PART");
  node_.write_bytes("/dev/nvme0n1", used);

  EXPECT_EQ(boot(order("CUPEL01", R"(,"wipe":"CUPEL01",)"
                                  R"("boot_entry":{"label":"OS","efi":"\\EFI\\x.efi"})")),
            2);

  EXPECT_THAT(posts_["failed"], HasSubstr(R"("cause":"no-efi-variables")"));
  EXPECT_TRUE(disk() == used);
  EXPECT_EQ(restarts_, 0);
}

TEST_F(RunBoot, WithoutEfiVariablesAnImageThatABiosStartsGetsNoBootEntry) {
  EXPECT_EQ(
      boot(order("CUPEL01", R"(,"bios":true,"boot_entry":{"label":"OS","efi":"\\EFI\\x.efi"})")), 0)
      << ::testing::PrintToString(console_);

  EXPECT_TRUE(disk().starts_with(image_.content()));
  EXPECT_THAT(posts_["done"], HasSubstr(R"("entry":"")"));
  EXPECT_THAT(console_, Contains(HasSubstr("no EFI variables: no boot entry is made")));
}

TEST_F(RunBoot, AnImageWhoseBootEntryCannotBeMadeDoesNotBoot) {
  node_.write("/sys/firmware/efi/efivars/BootOrder", "");

  EXPECT_EQ(boot(order("CUPEL01", R"(,"boot_entry":{"label":"OS","efi":"\\EFI\\x.efi"})")), 2);

  EXPECT_EQ(disk().substr(0, 1 << 20), std::string(1 << 20, '\0'));
  EXPECT_EQ(restarts_, 0);
}

}  // namespace
}  // namespace cupel::agent::boot
