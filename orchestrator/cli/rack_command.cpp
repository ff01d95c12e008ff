// `cupel rack serve`: a virtual rack that stands for whoever wants to talk to it, until SIGINT or
// SIGTERM. The rack itself is cupel-sim.
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/rack_source.h"
#include "orchestrator/cli/sim_program.h"

namespace cupel::cli {
namespace {

Exit serve(const Context& context, RackSource source) {
  const auto sim = find_sim(context.programs);
  if (!sim) return complain(context, sim.error(), Exit::invalid);
  auto answer = ask_sim(context.programs, words_for("check", source));
  if (!answer) return complain(context, answer.error(), Exit::unfinished);
  const auto problems = problems_of(*answer);
  if (!problems.empty()) return complain(context, problems);
  const auto ready = choose_folder(source, "cupel-rack");
  if (!ready) return complain(context, ready.error(), Exit::invalid);
  return complain(context, become_sim(context.programs, words_for("serve", source)),
                  Exit::unfinished);
}

}  // namespace

void add_rack(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("rack", "a virtual rack for other clients");
  command->require_subcommand(1);
  auto* stand = command->add_subcommand(
      "serve", "serves until SIGINT or SIGTERM, and prints the addresses of each node");
  stand->footer(
      "Examples: cupel rack serve h100-8\n"
      "          cupel rack serve --inventory site.yaml --scenario quirks --folder ~/rack");
  auto source = std::make_shared<RackSource>();
  auto* rack = stand->add_option("RACK", source->rack, "a file, or a shipped one by its name");
  add_rack_options(*stand, *source);
  stand->get_option("--inventory")->excludes(rack);
  stand->callback([&context, &exit, source] { exit = serve(context, *source); });
}

}  // namespace cupel::cli
