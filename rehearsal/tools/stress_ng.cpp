#include "rehearsal/tools/stress_ng.h"

#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/system_tree.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

struct Stressor {
  std::string name;
  int instances;
  double rate;  // bogo operations a second, of each
};

struct Request {
  std::vector<Stressor> stressors{};
  VirtualTime span{86400};
  std::string yaml{}, unknown{};
  std::vector<int> cpus{};  // --taskset; empty: all
  std::string bytes{};      // --vm-bytes, of all instances together
  bool verify = false, metrics = false, brief = false;
};

constexpr std::array<std::string_view, 12> kSilent{"--vm-keep",   "--vm-populate",
                                                   "--vm-locked", "--no-rand-seed",
                                                   "--oomable",   "--oom-avoid",
                                                   "--quiet",     "--verbose",
                                                   "-v",          "-q",
                                                   "--log-brief", "--times"};

/// "0-55,112-167"
std::vector<int> cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const auto range : split(text, ',')) {
    const auto dash = range.find('-');
    const auto first = number<int>(range.substr(0, dash));
    const auto last = dash == range.npos ? first : number<int>(range.substr(dash + 1));
    if (!first || !last || *last - *first > 4096) continue;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

Request read_request(const Arguments& arguments, int threads) {
  Request request;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    auto word = arguments[i];
    std::optional<std::string> joined;
    if (const auto equals = word.find('='); word.starts_with("--") && equals != word.npos) {
      joined = word.substr(equals + 1);
      word.resize(equals);
    }
    const auto value = [&] {
      return joined ? *joined : i + 1 < arguments.size() ? arguments[++i] : std::string{};
    };
    const auto add = [&](std::string name, double rate) {
      const auto count = number<int>(value()).value_or(1);
      request.stressors.push_back({std::move(name), count > 0 ? count : threads, rate});
    };
    if (word == "--cpu" || word == "-c")
      add("cpu", 1053.8);
    else if (word == "--vm" || word == "-m")
      add("vm", 35926.9);
    else if (word == "--matrix")
      add("matrix", 4200);
    else if (word == "--cache" || word == "-C")
      add("cache", 120);
    else if (word == "--memrate")
      add("memrate", 88);
    else if (word == "--stream")
      add("stream", 31);
    else if (word == "--timeout" || word == "-t")
      request.span = parse_span(value()).value_or(VirtualTime{86400});
    else if (word == "--yaml" || word == "-Y")
      request.yaml = value();
    else if (word == "--taskset")
      request.cpus = cpu_list(value());
    else if (word == "--vm-bytes")
      request.bytes = value();
    else if (word == "--verify")
      request.verify = true;
    else if (word == "--metrics")
      request.metrics = true;
    else if (word == "--metrics-brief")
      request.metrics = request.brief = true;
    else if (word == "--vm-method" || word == "--cpu-method" || word == "--stream-l3-size" ||
             word == "--temp-path" || word == "--log-file" || word == "--vm-hang" ||
             word == "--cpu-load" || word == "--seed" || word == "--oom-avoid-bytes" ||
             word == "--backoff")
      value();
    else if (std::ranges::find(kSilent, word) == kSilent.end() && request.unknown.empty())
      request.unknown = word;
  }
  return request;
}

std::string metrics_lines(const Request& request, int number, double took) {
  const auto prefix = fmt::format("stress-ng: metrc: [{}] ", number);
  const bool whole = !request.brief;
  auto text = prefix +
              "stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s" +
              (whole ? " CPU used per       RSS Max\n" : "\n") + prefix +
              "                          (secs)    (secs)    (secs)   (real time) (usr+sys time)" +
              (whole ? " instance (%)          (KB)\n" : "\n");
  for (const auto& each : request.stressors) {
    const double operations = each.rate * each.instances * took, cpu = took * each.instances;
    text += prefix + fmt::format("{:<13} {:>9.0f} {:>9.2f} {:>9.2f} {:>9.2f} {:>13.2f} {:>14.2f}",
                                 each.name, operations, took, cpu * 0.99, cpu * 0.01,
                                 operations / took, operations / cpu);
    text += whole ? fmt::format(" {:>12.2f} {:>13}\n", 99.98, 6516) : "\n";
  }
  return text;
}

