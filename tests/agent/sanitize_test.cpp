// The stage sanitize in the program itself: what it begins, what it follows, what it does not
// touch, with an nvme that keeps its status log in a file.
#include <gmock/gmock.h>

#include "burnin/disk/media.h"
#include "tests/agent/load_bench.h"
#include "tests/agent/node_tree.h"
#include "tests/burnin/tools.h"

namespace cupel::agent {
namespace {

using burnin::value_of;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kErase =
    R"({"drives":["nvme0"],"erase":true,"purge":true,"skip":"","limit":60})";
constexpr const char* kAny =
    R"({"drives":["nvme0"],"erase":true,"purge":false,"skip":"","limit":60})";

/// Its log is a list of a status and a command in a line each; what was read is gone, but for the
/// last.
constexpr std::string_view kNvme = R"sh(case $1 in
  id-ctrl) echo "$id" ;;
  sanitize-log)
    { read -r status; read -r command; rest=$(cat); } <"$at/log"
    printf 'Sanitize Progress (SPROG) :  65535\nSanitize Status (SSTAT) :  %s\n' "$status"
    printf 'Sanitize Command Dword 10 Information (SCDW10) :  %s\n' "$command"
    if [ -n "$rest" ]; then printf '%s\n' "$rest" >"$at/log"; fi ;;
  sanitize)
    echo "$@" >>"$at/calls"
    if [ "$ends" != none ]; then printf "$ends\n%s\n" "${3#--sanact=}" >"$at/log"; fi
    exit "$exits" ;;
  format) echo "$@" >>"$at/calls" ;;
esac)sh";

/// One drive, nvme0.
class Drive {
 public:
  Drive() {
    files.write("/proc/mounts", "/dev/md0 / ext4 rw 0 0");
    files.write("/proc/swaps", "Filename Type Size Used Priority");
    files.write("/sys/class/nvme/nvme0/serial", "S64H0001            ");
    files.write("/sys/class/nvme/nvme0/model", "MZQL2");
    files.write("/sys/class/nvme/nvme0/transport", "pcie");
    files.write("/sys/block/nvme0n1/device/serial", "S64H0001            ");
    files.write("/sys/block/nvme0n1/size", "2000");
    files.write("/dev/nvme0", "");
    files.write("/dev/nvme0n1", "");
    for (const auto* each : {"wipefs", "blockdev"}) tools.add(each, "exit 0");
    tools.add("lsblk", "echo 'MOUNTPOINT=\"\"'");
    tools.add("blkid", "exit 2");
    can(3, 4);
    log("0");
  }

  /// What its controller reports of itself; `total`: bytes of all of its name spaces.
  void can(int sanicap, int fna, long total = 1024000) {
    id_ = R"({"sn":"S64H0001","oacs":94,"sanicap":)" + std::to_string(sanicap) + R"(,"fna":)" +
          std::to_string(fna) + R"(,"tnvmcap":)" + std::to_string(total) + R"(,"unvmcap":0})";
    add_nvme();
  }
  void sanitize_ends(const std::string& status, int exit_status = 0) {
    ends_ = status;
    exit_status_ = exit_status;
    add_nvme();
  }
  void log(const std::string& status, const std::string& command = "0") const {
    files.write("/log", status + "\n" + command);
  }

  burnin::Output run(const std::string& order = kErase) const {
    return burnin::run_script("printf '%s' " + shell_quoted(order) + " | PATH=" + tools.folder() +
                              ":$PATH " NODE_BINARY " stage sanitize --root " + files.root() +
                              "\n");
  }
  /// Every command that would change the drive.
  std::string calls() const {
    auto text = read_file(files.root() + "/calls", 1u << 20).value_or("");
    const auto root = files.root();
    for (auto at = text.find(root); at != text.npos; at = text.find(root))
      text.erase(at, root.size());
    return text;
  }

  NodeTree files{};
  burnin::FakeTools tools{};

 private:
  void add_nvme() const {
    tools.add("nvme", "at=" + files.root() + "\nid='" + id_ + "'\nends='" + ends_ +
                          "'\nexits=" + std::to_string(exit_status_) + "\n" + std::string{kNvme});
  }
  std::string id_{}, ends_ = "0x101";
  int exit_status_ = 0;
};

