#include "orchestrator/ssh/sent_script.h"

#include <cassert>

#include "base/text.h"

namespace cupel::ssh {
namespace {

constexpr std::string_view kEndOfScript = "cupel-end-of-script";

/// 76: the script did not come whole, and nothing of it was run.
constexpr std::string_view kReader = R"sh(s=
while IFS= read -r l; do
  if [ "$l" = cupel-end-of-script ]; then eval "$s"; exit; fi
  s="$s$l
"
done
exit 76
)sh";

}  // namespace

SentScript sent_script(std::string script, std::string payload, bool sudo) {
  if (!script.ends_with('\n')) script += '\n';
  assert(!script.contains("\n" + std::string{kEndOfScript} + "\n"));
  script += kEndOfScript;
  script += '\n';
  script += payload;
  return {(sudo ? "sudo -n sh -c " : "sh -c ") + shell_quoted(kReader), std::move(script)};
}

}  // namespace cupel::ssh