/// What the stressor stream says of itself. Its two arrays are read, one is written. The word is
/// the tool's own.
std::string stream_lines(const Request& request, const Machine& machine, int number) {
  // Of eight channels of DDR5-4400, in MiB a second: what the tool calls MB.
  constexpr double kSocket = 180e9 / (1024 * 1024);
  const auto& hardware = machine.hardware();
  const auto sockets = static_cast<double>(std::max<std::size_t>(hardware.cpus.size(), 1));
  const double share = request.cpus.empty() ? sockets : 1;
  std::string text;
  for (const auto& each : request.stressors) {
    if (each.name != "stream") continue;
    const double rate =
        kSocket * share * machine.physics().speed(0, Work::memory) / std::max(each.instances, 1);
    const auto prefix = fmt::format("stress-ng: metrc: [{}] ", number);
    const auto row = [&](double value, std::string_view what) {
      text += prefix + fmt::format("stream {:>18.2f} {} (geometic mean of {} instances)\n", value,
                                   what, each.instances);
    };
    text += prefix + "miscellaneous metrics:\n";
    row(rate * 0.6, "memory read rate (MB per sec)");
    row(rate * 0.4, "memory write rate (MB per sec)");
  }
  return text;
}

std::string yaml_text(const Request& request, Process& process, double took) {
  const auto& hardware = process.host.machine().hardware();
  auto text = fmt::format(
      "---\nsystem-info:\n      stress-ng-version: 0.15.06\n      run-by: root\n      epoch-secs: "
      "{:.0f}\n"
      "      hostname: {}\n      sysname: Linux\n      nodename: {}\n      release: {}\n      "
      "machine: "
      "x86_64\n      totalram: {:.0f}\n      cpus: {}\n      cpus-online: {}\n      "
      "ticks-per-second: "
      "100\n\nmetrics:\n",
      process.now(), hardware.node, hardware.node, kKernelRelease, hardware.memory_bytes() * 0.985,
      hardware.threads(), hardware.threads());
  for (const auto& each : request.stressors) {
    const double operations = each.rate * each.instances * took, cpu = took * each.instances;
    text += fmt::format(
        "    - stressor: {}\n      bogo-ops: {:.0f}\n      bogo-ops-per-second-usr-sys-time: "
        "{:.6f}\n      "
        "bogo-ops-per-second-real-time: {:.6f}\n      wall-clock-time: {:.6f}\n      user-time: "
        "{:.6f}\n      "
        "system-time: {:.6f}\n      cpu-usage-per-instance: {:.6f}\n      max-rss: 6516\n\n",
        each.name, operations, operations / cpu, operations / took, took, cpu * 0.99, cpu * 0.01,
        99.98);
  }
  return text + "...\n";
}

Work work_of(std::string_view stressor) {
  const bool of_cpu = stressor == "cpu" || stressor == "matrix" || stressor == "cache";
  return of_cpu ? Work::cpu : Work::memory;
}

/// Each stressor is a load of the machine's, for as long as it runs.
std::vector<RunningLoad> hold(Machine& machine, const Request& request) {
  std::vector<RunningLoad> loads;
  const double threads = std::max(machine.hardware().threads(), 1);
  for (const auto& each : request.stressors)
    loads.push_back(machine.physics().hold({.work = work_of(each.name),
                                            .share = std::min(1.0, each.instances / threads),
                                            .threads = each.instances}));
  return loads;
}

/// The socket and the core of a logical CPU, numbered as /proc/cpuinfo is.
std::pair<int, int> place_of(const Hardware& hardware, int cpu) {
  const int cores = std::max(hardware.cores(), 1);
  const auto sockets = static_cast<int>(std::max<std::size_t>(hardware.cpus.size(), 1));
  const int each = std::max(cores / sockets, 1), core = cpu % cores;
  return {core / each, core % each};
}

/// Pages of a NUMA node that are in use, as its meminfo tells them, for as long as this is there.
class HeldPages {
 public:
  HeldPages(Process& process, const Request& request) : disk_{process.disk()} {
    const auto& hardware = process.host.machine().hardware();
    const int node = request.cpus.empty() ? 0 : place_of(hardware, request.cpus.front()).first;
    path_ = fmt::format("/sys/devices/system/node/node{}/meminfo", node);
    const bool any = std::ranges::any_of(request.stressors,
                                         [](const Stressor& each) { return each.name == "vm"; });
    if (any) kib_ = parse_size(request.bytes).value_or(0) / 1024;
    add(kib_);
  }
  HeldPages(const HeldPages&) = delete;
  HeldPages& operator=(const HeldPages&) = delete;
  ~HeldPages() { add(-kib_); }

 private:
  void add(double kib) {
    const auto file = disk_.find(path_);
    if (!file || kib == 0) return;
    std::string text;
    for (const auto line : lines(file->content())) {
      const auto cells = words(line);
      const bool pages = cells.size() == 5 && cells[2] == "AnonPages:";
      const double now = pages ? number<double>(cells[3]).value_or(0) : 0;
      text += pages ? fmt::format("Node {} AnonPages: {:>14.0f} kB\n", cells[1],
                                  std::max(now + kib, 0.0))
                    : std::string{line} + "\n";
    }
    disk_.put(path_, text);
  }

