// The stages nvme and storage: what they refuse to touch above all, by the real blkid and fio on
// files in the place of drives.
#include <gmock/gmock.h>

#include "tests/burnin/drive_texts.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/stages.h"
#include "tests/support/real_part.h"

namespace cupel::burnin {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string why(const Result<Findings>& found) {
  return found ? std::string{"found something"} : found.error().what;
}

/// A node whose one NVMe drive is a file of 64 MiB; /sys, /dev and /proc as far as the stage looks.
class FileDrive {
 public:
  FileDrive() {
    for (const auto* each : {"sys/class/nvme/nvme0", "sys/block/nvme0n1", "dev", "proc", "mnt"})
      fs::create_directories(root() / each);
    std::ofstream{root() / "proc/mounts"} << "/dev/md0 / ext4 rw 0 0\n";
    std::ofstream{root() / "proc/swaps"} << "Filename Type Size Used Priority\n";
    std::ofstream{drive()};
    fs::resize_file(drive(), 64u << 20);
    fs::create_directories(root() / "sys/block/nvme0n1/device");
    fs::create_directories(root() / "bin");
    // cupel-node holds block devices alone: tests/agent/hold_test.cpp has real ones.
    std::ofstream{holder()} << "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\n"
                               "exec \"$@\"\n";
    fs::permissions(holder(), fs::perms::owner_all);
    std::ofstream{serial_of_drive()} << "S64H0001            \n";
    std::ofstream{serial_of_space()} << "S64H0001            \n";
  }

  std::string tools{};  // functions of a shell
  fs::path root() const { return folder_.path(); }
  fs::path drive() const { return root() / "dev/nvme0n1"; }
  fs::path holder() const { return root() / "bin/cupel-node"; }
  fs::path serial_of_drive() const { return root() / "sys/class/nvme/nvme0/serial"; }
  fs::path serial_of_space() const { return root() / "sys/block/nvme0n1/device/serial"; }
  std::string content() const { return *read_file(drive().string(), 65u << 20); }
  void do_to_drive(const std::string& command) const {
    const auto line = command + " " + shell_quoted(drive().string()) + " >/dev/null 2>&1";
    ASSERT_EQ(std::system(line.c_str()), 0) << command;
  }

  /// `mounted`: what lsblk, which knows block devices alone, says of it.
  Output run(Parameters with, const std::string& mounted = "") const {
    with.try_emplace("size", "16MiB");
    with.try_emplace("runtime", "1s");
    auto script = prepared("nvme", with)->script;
    script = replaced(script, "sys=/sys dev=/dev proc=/proc",
                      "sys=" + at("sys") + " dev=" + at("dev") + " proc=" + at("proc"));
    const auto lsblk =
        "lsblk() { case $* in *FSTYPE*) echo 'FSTYPE=\"\" PTTYPE=\"\"' ;; *) echo "
        "'MOUNTPOINT=\"" +
        mounted + "\"' ;; esac; }\n";
    return run_script(script, "PATH=" + at("bin") + ":$PATH\n" + lsblk + smart() + tools);
  }

  Result<Findings> test(const Parameters& with, const std::string& mounted = "") const {
    return parsed("nvme", run(with, mounted));
  }

 private:
  std::string at(const char* name) const { return shell_quoted((root() / name).string()); }
  /// The drive's health, in smartctl's shape.
  static std::string smart() {
    return "smartctl() { echo '{\"nvme_smart_health_information_log\": {\"critical_warning\": 0, "
           "\"temperature\": 41, \"available_spare\": 100, \"percentage_used\": 1, "
           "\"media_errors\": 0}}'; }\n";
  }
  test::TemporaryFolder folder_;
};

TEST(Nvme, TestsADriveThatHoldsNothing) {
  CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid"), "fio or blkid is not installed");
  const FileDrive node;

  const auto output = node.run({{"raw", "yes"}});

  const auto found = parsed("nvme", output);
  ASSERT_TRUE(found) << why(found) << "\n" << output.text << output.errors;
  const auto& all = *found;
  EXPECT_EQ(value_of(all, "nvme.burned", "nvme0"), 1);
  EXPECT_EQ(value_of(all, "nvme.errors", "nvme0"), 0);
  EXPECT_THAT(output.text, HasSubstr("serial S64H0001\n"));
  EXPECT_GT(value_of(all, "nvme.read.bandwidth", "nvme0").value_or(0), 0.001);
  EXPECT_GT(value_of(all, "nvme.read.iops", "nvme0").value_or(0), 1);
  EXPECT_EQ(value_of(all, "nvme.media_errors.new", "nvme0"), 0);
  EXPECT_EQ(value_of(all, "nvme.temperature", "nvme0"), 41);
}

/// The criteria of a machine whose profile judges no nvme.burned: the stage ends instead.
Result<Findings> parsed_without_criteria(const Output& output) {
  return stage("nvme")->parse(inventory::Profile{}, output);
}

std::string why_not_burned(const Result<Findings>& found) {
  if (!found) return found.error().what;
  for (const auto& each : found->measurements)
    if (each.name == "nvme.burned" && each.value == 0) return each.part + ": " + each.traced_to;
  return "all were burned";
}

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
  const auto before = node.content();

