#include "orchestrator/handoff/scontrol.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/ownership.h"
#include "orchestrator/handoff/slurm_tool.h"

namespace cupel::handoff {
namespace {

constexpr std::chrono::seconds kPatience{20};

/// Slurm's own words for "that node is not mine": slurm_strerror, ESLURM_INVALID_NODE_NAME.
Error error_of(const std::string& name, const ProcessOutcome& outcome) {
  const auto words = words_of_slurm(outcome);
  const auto text = lower_case(words);
  const auto says = [&](std::string_view part) { return text.find(part) != text.npos; };
  if (says("not found") || says("invalid node name"))
    return unknown_to_slurm(name, "scontrol: " + words);
  // ESLURM_USER_ID_MISSING of older versions, ESLURM_ACCESS_DENIED of newer ones.
  // Source: https://slurm.schedmd.com/user_permissions.html: nodes are changed by administrators.
  if (says("invalid user id") || says("access/permission denied"))
    return Error{Code::kRefused,
                 fmt::format("scontrol: {0}: user {1} may not change nodes in Slurm: sacctmgr "
                             "modify user where name={1} set adminlevel=administrator, or run "
                             "Cupel as SlurmUser",
                             words, name_of_user(::geteuid()))};
  if (is_without_slurmctld(text))
    return Error{Code::kUnreachable, "slurmctld does not answer: " + words};
  return Error{Code::kFailed,
               fmt::format("scontrol ended with exit status {}: {}", outcome.exit_status, words)};
}

/// Where " Key=" begins for a key that Slurm writes with a capital letter; values may hold blanks.
std::map<std::string, std::string, std::less<>> keys_of(std::string_view line) {
  std::map<std::string, std::string, std::less<>> keys;
  std::string last;
  for (const auto word : words(line)) {
    const auto equals = word.find('=');
    const bool key = equals != word.npos && equals > 0 && word[0] >= 'A' && word[0] <= 'Z' &&
                     word.substr(0, equals).find_first_of("[]():,") == word.npos;
    // Reason is the last key of the line and may itself hold "Key=value".
    if (key && last != "Reason") {
      last = word.substr(0, equals);
      keys[last] = word.substr(equals + 1);
    } else if (!last.empty()) {
      keys[last] += " " + std::string{word};
    }
  }
  return keys;
}

std::vector<std::string> listed(std::string_view text, char separator) {
  std::vector<std::string> found;
  if (text.empty() || text == "(null)") return found;
  for (const auto word : split(text, separator)) found.emplace_back(word);
  return found;
}

}  // namespace

Result<SlurmNode> parse_slurm_node(std::string_view line) {
  const auto keys = keys_of(line);
  const auto value = [&](std::string_view key) {
    const auto found = keys.find(key);
    return found == keys.end() ? std::string{} : found->second;
  };
  SlurmNode node;
  node.name = value("NodeName");
  if (node.name.empty() || value("State").empty())
    return Error{Code::kMalformed, "scontrol printed no node: " + shortened(printable(line), 120)};
  for (const auto word : split(value("State"), '+')) {
    // "*" not responding, "~" powered off, "#" booting, ... (man sinfo, NODE STATE CODES).
    const auto bare = word.substr(0, word.find_first_of("*~#!%$@^-"));
    node.state.emplace_back(bare);
    if (word.ends_with('*')) node.state.emplace_back("NOT_RESPONDING");
  }
  const auto reason = value("Reason");
  const auto cut = reason.rfind(" [");
  node.reason = trimmed(std::string_view{reason}.substr(0, cut));
  if (cut != reason.npos) {
    const auto user = std::string_view{reason}.substr(cut + 2);
    node.reason_by = user.substr(0, std::min(user.find('@'), user.size()));
  }
  node.cpus = number<int>(value("CPUTot")).value_or(0);
  node.memory_bytes = number<double>(value("RealMemory")).value_or(0) * 1024 * 1024;
  node.gres = value("Gres") == "(null)" ? "" : value("Gres");
  node.features = listed(value("AvailableFeatures"), ',');
  return node;
}

Task<Result<std::string>> Scontrol::scontrol(std::vector<std::string> arguments, std::string name,
                                             Deadline deadline, std::size_t most_output) {
  ProcessRequest request;
  request.output_limit = most_output;
  request.argv = {"scontrol"};
  for (auto& argument : arguments) request.argv.push_back(std::move(argument));
  if (!configuration_.empty()) request.environment.push_back("SLURM_CONF=" + configuration_);
  const auto until = deadline.sooner(kPatience);
  auto outcome = co_await run_process(std::move(request), until);
  if (!outcome && outcome.error().code == Code::kNotFound)
    co_return Error{Code::kUnsupported,
                    "there is no scontrol here: install slurm-client, ask slurmrestd (slurm: "
                    "rest), or take the slurm section out of the inventory"};
  if (!outcome) co_return std::move(outcome).error().within("scontrol");
  // "show node" of an unknown one prints to standard output and, in older versions, exits 0.
  const auto& result = *outcome;
  const bool unknown = result.output.find("not found") != std::string::npos;
  if (result.exit_status != 0 || unknown) co_return error_of(name, result);
  co_return std::move(outcome->output);
}

Task<Result<std::vector<SlurmNode>>> Scontrol::nodes(std::string name, Deadline deadline) {
  const std::size_t most = name.empty() ? 32u << 20 : 4u << 20;
  std::vector<std::string> arguments{"--oneliner", "show", "node"};
  if (!name.empty()) arguments.push_back(name);
  CO_TRY(const auto output, co_await scontrol(std::move(arguments), name, deadline, most));
  std::vector<SlurmNode> found;
  for (const auto line : lines(output)) {
    if (!line.starts_with("NodeName=")) continue;
    CO_TRY(auto node, parse_slurm_node(line));
    found.push_back(std::move(node));
  }
  co_return found;
}

Task<Result<void>> Scontrol::update(std::string name, SlurmUpdate update, Deadline deadline) {
  std::vector<std::string> arguments{"update", "NodeName=" + name};
  if (!update.state.empty()) arguments.push_back("State=" + update.state);
  if (!update.reason.empty()) arguments.push_back("Reason=" + update.reason);
  if (update.features) {
    const auto all = fmt::format("{}", fmt::join(*update.features, ","));
    arguments.push_back("AvailableFeatures=" + all);
    arguments.push_back("ActiveFeatures=" + all);
  }
  CO_TRY(co_await scontrol(std::move(arguments), name, deadline));
  co_return ok();
}

Task<Result<void>> Scontrol::reserve(std::string name, std::string reservation, Deadline deadline) {
  // MAINT may lie over other reservations, IGNORE_JOBS over jobs that still end.
  // Source: man scontrol (22.05), "create reservation".
  std::vector<std::string> arguments{"create",
                                     "reservation",
                                     "ReservationName=" + reservation,
                                     "Nodes=" + name,
                                     "StartTime=now",
                                     "Duration=UNLIMITED",
                                     "Flags=MAINT,IGNORE_JOBS",
                                     fmt::format("Users={}", ::geteuid())};
  auto made = co_await scontrol(std::move(arguments), name, deadline);
  if (made) co_return ok();
  // It was made before a crash of ours. ESLURM_RESERVATION_NAME_DUP has these words.
  if (lower_case(made.error().what).find("duplicate") != std::string::npos) co_return ok();
  co_return std::move(made).error().within("reservation " + reservation);
}

Task<Result<void>> Scontrol::unreserve(std::string reservation, Deadline deadline) {
  std::vector<std::string> arguments{"delete", "ReservationName=" + reservation};
  auto gone = co_await scontrol(std::move(arguments), reservation, deadline);
  if (gone) co_return ok();
  // ESLURM_RESERVATION_INVALID: there is none of this name.
  if (lower_case(gone.error().what).find("reservation is invalid") != std::string::npos)
    co_return ok();
  co_return std::move(gone).error().within("reservation " + reservation);
}

Task<std::vector<std::string>> Scontrol::jobs(std::string name, Deadline deadline) {
  constexpr std::size_t kMostJobs = 1000;
  ProcessRequest request;
  request.output_limit = 1u << 20;
  request.argv = {"squeue", "--noheader", "--format=%i %u", "--nodelist=" + name};
  if (!configuration_.empty()) request.environment.push_back("SLURM_CONF=" + configuration_);
  const auto outcome = co_await run_process(std::move(request), deadline.sooner(kPatience));
  std::vector<std::string> found;
  if (!outcome || outcome->exit_status != 0) co_return found;
  for (const auto line : lines(outcome->output)) {
    const auto parts = words(line);
    if (parts.size() != 2 || found.size() == kMostJobs) continue;
    found.push_back(fmt::format("{} ({})", printable(shortened(parts[0], 40)),
                                printable(shortened(parts[1], 40))));
  }
  co_return found;
}

Task<Result<std::string>> Scontrol::ping(Deadline deadline) {
  std::vector<std::string> arguments{"ping"};
  std::string none;
  CO_TRY(const auto output, co_await scontrol(std::move(arguments), std::move(none), deadline));
  co_return printable(trimmed(std::string_view{output}.substr(0, output.find('\n'))));
}

}  // namespace cupel::handoff
