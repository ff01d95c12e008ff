// CUDA's libraries on their way to nodes that have none, on a real sshd. What a node has and can
// use its cupel-burn says; here a script of the same words does.
#include "orchestrator/ssh/libraries.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include <fstream>

#include "base/digest.h"
#include "base/file.h"
#include "tests/orchestrator/node.h"
#include "tests/support/captures.h"
#include "tests/support/own_host/own_host.h"

namespace cupel::ssh {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Says that a library can be used where it lies in lib/, and that the node's own libnccl can.
constexpr std::string_view kCupelBurn = R"sh(#!/bin/sh
[ "$1" = libraries ] || exit 64
fits=false
f=$(dirname "$0")/lib/libcublasLt.so.13
if [ -x "$f" ]; then fits=true; fi
echo "{\"kind\":\"library\",\"name\":\"libcublasLt\",\"fits\":$fits,\"path\":\"$f\",\"why\":\"too old\"}"
echo '{"kind":"library","name":"libnccl","fits":true,"path":"libnccl.so.2","version":"2.27.7"}'
)sh";

std::string some_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7919 >> 5);
  return bytes;
}

void write(const fs::path& file, std::string_view bytes) {
  fs::create_directories(file.parent_path());
  std::ofstream{file, std::ios::binary} << bytes;
  fs::permissions(file, fs::perms{0755});
}

class LibrariesOnANode : public OnANode {
 protected:
  void SetUp() override {
    OnANode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    node = sshd_->file(::testing::UnitTest::GetInstance()->current_test_info()->name()) + "/bin";
    write(fs::path{node} / "cupel-burn", kCupelBurn);
    pack("libcublasLt.so.13", lt);
    pack("libnccl.so.2", "nccl");
    on = session();
  }

  void pack(const std::string& name, const std::string& bytes, std::string sum = {}) {
    write(ours.path() / "lib" / name, bytes);
    if (sum.empty()) sum = sha256_hex(bytes);
    std::ofstream{ours.path() / "lib" / "manifest", std::ios::app} << sum << " " << bytes.size()
                                                                   << " " << name << "\n";
  }
  Result<void> ensure() {
    const ProgramShelf shelf{{ours.path()}, node};
    const auto tell = [this](const std::string& what) {
      reported.push_back(what);
      if (!cut_at.empty() && what.contains(cut_at)) sshd_->crash();
    };
    return run_to_end(io, ensure_libraries(*on, shelf, false, tell, Deadline::in(120s)));
  }
  std::string on_node(const std::string& name) {
    const auto bytes = read_file(fs::path{node} / "lib" / name, 256u << 20);
    return bytes ? *bytes : "";
  }
  /// Everything that lies in lib/ there.
  std::vector<std::string> names_on_node() {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator{node + "/lib", none})
      names.push_back(entry.path().filename());
    return names;
  }

  const std::string lt = some_bytes(7'000'000);
  test::TemporaryFolder ours{};
  std::string node{};
  std::string cut_at{};
  std::vector<std::string> reported{};
  std::unique_ptr<Session> on{};
};

TEST_F(LibrariesOnANode, AreBroughtOnceAndOnlyThoseThatItCannotUseOfItsOwn) {
  ASSERT_TRUE(ensure());

  EXPECT_TRUE(on_node("libcublasLt.so.13") == lt);
  EXPECT_THAT(names_on_node(), ElementsAre("libcublasLt.so.13"));
  EXPECT_THAT(reported, ::testing::Contains("brings libcublasLt.so.13: 2 of 7 MB"));
  struct stat before{}, after{};
  ::stat((node + "/lib/libcublasLt.so.13").c_str(), &before);
  ASSERT_TRUE(ensure()) << "a second time";
  ::stat((node + "/lib/libcublasLt.so.13").c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino) << "it was written again";
}

TEST_F(LibrariesOnANode, AreNotBroughtWhereItHasItsOwn) {
  write(fs::path{node} / "cupel-burn",
        "#!/bin/sh\necho '{\"kind\":\"library\",\"name\":\"libcublasLt\",\"fits\":true}'\n");

  ASSERT_TRUE(ensure());

  EXPECT_FALSE(fs::exists(node + "/lib"));
}

TEST_F(LibrariesOnANode, AreNotBroughtWhereThereIsNoDriverThatCouldUseThem) {
  write(fs::path{node} / "cupel-burn",
        "#!/bin/sh\necho '{\"kind\":\"driver\",\"fits\":false,\"why\":\"none\"}'\n"
        "echo '{\"kind\":\"library\",\"name\":\"libcublasLt\",\"fits\":false}'\n");

  ASSERT_TRUE(ensure());

  EXPECT_FALSE(fs::exists(node + "/lib"));
}

