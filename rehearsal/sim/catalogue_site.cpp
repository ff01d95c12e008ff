#include "rehearsal/sim/catalogue_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "inventory/load_profile.h"
#include "inventory/yaml.h"
#include "rehearsal/catalogue.h"
#include "rehearsal/sim/rack_source.h"
#include "rehearsal/sim/serve.h"
#include "rehearsal/sim/update_baseline.h"
#include "rehearsal/virtual_slurm.h"

namespace cupel::rehearsal {
namespace {

namespace fs = std::filesystem;
using Problems = std::vector<inventory::Problem>;

constexpr std::string_view kProfile = "catalogue";

/// So long in the rack's time, but never too short for a machine that computes many nodes at once.
long scaled_patience(double seconds, double speed, double least) {
  return static_cast<long>(std::ceil(std::max(seconds / speed, least)));
}

/// A controller counts its patience in our time.
std::string patience_line(double speed) {
  return fmt::format("patience: {{power_on: {}s, post: {}s, bmc_restart: {}s}}\n",
                     scaled_patience(120, speed, 20), scaled_patience(900, speed, 25),
                     scaled_patience(300, speed, 20));
}

/// A site's own profile: what it wants of its BIOS.
std::string profile_text(double speed) {
  return fmt::format(
      "profile: {}\nextends: dgx-h100\n{}"
      "bios:\n  - {{attribute: LogicalProc, value: Enabled, source: the site's choice}}\n",
      kProfile, patience_line(speed));
}

struct CatalogueSite {
  CatalogueRack planned;
  std::uint64_t seed = 1;
};

struct PlannedCatalogue {
  inventory::Profile profile{};
  std::vector<CatalogueEntry> entries{};
  std::vector<CatalogueSite> racks{};
};

/// Errors: kInvalid: a name that no entry has.
Result<void> check_only(const std::vector<std::string>& only,
                        const std::vector<CatalogueEntry>& entries) {
  std::vector<std::string> known;
  for (const auto& entry : entries) known.push_back(entry.name);
  for (const auto& name : only)
    if (std::ranges::find(known, name) == known.end())
      return Error{Code::kInvalid,
                   fmt::format("the catalogue has no such fault: '{}'{}", printable(name),
                               inventory::did_you_mean(name, std::span{std::as_const(known)}))};
  return ok();
}

Result<PlannedCatalogue> plan_catalogue(const CatalogueSource& source, Problems& problems) {
  PlannedCatalogue plan;
  auto profile =
      inventory::parse_profile(profile_text(source.speed), fmt::format("{}.yaml", kProfile),
                               inventory::ProfileSource{{}}, problems);
  if (!profile) return Error{Code::kInvalid, "the catalogue's profile"};
  plan.profile = *std::move(profile);
  const std::string name{kProfile};
  if (source.healthy_seeds > 0) {
    for (int i = 0; i < source.healthy_seeds; ++i)
      plan.racks.push_back({healthy_rack(name, source.nodes, static_cast<std::size_t>(i)),
                            source.seed + static_cast<std::uint64_t>(i)});
  } else {
    plan.entries = shipped_catalogue(plan.profile, problems);
    TRY(check_only(source.only, plan.entries));
    if (!source.only.empty())
      std::erase_if(plan.entries, [&](const auto& entry) {
        return std::ranges::find(source.only, entry.name) == source.only.end();
      });
    for (auto& rack : racks_of(plan.entries, name, source.nodes))
      plan.racks.push_back({std::move(rack), source.seed});
  }
  for (auto& each : plan.racks) {
    auto& profiles = each.planned.rack.profiles;
    profiles[name] = plan.profile;
    // What the machines are. What the controller wants of them: write_updates().
    for (const auto& node : each.planned.rack.nodes)
      if (!node.profile.empty()) profiles[node.profile] = plan.profile;
    if (each.planned.between_nodes())
      each.planned.rack.fabric = cables_of(each.planned, plan.profile);
    if (source.scenario.empty()) continue;
    if (!add_scenario(source.scenario, each.planned.rack, problems)) break;
  }
  return plan;
}

boost::json::object to_json(const CatalogueEntry& entry, const Place& place) {
  const auto expected = expected_at(entry, place);
  return {{"name", entry.name},
          {"verdict", expected.verdict},
          {"part", expected.part},
          {"check", expected.check},
          {"like", expected.like},
          {"because", expected.because},
          {"needs", to_string(entry.needs)}};
}

boost::json::object to_json(const CatalogueSite& site, const PlannedCatalogue& plan) {
  boost::json::array places;
  for (const auto& place : site.planned.places) {
    boost::json::object one{{"node", place.node}};
    if (place.entry >= 0)
      one["fault"] = to_json(plan.entries[static_cast<std::size_t>(place.entry)], place);
    if (place.neighbour) one["neighbour"] = true;
    places.push_back(std::move(one));
  }
  return {{"name", site.planned.rack.name},
          {"seed", site.seed},
          {"playbook", shipped_name(site.planned.playbook)},
          {"places", std::move(places)}};
}

/// What a controller needs beside the rack itself, in its folder.
Result<void> write_site(const PlannedCatalogue& plan, const CatalogueSite& site,
                        const CatalogueSource& source, const VirtualRack& rack) {
  const fs::path folder{source.folder};
  std::error_code failure;
  fs::create_directories(folder / "profiles", failure);
  if (failure) return Error{Code::kStorage, folder.string() + ": " + failure.message()};
  std::vector<std::string> known;
  std::set<PlannedUpdate> updates;
  for (const auto& place : site.planned.places) {
    const auto* entry =
        place.entry < 0 ? nullptr : &plan.entries[static_cast<std::size_t>(place.entry)];
    const bool unaware =
        entry != nullptr && find_fault(entry->faults, FaultKind::slurm_unaware) != nullptr;
    if (!unaware) known.push_back(place.node);
    updates.insert(entry == nullptr ? PlannedUpdate{} : entry->update);
  }
  TRY(make_scontrol(folder / "slurm", known, plan.profile));
  TRY(write_file(folder / "profiles" / fmt::format("{}.yaml", kProfile), profile_text(source.speed),
                 0644));
  auto inventory = rack.inventory_yaml() + "slurm: {partition: gpu, features: [qualified]}\n";
  if (site.planned.playbook == CataloguePlaybook::firmware) {
    TRY(write_updates(folder, updates, patience_line(source.speed), source.speed));
    inventory += kManifestLine;
  }
  return write_file(folder / "inventory.yaml", inventory, 0600);
}

SimExit stand(const PlannedCatalogue& plan, const CatalogueSite& site,
              const CatalogueSource& source) {
  const Ends ends;
  RackOptions how;
  how.speed = source.speed;
  how.seed = site.seed;
  how.folder = fs::path{source.folder} / "rack";
  how.boot = source.boot;
  auto started = VirtualRack::start(site.planned.rack, how);
  if (!started) return print_error(started.error(), SimExit::unfinished);
  auto& rack = **started;
  if (const auto written = write_site(plan, site, source, rack); !written)
    return print_error(written.error(), SimExit::unfinished);
  const auto playbook = site.planned.playbook;
  const bool turns_on =
      playbook == CataloguePlaybook::new_rack || playbook == CataloguePlaybook::os;
  if (!turns_on)
    for (const auto& node : site.planned.rack.nodes)
      rack.post(node.name, [](Machine& machine) { machine.press(Reset::on); });
  say_line({{"stands", source.rack}});
  ends.wait();
  rack.stop();
  // Where this machine could not keep up, the rack's time went slower than asked.
  say_line({{"speed", rack.pace().speed}});
  return SimExit::done;
}

}  // namespace

SimExit list_catalogue(const CatalogueSource& source) {
  Problems problems;
  const auto plan = plan_catalogue(source, problems);
  if (!problems.empty()) {
    say_line(to_json(problems));
    return SimExit::invalid;
  }
  if (!plan) {
    say_line({{"error", plan.error().what}});
    return SimExit::invalid;
  }
  boost::json::array racks;
  for (const auto& site : plan->racks) racks.push_back(to_json(site, *plan));
  say_line({{"racks", std::move(racks)}});
  return SimExit::done;
}

SimExit serve_catalogue(const CatalogueSource& source) {
  Problems problems;
  const auto plan = plan_catalogue(source, problems);
  if (!problems.empty()) return print_error(problems);
  if (!plan) return print_error(plan.error(), SimExit::invalid);
  const auto site = std::ranges::find_if(plan->racks, [&](const CatalogueSite& each) {
    return each.planned.rack.name == source.rack;
  });
  if (site != plan->racks.end()) return stand(*plan, *site, source);
  return print_error(Error{Code::kNotFound, "the catalogue takes no rack '" + source.rack + "'"},
                     SimExit::invalid);
}

}  // namespace cupel::rehearsal
