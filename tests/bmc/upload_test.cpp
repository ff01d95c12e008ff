// A file on its way to a BMC: whole or broken off, and what is known of it afterwards.
#include <fcntl.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/side_by_side.h"
#include "base/text.h"
#include "bmc/redfish/file_digest.h"
#include "tests/bmc/fixture.h"
#include "tests/support/image_file.h"
#include "tests/support/real_part.h"
#include "tests/support/sink_server.h"

namespace cupel::bmc {
namespace {

using Then = test::SinkServer::Manner::Then;

constexpr std::size_t kImage = (8u << 20) + 4321;  // more than sockets hold on their way

std::string many_bytes(std::size_t count) {
  static const std::string all = [] {
    std::string bytes(kImage, '\0');
    std::uint32_t state = 1;
    for (char& c : bytes) {
      state = state * 1664525 + 1013904223;
      c = static_cast<char>(state >> 24);
    }
    return bytes;
  }();
  return all.substr(0, count);
}

class Uploads : public ::testing::Test {
 protected:
  void serve(test::SinkServer::Manner manner) {
    server = std::make_unique<test::SinkServer>(manner);
  }
  void limit(redfish::Limits limits) {
    transport = std::make_unique<redfish::Transport>(io.get_executor(), limits);
  }

  static redfish::Upload upload_of(const test::ImageFile& file, std::string field = {}) {
    const auto order = file.order();
    return {.file = {order.file, order.bytes, order.sha256},
            .name = order.name,
            .field = std::move(field)};
  }
  Task<Result<redfish::Response>> sending(redfish::Upload upload,
                                          Deadline deadline = Deadline::in(24h)) {
    redfish::Peer peer{
        .node = "a01-n01", .endpoint = server->endpoint(), .trust = {}, .known = &keys};
    return transport->upload(peer, {.method = redfish::Method::post, .path = "/upload"},
                             std::move(upload), deadline);
  }
  Result<redfish::Response> send(redfish::Upload upload, Deadline deadline = Deadline::in(24h)) {
    return run_to_end(io, sending(std::move(upload), deadline));
  }
  std::vector<test::SinkServer::Taken> taken_after(std::size_t count) {
    const auto patience = Deadline::in(60s);
    while (server->taken().size() < count && !patience.passed())
      (void)run_to_end(io, pause_for(5ms));
    return server->taken();
  }

