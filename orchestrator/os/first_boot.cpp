#include "orchestrator/os/first_boot.h"

#include <algorithm>

#include "base/json.h"
#include "base/secret_forms.h"
#include "base/text.h"
#include "orchestrator/ssh/run_script.h"

namespace cupel::os {
namespace {

constexpr std::size_t kMostLines = 4096;  // bytes of the log's end: as in kWait
constexpr std::size_t kMostShown = 1500;

constexpr std::string_view kNoCloudInit = "no cloud-init", kDisabled = "disabled";

/// The result in the first line, the end of the log behind it; or one of the words above. What is
/// killed, as by a script that restarts the machine, ends with another status than 0.
/// Source: POSIX XCU 2.8.2, status of a command that a signal ended.
constexpr std::string_view kWait = R"(command -v cloud-init > /dev/null || {
  echo 'no cloud-init'
  exit 0
}
status=$(cloud-init status --wait 2> /dev/null)
[ $? -lt 128 ] || exit 1
if [ -r /run/cloud-init/result.json ]; then
  tr '\n' ' ' < /run/cloud-init/result.json
else
  case $status in *'status: disabled'*) echo disabled; exit 0 ;; esac
fi
echo
tail -n 20 /var/log/cloud-init-output.log | tail -c 4096
)";

/// The next run of the step must not find its image there and be content.
constexpr std::string_view kDisown = R"(cd /var/lib/cupel || exit
if [ -e os.json ]; then mv -f os.json os.json.failed; fi
sync
)";

}  // namespace

FirstBoot read_first_boot(std::string_view output) {
  using How = FirstBoot::How;
  FirstBoot seen;
  const auto end = std::min(output.find('\n'), output.size());
  const auto first = trimmed(output.substr(0, end));
  if (first == kNoCloudInit)
    return {.how = How::unknown, .failure = "it has no command cloud-init"};
  if (first == kDisabled) return {.how = How::unknown, .failure = "its cloud-init is disabled"};
  auto tail = output.substr(std::min(end + 1, output.size()));
  // Its first line may have been cut, and with it a secret.
  if (tail.size() >= kMostLines) tail.remove_prefix(std::min(tail.find('\n'), tail.size()));
  seen.last_lines = trimmed(tail);
  seen.failure = "cloud-init left no result";
  const auto result = parse_json(first);
  const auto* errors = result ? find(*result, "v1/errors") : nullptr;
  if (errors == nullptr || !errors->is_array()) return seen;
  seen.failure.clear();
  for (const auto& error : errors->get_array())
    if (error.is_string())
      seen.failure += (seen.failure.empty() ? "" : "; ") + std::string{error.get_string()};
  seen.how = errors->get_array().empty() ? How::good : How::failed;
  return seen;
}

std::string FirstBoot::text(const std::vector<std::string>& secrets) const {
  const auto clean_of = [&](const std::string& text) {
    return without_secrets(without_known(text, secrets));
  };
  std::string output = clean_of(failure);
  const auto clean = clean_of(last_lines);
  std::string shown;
  for (const auto line : lines(clean)) shown += (shown.empty() ? "" : " | ") + printable(line);
  // What came last says the most.
  if (shown.size() > kMostShown) shown = "..." + shown.substr(shown.size() - kMostShown);
  output = shortened(printable(output), kMostShown);
  if (!shown.empty()) output += ". Its last lines: " + shown;
  return valid_utf8(output);
}

Task<Result<FirstBoot>> wait_for_first_boot(ssh::Session& session, bool sudo, Deadline deadline) {
  CO_TRY(const auto text,
         co_await ssh::run_script(session, std::string{kWait}, {}, sudo, deadline));
  if (text.status != 0) co_return FirstBoot{.failure = "the wait for cloud-init was ended"};
  auto seen = read_first_boot(text.out);
  if (seen.how == FirstBoot::How::failed) {
    CO_TRY(co_await ssh::run_script(session, std::string{kDisown}, {}, sudo, deadline));
  }
  co_return seen;
}

}  // namespace cupel::os
