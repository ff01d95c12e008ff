#include "burnin/agent/node/boot/write_image_command.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "burnin/agent/common/options.h"
#include "burnin/agent/node/boot/report.h"

namespace cupel::agent::boot {
namespace {

using Kind = Choice::Kind;

constexpr double kMostBytes = 1e17;

constexpr std::array kChoices{
    Choice{.name = "--disk", .kind = Kind::kText, .help = "the block device or file"},
    Choice{.name = "--content-size",
           .kind = Kind::kCount,
           .low = 1,
           .high = kMostBytes,
           .help = "bytes of the decompressed image"},
    Choice{.name = "--size",
           .kind = Kind::kCount,
           .fallback = "0",
           .high = kMostBytes,
           .help = "bytes of the compressed stream, where known"},
    Choice{.name = "--sha256", .kind = Kind::kText, .help = "of the compressed stream"},
    Choice{.name = "--readback",
           .kind = Kind::kWord,
           .fallback = "sampled",
           .words = "none,sampled,whole",
           .help = "how much of what was written is read back"},
};

ReadBack read_back_of(std::string_view word) {
  if (word == "whole") return ReadBack::kWhole;
  return word == "none" ? ReadBack::kNone : ReadBack::kSampled;
}

Outcome<std::size_t> from_standard_input(std::span<char> into) {
  while (true) {
    const auto got = ::read(STDIN_FILENO, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR)
      return Failure{Cause::kCut, std::string{"standard input: "} + std::strerror(errno)};
  }
}

Outcome<WrittenImage> write_unfinished(const Options& options) {
  TRY(auto disk, TargetDisk::open(options.text("--disk")));
  ImageWriter writer{std::move(disk),
                     {.sha256 = options.text("--sha256"),
                      .size = options.count("--size"),
                      .content_size = options.count("--content-size")},
                     read_back_of(options.text("--readback"))};
  const auto progress = paced([](Phase phase, std::uint64_t bytes, std::uint64_t of) {
    print(progress_line(phase, bytes, of));
  });
  return writer.write(from_standard_input, progress);
}

}  // namespace

int write_image_command(Arguments arguments) {
  const auto options = Options::read(kChoices, arguments);
  if (!options || options->text("--disk").empty() || options->count("--content-size") == 0 ||
      options->text("--sha256").size() != 64) {
    write_all(2, options
                     ? "boot write-image wants --disk, --content-size and --sha256 (64 digits)\n"
                     : options.error().what + "\n");
    return kUsage;
  }
  auto written = write_unfinished(*options);
  if (written)
    if (auto done = finish_image(options->text("--disk"), written->unfinished_bytes); !done)
      written = std::move(done).error();
  if (!written) {
    print(JsonLine{"failed"}
              .add("cause", to_string(written.error().cause))
              .add("text", written.error().text));
    return kFoundOutNothing;
  }
  print(JsonLine{"written"}
            .add("sha256", written->sha256)
            .add("content", written->content)
            .add("written", written->written)
            .add("checked", written->checked));
  return kDone;
}

}  // namespace cupel::agent::boot
