#include "orchestrator/netboot/uki.h"

#include <fmt/format.h>

#include <cstring>

namespace cupel::netboot {
namespace {

constexpr std::size_t kHeadRead = 64u * 1024;
constexpr std::uint64_t kLongest = 64u * 1024;  // of a command line's section
constexpr std::uint16_t kPe32 = 0x10b, kPe32Plus = 0x20b;
constexpr std::size_t kCoffHeader = 20, kSectionHeader = 40;
constexpr std::uint16_t kMostSections = 96;  // the Windows loader's limit

/// Numbers of a file, each only if it is in there.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_{bytes} {}

  template <class Number>
  std::optional<Number> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Number)) return {};
    Number value{};
    std::memcpy(&value, bytes_.data() + offset, sizeof value);  // the format is little-endian
    return value;
  }
  std::string_view text(std::uint64_t offset, std::size_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) return {};
    return bytes_.substr(offset, size);
  }

 private:
  std::string_view bytes_;
};

Error no_program(std::string_view why) {
  return {Code::kInvalid, fmt::format("not an EFI program: {}", why)};
}

struct Headers {
  std::uint64_t optional = 0, sections = 0;
  std::uint16_t count = 0;
};

Result<Headers> headers_of(const Reader& file) {
  if (file.text(0, 2) != "MZ") return no_program("no DOS header");
  const auto pe = file.at<std::uint32_t>(0x3c);
  if (!pe || file.text(*pe, 4) != std::string_view{"PE\0\0", 4}) return no_program("no PE header");
  const auto coff = std::uint64_t{*pe} + 4;
  const auto count = file.at<std::uint16_t>(coff + 2), optional = file.at<std::uint16_t>(coff + 16);
  if (!count || !optional) return no_program("its COFF header is cut off");
  if (*count > kMostSections) return no_program(fmt::format("it has {} sections", *count));
  return Headers{coff + kCoffHeader, coff + kCoffHeader + *optional, *count};
}

/// The certificate table is the fifth of the data directories.
Result<bool> is_signed(const Reader& file, const Headers& headers) {
  const auto magic = file.at<std::uint16_t>(headers.optional);
  if (magic != kPe32 && magic != kPe32Plus) return no_program("its optional header is unknown");
  const auto directories = headers.optional + (magic == kPe32Plus ? 112 : 96);
  const auto count = file.at<std::uint32_t>(directories - 4);
  if (!count || directories > headers.sections) return no_program("its optional header is cut off");
  if (*count < 5) return false;
  const auto size = file.at<std::uint32_t>(directories + 4 * 8 + 4);
  if (!size) return no_program("its optional header is cut off");
  return *size != 0;
}

}  // namespace

Result<CommandLineSection> command_line_section(std::string_view head, std::uint64_t file_size) {
  const Reader file{head};
  TRY(const auto headers, headers_of(file));
  TRY(const bool has_signature, is_signed(file, headers));
  for (std::uint16_t i = 0; i < headers.count; ++i) {
    const auto at = headers.sections + std::uint64_t{i} * kSectionHeader;
    if (file.text(at, 8) != ".cmdline") continue;
    const auto used = file.at<std::uint32_t>(at + 8), raw = file.at<std::uint32_t>(at + 16),
               offset = file.at<std::uint32_t>(at + 20);
    if (!used || !raw || !offset) return no_program("its section table is cut off");
    const std::uint64_t size = std::min(*used, *raw);
    if (size > kLongest || *offset > file_size || file_size - *offset < size)
      return no_program("its .cmdline section does not lie in the file");
    return CommandLineSection{*offset, size, has_signature};
  }
  return Error{Code::kInvalid, "the EFI program has no .cmdline section"};
}

Result<CommandLineSection> command_line_section(const images::OpenFile& program) {
  TRY(const auto head, program.read(0, kHeadRead));
  return command_line_section(head, program.size());
}

Result<std::string> extended_command_line(std::string_view section, std::string_view more) {
  const auto end = section.find_last_not_of(std::string_view{" \t\r\n\0", 5});
  std::string text{section.substr(0, end == section.npos ? 0 : end + 1)};
  if (!text.empty()) text += ' ';
  text += more;
  if (text.size() > section.size())
    return Error{Code::kInvalid,
                 fmt::format("the .cmdline section has {} bytes, the command line {}",
                             section.size(), text.size())};
  text.resize(section.size(), ' ');
  return text;
}

}  // namespace cupel::netboot
