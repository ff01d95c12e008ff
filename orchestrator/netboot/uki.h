#pragma once
// The one section of an EFI program that carries a kernel's command line. Source: PE Format
// (Microsoft), "COFF File Header", "Section Table"; systemd-stub(7).
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "orchestrator/images/open_file.h"

namespace cupel::netboot {

struct CommandLineSection {
  std::uint64_t offset = 0, size = 0;  // in the file
  bool is_signed = false;              // the program: no byte of it may change
  friend bool operator==(const CommandLineSection&, const CommandLineSection&) = default;
};

/// Looks at the program's first bytes alone. Errors: kInvalid (no EFI program, no such section, one
/// that does not lie in the file).
Result<CommandLineSection> command_line_section(std::string_view head, std::uint64_t file_size);
Result<CommandLineSection> command_line_section(const images::OpenFile& program);

/// `section`'s text with `more` behind its words, as long as it was. Errors: kInvalid (no room).
Result<std::string> extended_command_line(std::string_view section, std::string_view more);

}  // namespace cupel::netboot
