#include "orchestrator/ssh/run_script.h"

#include "orchestrator/ssh/sent_script.h"

namespace cupel::ssh {

constexpr std::size_t kMostWords = 16 * 1024;

Sink into(ScriptResult& heard) {
  return [&heard](Stream stream, std::string_view piece) {
    auto& text = stream == Stream::out ? heard.out : heard.err;
    text += piece.substr(0, kMostWords - std::min(text.size(), kMostWords));
  };
}

Task<Result<ScriptResult>> run_script(Session& session, std::string script, std::string input,
                                      bool sudo, Deadline deadline) {
  auto sent = sent_script(script, input, sudo);
  ScriptResult heard;
  const auto sink = into(heard);
  CO_TRY(const auto ended,
         co_await session.run(sent.command, std::move(sent.input), sink, deadline));
  heard.status = ended.exit_status;
  co_return heard;
}

}  // namespace cupel::ssh
