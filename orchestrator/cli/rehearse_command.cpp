// `cupel rehearse`: tomorrow's playbook tonight. The rack is a process of its own, so that what is
// rehearsed is the controller as it will be: same code, same memory, real sockets between.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "inventory/shipped.h"
#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/say.h"
#include "rehearsal/virtual_rack.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string playbook{};
  std::vector<std::string> settings{};
  std::string rack = "rehearsal/racks/h100-8.yaml";
  std::string folder{};
  std::string slurm{};  // SLURM_CONF of a Slurm that knows the nodes
  std::string nodes = "all";
  double speed = 60;
  std::uint64_t seed = 1;
  bool serve = false;
};

/// A rack file, or a shipped one by its name.
Result<std::string> rack_text(const std::string& name) {
  constexpr std::size_t kLimit = 1u << 20;
  auto text = read_file(name, kLimit);
  if (text) return text;
  const auto* shipped =
      inventory::shipped_file("rehearsal/racks/" + fs::path{name}.stem().string() + ".yaml");
  if (shipped == nullptr) return text;
  return std::string{shipped->text};
}

std::string slurm_section(const std::string& configuration) {
  if (configuration.empty()) return {};
  return fmt::format("slurm: {{partition: gpu, features: [qualified], configuration: \"{}\"}}\n",
                     fs::absolute(configuration).string());
}

Exit serve(const Context& context, const Options& options) {
  std::vector<inventory::Problem> problems;
  const auto text = rack_text(options.rack);
  if (!text) return complain(context, text.assume_error(), Exit::invalid);
  auto spec = rehearsal::parse_rack(text.assume_value(), options.rack, problems);
  if (!spec) return complain(context, problems);
  auto profile = inventory::ProfileSource{fs::path{options.rack}.parent_path() / "profiles"}.load(
      spec->profile, problems);
  if (!profile) {
    problems.push_back({{options.rack, 0, 0}, "there is no profile '" + spec->profile + "'"});
    return complain(context, problems);
  }
  // Blocked before any thread starts, so that sigwait() below is the one place where they arrive.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  rehearsal::RackOptions how;
  how.speed = options.speed;
  how.seed = options.seed;
  how.folder = options.folder;
  auto rack = rehearsal::VirtualRack::start(*spec, *profile, how);
  if (!rack) return complain(context, rack.assume_error(), Exit::unfinished);
  const auto file = fs::path{options.folder} / "inventory.yaml";
  const auto inventory = rack.assume_value()->inventory_yaml() + slurm_section(options.slurm);
  const auto written = write_file(file, inventory, 0600);
  if (!written) return complain(context, written.assume_error(), Exit::unfinished);
  say("rack {} stands; its inventory is {}\n", spec->name, file.string());
  std::fflush(stdout);
  int signal = 0;
  ::sigwait(&ends, &signal);
  rack.assume_value()->stop();
  return Exit::passed;
}

/// The rack's process, ended with this one however that ends.
class RackProcess {
 public:
  RackProcess() = default;
  RackProcess(const RackProcess&) = delete;
  RackProcess& operator=(const RackProcess&) = delete;
  ~RackProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }

  /// True once the rack has said that it stands.
  bool start(const Options& options) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    const auto speed = fmt::format("{}", options.speed);
    const auto seed = std::to_string(options.seed);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      // A Ctrl-C on the terminal is for the controller; it still needs the rack to clean up.
      ::setsid();
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl("/proc/self/exe", "cupel", "rehearse", "--serve", "--rack", options.rack.c_str(),
              "--folder", options.folder.c_str(), "--speed", speed.c_str(), "--seed", seed.c_str(),
              "--slurm", options.slurm.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    char first = 0;
    const bool stands = ::read(ends[0], &first, 1) == 1;
    ::close(ends[0]);
    return stands;
  }

 private:
  pid_t pid_ = -1;
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

Exit rehearse(Context& context, Options options, bool state_named) {
  std::string made = (fs::temp_directory_path() / "cupel-rehearsal-XXXXXX").string();
  if (options.folder.empty()) {
    if (::mkdtemp(made.data()) == nullptr)
      return complain(context, Error{Code::kStorage, "cannot make a folder in " + made},
                      Exit::unfinished);
    options.folder = made;
  }
  options.folder = fs::absolute(options.folder).string();
  if (options.serve) return serve(context, options);
  if (options.playbook.empty())
    return complain(context, Error{Code::kInvalid, "rehearse needs a PLAYBOOK, or --serve"},
                    Exit::invalid);
  // A rehearsal is no record of real machines: its journal lies with the rack, unless told
  // otherwise.
  if (!state_named) context.state = fs::path{options.folder} / "state";
  RackProcess rack;
  if (!rack.start(options))
    return complain(context, Error{Code::kFailed, "the virtual rack did not start"}, Exit::invalid);
  PlanOptions plan;
  plan.playbook = options.playbook;
  plan.inventory = (fs::path{options.folder} / "inventory.yaml").string();
  plan.nodes = options.nodes;
  plan.settings = options.settings;
  Exit exit = Exit::passed;
  auto planned = planned_or_complain(context, plan, exit);
  if (!planned) return exit;
  expect_faster(planned->plan, options.speed);
  exit = execute_new(context, std::move(planned));
  if (!context.json)
    say("rehearsed in {}: cupel --state {} status\n", options.folder, context.state.string());
  return exit;
}

}  // namespace

void add_rehearse(CLI::App& app, Context& context, Exit& exit) {
  auto* command =
      app.add_subcommand("rehearse", "run a playbook against a virtual rack with planted faults");
  command->footer(
      "Examples: cupel rehearse new-rack\n"
      "          cupel rehearse playbooks/new-rack.yaml --rack rehearsal/racks/h100-8.yaml\n"
      "          cupel rehearse --serve --folder /tmp/rack    (leaves the rack standing)");
  auto options = std::make_shared<Options>();
  command->add_option("PLAYBOOK", options->playbook, "a file, or a shipped one by its name");
  command->add_option("--rack", options->rack, "what stands in it and what is broken");
  command->add_option("--folder", options->folder, "keys, certificates, inventory and journal");
  command->add_option("--slurm", options->slurm, "slurm.conf of a Slurm that knows the nodes");
  command->add_option("-n,--nodes", options->nodes, "as with run --nodes");
  add_set_option(*command, options->settings);
  command->add_option("--speed", options->speed, "so many times faster than life")
      ->check(CLI::Range(0.1, 100000.0));
  command->add_option("--seed", options->seed, "of serial numbers and natural spread");
  command->add_flag("--serve", options->serve, "only the rack, until SIGTERM");
  add_json_flag(*command, context);
  command->callback([&app, &context, &exit, options] {
    const bool named =
        app.get_option("--state")->count() > 0 || std::getenv("CUPEL_STATE") != nullptr;
    exit = rehearse(context, *options, named);
  });
}

}  // namespace cupel::cli
