#include "rehearsal/sim/serve.h"

#include <filesystem>
#include <map>

#include "base/file.h"
#include "rehearsal/machine.h"

namespace cupel::rehearsal {
namespace {

namespace fs = std::filesystem;

template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  const auto text = fmt::format(format, std::forward<Values>(values)...);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

/// "5 dgx, 3 dell".
std::string vendors_of(const RackSpec& rack) {
  std::map<std::string, int> count;
  for (const auto& node : rack.nodes) ++count[node.bmc.vendor];
  std::string text;
  for (const auto& [vendor, nodes] : count)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", nodes, vendor);
  return text;
}

void tell(const RackSpec& spec, const RackSource& source, const VirtualRack& rack) {
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
  for (std::size_t i = 0; i < shown; ++i) say("{}", doors_text(doors[i], folder));
  if (shown < doors.size())
    say("# and {} more in {}\n", doors.size() - shown, (folder / "doors.txt").string());
  std::fflush(stdout);
}

/// One line where this machine was too slow, for whoever wonders about the time it took.
void tell_pace(const Pace& pace) {
  constexpr double kEnough = 0.9;
  if (pace.speed >= pace.expected * kEnough) return;
  const auto line = fmt::format(
      "the rack's time passed {:.0f} times faster than life, not {:.0f}: it waited for this "
      "machine\n",
      pace.speed, pace.expected);
  std::fputs(line.c_str(), stderr);
}

Result<void> write_papers(const RackSource& source, const VirtualRack& rack) {
  TRY(copy_profiles(source));
  TRY(write_file(fs::path{source.folder} / "inventory.yaml", rack.inventory_yaml(), 0600));
  return write_doors(rack.doors(), source.folder);
}

}  // namespace

Ends::Ends() {
  sigemptyset(&all_);
  sigaddset(&all_, SIGINT);
  sigaddset(&all_, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &all_, nullptr);
}

void Ends::wait() const {
  int signal = 0;
  ::sigwait(&all_, &signal);
}

SimExit serve_rack(const RackSource& source) {
  std::vector<inventory::Problem> problems;
  const auto spec = load_rack(source, problems);
  if (!spec) return print_error(problems);
  const Ends ends;
  RackOptions how;
  how.speed = *spec->speed;
  how.seed = *spec->seed;
  how.folder = source.folder;
  how.slurm = source.slurm;
  how.boot = source.boot;
  auto started = VirtualRack::start(*spec, how);
  if (!started) return print_error(started.error(), SimExit::unfinished);
  auto& rack = **started;
  if (const auto written = write_papers(source, rack); !written)
    return print_error(written.error(), SimExit::unfinished);
  if (source.on)
    for (const auto& node : spec->nodes)
      rack.post(node.name, [](Machine& machine) { machine.press(Reset::on); });
  tell(*spec, source, rack);
  ends.wait();
  rack.stop();
  tell_pace(rack.pace());
  return SimExit::done;
}

SimExit check_rack(const RackSource& source) {
  std::vector<inventory::Problem> problems;
  const auto spec = load_rack(source, problems);
  if (!spec) {
    say_line(to_json(problems));
    return SimExit::invalid;
  }
  say_line({{"rack",
             {{"name", spec->name},
              {"nodes", spec->nodes.size()},
              {"speed", *spec->speed},
              {"seed", *spec->seed}}}});
  return SimExit::done;
}

}  // namespace cupel::rehearsal
