// scripts/release and scripts/verify-release: packages of stand-ins, made as those of the programs
// are, and what may happen to a release on its way.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <memory>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/e2e/site.h"
#include "tests/support/captures.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Ran bash(const std::string& words) {
  return run({"/bin/bash", "-c",
              "set -euo pipefail; . " SOURCE_DIR "/scripts/setup.sh; . " SOURCE_DIR
              "/scripts/packages.sh; need_packages() { :; }; " +
                  words},
             {"SOURCE_DATE_EPOCH=1795979660", "CUPEL_MAINTAINER=Site <site@example.com>"},
             std::chrono::seconds{120});
}

/// Stages two stand-ins in `folder`/stage and packs them into `folder`/packages.
Ran pack(const fs::path& folder, const std::string& mask = "022") {
  return bash(
      fmt::format("umask {}; cd {}; "
                  "install -D /bin/true stage/amd64/cupel/usr/bin/cupel; "
                  "install -D /dev/null stage/amd64/cupel/etc/default/cupel; "
                  "mkdir -p stage/amd64/cupel/usr/share/man/man1; "
                  "echo '.TH CUPEL 1' > stage/amd64/cupel/usr/share/man/man1/cupel.1; "
                  "install -D /bin/true stage/arm64/cupel-node/usr/libexec/cupel/cupel-node; "
                  "pack_stage stage packages",
                  mask, folder.string()));
}

/// The newest of CHANGELOG.md that has a number.
std::string version() {
  constexpr std::string_view kSection = "\n## [";
  const auto changes = read_file(SOURCE_DIR "/CHANGELOG.md", 1U << 20U).value_or("");
  auto begin = changes.find(kSection) + kSection.size();
  if (changes.substr(begin).starts_with("Unreleased"))
    begin = changes.find(kSection, begin) + kSection.size();
  return changes.substr(begin, changes.find(']', begin) - begin);
}

std::string field(const fs::path& package, const std::string& name) {
  return run({"dpkg-deb", "-f", package.string(), name}).out;
}

/// A release, made once; a test that changes it takes a copy.
class Release : public ::testing::Test {
 protected:
  static std::string cupel_package() { return fmt::format("cupel_{}-1_amd64.deb", version()); }
  static std::string node_package() { return fmt::format("cupel-node_{}-1_arm64.deb", version()); }

  static void SetUpTestSuite() {
    folder_ = std::make_unique<test::TemporaryFolder>();
    packed_ = pack(root());
    for (const auto* name : {"site", "other"}) {
      const auto key = (root() / name).string();
      run({"openssl", "genpkey", "-algorithm", "ed25519", "-out", key + ".key"});
      run({"openssl", "pkey", "-in", key + ".key", "-pubout", "-out", key + ".pub"});
    }
    made_ = run({SOURCE_DIR "/scripts/release", "--packages", (root() / "packages").string(),
                 "--no-image", "--key", (root() / "site.key").string(), whole().string()},
                {"SOURCE_DATE_EPOCH=1795979660"}, std::chrono::seconds{300});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(fs::exists("/usr/bin/jq") && fs::exists("/usr/bin/dpkg-shlibdeps"),
                          "jq or dpkg-dev is missing: apt-get install jq dpkg-dev");
    ASSERT_EQ(packed_.status, 0) << packed_.out << packed_.err;
    ASSERT_EQ(made_.status, 0) << made_.out << made_.err;
  }

  static fs::path root() { return folder_->path(); }
  static fs::path whole() { return root() / "whole"; }
  static fs::path package(const std::string& name) { return root() / "packages" / name; }

  /// Of a copy to which `words` were done, as /bin/sh in that folder.
  static Ran verify(const std::string& words, const std::string& key = "site.pub") {
    const test::TemporaryFolder copy;
    fs::copy(whole(), copy.path(), fs::copy_options::recursive);
    const auto done = run({"/bin/sh", "-ec", "cd " + copy.path().string() + "; " + words});
    EXPECT_EQ(done.status, 0) << done.err;
    return run({SOURCE_DIR "/scripts/verify-release", copy.path().string(), "--key",
                (root() / key).string()});
  }