std::string why_not(const burnin::Output& output, const std::string& part = "nvme0") {
  const auto found = burnin::parsed("sanitize", output);
  if (!found) return found.error().what;
  for (const auto& each : found->measurements)
    if (each.name == "nvme.sanitized" && each.part == part)
      return each.value == 1 ? "it was erased" : each.traced_to;
  return "nothing was reported: " + output.text + output.errors;
}

TEST(SanitizeStage, HasTheDriveEraseItselfAndReadsItsLog) {
  const Drive drive;

  const auto output = drive.run();

  EXPECT_EQ(why_not(output), "it was erased");
  EXPECT_EQ(drive.calls(), "sanitize /dev/nvme0 --sanact=4\n");
}

TEST(SanitizeStage, TakesTheBestThatTheControllerCan) {
  Drive block, crypto, user, none;
  block.can(2, 4);
  crypto.can(0, 4);
  user.can(0, 0);
  none.can(0, 0);

  EXPECT_EQ(why_not(block.run()), "it was erased");
  EXPECT_EQ(why_not(crypto.run()), "it was erased");
  EXPECT_EQ(why_not(user.run(kAny)), "it was erased");
  EXPECT_THAT(why_not(none.run()), HasSubstr("its controller can only clear it"));
  EXPECT_EQ(block.calls(), "sanitize /dev/nvme0 --sanact=2\n");
  EXPECT_EQ(crypto.calls(), "format /dev/nvme0n1 --ses=2 --force\n");
  EXPECT_EQ(user.calls(), "format /dev/nvme0n1 --ses=1 --force\n");
  EXPECT_EQ(none.calls(), "");
}

TEST(SanitizeStage, BeginsNoneWhereOneRunsOrNothingWasWrittenSince) {
  const Drive runs, done;
  runs.log("0x2\n2\n0x101", "2");
  done.log("0x101", "4");

  EXPECT_EQ(why_not(runs.run()), "it was erased");
  EXPECT_EQ(why_not(done.run()), "it was erased");
  EXPECT_EQ(runs.calls() + done.calls(), "");
}

TEST(SanitizeStage, BeginsOneWhereTheLastOneFailedOrTheDriveWasWrittenSince) {
  const Drive written, failed;
  written.log("0x1", "4");
  failed.log("0x3", "4");

  EXPECT_EQ(why_not(written.run()), "it was erased");
  EXPECT_EQ(why_not(failed.run()), "it was erased");
  EXPECT_EQ(written.calls(), "sanitize /dev/nvme0 --sanact=4\n");
  EXPECT_EQ(failed.calls(), "sanitize /dev/nvme0 --sanact=4\n");
}

TEST(SanitizeStage, NeverTakesAFailedOrUnreadOneForAnErase) {
  Drive failed, refused, stale;
  const Drive unread, left;
  failed.sanitize_ends("0x3");
  refused.sanitize_ends("none", 1);
  stale.log("0x1", "4");  // of long ago
  stale.sanitize_ends("none", 1);
  unread.files.write("/log", "no status");
  left.tools.add("blkid", "echo '/dev/nvme0n1: TYPE=\"ext4\" USAGE=\"filesystem\"'");

  EXPECT_THAT(why_not(failed.run()), HasSubstr("the drive reports that its sanitize failed"));
  EXPECT_THAT(why_not(refused.run()), HasSubstr("the drive refused its sanitize"));
  EXPECT_THAT(why_not(stale.run()), HasSubstr("the drive refused its sanitize"));
  EXPECT_THAT(why_not(unread.run()), HasSubstr("its sanitize log cannot be read"));
  EXPECT_EQ(unread.calls(), "");
  const auto output = left.run();
  EXPECT_THAT(why_not(output), HasSubstr("after its erase blkid finds on it"));
  EXPECT_EQ(value_of(*burnin::parsed("sanitize", output), "nvme.sanitize.failed", "nvme0"), 1);
}

TEST(SanitizeStage, TakesNoEndThatTheLogHasOfTheEraseBefore) {
  Drive drive;
  drive.log("0x1", "4");
  drive.sanitize_ends(R"(0x1\n4\n0x2\n4\n0x3)");

  const auto output = drive.run();

  EXPECT_THAT(why_not(output), HasSubstr("the drive reports that its sanitize failed"));
  EXPECT_EQ(drive.calls(), "sanitize /dev/nvme0 --sanact=4\n");
}

