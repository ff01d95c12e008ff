// cupel-node boot write-image, the program itself, onto files.
#include <gmock/gmock.h>

#include <csignal>

#include "base/json.h"
#include "base/text.h"
#include "burnin/agent/node/boot/image_content.h"
#include "tests/agent/boot_image.h"

namespace cupel::agent::boot {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t kMebibyte = 1 << 20;

std::vector<std::string> command(const BootImage& image, const std::string& stream,
                                 std::size_t content_size, const std::string& sha256,
                                 const std::string& more = "") {
  const auto script = "exec " NODE_BINARY " boot write-image --disk " +
                      shell_quoted(image.path("disk")) + " --content-size " +
                      std::to_string(content_size) + " --sha256 " + sha256 + " " + more + " < " +
                      shell_quoted(image.path(stream));
  return {"bash", "-c", script};
}

/// The last line's object.
boost::json::object last_line(const testing::Ran& ran) {
  const auto all = lines(ran.out);
  if (all.empty()) return {};
  return boost::json::parse(std::string{all.back()}).as_object();
}

std::string cause(const testing::Ran& ran) {
  const auto line = last_line(ran);
  return line.contains("cause") ? std::string{line.at("cause").as_string()} : ran.out + ran.err;
}

bool boots(const BootImage& image) {
  const auto disk = image.disk();
  const std::string zeros(kMebibyte, '\0');
  return disk.substr(0, kMebibyte) != zeros || disk.substr(disk.size() - kMebibyte) != zeros;
}

TEST(WriteImage, WritesTheContentAndSaysWhatItSkippedAndChecked) {
  const BootImage image{image_content(20)};
  const auto ran = testing::run(
      command(image, "image.zst", image.content().size(), image.sha256(), "--readback whole"));

  ASSERT_EQ(ran.status, 0) << ran.out << ran.err;
  const auto line = last_line(ran);
  EXPECT_EQ(line.at("sha256").as_string(), image.sha256());
  EXPECT_EQ(line.at("content").as_int64(), 20 * static_cast<std::int64_t>(kMebibyte));
  EXPECT_EQ(line.at("checked").as_int64(), 20 * static_cast<std::int64_t>(kMebibyte));
  EXPECT_EQ(line.at("written").as_int64(), 13 * static_cast<std::int64_t>(kMebibyte));
  EXPECT_THAT(ran.out, HasSubstr(R"({"state":"writing")"));
  const auto disk = image.disk();
  EXPECT_TRUE(disk.starts_with(image.content()));
  EXPECT_EQ(disk.substr(disk.size() - kMebibyte), std::string(kMebibyte, '\0'));
}

TEST(WriteImage, WritesImagesOfEverySizeAroundWhatItKeepsBack) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{4097}, kMebibyte - 1, kMebibyte, kMebibyte + 1,
        2 * kMebibyte - 1, 2 * kMebibyte + 512, 4 * kMebibyte, 4 * kMebibyte + 1,
        5 * kMebibyte + 4096, 8 * kMebibyte + 65537}) {
    const BootImage image{random_bytes(size), size};
    const auto ran =
        testing::run(command(image, "image.zst", size, image.sha256(), "--readback whole"));

    ASSERT_EQ(ran.status, 0) << size << ran.out << ran.err;
    EXPECT_TRUE(image.disk() == image.content()) << size;
  }
}

TEST(WriteImage, LeavesADiskAloneThatIsTooSmall) {
  const BootImage image{image_content(4), 3 * kMebibyte};
  const auto ran =
      testing::run(command(image, "image.zst", image.content().size(), image.sha256()));

  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(cause(ran), "image-too-large");
  EXPECT_EQ(image.disk(), std::string(3 * kMebibyte, '\x5a'));
}

TEST(WriteImage, NamesWhatIsWrongWithTheStreamAndTheDiskDoesNotBoot) {
  const BootImage image{image_content(8)};
  const auto size = image.content().size();
  const auto& whole = image.compressed();
  auto damaged = whole;
  damaged[whole.size() / 2] = static_cast<char>(damaged[whole.size() / 2] ^ 1);
  image.write("cut", whole.substr(0, whole.size() - 100));
  image.write("damaged", damaged);
  image.write("empty", "");
  image.write("other", "not compressed by zstd");
  const auto known = "--size " + std::to_string(whole.size());
  const auto other_hash = sha256_hex("not compressed by zstd");
  struct Row {
    std::string stream, sha256, more;
    std::size_t size;
    std::string cause;
  };
  const std::vector<Row> rows{
      {"cut", image.sha256(), "", size, "cut"},
      {"cut", image.sha256(), known, size, "cut"},
      {"empty", image.sha256(), known, size, "cut"},
      {"damaged", image.sha256(), known, size, "wrong-hash"},
      {"image.zst", std::string(64, '0'), known, size, "wrong-hash"},
      {"other", image.sha256(), "", size, "wrong-hash"},
      {"other", other_hash, "", size, "failed"},
      {"image.zst", image.sha256(), known, size - 4096, "image-too-large"},
      {"image.zst", std::string(64, '0'), known, size - 4096, "wrong-hash"},
      {"image.zst", image.sha256(), known, size + 4096, "cut"},
  };

  for (const auto& row : rows) {
    const auto ran = testing::run(command(image, row.stream, row.size, row.sha256, row.more));
    EXPECT_EQ(ran.status, 2) << row.stream;
    EXPECT_EQ(cause(ran), row.cause) << row.stream << " " << row.more << ran.out;
    EXPECT_FALSE(boots(image)) << row.stream;
  }
}

