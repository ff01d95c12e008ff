#include "rehearsal/sim/make_os_image.h"

#include <cstdint>
#include <cstring>
#include <filesystem>

#include "base/file.h"

namespace cupel::rehearsal {
namespace {

constexpr std::size_t kCommandLine = 1024, kTicket = 4096, kSector = 2048;
constexpr std::size_t kContent = 64u << 20;  // of the disk, all zeroes but for its first block

class Bytes {
 public:
  explicit Bytes(std::size_t size) : text_(size, '\0') {}

  template <class Number>
  void put(std::size_t at, Number value) {  // both formats are little-endian
    std::memcpy(text_.data() + at, &value, sizeof value);
  }
  void put_text(std::size_t at, std::string_view text) { text_.replace(at, text.size(), text); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// An EFI program without code: headers and the one section that carries the command line. Source:
/// PE Format (Microsoft).
std::string ram_program() {
  constexpr std::uint32_t kPe = 64, kCoff = kPe + 4, kOptional = kCoff + 20, kOptionalSize = 240,
                          kSection = kOptional + kOptionalSize, kData = 512;
  constexpr std::uint16_t kAmd64 = 0x8664, kPe32Plus = 0x20b;
  Bytes bytes{kData + kCommandLine};
  bytes.put_text(0, "MZ");
  bytes.put(0x3c, kPe);
  bytes.put_text(kPe, "PE");
  bytes.put(kCoff, kAmd64);
  bytes.put(kCoff + 2, std::uint16_t{1});
  bytes.put(kCoff + 16, static_cast<std::uint16_t>(kOptionalSize));
  bytes.put(kOptional, kPe32Plus);
  bytes.put(kOptional + 108, std::uint32_t{16});  // data directories, all empty
  bytes.put_text(kSection, ".cmdline");
  for (const auto size_at : {8u, 16u})
    bytes.put(kSection + size_at, static_cast<std::uint32_t>(kCommandLine));
  bytes.put(kSection + 20, kData);
  bytes.put_text(kData, std::string(kCommandLine, ' '));
  return bytes.take();
}

/// Of ISO 9660 only as much as a machine looks at that finds its ticket by what stands there.
std::string ram_disc() {
  Bytes bytes{kSector + kTicket};
  std::string ticket = R"({"boot":""})";
  ticket.resize(kTicket, ' ');
  bytes.put_text(kSector, ticket);
  return bytes.take();
}

/// One zstd frame whose blocks each repeat one byte. Source: RFC 8878, 3.1.1.
std::string disk_stream() {
  constexpr std::size_t kBlock = 128u << 10, kHeader = 13;
  constexpr std::uint32_t kMagic = 0xfd2fb528, kRepeat = 1;
  Bytes head{kHeader};
  head.put(0, kMagic);
  head.put(4, '\xe0');  // a single segment, and 8 bytes of content's size
  head.put(5, std::uint64_t{kContent});
  auto stream = head.take();
  for (std::size_t at = 0; at < kContent; at += kBlock) {
    const auto last = at + kBlock == kContent ? 1u : 0u;
    const auto block = last | kRepeat << 1 | static_cast<std::uint32_t>(kBlock) << 3;
    for (int shift = 0; shift < 24; shift += 8) stream += static_cast<char>(block >> shift);
    stream += at == 0 ? '\x01' : '\0';
  }
  return stream;
}

}  // namespace

SimExit make_os_image(const std::string& folder) {
  const std::filesystem::path to{folder};
  for (const auto& [name, bytes] :
       {std::pair{"ram.efi", ram_program()}, std::pair{"ram.iso", ram_disc()},
        std::pair{"disk.raw.zst", disk_stream()}})
    if (const auto written = write_file(to / name, bytes, kReadableByAll); !written)
      return print_error(written.error(), SimExit::unfinished);
  say_line({{"iso_ticket", {{"offset", kSector}, {"size", kTicket}}}, {"content_size", kContent}});
  return SimExit::done;
}

}  // namespace cupel::rehearsal
