#pragma once
// What a machine's serial console says about a boot that does not come: lines of firmware, boot
// loaders and kernels, each with what it means. Data and a search; pure. Not the console itself
// (orchestrator/console/).
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cupel::os {

struct ConsoleCauseRow {
  std::string_view id;      // "dhcp-silent"
  std::string_view line;    // part of a line, in lower case
  std::string_view cause;   // for people
  std::string_view advice;  // what to do
  /// Nothing more happens on this boot: waiting for it is of no use.
  bool ends = false;
};

std::span<const ConsoleCauseRow> console_causes();

struct ConsoleCause {
  const ConsoleCauseRow* row = nullptr;
  std::string line{};  // as the console had it, printable and shortened
  bool ends = false;   // nothing more happens on this boot
};

/// The cause that `text`, the console's end since the machine was restarted, shows: of those that
/// end a boot the last one, else the last of all. That the firmware found nothing else to boot is
/// what comes of an earlier cause, where there is one. Escape sequences are ignored.
std::optional<ConsoleCause> console_cause(std::string_view text);

/// "the console says: PXE-E18: Server response timeout (an offer without a boot file, ...)"
std::string to_string(const ConsoleCause& cause);

}  // namespace cupel::os
