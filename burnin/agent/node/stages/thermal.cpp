// The node under a steady load: temperatures of GPUs and CPUs meanwhile, and the inlet as the BMC
// reports it in-band. Source: nvidia-smi(1), --help-query-gpu; ipmitool(1).
#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/agent/node/stages/cpu_sensors.h"
#include "burnin/agent/node/stages/file_lines.h"
#include "burnin/agent/node/stages/order.h"

namespace cupel::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array<std::string_view, 2> kThermalLoads{"cpu", "gpu"};
constexpr std::uint64_t kMostThermalSamples = 10'000;
constexpr std::size_t kMostLoadLines = 200;
constexpr seconds kInletLimit{60};
/// The second one for drivers that have no margin to query.
constexpr std::array<std::string_view, 2> kFields{
    "index,temperature.gpu,temperature.memory,temperature.gpu.tlimit,power.draw",
    "index,temperature.gpu,temperature.memory,power.draw"};

struct ThermalOrder {
  std::string load{};
  std::uint64_t seconds, window, interval, samples, limit;
};

/// A GPU that fell off its bus may hold nvidia-smi for ever: then the job ends at its own limit.
Command smi_command(const ThermalOrder& order, std::vector<std::string> words) {
  words.insert(words.begin(), "nvidia-smi");
  return {.argv = std::move(words), .limit = seconds{order.limit}};
}

Command smi_query(const ThermalOrder& order, std::string_view fields, std::string_view format) {
  return smi_command(order,
                     {"--query-gpu=" + std::string{fields}, "--format=" + std::string{format}});
}

/// cupel-burn prints its progress every second, for hours: the last lines, without it.
void keep_last_lines(std::string& out) {
  std::vector<std::string_view> kept;
  const auto end = out.rfind('\n') + 1;  // what follows may still be under way
  for (const auto line : lines(std::string_view{out}.substr(0, end)))
    if (line.find(R"("kind":"progress")") == line.npos) kept.push_back(line);
  const auto dropped = kept.size() - std::min(kept.size(), kMostLoadLines);
  std::string text;
  for (std::size_t i = dropped; i < kept.size(); ++i) text.append(kept[i]).push_back('\n');
  out = text + out.substr(end);
}

Command load_command(const ThermalOrder& order) {
  const auto span = std::to_string(order.seconds);
  Command command{.limit = seconds{order.limit}, .shorten = keep_last_lines};
  // One type that loads every chip: fp64 leaves those with few units for it nearly idle.
  if (order.load == "gpu")
    command.argv = {"cupel-burn", "gemm", "--types", "bf16", "--seconds", span};
  else
    command.argv = {"stress-ng",       "--cpu",     "0",        "--cpu-method", "all",
                    "--metrics-brief", "--timeout", span + "s", "--temp-path",  "/tmp"};
  return command;
}

/// Which fields of the GPUs can be sampled; empty: none. Names the GPUs, and prints at which
/// temperatures they slow down.
Work<std::string> look_at_gpus(Node& node, const ThermalOrder& order) {
  std::string fields;
  if (!node.programs.has("nvidia-smi")) co_return fields;
  for (const auto each : kFields) {
    const auto ran = co_await node.programs.run(smi_query(order, each, "csv,nounits"));
    if (ran.status == 0 && fields.empty()) fields = each;
    if (!fields.empty()) break;
  }
  const auto list = smi_query(order, "index,pci.bus_id", "csv,noheader");
  const auto listed = co_await node.programs.run(list);
  node.lines.evidence("gpus", "", list, listed);
  const auto limits = smi_command(order, {"-q", "-d", "TEMPERATURE"});
  const auto reported = co_await node.programs.run(limits);
  node.lines.evidence("thresholds", "", limits, reported);
  co_return fields;
}

/// "cupel-at: 30", what nvidia-smi prints, and the sensors of the CPUs.
Work<bool> take_sample(Node& node, const ThermalOrder& order, std::string fields,
                       std::vector<std::string> sensors, milliseconds began) {
  const auto at = std::chrono::duration_cast<seconds>(node.clock.now() - began);
  FileLines sample{node.tree};
  sample.add_line("cupel-at: " + std::to_string(at.count()));
  if (!fields.empty()) {
    const auto ran = co_await node.programs.run(smi_query(order, fields, "csv,nounits"));
    for (const auto line : lines(ran.out)) sample.add_line(line);
  }
  for (const auto& path : sensors) sample.add(path);
  sample.print(node.lines, "sample");
  co_return true;
}

/// The sensors of the BMC take seconds to read: once, as late as the load is sure to be there.
Work<bool> read_inlet(Node& node) {
  if (!node.programs.has("ipmitool")) co_return false;
  const Command command{.argv = {"ipmitool", "-c", "sdr", "type", "temperature"},
                        .limit = kInletLimit};
  const auto ran = co_await node.programs.run(command);
  node.lines.evidence("inlet after", "", command, ran);
  co_return true;
}

/// Samples until the time is over or the load has ended, and then waits for its end.
Work<Ran> soak(Node& node, const ThermalOrder& order, const Command& load, std::string fields,
               std::vector<std::string> sensors) {
  const auto began = node.clock.now();
  const auto end = began + seconds{order.seconds};
  const milliseconds interval = seconds{order.interval};
  node.programs.start(load);
  std::optional<Ended> ended;
  auto next = began + interval;
  for (std::uint64_t i = 0; i < order.samples && next <= end && !ended; ++i) {
    ended = co_await node.programs.first_end(std::max(next - node.clock.now(), milliseconds{0}));
    if (ended) break;
    co_await take_sample(node, order, fields, sensors, began);
    next = std::max(next + interval, node.clock.now());
  }
  co_await read_inlet(node);
  while (!ended) ended = co_await node.programs.first_end(seconds{order.limit});
  co_return std::move(ended->ran);
}

}  // namespace

Work<GaveUp> run_thermal(Node& node, const JsonValue& asked) {
  OrderReader read{asked};
  const ThermalOrder order{read.word("load", kThermalLoads),
                           read.amount("seconds", 1, kLongestLimit),
                           read.amount("window", 1, kLongestLimit),
                           read.amount("interval", 1, kLongestLimit),
                           read.amount("samples", 0, kMostThermalSamples),
                           read.amount("limit", 1, kLongestLimit)};
  if (!read.why().empty()) co_return read.why();
  const auto load = load_command(order);
  if (!node.programs.has(load.argv.front()))
    co_return load.argv.front() + " is not installed on the node";
  node.lines.asked("seconds", static_cast<double>(order.seconds));
  node.lines.asked("window", static_cast<double>(order.window));
  node.lines.note("load", order.load);
  const auto fields = co_await look_at_gpus(node, order);
  if (order.load == "gpu" && fields.empty())
    co_return "nvidia-smi does not tell the temperatures of the GPUs";
  const auto sensors = find_cpu_sensors(node);
  const auto ran = co_await soak(node, order, load, fields, sensors);
  node.lines.evidence("load", "", load, ran);
  co_return {};
}

}  // namespace cupel::agent
