// The service root, what firmware there is, and the services around events, tasks and jobs.
#include <fmt/format.h>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

constexpr const char* kRoot = "/redfish/v1";

void add_firmware(ResourceTree& tree, const BmcView& view) {
  const auto& hardware = view.hardware();
  const auto& bmc = view.manners().names.bmc_version;
  std::map<std::string, std::string> versions{
      {"HostBMC_0", bmc.empty() ? "23.11.21" : std::string{bmc}},
      {"HostBIOS_0", "01.01.03"},
      {"CPLDMB_0", "0.2.1.9"}};
  for (const auto& gpu : hardware.gpus)
    versions[fmt::format("HGX_FW_GPU_SXM_{}", gpu.index + 1)] = gpu.vbios;
  for (const auto& psu : hardware.psus) versions["PSU_" + psu.name.substr(3)] = psu.firmware;
  for (const auto& [component, version] : hardware.firmware) {
    constexpr std::array<std::string_view, 6> kOfTheHost{"driver", "gpu", "vbios",
                                                         "hca",    "psu", "os"};
    if (std::ranges::find(kOfTheHost, std::string_view{component}) == kOfTheHost.end())
      versions[component] = version;
  }
  const std::string path = "/redfish/v1/UpdateService/FirmwareInventory";
  for (const auto& [component, version] : versions) {
    auto one = resource(path + "/" + component, "#SoftwareInventory.v1_2_3.SoftwareInventory",
                        component, component);
    one["Version"] = version;
    one["Updateable"] = true;
    tree[path + "/" + component] = std::move(one);
  }
  add_collection(tree, path, "#SoftwareInventoryCollection.SoftwareInventoryCollection",
                 "Firmware Inventory Collection");
  auto service = resource("/redfish/v1/UpdateService", "#UpdateService.v1_11_0.UpdateService",
                          "UpdateService", "Update Service");
  service["FirmwareInventory"] = link(path);
  service["ServiceEnabled"] = true;
  tree["/redfish/v1/UpdateService"] = std::move(service);
}

void add_events(ResourceTree& tree, const BmcView& view) {
  const std::string path = "/redfish/v1/EventService";
  for (const auto& [id, subscription] : view.state.subscriptions) {
    auto one = resource(path + "/Subscriptions/" + id, "#EventDestination.v1_9_0.EventDestination",
                        id, "Event Subscription");
    one["Destination"] = subscription.destination;
    one["Context"] = subscription.context;
    one["Protocol"] = "Redfish";
    one["SubscriptionType"] = "RedfishEvent";
    tree[path + "/Subscriptions/" + id] = std::move(one);
  }
  add_collection(tree, path + "/Subscriptions",
                 "#EventDestinationCollection.EventDestinationCollection", "Subscriptions");
  auto service =
      resource(path, "#EventService.v1_5_0.EventService", "EventService", "Event Service");
  service["ServiceEnabled"] = true;
  service["EventFormatTypes"] = json::array{"Event"};
  if (!view.layout().sse.empty()) service["ServerSentEventUri"] = view.layout().sse;
  service["Subscriptions"] = link(path + "/Subscriptions");
  service["Actions"] = {{"#EventService.SubmitTestEvent",
                         {{"target", path + "/Actions/EventService.SubmitTestEvent"}}}};
  service["Status"] = healthy();
  tree[path] = std::move(service);
}

/// A job of Dell's shows up twice: as its own resource, and as a task of the same name.
void add_tasks(ResourceTree& tree, const BmcView& view) {
  const std::string path = "/redfish/v1/TaskService";
  const auto jobs = view.manager() + "/Jobs";
  for (const auto& job : view.state.jobs) {
    auto task = resource(path + "/Tasks/" + job.id, "#Task.v1_5_1.Task", job.id, "BIOS.Setup.1-1");
    task["TaskState"] = job.done ? "Completed" : "Starting";
    task["TaskStatus"] = "OK";
    task["PercentComplete"] = job.done ? 100 : 0;
    tree[path + "/Tasks/" + job.id] = std::move(task);
    auto one = resource(jobs + "/" + job.id, "#DellJob.v1_4_0.DellJob", job.id, "BIOS.Setup.1-1");
    one["JobState"] = job.done ? "Completed" : "Scheduled";
    one["JobType"] = "BIOSConfiguration";
    one["PercentComplete"] = job.done ? 100 : 0;
    tree[jobs + "/" + job.id] = std::move(one);
  }
  if (view.manners().bios.by_job) {
    add_collection(tree, jobs, "#DellJobCollection.DellJobCollection", "JobQueue");
    const auto manager = tree.find(view.manager());
    if (manager != tree.end())
      manager->second["Links"].as_object()["Oem"] = {{"Dell", {{"Jobs", link(jobs)}}}};
  }
  add_collection(tree, path + "/Tasks", "#TaskCollection.TaskCollection", "Tasks");
  auto service = resource(path, "#TaskService.v1_1_6.TaskService", "TaskService", "Task Service");
  service["ServiceEnabled"] = true;
  service["DateTime"] = view.time(view.epoch());
  service["Tasks"] = link(path + "/Tasks");
  tree[path] = std::move(service);
}

json::object features(const BmcView& view) {
  const auto& manners = view.manners().connection;
  return {{"ExpandQuery",
           {{"ExpandAll", manners.expand},
            {"Levels", manners.expand},
            {"Links", manners.expand},
            {"NoLinks", manners.expand},
            {"MaxLevels", manners.expand_levels}}},
          {"FilterQuery", false},
          {"SelectQuery", false},
          {"OnlyMemberQuery", false},
          {"ExcerptQuery", false}};
}

}  // namespace

void add_services(ResourceTree& tree, const BmcView& view) {
  const auto& names = view.manners().names;
  add_firmware(tree, view);
  add_events(tree, view);
  add_tasks(tree, view);
  auto root = resource(kRoot, "#ServiceRoot.v1_13_0.ServiceRoot", "RootService", "Root Service");
  root["RedfishVersion"] = names.redfish;
  if (!names.product.empty()) root["Product"] = names.product;
  if (!names.root_vendor.empty()) root["Vendor"] = names.root_vendor;
  if (!names.oem.empty()) root["Oem"] = {{std::string{names.oem}, json::object{}}};
  root["UUID"] = view.hardware().uuid;
  root["ProtocolFeaturesSupported"] = features(view);
  for (const auto* child : {"Systems", "Chassis", "Managers", "SessionService", "UpdateService",
                            "AccountService", "EventService", "Registries", "Fabrics"})
    root[child] = link(std::string{kRoot} + "/" + child);
  root["Tasks"] = link("/redfish/v1/TaskService");
  root["Links"] = {{"Sessions", link("/redfish/v1/SessionService/Sessions")}};
  tree[kRoot] = std::move(root);
}

}  // namespace cupel::rehearsal
