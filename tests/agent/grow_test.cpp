// What is grown of a written image, on a file in the place of the disk.
#include "burnin/agent/node/boot/grow.h"

#include <gmock/gmock.h>

#include "tests/agent/boot_image.h"

namespace cupel::agent::boot {
namespace {

using ::testing::Contains;
using ::testing::Not;

class Growing : public ::testing::Test {
 protected:
  /// Grows an image whose only partition, from 1 MiB on, has these bytes there.
  void grow(std::size_t offset, std::string_view bytes) {
    std::string content(4 << 20, '\0');
    content.replace((1 << 20) + offset, bytes.size(), bytes);
    std::ofstream{disk_, std::ios::binary} << content;
    const auto run = [this](const Argv& argv, std::string_view, std::chrono::seconds) {
      asked_.push_back(argv);
      return Finished{.status = 0, .out = argv[1] == "-J" ? table() : ""};
    };
    // A file is no disk: the kernel reads no partitions of it.
    std::ignore = grow_last_partition(disk_, run);
  }
  std::string table() const {
    return R"({"partitiontable": {"label": "gpt", "partitions": [{"node": ")" + disk_ +
           R"(p1", "start": 2048, "size": 4096, "type": "X"}]}})";
  }

  test::TemporaryFolder folder_;
  const std::string disk_ = (folder_.path() / "disk").string();
  std::vector<Argv> asked_;
};

TEST_F(Growing, EnlargesAPartitionWithAFileSystemThatItGrows) {
  grow(1024 + 56, "\x53\xEF");

  EXPECT_THAT(asked_, Contains(Contains("-N")));
}

TEST_F(Growing, LeavesSwapAsLargeAsItIs) {
  grow(4096 - 10, "SWAPSPACE2");

  EXPECT_THAT(asked_, Contains(Contains("gpt-bak-std"))) << "the copy of the table is moved";
  EXPECT_THAT(asked_, Not(Contains(Contains("-N"))));
}

}  // namespace
}  // namespace cupel::agent::boot