  const auto output = node.run({{"raw", "yes"}});
  const auto found = parsed("nvme", output);

  ASSERT_TRUE(found) << why(found) << "\n" << output.text << output.errors;
  EXPECT_THAT(why_not_burned(found),
              AllOf(HasSubstr("nvme0: "), HasSubstr(std::string{GetParam().reason})));
  EXPECT_GT(value_of(*found, "nvme.read.bandwidth", "nvme0").value_or(0), 0.001);
  EXPECT_EQ(value_of(*found, "nvme.errors", "nvme0"), std::nullopt);
  EXPECT_EQ(value_of(*found, "nvme.write.bandwidth", "nvme0"), std::nullopt);
  EXPECT_THAT(why(parsed_without_criteria(output)), HasSubstr("nvme0 was not tested: "));
  EXPECT_TRUE(before == node.content());
}

INSTANTIATE_TEST_SUITE_P(Nvme, HeldDrive, ::testing::ValuesIn(kHeld),
                         [](const auto& each) { return std::string{each.param.name}; });

TEST(Nvme, NeverWritesToADriveWithPartitionsOrWithARawOfNo) {
  CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid"), "fio or blkid is not installed");
  const FileDrive parted, empty;
  fs::create_directories(parted.root() / "sys/block/nvme0n1/nvme0n1p1");
  const auto before = parted.content();

  EXPECT_THAT(why_not_burned(parted.test({{"raw", "yes"}})), HasSubstr("it has partitions"));
  EXPECT_THAT(why(empty.test({{"raw", "no"}})),
              HasSubstr("no file system of an NVMe drive is mounted"));
  EXPECT_TRUE(before == parted.content());
  EXPECT_TRUE(before == empty.content());
}

TEST(Nvme, NeverWritesWhereAToolCannotTellWhatTheDriveHolds) {
  CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid"), "fio or blkid is not installed");
  for (const auto& [tool, reason] : std::vector<std::pair<std::string, std::string>>{
           {"blkid() { echo 'ambivalent result' >&2; return 8; }\n", "blkid cannot tell"},
           {"wipefs() { echo 'probing failed' >&2; return 1; }\n", "wipefs cannot tell"},
           {"blkid() { return 2; }\nwipefs() { echo gpt; echo PMBR; }\n", "wipefs finds on it"}}) {
    FileDrive node;
    node.tools = tool;
    const auto before = node.content();

    EXPECT_THAT(why_not_burned(node.test({{"raw", "yes"}})), HasSubstr(reason));
    EXPECT_TRUE(before == node.content());
  }
}

TEST(Nvme, NeverWritesToADriveWhoseSerialNumberIsNotItsNames) {
  CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid"), "fio or blkid is not installed");
  FileDrive swapped, silent, late;
  std::ofstream{swapped.serial_of_space()} << "S64H0002\n";
  std::ofstream{silent.serial_of_drive()} << "  \n";
  // After the drives were looked at, and before the first write, another drive gets the name.
  late.tools = "begun_once=\nfio() { case $* in --enghelp) printf 'S64H0007\\n' >" +
               late.serial_of_drive().string() + "; printf 'S64H0007\\n' >" +
               late.serial_of_space().string() +
               "; echo libaio ;; *) command fio \"$@\" ;; esac; }\n";
  const auto before = swapped.content();

  EXPECT_THAT(why_not_burned(swapped.test({{"raw", "yes"}})),
              HasSubstr("nvme0n1 belongs to the drive with serial number 'S64H0002'"));
  EXPECT_THAT(why_not_burned(silent.test({{"raw", "yes"}})),
              HasSubstr("it reports no serial number"));
  EXPECT_THAT(why_not_burned(late.test({{"raw", "yes"}})),
              HasSubstr("another drive has its name now: serial number 'S64H0007', and it was "
                        "'S64H0001'"));
  for (const auto* each : {&swapped, &silent, &late}) EXPECT_TRUE(before == each->content());
}