/// Gives out every device, or none.
class AnyScratch final : public Scratch {
 public:
  explicit AnyScratch(bool busy) : busy_{busy} {}
  std::optional<Room> look(const std::string&) const override { return std::nullopt; }
  Made make(const Room&, std::string_view) override { return {nullptr, "there is no folder"}; }
  Held hold(const std::string&, const std::string&) override {
    if (busy_) return {nullptr, "it is in use (O_EXCL)"};
    return {std::make_unique<HeldDevice>(), {}};
  }

 private:
  bool busy_;
};

/// Of a drive that takes each command, and whose log always reads the same.
burnin::Output run_with_log(LoadBench& bench, Scratch& scratch, const std::string& status) {
  bench.scratch = &scratch;
  for (const auto& [path, text] : std::vector<std::pair<std::string, std::string>>{
           {"/proc/mounts", "/dev/md0 / ext4 rw 0 0"},
           {"/sys/class/nvme/nvme0/serial", "S64H0001"},
           {"/sys/class/nvme/nvme0/transport", "pcie"},
           {"/sys/block/nvme0n1/device/serial", "S64H0001"},
           {"/sys/block/nvme0n1/size", "2000"}})
    bench.files.write(path, text);
  auto& programs = bench.programs;
  programs.add("nvme id-ctrl",
               {.status = 0, .out = R"({"sn":"S64H0001","oacs":94,"sanicap":3,"fna":4})"});
  programs.add("nvme sanitize-log", {.status = 0,
                                     .out = "Sanitize Progress (SPROG) :  65535\n"
                                            "Sanitize Status (SSTAT) :  " +
                                            status +
                                            "\nSanitize Command Dword 10 Information (SCDW10) :  "
                                            "0x4\n"});
  programs.add("nvme sanitize ", {.status = 0});
  programs.add("lsblk", {.status = 0, .out = "MOUNTPOINT=\"\"\n"});
  programs.add("blkid", {.status = 2});
  for (const auto* tool : {"wipefs", "blockdev"}) programs.add(tool, {.status = 0});
  const int ended = bench.run("sanitize", kErase);
  return {bench.lines.text, "", ended};
}

TEST(SanitizeStage, TakesNoLogThatStillReadsAsBeforeTheCommandForAnErase) {
  LoadBench bench;
  AnyScratch scratch{false};

  const auto output = run_with_log(bench, scratch, "0x1");

  EXPECT_THAT(why_not(output), HasSubstr("its sanitize log still reads as before it"));
  EXPECT_EQ(value_of(*burnin::parsed("sanitize", output), "nvme.sanitize.failed", "nvme0"),
            std::nullopt);
  EXPECT_THAT(bench.programs.asked, ::testing::Contains(HasSubstr("--sanact=4")));
}

TEST(SanitizeStage, BeginsNothingOnADriveThatTheKernelDoesNotGiveOut) {
  LoadBench bench;
  AnyScratch scratch{true};

  const auto output = run_with_log(bench, scratch, "0x1");

  EXPECT_EQ(why_not(output), "nvme0n1 cannot be held: it is in use (O_EXCL)");
  EXPECT_THAT(bench.programs.asked, ::testing::Not(::testing::Contains(HasSubstr("--sanact"))));
}

TEST(SanitizeStage, TouchesNoDriveBehindANetworkOrWithATwin) {
  const Drive remote, unknown, twin;
  remote.files.write("/sys/class/nvme/nvme0/transport", "tcp");
  remote.log("0x101", "4");
  fs::remove(unknown.files.root() + "/sys/class/nvme/nvme0/transport");
  twin.files.write("/sys/class/nvme/nvme1/serial", "S64H0001");

  EXPECT_THAT(why_not(remote.run()), HasSubstr("it is attached over tcp"));
  EXPECT_THAT(why_not(unknown.run()), HasSubstr("does not report how it is attached"));
  EXPECT_THAT(why_not(twin.run()), HasSubstr("nvme1 reports its serial number too"));
  for (const auto* each : {&remote, &unknown, &twin}) EXPECT_EQ(each->calls(), "");
}

