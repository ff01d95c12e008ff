#include "orchestrator/report/advice.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::report {
namespace {

constexpr Advice kAdvice[] = {
    {"slurm-drain", "", "", "jobs that still run on it",
     "wait until the jobs have ended, or end them: scancel JOB; then: cupel retry RUN NODE", false,
     false},
    {"", "", "refused", "set adminlevel=administrator",
     "let Cupel's user change nodes in Slurm, as the step's words say; then: cupel retry RUN NODE",
     false, false},
    {"", "", "", "Slurm does not know node",
     "add its lines to slurm.conf (cupel slurm conf), then: scontrol reconfigure; then: "
     "cupel retry RUN NODE",
     false, false},
    {"", "", "unreachable", "slurmctld",
     "look at slurmctld, its host and its log; then: cupel retry RUN NODE", false, false},
    {"", "", "untrusted", "the inventory says",
     "find out who has replaced the machine, or its key; where that was meant, write the new one "
     "into the inventory and begin a new run",
     false, false},
    {"", "", "untrusted", "host key",
     "find out who has replaced the machine, or its host key; where that was meant: "
     "cupel exec NODE --accept-host-key",
     false, true},
    {"", "", "untrusted", "certificate problem",
     "give the BMC a certificate of the CA that the inventory names, or name the right CA there",
     false, true},
    {"", "", "untrusted", "",
     "find out who has replaced the BMC, or its certificate; where that was meant: "
     "cupel bmc NODE accept-certificate",
     false, true},
    {"", "", "refused", "the node does not let",
     "put the public half of the inventory's key_file into authorized_keys of that user on the "
     "node",
     false, true},
    {"", "", "refused", "key_file in the inventory",
     "name a key_file in the inventory, or start an SSH agent; then: cupel resume RUN", false,
     false},
    {"", "", "refused", "private key", "", false, false},
    {"", "", "refused", "the node opens no channel",
     "look at sshd on the node: its log, and MaxSessions; then: cupel retry RUN NODE", false,
     false},
    {"", "", "refused", "the node starts no command",
     "look at sshd on the node: its log, and ForceCommand; then: cupel retry RUN NODE", false,
     false},
    {"", "", "refused", "",
     "correct the password in the inventory's secret; where the BMC's own was corrected instead: "
     "cupel bmc NODE retry-login",
     false, true},
    {"ssh-wait", "", "unreachable", "Connection refused",
     "look at its screen or console (cupel bmc NODE console): the machine answers, and refuses "
     "connections to SSH",
     true, true},
    {"ssh-wait", "", "", "", "look at the machine: its screen, its network cables", true, true},
    {"", "", "unreachable", "", "look at the BMC: its network cable, its power, its lights", true,
     true},
    {"", "", "timeout", "",
     "look at the machine: its power, its cables, its screen; then: cupel retry RUN NODE", true,
     false},
    {"", "BMC unresponsive", "", "",
     "look at the BMC; pull its power for a minute where it does not recover", true, true},
    {"", "needs operator", "", "", "", true, true},
};

bool failed(const record::StepRecord& step) {
  return step.outcome == "failed" || step.outcome == "needs operator" ||
         step.outcome == "BMC unresponsive";
}

}  // namespace

const Advice* advice_for(const record::StepRecord& step) {
  if (!failed(step)) return nullptr;
  for (const auto& row : kAdvice) {
    const bool fits = (row.step.empty() || row.step == step.name) &&
                      (row.outcome.empty() || row.outcome == step.outcome) &&
                      (row.error.empty() || row.error == step.error) &&
                      step.detail.contains(row.says);
    if (fits) return &row;
  }
  return nullptr;
}

bool asks_for_operator(const record::StepRecord& step) {
  return !step.needs.empty() && failed(step);
}

std::string action_for(std::string_view action, std::int64_t run, const std::string& node) {
  std::string text{action};
  replace_word(text, "RUN", std::to_string(run));
  replace_word(text, "NODE", node);
  return text;
}

}  // namespace cupel::report
