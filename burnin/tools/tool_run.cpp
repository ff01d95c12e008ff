#include "burnin/tools/tool_run.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin {

ToolRun::ToolRun(Output output, ToolGpus gpus, std::optional<AgentOutput> agent)
    : output_{std::move(output)}, gpus_{std::move(gpus)}, agent_{std::move(agent)} {}

Result<ToolRun> ToolRun::read(std::string_view stage, std::string_view tool,
                              const inventory::Profile& profile, const Output& output) {
  TRY(auto agent, read_agent_output(stage, output, {}));
  if (!agent) return ToolRun{output, ToolGpus{profile, output}, std::nullopt};
  const auto* ran = agent->tool(tool);
  if (ran == nullptr)
    return Error{Code::kNoMeasurement,
                 fmt::format("{}: cupel-node did not report its output", tool)};
  if (ran->cut)
    return Error{Code::kNoMeasurement,
                 fmt::format("{}: it printed more than cupel-node keeps", tool)};
  auto printed = printed_by(*ran);
  return ToolRun{std::move(printed), ToolGpus{profile, *agent}, std::move(agent)};
}

std::optional<double> ToolRun::asked(std::string_view what) const {
  return agent_ ? agent_->amount(what) : script::asked(output_, what);
}

std::string ToolRun::note(std::string_view what) const {
  if (!agent_)
    return script::clean(script::after_mark(output_, fmt::format("cupel-{}: ", what)).value_or(""));
  const auto found = agent_->notes.find(what);
  return found == agent_->notes.end() ? std::string{} : found->second;
}

void ToolRun::add_pin(Findings& findings) const {
  if (auto pinned = note("pinned"); !pinned.empty())
    findings.facts["host.pinned"] = std::move(pinned);
}

}  // namespace cupel::burnin
