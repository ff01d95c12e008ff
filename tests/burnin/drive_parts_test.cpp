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
  }

  std::string tools{};  // functions of a shell
  fs::path root() const { return folder_.path(); }
  fs::path drive() const { return root() / "dev/nvme0n1"; }
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
    return run_script(script, lsblk + smart() + tools);
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
  EXPECT_EQ(value_of(all, "nvme.errors", "nvme0"), 0);
  EXPECT_GT(value_of(all, "nvme.read.bandwidth", "nvme0").value_or(0), 0.001);
  EXPECT_GT(value_of(all, "nvme.read.iops", "nvme0").value_or(0), 1);
  EXPECT_EQ(value_of(all, "nvme.media_errors.new", "nvme0"), 0);
  EXPECT_EQ(value_of(all, "nvme.temperature", "nvme0"), 41);
}

TEST(Nvme, NeverWritesToADriveThatHoldsSomething) {
  CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid") && installed("mkfs.ext4"),
                        "fio, blkid or mkfs.ext4 is not installed");
  // A partition of Linux's type in a table of a sector, as fdisk writes it.
  const std::string table =
      "sh -c 'printf \"\\\\000\\\\040\\\\041\\\\000\\\\203\\\\010\\\\202\\\\010"
      "\\\\000\\\\010\\\\000\\\\000\\\\000\\\\370\\\\001\\\\000\" | dd of=\"$0\" bs=1 seek=446 "
      "conv=notrunc; printf \"\\\\125\\\\252\" | dd of=\"$0\" bs=1 seek=510 conv=notrunc'";
  for (const auto& [command, reason] : std::vector<std::pair<std::string, std::string>>{
           {"mkfs.ext4 -q -F", "ext4"}, {table, "dos"}, {"touch", ""}}) {
    const FileDrive node;
    ASSERT_NO_FATAL_FAILURE(node.do_to_drive(command));
    if (reason.empty()) fs::create_directories(node.root() / "sys/block/nvme0n1/nvme0n1p1");
    const auto before = *read_file(node.drive().string(), 65u << 20);

    const auto found = node.test({{"raw", "yes"}});
    const auto aside = node.test({{"raw", "no"}});

    EXPECT_THAT(why(found), AllOf(HasSubstr("nvme0 was not tested: "),
                                  HasSubstr(reason.empty() ? "it has partitions" : reason)));
    EXPECT_THAT(why(aside), HasSubstr("no file system of an NVMe drive is mounted"));
    EXPECT_TRUE(before == *read_file(node.drive().string(), 65u << 20)) << command;
  }
}

