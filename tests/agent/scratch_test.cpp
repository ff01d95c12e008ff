// Scratch folders on this machine's own file system, and the stages disk and storage in the program
// itself: what they refuse to touch above all.
#include <gmock/gmock.h>
#include <signal.h>

#include "burnin/agent/node/node_scratch.h"
#include "burnin/agent/node/subcommand.h"
#include "tests/agent/node_tree.h"
#include "tests/burnin/tools.h"
#include "tests/support/real_part.h"

namespace cupel::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::string_view kKind = "cupel-disk";

/// A node with a folder /scratch, on a file system of the type that a test says.
struct ScratchNode {
  ScratchNode() {
    fs::create_directories(scratch());
    mount("ext4");
  }
  void mount(const std::string& type) const {
    files.write("/proc/mounts", "/dev/vda / ext4 rw 0 0\nfs@tcp:/x /scratch " + type + " rw 0 0");
  }
  fs::path scratch() const { return files.root() + "/scratch"; }
  std::ptrdiff_t left() const { return std::distance(fs::directory_iterator{scratch()}, {}); }

  /// As a job does it, with the test's own tools first in PATH. `after`: lines behind it, in which
  /// $pid is the program.
  burnin::Output run(const std::string& stage, const std::string& order,
                     const std::string& after = "wait $pid\n") const {
    return burnin::run_script("printf '%s' " + shell_quoted(order) + " >" + tools.folder() +
                                  "/order\n" NODE_BINARY " stage " + stage + " --root " +
                                  files.root() + " <" + tools.folder() + "/order &\npid=$!\n" +
                                  after,
                              "PATH=" + tools.folder() + ":$PATH\nexport PATH\n");
  }
  burnin::Output disk(const std::string& bytes = "16777216") const {
    return run("disk", R"({"directory":"/scratch","runtime":1,"limit":600,"bytes":)" + bytes + "}");
  }
  burnin::Output storage(const std::string& types,
                         const std::string& directory = "/scratch") const {
    return run("storage", R"({"bytes":16777216,"runtime":1,"limit":600,"types":)" + types +
                              R"(,"directory":")" + directory + "\"}");
  }

  NodeTree files{};
  burnin::FakeTools tools{};
};

std::string why(const Result<burnin::Findings>& found, const burnin::Output& output) {
  return (found ? std::string{"found something"} : found.error().what) + "\n" + output.text +
         output.errors;
}

TEST(Scratch, IsAFolderOfOursThatGoesWithItsFile) {
  const ScratchNode node;
  NodeScratch scratch{node.files.root()};
  const auto room = scratch.look("/scratch");
  ASSERT_TRUE(room);

  {
    const auto made = scratch.make(*room, kKind);
    ASSERT_TRUE(made.folder) << made.why;
    const auto path = node.scratch() / made.folder->name();
    std::ofstream{path / "file"} << "written";
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    EXPECT_EQ(ScratchName::read(made.folder->name(), kKind)->process, ::getpid());
  }

  EXPECT_EQ(room->path, "/scratch");
  EXPECT_EQ(node.left(), 0);
  EXPECT_FALSE(scratch.look("/gone"));
  EXPECT_FALSE(scratch.look("/proc/mounts")) << "it is no folder";
}

/// Another user may have exchanged it between the moments at which it was made and opened.
TEST(Scratch, RefusesAFolderThatAnotherUserCreated) {
  const ScratchNode node;
  NodeScratch scratch{node.files.root()};
  const auto room = scratch.look("/scratch");
  ASSERT_TRUE(room);
  const auto victim = fs::path{node.files.root()} / "victim", at = node.scratch();
  for (const auto& each : {victim, at / "open", at / "full", at / "ours"}) {
    fs::create_directory(each);
    fs::permissions(each, fs::perms::owner_all);
  }
  fs::permissions(at / "open", fs::perms{0755});
  std::ofstream{at / "full" / "file"} << "precious";
  fs::create_symlink(victim, at / "link");

  for (const auto* name : {"open", "full", "link", "gone"})
    EXPECT_THAT(scratch.take(*room, name).why,
                AllOf(HasSubstr("another user changed /scratch/"), HasSubstr("chmod +t")))
        << name;
  auto moved = *room;
  moved.inode += 1;
  EXPECT_EQ(scratch.take(moved, "ours").folder, nullptr) << "another folder than was looked at";
  EXPECT_NE(scratch.take(*room, "ours").folder, nullptr);
  EXPECT_TRUE(fs::exists(at / "full" / "file"));
}