TEST(SanitizeStage, LooksAtTheSerialNumberOnceMoreWhenItsToolsHaveAnswered) {
  const Drive renamed, grown;
  const auto meanwhile = [](const Drive& drive, const std::string& script) {
    drive.tools.add("lsblk",
                    "cd " + drive.files.root() + "/sys\n" + script + "\necho 'MOUNTPOINT=\"\"'");
  };
  meanwhile(renamed,
            "echo S64H0007 >class/nvme/nvme0/serial; echo S64H0007 >block/nvme0n1/device/serial");
  meanwhile(grown, "mkdir -p block/nvme0n2/device; echo S64H0001 >block/nvme0n2/device/serial");

  EXPECT_THAT(why_not(renamed.run()), HasSubstr("another drive has its name now"));
  EXPECT_THAT(why_not(grown.run()), HasSubstr("its name spaces are not those"));
  EXPECT_EQ(renamed.calls() + grown.calls(), "");
}

TEST(SanitizeStage, TouchesNoDriveInUseOrOfAnotherSerialNumber) {
  const Drive mounted, held, pathed, other, nameless;
  const std::string block = "/sys/block/nvme0n1";
  mounted.tools.add("lsblk", "echo 'MOUNTPOINT=\"/data\"'");
  fs::create_directories(held.files.root() + block + "/nvme0n1p2/holders/dm-0");
  for (const auto* path : {"nvme0", "nvme1"})
    fs::create_directories(pathed.files.root() + block + "/device/" + path);
  other.files.write("/sys/class/nvme/nvme0/serial", "S64H0002");
  fs::remove_all(nameless.files.root() + block);

  EXPECT_EQ(why_not(mounted.run()), "it is mounted");
  EXPECT_EQ(why_not(held.run()), "it is held by dm-0");
  EXPECT_THAT(why_not(pathed.run()), HasSubstr("it is reached over 2 paths"));
  EXPECT_THAT(why_not(other.run()),
              HasSubstr("its serial number is 'S64H0002' for the kernel and 'S64H0001'"));
  EXPECT_THAT(why_not(nameless.run()), HasSubstr("it has no name space here"));
  for (const auto* each : {&mounted, &held, &pathed, &other, &nameless})
    EXPECT_EQ(each->calls(), "");
}

TEST(SanitizeStage, FormatsNoDriveOfWhichItDoesNotSeeAllNameSpaces) {
  Drive hidden;
  hidden.can(0, 4, 4096000);

  EXPECT_THAT(why_not(hidden.run()), HasSubstr("it has name spaces that this node does not see"));
  EXPECT_EQ(hidden.calls(), "");
}

TEST(SanitizeStage, CountsOtherDisksAsNotErased) {
  const Drive drive;
  drive.files.write("/sys/block/sda/size", "1000");
  drive.files.write("/sys/block/sdb/size", "1000");
  drive.files.write("/sys/block/sdb/removable", "1");

  const auto output = drive.run(R"({"drives":[],"erase":true,"purge":true,"skip":"","limit":60})");

  EXPECT_EQ(why_not(output), "it was erased");
  EXPECT_THAT(why_not(output, "nvme"), HasSubstr("sda: it is no NVMe drive"));
  EXPECT_THAT(output.text, ::testing::Not(HasSubstr("sdb")));
}

TEST(SanitizeStage, RefusesAnOrderThatItCannotRead) {
  const Drive drive;
  for (const auto& [order, what] : std::vector<std::pair<std::string, std::string>>{
           {R"({"drives":["sda"],"erase":true,"purge":true,"skip":"","limit":60})", "no list of"},
           {R"({"drives":[],"purge":true,"skip":"","limit":60})", "erase that is true or false"},
           {R"({"drives":[],"erase":true,"purge":true,"limit":60})", "no skip of 200 bytes"},
           {R"({"drives":[],"erase":true,"purge":true,"skip":""})", "limit"}})
    EXPECT_THAT(drive.run(order).text, ::testing::AllOf(HasSubstr("gave-up"), HasSubstr(what)));
  EXPECT_EQ(drive.calls(), "");
}

}  // namespace
}  // namespace cupel::agent
