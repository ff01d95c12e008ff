// The stage nvme in the program itself: what it refuses to touch above all, by the real blkid,
// wipefs and fio on files in the place of drives, and on real loop devices where this machine lets
// us make them.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "burnin/agent/node/node_scratch.h"
#include "tests/agent/node_tree.h"
#include "tests/burnin/tools.h"
#include "tests/support/real_part.h"

namespace cupel::agent {
namespace {

using burnin::installed;
using burnin::value_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kDefault = R"({"drives":[],"raw":"no")";
constexpr const char* kYes = R"({"drives":[],"raw":"yes")";
constexpr const char* kForce = R"({"drives":["nvme0"],"raw":"force")";

burnin::Output sh(const std::string& script) { return burnin::run_script(script + "\n"); }

/// A node whose one NVMe drive is nvme0, with /sys, /dev and /proc as far as the stage looks.
class OneDrive {
 public:
  OneDrive() {
    files.write("/proc/mounts", "/dev/md0 / ext4 rw 0 0");
    files.write("/proc/swaps", "Filename Type Size Used Priority");
    files.write("/sys/class/nvme/nvme0/serial", "S64H0001            ");
    files.write("/sys/block/nvme0n1/device/serial", "S64H0001            ");
    for (const auto* each : {"/dev", "/mnt"}) fs::create_directories(files.root() + each);
    // What lsblk, which knows block devices alone, says of it.
    mount("");
    tools.add("smartctl", R"(echo '{"nvme_smart_health_information_log": {"critical_warning": 0, )"
                          R"("temperature": 41, "available_spare": 100, "percentage_used": 1, )"
                          R"("media_errors": 0}}')");
  }
  void mount(const std::string& place) const {
    tools.add("lsblk",
              "case $* in *FSTYPE*) echo 'FSTYPE=\"\" PTTYPE=\"\"' ;; *) echo 'MOUNTPOINT=\"" +
                  place + "\"' ;; esac");
  }
  std::string device() const { return files.root() + "/dev/nvme0n1"; }
  /// `order` without its end.
  burnin::Output run(const std::string& order, const std::string& bytes = "16777216") const {
    return sh("printf '%s' " +
              shell_quoted(order + R"(,"runtime":1,"limit":600,"bytes":)" + bytes + "}") +
              " | PATH=" + tools.folder() + ":$PATH " NODE_BINARY " stage nvme --root " +
              files.root());
  }
  Result<burnin::Findings> test(const std::string& order) const {
    return burnin::parsed("nvme", run(order));
  }
  /// Does something once the drives were looked at, and before the first write.
  void meanwhile(const std::string& command) const {
    const auto fio = std::string{trimmed(sh("command -v fio").text)};
    tools.add("fio", "case $* in --enghelp) " + command + "; echo libaio ;; *) exec " + fio +
                         " \"$@\" ;; esac");
  }

  NodeTree files{};
  burnin::FakeTools tools{};
};

/// It is a file of 64 MiB. That cannot be held, so it is never written: the reasons tell which
/// guard speaks first.
class FileDrive : public OneDrive {
 public:
  FileDrive() {
    std::ofstream{device()};
    fs::resize_file(device(), 64u << 20);
  }
  /// Read into memory, its content costs more than all else that a test here does.
  std::string digest() const {
    const auto text = sh("sha256sum < " + shell_quoted(device())).text;
    EXPECT_THAT(text, HasSubstr("  -"));
    return text;
  }
  void do_to_drive(const std::string& command) const {
    const auto line = command + " " + shell_quoted(device()) + " >/dev/null 2>&1";
    ASSERT_EQ(std::system(line.c_str()), 0) << command;
  }
};

std::string why_not_burned(const Result<burnin::Findings>& found) {
  if (!found) return found.error().what;
  for (const auto& each : found->measurements)
    if (each.name == "nvme.burned" && each.value == 0) return each.part + ": " + each.traced_to;
  return "all were burned";
}

class Nvme : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid") && installed("wipefs"),
                          "fio, blkid or wipefs is not installed");
  }
};

