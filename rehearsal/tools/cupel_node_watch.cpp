// `cupel-node watch` of a virtual machine. Physics answers for any moment, so that a watch of days
// takes some hundred looks.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/kernel_log.h"
#include "rehearsal/tools/cupel_node.h"
#include "rehearsal/tools/gpu_view.h"
#include "rehearsal/tools/infiniband.h"

namespace cupel::rehearsal {
namespace {

constexpr std::array<std::string_view, 9> kThrottleWords{
    "idle",       "application-clocks", "power-cap",   "hw-slowdown",  "sync-boost",
    "sw-thermal", "hw-thermal",         "power-brake", "display-clock"};

struct Series {
  double least = 0, most = 0, sum = 0, first = 0, last = 0;
  int count = 0;
  void add(double value) {
    if (count == 0) least = most = first = value;
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
    last = value;
    ++count;
  }
};

using Key = std::pair<std::string, std::string>;  // part, name

struct Sum {
  std::map<Key, Series> values, counters;
  std::map<Key, double> throttled;
  int samples = 0;
};

struct Request {
  double seconds = 60, every = 1;
  bool good = true;
};

Request read_request(const Arguments& arguments) {
  Request request;
  for (std::size_t i = 2; i < arguments.size(); i += 2) {
    const auto value = i + 1 < arguments.size() ? number<double>(arguments[i + 1]) : std::nullopt;
    const auto& name = arguments[i];
    const bool known =
        name == "--seconds" || name == "--every" || name == "--print" || name == "--slow";
    request.good = request.good && known && value && *value > 0;
    if (!request.good) return request;
    if (name == "--seconds") request.seconds = *value;
    if (name == "--every") request.every = *value;
  }
  return request;
}

void look_at_gpu(const GpuView& gpu, double step, Sum& sum) {
  const auto part = fmt::format("gpu{}", gpu.index);
  const auto value = [&](const char* name, double now) { sum.values[{part, name}].add(now); };
  const auto counter = [&](const char* name, std::uint64_t now) {
    sum.counters[{part, name}].add(static_cast<double>(now));
  };
  value("answers", gpu.lost ? 0 : 1);
  if (gpu.lost) return;
  value("power", gpu.watts);
  value("temperature", gpu.celsius);
  value("temperature.memory", gpu.memory_celsius);
  value("clock.sm", gpu.sm_mhz);
  value("clock.memory", gpu.memory_mhz);
  value("busy", gpu.busy);
  value("remap.pending", gpu.remaps.pending ? 1 : 0);
  value("remap.failed", gpu.remaps.failed ? 1 : 0);
  for (std::size_t i = 0; i < kThrottleWords.size(); ++i)
    if ((gpu.throttle >> i & 1) != 0) sum.throttled[{part, std::string{kThrottleWords[i]}}] += step;
  counter("ecc.uncorrected", gpu.volatile_ecc.dram_uncorrected);
  counter("ecc.corrected", gpu.volatile_ecc.dram_corrected);
  counter("remap.uncorrectable", gpu.remaps.uncorrectable);
  counter("pcie.replays", gpu.pcie_replays);
  std::uint64_t crc = 0, replays = 0, recoveries = 0;
  for (const auto& link : gpu.links) {
    crc += link.crc;
    replays += link.replays;
    recoveries += link.recoveries;
  }
  if (gpu.links.empty()) return;
  counter("nvlink.crc", crc);
  counter("nvlink.replays", replays);
  counter("nvlink.recoveries", recoveries);
}

void look(Host& host, double step, Sum& sum) {
  ++sum.samples;
  const auto driver = look_at_gpus(host);
  if (driver.library == driver.version)
    for (const auto& gpu : driver.gpus) look_at_gpu(gpu, step, sum);
  const auto& machine = host.machine();
  for (std::size_t i = 0; i < machine.hardware().cpus.size(); ++i) {
    const auto part = fmt::format("cpu{}", i);
    sum.values[{part, "temperature"}].add(machine.physics().cpu_celsius(static_cast<int>(i)));
    sum.values[{part, "clock"}].add(machine.physics().cpu_mhz(static_cast<int>(i)));
  }
  for (const auto& adapter : machine.hardware().adapters) {
    if (!adapter.infiniband) continue;
    const auto port = read_port(host, adapter.name);
    const auto counter = [&](const char* name, std::uint64_t now, double factor = 1) {
      sum.counters[{adapter.name, name}].add(static_cast<double>(now) * factor);
    };
    counter("sent", port.counters.transmit_data, 4);
    counter("received", port.counters.receive_data, 4);
    counter("symbol_errors", port.counters.symbol_errors);
    counter("link_downed", port.counters.link_downed);
    counter("receive_errors", port.counters.receive_errors);
  }
  std::map<char, DimmErrors> errors;
  for (const auto& dimm : machine.hardware().dimms) {
    if (!dimm.present || dimm.name.size() < 6) continue;
    const auto reported = dimm_errors(host, dimm.name);
    auto& all = errors[dimm.name[5]];
    all.corrected += reported.corrected;
    all.uncorrected += reported.uncorrected;
  }
  for (const auto& [socket, reported] : errors) {
    const auto part = fmt::format("mc{}", socket - 'A');
    sum.counters[{part, "uncorrected"}].add(static_cast<double>(reported.uncorrected));
    sum.counters[{part, "corrected"}].add(static_cast<double>(reported.corrected));
  }
}

std::string hello_text(Host& host, const Request& request) {
  json::object sampled, places;
  const auto driver = look_at_gpus(host);
  if (driver.library == driver.version)
    for (const auto& gpu : driver.gpus) {
      const auto part = fmt::format("gpu{}", gpu.index);
      sampled[part] = json::array{"answers", "power", "temperature", "throttle"};
      places[part] = gpu.part.pci;
    }
  const json::object hello{
      {"kind", "watch"},        {"program", "cupel-node"},    {"protocol", 1},
      {"every", request.every}, {"seconds", request.seconds}, {"sampled", sampled},
      {"places", places},       {"kernel_log", true},         {"unknown", json::array{}}};
  return json::serialize(hello) + "\n";
}

std::string sum_text(const Sum& sum, double seconds, json::array messages) {
  json::array values, counters, throttled;
  for (const auto& [key, series] : sum.values)
    values.push_back(json::object{{"part", key.first},
                                  {"name", key.second},
                                  {"min", series.least},
                                  {"mean", series.sum / series.count},
                                  {"max", series.most},
                                  {"last", series.last},
                                  {"count", series.count}});
  for (const auto& [key, series] : sum.counters)
    counters.push_back(json::object{{"part", key.first},
                                    {"name", key.second},
                                    {"first", series.first},
                                    {"last", series.last},
                                    {"grown", series.last - series.first}});
  for (const auto& [key, held] : sum.throttled)
    throttled.push_back(
        json::object{{"part", key.first}, {"reason", key.second}, {"seconds", held}});
  const json::object all{{"kind", "summary"},
                         {"seconds", seconds},
                         {"samples", sum.samples},
                         {"complete", true},
                         {"stopped", false},
                         {"values", std::move(values)},
                         {"counters", std::move(counters)},
                         {"throttled", std::move(throttled)},
                         {"messages", std::move(messages)},
                         {"kernel_log", true},
                         {"cpu_percent", 0.2},
                         {"unknown", json::array{}}};
  return json::serialize(all) + "\n";
}

}  // namespace

Task<int> virtual_cupel_node_watch(ProcessPtr process, Arguments arguments) {
  const auto request = read_request(arguments);
  if (!request.good) {
    co_await process->print_error("usage: cupel-node watch [--seconds N] [--every SECONDS]\n");
    co_return 64;
  }
  constexpr double kLooks = 120;
  const double step = std::max(request.every, request.seconds / kLooks);
  auto& host = process->host;
  const double booted = host.booted_at();
  const double began = host.epoch();
  const auto hello = hello_text(host, request);
  co_await process->say(hello);
  Sum sum;
  look(host, step, sum);
  double past = 0;
  while (past < request.seconds) {
    const double span = std::min(step, request.seconds - past);
    const bool slept = co_await process->sleep(VirtualTime{span});
    if (!slept) co_return 130;
    look(host, span, sum);
    past += span;
  }
  auto messages = kernel_messages(host, began - booted, host.epoch() - booted);
  const auto text = sum_text(sum, past, std::move(messages));
  co_await process->say(text);
  co_return 0;
}

}  // namespace cupel::rehearsal