  asio::io_context io;
  std::unique_ptr<redfish::Transport> transport =
      std::make_unique<redfish::Transport>(io.get_executor());
  RememberedKeys keys;
  std::unique_ptr<test::SinkServer> server = std::make_unique<test::SinkServer>();
};

TEST_F(Uploads, AFileAloneArrivesAsItIsWithItsLength) {
  const test::ImageFile image{many_bytes(kImage)};

  const auto answer = send(upload_of(image));

  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(answer->status, 202);
  EXPECT_FALSE(answer->cut_short);
  const auto taken = taken_after(1);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].sha256, image.order().sha256);
  const auto head = lower_case(taken[0].head);
  EXPECT_THAT(head, HasSubstr("content-length: " + std::to_string(kImage) + "\r\n"));
  EXPECT_THAT(head, HasSubstr("content-type: application/octet-stream\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("transfer-encoding")));
  EXPECT_THAT(head, Not(HasSubstr("expect:")));
}

TEST_F(Uploads, AFormHasItsFieldsBeforeTheFile) {
  serve({.keeps_body = true});
  const test::ImageFile image{many_bytes(300'000)};
  auto upload = upload_of(image, "UpdateFile");
  upload.name = "bios\"\r\nX: y.bin";
  upload.fields.push_back({"UpdateParameters", "application/json", "{}"});

  const auto answer = send(upload);

  ASSERT_TRUE(answer) << answer.error().what;
  const auto taken = taken_after(1);
  ASSERT_EQ(taken.size(), 1u);
  const auto mark = taken[0].body.substr(0, taken[0].body.find("\r\n"));
  EXPECT_THAT(taken[0].head, HasSubstr("multipart/form-data; boundary=" + mark.substr(2) + "\r\n"));
  EXPECT_EQ(taken[0].body,
            mark +
                "\r\nContent-Disposition: form-data; name=\"UpdateParameters\"\r\n"
                "Content-Type: application/json\r\n\r\n{}\r\n" +
                mark +
                "\r\nContent-Disposition: form-data; name=\"UpdateFile\"; "
                "filename=\"bios_X: y.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n" +
                many_bytes(300'000) + "\r\n" + mark + "--\r\n");
}

/// Both have one digest, and each its own bytes to answer for.
TEST_F(Uploads, OfTwoAtOnceTheOneWhoseFileWasChangedMeanwhileIsBrokenOff) {
  const auto digest = redfish::FileDigest::of("image");
  const auto other = redfish::FileDigest::of("image");

  EXPECT_EQ(digest, other);
  EXPECT_TRUE(digest->add(0, "piece"));
  EXPECT_TRUE(other->add(0, "piece"));
  EXPECT_TRUE(other->add(1, " and piece"));
  EXPECT_FALSE(digest->add(1, " and p1ece"));
  EXPECT_EQ(other->hex(), sha256_hex("piece and piece"));
  EXPECT_FALSE(digest->add(2, "more")) << "behind the end";
  EXPECT_NE(redfish::FileDigest::of("another image"), digest);
}

TEST_F(Uploads, AFileThatIsAnotherOneIsBrokenOffBeforeItsLastBytes) {
  const test::ImageFile image{many_bytes(kImage)};
  auto upload = upload_of(image);
  upload.file.sha256 = std::string(64, '0');

  const auto answer = send(upload);

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kInvalid);
  EXPECT_THAT(answer.error().what, HasSubstr(image.path().string() + ": SHA-256 "));
  EXPECT_THAT(answer.error().what, HasSubstr("the BMC does not have the whole image"));
  const auto taken = taken_after(1);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_LT(taken[0].bytes, kImage);
}

TEST_F(Uploads, AFileOfAnotherSizeOrNoneCostsNoConnection) {
  const test::ImageFile image{many_bytes(1000)};
  auto longer = upload_of(image);
  longer.file.bytes = 1001;
  auto gone = upload_of(image);
  gone.file.path += ".gone";
  auto folder = upload_of(image);
  folder.file.path = "/tmp";

  const auto first = send(longer), second = send(gone), third = send(folder);

  EXPECT_EQ(first.error().code, Code::kInvalid);
  EXPECT_THAT(first.error().what, HasSubstr("1000 bytes, expected 1001"));
  EXPECT_EQ(second.error().code, Code::kNotFound);
  EXPECT_THAT(second.error().what, HasSubstr(gone.file.path));
  EXPECT_EQ(third.error().code, Code::kInvalid);
  EXPECT_EQ(server->connections(), 0);
}

TEST_F(Uploads, AFileThatShrinksMeanwhileIsBrokenOff) {
  const test::ImageFile image{many_bytes(kImage)};
  serve({.half_way = [&] { std::filesystem::resize_file(image.path(), 1 << 20); }});

  const auto answer = send(upload_of(image));

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kInvalid) << answer.error().what;
  EXPECT_THAT(answer.error().what, HasSubstr(image.path().string() + ": ended "));
}

/// A file whose reads wait for as long as this lives, as those of a disk that is gone.
class SilentDisk {
 public:
  explicit SilentDisk(const std::filesystem::path& file)
      : group_{::fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY)} {
    works_ = group_ >= 0 &&
             ::fanotify_mark(group_, FAN_MARK_ADD, FAN_ACCESS_PERM, AT_FDCWD, file.c_str()) == 0;
  }
  SilentDisk(const SilentDisk&) = delete;
  SilentDisk& operator=(const SilentDisk&) = delete;
  ~SilentDisk() {
    if (group_ >= 0) ::close(group_);  // whoever reads goes on
  }
  bool works() const { return works_; }

 private:
  int group_;
  bool works_ = false;
};

TEST_F(Uploads, ADiskThatReturnsNothingIsNamedWithItsFile) {
  limit({.upload_stall = 200ms});
  const test::ImageFile image{"x"};
  const auto upload = upload_of(image);
  const SilentDisk disk{image.path()};
  CUPEL_NEEDS_REAL_PART(disk.works(), "no fanotify(7): the test runs as root");

  const auto answer = send(upload);

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kTimeout) << answer.error().what;
  EXPECT_THAT(answer.error().what,
              HasSubstr(image.path().string() + ": the disk returned nothing"));
  EXPECT_EQ(server->connections(), 0);
}

TEST_F(Uploads, APipeIsRefusedInsteadOfWaitedFor) {
  const test::ImageFile image{"x"};
  const auto pipe = image.path().string() + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  auto upload = upload_of(image);
  upload.file.path = pipe;

  const auto answer = send(upload);
  std::filesystem::remove(pipe);

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kInvalid) << answer.error().what;
  EXPECT_THAT(answer.error().what, HasSubstr("a pipe"));
  EXPECT_EQ(server->connections(), 0);
}

struct Cut {
  std::uint64_t after;
  const char* says;
};
class CutUploads : public Uploads, public ::testing::WithParamInterface<Cut> {};
INSTANTIATE_TEST_SUITE_P(After, CutUploads,
                         ::testing::Values(Cut{0, "the BMC does not have the whole image"},
                                           Cut{1, "the BMC does not have the whole image"},
                                           Cut{kImage / 2, "the BMC does not have the whole image"},
                                           Cut{kImage - 1, "the BMC may have taken the image"},
                                           Cut{kImage, "the BMC may have taken the image"}),
                         [](const auto& cut) { return std::to_string(cut.param.after) + "Bytes"; });

TEST_P(CutUploads, SayWhetherTheBmcMayHaveTheImageAndAreNotRepeated) {
  serve({.reads = GetParam().after, .then = Then::cut});
  const test::ImageFile image{many_bytes(kImage)};

  const auto answer = send(upload_of(image));

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kUnreachable) << answer.error().what;
  const auto* none = GetParam().after == 0 ? "nothing of the image was sent" : GetParam().says;
  EXPECT_THAT(answer.error().what, AnyOf(HasSubstr(GetParam().says), HasSubstr(none)));
  EXPECT_EQ(server->connections(), 1);
}

