// `cmake --install` of this build to a prefix that nobody has used: whether all of it is there, and
// whether the controller finds its programs beside it.
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/e2e/site.h"
#include "tests/support/captures.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;

Ran install(const fs::path& prefix, std::vector<std::string> environment = {},
            const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{CMAKE_PROGRAM, "--install", BUILD_DIR, "--prefix",
                                 prefix.string()};
  words.insert(words.end(), more.begin(), more.end());
  return run(words, std::move(environment), std::chrono::seconds{120});
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return text.str();
}

/// One installation for the tests that only look at it: each copies programs that a sanitizer has
/// made large.
class InstalledCupel : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<test::TemporaryFolder>();
    installed_ = install(prefix());
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override { ASSERT_EQ(installed_.status, 0) << installed_.out << installed_.err; }
  static fs::path prefix() { return folder_->path() / "cupel"; }

  static inline std::unique_ptr<test::TemporaryFolder> folder_;

 private:
  static inline Ran installed_;
};

TEST_F(InstalledCupel, HasTheControllerItsProgramsAndTheirPapersInPlace) {
  const auto prefix = InstalledCupel::prefix();
  const auto version = run({(prefix / "bin/cupel").string(), "--version"});
  EXPECT_THAT(version.out, HasSubstr("cupel ")) << version.err;
  const auto node = run({(prefix / "libexec/cupel/cupel-node").string(), "--version"});
  EXPECT_THAT(node.out, HasSubstr("\"protocol\":1")) << node.err;
  const auto sim = run({(prefix / "libexec/cupel/cupel-sim").string(), "--version"});
  EXPECT_THAT(sim.out, HasSubstr("cupel-sim ")) << sim.err;
  EXPECT_THAT(text_of(prefix / "share/bash-completion/completions/cupel"),
              HasSubstr("complete -F _cupel cupel"));
  EXPECT_THAT(text_of(prefix / "share/zsh/site-functions/_cupel"), HasSubstr("#compdef cupel"));
  EXPECT_THAT(text_of(prefix / "share/fish/vendor_completions.d/cupel.fish"),
              HasSubstr("complete -c cupel"));
  EXPECT_THAT(text_of(prefix / "share/doc/cupel/LICENSE"), HasSubstr("Apache License"));
  EXPECT_TRUE(fs::exists(prefix / "share/doc/cupel/README.md"));
  EXPECT_TRUE(fs::exists(prefix / "share/cupel/monitoring/cupel.rules.yaml"));
  EXPECT_TRUE(fs::exists(prefix / "share/doc/cupel/docs/do/operating.md"));
  EXPECT_TRUE(fs::exists(prefix / "share/doc/cupel/docs/images/architecture.svg"));
  EXPECT_TRUE(fs::exists(prefix / "share/doc/cupel/docs/api/cupel_client.py"));
}

/// As CPack installs it for the Debian package, one component alone.
TEST(Install, PutsTheServiceInThePackageOfTheController) {
  const test::TemporaryFolder folder;
  const auto prefix = folder.path() / "cupel";

  const auto installed = install(prefix, {}, {"--component", "cupel"});

  ASSERT_EQ(installed.status, 0) << installed.out << installed.err;
  EXPECT_TRUE(fs::exists(prefix / "lib/systemd/system/cupel.service"));
  EXPECT_TRUE(fs::exists(prefix / "lib/systemd/system/cupel.socket"));
  EXPECT_TRUE(fs::exists(prefix / "share/doc/cupel/service.example.yaml"));
  EXPECT_TRUE(fs::exists(prefix / "share/cupel/monitoring/cupel.rules.yaml"));
  for (const auto* other : {"cupel-node", "cupel-sim", "cupel-burn"})
    EXPECT_FALSE(fs::exists(prefix / "libexec/cupel" / other)) << other;
}