TEST(Scratch, OfAProcessThatWasKilledIsRemovedByTheNextOfItsNode) {
  const ScratchNode node;
  NodeScratch scratch{node.files.root()};
  const auto room = scratch.look("/scratch");
  std::string host{trimmed(burnin::run_script("uname -n\n").text)};
  std::replace(host.begin(), host.end(), '/', '_');
  const auto kind = std::string{kKind} + ".";
  // No process has this number: kernel/pid_max is at most 2^22.
  const auto dead = kind + host + ".1700000000.2147483000-abc",
             older = kind + host + ".2147483000.Ab3dE6",
             living = kind + host + ".1700000000." + std::to_string(::getpid()) + "-abc",
             others = kind + host + "x.1700000000.2147483000-abc",
             linked = kind + host + ".1700000001.2147483000-abc";
  const auto victim = fs::path{node.files.root()} / "victim";
  fs::create_directory(victim);
  for (const auto& each : {dead, older, living, others}) {
    fs::create_directory(node.scratch() / each);
    fs::permissions(node.scratch() / each, fs::perms::owner_all);
    std::ofstream{node.scratch() / each / "file"} << "4 GiB of it";
  }
  std::ofstream{victim / "file"} << "precious";
  fs::create_symlink(victim, node.scratch() / linked);

  scratch.make(*room, kKind);

  EXPECT_FALSE(fs::exists(node.scratch() / dead));
  EXPECT_FALSE(fs::exists(node.scratch() / older)) << "of an earlier version";
  EXPECT_TRUE(fs::exists(node.scratch() / living / "file"));
  EXPECT_TRUE(fs::exists(node.scratch() / others / "file"));
  EXPECT_TRUE(fs::exists(victim / "file"));
}

TEST(ScratchName, IsReadAsItWasWrittenAndNothingElseIs) {
  const ScratchName name{"n1.rack.site", 1'700'000'000, 812};
  const auto text = name.text(kKind, "x7Kd2q");
  const auto read = ScratchName::read(text, kKind);

  EXPECT_EQ(text, "cupel-disk.n1.rack.site.1700000000.812-x7Kd2q");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->host, name.host);
  EXPECT_EQ(read->seconds, name.seconds);
  EXPECT_EQ(read->process, name.process);
  for (const auto* other : {"cupel-disk", "cupel-disk.n1", "cupel-disk.n1.x.812-a", "lost+found",
                            "cupel-disk.n1.1700000000.-a", "cupel-disk.n1.1.0-a",
                            "cupel-diskette.n1.1.2-a", "cupel-disk..."})
    EXPECT_FALSE(ScratchName::read(other, kKind)) << other;
}

TEST(NodeDisk, MeasuresThisMachinesDriveAndLeavesNothingBehind) {
  CUPEL_NEEDS_REAL_PART(burnin::installed("fio"), "fio is not installed");
  const ScratchNode node;

  const auto output = node.disk();

  const auto found = burnin::parsed("disk", output);
  ASSERT_TRUE(found) << why(found, output);
  EXPECT_EQ(burnin::value_of(*found, "disk.errors"), 0);
  if (!burnin::says_unknown(*found, "disk.read.bandwidth")) {
    EXPECT_GT(burnin::value_of(*found, "disk.write.bandwidth").value_or(0), 0.001);
    EXPECT_GT(burnin::value_of(*found, "disk.read.bandwidth").value_or(0), 0.001);
  }
  EXPECT_EQ(node.left(), 0);
}