// What blkid and wipefs know is tried with what this machine's tools make; each leaves its mark at
// another place.
struct Held {
  std::string_view name, command, reason;
};
constexpr std::array kHeld{
    Held{"ext4", "mkfs.ext4 -q -F", "it holds a file system (ext4)"},
    Held{"swap", "mkswap", "(swap)"},
    // A partition of Linux's type in a table of a sector, as fdisk writes it.
    Held{"dos",
         "sh -c 'printf "
         "\"\\000\\040\\041\\000\\203\\010\\202\\010\\000\\010\\000\\000\\000\\370\\001"
         "\\000\" | dd of=\"$0\" bs=1 seek=446 conv=notrunc; printf \"\\125\\252\" | dd of=\"$0\" "
         "bs=1 seek=510 conv=notrunc'",
         "it holds a partition table (dos)"},
    // A GPT of which only the copy at the drive's end is left.
    Held{
        "gpt",
        "python3 -c 'import struct, sys, zlib\n"
        "last = (64 << 20) // 512 - 1\n"
        "entries = bytearray(128 * 128)\n"
        "entries[0:56] = bytes(range(1, 33)) + struct.pack(\"<QQQ\", 2048, 4095, 0)\n"
        "def header(crc):\n"
        "  return struct.pack(\"<8sIIIIQQQQ16sQIII\", b\"EFI PART\", 0x10000, 92, crc, 0, last, 1, "
        "34, last - 33, bytes(range(16)), last - 32, 128, 128, zlib.crc32(bytes(entries)))\n"
        "file = open(sys.argv[1], \"r+b\")\n"
        "file.seek((last - 32) * 512)\n"
        "file.write(entries + header(zlib.crc32(header(0))))'",
        "gpt"},
    // mdadm's superblock of version 1.0 lies at the end: magic, version, feature map, and the
    // sector where it lies itself.
    Held{"md",
         "python3 -c 'import struct, sys\n"
         "size = 64 << 20\n"
         "at = (size // 512 - 16) // 8 * 8\n"
         "block = bytearray(256)\n"
         "struct.pack_into(\"<III\", block, 0, 0xa92b4efc, 1, 0)\n"
         "block[16:32] = bytes(range(16))\n"
         "struct.pack_into(\"<Q\", block, 144, at)\n"
         "total = sum(struct.unpack(\"<64I\", block))\n"
         "struct.pack_into(\"<I\", block, 216, (total & 0xffffffff) + (total >> 32))\n"
         "file = open(sys.argv[1], \"r+b\")\n"
         "file.seek(at * 512)\n"
         "file.write(block)'",
         "it is a member of an array or a pool (linux_raid_member)"},
    // LVM's label in the second sector, with its checksum.
    Held{
        "lvm",
        "python3 -c 'import struct, sys, zlib\n"
        "block = bytearray(512)\n"
        "block[0:8] = b\"LABELONE\"\n"
        "struct.pack_into(\"<Q\", block, 8, 1)\n"
        "struct.pack_into(\"<I\", block, 20, 32)\n"
        "block[24:32] = b\"LVM2 001\"\n"
        "block[32:64] = b\"abcdefghijklmnopqrstuvwxyz012345\"\n"
        "struct.pack_into(\"<I\", block, 16, 0xffffffff ^ zlib.crc32(bytes(block[20:]), 0xffffffff "
        "^ 0xf597a6cf))\n"
        "file = open(sys.argv[1], \"r+b\")\n"
        "file.seek(512)\n"
        "file.write(block)'",
        "LVM2_member"},
};

class HeldDrive : public ::testing::TestWithParam<Held> {};

