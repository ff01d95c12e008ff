#pragma once
// The smallest EFI program that has a command line's section: PE32+, two sections.
#include <cstdint>
#include <cstring>
#include <string>

namespace cupel::test {

struct SmallProgram {
  std::string cmdline{};
  std::uint32_t room = 1024;       // of the section
  std::uint32_t certificates = 0;  // bytes of signatures
};

inline std::string small_program(const SmallProgram& what) {
  constexpr std::uint32_t kPe = 64, kOptional = 240, kText = 512, kCmdline = 1024;
  std::string bytes(kCmdline + what.room + 64, '\x5a');
  std::memset(bytes.data(), 0, kText);
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  bytes.replace(0, 2, "MZ");
  put(0x3c, kPe);
  bytes.replace(kPe, 2, "PE");
  const auto coff = kPe + 4, optional = coff + 20, sections = optional + kOptional;
  put(coff, std::uint16_t{0x8664});
  put(coff + 2, std::uint16_t{2});
  put(coff + 16, std::uint16_t{kOptional});
  put(optional, std::uint16_t{0x20b});
  put(optional + 108, std::uint32_t{16});
  put(optional + 112 + 4 * 8, what.certificates == 0 ? 0u : kCmdline);
  put(optional + 112 + 4 * 8 + 4, what.certificates);
  const auto section = [&](std::size_t at, const char* name, std::uint32_t size,
                           std::uint32_t offset) {
    std::memcpy(bytes.data() + at, name, std::strlen(name));
    put(at + 8, size);
    put(at + 16, size);
    put(at + 20, offset);
  };
  section(sections, ".text", 512, kText);
  section(sections + 40, ".cmdline", what.room, kCmdline);
  std::string text = what.cmdline;
  text.resize(what.room, ' ');
  bytes.replace(kCmdline, what.room, text);
  return bytes;
}

inline std::string small_program(const std::string& cmdline) {
  return small_program(SmallProgram{.cmdline = cmdline});
}

}  // namespace cupel::test
