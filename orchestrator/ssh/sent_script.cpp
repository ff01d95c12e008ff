#include "orchestrator/ssh/sent_script.h"

#include "base/text.h"

namespace cupel::ssh {
namespace {

/// The script is one line, so that one `read` takes it. 76: it did not come whole, and nothing of
/// it was run.
constexpr std::string_view kReader = R"sh(IFS= read -r s || exit 76; eval "$(printf %b "$s")")sh";

/// As `printf %b` makes it whole again.
std::string on_one_line(std::string_view script) {
  std::string line;
  line.reserve(script.size() + script.size() / 16);
  for (const char c : script) {
    if (c == '\n')
      line += "\\n";
    else if (c == '\\')
      line += "\\\\";
    else
      line += c;
  }
  return line;
}

}  // namespace

SentScript sent_script(std::string_view script, std::string_view payload, bool sudo) {
  auto input = on_one_line(script);
  input += '\n';
  input += payload;
  return {(sudo ? "sudo -n sh -c " : "sh -c ") + shell_quoted(kReader), std::move(input)};
}

}  // namespace cupel::ssh