TEST_P(HeldDrive, IsReadAndNeverWritten) {
  CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid") && installed("wipefs"),
                        "fio, blkid or wipefs is not installed");
  const std::string command{GetParam().command};
  CUPEL_NEEDS_REAL_PART(installed(command.substr(0, command.find(' '))),
                        "the tool that makes it is not installed");
  const FileDrive node;
  ASSERT_NO_FATAL_FAILURE(node.do_to_drive(command));
  const auto before = node.digest();

  const auto output = node.run(kYes);
  const auto found = burnin::parsed("nvme", output);

  ASSERT_TRUE(found) << found.error().what << output.text << output.errors;
  EXPECT_THAT(why_not_burned(found),
              AllOf(HasSubstr("nvme0: "), HasSubstr(std::string{GetParam().reason})));
  EXPECT_GT(value_of(*found, "nvme.read.bandwidth", "nvme0").value_or(0), 0.001);
  EXPECT_EQ(value_of(*found, "nvme.errors", "nvme0"), std::nullopt);
  EXPECT_EQ(value_of(*found, "nvme.write.bandwidth", "nvme0"), std::nullopt);
  EXPECT_TRUE(before == node.digest());
}

INSTANTIATE_TEST_SUITE_P(Nvme, HeldDrive, ::testing::ValuesIn(kHeld),
                         [](const auto& each) { return std::string{each.param.name}; });

TEST_F(Nvme, NeverWritesToADriveWithPartitionsOrWithARawOfNo) {
  const FileDrive parted, empty;
  fs::create_directories(parted.files.root() + "/sys/block/nvme0n1/nvme0n1p1");
  const auto before = parted.digest();

  EXPECT_THAT(why_not_burned(parted.test(kYes)), HasSubstr("it has partitions"));
  EXPECT_THAT(why_not_burned(empty.test(kDefault)),
              HasSubstr("no file system of an NVMe drive is mounted"));
  EXPECT_TRUE(before == parted.digest());
  EXPECT_TRUE(before == empty.digest());
}

TEST_F(Nvme, NeverWritesWhereAToolCannotTellWhatTheDriveHolds) {
  using Fakes = std::vector<std::pair<std::string, std::string>>;
  for (const auto& [fakes, reason] : std::vector<std::pair<Fakes, std::string>>{
           {{{"blkid", "echo 'ambivalent result' >&2; exit 8"}}, "blkid cannot tell"},
           {{{"wipefs", "echo 'probing failed' >&2; exit 1"}}, "wipefs cannot tell"},
           {{{"blkid", "exit 2"}, {"wipefs", "echo gpt; echo PMBR"}},
            "wipefs finds on it: gpt PMBR"},
           {{{"lsblk", "echo 'not a block device' >&2; exit 32"}}, "lsblk cannot tell"},
           {{{"lsblk", "case $* in *FSTYPE*) echo 'FSTYPE=\"xfs\" PTTYPE=\"\"' ;; esac"}},
            "lsblk finds on it"}}) {
    const FileDrive node;
    for (const auto& [tool, script] : fakes) node.tools.add(tool, script);
    const auto before = node.digest();

    EXPECT_THAT(why_not_burned(node.test(kYes)), HasSubstr(reason));
    EXPECT_TRUE(before == node.digest());
  }
}

TEST_F(Nvme, LeavesNoDriveOutInSilenceOfWhichLsblkCannotTell) {
  const FileDrive node;
  node.tools.add("lsblk", "echo 'not a block device' >&2; exit 32");

  EXPECT_THAT(why_not_burned(node.test(kDefault)),
              HasSubstr("lsblk cannot tell whether it is mounted"));
}

TEST_F(Nvme, TestsADriveOnceHoweverOftenItIsNamed) {
  const FileDrive node;
  const auto text = node.run(R"({"drives":["nvme0","nvme0"],"raw":"no")").text;

  const std::string untested = R"("name":"untested")";
  ASSERT_THAT(text, HasSubstr(untested));
  EXPECT_EQ(text.find(untested), text.rfind(untested));
}