TEST_F(LibrariesOnANode, OfALaterCudaThanTheDriversAreRefusedBeforeAnythingIsSent) {
  write(fs::path{node} / "cupel-burn",
        "#!/bin/sh\necho '{\"kind\":\"driver\",\"fits\":true,\"cuda\":\"12.4\"}'\n"
        "echo '{\"kind\":\"library\",\"name\":\"libnccl\",\"fits\":false}'\n"
        "echo '{\"kind\":\"library\",\"name\":\"libcublasLt\",\"fits\":false}'\n");

  const auto outcome = ensure();

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kFailed);
  EXPECT_THAT(outcome.error().what, AllOf(HasSubstr("libcublasLt.so.13"), HasSubstr("CUDA 12.4"),
                                          HasSubstr("cuBLASLt 12")));
  EXPECT_FALSE(fs::exists(node + "/lib"));
}

TEST_F(LibrariesOnANode, GoOnWhereTheyWereCutOff) {
  cut_at = "4 of 7 MB";
  const auto first = ensure();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, Code::kUnreachable);
  cut_at.clear();
  reported.clear();
  sshd_->restart();
  on = session();

  ASSERT_TRUE(ensure());

  ASSERT_FALSE(reported.empty());
  EXPECT_EQ(reported.front(), "brings libcublasLt.so.13: 4 of 7 MB");
  EXPECT_TRUE(on_node("libcublasLt.so.13") == lt);
  EXPECT_THAT(names_on_node(), ElementsAre("libcublasLt.so.13"));
}

TEST_F(LibrariesOnANode, ThatAreNotWhatTheManifestSaysNeverBearTheirName) {
  fs::remove(ours.path() / "lib" / "manifest");
  pack("libcublasLt.so.13", lt, std::string(64, 'a'));

  const auto brought = ensure();

  ASSERT_FALSE(brought);
  EXPECT_THAT(brought.error().what,
              AllOf(HasSubstr("bring libcublasLt.so.13"), HasSubstr("another checksum")));
  EXPECT_EQ(on_node("libcublasLt.so.13"), "");
}

TEST_F(LibrariesOnANode, ThatWereBroughtAndAreOthersNowAreReplaced) {
  ASSERT_TRUE(ensure());
  std::ofstream{node + "/lib/libcublasLt.so.13", std::ios::app} << "and what somebody added";

  ASSERT_TRUE(ensure());

  EXPECT_TRUE(on_node("libcublasLt.so.13") == lt);
}

TEST_F(LibrariesOnANode, AreNotBroughtToAFolderThatSomebodyElseMayWriteTo) {
  fs::create_directories(node + "/lib");
  fs::permissions(node + "/lib", fs::perms{0777});

  const auto brought = ensure();

  ASSERT_FALSE(brought);
  EXPECT_EQ(brought.error().code, Code::kFailed);
  EXPECT_THAT(brought.error().what,
              AllOf(HasSubstr(node + "/lib is drwxrwxrwx"), HasSubstr("remove it")));
  EXPECT_THAT(names_on_node(), IsEmpty());
}

TEST_F(LibrariesOnANode, AreNotWrittenThroughALinkThatLiesInTheirPlace) {
  const auto part = "/lib/.libcublasLt.so.13." + sha256_hex(lt).substr(0, 16) + ".part";
  fs::create_directories(node + "/lib");
  write(fs::path{node} / "elsewhere", "precious");
  fs::create_symlink("../elsewhere", node + part);
  fs::create_symlink("../elsewhere", node + part + ".lock");

  ASSERT_TRUE(ensure());

  EXPECT_TRUE(on_node("libcublasLt.so.13") == lt);
  EXPECT_EQ(read_file(node + "/elsewhere", 100).value(), "precious");
}

TEST_F(LibrariesOnANode, LeaveNothingWhereThereIsNoRoom) {
  CUPEL_NEEDS_REAL_PART(cupel::testing::has_own_host(),
                        "no mount namespace of its own: only root may make one");
  ASSERT_EQ(::mount("tmpfs", node.c_str(), "tmpfs", 0, "size=3m"), 0);
  write(fs::path{node} / "cupel-burn", kCupelBurn);

  const auto brought = ensure();

  ASSERT_FALSE(brought);
  EXPECT_EQ(brought.error().code, Code::kFailed);
  EXPECT_THAT(brought.error().what, HasSubstr("No space left on device"));
  EXPECT_THAT(names_on_node(), IsEmpty());
  ::umount2(node.c_str(), MNT_DETACH);
}

