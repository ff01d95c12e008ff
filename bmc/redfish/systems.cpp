#include "bmc/redfish/systems.h"

#include <algorithm>
#include <array>
#include <functional>
#include <ranges>

#include "base/text.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::string_view kSystems = "/redfish/v1/Systems";
/// A chassis of 64 nodes has a BMC for all of them; more would take minutes to read.
constexpr std::size_t kMostSystems = 128, kMostChassis = 16, kMostNames = 32;

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
  for (const auto& one : systems | std::views::take(kMostNames))
    names += (names.empty() ? "" : ", ") + printable(last_name(one.uri));
  if (systems.size() > kMostNames)
    names += " and " + std::to_string(systems.size() - kMostNames) + " more";
  return names.empty() ? "none" : names;
}

/// The GPUs' board of a machine shows up as a System beside it.
bool is_baseboard_at(std::string_view uri) {
  const auto name = lower_case(last_name(uri));
  return name.find("hgx") != name.npos || name.find("baseboard") != name.npos;
}
bool is_baseboard(const Document& system) { return is_baseboard_at(system.uri); }

/// Where the inventory names a System, the others are other nodes, or boards.
bool may_hold_ours(const std::string& uri, const std::string& requested) {
  return requested.empty() || last_name(uri) == requested || is_baseboard_at(uri);
}

/// What hangs on a System, and is not all seen where one of them is not.
constexpr std::array kOnSystems{inventory::PartKind::cpu, inventory::PartKind::gpu,
                                inventory::PartKind::dimm};

/// Systems that chassis link to, where the BMC has no list of Systems (Quanta D42A: 404).
Task<std::vector<std::string>> systems_of_chassis(Survey& survey, const json::value& root) {
  auto collection = link_at(root, "Chassis");
  if (collection.empty()) collection = "/redfish/v1/Chassis";
  std::vector<std::string> found;
  const auto list = co_await survey.need(collection);
  if (!list) co_return found;
  auto chassis = links_at(list->body, "Members");
  const auto next = path_of(text_at(list->body, "Members@odata.nextLink").value_or(""));
  if (chassis.size() > kMostChassis || !next.empty()) {
    const auto read = std::min(chassis.size(), kMostChassis);
    const auto why = "more than " + std::to_string(read) + " chassis: the rest is not asked";
    survey.not_whole(kOnSystems, collection, why);
    survey.unknown("more systems", collection, why);
  }
  for (const auto& uri : chassis | std::views::take(kMostChassis)) {
    const auto one = co_await survey.need(uri);
    if (!one) continue;
    for (auto& system : links_at(one->body, "Links/ComputerSystems")) {
      const auto same = [&](const std::string& other) { return normal(other) == normal(system); };
      if (std::ranges::none_of(found, same)) found.push_back(std::move(system));
    }
  }
  co_return found;
}

/// All pages of the list; the first of them is `list`.
Task<std::vector<std::string>> listed_systems(Survey& survey, Document list) {
  constexpr std::size_t kMostPages = 32, kMostListed = 4096;
  std::vector<std::string> uris;
  for (std::size_t pages = 1;; ++pages) {
    const auto before = uris.size();
    for (auto& uri : links_at(list.body, "Members"))
      if (std::ranges::find(uris, uri) == uris.end()) uris.push_back(std::move(uri));
    const auto next = path_of(text_at(list.body, "Members@odata.nextLink").value_or(""));
    // One that brings nothing new is where a sick BMC would go in circles.
    if (next.empty() || uris.size() == before) co_return uris;
    if (pages >= kMostPages || uris.size() >= kMostListed) {
      const auto why = "more than " + std::to_string(pages) + " pages: the rest is not read";
      survey.not_whole(kOnSystems, next, why);
      survey.unknown("more systems", next, why);
      co_return uris;
    }
    auto page = co_await survey.need(next);
    if (!page) {
      survey.not_whole(kOnSystems, next, page.error().what, true);
      survey.unknown("more systems", next, page.error().what);
      co_return uris;
    }
    list = *std::move(page);
  }
}

