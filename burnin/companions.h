#pragma once
// Stages of the host that work while another one works on the GPUs of the same node, as they do in
// training: `with: {beside: "cpu,memory"}`. Each is the stage of that name, prepared and read by
// its own functions; its findings are judged as that stage's, under a name of their own.
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent_stage.h"
#include "inventory/fwd.h"

namespace cupel::burnin {

inline constexpr std::string_view kBeside = "beside";
inline constexpr ParameterRow kBesideParameter{
    kBeside, ParameterRow::Kind::text,
    "what of the host works at the same time: cpu, memory, both or none", "none"};

/// The stages that `with:` names; none where the stage has no such parameter. Errors: kInvalid.
Result<std::vector<const Stage*>> companions(const Stage& stage, const Parameters& with);

/// The job of a stage that works for `duration` on its GPUs, with its companions'. They leave CPUs
/// and memory to it, and end with it. Errors: as companions().
Result<Job> with_companions(const Stage& stage, const Parameters& with,
                            std::chrono::seconds duration, AgentWork work);

struct CompanionFindings {
  std::string name;     // of the stage: "cpu"
  Findings findings{};  // empty but for an Unknown, where it proved nothing
};

/// Takes what companions printed out of `output`, which is the stage's own then. Pure.
std::vector<CompanionFindings> take_companions(const inventory::Profile& profile, Output& output);

/// What a companion's findings are called: "cpu@train@day".
std::string companion_name(std::string_view companion, std::string_view step);

/// As Load, with what the companions draw: never more than a loaded machine.
double load_share(const Stage& stage, const Parameters& with, bool has_gpus);

}  // namespace cupel::burnin