TEST_F(LibrariesOnANode, ThatItCannotUseAllTheSameAreAnErrorInItsWords) {
  write(fs::path{node} / "cupel-burn",
        "#!/bin/sh\necho '{\"kind\":\"library\",\"name\":\"libnccl\",\"fits\":false,"
        "\"why\":\"libstdc++.so.6: cannot open\"}'\n");

  const auto brought = ensure();

  ASSERT_FALSE(brought);
  EXPECT_THAT(brought.error().what,
              AllOf(HasSubstr("cannot use the libnccl.so.2"), HasSubstr("libstdc++.so.6")));
}

TEST_F(LibrariesOnANode, AreNoAffairOfANodeWhoseCupelBurnKnowsNoSuchQuestion) {
  for (const auto* program : {"#!/bin/sh\nexit 64\n", "#!/bin/sh\necho '{\"kind\":7}'; echo [\n"}) {
    write(fs::path{node} / "cupel-burn", program);

    EXPECT_TRUE(ensure()) << program;
    EXPECT_FALSE(fs::exists(node + "/lib")) << program;
  }
}

/// The programs and a toolkit, as far as the script that packs them looks at them.
class PackedLibraries : public ::testing::Test {
 protected:
  Result<std::vector<PackedLibrary>> packed() const {
    return packed_libraries(ProgramShelf{{folder.path() / "nothing", folder.path() / "out"}});
  }
  void say(const std::string& manifest) const {
    fs::create_directories(folder.path() / "out" / "lib");
    std::ofstream{folder.path() / "out" / "lib" / "manifest"} << manifest;
  }

  test::TemporaryFolder folder{};
  const std::string sum = std::string(64, '0');
};

TEST_F(PackedLibraries, AreReadAsTheScriptPacksThem) {
  const auto toolkit = folder.path() / "cuda", programs = folder.path() / "programs";
  write(toolkit / "lib64" / "libcublasLt.so.13.1.0",
        "\x7f"
        "ELF lt");
  fs::create_symlink("libcublasLt.so.13.1.0", toolkit / "lib64" / "libcublasLt.so.13");
  write(folder.path() / "libnccl.so.2",
        "\x7f"
        "ELF nccl");
  write(programs / "cupel-node", "node");
  write(programs / "cupel-burn", "burn");
  const auto command = "env CUDA_HOME=" + toolkit.string() + " PROGRAMS=" + programs.string() +
                       " NCCL=" + (folder.path() / "libnccl.so.2").string() +
                       " " SOURCE_DIR "/scripts/pack-burn " + (folder.path() / "out").string();
  ASSERT_EQ(std::system((command + " > /dev/null").c_str()), 0);

  const auto found = packed();

  ASSERT_TRUE(found) << found.error().what;
  ASSERT_EQ(found->size(), 2);
  const auto& lt = (*found)[0];
  EXPECT_EQ(lt.name, "libcublasLt.so.13");
  EXPECT_EQ(lt.sha256, sha256_hex("\x7f"
                                  "ELF lt"));
  EXPECT_EQ(lt.size, 7);
  EXPECT_EQ((*found)[1].name, "libnccl.so.2");
  EXPECT_TRUE(fs::exists(folder.path() / "out" / "cupel-node"));
  EXPECT_TRUE(fs::exists(folder.path() / "out" / "cupel-burn"));
}

TEST_F(PackedLibraries, AreNoneWhereNothingWasPacked) {
  const auto found = packed();

  ASSERT_TRUE(found);
  EXPECT_THAT(*found, IsEmpty());
}

TEST_F(PackedLibraries, ThatAreNoneAreRefusedInWords) {
  write(folder.path() / "out" / "lib" / "libnccl.so.2", "four");
  for (const auto& [manifest, why] : std::initializer_list<std::pair<std::string, std::string>>{
           {sum + " 4\n", "no line"},
           {sum + " four libnccl.so.2\n", "no line"},
           {"0123 4 libnccl.so.2\n", "no line"},
           {sum + " 4 ../libnccl.so.2\n", "no line"},
           {sum + " 5 libnccl.so.2\n", "run scripts/pack-burn again"},
           {sum + " 4 libnccl.so.3\n", "run scripts/pack-burn again"}}) {
    say(manifest);

    const auto found = packed();

    ASSERT_FALSE(found) << manifest;
    EXPECT_THAT(found.error().what, AllOf(HasSubstr("lib/manifest"), HasSubstr(why)));
  }
}

TEST_F(PackedLibraries, OfMoreThanAGibibyteAreRefused) {
  write(folder.path() / "out" / "lib" / "libnccl.so.2", "");
  fs::resize_file(folder.path() / "out" / "lib" / "libnccl.so.2", (1u << 30) + 1);  // sparse
  say(sum + " " + std::to_string((1u << 30) + 1) + " libnccl.so.2\n");

  const auto found = packed();

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("1 GiB"));
}

}  // namespace
}  // namespace cupel::ssh