  static void expect_refused(const std::string& words, const std::string& why) {
    const auto ran = verify(words);
    EXPECT_EQ(ran.status, 1) << words;
    EXPECT_THAT(ran.err, HasSubstr(why)) << words;
    EXPECT_THAT(ran.out, Not(HasSubstr("verified"))) << words;
  }

  static std::string sign() {
    return fmt::format(
        "; openssl pkeyutl -sign -rawin -inkey {} -in SHA256SUMS -out SHA256SUMS.sig",
        (root() / "site.key").string());
  }

  /// The sums made anew and signed by the right key: what stands in the files contradicts itself.
  static std::string signed_again() {
    return "; find . -type f ! -name 'SHA256SUMS*' -printf '%P\\n' | sort | xargs sha256sum > "
           "SHA256SUMS" +
           sign();
  }

  static inline std::unique_ptr<test::TemporaryFolder> folder_;

 private:
  static inline Ran packed_, made_;
};

TEST_F(Release, IsVerifiedAsItWasMade) {
  const auto ran = verify("true");

  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("verified: 7 files, signed by "));
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(Release, IsRefusedWhereItIsNotSignedByThatKey) {
  EXPECT_THAT(verify("true", "other.pub").err, HasSubstr("not signed by this key"));
  expect_refused("rm SHA256SUMS.sig", "the release is not signed");
  expect_refused("printf x | dd of=SHA256SUMS.sig bs=1 seek=7 conv=notrunc 2> /dev/null",
                 "not signed by this key");
  expect_refused("sed -i 's/^0/1/;s/^[2-9a-f]/0/' SHA256SUMS", "not signed by this key");
}

TEST_F(Release, IsRefusedWhereAFileWasChangedOrIsMissingOrWasAdded) {
  const auto cupel = "apt/" + cupel_package();
  expect_refused("printf x | dd of=" + cupel + " bs=1 seek=99 conv=notrunc 2> /dev/null",
                 cupel + " was changed");
  expect_refused("rm " + cupel, cupel + " is missing");
  expect_refused("echo > apt/more.deb", "apt/more.deb is not in SHA256SUMS: it was added");
  expect_refused("mv apt/Packages p; ln -s ../p apt/Packages", "is no regular file");
}

TEST_F(Release, IsRefusedWhereWhatIsSignedContradictsItself) {
  expect_refused("mv apt/" + cupel_package() + " apt/cupel_9_amd64.deb" + signed_again(),
                 "apt/cupel_9_amd64.deb says that it is " + cupel_package());
  expect_refused("sed -i 's/^SHA256: .*/SHA256: 00/' apt/Packages" + signed_again(),
                 "apt/Packages does not list apt/");
  expect_refused("echo >> apt/Packages.gz" + signed_again(),
                 "apt/Release has another sum or size of Packages.gz");
  expect_refused("echo '{}' > cupel-" + version() + ".cdx.json" + signed_again(), "no SBOM");
}

TEST_F(Release, IsRefusedWhereItsSumsNameAFileOutside) {
  expect_refused("printf '%064d  ../../etc/passwd\\n' 0 >> SHA256SUMS" + sign(),
                 "names a file outside of the folder");
}

TEST_F(Release, ListsWhatItIsMadeOfWithVersionsAndLicences) {
  const auto text = read_file(whole() / fmt::format("cupel-{}.cdx.json", version()), 1U << 20U);
  ASSERT_TRUE(text);
  const auto bom = parse_json(*text).value();
  EXPECT_EQ(text_at(bom, "bomFormat"), "CycloneDX");
  EXPECT_EQ(text_at(bom, "specVersion"), "1.5");
  std::map<std::string, std::string> licences;
  for (const auto& each : bom.at("components").as_array()) {
    EXPECT_THAT(text_at(each, "version").value_or(""), Not(IsEmpty()));
    const auto& first = each.at("licenses").as_array().at(0).at("license");
    licences[text_at(each, "name").value_or("")] =
        text_at(first, "id").value_or(text_at(first, "name").value_or(""));
  }
  EXPECT_EQ(licences["cupel"], "Apache-2.0");
  EXPECT_EQ(licences["preact"], "MIT");
  const auto boost = licences.lower_bound("libboost1.");  // 81 of Debian 12, 83 of Debian 13
  ASSERT_TRUE(boost != licences.end() && boost->first.starts_with("libboost1."));
  EXPECT_EQ(boost->second, "BSL-1.0");
  EXPECT_TRUE(licences.contains("libc6")) << "which /bin/true loads";
}

