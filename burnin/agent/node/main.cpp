// cupel-node: runs jobs on a node and reads what the node is made of. JSON lines on standard
// output, errors as text on standard error.
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "burnin/agent/common/json_line.h"
#include "burnin/agent/node/boot/subcommand.h"
#include "burnin/agent/node/check/check.h"
#include "burnin/agent/node/facts/facts.h"
#include "burnin/agent/node/job/subcommands.h"
#include "burnin/agent/node/run_stage.h"
#include "burnin/agent/node/subcommand.h"
#include "burnin/agent/node/tcp/subcommand.h"
#include "burnin/agent/node/watch/log_reading.h"
#include "burnin/agent/node/watch/watch.h"

namespace cupel::agent {
namespace {

constexpr int kProtocol = 1;

int version(Arguments) {
  JsonLine line{"version"};
  line.add("program", "cupel-node").add("version", CUPEL_VERSION).add("protocol", kProtocol);
  return print(line) ? kDone : kCannotWrite;
}

constexpr std::array kSubcommands{
    Subcommand{"start",
               "NAME --folder DIR --limit SECONDS [--spool-limit BYTES] [--input-bytes N] "
               "-- COMMAND [ARGUMENT...]",
               "starts a job that outlives this connection, unless it was started before",
               start_job},
    Subcommand{"tail",
               "--folder DIR [--from BYTES] [--errors-from BYTES] [--wait SECONDS] [--most BYTES]",
               "how a job stands, and what it has said from there on", tail_job},
    Subcommand{"stop", "--folder DIR", "ends a job and all that it started", stop_job},
    Subcommand{"tell", "--folder DIR < WORD",
               "lays a word into the folder of a job that was started", tell_job},
    Subcommand{"forget", "--folder DIR", "removes the folder of a job that does not run",
               forget_job},
    Subcommand{"list", "[--base FOLDER]", "all jobs below a folder", list_jobs},
    Subcommand{"--version", "", "the program's version and that of its protocol", version},
    Subcommand{"facts", "", "one document of what this node is made of", facts},
    Subcommand{"stage", "NAME [--root FOLDER] < ORDER",
               "one stage of burn-in: reads files, runs tools, prints what they measured",
               run_stage_command},
    Subcommand{"restore-settings", "[--timer] [--root FOLDER]",
               "puts back what the stage settings changed here, by the node's own record; --timer: "
               "only once it is due",
               restore_settings_command},
    Subcommand{"watch", "[--seconds N] [--every SECONDS] [--print SECONDS]",
               "samples GPUs, links, heat and the kernel's log, cheaply", watch},
    Subcommand{"kernel-log", "[--boot ID --after SEQUENCE | --from-boot]",
               "what the kernel has said since there, and where its log stands now", kernel_log},
    Subcommand{"check",
               "[--expect FILE] [--phase health|prolog|epilog] [--slurm [--resume] [--node NAME]] "
               "[--acknowledge] [--json] [--limit SECONDS]",
               "a light test without load, for Slurm's HealthCheckProgram, prolog and epilog",
               check_node},
    Subcommand{"tcp",
               "serve [--port P] [--wait SECONDS] | send --to HOST --port P  "
               "[--seconds N] [--most BYTES]",
               "sends data to another node and back; send reads the token of standard input",
               measure_tcp},
    Subcommand{"boot", "run | disks | write-image ...",
               "gives a machine its OS, in the RAM system that it booted", boot::boot},
};

std::string usage_of(const Subcommand& each) {
  std::string text{each.name};
  text.append(" ").append(each.usage).append("\n      ").append(each.summary).append("\n");
  return text;
}

int usage(int to) {
  std::string text = "usage: cupel-node SUBCOMMAND ...\n";
  for (const auto& each : kSubcommands) text.append("  ").append(usage_of(each));
  write_all(to, text);
  return to == 1 ? kDone : kUsage;
}

int run(const std::vector<std::string_view>& words) {
  if (words.empty()) return usage(2);
  if (words.front() == "--help" || words.front() == "-h") return usage(1);
  const bool asks = words.size() == 2 && words.back() == "--help";
  for (const auto& each : kSubcommands)
    if (asks && each.name == words.front()) {
      write_all(1, "usage: cupel-node " + usage_of(each));
      return kDone;
    }
  for (const auto& each : kSubcommands)
    if (each.name == words.front()) return each.run(Arguments{words}.subspan(1));
  write_all(2, "cupel-node: there is no subcommand '" + std::string{words.front()} + "'\n");
  return usage(2);
}

}  // namespace
}  // namespace cupel::agent

int main(int count, char** words) {
  const std::vector<std::string_view> all(words + (count > 0 ? 1 : 0), words + count);
  return cupel::agent::run(all);
}
