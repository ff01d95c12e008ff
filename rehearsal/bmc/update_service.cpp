// What a BMC shows of its firmware and of its update service. Tasks and jobs: update_tasks.cpp.
#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/bmc/resources.h"
#include "rehearsal/bmc/update_request.h"

namespace cupel::rehearsal {
namespace {

using Stage = Update::Stage;

const std::string kService = "/redfish/v1/UpdateService";
const std::string kInventory = kService + "/FirmwareInventory";

/// Who made it and which software it is; empty: the BMC does not report that.
struct Maker {
  std::string_view vendor, id, maker, software;  // `id`: how the component's Id begins
};

/// As captured, of each BMC those of its components that the virtual one has too: an SR675 V3
/// (XCC), an SYS-821GE-TNHR, a GB200's compute tray, a BlueField-3. The longest `id` counts.
constexpr auto kMakers = std::to_array<Maker>({
    {"lenovo", "BMC-", "Lenovo", "BMC-TGBT-10"},
    {"lenovo", "UEFI", "Lenovo", "UEFI-U8E1-6"},
    {"lenovo", "PSU", "DETA", "POWER-DETA7200-10"},
    {"supermicro", "", "Supermicro", ""},
    {"supermicro", "HGX_FW_BMC", "", "0x0010"},
    {"supermicro", "HGX_FW_ERoT", "NVIDIA", "0xFF00"},
    {"supermicro", "HGX_FW_FPGA", "NVIDIA", "0x0050"},
    {"supermicro", "HGX_FW_GPU", "NVIDIA", "0x0020"},
    {"supermicro", "HGX_FW_NVSwitch", "NVIDIA", "0x0070"},
    {"supermicro", "HGX_FW_PCIeRetimer", "NVIDIA", "0x8000"},
    {"supermicro", "HGX_FW_PCIeSwitch", "NVIDIA", "0x0040"},
    {"openbmc", "FW_BMC", "NVIDIA", "0x0010"},
    {"openbmc", "FW_ERoT", "NVIDIA", "0xFF00"},
    {"openbmc", "UEFI", "NVIDIA", "UEFI"},
    {"openbmc", "CX7", "NVIDIA", "0x0001"},
    {"openbmc", "HGX_FW_BMC", "NVIDIA", "0x0010"},
    {"openbmc", "HGX_FW_CPU", "NVIDIA", "0x0038"},
    {"openbmc", "HGX_FW_ERoT", "NVIDIA", "0xFF00"},
    {"openbmc", "HGX_FW_FPGA", "NVIDIA", "0x0050"},
    {"openbmc", "HGX_FW_GPU", "NVIDIA", "0xC000"},
    {"bluefield", "Bluefield_FW_ERoT", "NVIDIA", "0xFF00"},
    {"bluefield", "BMC_Firmware", "", "0x0018"},
});

void add_maker(json::object& one, std::string_view vendor, const std::string& id) {
  // "Installed-25227-5.10.50.00__iDRAC.Embedded.1-1": the number is Dell's component.
  if (vendor == "dell") {
    const auto words = split(id, '-');
    if (words.size() < 3) return;
    one["SoftwareId"] = std::string{words[1]};
    one["Oem"] = json::object{
        {"Dell",
         json::object{
             {"@odata.type", "#DellOem.v1_3_0.DellOemResources"},
             {"DellSoftwareInventory",
              json::object{{"@odata.type", "#DellSoftwareInventory.v1_1_1.DellSoftwareInventory"},
                           {"ComponentID", std::string{words[1]}},
                           {"Status", words[0] == "Installed" ? "Installed" : "Available"}}}}}};
    return;
  }
  const Maker* best = nullptr;
  for (const auto& row : kMakers)
    if (row.vendor == vendor && id.starts_with(row.id) &&
        (best == nullptr || row.id.size() > best->id.size()))
      best = &row;
  if (best == nullptr) return;
  if (!best->maker.empty()) one["Manufacturer"] = best->maker;
  if (!best->software.empty()) one["SoftwareId"] = best->software;
}

void add_component(ResourceTree& tree, const BmcView& view, const std::string& id,
                   std::string_view version, bool updateable) {
  const auto path = kInventory + "/" + id;
  const auto& names = view.state.update_behavior.names;
  const auto type = fmt::format("#SoftwareInventory.v{}.SoftwareInventory", names.software);
  auto one = resource(path, type, id, id);
  one["Version"] = version;
  one["Updateable"] = updateable;
  add_maker(one, view.state.update_behavior.vendor, id);
  if (view.behavior().vendor != "dgx") one["Status"] = healthy();
  tree[path] = std::move(one);
}

void add_inventory(ResourceTree& tree, const BmcView& view) {
  const auto& names = view.state.update_behavior.names;
  for (const auto& one : components_of(view))
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
    action["TransferProtocol@Redfish.AllowableValues"] = json_words(behavior.protocols);
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
                   {"AllowableValues", json_words(behavior.protocols)}}};
  tree[path] = std::move(info);
  return action;
}