TEST(WriteImage, NamesAWriteErrorAndTheDiskDoesNotBoot) {
  const BootImage image{image_content(12)};
  // So many bytes of a file may be written: a disk that fails at its ninth MiB.
  testing::Child child{
      command(image, "image.zst", image.content().size(), image.sha256()), {}, 9 * kMebibyte};
  const auto ran = child.wait();

  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_EQ(cause(ran), "write-error");
  EXPECT_EQ(image.disk().substr(0, kMebibyte), std::string(kMebibyte, '\0'));
}

TEST(WriteImage, KilledAtAnyByteTheDiskDoesNotBootAndTheNextTimeItIsWritten) {
  const BootImage image{image_content(8)};
  const auto& whole = image.compressed();
  const auto pipe = image.path("pipe");
  ASSERT_EQ(testing::run({"mkfifo", pipe}).status, 0);
  for (int i = 0; i <= 6; ++i) {
    const auto bytes = whole.size() * static_cast<std::size_t>(i) / 6;
    testing::Child child{command(image, "pipe", image.content().size(), image.sha256())};
    {
      std::ofstream feed{pipe, std::ios::binary};
      feed << std::string_view{whole}.substr(0, bytes) << std::flush;
      // Its first words come when the disk is prepared; with all of it but the end it waits.
      ASSERT_TRUE(child.wait_for("\"state\"")) << bytes;
      child.signal(SIGKILL);
      child.wait();
    }
    EXPECT_FALSE(boots(image)) << bytes;
  }

  const auto again =
      testing::run(command(image, "image.zst", image.content().size(), image.sha256()));
  EXPECT_EQ(again.status, 0) << again.out;
  EXPECT_TRUE(image.disk().starts_with(image.content()));
}

TEST(WriteImage, RefusesWhatIsNoDisk) {
  const BootImage image{image_content(1)};
  for (const auto& [path, expected] : {std::pair{std::string{"/dev/null"}, "disk-refused"},
                                       std::pair{image.path("absent"), "disk-missing"}}) {
    const auto ran = testing::run({NODE_BINARY, "boot", "write-image", "--disk", path,
                                   "--content-size", "1", "--sha256", std::string(64, '0')});
    EXPECT_EQ(cause(ran), expected) << path;
  }
}

void fill(ImageContent& content, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto room = content.room();
    const auto taken = std::min(room.size(), bytes.size());
    ASSERT_GT(taken, 0u);
    std::ranges::copy(bytes.substr(0, taken), room.begin());
    ASSERT_TRUE(content.put(taken));
    bytes.remove_prefix(taken);
  }
}

TEST(ImageContent, FindsWhatADiskReturnsWrongly) {
  const BootImage image{image_content(12)};
  auto disk = TargetDisk::open(image.path("disk"));
  ASSERT_TRUE(disk);
  ImageContent content{*disk, image.content().size(), ReadBack::kWhole};
  fill(content, image.content());
  ASSERT_TRUE(disk->flush());
  ASSERT_TRUE(content.check());
  const std::string wrong = "x";
  ASSERT_TRUE(disk->write(5 * kMebibyte, wrong));

  const auto found = content.check();

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().cause, Cause::kReadBack);
  EXPECT_THAT(found.error().text, HasSubstr("from 4194304 to 8388608"));
}

TEST(ImageContent, MarksADiskThatIsNotFinishedYet) {
  const BootImage image{image_content(4)};
  auto disk = TargetDisk::open(image.path("disk"));
  ASSERT_TRUE(disk);
  ImageContent content{*disk, image.content().size(), ReadBack::kWhole};
  fill(content, image.content());

  ASSERT_TRUE(content.commit());
  EXPECT_THAT(image.disk().substr(kUnfinishedAt), StartsWith(std::string{kUnfinished}));
  disk = Failure{};  // closed
  ASSERT_TRUE(finish_image(image.path("disk"), content.unfinished_bytes()));
  EXPECT_TRUE(image.disk().starts_with(image.content()));
}

}  // namespace
}  // namespace cupel::agent::boot
