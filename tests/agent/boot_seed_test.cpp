// The seed on the root of a written image, whose links lead nowhere else.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "burnin/agent/node/boot/seed.h"
#include "tests/agent/boot_image.h"

namespace cupel::agent::boot {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

class WritingASeed : public ::testing::Test {
 protected:
  WritingASeed() {
    fs::create_directories(root_ / "etc");
    fs::create_directories(outside_);
  }
  Outcome<void> write() const {
    return write_seed(root_.string(), {{"meta-data", "{}\n"}, {"user-data", "#cloud-config\n"}});
  }
  static unsigned mode_of(const fs::path& path) {
    struct stat what{};
    return ::stat(path.c_str(), &what) == 0 ? what.st_mode & 0777u : 0;
  }
  std::vector<fs::path> found_outside() const {
    return {fs::directory_iterator{outside_}, fs::directory_iterator{}};
  }

  test::TemporaryFolder folder_;
  const fs::path root_ = folder_.path() / "root";
  const fs::path outside_ = folder_.path() / "outside";
  const fs::path seed_ = root_ / "var/lib/cloud/seed/nocloud";
};

TEST_F(WritingASeed, IsForRootsEyesAlone) {
  const auto written = write();

  ASSERT_TRUE(written) << written.error().text;
  EXPECT_EQ(file_bytes(seed_ / "user-data"), "#cloud-config\n");
  EXPECT_EQ(mode_of(seed_), 0700u);
  EXPECT_EQ(mode_of(seed_ / "user-data"), 0600u);
}

TEST_F(WritingASeed, FollowsALinkOfTheImageWithinTheImage) {
  fs::create_directories(root_ / "srv/lib");
  fs::create_directories(root_ / "var");
  fs::create_symlink("/srv/lib", root_ / "var/lib");

  const auto written = write();

  ASSERT_TRUE(written) << written.error().text;
  EXPECT_EQ(file_bytes(root_ / "srv/lib/cloud/seed/nocloud/meta-data"), "{}\n");
}

TEST_F(WritingASeed, FailsWhereTheImageMountsAnotherFileSystemOverIt) {
  for (const auto* place : {"/var", "/var/lib/"}) {
    std::ofstream{root_ / "etc/fstab"} << "# /etc/fstab\nUUID=1 / ext4 defaults 0 1\nUUID=2\t"
                                       << place << " xfs defaults 0 0\n";

    const auto written = write();

    ASSERT_FALSE(written) << place;
    EXPECT_EQ(written.error().cause, Cause::kSeed);
    EXPECT_NE(written.error().text.find("mounts another file system at /var"), std::string::npos);
    EXPECT_FALSE(fs::exists(seed_));
  }
}

TEST_F(WritingASeed, IsNotHiddenByWhatTheImageMountsElsewhere) {
  std::ofstream{root_ / "etc/fstab"}
      << "#UUID=2 /var xfs\nUUID=3 /var/log xfs\n/dev/sdb none swap\n";

  const auto written = write();

  EXPECT_TRUE(written) << written.error().text;
}

TEST_F(WritingASeed, IsInWhatTheImageMountsThere) {
  for (const auto& [place, below] : {std::pair{"/var", "lib/cloud/seed/nocloud"},
                                     {"/var/lib", "cloud/seed/nocloud"},
                                     {"/var/lib/cloud/seed/nocloud", "."}}) {
    const auto mounted = folder_.path() / "mounted";
    fs::create_directories(mounted);

    const auto written = write_seed_below(mounted.string(), place, {{"meta-data", "{}\n"}});

    ASSERT_TRUE(written) << written.error().text;
    EXPECT_EQ(file_bytes(mounted / below / "meta-data"), "{}\n") << place;
    fs::remove_all(mounted);
  }
}

TEST_F(WritingASeed, NeverLeavesTheImage) {
  fs::create_directories(root_ / "var");
  for (const auto& target : {outside_, fs::path{"../../outside"}}) {
    fs::remove(root_ / "var/lib");
    fs::create_symlink(target, root_ / "var/lib");

    const auto written = write();

    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().cause, Cause::kSeed);
    EXPECT_THAT(found_outside(), IsEmpty());
  }
}

TEST_F(WritingASeed, TakesThePlaceOfAFileThatIsALink) {
  fs::create_directories(seed_);
  std::ofstream{outside_ / "file"} << "as it was";
  fs::create_symlink(outside_ / "file", seed_ / "user-data");

  const auto written = write();

  ASSERT_TRUE(written) << written.error().text;
  EXPECT_EQ(file_bytes(outside_ / "file"), "as it was");
  EXPECT_FALSE(fs::is_symlink(seed_ / "user-data"));
  EXPECT_EQ(file_bytes(seed_ / "user-data"), "#cloud-config\n");
}

}  // namespace
}  // namespace cupel::agent::boot