  FileSystem& disk_;
  std::string path_;
  double kib_ = 0;
};

/// Whether it is bound to a place where the fault is; one that is bound to none meets it where it
/// works on every core.
bool meets_core(const Machine& machine, const Request& request, const Fault& fault, int instances) {
  const auto& hardware = machine.hardware();
  if (request.cpus.empty()) return instances * 2 >= hardware.threads();
  return std::ranges::any_of(request.cpus, [&](int cpu) {
    const auto [socket, core] = place_of(hardware, cpu);
    return fault.part == fmt::format("cpu{}", socket) && core == fault.number.value_or(0);
  });
}

/// Wrong bits lie in the memory of the last socket.
bool meets_memory(const Machine& machine, const Request& request) {
  const auto& hardware = machine.hardware();
  const auto last = static_cast<int>(std::max<std::size_t>(hardware.cpus.size(), 1)) - 1;
  return request.cpus.empty() || std::ranges::any_of(request.cpus, [&](int cpu) {
           return place_of(hardware, cpu).first == last;
         });
}

/// What --verify finds.
std::string failures(const Machine& machine, const Request& request, int number) {
  std::string text;
  const auto add = [&](std::string_view stressor, const std::string& what) {
    text += fmt::format(
        "stress-ng: fail:  [{0}] {1}: {2}\nstress-ng: error: [{0}] {1}: [{3}] terminated with an "
        "error, exit status=2 (stressor failed)\n",
        number, stressor, what, number + 1);
  };
  const auto* bits = fault_now(machine, FaultKind::memory_errors);
  const auto* core = fault_now(machine, FaultKind::cpu_core_wrong);
  for (const auto& each : request.stressors) {
    if (each.name == "vm" && bits && meets_memory(machine, request))
      add("vm",
          fmt::format("detected {} bit errors while stressing memory", bits->errors.value_or(2)));
    if (each.name == "cpu" && core && meets_core(machine, request, *core, each.instances))
      add("cpu", "prime error detected, number of primes between 0 and 1000000 miscalculated");
  }
  return text;
}

}  // namespace

Task<int> stress_ng(ProcessPtr process, Arguments arguments) {
  if (arguments.size() > 1 && (arguments[1] == "--version" || arguments[1] == "-V")) {
    co_await process->say("stress-ng, version 0.15.06 (gcc 12.2.0, x86_64 Linux 6.1.0)\n");
    co_return 0;
  }
  auto& machine = process->host.machine();
  auto request = read_request(arguments, std::max(machine.hardware().threads(), 1));
  if (!request.unknown.empty()) {
    const auto text = fmt::format(
        "stress-ng: unrecognized option '{}'\nTry 'stress-ng --help' for "
        "more information.\n",
        request.unknown);
    co_await process->print_error(text);
    co_return 1;
  }
  if (request.stressors.empty())
    co_return co_await print_error(process, "stress-ng", "error: no stressors specified");
  const auto info = fmt::format("stress-ng: info:  [{}] ", process->number);
  std::string hogs;
  for (const auto& each : request.stressors)
    hogs += fmt::format("{}{} {}", hogs.empty() ? "" : ", ", each.instances, each.name);
  const auto start =
      info + fmt::format("setting to a {:.0f} second run per stressor\n", request.span.count()) +
      info + "dispatching hogs: " + hogs + "\n";
  co_await process->print_error(start);

  const double took = request.span.count();
  auto loads = hold(machine, request);
  const HeldPages pages{*process, request};
  for (auto& each : request.stressors) each.rate *= machine.physics().speed(0, work_of(each.name));
  co_await process->sleep(request.span);
  loads.clear();
  if (process->fatal() != 0) co_return 128 + process->fatal();

  std::string text = request.verify ? failures(machine, request, process->number) : std::string{};
  const bool fails = !text.empty();
  if (request.metrics) text += metrics_lines(request, process->number, took);
  if (request.metrics) text += stream_lines(request, machine, process->number);
  text += fails ? fmt::format("stress-ng: info:  [{}] unsuccessful run completed in {:.2f}s\n",
                              process->number, took)
                : info + fmt::format("successful run completed in {:.2f}s\n", took);
  co_await process->print_error(text);
  if (!request.yaml.empty()) {
    const auto yaml = yaml_text(request, *process, took);
    const auto there = process->disk().find(process->path(request.yaml));
    if (there && there->kind == Inode::Kind::device)
      co_await process->say(yaml);
    else
      save_text(*process, request.yaml, yaml);
  }
  co_return fails ? 2 : 0;
}

}  // namespace cupel::rehearsal