TEST_F(Release, IsARepositoryThatAptReads) {
  const test::TemporaryFolder folder;
  const auto own = folder.path().string();
  std::ofstream{folder.path() / "sources.list"}
      << "deb [trusted=yes] file:" << (whole() / "apt").string() << " ./\n";
  fs::create_directories(folder.path() / "lists/partial");
  const std::string apt = fmt::format(
      "-q -o Dir::Etc::SourceList={0}/sources.list -o Dir::Etc::SourceParts=- -o "
      "Dir::State::Lists={0}/lists -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o "
      "APT::Sandbox::User=root",
      own);

  const auto ran =
      run({"/bin/sh", "-ec", "apt-get " + apt + " update; apt-cache " + apt + " show cupel"});

  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Version: " + version() + "-1"));
}

TEST_F(Release, HasTheVersionOfTheProgram) {
  EXPECT_EQ(run({CUPEL_BINARY, "--version"}).out, "cupel " + version() + "\n");
}

TEST(Versions, AreWrittenInOnePlace) {
  const auto found =
      run({"/bin/sh", "-ec",
           "cd " SOURCE_DIR "; sed -n 's/^project(cupel VERSION \\([0-9.]*\\) .*/cupel \\1/p' "
           "CMakeLists.txt; grep -rhoE '\\bcupel[-: ][0-9]+[.][0-9]+[.][0-9]+' "
           "README.md docs; jq -r '.version // empty' orchestrator/web/package.json"});

  ASSERT_EQ(found.status, 0) << found.err;
  const auto named = lines(found.out);
  EXPECT_GE(named.size(), 3U) << "CMakeLists.txt, and pages with an example of a release";
  for (const auto line : named)
    EXPECT_TRUE(line.starts_with("cupel") && line.substr(6) == version()) << line;
}

TEST_F(Release, GivesTheSameBytesOnAnotherMachine) {
  const test::TemporaryFolder again;

  const auto packed = pack(again.path(), "077");

  ASSERT_EQ(packed.status, 0) << packed.err;
  for (const auto& name : {cupel_package(), node_package()})
    EXPECT_EQ(read_file(again.path() / "packages" / name, 1U << 20U).value_or("none"),
              read_file(package(name), 1U << 20U).value_or(""))
        << name;
}

TEST_F(Release, HasPackagesAsDebianWantsThem) {
  const auto listed = run({"dpkg-deb", "-c", package(cupel_package()).string()}).out;

  for (const auto* file :
       {"./usr/share/doc/cupel/copyright", "./usr/share/doc/cupel/changelog.gz",
        "./usr/share/doc/cupel/changelog.Debian.gz", "./usr/share/man/man1/cupel.1.gz"})
    EXPECT_THAT(listed, ContainsRegex(std::string{"-rw-r--r-- root/root .*"} + file + "\n"));
  EXPECT_THAT(listed, ContainsRegex("-rwxr-xr-x root/root .*./usr/bin/cupel\n"));
  EXPECT_THAT(field(package(cupel_package()), "Depends"),
              AllOf(HasSubstr("libc6 (>= "), HasSubstr("cupel-node (= " + version() + "-1)")));
  EXPECT_EQ(field(package(node_package()), "Architecture"), "arm64\n");
  EXPECT_EQ(field(package(node_package()), "Maintainer"), "Site <site@example.com>\n");
  const auto control = run({"dpkg-deb", "--ctrl-tarfile", package(cupel_package()).string()}).out;
  for (const auto* script : {"postinst", "prerm", "postrm", "conffiles", "md5sums"})
    EXPECT_THAT(control, HasSubstr(script));
}

TEST_F(Release, IsNotMadeOverAnother) {
  const auto ran = run({SOURCE_DIR "/scripts/release", "--packages", (root() / "packages").string(),
                        "--no-image", whole().string()});

  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("is there already"));
}

}  // namespace
}  // namespace cupel::testing
