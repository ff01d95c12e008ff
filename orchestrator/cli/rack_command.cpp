// `cupel rack serve`: a virtual rack that stands for whoever wants to talk to it, until SIGINT or
// SIGTERM. The rack itself is cupel-sim.
#include "orchestrator/cli/commands.h"
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

CommandRow rack_command(Context& context) {
  auto source = std::make_shared<RackSource>();
  CommandRow serve_row{"serve",
                       "serves until SIGINT or SIGTERM, and prints the addresses of each node"};
  serve_row.footer =
      "Examples: cupel rack serve h100-8\n"
      "          cupel rack serve --inventory site.yaml --scenario quirks --folder ~/rack";
  serve_row.options = joined<OptionRow>({{{"RACK",
                                           &source->rack,
                                           "a file, or a shipped one by its name",
                                           {.excludes = {"--inventory"}}}},
                                         rack_options(*source)});
  serve_row.run = [&context, source] { return serve(context, *source); };
  CommandRow row{"rack", "a virtual rack for other clients"};
  row.subcommands = {serve_row};
  return row;
}

}  // namespace cupel::cli
