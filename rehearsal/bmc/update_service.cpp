// What a BMC shows of its firmware, of what is being written, and of its tasks and jobs.
#include <fmt/format.h>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

using Stage = Update::Stage;

const std::string kService = "/redfish/v1/UpdateService";
const std::string kInventory = kService + "/FirmwareInventory";
const std::string kTasks = "/redfish/v1/TaskService/Tasks";

std::string_view state_of(const UpdateBehavior& behavior, Stage stage) {
  switch (stage) {
    case Stage::transferring:
      return behavior.first_state;
    case Stage::verifying:
    case Stage::scheduled:
      return behavior.first_state == "New" ? "Starting" : behavior.first_state;
    case Stage::writing:
    case Stage::flushing:
      return "Running";
    case Stage::verified:
    case Stage::done:
      return "Completed";
    case Stage::failed:
      return behavior.failed_state;
  }
  return "Running";
}

/// Of the Update registry (DSP8011): what a stage is told as.
json::object message_of(const Update& update) {
  std::string_view id = "Update.1.0.InstallingOnComponent", text = "The image is installed.";
  if (update.stage == Stage::transferring) {
    id = "Update.1.0.TransferringToComponent";
    text = "The image is transferred.";
  } else if (update.stage == Stage::verifying) {
    id = "Update.1.0.VerifyingAtComponent";
    text = "The image is verified.";
  } else if (update.stage == Stage::scheduled || update.stage == Stage::verified) {
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
  return {{"@odata.type", "#Message.v1_1_1.Message"},
          {"MessageId", id},
          {"Message", text},
          {"MessageArgs", json::array{}},
          {"Severity", failed ? "Critical" : "OK"},
          {"Resolution", failed ? "Resubmit the request with a good image." : "None."}};
}

std::string_view job_state_of(Stage stage) {
  switch (stage) {
    case Stage::transferring:
    case Stage::verifying:
      return "Downloading";
    case Stage::scheduled:
    case Stage::verified:
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

void add_component(ResourceTree& tree, const BmcView& view, const std::string& id,
                   std::string_view version, bool updateable) {
  const auto path = kInventory + "/" + id;
  const auto type = fmt::format("#SoftwareInventory.v{}.SoftwareInventory",
                                view.state.update_behavior.names.software);
  auto one = resource(path, type, id, id);
  one["Version"] = version;
  one["Updateable"] = updateable;
  if (view.behavior().vendor != "dgx") one["Status"] = healthy();
  tree[path] = std::move(one);
}

void add_inventory(ResourceTree& tree, const BmcView& view) {
  const auto& names = view.state.update_behavior.names;
  for (const auto& one : components_of(view.hardware(), view.behavior().names.bmc_version))
    add_component(tree, view, id_of(names, one), one.version, true);
  if (!names.spare_bmc.empty())
    add_component(tree, view, filled_id(names.spare_bmc, names.spare_version, 0),
                  names.spare_version, false);
  for (const auto& [id, image] : view.state.stored_images)
    add_component(tree, view, id, image.version, true);
  add_collection(tree, kInventory, "#SoftwareInventoryCollection.SoftwareInventoryCollection",
                 "Firmware Inventory Collection");
}

json::object simple_action(ResourceTree& tree, const BmcView& view) {
  const auto& behavior = view.state.update_behavior;
  json::object action{{"target", behavior.simple}};
  if (!behavior.action_info) {
    action["TransferProtocol@Redfish.AllowableValues"] = words(behavior.protocols);
    return action;
  }
  const auto path = kService + "/SimpleUpdateActionInfo";
  action["@Redfish.ActionInfo"] = path;
  auto info =
      resource(path, "#ActionInfo.v1_1_2.ActionInfo", "SimpleUpdateActionInfo", "SimpleUpdate");
  info["Parameters"] =
      json::array{{{"Name", "ImageURI"}, {"Required", true}, {"DataType", "String"}},
                  {{"Name", "TransferProtocol"},
                   {"Required", behavior.wants_protocol},
                   {"DataType", "String"},
                   {"AllowableValues", words(behavior.protocols)}}};
  tree[path] = std::move(info);
  return action;
}

/// An iLO's own words for how far it is.
json::object in_hpes_words(const BmcView& view) {
  const auto& all = view.state.updates.all();
  json::object told{{"@odata.type", "#HpeiLOUpdateServiceExt.v2_3_0.HpeiLOUpdateServiceExt"},
                    {"State", "Idle"}};
  if (all.empty()) return told;
  const auto& last = all.back();
  constexpr std::array<std::pair<Stage, std::string_view>, 5> kWords{
      {{Stage::transferring, "Uploading"},
       {Stage::verifying, "Verifying"},
       {Stage::writing, "Writing"},
       {Stage::done, "Complete"},
       {Stage::failed, "Error"}}};
  for (const auto& [stage, word] : kWords)
    if (stage == last.stage) told["State"] = word;
  told["FlashProgressPercent"] = view.state.updates.percent(last, view.now());
  if (last.is_over())
    told["Result"] = {
        {"MessageId", last.stage == Stage::done ? "iLO.2.14.UpdateDone" : last.message_id}};
  return told;
}

json::object in_amis_words(const BmcView& view) {
  json::object told{{"@odata.type", "#AMIUpdateService.v1_0_0.AMIUpdateService"},
                    {"FlashPercentage", nullptr},
                    {"UpdateStatus", nullptr},
                    {"UpdateTarget", nullptr}};
  const auto* running = view.state.updates.running();
  if (!running) return told;
  told["FlashPercentage"] =
      fmt::format("{}% done", view.state.updates.percent(*running, view.now()));
  told["UpdateStatus"] = running->stage == Stage::writing ? "Flashing" : "Verifying";
  told["UpdateTarget"] = running->name.substr(0, running->name.find(' '));
  return told;
}

void add_update_service(ResourceTree& tree, const BmcView& view) {
  const auto& behavior = view.state.update_behavior;
  const auto& vendor = view.behavior().vendor;
  auto service = resource(kService, behavior.service_type, "UpdateService", "Update Service");
  service["FirmwareInventory"] = link(kInventory);
  service["ServiceEnabled"] = true;
  service["Status"] = healthy();
  if (!behavior.multipart.empty()) service["MultipartHttpPushUri"] = behavior.multipart;
  if (!behavior.push.empty()) service["HttpPushUri"] = behavior.push;
  json::object actions;
  if (!behavior.simple.empty()) actions["#UpdateService.SimpleUpdate"] = simple_action(tree, view);
  if (behavior.starts_by_action)
    actions["#UpdateService.StartUpdate"] = {
        {"target", kService + "/Actions/UpdateService.StartUpdate"}};
  if (!actions.empty()) service["Actions"] = std::move(actions);
  const bool takes_targets = behavior.claims || vendor == "openbmc";
  if (takes_targets) {
    json::array targets;
    const auto all = components_of(view.hardware(), view.behavior().names.bmc_version);
    for (const auto& one : all)
      if (std::ranges::find(view.state.push_targets, one.name) != view.state.push_targets.end())
        targets.push_back(json::value(kInventory + "/" + id_of(behavior.names, one)));
    service["HttpPushUriTargets"] = std::move(targets);
    service["HttpPushUriOptions"] = {{"HttpPushUriApplyTime", {{"ApplyTime", "Immediate"}}}};
  }
  if (behavior.claims) service["HttpPushUriTargetsBusy"] = view.state.push_claimed;
  // Since UpdateService 1.5.0.
  if (view.behavior().names.oem != "Hpe") service["MaxImageSizeBytes"] = 1 << 20;
  if (!behavior.has_task)
    service["Oem"] = {{"Hpe", in_hpes_words(view)}};
  else if (view.behavior().names.oem == "Ami")
    service["Oem"] = {{"Ami", in_amis_words(view)}};
  tree[kService] = std::move(service);
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
  for (const auto& update : view.state.updates.all())
    tree[jobs + "/" + update.id] =
        job_of(view, update.id, update.name, job_state_of(update.stage), "FirmwareUpdate",
               view.state.updates.percent(update, view.now()));
  add_collection(tree, jobs, "#DellJobCollection.DellJobCollection", "JobQueue");
  const auto manager = tree.find(view.manager());
  if (manager != tree.end())
    manager->second["Links"].as_object()["Oem"] = {
        {"Dell", {{"@odata.type", "#DellOem.v1_3_0.DellOemLinks"}, {"Jobs", link(jobs)}}}};
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
  task["TaskState"] = state_of(behavior, update.stage);
  task["TaskStatus"] = update.stage == Stage::failed ? behavior.failed_status : "OK";
  task["PercentComplete"] = view.state.updates.percent(update, view.now());
  task["StartTime"] = view.time(update.started);
  if (update.ended > 0) task["EndTime"] = view.time(update.ended);
  task["Messages"] = json::array{message_of(update)};
  if (!behavior.monitor.empty()) task["TaskMonitor"] = monitor_of(view, update.id);
  if (view.behavior().bios.by_job) {
    auto job = job_of(view, update.id, update.name, job_state_of(update.stage), "FirmwareUpdate",
                      view.state.updates.percent(update, view.now()));
    for (const auto* key : {"@odata.context", "@odata.id"}) job.erase(key);
    task["Oem"] = {{"Dell", std::move(job)}};
  }
  return task;
}

void add_updates(ResourceTree& tree, const BmcView& view) {
  add_inventory(tree, view);
  add_update_service(tree, view);
  if (view.behavior().bios.by_job) add_jobs(tree, view);
  if (view.state.update_behavior.has_task)
    for (const auto& update : view.state.updates.all())
      tree[kTasks + "/" + update.id] = task_of(view, update);
  add_collection(tree, kTasks, "#TaskCollection.TaskCollection", "Tasks");
  const std::string path = "/redfish/v1/TaskService";
  auto service = resource(path, "#TaskService.v1_1_6.TaskService", "TaskService", "Task Service");
  service["ServiceEnabled"] = true;
  service["DateTime"] = view.time(view.epoch());
  service["Tasks"] = link(kTasks);
  service["Status"] = healthy();
  tree[path] = std::move(service);
}

}  // namespace cupel::rehearsal