TEST(Nvme, ForceWritesOnANamedDriveButNotOnOneInUse) {
  CUPEL_NEEDS_REAL_PART(installed("fio") && installed("blkid") && installed("mkfs.ext4"),
                        "fio, blkid or mkfs.ext4 is not installed");
  const Parameters force{{"raw", "force"}, {"drives", "nvme0"}};
  FileDrive forced, held, mounted, swapped, pooled;
  ASSERT_NO_FATAL_FAILURE(forced.do_to_drive("mkfs.ext4 -q -F"));
  fs::create_directories(held.root() / "sys/block/nvme0n1/holders/md127");
  std::ofstream{mounted.root() / "proc/mounts"} << mounted.drive().string() + " /data xfs rw 0 0\n";
  std::ofstream{swapped.root() / "proc/swaps"} << swapped.drive().string() + " partition 1 0 -2\n";
  pooled.tools = "zpool() { echo '  " + pooled.drive().string() + "p1  ONLINE  0  0  0'; }\n";
  forced.tools = "zpool() { echo '  " + forced.drive().string() + "0p1  ONLINE  0  0  0'; }\n";

  const auto found = forced.test(force);

  ASSERT_TRUE(found) << why(found);
  EXPECT_EQ(value_of(*found, "nvme.errors", "nvme0"), 0);
  EXPECT_THAT(why(held.test(force)), HasSubstr("it is held by md127"));
  EXPECT_THAT(why(mounted.test(force)), HasSubstr("it is mounted"));
  EXPECT_THAT(why(swapped.test(force)), HasSubstr("it is swapped on"));
  EXPECT_THAT(why(pooled.test(force)), HasSubstr("it belongs to a ZFS pool"));
  EXPECT_THAT(why(held.test({{"raw", "yes"}, {"drives", "nvme0,nvme7"}})), HasSubstr("held by"));
  EXPECT_THAT(why(forced.test({{"raw", "yes"}, {"drives", "nvme7"}})), HasSubstr("is not there"));
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
  EXPECT_THAT(why(node.test({{"size", "16TiB"}}, mount)), HasSubstr("not enough space"));
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
  EXPECT_THAT(why(idle), HasSubstr("fio did not see nvme1 of nvme0+nvme1 work"));
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

/// What the kernel would say of this machine's own folder, if it were of that type.
Output run_storage(const fs::path& folder, const std::string& type, const std::string& is,
                   const std::string& tools = {}) {
  const test::TemporaryFolder proc;
  const auto mounts = (proc.path() / "mounts").string();
  std::ofstream{mounts} << "/dev/vda / ext4 rw 0 0\nfs@tcp:/x " + folder.string() + " " + is +
                               " rw 0 0\n";
  auto script =
      prepared(
          "storage",
          {{"directory", folder.string()}, {"type", type}, {"size", "16MiB"}, {"runtime", "1s"}})
          ->script;
  return run_script(replaced(script, "mounts=/proc/mounts", "mounts=" + shell_quoted(mounts)),
                    tools);
}

TEST(Storage, WritesAndVerifiesAndCountsItsNeighbours) {
  CUPEL_NEEDS_REAL_PART(installed("fio"), "fio is not installed");
  const test::TemporaryFolder folder;
  const auto now = std::to_string(std::time(nullptr));
  fs::create_directories(folder.path() / ("cupel-storage.other.node." + now + ".7-x"));
  fs::create_directories(folder.path() / "cupel-storage.dead.1500000000.9-x");

  const auto output = run_storage(folder.path(), "nfs", "nfs4");

  const auto found = parsed("storage", output);
  ASSERT_TRUE(found) << why(found) << "\n" << output.text << output.errors;
  EXPECT_EQ(value_of(*found, "storage.mounted"), 1);
  EXPECT_EQ(value_of(*found, "storage.errors"), 0);
  EXPECT_EQ(value_of(*found, "storage.nodes"), 2);
  EXPECT_EQ(std::distance(fs::directory_iterator{folder.path()}, {}), 2) << "not its own";
}

TEST(Storage, FindsALocalDiskWhereASharedOneWasDueAndWritesNothingToIt) {
  CUPEL_NEEDS_REAL_PART(installed("fio"), "fio is not installed");
  const test::TemporaryFolder folder;

  const auto local = run_storage(folder.path(), "lustre", "ext4");
  const auto absent = run_storage(folder.path() / "gone", "lustre", "lustre");

  for (const auto& output : {local, absent}) {
    const auto found = parsed("storage", output);
    ASSERT_TRUE(found) << why(found) << output.errors;
    EXPECT_EQ(value_of(*found, "storage.mounted"), 0);
    EXPECT_EQ(value_of(*found, "storage.errors"), std::nullopt);
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
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
               "/*) swap \"$made\" ;; esac; echo \"$made\"; }\n"
               "mkdir() { command mkdir \"$@\"; for made in " +
               at + "/cupel-*; do [ ! -d \"$made\" ] || swap \"$made\"; done; }\n";
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

TEST_P(ScratchFolder, OfDiskThatAnotherUserExchangesLeadsNowhere) {
  const auto job =
      prepared("disk", {{"directory", all.open().string()}, {"size", "16MiB"}, {"runtime", "1s"}});

  expect_told(parsed("disk", run_script(job->script, all.swaps)));
}

TEST_P(ScratchFolder, OfStorageThatAnotherUserExchangesLeadsNowhere) {
  expect_told(parsed("storage", run_storage(all.open(), "nfs", "nfs4", all.swaps)));
}

INSTANTIATE_TEST_SUITE_P(Drives, ScratchFolder,
                         ::testing::Values(FolderOfAll::When::made, FolderOfAll::When::written));

}  // namespace
}  // namespace cupel::burnin
