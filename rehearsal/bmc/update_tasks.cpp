// An update as a Task and, on a Dell, as a job.
#include <fmt/format.h>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

using Stage = Update::Stage;

const std::string kTasks = "/redfish/v1/TaskService/Tasks";

std::string_view state_of(const UpdateBehavior& behavior, const Update& update) {
  switch (update.stage) {
    case Stage::queued:
    case Stage::transferring:
      return behavior.first_state;
    case Stage::verifying:
    case Stage::scheduled:
      return behavior.first_state == "New" ? "Starting" : behavior.first_state;
    case Stage::writing:
    case Stage::flushing:
      return "Running";
    case Stage::staged:
      return "Stopping";
    case Stage::verified:
    case Stage::done:
      return "Completed";
    case Stage::failed:
      // A timer that ran out is no failure of what it waited for.
      return update.message_id == kTaskAborted ? "Cancelled" : behavior.failed_state;
  }
  return "Running";
}

json::object message(std::string_view id, std::string_view text, std::string_view severity,
                     std::string_view resolution, json::array args = {}) {
  return {{"@odata.type", "#Message.v1_1_1.Message"},
          {"MessageId", id},
          {"Message", text},
          {"MessageArgs", std::move(args)},
          {"Severity", severity},
          {"Resolution", resolution}};
}

/// Of the Update registry (DSP8011): what a stage is reported as.
json::object message_of(const Update& update) {
  std::string_view id = "Update.1.0.InstallingOnComponent", text = "The image is installed.";
  if (update.stage == Stage::queued) {
    id = "Update.1.0.AwaitToUpdate";
    text =
        "Lifecycle Controller in use. This job will start when Lifecycle Controller is available.";
  } else if (update.stage == Stage::transferring) {
    id = "Update.1.0.TransferringToComponent";
    text = "The image is transferred.";
  } else if (update.stage == Stage::verifying) {
    id = "Update.1.0.VerifyingAtComponent";
    text = "The image is verified.";
  } else if (update.waits()) {
    id = "Update.1.0.AwaitToUpdate";
    text = "The image waits to be installed.";
  } else if (update.stage == Stage::done) {
    id = "Update.1.0.UpdateSuccessful";
    text = "The device was updated successfully.";
  } else if (update.stage == Stage::failed) {
    id = update.message_id;
    text = update.message;
  }
  const bool failed = update.stage == Stage::failed;
  return message(id, text, failed ? "Critical" : "OK",
                 failed ? "Resubmit the request with a good image." : "None.");
}

/// What else is reported of it: that it waits for a reset.
json::array messages_of(const BmcView& view, const Update& update) {
  json::array all{message_of(update)};
  if (update.stage == Stage::staged)
    all.push_back(message("TaskEvent.1.0.TaskPaused",
                          "The task with Id '" + update.id + "' has been paused.", "Warning",
                          "None.", {json::value(update.id)}));
  else if (update.stage == Stage::done && view.state.updates.waits_for_reset(update))
    all.push_back(message("Base.1.12.ResetRequired",
                          "A reset is required before the new firmware runs.", "Warning",
                          "Perform the required reset."));
  return all;
}

std::string_view job_state_of(Stage stage) {
  switch (stage) {
    case Stage::queued:
      return "New";
    case Stage::transferring:
    case Stage::verifying:
      return "Downloading";
    case Stage::scheduled:
    case Stage::verified:
    case Stage::staged:
      return "Scheduled";
    case Stage::writing:
    case Stage::flushing:
      return "Running";
    case Stage::done:
      return "Completed";
    case Stage::failed:
      return "Failed";
  }
  return "Running";
}

/// Dell's view of the same, beside it and inside it.
json::object job_of(const BmcView& view, std::string_view id, std::string_view name,
                    std::string_view state, std::string_view type, int percent) {
  const auto path = view.manager() + "/Jobs/" + std::string{id};
  auto job = resource(path, "#DellJob.v1_4_0.DellJob", id, name);
  job["JobState"] = state;
  job["JobType"] = type;
  job["PercentComplete"] = percent;
  return job;
}