TEST(Nvme, IsNotTestedWhereItCannotBeHeld) {
  CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid"), "fio or blkid is not installed");
  const FileDrive node;
  std::ofstream{node.holder()} << "#!/bin/sh\necho \"$3 is not touched: it is in use (O_EXCL)\" "
                                  ">&2\nexit 2\n";
  const auto before = node.content();

  const auto found = node.test({{"raw", "yes"}});

  EXPECT_THAT(why_not_burned(found), HasSubstr("nvme0n1 is not touched: it is in use (O_EXCL)"));
  EXPECT_EQ(value_of(*found, "nvme.errors", "nvme0"), std::nullopt);
  EXPECT_TRUE(before == node.content());
}

TEST(Nvme, LooksAgainRightBeforeItWrites) {
  CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid") && installed("mkfs.ext4"),
                        "fio, blkid or mkfs.ext4 is not installed");
  FileDrive node;
  // Somebody makes a file system on the drive while the stage begins.
  node.tools = "fio() { case $* in --enghelp) mkfs.ext4 -q -F " + node.drive().string() +
               " >/dev/null 2>&1; echo libaio ;; *) command fio \"$@\" ;; esac; }\n";

  const auto found = node.test({{"raw", "yes"}});

  EXPECT_THAT(why_not_burned(found), HasSubstr("it holds a file system (ext4)"));
  EXPECT_EQ(std::system(("blkid -p " + node.drive().string() + " >/dev/null").c_str()), 0);
}

TEST(Nvme, ForceWritesOnANamedDriveButNotOnOneInUse) {
  CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid") && installed("mkfs.ext4"),
                        "fio, blkid or mkfs.ext4 is not installed");
  const Parameters force{{"raw", "force"}, {"drives", "nvme0"}};
  FileDrive forced, held, mounted, swapped, pooled, pathed;
  ASSERT_NO_FATAL_FAILURE(forced.do_to_drive("mkfs.ext4 -q -F"));
  fs::create_directories(held.root() / "sys/block/nvme0n1/holders/md127");
  for (const auto* path : {"nvme0", "nvme1"})
    fs::create_directories(pathed.root() / "sys/block/nvme0n1/device" / path);
  std::ofstream{mounted.root() / "proc/mounts"} << mounted.drive().string() + " /data xfs rw 0 0\n";
  std::ofstream{swapped.root() / "proc/swaps"} << swapped.drive().string() + " partition 1 0 -2\n";
  pooled.tools = "zpool() { echo '  " + pooled.drive().string() + "p1  ONLINE  0  0  0'; }\n";
  forced.tools = "zpool() { echo '  " + forced.drive().string() + "0p1  ONLINE  0  0  0'; }\n";

  const auto found = forced.test(force);

  ASSERT_TRUE(found) << why(found);
  EXPECT_EQ(value_of(*found, "nvme.errors", "nvme0"), 0);
  EXPECT_THAT(why_not_burned(held.test(force)), HasSubstr("it is held by md127"));
  EXPECT_THAT(why_not_burned(mounted.test(force)), HasSubstr("it is mounted"));
  EXPECT_THAT(why_not_burned(swapped.test(force)), HasSubstr("it is swapped on"));
  EXPECT_THAT(why_not_burned(pooled.test(force)), HasSubstr("it belongs to a ZFS pool"));
  EXPECT_THAT(why_not_burned(pathed.test(force)), HasSubstr("it is reached over 2 paths"));
  EXPECT_THAT(why_not_burned(held.test({{"raw", "yes"}, {"drives", "nvme0,nvme7"}})),
              HasSubstr("held by"));
  EXPECT_THAT(why_not_burned(forced.test({{"raw", "yes"}, {"drives", "nvme7"}})),
              HasSubstr("is not there"));
}

