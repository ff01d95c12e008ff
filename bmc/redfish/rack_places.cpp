#include "bmc/redfish/rack_places.h"

#include <cmath>

#include "base/text.h"
#include "bmc/redfish/machine.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::RackPlace;

/// Numbers come as such and as texts.
std::optional<int> whole_at(const json::value& body, std::string_view path, int least) {
  const auto value = number_at(body, path);
  const bool fits =
      value && *value >= least && *value <= inventory::kHighestSlot && std::floor(*value) == *value;
  return fits ? std::optional{static_cast<int>(*value)} : std::nullopt;
}

std::optional<RackPlace> place_of(const Document& gpu) {
  const auto* topology = find(gpu.body, "Oem/Nvidia/MNNVLinkTopology");
  if (topology == nullptr || !topology->is_object()) return std::nullopt;
  return RackPlace{.part = std::string{last_name(gpu.uri)},
                   .chassis_serial = inventory::reported_place(
                       text_at(*topology, "ChassisSerialNumber").value_or("")),
                   .slot = whole_at(*topology, "TraySlotNumber", 1),
                   .tray = whole_at(*topology, "TraySlotIndex", 0),
                   .host = whole_at(*topology, "HostID", 0),
                   .module = whole_at(*topology, "ModuleID", 0),
                   .source = gpu.uri};
}

Task<Result<void>> add_places(Survey& survey, const Document& system,
                              std::vector<RackPlace>& places) {
  const auto collection = link_at(system.body, "Processors");
  if (collection.empty()) co_return ok();
  const auto before = survey.seen().unknown.size();
  const auto processors = co_await survey.members(collection, "processor");
  if (survey.stopped()) co_return *survey.stopped();
  for (const auto& one : processors) {
    // One that cannot be read and is called a CPU says nothing of the rack.
    if (one.body.is_null() && last_name(one.uri).contains("CPU")) continue;
    if (one.body.is_null()) {
      const auto& unknown = survey.seen().unknown;
      co_return Error{Code::kFailed,
                      one.uri + ": " + (unknown.size() > before ? unknown.back().why : "not read")};
    }
    auto place = is_absent(one.body) ? std::nullopt : place_of(one);
    if (!place) continue;
    const auto same = std::ranges::find(places, place->part, &RackPlace::part);
    if (same == places.end()) places.push_back(*std::move(place));
  }
  co_return ok();
}

}  // namespace

Task<Result<std::vector<RackPlace>>> read_rack_places(Fetch& fetch, Deadline deadline) {
  Observed seen;
  Survey survey{fetch, deadline, seen};
  CO_TRY(const Machine machine, co_await find_machine(survey, Without::goes_on));
  std::vector<RackPlace> places;
  // The baseboard first: the host's view of a GPU may lack what the board knows.
  for (const auto& board : machine.baseboards) {
    CO_TRY(co_await add_places(survey, board, places));
  }
  CO_TRY(co_await add_places(survey, machine.system, places));
  std::ranges::sort(places, natural_less, &RackPlace::part);
  co_return places;
}

}  // namespace cupel::bmc::redfish
