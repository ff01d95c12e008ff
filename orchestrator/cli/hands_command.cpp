// `cupel hands`: what needs a person, in the order in which one walks past it, with lights.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/for_each_of.h"
#include "base/text.h"
#include "inventory/load.h"
#include "orchestrator/cli/plan_options.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/terminal.h"
#include "orchestrator/cli/world.h"
#include "orchestrator/report/hands.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kWidth = 16;
constexpr std::chrono::seconds kPatience{30};
constexpr std::size_t kLightsLimit = 4u << 20;

using Names = std::set<std::string>;

/// The nodes whose lights we have turned on: beside the store, one name a line.
std::filesystem::path lights_file(const Context& context) { return context.state / "lights"; }

Names lit_before(const Context& context) {
  Names names;
  const auto text = read_file(lights_file(context), kLightsLimit);
  if (!text) return names;
  std::istringstream lines{text.assume_value()};
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) names.insert(line);
  return names;
}

Result<void> keep_lit(const Context& context, const Names& names) {
  std::string text;
  for (const auto& name : names) text += name + "\n";
  return write_file(lights_file(context), text);
}

struct Light {
  const inventory::Node* node = nullptr;
  bool on = false;
};

Task<Result<void>> turn(World& world, const Light& light) {
  const auto bmc = world.bmc(*light.node);
  const auto done = co_await bmc->locate(light.on, Deadline::in(kPatience));
  co_await bmc->log_out();
  if (!done) co_return done.assume_error();
  co_return ok();
}

/// On where somebody has to go, off where we lit one and nobody has to any more. A light that fails
/// is said, and is no reason to show no list.
void turn_lights(const Context& context, World& world, const inventory::Inventory& inventory,
                 const Names& wanted) {
  auto lit = lit_before(context);
  std::vector<Light> lights;
  const auto add = [&](const std::string& name, bool on) {
    if (const auto* node = inventory.node(name)) lights.push_back({node, on});
  };
  for (const auto& name : wanted) add(name, true);
  for (const auto& name : lit)
    if (!wanted.contains(name)) add(name, false);
  const auto verb = [&world](const Light& light) { return turn(world, light); };
  auto all = for_each_of<void>(lights, kWidth, verb);
  const auto done = run_to_end(world.io(), std::move(all));
  for (std::size_t i = 0; i < done.size(); ++i) {
    const auto& light = lights[i];
    if (!done[i]) {
      say(stderr, "cupel: {}: its light stays {}: {}\n", light.node->name, light.on ? "off" : "on",
          printable(done[i].assume_error().what));
      continue;
    }
    if (light.on)
      lit.insert(light.node->name);
    else
      lit.erase(light.node->name);
  }
  const auto kept = keep_lit(context, lit);
  if (!kept) say(stderr, "cupel: {}\n", kept.assume_error().what);
}

Result<std::vector<report::Hand>> hands_in(const store::Store& store, const store::Run& run,
                                           const Planned* planned) {
  TRY(const auto summary, report::summarize(store, run.id));
  engine::RunState state;
  if (planned != nullptr) {
    state = engine::initial_state(planned->plan);
    TRY(const auto events, store.events(run.id));
    for (const auto& event : events) apply(state, event);
  }
  return report::hands_of(summary, state);
}

Exit hands(Context& context, engine::RunId named, bool locate) {
  auto opened = store::Store::open(context.state);
  if (!opened) return complain(context, opened.assume_error(), Exit::unfinished);
  auto& store = *opened.assume_value();
  const auto run = meant_run(store, named);
  if (!run) return complain(context, run.assume_error(), Exit::invalid);
  Exit exit = Exit::passed;
  const auto planned = planned_again_or_complain(context, run.assume_value(), exit);
  if (!planned && locate) return exit;
  const auto found = hands_in(store, run.assume_value(), planned.get());
  if (!found) return complain(context, found.assume_error(), Exit::unfinished);
  const auto& all = found.assume_value();
  if (locate) {
    Names wanted;
    for (const auto& hand : all)
      if (hand.at_the_rack && !hand.node.empty()) wanted.insert(hand.node);
    World world{planned->inventory, store};
    turn_lights(context, world, planned->inventory, wanted);
  }
  if (context.json) {
    std::printf("%s\n", boost::json::serialize(report::to_json(all)).c_str());
  } else if (all.empty()) {
    say("run {}: nothing needs a person\n", run.assume_value().id);
  } else {
    std::fputs(report::to_text(all, terminal_width()).c_str(), stdout);
  }
  return all.empty() ? Exit::passed : Exit::failed;
}

}  // namespace

void add_hands(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("hands", "what needs a person: where to go, what to do there");
  command->footer(
      "Examples: cupel hands\n"
      "          cupel hands 12 --locate\n"
      "Exit codes: 0 nothing needs a person, 1 something does.");
  auto run = std::make_shared<engine::RunId>(0);
  auto locate = std::make_shared<bool>(false);
  command->add_option("RUN", *run, "its number; the newest if not said");
  command->add_flag("--locate", *locate,
                    "turn on the lights of these machines, and off those that are done");
  add_json_flag(*command, context);
  command->callback([&context, &exit, run, locate] { exit = hands(context, *run, *locate); });
}

}  // namespace cupel::cli