TEST(NodeDisk, FindsABlockThatFioReadsBackWrong) {
  CUPEL_NEEDS_REAL_PART(burnin::installed("fio"), "fio is not installed");
  const ScratchNode node;
  const auto fio = std::string{trimmed(burnin::run_script("command -v fio\n").text)};
  // Between writing and verifying, somebody scribbles over the file.
  node.tools.add("fio", R"sh(left=$#
while [ "$left" -gt 0 ]; do
  case $1 in
    --name=verify) set -- "$@" --name=before ;;
    --do_verify=1) set -- "$@" --do_verify=0 --verify_state_save=0 --name=scribble --stonewall --rw=write --io_size=4194304 --name=verify --stonewall --rw=read --verify=crc32c ;;
    *) set -- "$@" "$1" ;;
  esac
  shift
  left=$((left - 1))
done
exec )sh" + fio + " \"$@\"");

  const auto output = node.disk();

  const auto found = burnin::parsed("disk", output);
  ASSERT_TRUE(found) << why(found, output);
  EXPECT_GE(burnin::value_of(*found, "disk.errors").value_or(0), 1);
}

TEST(NodeDisk, RefusesAFolderThatIsTooSmallInMemoryOrAbsent) {
  const ScratchNode node;
  node.tools.add("fio", "echo it ran");

  const auto full = node.disk("17592186044416");
  node.mount("tmpfs");
  const auto memory = node.disk();
  fs::remove(node.scratch());
  const auto absent = node.disk();

  EXPECT_THAT(burnin::refusal(burnin::parsed("disk", full)),
              HasSubstr("not enough space in /scratch: 18897856103 KiB needed"));
  EXPECT_THAT(burnin::refusal(burnin::parsed("disk", memory)),
              HasSubstr("/scratch is in memory (tmpfs), not on a drive"));
  EXPECT_THAT(burnin::refusal(burnin::parsed("disk", absent)),
              HasSubstr("there is no folder /scratch on the node"));
  for (const auto* each : {&full, &memory, &absent})
    EXPECT_EQ(each->exit_status, kFoundOutNothing) << each->text;
}

TEST(NodeDisk, LeavesNeitherItsFolderNorItsToolWhereASignalEndsIt) {
  const ScratchNode node;
  const auto mark = node.tools.folder() + "/mark";
  node.tools.add("fio", "echo x >./file\necho $$ >" + mark + ".new\nmv " + mark + ".new " + mark +
                            "\nexec sleep 1000");
  // Whoever adopts the tool may take its exit status late.
  const auto after = "i=0\nwhile [ ! -e " + mark +
                     " ] && [ $i -lt 1000 ]; do sleep 0.02; i=$((i + 1)); done\n"
                     "tool=$(cat " +
                     mark +
                     ")\nkill -TERM $pid\nwait $pid\nstatus=$?\ni=0\n"
                     "while [ -e /proc/$tool ] && ! grep -q '^State:.Z' /proc/$tool/status && "
                     "[ $i -lt 1000 ]; do sleep 0.02; i=$((i + 1)); done\n"
                     "[ $i -lt 1000 ] || echo 'the tool is still there'\nexit $status\n";

  const auto output = node.run(
      "disk", R"({"directory":"/scratch","bytes":16777216,"runtime":1,"limit":600})", after);

  EXPECT_EQ(output.exit_status, 128 + SIGTERM) << output.text << output.errors;
  EXPECT_THAT(output.text, ::testing::Not(HasSubstr("still there")));
  EXPECT_EQ(node.left(), 0);
}

/// In a folder that is not sticky another user renames the stage's own while fio runs in it, and
/// lays a link to a folder of root's in its place.
TEST(NodeDisk, WritesAndRemovesNothingElsewhereWhereItsFolderIsExchanged) {
  const ScratchNode node;
  const auto victim = fs::path{node.files.root()} / "victim";
  fs::create_directory(victim);
  std::ofstream{victim / "file"} << "precious";
  node.tools.add("fio", "for made in " + node.scratch().string() +
                            "/cupel-*; do mv \"$made\" \"$made.gone\"; ln -s " + victim.string() +
                            " \"$made\"; done\necho scribble >./file");

  for (const auto& output : {node.disk(), node.storage(R"(["ext4"])")})
    EXPECT_EQ(output.exit_status, kDone) << output.text << output.errors;

  std::string kept;
  std::ifstream{victim / "file"} >> kept;
  EXPECT_EQ(kept, "precious");
  for (const auto& entry : fs::directory_iterator{node.scratch()})
    if (!entry.is_symlink()) EXPECT_FALSE(fs::exists(entry.path() / "file")) << entry.path();
}

