// A whole virtual rack in one process, and what it costs: time to start, memory, and how long it
// takes to ask every BMC for its power, by Redfish and by IPMI, and to run a command on every node
// once all are up, with the controller's own clients.
// Clients and rack share this machine. Run it with nothing else on it:
//
//   rack_bench [NODES]       by default 1000
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <latch>

#include "base/file.h"
#include "base/for_each_of.h"
#include "base/text.h"
#include "bmc/ipmi/ipmi.h"
#include "bmc/redfish/redfish.h"
#include "inventory/load.h"
#include "orchestrator/ssh/ssh.h"
#include "rehearsal/virtual_rack.h"
#include "tests/bench/cpu_time.h"

namespace {

using namespace cupel;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr double kMostToStart = 15, kMostToAsk = 10, kMostToLogIn = 30;  // s
constexpr double kMostMemory = 4096;                                     // MiB

std::optional<rehearsal::RackSpec> spec_of(int nodes) {
  std::string text = fmt::format("rack: b01\nprofile: dgx-h100\nnodes: b01-n[0001-{:04}]\n", nodes);
  for (const auto& [key, network] : {std::pair{"bmc", 80}, {"ssh", 81}}) {
    text += fmt::format("{}: \"", key);
    for (int first = 0; first < nodes; first += 250)
      text += fmt::format("{}127.{}.{}.[1-{}]", first == 0 ? "" : ",", network, first / 250,
                          std::min(250, nodes - first));
    text += "\"\n";
  }
  std::vector<inventory::Problem> problems;
  auto spec = rehearsal::parse_rack(text, "bench.yaml", problems);
  if (!spec) fmt::print(stderr, "{}", to_string(problems));
  return spec;
}

/// The rack's process: says when it stands, boots all when it reads something, says when they are
/// up, ends when there is nothing more to read.
int stand(int nodes, const fs::path& folder, int in, int out) {
  const auto spec = spec_of(nodes);
  if (!spec) return 1;
  const auto began = Deadline::Clock::now();
  rehearsal::RackOptions how;
  how.speed = 100'000;
  how.folder = folder;
  auto started = rehearsal::VirtualRack::start(*spec, how);
  if (!started) {
    fmt::print(stderr, "{}\n", started.error().what);
    return 1;
  }
  auto& rack = **started;
  const std::chrono::duration<double> took = Deadline::Clock::now() - began;
  if (!write_file(folder / "inventory.yaml", rack.inventory_yaml(), 0600)) return 1;
  const auto say = [out](const std::string& text) {
    return ::write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  };
  if (!say(fmt::format("{:.3f}\n", took.count()))) return 1;
  char ignored = 0;
  if (::read(in, &ignored, 1) != 1) return 1;
  std::latch up{nodes};
  for (const auto& node : spec->nodes)
    rack.post(node.name, [&up](rehearsal::Machine& machine) {
      machine.subscribe([&up, reported = false](rehearsal::Machine::Event event) mutable {
        if (event == rehearsal::Machine::Event::booted && !std::exchange(reported, true))
          up.count_down();
      });
      machine.press(rehearsal::Reset::on);
    });
  up.wait();
  if (!say("up\n")) return 1;
  while (::read(in, &ignored, 1) == 1) {
  }
  rack.stop();
  return 0;
}

class Keys final : public inventory::KnownKeys {
 public:
  std::optional<std::string> pinned(std::string_view) override { return std::nullopt; }
  void pin(std::string_view, std::string_view) override {}
};

std::string line_from(int descriptor) {
  std::string line;
  for (char c = 0; ::read(descriptor, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

/// MiB that the process has in memory. Source: proc(5), /proc/pid/status, VmRSS.
double memory_of(pid_t process) {
  const auto status = read_file(fmt::format("/proc/{}/status", process), 1u << 16);
  if (!status) return 0;
  for (const auto line : lines(*status))
    if (line.starts_with("VmRSS:"))
      return number<double>(trimmed(line.substr(6, line.find("kB") - 6))).value_or(0) / 1024;
  return 0;
}

/// Seconds of one core that the process has used. Source: proc(5), /proc/pid/stat, utime and stime.
double cpu_of(pid_t process) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", process), 4096);
  if (!stat) return 0;
  const auto& text = *stat;
  const auto fields = split(std::string_view{text}.substr(text.rfind(')') + 2), ' ');
  constexpr std::size_t kUser = 11, kSystem = 12;
  if (fields.size() <= kSystem) return 0;
  const auto ticks =
      number<double>(fields[kUser]).value_or(0) + number<double>(fields[kSystem]).value_or(0);
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// Prints each figure beside its limit, and the CPU that was used since the one before: on a
/// machine that does other things too, that is the better figure.
class Judge {
 public:
  explicit Judge(pid_t rack) : rack_{rack} {}

  void say(std::string_view what, double measured, double most, std::string_view unit) {
    const double rack = cpu_of(rack_), own = bench::cpu_seconds();
    fmt::print("{:<44} {:9.2f} {:<4} limit {:6.0f}  {:<6}  CPU: rack {:.2f} s, clients {:.2f} s\n",
               what, measured, unit, most, measured < most ? "met" : "MISSED", rack - rack_before_,
               own - own_before_);
    std::fflush(stdout);
    rack_before_ = rack;
    own_before_ = own;
  }

 private:
  pid_t rack_;
  double rack_before_ = 0, own_before_ = 0;
};

/// All of them, 256 at a time.
double ask_all(asio::io_context& io, const std::vector<std::unique_ptr<bmc::Bmc>>& bmcs,
               bmc::PowerState expected) {
  constexpr std::size_t kAtOnce = 256;
  std::vector<bmc::Bmc*> all;
  for (const auto& one : bmcs) all.push_back(one.get());
  const auto begun = Deadline::Clock::now();
  const auto ask = [](bmc::Bmc* one) { return one->power.state(Deadline::in(60s)); };
  const auto answers =
      run_to_end(io, for_each_of<bmc::Sourced<bmc::PowerState>>(std::move(all), kAtOnce, ask));
  const std::chrono::duration<double> wall = Deadline::Clock::now() - begun;
  std::size_t right = 0;
  for (const auto& answer : answers) {
    if (answer && answer->value == expected) ++right;
    if (!answer) fmt::print(stderr, "{}\n", answer.error().what);
  }
  if (right != answers.size())
    fmt::print("only {} of {} answers were right\n", right, answers.size());
  return wall.count();
}

Task<Result<std::string>> password_in(fs::path file) {
  auto text = read_file(file, 256);
  if (!text) co_return text.error();
  co_return std::string{trimmed(*text)};
}

void ask(Judge& judge, const inventory::Inventory& site, bmc::PowerState expected,
         std::string_view when) {
  const auto secret = [file = site.nodes.front().bmc.password.where] { return password_in(file); };
  asio::io_context io{1};
  Keys keys;
  bmc::redfish::Transport transport{io.get_executor(), {.connections = 2048}};
  bmc::ipmi::Transport datagrams{io.get_executor(), &transport.all_bmc_limits()};
  std::vector<std::unique_ptr<bmc::Bmc>> redfish, ipmi;
  for (const auto& node : site.nodes) {
    redfish.push_back(bmc::redfish::open(transport, node.name, node.bmc, secret, keys));
    ipmi.push_back(
        bmc::ipmi::open(datagrams, node.name, *node.bmc.ipmi, node.bmc.user, secret, {}));
  }
  judge.say(fmt::format("power of all by Redfish, first time, {}", when),
            ask_all(io, redfish, expected), kMostToAsk, "s");
  judge.say(fmt::format("power of all by Redfish, again, {}", when), ask_all(io, redfish, expected),
            kMostToAsk, "s");
  judge.say(fmt::format("power of all by IPMI, first time, {}", when), ask_all(io, ipmi, expected),
            kMostToAsk, "s");
}

/// A login and `uname -n`, which says whether it is the node that was meant.
Task<Result<bool>> says_its_name(const inventory::Node* node, inventory::KnownKeys* keys) {
  const auto deadline = Deadline::in(60s);
  auto session = co_await ssh::connect(node->name, node->ssh, *keys, deadline);
  if (!session) co_return std::move(session).error();
  std::string reported;
  const auto into = [&reported](ssh::Stream, std::string_view piece) { reported += piece; };
  auto ran = co_await (*session)->run("uname -n", {}, into, deadline);
  if (!ran) co_return std::move(ran).error();
  co_return trimmed(reported) == node->name;
}

void run_on_all(Judge& judge, const inventory::Inventory& site) {
  constexpr std::size_t kAtOnce = 64;
  asio::io_context io{1};
  Keys keys;
  std::vector<const inventory::Node*> all;
  for (const auto& node : site.nodes) all.push_back(&node);
  const auto begun = Deadline::Clock::now();
  const auto run = [&keys](const inventory::Node* node) { return says_its_name(node, &keys); };
  const auto answers = run_to_end(io, for_each_of<bool>(std::move(all), kAtOnce, run));
  const std::chrono::duration<double> wall = Deadline::Clock::now() - begun;
  const auto right =
      std::ranges::count_if(answers, [](const auto& answer) { return answer && *answer; });
  judge.say(fmt::format("a login and uname -n by SSH, right on {}", right), wall.count(),
            kMostToLogIn, "s");
}

int measure(int nodes, pid_t rack, const fs::path& folder, int to, int from) {
  const auto took = number<double>(line_from(from));
  if (!took) return 1;
  const auto loaded = inventory::load_inventory(folder / "inventory.yaml");
  if (!loaded.inventory) {
    fmt::print(stderr, "{}", to_string(loaded.problems));
    return 1;
  }
  fmt::print("{} virtual nodes in one process\n", nodes);
  Judge judge{rack};
  judge.say("start", *took, kMostToStart, "s");
  judge.say("memory, all off", memory_of(rack), kMostMemory, "MiB");
  ask(judge, *loaded.inventory, bmc::PowerState::off, "off");
  judge.say("memory, all off, every BMC asked", memory_of(rack), kMostMemory, "MiB");
  const auto begun = Deadline::Clock::now();
  if (::write(to, "b", 1) != 1 || line_from(from) != "up") return 1;
  const std::chrono::duration<double> booted = Deadline::Clock::now() - begun;
  judge.say("boot of all at 100,000 times life's speed", booted.count(), kMostToStart, "s");
  judge.say("memory, all up", memory_of(rack), kMostMemory, "MiB");
  ask(judge, *loaded.inventory, bmc::PowerState::on, "up");
  judge.say("memory, all up, every BMC asked", memory_of(rack), kMostMemory, "MiB");
  run_on_all(judge, *loaded.inventory);
  judge.say("memory, all up, a command run on every node", memory_of(rack), kMostMemory, "MiB");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int nodes = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1000;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  std::string folder = (fs::temp_directory_path() / "cupel-rack-bench-XXXXXX").string();
  int to[2], from[2];
  if (::mkdtemp(folder.data()) == nullptr || ::pipe(to) != 0 || ::pipe(from) != 0) return 1;
  const pid_t rack = ::fork();
  if (rack == 0) {
    ::close(to[1]);
    ::close(from[0]);
    ::_exit(stand(nodes, folder, to[0], from[1]));
  }
  ::close(to[0]);
  ::close(from[1]);
  const int status = measure(nodes, rack, folder, to[1], from[0]);
  ::close(to[1]);
  ::waitpid(rack, nullptr, 0);
  fmt::print("the rack used {:.2f} s of CPU in all\n", bench::cpu_seconds(RUSAGE_CHILDREN));
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return status;
}