TEST_F(Nvme, NeverWritesToADriveWhoseSerialNumberIsNotItsNames) {
  const std::string of_drive = "/sys/class/nvme/nvme0/serial",
                    of_space = "/sys/block/nvme0n1/device/serial";
  const FileDrive swapped, silent, late;
  swapped.files.write(of_space, "S64H0002");
  silent.files.write(of_drive, "  ");
  // Another drive gets the name.
  late.meanwhile("echo S64H0007 >" + late.files.root() + of_drive + "; echo S64H0007 >" +
                 late.files.root() + of_space);
  const auto before = swapped.digest();

  EXPECT_THAT(why_not_burned(swapped.test(kYes)),
              HasSubstr("nvme0n1 belongs to the drive with serial number 'S64H0002'"));
  EXPECT_THAT(why_not_burned(silent.test(kYes)), HasSubstr("it reports no serial number"));
  EXPECT_THAT(why_not_burned(late.test(kYes)),
              HasSubstr("another drive has its name now: serial number 'S64H0007', and it was "
                        "'S64H0001'"));
  for (const auto* each : {&swapped, &silent, &late}) EXPECT_TRUE(before == each->digest());
}

TEST_F(Nvme, IsNotTestedWhereItCannotBeHeld) {
  const FileDrive node;
  const auto before = node.digest();

  const auto found = node.test(kYes);

  EXPECT_THAT(why_not_burned(found), HasSubstr("nvme0n1 is not touched: it is no block device"));
  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "nvme.errors", "nvme0"), std::nullopt);
  EXPECT_TRUE(before == node.digest());
}

TEST_F(Nvme, LooksAgainRightBeforeItWrites) {
  CUPEL_NEEDS_REAL_PART(installed("mkfs.ext4"), "mkfs.ext4 is not installed");
  const FileDrive node;
  node.meanwhile("mkfs.ext4 -q -F " + node.device() + " >/dev/null 2>&1");

  EXPECT_THAT(why_not_burned(node.test(kYes)), HasSubstr("it holds a file system (ext4)"));
}

TEST_F(Nvme, WritesToNoDriveInUseEvenByForce) {
  const FileDrive held, part, mounted, listed, swapped, pooled, pathed, other;
  const std::string block = "/sys/block/nvme0n1";
  fs::create_directories(held.files.root() + block + "/holders/md127");
  fs::create_directories(part.files.root() + block + "/nvme0n1p2/holders/dm-0");
  for (const auto* path : {"nvme0", "nvme1"})
    fs::create_directories(pathed.files.root() + block + "/device/" + path);
  mounted.files.write("/proc/mounts", mounted.device() + " /data xfs rw 0 0");
  listed.mount("[SWAP]");
  swapped.files.write("/proc/swaps", swapped.device() + "p3 partition 1 0 -2");
  pooled.tools.add("zpool", "echo '  " + pooled.device() + "p1  ONLINE  0  0  0'");
  other.tools.add("zpool", "echo '  " + other.device() + "0p1  ONLINE  0  0  0'");

  EXPECT_THAT(why_not_burned(other.test(kForce)), HasSubstr("it is no block device"))
      << "nvme0n10 is in the pool";
  EXPECT_THAT(why_not_burned(held.test(kForce)), HasSubstr("it is held by md127"));
  EXPECT_THAT(why_not_burned(part.test(kForce)), HasSubstr("it is held by dm-0"));
  EXPECT_THAT(why_not_burned(mounted.test(kForce)), HasSubstr("it is mounted"));
  EXPECT_THAT(why_not_burned(listed.test(kForce)), HasSubstr("it is mounted"));
  EXPECT_THAT(why_not_burned(swapped.test(kForce)), HasSubstr("it is swapped on"));
  EXPECT_THAT(why_not_burned(pooled.test(kForce)), HasSubstr("it belongs to a ZFS pool"));
  EXPECT_THAT(why_not_burned(pathed.test(kForce)), HasSubstr("it is reached over 2 paths"));
  EXPECT_THAT(why_not_burned(held.test(R"({"drives":["nvme0","nvme7"],"raw":"yes")")),
              HasSubstr("held by"));
  EXPECT_THAT(why_not_burned(held.test(R"({"drives":["nvme7"],"raw":"yes")")),
              HasSubstr("is not there"));
}