TEST(NodeStorage, WritesAndVerifiesAndCountsItsNeighbours) {
  CUPEL_NEEDS_REAL_PART(burnin::installed("fio"), "fio is not installed");
  const ScratchNode node;
  node.mount("nfs4");
  const auto now = std::to_string(std::time(nullptr));
  for (const auto& other : {"other.node." + now + ".7-x", std::string{"dead.1500000000.9-x"}})
    fs::create_directory(node.scratch() / ("cupel-storage." + other));

  const auto output = node.storage(R"(["nfs","nfs4"])");

  const auto found = burnin::parsed("storage", output);
  ASSERT_TRUE(found) << why(found, output);
  EXPECT_EQ(burnin::value_of(*found, "storage.mounted"), 1);
  EXPECT_EQ(burnin::value_of(*found, "storage.errors"), 0);
  EXPECT_EQ(burnin::value_of(*found, "storage.nodes"), 2);
  EXPECT_EQ(found->facts.at("storage.mount"), "nfs4 at /scratch");
  EXPECT_EQ(node.left(), 2) << "not its own";
}

TEST(NodeStorage, CountsNoNeighboursInAFolderWithMoreNamesThanItReads) {
  const ScratchNode node;
  node.mount("nfs4");
  node.tools.add("fio", "exit 1");
  for (std::size_t i = 0; i < Tree::kMostNames; ++i)
    std::ofstream{node.scratch() / std::to_string(i)};

  const auto output = node.storage(R"(["nfs","nfs4"])");

  EXPECT_THAT(output.text, AllOf(HasSubstr(R"({"kind":"unmeasured","name":"storage.nodes")"),
                                 HasSubstr("/scratch has 8192 names or more")));
}

TEST(NodeStorage, FindsALocalDiskWhereASharedOneWasDueAndWritesNothingToIt) {
  const ScratchNode node;
  node.tools.add("fio", "echo it ran");

  const auto local = node.storage(R"(["lustre"])");
  const auto absent = node.storage(R"(["lustre"])", "/scratch/gone");

  for (const auto& [output, mount] :
       {std::pair{&local, "ext4 at /scratch"}, {&absent, "absent at /scratch/gone"}}) {
    const auto found = burnin::parsed("storage", *output);
    ASSERT_TRUE(found) << why(found, *output);
    EXPECT_EQ(burnin::value_of(*found, "storage.mounted"), 0);
    EXPECT_EQ(burnin::value_of(*found, "storage.errors"), std::nullopt);
    EXPECT_TRUE(burnin::says_unknown(*found, "storage.errors"));
    EXPECT_EQ(found->facts.at("storage.mount"), mount);
  }
  EXPECT_EQ(node.left(), 0);
}

TEST(NodeStorage, RefusesAnOrderThatItCannotRead) {
  const ScratchNode node;
  node.tools.add("fio", "echo it ran");
  const std::string rest = R"("types":["ext4"],"runtime":1,"limit":9,"directory":"/scratch")";

  for (const auto& [order, what] : std::vector<std::pair<std::string, std::string>>{
           {"{" + rest + "}", "bytes from"},
           {"{" + rest + R"(,"bytes":1000})", "bytes from"},
           {"{" + rest + R"(,"bytes":"16777216"})", "bytes from"},
           {R"({"directory":"/scratch","bytes":16777216,"runtime":0,"limit":9})", "runtime from"},
           {R"({"directory":"/scratch","bytes":16777216,"runtime":1})", "limit from"},
           {R"({"directory":"scratch","bytes":16777216,"runtime":1,"limit":9})", "a folder's path"},
           {R"({"directory":"/scratch","bytes":16777216,"runtime":1,"limit":9,"types":"ext4"})",
            "types of"}}) {
    const auto output = node.run("storage", order);
    EXPECT_THAT(output.text, AllOf(HasSubstr("gave-up"), HasSubstr(what))) << order;
  }
  EXPECT_EQ(node.left(), 0);
}

}  // namespace
}  // namespace cupel::agent
