// `cupel rehearse`: tomorrow's playbook tonight. The rack is a program of its own, cupel-sim, so
// that what is rehearsed is the controller as it will be: same code, same memory, real sockets
// between.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/text.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/catalogue_run.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/rack_source.h"
#include "orchestrator/cli/rehearsal_images.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/sim_program.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/store/purpose.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  bool catalogue = false, weights = false;
  int healthy = 0;  // racks without a fault
  std::vector<std::string> only{};
  std::size_t rack_nodes = 24;
  std::string playbook{};
  std::vector<std::string> settings{};
  std::string nodes = "all";
  bool empty_disks = false;
  RackSource source{};
};

/// What cupel-sim says of a rack before it stands.
struct CheckedRack {
  std::size_t nodes = 0;
  double speed = kUsualSpeed;
};

/// Its problems join those that are there. Nothing on any, or where cupel-sim says something else.
Result<std::optional<CheckedRack>> check_rack(const Context& context, const RackSource& source,
                                              std::vector<inventory::Problem>& problems) {
  TRY(const auto answer, ask_sim(context.programs, words_for("check", source)));
  for (auto& problem : problems_of(answer)) problems.push_back(std::move(problem));
  if (!problems.empty()) return std::nullopt;
  const auto* rack = answer.as_object().if_contains("rack");
  const auto* nodes = rack == nullptr ? nullptr : rack->as_object().if_contains("nodes");
  const auto* speed = rack == nullptr ? nullptr : rack->as_object().if_contains("speed");
  if (nodes == nullptr || speed == nullptr)
    return Error{Code::kMalformed, "cupel-sim is of another version than cupel: install both anew"};
  return CheckedRack{nodes->to_number<std::size_t>(), speed->to_number<double>()};
}

/// The rack's time runs faster than ours; what a person is asked to wait for is ours.
void expect_faster(playbooks::Plan& plan, double speed) {
  using Steps = std::vector<playbooks::PlannedStep>;
  std::map<const Steps*, std::shared_ptr<const Steps>> faster;
  for (auto& node : plan.nodes) {
    auto& known = faster[node.steps.get()];
    if (!known) {
      auto steps = std::make_shared<Steps>(*node.steps);
      for (auto& step : *steps)
        step.expected = std::chrono::ceil<std::chrono::seconds>(step.expected / speed);
      known = std::move(steps);
    }
    node.steps = known;
  }
}

/// Whether some step of it turns machines on.
bool turns_on(const playbooks::Playbook& playbook) {
  using playbooks::StepKind;
  return std::ranges::any_of(playbook.steps, [](const auto& step) {
    return step.kind == StepKind::power_on || step.kind == StepKind::power_cycle;
  });
}

/// Whether it is for machines that have no operating system: it brings one, and turns nothing on.
bool brings_os(const playbooks::Playbook& playbook) {
  const bool os = std::ranges::any_of(
      playbook.steps, [](const auto& step) { return step.kind == playbooks::StepKind::os; });
  return os && !turns_on(playbook);
}

/// The rack, if there is nothing wrong with it, nor with the playbook: said before anything stands.
/// The machines are on already where the playbook is for such as are.
OrExit<CheckedRack> checked(const Context& context, Options& options) {
  const auto arguments = arguments_of(options.settings);
  if (!arguments) return print_error(context, arguments.error(), Exit::invalid);
  std::vector<inventory::Problem> problems;
  const auto playbook = playbooks::load_playbook(options.playbook, problems, *arguments);
  options.empty_disks = options.empty_disks || (playbook && brings_os(*playbook));
  options.source.on =
      options.source.on || (playbook && !turns_on(*playbook) && !options.empty_disks);
  const auto rack = check_rack(context, options.source, problems);
  if (rack && *rack && problems.empty()) return **rack;
  return rack ? print_error(context, problems) : print_error(context, rack.error(), Exit::invalid);
}

Exit rehearse_all(const Context& context, const Options& options) {
  const auto arguments = arguments_of(options.settings);
  if (!arguments) return print_error(context, arguments.error(), Exit::invalid);
  CatalogueOptions how{.folder = options.source.folder};
  how.programs = context.programs;
  how.speed = options.source.speed.value_or(kUsualSpeed);
  how.seed = options.source.seed.value_or(kUsualSeed);
  how.nodes = options.rack_nodes;
  how.only = options.only;
  how.healthy_seeds = options.healthy;
  how.scenario = options.source.scenario;
  how.settings = options.settings;
  how.weights = options.weights;
  return rehearse_catalogue(context, how);
}