TEST(Nvme, TestsAMountedDriveByAFileAndLeavesNothingBehind) {
  CUPEL_NEEDS_REAL_PART(installed("fio"), "fio is not installed");
  const FileDrive node;
  const auto mount = (node.root() / "mnt").string();

  const auto output = node.run({}, mount);

  const auto found = parsed("nvme", output);
  ASSERT_TRUE(found) << why(found) << "\n" << output.text << output.errors;
  EXPECT_EQ(value_of(*found, "nvme.errors", "nvme0"), 0);
  EXPECT_TRUE(fs::is_empty(mount));
  EXPECT_EQ(fs::file_size(node.drive()), 64u << 20);
  EXPECT_THAT(why_not_burned(node.test({{"size", "16TiB"}}, mount)), HasSubstr("not enough space"));
}

TEST(Nvme, GivesAnArraysErrorsToNoOneDrive) {
  const auto good = parsed("nvme", nvme_text("0"));
  const auto bad = parsed("nvme", nvme_text("84"));
  const auto idle =
      parsed("nvme", replaced(nvme_text("0"), "\"name\": \"nvme1n1\", \"read_ios\": 9",
                              "\"name\": \"nvme1n1\", \"read_ios\": 0"));

  ASSERT_TRUE(good && bad) << why(good) << why(bad);
  EXPECT_EQ(value_of(*good, "nvme.errors", "nvme0"), 0);
  EXPECT_EQ(value_of(*good, "nvme.errors", "nvme1"), 0);
  EXPECT_EQ(value_of(*good, "nvme.write.bandwidth", "nvme0+nvme1"), 2.984569612);
  EXPECT_EQ(value_of(*good, "nvme.media_errors.new", "nvme1"), 2);
  EXPECT_EQ(value_of(*bad, "nvme.errors", "nvme0+nvme1"), 1);
  EXPECT_EQ(value_of(*bad, "nvme.errors", "nvme1"), std::nullopt);
  EXPECT_THAT(why_not_burned(idle), HasSubstr("fio did not see nvme1 of nvme0+nvme1 work"));
}

TEST(Nvme, OfAMachineWithoutAnyIsAFaultOnlyWhereItsProfileExpectsSome) {
  CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid"), "fio or blkid is not installed");
  const FileDrive node;
  fs::remove_all(node.root() / "sys/class/nvme/nvme0");
  auto without = profile();
  std::erase_if(without.parts,
                [](const auto& each) { return each.kind == inventory::PartKind::nvme; });

  const auto output = node.run({{"raw", "yes"}});
  const auto expected = parsed("nvme", output);
  const auto unexpected = stage("nvme")->parse(without, output);

  EXPECT_EQ(why(expected), "the node has no NVMe drive");
  ASSERT_TRUE(unexpected) << why(unexpected);
  EXPECT_TRUE(unexpected->measurements.empty());
  ASSERT_EQ(unexpected->unknown.size(), 1u);
  EXPECT_EQ(unexpected->unknown[0].fact, "NVMe drives");
}

TEST(Nvme, AndStorageRefuseWhatCannotBeMeant) {
  for (const auto& [name, with, reason] :
       std::vector<std::tuple<std::string, Parameters, std::string>>{
           {"nvme",
            {{"drives", "sda"}},
            "drives must be all, or names like nvme0,nvme1, not 'sda'"},
           {"nvme", {{"drives", "nvme0; reboot"}}, "drives"},
           {"nvme", {{"drives", ""}}, "drives"},
           {"nvme", {{"raw", "maybe"}}, "raw must be no, yes or force, not 'maybe'"},
           {"nvme", {{"raw", "force"}}, "raw: force overwrites what drives hold: name them"},
           {"nvme", {{"size", "1MiB"}}, "size must be"},
           {"nvme", {{"runtime", "0s"}}, "runtime must be"},
           {"storage", {{"type", "lustre"}}, "directory must be an absolute path"},
           {"storage", {{"directory", "/s"}}, "type must be the file system's"},
           {"storage", {{"directory", "/s"}, {"type", "a b"}}, "type must be"}}) {
    const auto job = prepared(name, with);
    ASSERT_FALSE(job) << reason;
    EXPECT_EQ(job.error().code, Code::kInvalid);
    EXPECT_THAT(job.error().what, HasSubstr(reason));
  }
}

TEST(Storage, ReadsInWhatCupelNodePrintsTheSameAsInTheScriptsOutput) {
  const auto script = parsed("storage", storage_text()),
             agent = parsed("storage", storage_agent_text());

  ASSERT_TRUE(script && agent) << why(script) << why(agent);
  EXPECT_THAT(agent->measurements, ::testing::UnorderedElementsAreArray(script->measurements));
  EXPECT_EQ(agent->facts, script->facts);
  EXPECT_TRUE(agent->unknown.empty());
}

