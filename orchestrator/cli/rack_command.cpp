// `cupel rack serve`: a virtual rack that stands for whoever wants to talk to it, until SIGINT or
// SIGTERM.
#include <fmt/format.h>
#include <signal.h>

#include <filesystem>

#include "base/file.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/rack_source.h"
#include "orchestrator/cli/say.h"
#include "rehearsal/machine.h"
#include "rehearsal/virtual_rack.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;

/// Blocked before any thread starts, so that sigwait() is the one place where they arrive.
class Ends {
 public:
  Ends() {
    sigemptyset(&all_);
    sigaddset(&all_, SIGINT);
    sigaddset(&all_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &all_, nullptr);
  }
  void wait() const {
    int signal = 0;
    ::sigwait(&all_, &signal);
  }

 private:
  sigset_t all_{};
};

/// "5 dgx, 3 dell".
std::string vendors_of(const rehearsal::RackSpec& rack) {
  std::map<std::string, int> count;
  for (const auto& node : rack.nodes) ++count[node.bmc.vendor];
  std::string text;
  for (const auto& [vendor, nodes] : count)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", nodes, vendor);
  return text;
}

void tell(const rehearsal::RackSpec& spec, const RackSource& source,
          const rehearsal::VirtualRack& rack) {
  constexpr std::size_t kMostShown = 16, kFewShown = 4;
  const fs::path folder{source.folder};
  say("rack {} stands: {} nodes, BMCs {}; {} times faster than life, seed {}\n", spec.name,
      spec.nodes.size(), vendors_of(spec), *spec.speed, *spec.seed);
  if (!source.inventory.empty())
    say("in the place of {}: at loopback addresses, with secrets of its own; none of its addresses "
        "is touched\n",
        source.inventory);
  say("its inventory is {}\n\n", (folder / "inventory.yaml").string());
  const auto doors = rack.doors();
  const auto shown = doors.size() > kMostShown ? kFewShown : doors.size();
  for (std::size_t i = 0; i < shown; ++i) say("{}", rehearsal::doors_text(doors[i], folder));
  if (shown < doors.size())
    say("# and {} more in {}\n", doors.size() - shown, (folder / "doors.txt").string());
  std::fflush(stdout);
}

/// One line where this machine was too slow, for whoever wonders about the time it took.
void tell_pace(const rehearsal::Pace& pace) {
  constexpr double kEnough = 0.9;
  if (pace.speed >= pace.wanted * kEnough) return;
  say(stderr,
      "the rack's time passed {:.0f} times faster than life, not {:.0f}: it waited for this "
      "machine\n",
      pace.speed, pace.wanted);
}

Exit serve(const Context& context, RackSource source) {
  std::vector<inventory::Problem> problems;
  const auto spec = load_rack(source, problems);
  if (!spec) return complain(context, problems);
  const auto ready = choose_folder(source, "cupel-rack");
  if (!ready) return complain(context, ready.error(), Exit::invalid);
  const Ends ends;
  rehearsal::RackOptions how;
  how.speed = *spec->speed;
  how.seed = *spec->seed;
  how.folder = source.folder;
  how.slurm = source.slurm;
  auto started = rehearsal::VirtualRack::start(*spec, how);
  if (!started) return complain(context, started.error(), Exit::unfinished);
  auto& rack = **started;
  auto written = copy_profiles(source);
  if (written)
    written = write_file(fs::path{source.folder} / "inventory.yaml", rack.inventory_yaml(), 0600);
  if (written) written = rehearsal::write_doors(rack.doors(), source.folder);
  if (!written) return complain(context, written.error(), Exit::unfinished);
  if (source.on)
    for (const auto& node : spec->nodes)
      rack.post(node.name,
                [](rehearsal::Machine& machine) { machine.press(rehearsal::Reset::on); });
  tell(*spec, source, rack);
  ends.wait();
  rack.stop();
  tell_pace(rack.pace());
  return Exit::passed;
}

}  // namespace

void add_rack(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("rack", "a virtual rack, left standing for other clients");
  command->require_subcommand(1);
  auto* stand = command->add_subcommand(
      "serve", "stands until SIGINT or SIGTERM, and says how each node is reached");
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