TEST_F(Uploads, ABmcThatReadsNoMoreIsGivenUpAfterAWhile) {
  const test::ImageFile image{many_bytes(kImage)};
  // A stall that this machine needs for a handshake is none of the BMC's.
  const auto is_sent_in = [&](std::chrono::milliseconds stall) {
    limit({.upload_stall = stall});
    serve({.reads = 1u << 20, .then = Then::silence});
    return send(upload_of(image));
  };
  auto stall = 300ms;
  auto answer = is_sent_in(stall);
  while (!answer && !answer.error().what.contains("the whole image") && stall < 10s)
    answer = is_sent_in(stall *= 4);

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kTimeout) << answer.error().what;
  EXPECT_THAT(answer.error().what, HasSubstr("the BMC does not have the whole image"));
}

TEST_F(Uploads, ABmcThatTakesAllBytesAndDoesNotAnswerIsGivenUpAndMayHaveTheImage) {
  limit({.upload_stall = 24h, .upload_answer = 300ms});
  serve({.then = Then::silence});
  for (const std::size_t size : {std::size_t{100'000}, kImage}) {
    const test::ImageFile image{many_bytes(size)};

    const auto answer = send(upload_of(image));

    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::kTimeout);
    EXPECT_THAT(answer.error().what, HasSubstr("the BMC may have taken the image"));
  }
}

TEST_F(Uploads, ABmcThatChecksTheImageForLongerThanAStallIsWaitedFor) {
  const test::ImageFile image{many_bytes(100'000)};
  // A stall that this machine needs for a handshake is none of the BMC's.
  const auto is_sent_in = [&](std::chrono::milliseconds stall) {
    limit({.upload_stall = stall, .upload_answer = 60s});
    serve({.thinks = 3 * stall});
    return send(upload_of(image));
  };
  auto stall = 200ms;
  auto answer = is_sent_in(stall);
  while (!answer && stall < 10s) answer = is_sent_in(stall *= 4);

  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(answer->status, 202);
}

TEST_F(Uploads, ARefusalBeforeTheEndIsAnAnswer) {
  serve({.reads = 1000, .answer = "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"});
  const test::ImageFile image{many_bytes(kImage)};

  const auto answer = send(upload_of(image));

  // Its connection may break before the answer is read; it is never taken for accepted.
  if (answer) {
    EXPECT_EQ(answer->status, 413);
    EXPECT_TRUE(answer->cut_short);
  } else {
    EXPECT_EQ(answer.error().code, Code::kUnreachable) << answer.error().what;
  }
}

TEST_F(Uploads, ToOneBmcGoOneAfterTheOther) {
  const test::ImageFile image{many_bytes(4u << 20)};
  std::vector<Result<redfish::Response>> answers;
  const auto one = [&]() -> Task<void> { answers.push_back(co_await sending(upload_of(image))); };
  std::vector<Task<void>> three;
  for (int i = 0; i < 3; ++i) three.push_back(one());

  run_to_end(io, [](std::vector<Task<void>> all) -> Task<bool> {
    co_await side_by_side(std::move(all));
    co_return true;
  }(std::move(three)));

  ASSERT_EQ(answers.size(), 3u);
  for (const auto& answer : answers) EXPECT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(server->connections(), 3);
  for (const auto& taken : taken_after(3)) EXPECT_EQ(taken.sha256, image.order().sha256);
}

TEST_F(Uploads, EndAtOnceWhenTheirCallerStops) {
  limit({.upload_stall = 24h, .upload_answer = 24h});
  serve({.reads = 1u << 20, .then = Then::silence});
  const test::ImageFile image{many_bytes(kImage)};

  const auto answer = run_to_end(io, with_deadline(Deadline::in(300ms), sending(upload_of(image))));

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kTimeout);
  EXPECT_EQ(transport->budget("a01-n01")->upload_in_use, false);
}

}  // namespace
}  // namespace cupel::bmc
