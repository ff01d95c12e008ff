#include "bmc/redfish/systems.h"

#include <array>

#include "base/text.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::string_view kSystems = "/redfish/v1/Systems";
constexpr std::size_t kMostSystems = 16;

/// How much a System looks like a machine. GIGABYTE lists a System called Capabilities that is a
/// form to fill in; HGX baseboards have a power state and nothing to press.
int likeness(const Document& system) {
  if (last_name(system.uri) == "Capabilities") return 0;
  int points = 1;
  if (!reset_target(system.body).empty()) points += 8;
  if (text_at(system.body, "PowerState")) points += 2;
  const auto* boot = find(system.body, "Boot");
  if (boot != nullptr && boot->is_object() && !boot->get_object().empty()) points += 1;
  return points;
}

bool can_be_turned_on(const Document& system) { return !reset_target(system.body).empty(); }

std::string names_of(const std::vector<Document>& systems) {
  std::string names;
  for (const auto& one : systems)
    names += (names.empty() ? "" : ", ") + printable(last_name(one.uri));
  return names.empty() ? "none" : names;
}

/// Leaves the one that is named; the others are other nodes.
Result<void> leave_the_named(std::vector<Document>& systems, const std::string& wanted,
                             std::vector<std::string>& others) {
  const auto name = [](const Document& one) { return last_name(one.uri); };
  std::ranges::sort(systems, natural_less, name);
  if (wanted.empty())
    return Error{Code::kUnsupported,
                 "this BMC has several Systems (" + names_of(systems) +
                     "): write in the inventory which one this node is, bmc: {system: " +
                     printable(name(systems.front())) + "}"};
  const auto found = std::ranges::find(systems, std::string_view{wanted}, name);
  if (found == systems.end())
    return Error{Code::kInvalid,
                 "this BMC has no System '" + printable(wanted) +
                     "' (bmc: {system: ...} in the inventory); it has: " + names_of(systems)};
  for (const auto& one : systems)
    if (one.uri != found->uri) others.push_back(one.uri);
  auto ours = std::move(*found);
  systems.clear();
  systems.push_back(std::move(ours));
  return ok();
}

/// Where the machine was lost, a reader goes on with nothing in its place.
Result<void> stand_in(const Systems::Lost& lost, Without without, std::vector<Document>& machines) {
  if (without == Without::fails || !goes_on_after(lost.why.code)) return lost.why;
  machines.push_back({lost.uri, json::object{}});
  return ok();
}

}  // namespace

bool goes_on_after(Code code) {
  return code == Code::kNotFound || code == Code::kMalformed || code == Code::kFailed ||
         code == Code::kUnsupported;
}

std::string reset_target(const json::value& system) {
  const auto target = path_of(text_at(system, "Actions/#ComputerSystem.Reset/target").value_or(""));
  return is_on_the_bmc(target) ? target : std::string{};
}

Task<Result<Systems>> read_systems(Survey& survey, const json::value& root) {
  auto collection = link_at(root, "Systems");
  const bool linked = !collection.empty();
  if (!linked) collection = kSystems;
  auto list = co_await survey.need(collection);
  const bool has_none = !list && !linked && list.error().code == Code::kNotFound;
  if (has_none) co_return Systems{};
  if (!list) co_return std::move(list).error();
  constexpr std::array kOnSystems{inventory::PartKind::cpu, inventory::PartKind::gpu,
                                  inventory::PartKind::dimm};
  auto uris = links_at(list->body, "Members");
  if (uris.size() > kMostSystems) {
    const auto why = "more than " + std::to_string(kMostSystems) + " Systems: the rest is not read";
    survey.not_whole(kOnSystems, collection, why);
    survey.unknown("systems", collection, why);
    uris.resize(kMostSystems);
  }
  const auto counted = number_at(list->body, "Members@odata.count");
  if (counted && *counted > static_cast<double>(uris.size()))
    survey.not_whole(kOnSystems, collection, "fewer Systems than it counts", true);
  Systems systems;
  for (const auto& uri : uris) {
    auto system = co_await survey.need(uri);
    if (system) {
      systems.read.push_back(*std::move(system));
      continue;
    }
    survey.not_whole(kOnSystems, uri, system.error().what, true);
    survey.unknown("system " + std::string{last_name(uri)}, uri, system.error().what);
    systems.lost.push_back({uri, std::move(system).error()});
  }
  co_return systems;
}

/// A baseboard is not the machine where that could not be read.
Result<void> pick_system(Systems systems, Without without, const std::string& wanted,
                         Machine& machine) {
  auto& boards = systems.read;
  std::erase_if(boards, [](const Document& one) { return likeness(one) == 0; });
  std::ranges::stable_sort(boards, std::greater{}, &likeness);
  const auto end = std::ranges::find_if_not(boards, can_be_turned_on);
  std::vector<Document> machines(std::make_move_iterator(boards.begin()),
                                 std::make_move_iterator(end));
  boards.erase(boards.begin(), end);
  for (const auto& lost : systems.lost) {
    const bool may_be_it = wanted.empty() ? machines.empty() : last_name(lost.uri) == wanted;
    if (!may_be_it) continue;
    TRY(stand_in(lost, without, machines));
  }
  if (machines.empty() && !boards.empty()) {
    machines.push_back(std::move(boards.front()));
    boards.erase(boards.begin());
  }
  if (machines.size() > 1 || !wanted.empty()) {
    TRY(leave_the_named(machines, wanted, machine.others));
  }
  machine.has_system = !machines.empty();
  machine.system = machine.has_system ? std::move(machines.front())
                                      : Document{std::string{kSystems}, json::object{}};
  machine.baseboards = std::move(boards);
  return ok();
}

}  // namespace cupel::bmc::redfish
