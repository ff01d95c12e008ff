#include "orchestrator/ssh/run_command.h"

#include "base/text.h"

namespace cupel::ssh {

std::string command_line(std::span<const std::string> words, bool sudo) {
  // By env: it ends with 127 where there is no such program, and sudo itself with 1.
  std::string line = sudo ? "sudo -n env" : "";
  for (const auto& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

Task<Result<ScriptResult>> run_command(Session& session, std::vector<std::string> words, bool sudo,
                                       Deadline deadline) {
  ScriptResult heard;
  const auto sink = into(heard);
  CO_TRY(const auto ended, co_await session.run(command_line(words, sudo), {}, sink, deadline));
  heard.status = ended.exit_status;
  co_return heard;
}

std::string_view last_line(std::string_view output) {
  output = trimmed(output);
  const auto end = output.rfind('\n');
  return trimmed(end == output.npos ? output : output.substr(end + 1));
}

}  // namespace cupel::ssh
