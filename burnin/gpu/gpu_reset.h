#pragma once
// GPUs that need a reset are reset in the run, and tested again by the stages behind it. Says what
// was needed and what was done; what may pass then is orchestrator/steps/flaky_gpus.h's.
#include <string_view>

#include "burnin/stage.h"

namespace cupel::burnin {

/// Of a GPU: 1 where it needed one. Of the node: how many GPUs did.
inline constexpr std::string_view kResetNeeded = "gpu.reset.needed";
/// Of a GPU that needed one: 1 where it was reset and asks for none any more. Of the node: how many
/// were.
inline constexpr std::string_view kResetDone = "gpu.reset.done";
/// Of a GPU that needed one: 1 where the playbook lets it pass once it has tested well.
inline constexpr std::string_view kResetMayPass = "gpu.reset.may_pass";
/// Of the node: 1 where a GPU needs a restart of the machine.
inline constexpr std::string_view kResetRestart = "gpu.reset.restart";

/// `flaky`: what a GPU that needed a reset may do once it tests well: fail, as without a reset;
/// pass where all that was wrong were memory errors that were contained; pass. One with an Xid that
/// no reset answers passes never.
Stage gpu_reset();

/// Whether the step resets GPUs: once in a playbook, since a second one would hide what comes back.
bool resets_gpus(std::string_view step);

}  // namespace cupel::burnin
