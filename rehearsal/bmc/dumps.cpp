// Diagnostic data: log services that collect it, the task of each collection, its entry and its
// file. Source: DSP0268, LogService.CollectDiagnosticData; bmcweb's answers as its users see them.
#include <fmt/format.h>

#include <algorithm>

#include "rehearsal/bmc/service.h"

namespace cupel::rehearsal {
namespace {

const std::string kTasks = "/redfish/v1/TaskService/Tasks";
constexpr std::string_view kFile = "/attachment";

std::string path_of(const DumpRow& row) { return log_services_of(row) + "/Dump"; }

std::string entry_of(const Dump& dump) {
  return fmt::format("{}/Entries/{}", path_of(*dump.of), dump.id);
}

std::string task_path(const Dump& dump) { return fmt::format("{}/HGX_{}", kTasks, dump.id); }

bool is_over(const BmcView& view, const Dump& dump) { return view.now() >= dump.ends; }

/// What a vendor's tool would unpack; here its length and words follow the machine.
std::string file_of(const BmcView& view, const Dump& dump) {
  constexpr int kLines = 400;
  std::string text = fmt::format("dump {} of {}\n", dump.id, view.hardware().serial);
  for (int line = 0; line < kLines; ++line)
    text += fmt::format("{:04} {} {}\n", line, dump.of->type, dump.oem_type);
  return text;
}

json::object entry_resource(const BmcView& view, const Dump& dump) {
  const auto path = entry_of(dump);
  const auto id = std::to_string(dump.id);
  auto entry = resource(path, "#LogEntry.v1_7_0.LogEntry", id, "Dump Entry " + id);
  entry["EntryType"] = "Oem";
  entry["Created"] = view.time(dump.ended);
  entry["DiagnosticDataType"] = dump.of->type;
  if (!dump.oem_type.empty()) entry["OEMDiagnosticDataType"] = dump.oem_type;
  entry["AdditionalDataURI"] = path + std::string{kFile};
  entry["AdditionalDataSizeBytes"] = file_of(view, dump).size();
  return entry;
}

void add_service(ResourceTree& tree, const BmcView& view, const DumpRow& row) {
  const auto path = path_of(row);
  json::array members;
  for (const auto& dump : view.state.dumps) {
    if (dump.of != &row || !is_over(view, dump)) continue;
    auto entry = entry_resource(view, dump);
    tree[entry_of(dump)] = entry;
    members.push_back(std::move(entry));
  }
  auto entries =
      resource(path + "/Entries", "#LogEntryCollection.LogEntryCollection", "", "Dump Entries");
  entries.erase("Id");
  entries["Members@odata.count"] = members.size();
  entries["Members"] = std::move(members);
  tree[path + "/Entries"] = std::move(entries);
  auto log = resource(path, "#LogService.v1_2_0.LogService", "Dump", "Dump LogService");
  log["OverWritePolicy"] = "WrapsWhenFull";
  log["DateTime"] = view.time(view.epoch());
  log["DateTimeLocalOffset"] = view.offset();
  log["Entries"] = link(path + "/Entries");
  const auto actions = path + "/Actions/LogService.";
  log["Actions"] = {
      {"#LogService.ClearLog", {{"target", actions + "ClearLog"}}},
      {"#LogService.CollectDiagnosticData", {{"target", actions + "CollectDiagnosticData"}}}};
  tree[path] = std::move(log);
  add_collection(tree, log_services_of(row), "#LogServiceCollection.LogServiceCollection",
                 "Log Services");
}

HttpResponse missing_parameter(std::string_view name) {
  return redfish_error(
      400, "ActionParameterMissing",
      fmt::format("The action CollectDiagnosticData requires that the parameter {} be present in "
                  "the request body.",
                  name));
}

/// What is wrong with what is asked of this service.
std::optional<HttpResponse> refusal_of(const json::object& body, const DumpRow& row) {
  const auto text = [&](std::string_view key) {
    const auto* found = body.if_contains(key);
    return found && found->is_string() ? std::string{found->as_string()} : std::string{};
  };
  constexpr std::string_view kType = "DiagnosticDataType", kOem = "OEMDiagnosticDataType";
  for (const auto& entry : body)
    if (entry.key() != kType && entry.key() != kOem) return unknown_property(entry.key());
  if (text(kType).empty()) return missing_parameter(kType);
  if (text(kType) != row.type) return not_in_list(kType, text(kType));
  if (row.oem_types.empty() && !text(kOem).empty()) return unknown_property(kOem);
  if (row.oem_types.empty()) return std::nullopt;
  if (text(kOem).empty()) return missing_parameter(kOem);
  const bool known = std::ranges::find(row.oem_types, text(kOem)) != row.oem_types.end();
  if (!known) return not_in_list(kOem, text(kOem));
  return std::nullopt;
}

const DumpRow* row_at(const Change& change) {
  for (const auto& row : dumps_of(change.view()))
    if (change.path.starts_with(path_of(row) + "/")) return &row;
  return nullptr;
}

}  // namespace

std::span<const DumpRow> dumps_of(const BmcView& view) {
  const bool has_baseboard = !view.layout().system_of_gpus.empty() && !view.hardware().gpus.empty();
  return has_baseboard ? view.behavior().dumps : std::span<const DumpRow>{};
}

std::string log_services_of(const DumpRow& row) {
  return "/redfish/v1/" + std::string{row.owner} + "/LogServices";
}

void add_dumps(ResourceTree& tree, const BmcView& view) {
  for (const auto& row : dumps_of(view)) add_service(tree, view, row);
}

json::object task_of(const BmcView& view, const Dump& dump) {
  const bool over = is_over(view, dump);
  const auto path = task_path(dump);
  auto task = resource(path, view.state.update_behavior.task_type, fmt::format("HGX_{}", dump.id),
                       fmt::format("Task HGX_{}", dump.id));
  task["TaskState"] = over ? "Completed" : "Running";
  task["TaskStatus"] = "OK";
  task["StartTime"] = view.time(dump.began);
  if (over) task["EndTime"] = view.time(dump.ended);
  task["TaskMonitor"] = monitor_of(dump);
  task["Messages"] = json::array{};
  json::array headers{"Host: 127.0.0.1"};
  if (over) headers.emplace_back("Location: " + entry_of(dump));
  task["Payload"] = {
      {"HttpHeaders", std::move(headers)},
      {"HttpOperation", "POST"},
      {"TargetUri", path_of(*dump.of) + "/Actions/LogService.CollectDiagnosticData"}};
  return task;
}

std::string monitor_of(const Dump& dump) { return task_path(dump) + "/Monitor"; }

void add_dump_tasks(ResourceTree& tree, const BmcView& view) {
  for (const auto& dump : view.state.dumps) tree[task_path(dump)] = task_of(view, dump);
}

std::string file_of_dump(const BmcView& view, const std::string& path) {
  for (const auto& dump : view.state.dumps)
    if (is_over(view, dump) && path == entry_of(dump) + std::string{kFile})
      return file_of(view, dump);
  return {};
}

/// What is no resource: the file of a dump, and the monitor of its task.
std::optional<HttpResponse> BmcService::of_dump(const HttpRequest& request,
                                                const std::string& path) {
  if (request.method != "GET") return std::nullopt;
  if (auto file = file_of_dump(view(), path); !file.empty())
    return HttpResponse{.headers = {{"Content-Type", "application/octet-stream"}},
                        .body = std::move(file)};
  for (const auto& dump : state_.dumps) {
    if (path != monitor_of(dump)) continue;
    if (is_over(view(), dump)) return HttpResponse{.status = 204};
    auto running = answer(202, task_of(view(), dump));
    running.headers["Location"] = path;
    return running;
  }
  return std::nullopt;
}

HttpResponse collect_dump(Change& change) {
  const auto* row = row_at(change);
  if (row == nullptr) return redfish_error(404, "ResourceMissing", "There is no such service.");
  if (auto refusal = refusal_of(change.body, *row)) return *std::move(refusal);
  const auto view = change.view();
  auto& dumps = change.state.dumps;
  const bool busy = std::ranges::any_of(
      dumps, [&](const Dump& dump) { return dump.of == row && !is_over(view, dump); });
  if (busy) {
    auto later = redfish_error(503, "ServiceTemporarilyUnavailable",
                               "The service is temporarily unavailable. Retry in 60 seconds.");
    later.headers["Retry-After"] = "60";
    return later;
  }
  if (dumps.size() >= BmcState::kMostDumps) dumps.erase(dumps.begin());
  Dump dump{.id = change.state.next_id++,
            .of = row,
            .ends = view.now() + row->takes,
            .began = view.epoch(),
            .ended = view.epoch() + row->takes.count()};
  if (const auto* oem = change.body.if_contains("OEMDiagnosticDataType"))
    dump.oem_type = oem->as_string();
  dumps.push_back(std::move(dump));
  auto response = answer(202, task_of(view, dumps.back()));
  response.headers["Location"] = monitor_of(dumps.back());
  return response;
}

HttpResponse clear_dumps(Change& change) {
  const auto* row = row_at(change);
  std::erase_if(change.state.dumps, [&](const Dump& dump) { return dump.of == row; });
  return {.status = 204};
}

}  // namespace cupel::rehearsal
