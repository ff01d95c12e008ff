// The event log, and the slots for virtual discs.
#include <fmt/format.h>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

void add_log(ResourceTree& tree, const BmcView& view) {
  const auto path = view.log();
  const auto entries = path + "/Entries";
  json::array members;
  for (const auto& line : view.state.log.lines()) {
    auto entry = log_entry(view, line);
    const std::string mine{entry.at("@odata.id").as_string()};
    tree[mine] = entry;
    members.push_back(std::move(entry));  // whole, as every BMC does
  }
  if (view.layout().newest_first) std::ranges::reverse(members);
  auto collection = resource(entries, "#LogEntryCollection.LogEntryCollection", "", "Log Entries");
  collection.erase("Id");
  collection["Members@odata.count"] = members.size();
  collection["Members"] = std::move(members);
  tree[entries] = std::move(collection);
  auto log = resource(path, "#LogService.v1_2_0.LogService", view.layout().log, "Event Log");
  log["LogEntryType"] = "SEL";
  log["MaxNumberOfRecords"] = EventLog::kMostLines;
  log["OverWritePolicy"] = "WrapsWhenFull";
  log["ServiceEnabled"] = true;
  log["DateTime"] = view.time(view.epoch());
  log["DateTimeLocalOffset"] = view.offset();
  log["Entries"] = link(entries);
  log["Actions"] = {{"#LogService.ClearLog", {{"target", path + "/Actions/LogService.ClearLog"}}}};
  log["Status"] = healthy();
  tree[path] = std::move(log);
  const auto services = path.substr(0, path.rfind('/'));
  add_collection(tree, services, "#LogServiceCollection.LogServiceCollection", "Log Services");
}

/// What the firmware logs of its own accord, beside the BMC's log: a healthy machine's is empty.
void add_host_log(ResourceTree& tree, const BmcView& view) {
  const auto path = view.host_log();
  if (path.empty()) return;
  auto entries =
      resource(path + "/Entries", "#LogEntryCollection.LogEntryCollection", "", "Log Entries");
  entries.erase("Id");
  entries["Members@odata.count"] = 0;
  entries["Members"] = json::array{};
  tree[path + "/Entries"] = std::move(entries);
  auto log = resource(path, "#LogService.v1_2_0.LogService", view.layout().host_log,
                      "System BIOS Log Service");
  log["LogEntryType"] = "SEL";
  log["MaxNumberOfRecords"] = 3640;
  log["OverWritePolicy"] = "WrapsWhenFull";
  log["ServiceEnabled"] = true;
  log["DateTime"] = view.time(view.epoch());
  log["DateTimeLocalOffset"] = view.offset();
  log["Entries"] = link(path + "/Entries");
  log["Status"] = healthy();
  tree[path] = std::move(log);
  add_collection(tree, path.substr(0, path.rfind('/')),
                 "#LogServiceCollection.LogServiceCollection", "Log Services");
}

json::object media_actions(const BmcView& view, const std::string& path, bool inserted) {
  json::object actions;
  actions["#VirtualMedia.InsertMedia"] = {{"target", path + "/Actions/VirtualMedia.InsertMedia"}};
  if (inserted || !view.behavior().media.eject_only_if_inserted)
    actions["#VirtualMedia.EjectMedia"] = {{"target", path + "/Actions/VirtualMedia.EjectMedia"}};
  return actions;
}

void add_slot(ResourceTree& tree, const BmcView& view, const MediaSlotRow& slot) {
  const auto& behavior = view.behavior().media;
  const std::string id{slot.id};
  const auto path = view.media() + "/" + id;
  const auto known = view.state.media.find(id);
  const auto medium = known == view.state.media.end() ? Medium{} : known->second;
  const bool holds = !medium.image.empty();
  const bool stale = medium.stale_until && view.now() < *medium.stale_until;
  auto one = resource(path, "#VirtualMedia.v1_3_0.VirtualMedia", id, "Virtual Media " + id);
  one["MediaTypes"] = json_words(slot.types);
  one["Inserted"] = holds || stale;
  one["ConnectedVia"] = holds ? "URI" : "NotConnected";
  one["WriteProtected"] = medium.write_protected;
  if (holds)
    one["Image"] = medium.image;
  else if (behavior.empty.empty())
    one["Image"] = nullptr;
  else if (behavior.empty != "-")
    one["Image"] = behavior.empty;
  if (!behavior.by_patch) one["Actions"] = media_actions(view, path, holds);
  tree[path] = std::move(one);
}

}  // namespace

json::object log_entry(const BmcView& view, const LogLine& line) {
  const auto id = std::to_string(line.id);
  auto entry =
      resource(view.log() + "/Entries/" + id, "#LogEntry.v1_7_0.LogEntry", id, "Log Entry " + id);
  entry["Created"] = view.time(line.epoch);
  entry["EntryType"] = "SEL";
  entry["EntryCode"] = "Assert";
  entry["Severity"] = line.severity;
  entry["Message"] = line.message;
  entry["MessageId"] = line.message_id;
  entry["MessageArgs"] = json::array{};
  if (!line.sensor.empty()) entry["SensorType"] = line.sensor;
  return entry;
}

json::object event_of(const BmcView& view, const LogLine& line) {
  json::object record{{"EventId", std::to_string(line.id)},
                      {"EventType", line.alert ? "Alert" : "StatusChange"},
                      {"MemberId", "0"},
                      {"EventTimestamp", view.time(line.epoch)},
                      {"Severity", line.severity},
                      {"MessageSeverity", line.severity},
                      {"Message", line.message},
                      {"MessageId", line.message_id},
                      {"MessageArgs", json::array{}},
                      {"OriginOfCondition", link(view.system())}};
  const auto id = std::to_string(line.id);
  return {{"@odata.type", "#Event.v1_7_0.Event"},
          {"Id", id},
          {"Name", "Event Array"},
          {"Events", json::array{std::move(record)}}};
}

void add_logs_and_media(ResourceTree& tree, const BmcView& view) {
  add_log(tree, view);
  add_host_log(tree, view);
  add_dumps(tree, view);
  for (const auto& slot : view.behavior().media.slots) add_slot(tree, view, slot);
  add_collection(tree, view.media(), "#VirtualMediaCollection.VirtualMediaCollection",
                 "Virtual Media");
}

}  // namespace cupel::rehearsal
