#pragma once
// One machine's firmware, update by update, until its inventory shows the baseline. The inventory
// decides what is done, never a task alone. Nothing is pushed while an earlier push may still be at
// work, and whoever comes after a crash goes on from the handle.
#include <functional>
#include <set>

#include "bmc/bmc.h"
#include "inventory/fwd.h"
#include "inventory/maintenance_window.h"
#include "orchestrator/firmware/firmware_plan.h"
#include "orchestrator/firmware/resets.h"
#include "orchestrator/firmware/update_handle.h"

namespace cupel::firmware {

/// How an update reaches the world. All of it outlives the updater.
struct UpdaterInterfaces {
  const inventory::Profile& profile;
  bmc::Bmc& bmc;
  /// The image, held against the site's manifest and its own digest. Errors: why it must not be
  /// sent.
  std::function<Task<Result<bmc::UpdateOrder>>(FirmwareUpdate, bmc::Identity, Deadline)> image{};
  /// The handle, durable when it returns. Errors: kStorage; kCancelled.
  std::function<Task<Result<void>>(UpdateHandle)> keep{};
  /// Where a BMC that fetches by these words (UpdateService::fetches_by) can fetch the image, and,
  /// once its update has ended, not any more. Empty: no image is served. Errors: why it cannot be.
  std::function<Task<Result<std::string>>(bmc::UpdateOrder, std::vector<std::string>, Deadline)>
      serve{};
  std::function<void(const std::string&)> serve_no_more{};
  /// From now on the machine's power is this update's alone, for so long at most; 0: not any more.
  std::function<Result<void>(const UpdateHandle&, std::chrono::seconds)> hold_power{};
  /// A BMC that is written refuses credentials that are right: they may be tried again.
  std::function<void()> forget_refusals{};
  std::function<void(std::string)> waiting{};  // for people: "bios 2.4.1: writing (45 %)"
  std::function<std::chrono::sys_seconds()> now{};
  std::chrono::milliseconds poll{5000};
  std::chrono::milliseconds drained = kDrained;  // how long a power drain leaves the machine off
  bmc::Pace pace{};                              // of a restart of the machine
  /// No component is begun that might not end in it. Nothing: at any time.
  std::optional<inventory::MaintenanceWindow> window{};
  /// Components whose previous image an earlier try of this run has sent: it is not sent again.
  std::set<std::string> written_back{};
  /// What is written again, and what earlier tries of this run have written again.
  Rewrite rewrite{};
  std::set<std::string> rewritten{};
  /// Source: NVIDIA infra-controller, preingestion: a BMC further off is not updated.
  std::chrono::seconds clock_may_be_off{300};
};

struct UpdateEnd {
  enum class How {
    at_baseline,
    busy,          // the BMC is at work with something of somebody else's: later
    failed,        // and nothing is known to be at work any more
    needs_person,  // what follows cannot be done from here
    not_begun      // what is left would not end in the window
  } how = How::at_baseline;
  std::string detail{};
  std::vector<std::string> advice{};  // what a person is to do
};

/// What was brought to a version.
struct UpdateDone {
  std::string component{}, version{};
  std::vector<RunningVersion> replaced{};
};

class Updater {
 public:
  explicit Updater(UpdaterInterfaces doors) : doors_{std::move(doors)} {}

  /// Looks, and writes what is off the baseline. Errors: of a BMC that cannot be asked; the next
  /// try resumes where there is a handle.
  Task<Result<UpdateEnd>> run(Deadline deadline);
  /// From where `handle` says that an earlier try was.
  Task<Result<UpdateEnd>> resume(UpdateHandle handle, Deadline deadline);
  /// Waits until nothing of `handle` is at work: a flash is not broken off. Errors: kTimeout.
  Task<Result<void>> wait_for_end(UpdateHandle handle, Deadline deadline);

  const std::vector<UpdateDone>& done() const { return done_; }
  /// Components whose previous image was sent, or may have been: in this try and in earlier ones.
  const std::set<std::string>& written_back() const { return doors_.written_back; }
  /// Components that were written again: in this try and in earlier ones.
  const std::set<std::string>& rewritten() const { return doors_.rewritten; }
  /// Of the newest update, and whether the BMC may still be at work with it.
  const UpdateHandle& handle() const { return handle_; }
  bool may_be_at_work() const { return at_work_; }