Exit rehearse(Context& context, Options options) {
  const bool many = options.catalogue || options.healthy > 0;
  if (many != options.playbook.empty())
    return print_error(
        context, Error{Code::kInvalid, "rehearse needs a PLAYBOOK, or --catalogue, or --healthy"},
        Exit::invalid);
  auto& source = options.source;
  std::optional<CheckedRack> rack;
  if (!many) {
    TRY(rack, checked(context, options));
  }
  const auto ready = choose_folder(source, "cupel-rehearsal");
  if (!ready) return print_error(context, ready.error(), Exit::invalid);
  if (many) return rehearse_all(context, options);
  // A rehearsal is no record of real machines: its journal lies with the rack, or where --state
  // says, and never where $CUPEL_STATE does.
  context.state_chosen = !context.state_named;
  if (context.state_chosen) context.state = fs::path{source.folder} / "state";
  const auto kept = store::keep_for_rehearsals(context.state);
  if (!kept) return print_error(context, kept.error(), Exit::invalid);
  if (options.empty_disks) {
    const auto address = free_boot_address();
    if (!address) return print_error(context, address.error(), Exit::unfinished);
    source.boot = *address;
  }
  RackProcess process;
  const auto stands = process.start(context.programs, words_for("serve", source));
  if (!stands) return print_error(context, stands.error(), Exit::invalid);
  if (options.empty_disks) {
    const auto added = add_rehearsal_images(context.programs, source.folder);
    if (!added) return print_error(context, added.error(), Exit::invalid);
  }
  if (!context.json && !source.inventory.empty())
    say("{} virtual nodes in the place of {}'s, at loopback addresses: none of its own is "
        "touched\n",
        rack->nodes, source.inventory);
  if (!context.json) say("{}", rehearsal_line(context.state));
  PlanOptions plan;
  plan.playbook = options.playbook;
  plan.inventory = (fs::path{source.folder} / "inventory.yaml").string();
  plan.nodes = options.nodes;
  plan.settings = options.settings;
  TRY(auto planned, planned_or_exit(context, plan));
  expect_faster(planned->plan, rack->speed);
  const auto exit = execute_new(context, std::move(planned));
  if (!context.json)
    say("rehearsed in {}: {}\n", source.folder,
        cupel_command("cupel status", context.state.string()));
  return exit;
}

}  // namespace

CommandRow rehearse_command(Context& context) {
  auto options = std::make_shared<Options>();
  CommandRow row{"rehearse", "run a playbook against a virtual rack with planted faults"};
  row.footer =
      "Examples: cupel rehearse new-rack\n"
      "          cupel rehearse os --rack h100-64\n"
      "          cupel rehearse new-rack --empty-disks\n"
      "          cupel rehearse --catalogue\n"
      "          cupel rehearse --healthy 20 --rack-nodes 64\n"
      "          cupel rehearse burn-in-72h --rack h100-64 --speed 3000\n"
      "          cupel rehearse new-rack --inventory site.yaml --scenario quirks --seed 7";
  row.options = joined<OptionRow>(
      {{{"PLAYBOOK", &options->playbook, "a file, or a shipped one by its name"},
        {"--rack",
         &options->source.rack,
         "what stands in it and what is broken",
         {.excludes = {"--inventory"}}}},
       rack_options(options->source),
       {{"-n,--nodes", &options->nodes, "as with run --nodes"},
        set_option(options->settings),
        {"--empty-disks", &options->empty_disks,
         "the machines have no OS; a small virtual one is served and installed"},
        {"--wait-for-repair",
         [&context](const std::string& text) {
           context.run.repair_patience = *inventory::duration_of(text);
         },
         "as with run --wait-for-repair [15m]",
         {.check =
              [](const std::string& text) {
                return inventory::duration_of(text) ? std::string{}
                                                    : "not a time such as 90s: " + text;
              }}},
        on_halt_option(context),
        {"--catalogue",
         &options->catalogue,
         "plant each fault of the catalogue, and report what was found",
         {.excludes = {"--scenario"}}},
        {"--healthy",
         &options->healthy,
         "this many racks without faults, each with another seed; any finding is a false positive",
         {.range = NumberRange{1, 1000}, .excludes = {"--catalogue"}}},
        {"--only", &options->only, "of the catalogue, these faults", {.needs = {"--catalogue"}}},
        {"--weights",
         &options->weights,
         "also weigh what was found by how often parts fail in fleets",
         {.needs = {"--catalogue"}}},
        {"--rack-nodes",
         &options->rack_nodes,
         "nodes of each such rack [24]",
         {.range = NumberRange{4, 250}}},
        json_flag(context)}});
  row.run = [&context, options] { return rehearse(context, *options); };
  return row;
}

}  // namespace cupel::cli
