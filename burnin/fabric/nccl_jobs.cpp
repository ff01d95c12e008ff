#include "burnin/fabric/nccl_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin::fabric {
namespace {

using std::chrono::seconds;

constexpr seconds kHang{60};   // without progress
constexpr seconds kSpare{60};  // to load NCCL, to open the GPUs, to end

std::string exports(const Collectives& collectives, const Team& team, std::string_view hca) {
  std::string text;
  for (const auto& [name, value] : collectives.environment)
    text += fmt::format("export {}={}\n", name, shell_quoted(value));
  if (team.rail >= 0 && !hca.empty())
    text += fmt::format("export NCCL_IB_HCA={}\n", shell_quoted(fmt::format("={}", hca)));
  return text;
}

std::string gpus_of(const Team& team, int ranks_each) {
  if (team.rail >= 0) return fmt::format("{}", team.rail);
  return ranks_each == 1 ? "0" : fmt::format("0-{}", ranks_each - 1);
}

std::string interface_of(const Collectives& collectives, std::string_view address) {
  if (!collectives.interface.empty()) return " --interface " + shell_quoted(collectives.interface);
  return address.empty() ? "" : " --address " + shell_quoted(address);
}

std::string command(const Collectives& collectives, const Team& team, int ranks_each,
                    const NcclMember& member) {
  const auto work =
      collectives.steps > 0
          ? fmt::format("train --repeats 1 --passes {}", collectives.steps)
          : fmt::format("collective --ops {} --min {} --max {} --factor {} --times {}",
                        collectives.operations, collectives.least, collectives.most,
                        collectives.factor, collectives.times);
  return fmt::format(
      "cupel-burn {} --ranks {} --rank-base {} --gpus {} --join-within {} --hang-after {} "
      "--seconds {}{}",
      work, team.members.size() * static_cast<std::size_t>(ranks_each),
      member.place * static_cast<std::size_t>(ranks_each), gpus_of(team, ranks_each),
      collectives.join.count(), kHang.count(), (collectives.duration + collectives.join).count(),
      interface_of(collectives, member.address));
}

constexpr std::string_view kStatus = "echo \"cupel-run-status: $?\"\n";
/// The id comes by standard input, the address in it is reached before anything else is done.
constexpr std::string_view kId = "printf '%s\\n' \"$shared\" | ";

}  // namespace

seconds nccl_limit(const Collectives& collectives) {
  return collectives.duration + collectives.join + kHang + kSpare;
}

MemberJob nccl_job(const Collectives& collectives, const Team& team, int ranks_each,
                   const NcclMember& member) {
  const auto begin = script::head() + script::needs("cupel-burn");
  const auto first = member.place * static_cast<std::size_t>(ranks_each);
  MemberJob job;
  job.role = fmt::format("{}, rank {} of {}", team.name, first,
                         team.members.size() * static_cast<std::size_t>(ranks_each));
  job.limit = nccl_limit(collectives);
  job.leader = team.members.front();
  const auto run = command(collectives, team, ranks_each, member);
  const auto set = begin + exports(collectives, team, member.hca);
  if (member.place == 0) {
    job.script = set + run + " --make-id\n" + std::string{kStatus} + "exit 0\n";
    return job;
  }
  job.script = set + std::string{kId} + run + " --id-file -\n" + std::string{kStatus} + "exit 0\n";
  job.check = begin + "said=$(" + std::string{kId} +
              "cupel-burn nccl-id --id-file -)\nstatus=$?\nprintf '%s\\n' \"$said\"\n"
              "if [ $status -ne 0 ]; then\n"
              "  printf '%s\\n' \"$said\" | grep '\"kind\":\"error\"' >&2\n"
              "  exit 1\n"
              "fi\n";
  return job;
}

}  // namespace cupel::burnin::fabric
