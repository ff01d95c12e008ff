#include "orchestrator/handoff/slurm_rights.h"

#include <fmt/format.h>

#include "base/process.h"
#include "base/text.h"

namespace cupel::handoff {
namespace {

using Right = SlurmRights::Right;

constexpr std::chrono::seconds kPatience{20};

/// The first line of what a tool says.
std::string first_line(std::string_view text) {
  const auto message = trimmed(text);
  return printable(shortened(message.substr(0, message.find('\n')), 200));
}

Task<Result<ProcessOutcome>> ask(std::vector<std::string> argv, std::string configuration,
                                 Deadline deadline) {
  ProcessRequest request{.argv = std::move(argv)};
  if (!configuration.empty()) request.environment.push_back("SLURM_CONF=" + configuration);
  const auto until = deadline.sooner(kPatience);
  auto outcome = co_await run_process(std::move(request), until);
  co_return outcome;
}

/// By the answer of sacctmgr: the level in a line of its own, no line for a user whom accounting
/// does not have.
SlurmRights by_accounting(const std::string& user, const Result<ProcessOutcome>& outcome) {
  if (!outcome) return {Right::unknown, printable(outcome.error().what), {}};
  if (outcome->exit_status != 0) {
    const auto message = first_line(outcome->error.empty() ? outcome->output : outcome->error);
    const bool no_accounting = message.contains("accounting_storage");
    if (!no_accounting) return {Right::unknown, "sacctmgr failed: " + message, {}};
    return {Right::lacks,
            fmt::format("{} is neither root nor SlurmUser, and without slurmdbd there are no "
                        "administrators",
                        user),
            {}};
  }
  const auto level = first_line(outcome->output);
  if (lower_case(level) == "administrator")
    return {Right::has, fmt::format("{} is an administrator", user), {}};
  if (level.empty())
    return {
        Right::lacks, fmt::format("accounting has no user {}", user),
        fmt::format("sacctmgr -i add user name={} account=root adminlevel=administrator", user)};
  return {Right::lacks, fmt::format("the AdminLevel of {} is {}", user, level),
          fmt::format("sacctmgr -i modify user where name={} set adminlevel=administrator", user)};
}

}  // namespace

std::string slurm_user_in(std::string_view shown) {
  for (const auto line : lines(shown)) {
    const auto equals = line.find('=');
    if (equals == line.npos || trimmed(line.substr(0, equals)) != "SlurmUser") continue;
    const auto value = trimmed(line.substr(equals + 1));
    return std::string{value.substr(0, value.find('('))};
  }
  return {};
}

Task<SlurmRights> slurm_rights(std::string user, std::string configuration, Deadline deadline) {
  if (user == "root") co_return SlurmRights{Right::has, "root may change nodes", {}};
  std::vector<std::string> show{"scontrol", "show", "config"};
  const auto shown = co_await ask(std::move(show), configuration, deadline);
  if (shown && slurm_user_in(shown->output) == user)
    co_return SlurmRights{Right::has, user + " is SlurmUser", {}};
  std::vector<std::string> level{"sacctmgr", "--noheader", "--parsable2",  "show",
                                 "user",     "where",      "name=" + user, "format=AdminLevel"};
  const auto outcome = co_await ask(std::move(level), configuration, deadline);
  co_return by_accounting(user, outcome);
}

}  // namespace cupel::handoff