/// An iLO's own words for how far it is.
json::object in_hpes_words(const BmcView& view) {
  const auto& all = view.state.updates.all();
  json::object reported{{"@odata.type", "#HpeiLOUpdateServiceExt.v2_3_0.HpeiLOUpdateServiceExt"},
                        {"State", "Idle"}};
  if (find_fault(view.machine.faults(), FaultKind::firmware_busy)) reported["State"] = "Updating";
  if (all.empty() || all.back().is_hidden()) return reported;
  const auto& last = all.back();
  constexpr std::array<std::pair<Stage, std::string_view>, 6> kWords{
      {{Stage::transferring, "Uploading"},
       {Stage::verifying, "Verifying"},
       {Stage::writing, "Writing"},
       {Stage::flushing, "Updating"},
       {Stage::done, "Complete"},
       {Stage::failed, "Error"}}};
  for (const auto& [stage, word] : kWords)
    if (stage == last.stage) reported["State"] = word;
  reported["FlashProgressPercent"] = view.state.updates.percent(last, view.now());
  if (last.is_over())
    reported["Result"] = {
        {"MessageId", last.stage == Stage::done ? "iLO.2.14.UpdateDone" : last.message_id}};
  return reported;
}

json::object in_amis_words(const BmcView& view) {
  json::object reported{{"@odata.type", "#AMIUpdateService.v1_0_0.AMIUpdateService"},
                        {"FlashPercentage", nullptr},
                        {"UpdateStatus", nullptr},
                        {"UpdateTarget", nullptr}};
  const auto* running = view.state.updates.running();
  if (!running) return reported;
  reported["FlashPercentage"] =
      fmt::format("{}% done", view.state.updates.percent(*running, view.now()));
  reported["UpdateStatus"] = running->stage == Stage::writing ? "Flashing" : "Verifying";
  reported["UpdateTarget"] = running->name.substr(0, running->name.find(' '));
  return reported;
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
    const auto all = components_of(view);
    for (const auto& one : all)
      if (std::ranges::find(view.state.push_targets, one.name) != view.state.push_targets.end())
        targets.push_back(json::value(kInventory + "/" + id_of(behavior.names, one)));
    service["HttpPushUriTargets"] = std::move(targets);
    service["HttpPushUriOptions"] = {{"HttpPushUriApplyTime", {{"ApplyTime", "Immediate"}}}};
  }
  if (behavior.claims) service["HttpPushUriTargetsBusy"] = view.state.push_claimed;
  // Since UpdateService 1.5.0.
  if (view.behavior().names.oem != "Hpe") service["MaxImageSizeBytes"] = behavior.most_image;
  if (!behavior.has_task)
    service["Oem"] = {{"Hpe", in_hpes_words(view)}};
  else if (view.behavior().names.oem == "Ami")
    service["Oem"] = {{"Ami", in_amis_words(view)}};
  tree[kService] = std::move(service);
}

}  // namespace

void add_updates(ResourceTree& tree, const BmcView& view) {
  if (view.wants("/redfish/v1/UpdateService")) add_inventory(tree, view);
  add_update_service(tree, view);
  add_tasks(tree, view);
  const std::string path = "/redfish/v1/TaskService";
  auto service = resource(path, "#TaskService.v1_1_6.TaskService", "TaskService", "Task Service");
  service["ServiceEnabled"] = true;
  service["DateTime"] = view.time(view.epoch());
  service["Tasks"] = link(path + "/Tasks");
  service["Status"] = healthy();
  tree[path] = std::move(service);
}

}  // namespace cupel::rehearsal