TEST_F(Nvme, RefusesAnOrderThatItCannotRead) {
  const FileDrive node;
  for (const auto& [order, what] : std::vector<std::pair<std::string, std::string>>{
           {R"({"drives":[],"raw":"force")", "name them in drives"},
           {R"({"drives":["sda"],"raw":"yes")", "no list of drives"},
           {R"({"drives":["nvme0/../sda"],"raw":"yes")", "no list of drives"},
           {R"({"raw":"yes")", "no list of drives"},
           {R"({"drives":[],"raw":"maybe")", "raw that this stage knows"}})
    EXPECT_THAT(node.run(order).text, AllOf(HasSubstr("gave-up"), HasSubstr(what)));
}

TEST_F(Nvme, TestsAMountedDriveByAFileAndLeavesNothingBehind) {
  const FileDrive node;
  node.mount("/mnt");
  const auto before = node.digest();

  const auto output = node.run(kDefault);

  const auto found = burnin::parsed("nvme", output);
  ASSERT_TRUE(found) << found.error().what << output.text << output.errors;
  EXPECT_EQ(value_of(*found, "nvme.errors", "nvme0"), 0);
  EXPECT_EQ(value_of(*found, "nvme.media_errors.new", "nvme0"), 0);
  EXPECT_TRUE(fs::is_empty(node.files.root() + "/mnt"));
  EXPECT_TRUE(before == node.digest());
  EXPECT_THAT(why_not_burned(burnin::parsed("nvme", node.run(kDefault, "17592186044416"))),
              HasSubstr("not enough space"));
}

/// A loop device of 16 MiB, which is nvme0.
class LoopDrive : public OneDrive {
 public:
  LoopDrive() {
    std::ofstream{file()};
    fs::resize_file(file(), 16u << 20);
    loop_ = trimmed(sh("losetup -f --show " + file()).text);
    struct stat what{};
    if (loop_.empty() || ::stat(loop_.c_str(), &what) != 0 || !S_ISBLK(what.st_mode)) {
      loop_.clear();
      return;
    }
    files.write("/sys/dev/block/" + std::to_string(major(what.st_rdev)) + ":" +
                    std::to_string(minor(what.st_rdev)) + "/device/serial",
                "S64H0001            ");
    fs::create_symlink(loop_, device());
  }
  ~LoopDrive() {
    if (!loop_.empty()) sh("losetup -d " + loop_);
  }
  LoopDrive(const LoopDrive&) = delete;
  LoopDrive& operator=(const LoopDrive&) = delete;

  bool made() const { return !loop_.empty(); }
  const std::string& loop() const { return loop_; }
  std::string file() const { return files.root() + "/drive"; }
  std::string content() const { return *read_file(loop_, 17u << 20); }
  Scratch::Held hold(const std::string& serial = "S64H0001") const {
    return NodeScratch{files.root()}.hold("/dev/nvme0n1", serial);
  }

 private:
  std::string loop_;
};

class Hold : public Nvme {
 protected:
  void SetUp() override {
    Nvme::SetUp();
    CUPEL_NEEDS_REAL_PART(drive.made(), "no loop device can be made here");
  }
  const LoopDrive drive;
};

TEST_F(Hold, KeepsOthersFromTheDeviceUntilItIsLetGo) {
  {
    const auto held = drive.hold();
    ASSERT_TRUE(held.device) << held.why;
    EXPECT_EQ(drive.hold().why, "it is in use (O_EXCL)");
    EXPECT_THAT(sh("mke2fs -q " + drive.loop()).errors,
                HasSubstr("apparently in use by the system"));
  }
  EXPECT_TRUE(drive.hold().device);
}

