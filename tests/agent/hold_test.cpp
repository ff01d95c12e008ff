// cupel-node hold on real loop devices, where this machine lets us make them.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "tests/burnin/stages.h"
#include "tests/support/captures.h"
#include "tests/support/real_part.h"

namespace cupel::agent {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

burnin::Output sh(const std::string& script) { return burnin::run_script(script + "\n"); }

/// A loop device of 16 MiB, and a /sys in which it has a serial number.
class LoopDrive {
 public:
  LoopDrive() {
    std::ofstream{file()};
    fs::resize_file(file(), 16u << 20);
    device_ = trimmed(sh("losetup -f --show " + file().string()).text);
    struct stat what{};
    if (device_.empty() || ::stat(device_.c_str(), &what) != 0 || !S_ISBLK(what.st_mode)) {
      device_.clear();
      return;
    }
    const auto folder =
        folder_.path() / "sys/dev/block" /
        (std::to_string(major(what.st_rdev)) + ":" + std::to_string(minor(what.st_rdev))) /
        "device";
    fs::create_directories(folder);
    std::ofstream{folder / "serial"} << "S64H0001            \n";
  }
  ~LoopDrive() {
    if (!device_.empty()) sh("losetup -d " + device_);
  }
  LoopDrive(const LoopDrive&) = delete;
  LoopDrive& operator=(const LoopDrive&) = delete;

  bool made() const { return !device_.empty(); }
  const std::string& device() const { return device_; }
  fs::path file() const { return folder_.path() / "drive"; }
  fs::path root() const { return folder_.path(); }
  std::string hold(const std::string& command, const std::string& serial = "S64H0001") const {
    return NODE_BINARY " hold --device " + device_ + " --serial " + serial + " --root " +
           root().string() + " -- " + command;
  }

 private:
  test::TemporaryFolder folder_;
  std::string device_;
};

class Hold : public ::testing::Test {
 protected:
  void SetUp() override { CUPEL_NEEDS_REAL_PART(drive.made(), "no loop device can be made here"); }
  const LoopDrive drive;
};

TEST_F(Hold, RunsTheCommandAndKeepsOthersFromTheDeviceUntilItEnds) {
  const auto nested = sh(drive.hold(drive.hold("echo both")));
  const auto after = sh(drive.hold("echo mine"));
  const auto mkfs = sh(drive.hold("mke2fs -q " + drive.device()));

  EXPECT_EQ(nested.exit_status, 2);
  EXPECT_THAT(nested.errors, HasSubstr(drive.device() + " is not touched: it is in use (O_EXCL)"));
  EXPECT_EQ(after.text, "mine\n") << after.errors;
  EXPECT_THAT(mkfs.errors, HasSubstr("apparently in use by the system"));
}

TEST_F(Hold, RefusesADeviceThatIsMounted) {
  const auto mounted =
      sh("mkdir -p " + (drive.root() / "at").string() + " && mke2fs -q -F " + drive.device() +
         " && mount " + drive.device() + " " + (drive.root() / "at").string());
  CUPEL_NEEDS_REAL_PART(mounted.exit_status == 0, "nothing can be mounted here");

  const auto refused = sh(drive.hold("echo written"));
  sh("umount " + (drive.root() / "at").string());

  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_EQ(refused.text, "");
  EXPECT_THAT(refused.errors, HasSubstr("it is in use (O_EXCL)"));
}

TEST_F(Hold, RefusesAnotherSerialNumberAndWhatIsNoBlockDevice) {
  const auto stranger = sh(drive.hold("echo written", "S64H0002"));
  const auto file = sh(NODE_BINARY " hold --device " + drive.file().string() +
                       " --serial S64H0001 --root " + drive.root().string() + " -- echo written");
  const auto nothing = sh(NODE_BINARY " hold --device " + drive.device() + " -- echo written");

  EXPECT_THAT(stranger.errors, HasSubstr("its serial number is 'S64H0001', not 'S64H0002'"));
  EXPECT_THAT(file.errors, HasSubstr("it is no block device"));
  EXPECT_EQ(nothing.exit_status, 64);
  for (const auto* each : {&stranger, &file, &nothing}) EXPECT_EQ(each->text, "");
}

/// The whole stage, by the real cupel-node, fio, blkid and wipefs, on the loop device as nvme0.
class StageOnLoopDrive : public Hold {
 protected:
  void SetUp() override {
    Hold::SetUp();
    CUPEL_NEEDS_REAL_PART(burnin::installed("fio") && burnin::installed("blkid"),
                          "fio or blkid is not installed");
    for (const auto* each : {"sys/class/nvme/nvme0", "sys/block/nvme0n1/device", "dev", "proc"})
      fs::create_directories(drive.root() / each);
    for (const auto* each : {"sys/class/nvme/nvme0/serial", "sys/block/nvme0n1/device/serial"})
      std::ofstream{drive.root() / each} << "S64H0001\n";
    for (const auto* each : {"proc/mounts", "proc/swaps"}) std::ofstream{drive.root() / each};
    fs::create_symlink(drive.device(), drive.root() / "dev/nvme0n1");
  }
  std::string stage_script() const {
    auto script =
        burnin::prepared("nvme", {{"raw", "yes"}, {"size", "16MiB"}, {"runtime", "1s"}})->script;
    const auto at = drive.root().string();
    const std::string usual = "sys=/sys dev=/dev proc=/proc";
    script.replace(script.find(usual), usual.size(),
                   "sys=" + at + "/sys dev=" + at + "/dev proc=" + at + "/proc");
    const auto beside = fs::path{NODE_BINARY}.parent_path().string();
    return "PATH=" + beside + ":$PATH\n" + script;
  }
  std::string content() const { return *read_file(drive.device(), 17u << 20); }
};

TEST_F(StageOnLoopDrive, WritesAnEmptyOneAndHoldsIt) {
  const auto output = sh(stage_script());

  const auto found = burnin::parsed("nvme", output);
  ASSERT_TRUE(found) << found.error().what << output.text << output.errors;
  EXPECT_EQ(burnin::value_of(*found, "nvme.burned", "nvme0"), 1) << output.text << output.errors;
  EXPECT_EQ(burnin::value_of(*found, "nvme.errors", "nvme0"), 0);
  EXPECT_NE(content(), std::string(16u << 20, '\0'));
}

TEST_F(StageOnLoopDrive, NeverWritesOneThatAnotherProgramHolds) {
  const auto before = content();
  const auto script = (drive.root() / "stage").string();
  // No table of the kernel shows such a user: only O_EXCL does.
  std::ofstream{script} << stage_script();

  const auto output = sh(drive.hold("sh " + script));

  const auto found = burnin::parsed("nvme", output);
  ASSERT_TRUE(found) << found.error().what << output.text << output.errors;
  EXPECT_EQ(burnin::value_of(*found, "nvme.burned", "nvme0"), 0);
  EXPECT_THAT(output.text, HasSubstr("it is in use (O_EXCL)"));
  EXPECT_TRUE(before == content());
}

}  // namespace
}  // namespace cupel::agent
