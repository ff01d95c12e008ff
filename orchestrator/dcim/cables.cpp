#include "orchestrator/dcim/cables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace cupel::dcim {
namespace {

constexpr std::size_t kAtOnce = 50;  // ids in one request: its line stays below 4 KiB
constexpr std::size_t kLongestWords = 300;
constexpr std::string_view kConnected = "connected", kPlanned = "planned",
                           kDecommissioning = "decommissioning";

std::string id_at(const json::object& item, std::string_view key) {
  const auto* found = item.if_contains(key);
  const auto* object = found == nullptr ? nullptr : found->if_object();
  return object == nullptr ? std::string{} : id_of(*object);
}

/// The cable of each interface, by device and interface.
using CableIds = std::map<std::pair<std::string, std::string>, std::string>;

Task<Result<CableIds>> read_cable_ids(Client& client, std::vector<std::string> devices,
                                      Deadline deadline) {
  CableIds ids;
  for (std::size_t at = 0; at < devices.size(); at += kAtOnce) {
    Filters filters;
    for (auto i = at; i < std::min(at + kAtOnce, devices.size()); ++i)
      filters.emplace_back("device_id", devices[i]);
    CO_TRY(const auto items,
           co_await client.list("/api/dcim/interfaces/", std::move(filters), deadline));
    for (const auto& item : items) {
      const auto cable = id_at(item, "cable");
      const auto name = text_at(json::value(item), "name").value_or("");
      if (!cable.empty() && !name.empty()) ids[{id_at(item, "device"), name}] = cable;
    }
  }
  co_return ids;
}

/// The status of each cable, by id.
Task<Result<std::map<std::string, std::string>>> read_statuses(Client& client,
                                                               std::vector<std::string> ids,
                                                               Deadline deadline) {
  std::map<std::string, std::string> statuses;
  for (std::size_t at = 0; at < ids.size(); at += kAtOnce) {
    Filters filters;
    for (auto i = at; i < std::min(at + kAtOnce, ids.size()); ++i)
      filters.emplace_back("id", ids[i]);
    CO_TRY(const auto items,
           co_await client.list("/api/dcim/cables/", std::move(filters), deadline));
    for (const auto& item : items) {
      const auto status = text_at(json::value(item), "status/value").value_or("");
      if (status.empty())
        co_return Error{Code::kMalformed, fmt::format("cable {} has no status", id_of(item))};
      statuses[id_of(item)] = status;
    }
  }
  co_return statuses;
}

/// The ends of each cable that NetBox has, and the ports of which it has none.
struct Joined {
  std::map<std::string, std::vector<CableEnd>> by_cable{};
  std::vector<CableChange> without{};
};

Joined join(const std::vector<DeviceCables>& devices, const CableIds& ids,
            const std::map<std::string, std::string>& names) {
  Joined joined;
  for (const auto& device : devices) {
    std::vector<std::string> missing;
    for (const auto& [port, seen] : device.ports) {
      const auto named = names.find(port);
      const auto cable = ids.find({device.id, named == names.end() ? port : named->second});
      if (cable == ids.end())
        missing.push_back(printable(port));
      else
        joined.by_cable[cable->second].push_back({device.node, port, seen});
    }
    if (missing.empty()) continue;
    CableChange change{.node = device.node};
    change.warnings.push_back(fmt::format(
        "NetBox has no cable at {}: an interface of another name is named with --interface "
        "{}=NAME",
        fmt::join(missing, ", "), missing.front()));
    joined.without.push_back(std::move(change));
  }
  return joined;
}

std::vector<std::string> ids_of(const Joined& joined) {
  std::vector<std::string> ids;
  for (const auto& [id, ends] : joined.by_cable) ids.push_back(id);
  return ids;
}

}  // namespace

CableChange cable_change(const std::string& id, std::string_view status,
                         const std::vector<CableEnd>& ends) {
  CableChange change{.id = id};
  const auto other =
      std::ranges::find_if(ends, [](const CableEnd& end) { return !end.seen.as_planned; });
  const auto end = other == ends.end() ? ends.begin() : other;
  if (end == ends.end()) return change;
  change.node = end->node;
  const auto expected = end->seen.as_planned ? kConnected : kPlanned;
  const auto what = fmt::format("cable {} at {}", id, printable(end->port));
  const auto saw =
      fmt::format("run {}: {}", end->seen.run,
                  end->seen.as_planned
                      ? "seen as planned"
                      : shortened(printable("not as planned: " + end->seen.words), kLongestWords));
  if (status == kDecommissioning) {
    if (end->seen.as_planned)
      change.warnings.push_back(fmt::format("{} stays {} ({})", what, status, saw));
    return change;
  }
  if (status == expected) return change;
  change.fields["status"] = expected;
  change.words.push_back(fmt::format("{}: {} -> {} ({})", what, printable(status), expected, saw));
  return change;
}

Task<Result<std::vector<CableChange>>> read_cable_changes(Client& client,
                                                          std::vector<DeviceCables> devices,
                                                          std::map<std::string, std::string> names,
                                                          Deadline deadline) {
  std::vector<std::string> device_ids;
  for (const auto& device : devices) device_ids.push_back(device.id);
  CO_TRY(const auto ids, co_await read_cable_ids(client, std::move(device_ids), deadline));
  auto joined = join(devices, ids, names);
  auto cable_ids = ids_of(joined);
  CO_TRY(const auto statuses, co_await read_statuses(client, std::move(cable_ids), deadline));
  auto changes = std::move(joined.without);
  for (const auto& [id, ends] : joined.by_cable) {
    const auto status = statuses.find(id);
    if (status == statuses.end())
      co_return Error{Code::kBusy, fmt::format("cable {} went while it was read: do it again", id)};
    changes.push_back(cable_change(id, status->second, ends));
  }
  co_return changes;
}

}  // namespace cupel::dcim
