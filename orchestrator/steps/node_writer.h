#pragma once
// Firmware that is written on the node, by its own tools: image by image, until the node itself
// reports the baseline. What writes is a detached job, so that neither a lost connection nor a dead
// controller breaks it off or begins it twice.
#include "inventory/fwd.h"
#include "orchestrator/firmware/node_scripts.h"
#include "orchestrator/firmware/update_handle.h"
#include "orchestrator/steps/firmware_end.h"
#include "orchestrator/steps/follower.h"
#include "orchestrator/store/firmware_state.h"

namespace cupel::steps {

/// What the node reports of the parts that are written there. Touches nothing. Errors: as
/// ssh::Session::run(); kMalformed.
Task<Result<firmware::NodeLook>> look_at_parts(ssh::Session& session,
                                               const inventory::Profile& profile, bool sudo,
                                               Deadline deadline);

class NodeWriter {
 public:
  /// Both outlive it.
  NodeWriter(StepEnvironment& environment, const engine::StepRequest& request);

  /// Looks, and writes what is off the baseline. Errors: as engine::Steps::perform().
  Task<Result<engine::StepEnd>> run();
  /// From where `handle` says that an earlier try was. Errors: so.
  Task<Result<engine::StepEnd>> resume(firmware::UpdateHandle handle);
  /// Waits until nothing of `handle` is at work. Errors: as engine::Steps::abort().
  Task<Result<void>> wait_for_end(firmware::UpdateHandle handle);

 private:
  using Ended = std::optional<engine::StepEnd>;  // nothing: it goes on with the next one

  Task<Result<firmware::NodeLook>> look(Deadline deadline);
  Task<Result<Ended>> write(firmware::FirmwareUpdate update, firmware::NodeLook seen,
                            const firmware::FirmwarePlan& plan);
  Task<Result<Spool>> follow(std::string script);
  Task<Result<Ended>> judge(Spool spool);
  Task<Result<Ended>> reset_and_verify();
  Task<Result<void>> verify();
  Result<void> shows_version(const firmware::NodeLook& seen) const;
  Result<Ended> too_late(const firmware::FirmwarePlan& plan);
  Result<Ended> failed(std::string why);
  Result<Ended> staged(inventory::FirmwareReset reset, std::string why);
  Task<Result<Ended>> in_doubt(std::string why);
  Result<void> remember(store::FirmwareState::End end, std::string words);
  Task<Result<void>> enter(firmware::UpdateHandle::Phase phase);
  const inventory::Profile& profile() const;
  const inventory::ExpectedFirmware& expected() const { return *expected_; }
  std::string named() const { return handle_.component + " " + handle_.version; }

  StepEnvironment& environment_;
  const engine::StepRequest& request_;
  firmware::UpdateHandle handle_{};
  const inventory::ExpectedFirmware* expected_ = nullptr;
  std::vector<firmware::RunningVersion> replaces_{};
  std::vector<firmware::UpdateDone> done_{};
};

}  // namespace cupel::steps
