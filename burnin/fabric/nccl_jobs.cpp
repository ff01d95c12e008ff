#include "burnin/fabric/nccl_jobs.h"

#include <fmt/format.h>

#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/script.h"

namespace cupel::burnin::fabric {
namespace {

using std::chrono::seconds;

constexpr seconds kHang{60};   // without progress
constexpr seconds kSpare{60};  // to load NCCL, to open the GPUs, to end
constexpr std::string_view kRun = "cupel-burn", kCheck = "nccl-id";  // names of the evidence

json::object environment_of(const Collectives& collectives, const Team& team,
                            std::string_view hca) {
  json::object environment;
  for (const auto& [name, value] : collectives.environment) environment[name] = value;
  if (team.rail >= 0 && !hca.empty()) environment["NCCL_IB_HCA"] = fmt::format("={}", hca);
  return environment;
}

json::object work_of(const Collectives& collectives) {
  if (collectives.steps > 0) return {{"work", "train"}, {"steps", collectives.steps}};
  json::array operations;
  for (const auto each : split(collectives.operations, ',')) operations.emplace_back(each);
  return {{"work", "collective"},         {"operations", std::move(operations)},
          {"min", collectives.least},     {"max", collectives.most},
          {"factor", collectives.factor}, {"times", collectives.times}};
}

/// Of the leader, which makes the id.
json::object order_of(const Collectives& collectives, const Team& team, int ranks_each,
                      const NcclMember& member) {
  auto order = work_of(collectives);
  order["ranks"] = team.members.size() * static_cast<std::size_t>(ranks_each);
  order["first"] = member.place * static_cast<std::size_t>(ranks_each);
  order["gpu"] = std::max(team.rail, 0);
  order["gpus"] = team.rail >= 0 ? 1 : ranks_each;
  order["join"] = collectives.join.count();
  order["hang"] = kHang.count();
  order["seconds"] = (collectives.duration + collectives.join).count();
  if (!collectives.interface.empty())
    order["interface"] = collectives.interface;
  else if (!member.address.empty())
    order["address"] = member.address;
  auto environment = environment_of(collectives, team, member.hca);
  if (!environment.empty()) order["environment"] = std::move(environment);
  return order;
}

std::string script_of(json::object order) {
  return agent_job({.stage = kNcclStage, .order = std::move(order)}, {}, {}).script;
}

/// The first error of cupel-burn's own, in its words.
std::string error_in(std::string_view text) {
  for (const auto line : lines(text)) {
    if (!line.starts_with(R"({"kind":"error")")) continue;
    const auto value = parse_json(line);
    if (value) return script::clean(text_at(*value, "message").value_or("an error without words"));
  }
  return {};
}

std::string refusal_of(const Output& checked) {
  const auto read = read_agent_output(kNcclStage, checked, {});
  if (!read) return read.error().what;
  const auto* tool = *read ? (*read)->tool(kCheck) : nullptr;
  if (tool == nullptr) return "the node did not try to reach the address where the ranks meet";
  if (tool->status == 0) return {};
  auto why = error_in(tool->out);
  return why.empty() ? fmt::format("cupel-burn nccl-id: exit status {}: {}", tool->status,
                                   complaint_of(*tool))
                     : why;
}

WithShared with_id(const json::object& order) {
  return {.script =
              [order](const std::string& id) {
                auto mine = order;
                mine["id"] = id;
                return script_of(std::move(mine));
              },
          .check = [](const std::string& id) { return script_of({{"work", "check"}, {"id", id}}); },
          .refusal = refusal_of};
}

}  // namespace

seconds nccl_limit(const Collectives& collectives) {
  return collectives.duration + collectives.join + kHang + kSpare;
}

MemberJob nccl_job(const Collectives& collectives, const Team& team, int ranks_each,
                   const NcclMember& member) {
  const auto first = member.place * static_cast<std::size_t>(ranks_each);
  auto order = order_of(collectives, team, ranks_each, member);
  MemberJob job;
  job.role = fmt::format("{}, rank {} of {}", team.name, first,
                         team.members.size() * static_cast<std::size_t>(ranks_each));
  job.limit = nccl_limit(collectives);
  job.leader = team.members.front();
  if (member.place == 0)
    job.script = script_of(std::move(order));
  else
    job.with_shared = with_id(order);
  return job;
}

Output nccl_report(const Output& output) {
  const auto read = read_agent_output(kNcclStage, output, {});
  if (!read) return {};
  if (!*read) return output;
  const auto* tool = (*read)->tool(kRun);
  if (tool == nullptr) return {};
  auto text = tool->out;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!tool->cut) text += fmt::format("cupel-run-status: {}\n", tool->status);
  return {std::move(text), tool->errors, output.exit_status};
}

}  // namespace cupel::burnin::fabric