TEST(Install, PutsEachOtherProgramIntoAPackageOfItsOwn) {
  for (const auto* name : {"cupel-node", "cupel-sim"}) {
    const test::TemporaryFolder folder;
    const auto prefix = folder.path() / "cupel";

    const auto installed = install(prefix, {}, {"--component", name});

    ASSERT_EQ(installed.status, 0) << installed.out << installed.err;
    std::vector<std::string> files;
    for (const auto& each : fs::recursive_directory_iterator{prefix})
      if (each.is_regular_file()) files.push_back(fs::relative(each.path(), prefix).string());
    EXPECT_THAT(files, ::testing::ElementsAre("libexec/cupel/" + std::string{name}));
  }
}

TEST_F(InstalledCupel, HasAManPageForEachCommandThatManCanRead) {
  const auto pages = prefix() / "share/man/man1";
  for (const auto* page : {"cupel.1", "cupel-run.1", "cupel-bmc.1", "cupel-backup.1"})
    EXPECT_TRUE(fs::exists(pages / page)) << page;
  EXPECT_THAT(text_of(pages / "cupel-bmc.1"), HasSubstr(".SS cupel bmc NODES power"));
  CUPEL_NEEDS_REAL_PART(fs::exists("/usr/bin/groff"), "groff is missing: apt-get install groff");
  for (const auto& page : fs::directory_iterator{pages}) {
    const auto shown = run({"groff", "-man", "-Tutf8", "-ww", "-z", page.path().string()});
    EXPECT_EQ(shown.status, 0) << page.path();
    EXPECT_EQ(shown.err, "") << page.path();
  }
}

TEST(Install, PutsAllOfItBelowDestdir) {
  const test::TemporaryFolder folder;

  const auto installed = install("/opt/cupel-of-a-package", {"DESTDIR=" + folder.path().string()});

  ASSERT_EQ(installed.status, 0) << installed.out << installed.err;
  const auto below = folder.path() / "opt/cupel-of-a-package";
  EXPECT_TRUE(fs::exists(below / "bin/cupel"));
  EXPECT_TRUE(fs::exists(below / "libexec/cupel/cupel-node"));
  EXPECT_TRUE(fs::exists(below / "share/bash-completion/completions/cupel"));
  EXPECT_FALSE(fs::exists("/opt/cupel-of-a-package"));
}

TEST_F(InstalledCupel, FindsTheVirtualRackInItsLibexecAndNamesItWhereItIsMissing) {
  const test::TemporaryFolder folder;
  const auto sim = prefix() / "libexec/cupel/cupel-sim", elsewhere = prefix() / "cupel-sim";
  const auto serve = [&] {
    return run({(prefix() / "bin/cupel").string(), "rack", "serve", "h100-9", "--folder",
                (folder.path() / "rack").string()});
  };

  const auto there = serve();
  fs::rename(sim, elsewhere);
  const auto missing = serve();
  fs::rename(elsewhere, sim);

  EXPECT_EQ(there.status, 2);
  EXPECT_THAT(there.err, HasSubstr("h100-9")) << "it was asked, and knows no such rack";
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("Install the package cupel-sim, or run scripts/install"));
  EXPECT_THAT(missing.err, HasSubstr("cupel-sim"));
}

TEST(Install, FindsTheVirtualRackWhereProgramsSays) {
  const test::TemporaryFolder folder;
  const auto cupel = fs::absolute(CUPEL_BINARY);
  const auto serve = [&](const fs::path& programs) {
    return run({cupel.string(), "--programs", programs.string(), "rack", "serve", "h100-9",
                "--folder", (folder.path() / "rack").string()});
  };

  const auto there = serve(cupel.parent_path());
  const auto missing = serve(folder.path());

  EXPECT_EQ(there.status, 2);
  EXPECT_THAT(there.err, HasSubstr("h100-9")) << "it was asked, and knows no such rack";
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("cupel-sim, and it is not in " + folder.path().string()));
}

}  // namespace
}  // namespace cupel::testing
