#pragma once
// Firmware: what a BMC's update service offers, an image given to it in whichever way it takes one,
// and how far it is. What the inventory says afterwards is in firmware.cpp.
#include "bmc/redfish/client.h"
#include "bmc/redfish/layout.h"
#include "bmc/update.h"

namespace cupel::bmc::redfish {

/// One round of questions: ways, size, and what it is at work with.
Task<Result<UpdateService>> read_update_service(Client& client, Layout layout, Deadline deadline);

/// Gives the image to the BMC: by the best way that it has for a file, or else by its URI.
/// Errors: as Client::upload; kUnsupported (no way that this order could go); kBusy (another
/// update, or a claim); kFailed (larger than the BMC takes).
Task<Result<UpdateTicket>> push_update(Client& client, Layout layout, UpdateOrder order,
                                       Deadline deadline);

/// UpdateService.StartUpdate, for what was verified.
Task<Result<UpdateTicket>> start_verified_update(Client& client, Layout layout,
                                                 UpdateTicket verified, Deadline deadline);

Task<Result<UpdateProgress>> read_update_progress(Client& client, UpdateTicket ticket,
                                                  Deadline deadline);

/// What has become of the task of a ticket that has one.
Task<Result<UpdateProgress>> look_at_task(Client& client, UpdateTicket ticket, Deadline deadline);

// Of these verbs, for each other.

/// A way in which the service takes images, the best first: "multipart", "form" (iLO), "store"
/// (an image becomes a member of the inventory, which SimpleUpdate then names), "push", "simple".
struct UpdateWay {
  std::string name;
  std::string uri;
};
std::vector<UpdateWay> update_ways(const json::value& service, const UpdateRules& rules);

/// Of an upload that is only verified: "verify" instead of its way.
inline constexpr std::string_view kVerifies = "verify";

/// By what the update that an answer began is found again. The task itself rather than its monitor:
/// an XCC forgets a finished task once its monitor was read.
UpdateTicket ticket_of(const Answer& answer, std::string_view way);

/// What a Task or Job, or the answer of a task's monitor, says. Pure.
/// Source: DSP0268, Task.TaskState, Job.JobState; DSP0266, "Asynchronous operations".
UpdateProgress progress_of(const Answer& answer, std::string_view way);

/// What the service itself says of an update, in its vendor's words; `gone` where it is idle.
UpdateProgress progress_in(const json::value& service);

}  // namespace cupel::bmc::redfish
