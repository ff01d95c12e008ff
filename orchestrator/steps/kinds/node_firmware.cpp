// Firmware that the node's own tools write (network adapters, drives, what the site has a tool for)
// to the profile's baseline. Each image is a job on the node that is journalled before it begins.
#include "inventory/model.h"
#include "orchestrator/steps/firmware_memory.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/node_writer.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

Task<Result<StepEnd>> perform_node_firmware(StepEnvironment& environment,
                                            const StepRequest& request) {
  if (!environment.inventory.profile_of(request.node).has_node_images())
    co_return done("nothing to do: the profile names no image that is written on the node");
  if (!environment.firmware_image)
    co_return ended_by({Code::kInvalid, "this controller has no images to write"});
  auto free = co_await check_free(environment, request);
  if (!free) co_return ended_by(std::move(free).error());
  auto begun = take_over_update(environment, request);
  if (!begun) co_return ended_by(std::move(begun).error());
  NodeWriter writer{environment, request};
  if (*begun) co_return co_await writer.resume(**std::move(begun));
  co_return co_await writer.run();
}

Task<Result<StepEnd>> go_on(StepEnvironment& environment, const StepRequest& request) {
  auto handle = firmware::update_handle_of(*request.handle);
  if (!handle) co_return ended_by(std::move(handle).error());
  NodeWriter writer{environment, request};
  co_return co_await writer.resume(*std::move(handle));
}

/// A write is not broken off.
Task<Result<void>> let_it_end(StepEnvironment& environment, const StepRequest& request) {
  auto handle = firmware::update_handle_of(*request.handle);
  if (!handle) co_return ok();
  NodeWriter writer{environment, request};
  co_return co_await writer.wait_for_end(*std::move(handle));
}

}  // namespace

StepType node_firmware() {
  return {.kind = playbooks::StepKind::node_firmware,
          .perform =
              [](StepEnvironment& environment, const StepRequest& request) {
                return with_next_command(request, perform_node_firmware(environment, request));
              },
          .reattach =
              [](StepEnvironment& environment, const StepRequest& request) {
                return with_next_command(request, go_on(environment, request));
              },
          .abort = let_it_end,
          .recheck = &kNodeAnswers};
}

}  // namespace cupel::steps::kinds