/// Leaves the first kMostSystems, and the one that is requested, and says so.
void bound(Survey& survey, std::vector<std::string>& uris, const std::string& collection) {
  if (uris.size() <= kMostSystems) return;
  const auto requested = survey.requested_system();
  const auto is_it = [&](const std::string& uri) { return last_name(uri) == requested; };
  if (const auto ours = std::ranges::find_if(uris, is_it); ours != uris.end())
    std::iter_swap(uris.begin(), ours);
  const auto why =
      "more than " + std::to_string(kMostSystems) + " are listed: the others are not read";
  const auto is_ours = [&](const std::string& uri) { return may_hold_ours(uri, requested); };
  if (std::ranges::any_of(uris | std::views::drop(kMostSystems), is_ours))
    survey.not_whole(kOnSystems, collection, why);
  uris.resize(kMostSystems);
  survey.unknown("more systems", collection, why);
}

/// Keeps the named System in `systems`. The others belong to other nodes: their URIs go to
/// `others`.
Result<void> leave_the_named(std::vector<Document>& systems, const std::string& requested,
                             std::vector<std::string>& others) {
  const auto name = [](const Document& one) { return last_name(one.uri); };
  std::ranges::sort(systems, natural_less, name);
  if (requested.empty())
    return Error{Code::kUnsupported,
                 "this BMC has several Systems (" + names_of(systems) +
                     "): write in the inventory which one this node is, bmc: {system: " +
                     printable(name(systems.front())) + "}"};
  const auto found = std::ranges::find(systems, std::string_view{requested}, name);
  if (found == systems.end())
    return Error{Code::kInvalid,
                 "this BMC has no System '" + printable(requested) +
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
  std::vector<std::string> uris;
  if (list) {
    const auto counted = number_at(list->body, "Members@odata.count");
    uris = co_await listed_systems(survey, *std::move(list));
    if (counted && *counted > static_cast<double>(uris.size()))
      survey.not_whole(kOnSystems, collection, "fewer Systems than it counts", true);
  } else {
    if (list.error().code != Code::kNotFound) co_return std::move(list).error();
    uris = co_await systems_of_chassis(survey, root);
    if (uris.empty() && linked) co_return std::move(list).error();
    if (!uris.empty())
      survey.unknown("the list of systems", collection, "HTTP 404: those of the chassis are read");
  }
  bound(survey, uris, collection);
  Systems systems;
  for (const auto& uri : uris) {
    auto system = co_await survey.need(uri);
    if (system) {
      systems.read.push_back(*std::move(system));
      continue;
    }
    const bool passing = system.error().code != Code::kNotFound;
    if (may_hold_ours(uri, survey.requested_system()))
      survey.not_whole(kOnSystems, uri, system.error().what, passing);
    survey.unknown("system " + std::string{last_name(uri)}, uri, system.error().what);
    systems.lost.push_back({uri, std::move(system).error()});
  }
  co_return systems;
}

/// A baseboard is not the machine where that could not be read.
Result<void> pick_system(Systems systems, Without without, const std::string& requested,
                         Machine& machine) {
  auto& boards = systems.read;
  std::erase_if(boards, [](const Document& one) { return likeness(one) == 0; });
  std::ranges::stable_sort(boards, std::greater{}, &likeness);
  const auto end = std::ranges::find_if_not(boards, can_be_turned_on);
  std::vector<Document> machines(std::make_move_iterator(boards.begin()),
                                 std::make_move_iterator(end));
  boards.erase(boards.begin(), end);
  for (const auto& lost : systems.lost) {
    const bool may_be_it = requested.empty() ? machines.empty() : last_name(lost.uri) == requested;
    // Another node keeps its chassis, also where it could not be read.
    if (!may_be_it && !may_hold_ours(lost.uri, requested)) machine.others.push_back(lost.uri);
    if (!may_be_it) continue;
    TRY(stand_in(lost, without, machines));
  }
  // Where none can be turned on, each that is no board of another may be the node.
  if (machines.empty() && !boards.empty()) {
    const auto first_board =
        std::ranges::stable_partition(boards, std::not_fn(is_baseboard)).begin();
    const auto last = first_board == boards.begin() ? boards.begin() + 1 : first_board;
    std::ranges::move(boards.begin(), last, std::back_inserter(machines));
    boards.erase(boards.begin(), last);
  }
  if (machines.size() > 1 || !requested.empty()) {
    TRY(leave_the_named(machines, requested, machine.others));
  }
  machine.has_system = !machines.empty();
  machine.system = machine.has_system ? std::move(machines.front())
                                      : Document{std::string{kSystems}, json::object{}};
  machine.baseboards = std::move(boards);
  return ok();
}

}  // namespace cupel::bmc::redfish
