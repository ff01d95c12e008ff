// `cupel rehearse`: tomorrow's playbook tonight. The rack is a process of its own, so that what is
// rehearsed is the controller as it will be: same code, same memory, real sockets between.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "orchestrator/cli/catalogue_run.h"
#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/rack_source.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/store/purpose.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  bool catalogue = false;
  int healthy = 0;  // racks without a fault
  std::vector<std::string> only{};
  std::size_t rack_nodes = 24;
  std::string playbook{};
  std::vector<std::string> settings{};
  std::string nodes = "all";
  RackSource source{};
};

/// The rack's process, ended with this one however that ends.
class RackProcess {
 public:
  RackProcess() = default;
  RackProcess(const RackProcess&) = delete;
  RackProcess& operator=(const RackProcess&) = delete;
  ~RackProcess() {
    if (told_ >= 0) ::close(told_);
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }

  /// True once the rack has said that it stands.
  bool start(const RackSource& source, const rehearsal::RackSpec& rack) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    auto words = words_for(source, rack);
    std::vector<char*> line;
    for (auto& word : words) line.push_back(word.data());
    line.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      // A Ctrl-C on the terminal is for the controller; it still needs the rack to clean up.
      ::setsid();
      ::dup2(ends[1], STDOUT_FILENO);
      ::execv("/proc/self/exe", line.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    // The rest of what it tells stays in the pipe.
    told_ = ends[0];
    char first = 0;
    return ::read(told_, &first, 1) == 1;
  }

 private:
  static std::vector<std::string> words_for(const RackSource& source,
                                            const rehearsal::RackSpec& rack) {
    std::vector<std::string> words{"cupel", "rack", "serve", "--folder", source.folder};
    const auto add = [&](std::string option, const std::string& value) {
      if (!value.empty()) words.insert(words.end(), {std::move(option), value});
    };
    if (source.inventory.empty())
      words.push_back(source.rack);
    else
      add("--inventory", source.inventory);
    add("--scenario", source.scenario);
    add("--slurm", source.slurm);
    add("--speed", fmt::format("{}", *rack.speed));
    add("--seed", std::to_string(*rack.seed));
    if (source.on) words.emplace_back("--on");
    return words;
  }

  pid_t pid_ = -1;
  int told_ = -1;
};

/// The rack's time runs faster than ours; what a person is told to wait for is ours.
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

/// The rack, if there is nothing wrong with it, nor with the playbook: said before anything stands.
/// The machines are on already where the playbook is for such as are.
std::optional<rehearsal::RackSpec> checked(const Context& context, Options& options, Exit& exit) {
  const auto arguments = arguments_of(options.settings);
  if (!arguments) {
    exit = complain(context, arguments.error(), Exit::invalid);
    return std::nullopt;
  }
  std::vector<inventory::Problem> problems;
  const auto playbook = playbooks::load_playbook(options.playbook, problems, *arguments);
  options.source.on = options.source.on || (playbook && !turns_on(*playbook));
  auto rack = load_rack(options.source, problems);
  if (problems.empty()) return rack;
  exit = complain(context, problems);
  return std::nullopt;
}

Exit rehearse_all(const Context& context, const Options& options) {
  CatalogueOptions how{.folder = options.source.folder};
  how.speed = options.source.speed.value_or(kUsualSpeed);
  how.seed = options.source.seed.value_or(kUsualSeed);
  how.nodes = options.rack_nodes;
  how.only = options.only;
  how.healthy_seeds = options.healthy;
  return rehearse_catalogue(context, how);
}

Exit rehearse(Context& context, Options options) {
  const bool many = options.catalogue || options.healthy > 0;
  if (many != options.playbook.empty())
    return complain(
        context, Error{Code::kInvalid, "rehearse needs a PLAYBOOK, or --catalogue, or --healthy"},
        Exit::invalid);
  auto exit = Exit::passed;
  auto& source = options.source;
  std::optional<rehearsal::RackSpec> rack;
  if (!many) rack = checked(context, options, exit);
  if (!many && !rack) return exit;
  const auto ready = choose_folder(source, "cupel-rehearsal");
  if (!ready) return complain(context, ready.error(), Exit::invalid);
  if (many) return rehearse_all(context, options);
  // A rehearsal is no record of real machines: its journal lies with the rack, or where --state
  // says, and never where $CUPEL_STATE does.
  if (!context.state_named) context.state = fs::path{source.folder} / "state";
  const auto kept = store::keep_for_rehearsals(context.state);
  if (!kept) return complain(context, kept.error(), Exit::invalid);
  RackProcess process;
  if (!process.start(source, *rack))
    return complain(context, Error{Code::kFailed, "the virtual rack did not start"}, Exit::invalid);
  if (!context.json && !source.inventory.empty())
    say("{} virtual nodes in the place of {}'s, at loopback addresses: none of its own is "
        "touched\n",
        rack->nodes.size(), source.inventory);
  if (!context.json) say("{}", rehearsal_line(context.state));
  PlanOptions plan;
  plan.playbook = options.playbook;
  plan.inventory = (fs::path{source.folder} / "inventory.yaml").string();
  plan.nodes = options.nodes;
  plan.settings = options.settings;
  auto planned = planned_or_complain(context, plan, exit);
  if (!planned) return exit;
  expect_faster(planned->plan, *rack->speed);
  exit = execute_new(context, std::move(planned));
  if (!context.json)
    say("rehearsed in {}: cupel --state {} status\n", source.folder, context.state.string());
  return exit;
}

}  // namespace

void add_rehearse(CLI::App& app, Context& context, Exit& exit) {
  auto* command =
      app.add_subcommand("rehearse", "run a playbook against a virtual rack with planted faults");
  command->footer(
      "Examples: cupel rehearse new-rack\n"
      "          cupel rehearse --catalogue\n"
      "          cupel rehearse burn-in-72h --rack h100-64 --speed 3000\n"
      "          cupel rehearse new-rack --inventory site.yaml --scenario quirks --seed 7");
  auto options = std::make_shared<Options>();
  command->add_option("PLAYBOOK", options->playbook, "a file, or a shipped one by its name");
  auto* rack =
      command->add_option("--rack", options->source.rack, "what stands in it and what is broken");
  add_rack_options(*command, options->source);
  command->get_option("--inventory")->excludes(rack);
  command->add_option("-n,--nodes", options->nodes, "as with run --nodes");
  add_set_option(*command, options->settings);
  auto* all = command->add_flag("--catalogue", options->catalogue,
                                "plant every fault of the catalogue, and tell what was found");
  command
      ->add_option("--healthy", options->healthy,
                   "so many racks without any fault, each of another seed: nobody may be blamed")
      ->check(CLI::Range(1, 1000))
      ->excludes(all);
  command->add_option("--only", options->only, "of the catalogue, these faults")->needs(all);
  command->add_option("--rack-nodes", options->rack_nodes, "nodes of each such rack [24]")
      ->check(CLI::Range(4, 250));
  add_json_flag(*command, context);
  command->callback([&context, &exit, options] { exit = rehearse(context, *options); });
}

}  // namespace cupel::cli
