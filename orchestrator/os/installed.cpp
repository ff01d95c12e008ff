#include "orchestrator/os/installed.h"

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/ssh/run_script.h"

namespace cupel::os {
namespace {

constexpr std::string_view kLook = R"(uname -n
for file in /var/lib/cupel/os.json /etc/cupel/os.json; do
  if [ -r "$file" ]; then head -c 8192 "$file"; exit; fi
done
)";

}  // namespace

Installed read_installed(std::string_view output) {
  Installed seen;
  const auto end = output.find('\n');
  seen.host_name = printable(trimmed(output.substr(0, end)));
  const auto rest = end == output.npos ? std::string_view{} : output.substr(end + 1);
  const auto reported = parse_json(trimmed(rest));
  if (!reported) return seen;
  seen.image = printable(text_at(*reported, "image").value_or(""));
  seen.sha256 = printable(text_at(*reported, "sha256").value_or(""));
  return seen;
}

Task<Result<Installed>> look_at_installed(ssh::Session& session, bool sudo, Deadline deadline) {
  CO_TRY(const auto result,
         co_await ssh::run_script(session, std::string{kLook}, {}, sudo, deadline));
  co_return read_installed(result.out);
}

}  // namespace cupel::os
