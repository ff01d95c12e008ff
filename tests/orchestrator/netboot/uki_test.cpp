// The section with the command line, found in any bytes that say they are an EFI program.
#include "orchestrator/netboot/uki.h"

#include <gmock/gmock.h>

#include "tests/orchestrator/netboot/small_program.h"

namespace cupel::netboot {
namespace {

Result<CommandLineSection> section_of(const std::string& program) {
  return command_line_section(program, program.size());
}

TEST(BootProgram, FindsItsCommandLine) {
  EXPECT_EQ(section_of(test::small_program("quiet")).value(),
            (CommandLineSection{1024, 1024, false}));
  EXPECT_EQ(section_of(test::small_program({.room = 256, .certificates = 8})).value(),
            (CommandLineSection{1024, 256, true}));
}

TEST(BootProgram, CutAnywhereItIsAnErrorOrTheSame) {
  const auto program = test::small_program("quiet");
  for (std::size_t size = 0; size < program.size(); ++size) {
    const auto section = section_of(program.substr(0, size));
    EXPECT_EQ(bool{section}, size >= 2048) << size;
  }
}

TEST(BootProgram, AnySingleByteChangedReadsNothingOutside) {
  const auto program = test::small_program("quiet");
  for (std::size_t at = 0; at < 512; ++at)
    for (const char value : {'\0', '\x7f', '\xff'}) {
      auto damaged = program;
      damaged[at] = value;
      const auto section = section_of(damaged);
      if (section) EXPECT_LE(section->offset + section->size, damaged.size()) << at;
    }
}

TEST(BootProgram, ACommandLineThatDoesNotFitIsAnError) {
  EXPECT_EQ(extended_command_line("quiet     ", "a=b").value(), "quiet a=b ");
  EXPECT_EQ(extended_command_line(std::string{"quiet\n\0\0\0\0", 10}, "a=b").value(), "quiet a=b ");
  EXPECT_EQ(extended_command_line("          ", "a=b").value(), "a=b       ");
  EXPECT_FALSE(extended_command_line("quiet     ", "a=bcd"));
}

}  // namespace
}  // namespace cupel::netboot
