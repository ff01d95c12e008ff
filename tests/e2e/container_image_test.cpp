// scripts/container-image, with a small root file system in place of Debian's: what the image says
// of itself, and what the check of an image refuses. The cupel in it is a script.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "tests/e2e/site.h"
#include "tests/support/captures.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;

class ContainerImage : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(::geteuid() == 0 && fs::exists("/usr/bin/jq"),
                          "needs root and jq: apt-get install jq");
    sh("mkdir -p root/tmp root/proc root/var/lib/cupel root/etc root/usr/bin; cd root; "
       "for file in /usr/bin/setpriv /bin/dash; do "
       "  install -D $file usr/bin/$(basename $file); "
       "  for library in $(ldd $file | grep -o '/[^ ]*'); do "
       "    install -D $library .$library; done; done; "
       "ln -s usr/bin bin; ln -s dash usr/bin/sh");
    std::ofstream{path("root/usr/bin/cupel")} << R"(#!/bin/sh
case $1 in
  doctor) echo "  cupel-node   ok       sha256 0"; exit 1 ;;
  status) : > "$CUPEL_STATE/cupel.db" ;;
  *) echo "cupel 1" ;;
esac
)";
    sh("chmod 755 root/usr/bin/cupel");
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  void sh(const std::string& words) const {
    const auto ran =
        run({"/bin/sh", "-ec", "cd " + folder_.path().string() + "; umask 022; " + words});
    ASSERT_EQ(ran.status, 0) << words << ran.err;
  }

  Ran image(std::vector<std::string> words) const {
    words.insert(words.begin(), SOURCE_DIR "/scripts/container-image");
    return run(std::move(words), {"SOURCE_DATE_EPOCH=1795979660", "TMPDIR=" + path("")});
  }

  /// Of the root as it is now, as `name`.
  Ran made(const std::string& name = "image.tar") const {
    sh("tar -C root --sort=name -cf root.tar .");
    return image({"--root", path("root.tar"), path(name)});
  }

  /// A document of the image, by its place in there.
  json::value document(const std::string& place) const {
    return parse_json(run({"tar", "-xOf", path("image.tar"), place}).out).value();
  }
  std::string blob(const json::value& descriptor) const {
    return "blobs/sha256/" + text_at(descriptor, "digest").value().substr(7);
  }

  void expect_refused(const std::string& why) const {
    const auto ran = made();
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr(why));
    EXPECT_FALSE(fs::exists(path("image.tar"))) << "what is not right is not left there";
  }

 private:
  const test::TemporaryFolder folder_{};
};

TEST_F(ContainerImage, RunsTheServiceAsAUserOfItsOwnWithAVolumeForItsState) {
  const auto ran = made();

  ASSERT_EQ(ran.status, 0) << ran.out << ran.err;
  const auto index = document("index.json");
  const auto manifest = document(blob(index.at("manifests").as_array().at(0)));
  const auto config = document(blob(manifest.at("config"))).at("config");
  EXPECT_EQ(text_at(config, "User"), "10001:10001");
  EXPECT_EQ(config.at("Entrypoint").as_array().at(0), "/usr/bin/cupel");
  EXPECT_EQ(config.at("Cmd").as_array().at(0), "serve");
  EXPECT_TRUE(config.at("Volumes").as_object().contains("/var/lib/cupel"));
}

TEST_F(ContainerImage, HasTheSameBytesEachTime) {
  ASSERT_EQ(made("one.tar").status, 0);
  ASSERT_EQ(made("two.tar").status, 0);

  EXPECT_EQ(run({"cmp", path("one.tar"), path("two.tar")}).status, 0);
}

TEST_F(ContainerImage, IsRefusedWhereAPartOfItWasChanged) {
  ASSERT_EQ(made().status, 0);
  sh("printf x | dd of=image.tar bs=1 seek=20000 conv=notrunc 2> /dev/null");

  const auto ran = image({"--check", path("image.tar")});

  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("is missing or was changed"));
}

TEST_F(ContainerImage, IsRefusedWhereAProgramRunsAsAnotherUser) {
  sh("chmod u+s root/usr/bin/dash");

  expect_refused("runs with the rights of another user");
}

TEST_F(ContainerImage, IsRefusedWithoutTheProgramForNodes) {
  sh("sed -i 's/cupel-node   ok/cupel-node   FAILED/' root/usr/bin/cupel");

  expect_refused("it has no cupel-node");
}

TEST_F(ContainerImage, IsRefusedWhereTheStateIsNotInTheVolume) {
  sh("sed -i 's/status) .*/status) ;;/' root/usr/bin/cupel");

  expect_refused("its state is not in the volume");
}

}  // namespace
}  // namespace cupel::testing
