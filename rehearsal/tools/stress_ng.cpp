#include "rehearsal/tools/stress_ng.h"

#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/system_tree.h"
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
  std::string yaml{};
  bool verify = false, metrics = false, brief = false;
};

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
    else if (word == "--verify")
      request.verify = true;
    else if (word == "--metrics")
      request.metrics = true;
    else if (word == "--metrics-brief")
      request.metrics = request.brief = true;
    else if (word == "--vm-bytes" || word == "--vm-method" || word == "--cpu-method" ||
             word == "--temp-path" || word == "--log-file" || word == "--taskset" ||
             word == "--vm-hang")
      value();
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

}  // namespace

Task<int> stress_ng(ProcessPtr process, Arguments arguments) {
  if (arguments.size() > 1 && (arguments[1] == "--version" || arguments[1] == "-V")) {
    co_await process->say("stress-ng, version 0.15.06 (gcc 12.2.0, x86_64 Linux 6.1.0)\n");
    co_return 0;
  }
  auto& machine = process->host.machine();
  const auto request = read_request(arguments, std::max(machine.hardware().threads(), 1));
  if (request.stressors.empty())
    co_return co_await complain(process, "stress-ng", "error: no stressors specified");
  const auto info = fmt::format("stress-ng: info:  [{}] ", process->number);
  std::string hogs;
  for (const auto& each : request.stressors)
    hogs += fmt::format("{}{} {}", hogs.empty() ? "" : ", ", each.instances, each.name);
  const auto start =
      info + fmt::format("setting to a {:.0f} second run per stressor\n", request.span.count()) +
      info + "dispatching hogs: " + hogs + "\n";
  co_await process->complain(start);

  const auto* fault = find_fault(machine.faults(), FaultKind::memory_errors);
  const bool fails = fault && request.verify;
  const double took = request.span.count();
  co_await process->sleep(request.span);
  if (process->fatal() != 0) co_return 128 + process->fatal();

  std::string text;
  if (fails)
    for (const auto& each : request.stressors)
      if (each.name == "vm")
        text += fmt::format(
            "stress-ng: fail:  [{0}] vm: detected {1} bit errors while stressing memory\n"
            "stress-ng: error: [{0}] vm: [{2}] terminated with an error, exit status=2 (stressor "
            "failed)\n",
            process->number, fault->errors.value_or(2), process->number + 1);
  if (request.metrics) text += metrics_lines(request, process->number, took);
  text += fails ? fmt::format("stress-ng: info:  [{}] unsuccessful run completed in {:.2f}s\n",
                              process->number, took)
                : info + fmt::format("successful run completed in {:.2f}s\n", took);
  co_await process->complain(text);
  if (!request.yaml.empty()) {
    auto place = process->disk().place(process->path(request.yaml));
    if (place.error == 0 && !place.node)
      place.node = process->disk().make_file(place, 0644, process->now());
    if (place.node && place.node->kind == Inode::Kind::device) {
      const auto yaml = yaml_text(request, *process, took);
      co_await process->say(yaml);
    } else if (place.node && place.node->kind == Inode::Kind::file) {
      process->disk().truncate(*place.node, 0, process->now());
      process->disk().write(*place.node, 0, yaml_text(request, *process, took), process->now());
    }
  }
  co_return fails ? 2 : 0;
}

}  // namespace cupel::rehearsal