TEST(Storage, ProvesNothingByWhatCupelNodeCutOrLeftOut) {
  const auto whole = storage_agent_text();

  for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
           {replaced(whole, R"("name":"fio")", R"("name":"x")"), "did not come to its end"},
           {replaced(whole, R"("cut":false)", R"("cut":true)"), "fio reported nothing"},
           {replaced(whole, R"("name":"mount")", R"("name":"x")"), "the mount is not reported"},
           {replaced(whole, R"("name":"seconds")", R"("name":"x")"), "fio was not started"}})
    EXPECT_THAT(why(parsed("storage", text)), HasSubstr(reason));
  EXPECT_TRUE(says_unknown(
      *parsed("storage", replaced(whole, R"("direct","value":1)", R"("direct","value":0)")),
      "storage.read.bandwidth"));
}

TEST(Storage, ProvesNothingWithoutAWholeReport) {
  const auto text = storage_text();
  ASSERT_TRUE(parsed("storage", text)) << why(parsed("storage", text));

  EXPECT_THAT(why(parsed("storage", replaced(text, "cupel-all-told", ""))),
              HasSubstr("did not come to its end"));
  EXPECT_THAT(why(parsed("storage", replaced(text, "\"verify\"", "\"other\""))),
              HasSubstr("nothing of the verification"));
  EXPECT_THAT(why(parsed("storage", replaced(text, "cupel-mounted: ", ""))),
              HasSubstr("the mount is not reported"));
  EXPECT_TRUE(says_unknown(*parsed("storage", replaced(text, "cupel-direct: 1", "cupel-direct: 0")),
                           "storage.read.bandwidth"));
}

/// A folder in which another user renames what the stages make, and lays a link to a folder of
/// root's in its place: as soon as it is made, or when the stage has begun to write.
class FolderOfAll {
 public:
  enum class When { made, written };

  explicit FolderOfAll(When when) {
    fs::create_directory(open());
    fs::create_directory(victim());
    fs::permissions(victim(), fs::perms::owner_all);
    fs::permissions(open(), fs::perms{0777});
    std::ofstream{victim() / "file"} << "precious";
    const auto at = open().string();
    swaps = "swap() { mv \"$1\" \"$1.gone\"; ln -s " + victim().string() + " \"$1\"; }\n";
    if (when == When::made)
      swaps += "mktemp() { made=$(command mktemp \"$@\"); case $made in " + at +
               "/*) swap \"$made\" ;; esac; echo \"$made\"; }\n";
    else
      swaps +=
          "dd() { for made in " + at + "/cupel-*; do swap \"$made\"; done; command dd \"$@\"; }\n";
  }
  fs::path open() const { return folder_.path() / "open"; }
  fs::path victim() const { return folder_.path() / "victim"; }
  void expect_victim_untouched() const {
    std::string kept;
    std::ifstream{victim() / "file"} >> kept;
    EXPECT_EQ(kept, "precious");
    EXPECT_EQ(std::distance(fs::directory_iterator{victim()}, {}), 1);
  }

  std::string swaps{};

 private:
  test::TemporaryFolder folder_{};
};

class ScratchFolder : public ::testing::TestWithParam<FolderOfAll::When> {
 protected:
  void SetUp() override { CUPEL_NEEDS_REAL_PART(installed("fio"), "fio is not installed"); }
  /// Who comes too late changes nothing; who comes in time is told of.
  void expect_told(const Result<Findings>& found) const {
    if (GetParam() == FolderOfAll::When::made)
      EXPECT_THAT(why(found), AllOf(HasSubstr("another user changed"), HasSubstr("chmod +t")));
    all.expect_victim_untouched();
  }
  const FolderOfAll all{GetParam()};
};

TEST_P(ScratchFolder, OfNvmeThatAnotherUserExchangesLeadsNowhere) {
  FileDrive node;
  node.tools = all.swaps;

  expect_told(node.test({}, all.open().string()));
}

INSTANTIATE_TEST_SUITE_P(Drives, ScratchFolder,
                         ::testing::Values(FolderOfAll::When::made, FolderOfAll::When::written));

}  // namespace
}  // namespace cupel::burnin