TEST_F(Hold, RefusesADeviceThatIsMounted) {
  const auto at = drive.files.root() + "/at";
  const auto mounted = sh("mkdir -p " + at + " && mke2fs -q -F " + drive.loop() + " && mount " +
                          drive.loop() + " " + at);
  CUPEL_NEEDS_REAL_PART(mounted.exit_status == 0, "nothing can be mounted here");

  const auto refused = drive.hold();
  sh("umount " + at);

  EXPECT_EQ(refused.device, nullptr);
  EXPECT_EQ(refused.why, "it is in use (O_EXCL)");
}

TEST_F(Hold, RefusesAnotherSerialNumber) {
  EXPECT_EQ(drive.hold("S64H0002").why, "its serial number is 'S64H0001', not 'S64H0002'");
  EXPECT_EQ(drive.hold("").device, nullptr);
}

TEST_F(Hold, OfTheStageLastsWhileFioWrites) {
  const auto mark = drive.tools.folder() + "/said";
  // In the place of the first job: whether another may have the device now.
  drive.tools.add(
      "fio", "case $* in --enghelp) ;; *) mke2fs -q " + drive.loop() + " 2>" + mark + " ;; esac");

  drive.run(kYes);

  EXPECT_THAT(*read_file(mark, 4096), HasSubstr("apparently in use by the system"));
}

TEST_F(Hold, OfTheStageBeginsBeforeItLooksForTheLastTime) {
  const auto mark = drive.tools.folder() + "/said", before = drive.tools.folder() + "/before";
  // Somebody makes a file system when the last question of the second look is asked.
  drive.tools.add("lsblk",
                  "case $* in\n"
                  "  *FSTYPE*)\n"
                  "    if [ -e " +
                      before + " ]; then mke2fs -q " + drive.loop() + " 2>" + mark +
                      "; fi\n"
                      "    : >" +
                      before +
                      "\n"
                      "    echo 'FSTYPE=\"\" PTTYPE=\"\"' ;;\n"
                      "  *) echo 'MOUNTPOINT=\"\"' ;;\n"
                      "esac");

  drive.run(kYes);

  EXPECT_THAT(*read_file(mark, 4096), HasSubstr("apparently in use by the system"));
}

TEST_F(Hold, LetsTheStageWriteAnEmptyDrive) {
  const auto output = drive.run(kYes);

  const auto found = burnin::parsed("nvme", output);
  ASSERT_TRUE(found) << found.error().what << output.text << output.errors;
  EXPECT_EQ(value_of(*found, "nvme.burned", "nvme0"), 1) << output.text << output.errors;
  EXPECT_EQ(value_of(*found, "nvme.errors", "nvme0"), 0);
  EXPECT_GT(value_of(*found, "nvme.read.bandwidth", "nvme0").value_or(0), 0.001);
  EXPECT_THAT(output.text, HasSubstr("serial S64H0001"));
  EXPECT_NE(drive.content(), std::string(16u << 20, '\0'));
}

TEST_F(Hold, LetsTheStageWriteByForceWhatHoldsSomething) {
  ASSERT_EQ(sh("mke2fs -q -F " + drive.loop()).exit_status, 0);

  EXPECT_THAT(why_not_burned(drive.test(kYes)), HasSubstr("it holds a file system"));
  EXPECT_EQ(why_not_burned(drive.test(kForce)), "all were burned");
}

TEST_F(Hold, KeepsTheStageFromADriveThatAnotherProgramHolds) {
  const auto before = drive.content();
  // No table of the kernel shows such a user: only O_EXCL does.
  const auto held = drive.hold();
  ASSERT_TRUE(held.device) << held.why;

  const auto found = drive.test(kYes);

  EXPECT_THAT(why_not_burned(found), HasSubstr("it is in use (O_EXCL)"));
  EXPECT_TRUE(before == drive.content());
}

}  // namespace
}  // namespace cupel::agent
