#pragma once
// The steps of a plan, done for real on one node, by the table of step_type.h. How they reach the
// world, and how they say how they ended.
#include <functional>
#include <memory>
#include <span>

#include "bmc/bmc.h"
#include "bmc/budget.h"
#include "bmc/pdu.h"
#include "bmc/power.h"
#include "bmc/rotate.h"
#include "inventory/fwd.h"
#include "orchestrator/engine/interfaces.h"
#include "orchestrator/firmware/firmware_plan.h"
#include "orchestrator/handoff/scheduler.h"
#include "orchestrator/os/boot_door.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/ssh/programs.h"
#include "orchestrator/ssh/ssh.h"
#include "orchestrator/steps/bmc_board.h"
#include "orchestrator/steps/fleet_board.h"
#include "orchestrator/store/store.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {

/// How the steps reach the world. All of them are called on the loop's thread.
struct StepEnvironment {
  const inventory::Inventory& inventory;
  store::Store& store;
  std::function<std::unique_ptr<bmc::Bmc>(const inventory::Node&)> bmc;
  std::function<Task<Result<std::unique_ptr<ssh::Session>>>(const inventory::Node&, Deadline)> ssh;
  /// Empty: neither Slurm nor Kubernetes gives the nodes to jobs.
  handoff::SchedulerOf scheduler_of;
  /// The same BMC as somebody else. Empty: there is no such door, and no password is changed.
  std::function<std::unique_ptr<bmc::Bmc>(const inventory::Node&, const inventory::FactoryLogin&)>
      bmc_as{};
  /// The BMC's credentials have changed: what it refused before may be tried again.
  std::function<void(const inventory::Node&)> forget_refusals{};
  /// A rack's PDU. Empty: there is no such door, and no feed is taken away.
  std::function<std::unique_ptr<bmc::Pdu>(const inventory::Pdu&)> pdu{};
  /// How the node's BMC has fared in this process. Empty: unknown.
  std::function<std::optional<bmc::Budget>(const inventory::Node&)> budget{};
  /// So often the BMC of a node that SSH does not reach in mid-stage is asked whether it is off.
  std::chrono::milliseconds ask_power_every{30'000};
  /// The image of a firmware update, held against the site's manifest. Empty: there are none.
  std::function<Task<Result<bmc::UpdateOrder>>(firmware::FirmwareUpdate, bmc::Identity, Deadline)>
      firmware_image{};
  /// An image that was held against the manifest, whole: by its file and SHA-256.
  std::function<Task<Result<std::shared_ptr<const std::string>>>(std::string, std::string,
                                                                 Deadline)>
      image_bytes{};
  /// Where BMCs fetch an image, and what is served no more. Empty: the inventory has no address for
  /// that.
  std::function<Task<Result<std::string>>(bmc::UpdateOrder, std::vector<std::string>, Deadline)>
      serve_image{};
  std::function<void(const std::string&)> serve_image_no_more{};
  /// The boot server and the image store. nullptr: the inventory has no `boot:`.
  std::shared_ptr<os::BootInterface> boot{};
  /// So often a BMC that writes firmware is asked how far it is.
  std::chrono::milliseconds ask_update_every{5000};
  /// So often Slurm is asked for a job of ours.
  std::chrono::milliseconds ask_job_every{10'000};
  /// So a BMC is asked while a machine restarts.
  bmc::Pace pace{};
  /// The programs that stages run on nodes. nullptr: the controller has none.
  std::shared_ptr<ssh::ProgramShelf> programs{};
  /// Of this run alone.
  std::shared_ptr<BmcBoard> board = std::make_shared<BmcBoard>();
  std::shared_ptr<FleetBoard> fleet = std::make_shared<FleetBoard>();

  /// Who gives the node to jobs; nullptr: nobody.
  std::shared_ptr<handoff::Scheduler> scheduler_for(const inventory::Node& node) const {
    return scheduler_of ? scheduler_of(node) : nullptr;
  }
};

struct StepType;
std::span<const StepType> step_types();

class NodeSteps : public engine::Steps {
 public:
  explicit NodeSteps(StepEnvironment environment, std::span<const StepType> types = step_types())
      : environment_{std::move(environment)}, types_{types} {}

  Task<Result<engine::StepEnd>> perform(engine::StepRequest request) override;
  Task<Result<void>> abort(engine::StepRequest request) override;

  /// What somebody has read of a node's BMC: part of the record where a stage runs there.
  void sensed(std::string_view node, const bmc::Sensors& sensors);

 private:
  const StepType& type_of(playbooks::StepKind kind) const;

  StepEnvironment environment_;
  std::span<const StepType> types_;
};

/// From the factory's password to the inventory's, with the store as the memory of what was begun.
/// `again`: a person wants it tried although it was refused too often. Errors: as
/// bmc::rotate_password; kInvalid where the inventory has no factory login for the node.
Task<Result<bmc::Rotated>> rotate_bmc_password(StepEnvironment& environment,
                                               const inventory::Node& node, bool again,
                                               Deadline deadline);

/// A failure as the end of a step: transient ones ask for another try, the rest are final.
/// Cancellation and a broken store stay errors: the engine must see them.
Result<engine::StepEnd> ended_by(Error error);
engine::StepEnd done(std::string detail, boost::json::object found = {});

/// As ended_by, where it was the BMC that failed: one that cannot be reached to the last needs
/// somebody who looks at it, one that answers too late to the last is suspect.
Result<engine::StepEnd> ended_by_bmc(Error error);
/// Ends the tries of a step whose BMC accepts connections and has answered none of them for longer
/// than it takes to restart: it hangs, and another try takes another minute.
void end_if_hung(const StepEnvironment& environment, const inventory::Node& node,
                 engine::StepEnd& end);
/// As ended_by, where it was the node's own system: one that does not answer to the last needs
/// somebody who looks at the machine.
Result<engine::StepEnd> ended_by_ssh(Error error);
/// What a person is to do, for where the step ends in `needs hands` or `suspect BMC`.
void ask_for(engine::StepEnd& end, std::vector<record::Needed> needs);
/// `advice` with the node's name for each NODE in it.
std::string named_for(const inventory::Node& node, std::string advice);
/// A little before the engine's own: what ends there can still say what it died of.
Deadline with_last_word(Deadline deadline);

}  // namespace cupel::steps
