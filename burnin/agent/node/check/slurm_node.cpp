#include "burnin/agent/node/check/slurm_node.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.h"
#include "burnin/agent/node/check/run_command.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kLongestReason = 240;
constexpr std::size_t kLongestName = 253;

/// What stands behind " Key=", up to the next one.
std::string_view after_key(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == line.npos) return {};
  return line.substr(at + key.size());
}

std::string_view word_after(std::string_view line, std::string_view key) {
  const auto rest = after_key(line, key);
  return rest.substr(0, rest.find(' '));
}

/// "gpu3: bad [root@2026-11-25T10:00:00]" without Slurm's own.
std::string_view reason_in(std::string_view line) {
  auto reason = trimmed(after_key(line, " Reason="));
  const auto stamp = reason.rfind(" [");
  if (stamp != reason.npos && reason.ends_with(']')) reason = reason.substr(0, stamp);
  return trimmed(reason);
}

}  // namespace

Result<SlurmState> parse_slurm_state(std::string_view line) {
  const auto text = " " + std::string{trimmed(line)};
  if (text.contains('\n')) return Error{Code::kMalformed, "scontrol listed several nodes"};
  SlurmState state;
  state.name = word_after(text, " NodeName=");
  const auto words = word_after(text, " State=");
  if (state.name.empty() || words.empty())
    return Error{Code::kMalformed, "scontrol: neither NodeName= nor State= in its answer"};
  for (auto word : split(words, '+')) {
    word = word.substr(0, word.find_first_of("*~#!%$@^-"));  // marks behind a word
    state.drained |= word == "DRAIN" || word == "DRAINED" || word == "DRAINING";
    state.down |= word == "DOWN" || word == "FAIL" || word == "NOT_RESPONDING";
  }
  state.reason = printable(reason_in(text));
  return state;
}

std::string check_reason(const std::vector<std::string>& complaints) {
  std::string reason{kCheckReason};
  std::size_t reported = 0;
  for (const auto& each : complaints) {
    const auto rest = complaints.size() - reported;
    const auto room = rest > 1 ? kLongestReason - 12 : kLongestReason;
    if (reported > 0 && reason.size() + each.size() + 2 > room) break;
    if (reported > 0) reason += "; ";
    reason += shortened(printable(each), kLongestReason - 40);
    ++reported;
  }
  if (reported < complaints.size()) reason += "; +" + std::to_string(complaints.size() - reported);
  std::erase_if(reason, [](char c) { return c == '"' || c == '\'' || c == '\\' || c == '`'; });
  return shortened(reason, kLongestReason);
}

SlurmAct act_for(const SlurmState& state, bool is_well, bool may_resume) {
  if (!is_well) return state.drained ? SlurmAct::nothing : SlurmAct::drain;
  const bool own = state.drained && !state.down && state.reason.starts_with(kCheckReason);
  return own && may_resume ? SlurmAct::resume : SlurmAct::nothing;
}

Result<std::string> slurm_name(std::string_view named) {
  std::string name{named};
  if (const char* reported = std::getenv("SLURMD_NODENAME"); name.empty() && reported != nullptr)
    name = reported;
  if (name.empty()) {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0) name = host.data();
    name = name.substr(0, name.find('.'));
  }
  const bool good = !name.empty() && name.size() <= kLongestName && name.front() != '-' &&
                    std::ranges::all_of(name, [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
                    });
  const auto lower = lower_case(name);
  if (!good || lower == "all" || lower == "default")
    return Error{Code::kInvalid, "no name of a node: '" + shortened(printable(name), 80) + "'"};
  return name;
}

Result<std::string> settle_in_slurm(const std::string& name,
                                    const std::vector<std::string>& complaints, bool may_resume,
                                    std::chrono::steady_clock::time_point deadline) {
  TRY(const auto line, run_command({"scontrol", "--oneliner", "show", "node", name}, deadline));
  TRY(const auto state, parse_slurm_state(line));
  if (state.name != name)
    return Error{Code::kMalformed, "scontrol was asked for " + name + " and listed " +
                                       shortened(printable(state.name), 80)};
  switch (act_for(state, complaints.empty(), may_resume)) {
    case SlurmAct::drain: {
      TRY(run_command({"scontrol", "update", "NodeName=" + name, "State=DRAIN",
                       "Reason=" + check_reason(complaints)},
                      deadline));
      return "drained " + name;
    }
    case SlurmAct::resume: {
      TRY(run_command({"scontrol", "update", "NodeName=" + name, "State=RESUME"}, deadline));
      return "resumed " + name + ", which an earlier check had drained";
    }
    case SlurmAct::nothing:
      if (!complaints.empty())
        return name + " is drained already" +
               (state.reason.empty() ? std::string{} : ": " + state.reason);
      if (state.drained) return name + " stays drained: " + state.reason;
      return std::string{};
  }
  __builtin_unreachable();
}

}  // namespace cupel::agent
