#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"

namespace cupel {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    char name[] = "/tmp/cupel-file-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~FileTest() override { fs::remove_all(folder_); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{}));
  }

  fs::path folder_;
};

TEST_F(FileTest, ReplacesAFileWholeAndLeavesNothingBeside) {
  const auto file = folder_ / "a";
  ASSERT_TRUE(write_file(file, "first"));
  ASSERT_TRUE(write_file(file, std::string(100'000, 'x')));

  EXPECT_EQ(read_file(file, 1 << 20).value(), std::string(100'000, 'x'));
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, APipeIsReadToItsEndAndHoldsUpNoReader) {
  const auto named = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(named.c_str(), 0600), 0);
  EXPECT_EQ(read_file(named, 100).value(), "") << "no program writes to it";

  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "site: lab", 9), 9);
  ASSERT_EQ(::close(ends[1]), 0);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0]), 100).value(), "site: lab");
  ::close(ends[0]);
}

TEST_F(FileTest, IsNeverOpenToMoreThanItsMode) {
  const auto file = folder_ / "secret";
  ASSERT_TRUE(write_file(file, "s", 0600));

  struct stat found{};
  ASSERT_EQ(::stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldFile) {
  const auto file = folder_ / "a";
  fs::create_directories(file / "in the way");

  EXPECT_EQ(write_file(file, "new").error().code, Code::kStorage);
  EXPECT_EQ(write_file(folder_ / "none" / "a", "new").error().code, Code::kStorage);
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, ReplacesNoPipeNoDeviceAndNoLoop) {
  const auto pipe = folder_ / "pipe", device = folder_ / "device", loop = folder_ / "loop";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("/dev/full", device);
  fs::create_symlink("loop", loop);

  for (const auto& file : {pipe, device, loop}) {
    const auto written = write_file(file, "report");
    ASSERT_FALSE(written) << file;
    EXPECT_EQ(written.error().code, Code::kStorage);
    EXPECT_NE(written.error().what.find(file.string()), std::string::npos);
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_TRUE(fs::is_symlink(device));
  EXPECT_TRUE(fs::is_symlink(loop));
  EXPECT_EQ(files(), 3u);
}

TEST_F(FileTest, ReadsNoMoreThanItsLimit) {
  const auto file = folder_ / "a";
  ASSERT_TRUE(write_file(file, "12345"));

  EXPECT_EQ(read_file(file, 5).value(), "12345");
  EXPECT_EQ(read_file(file, 4).error().code, Code::kInvalid);
  EXPECT_EQ(read_file("/dev/zero", 1 << 20).error().code, Code::kInvalid);
  EXPECT_EQ(read_file(folder_, 1 << 20).error().code, Code::kInvalid);
  EXPECT_EQ(read_file(folder_ / "none", 1).error().code, Code::kNotFound);
}

TEST_F(FileTest, DoesNotWriteThroughAPlantedLink) {
  const auto victim = folder_ / "victim", file = folder_ / "report.html";
  ASSERT_TRUE(write_file(victim, "untouched"));
  fs::create_symlink(victim, folder_ / ("report.html.new-" + std::to_string(::getpid())));
  fs::create_symlink(victim, file);

  ASSERT_TRUE(write_file(file, "report"));

  EXPECT_EQ(read_file(victim, 100).value(), "untouched");
  EXPECT_EQ(read_file(file, 100).value(), "report");
  EXPECT_FALSE(fs::is_symlink(file));
}

TEST_F(FileTest, PiecesStandBesideItUntilTheyTakeItsPlace) {
  const auto file = folder_ / "a";
  ASSERT_TRUE(write_file(file, "old"));
  {
    auto given_up = NewFile::beside(file, kReadableByAll);
    ASSERT_TRUE(given_up) << given_up.error().what;
    EXPECT_TRUE(given_up->write("half"));
    EXPECT_EQ(files(), 2u);
  }
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(read_file(file, 100).value(), "old");

  auto whole = NewFile::beside(file, kReadableByAll);
  ASSERT_TRUE(whole && whole->write("ne") && whole->write("w") && whole->take_place());

  EXPECT_EQ(read_file(file, 100).value(), "new");
}

TEST_F(FileTest, AFolderAPipeAndADeviceAreNoRegularFiles) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_TRUE(write_file(folder_ / "a", "x"));
  const auto why = [](const fs::path& path) {
    const int opened = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const auto checked = check_regular(opened, path);
    ::close(opened);
    return checked ? std::string{} : checked.error().what;
  };

  EXPECT_EQ(why(folder_ / "a"), "");
  EXPECT_EQ(why(folder_), folder_.string() + " is not a regular file, but a folder");
  EXPECT_EQ(why(pipe), pipe.string() + " is not a regular file, but a pipe");
  EXPECT_EQ(why("/dev/zero"), "/dev/zero is not a regular file, but a device or a socket");
  EXPECT_NE(why(folder_ / "none"), "") << "no descriptor at all";
}

}  // namespace
}  // namespace cupel