void add_jobs(ResourceTree& tree, const BmcView& view) {
  const auto jobs = view.manager() + "/Jobs";
  for (const auto& job : view.state.jobs) {
    auto task = resource(kTasks + "/" + job.id, "#Task.v1_5_1.Task", job.id, "BIOS.Setup.1-1");
    task["TaskState"] = job.done ? "Completed" : "Starting";
    task["TaskStatus"] = "OK";
    task["PercentComplete"] = job.done ? 100 : 0;
    tree[kTasks + "/" + job.id] = std::move(task);
    tree[jobs + "/" + job.id] =
        job_of(view, job.id, "BIOS.Setup.1-1", job.done ? "Completed" : "Scheduled",
               "BIOSConfiguration", job.done ? 100 : 0);
  }
  for (const auto& update : view.state.updates.all()) {
    if (update.is_hidden()) continue;
    tree[jobs + "/" + update.id] =
        job_of(view, update.id, update.name, job_state_of(update.stage), "FirmwareUpdate",
               view.state.updates.percent(update, view.now()));
  }
  add_collection(tree, jobs, "#DellJobCollection.DellJobCollection", "JobQueue");
  const auto manager = tree.find(view.manager());
  if (manager != tree.end())
    manager->second["Links"].as_object()["Oem"] = {
        {"Dell", {{"@odata.type", "#DellOem.v1_3_0.DellOemLinks"}, {"Jobs", link(jobs)}}}};
}

/// Of an update that somebody else has begun (firmware-busy).
void add_task_of_another(ResourceTree& tree, const BmcView& view) {
  const std::string id = "900";
  auto task = resource(kTasks + "/" + id, view.state.update_behavior.task_type, id, "BMC Update");
  task["TaskState"] = "Running";
  task["TaskStatus"] = "OK";
  task["PercentComplete"] = 40;
  tree[kTasks + "/" + id] = std::move(task);
}

}  // namespace

std::string monitor_of(const BmcView& view, const std::string& id) {
  const auto form = view.state.update_behavior.monitor;
  if (form.empty()) return kTasks + "/" + id;
  std::string path{form};
  return path.replace(path.find("{id}"), 4, id);
}

json::object task_of(const BmcView& view, const Update& update) {
  const auto& behavior = view.state.update_behavior;
  const auto path = kTasks + "/" + update.id;
  auto task = resource(path, behavior.task_type, update.id, update.name);
  task["TaskState"] = state_of(behavior, update);
  task["TaskStatus"] = update.stage == Stage::failed ? behavior.failed_status : "OK";
  task["PercentComplete"] = view.state.updates.percent(update, view.now());
  task["StartTime"] = view.time(update.started);
  if (update.ended > 0) task["EndTime"] = view.time(update.ended);
  task["Messages"] = messages_of(view, update);
  if (!behavior.monitor.empty()) task["TaskMonitor"] = monitor_of(view, update.id);
  if (view.behavior().bios.by_job) {
    auto job = job_of(view, update.id, update.name, job_state_of(update.stage), "FirmwareUpdate",
                      view.state.updates.percent(update, view.now()));
    for (const auto* key : {"@odata.context", "@odata.id"}) job.erase(key);
    task["Oem"] = {{"Dell", std::move(job)}};
  }
  return task;
}

void add_tasks(ResourceTree& tree, const BmcView& view) {
  if (view.behavior().bios.by_job) add_jobs(tree, view);
  const bool has_task = view.state.update_behavior.has_task;
  for (const auto& update : view.state.updates.all())
    if (has_task && !update.is_hidden()) tree[kTasks + "/" + update.id] = task_of(view, update);
  if (has_task && find_fault(view.machine.faults(), FaultKind::firmware_busy))
    add_task_of_another(tree, view);
  add_dump_tasks(tree, view);
  add_collection(tree, kTasks, "#TaskCollection.TaskCollection", "Tasks");
}

}  // namespace cupel::rehearsal