 private:
  using Ended = std::optional<UpdateEnd>;  // nothing: it goes on with the next one
  enum class Written { yes, no, gone, overtime };
  struct Seen {
    bmc::Identity machine;
    FirmwarePlan plan;
    std::vector<inventory::Part> reported;
  };

  struct WayBack {
    FirmwareUpdate update;
    bmc::Identity machine;
  };

  Task<Result<Seen>> look(Deadline deadline);
  Task<Result<UpdateEnd>> go_on(Deadline deadline);
  Task<Result<UpdateEnd>> go_on_from(UpdateHandle handle, Deadline deadline);
  Task<Result<UpdateEnd>> switched_on(Result<UpdateEnd> ended, Deadline deadline);
  Ended fell_back(const FirmwareUpdate& update) const;
  Ended too_late(const FirmwarePlan& plan) const;
  void begin(const Seen& seen);
  Task<Result<Ended>> apply(FirmwareUpdate update, bmc::Identity machine, Deadline deadline);
  std::string way_of(const bmc::UpdateService& service, const bmc::UpdateOrder& order) const;
  bool lacks_server(const bmc::UpdateService& service, const bmc::UpdateOrder& order) const;
  Task<Result<Ended>> ready_for(bmc::UpdateOrder& order, Deadline deadline);
  Task<Result<void>> prepare_machine(Deadline deadline);
  Ended why_changed(const Seen& seen) const;
  Task<Result<Ended>> look_again(const bmc::UpdateOrder& order, Deadline deadline);
  Task<Result<Ended>> push(bmc::UpdateOrder order, Deadline deadline);
  Task<Result<Ended>> push_another_way(bmc::UpdateOrder order, std::string why, Deadline deadline);
  Task<Result<Ended>> find_push(std::string why_lost, Deadline deadline);
  Result<Ended> lost(std::string why);
  Result<Ended> not_seen(std::string why);
  void note_rewritten();
  Result<Ended> left_to_itself(std::string why);
  Task<Result<Ended>> follow(Deadline deadline);
  Task<Result<Ended>> outwait(Deadline deadline);
  Task<Result<Written>> watch(Deadline deadline);
  Task<Result<Written>> heed(bmc::UpdateProgress progress, Deadline deadline);
  Task<Result<Ended>> not_written(std::string why, Deadline deadline);
  Task<Result<Ended>> reset_and_verify(Deadline deadline);
  Task<Result<Ended>> recover(std::string why, Deadline deadline);
  Result<FirmwareUpdate> previous_of(const Seen& seen) const;
  Task<Result<WayBack>> way_back(bool ended_itself, Deadline deadline);
  Task<Result<Ended>> write_back(WayBack back, std::string why, Deadline deadline);
  Result<UpdateEnd> back_ended(Result<Ended> ended);
  Task<Result<void>> verify(std::chrono::milliseconds patience, Deadline deadline);
  Result<void> shows_version(const Seen& seen) const;
  Result<Ended> written_in_part();
  Result<Ended> finished();
  Result<void> hold();
  Result<void> release();
  Result<Ended> failed(std::string why, std::vector<std::string> advice = {});
  Task<Result<void>> enter(UpdateHandle::Phase phase);
  const inventory::ExpectedFirmware& expected() const { return *expected_; }
  std::string named() const { return handle_.component + " " + handle_.version; }
  bool overtime() const { return doors_.now() >= handle_.pushed + expected().takes; }
  /// Twice the time that a write may take: what is at work then is no write that goes well.
  bool far_overtime() const { return doors_.now() >= handle_.pushed + 2 * expected().takes; }

  UpdaterInterfaces doors_;
  UpdateHandle handle_{};
  const inventory::ExpectedFirmware* expected_ = nullptr;
  std::string reported_{};  // the newest of the BMC's words about the update
  int lost_ = 0;            // pushes of which the BMC had nothing
  bool at_work_ = false;    // the BMC may be, as far as we know
  std::vector<RunningVersion> replaces_{};
  std::vector<std::string> written_{};  // ids whose version waits for the resets of the last one
  std::string served_{};                // the URL of the image; empty: it is not served
  std::vector<UpdateDone> done_{};
  std::vector<UpdateHandle> shown_{};  // whose version the inventory has shown
};

}  // namespace cupel::firmware
