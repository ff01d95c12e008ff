#include "rehearsal/tools/nvidia_smi/monitor.h"

#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/gpu_view.h"

namespace cupel::rehearsal {
namespace {

struct Column {
  char group;  // of `-s`
  std::string_view name, unit;
  std::string (*value)(const GpuView& gpu);
};

std::string text_of(auto value) { return fmt::format("{}", value); }

constexpr auto kColumns = std::to_array<Column>({
    {'p', "pwr", "W", [](const GpuView& gpu) { return fmt::format("{:.0f}", gpu.watts); }},
    {'p', "gtemp", "C", [](const GpuView& gpu) { return text_of(gpu.celsius); }},
    {'p', "mtemp", "C", [](const GpuView& gpu) { return text_of(gpu.memory_celsius); }},
    {'u', "sm", "%", [](const GpuView& gpu) { return text_of(gpu.busy); }},
    {'u', "mem", "%", [](const GpuView& gpu) { return text_of(gpu.memory_busy); }},
    {'u', "enc", "%", [](const GpuView&) { return text_of(0); }},
    {'u', "dec", "%", [](const GpuView&) { return text_of(0); }},
    {'u', "jpg", "%", [](const GpuView&) { return text_of(0); }},
    {'u', "ofa", "%", [](const GpuView&) { return text_of(0); }},
    {'c', "mclk", "MHz", [](const GpuView& gpu) { return text_of(gpu.memory_mhz); }},
    {'c', "pclk", "MHz", [](const GpuView& gpu) { return text_of(gpu.sm_mhz); }},
    {'m', "fb", "MB", [](const GpuView& gpu) { return text_of(gpu.used_mib); }},
    {'m', "bar1", "MB", [](const GpuView& gpu) { return text_of(gpu.used_mib + 1); }},
    {'m', "ccpm", "MB", [](const GpuView&) { return text_of(0); }},
    {'e', "sbecc", "errs",
     [](const GpuView& gpu) { return text_of(gpu.lifetime_ecc.dram_corrected); }},
    {'e', "dbecc", "errs",
     [](const GpuView& gpu) { return text_of(gpu.lifetime_ecc.dram_uncorrected); }},
    {'e', "pci", "errs", [](const GpuView& gpu) { return text_of(gpu.pcie_replays); }},
});

struct MonitorRequest {
  std::string groups = "puc";
  std::string id{};
  int count = -1;
  double delay = 1;
  std::string unknown{};
};

MonitorRequest read_options(const Arguments& arguments) {
  MonitorRequest requested;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    const bool valued =
        (word == "-i" || word == "-s" || word == "-c" || word == "-d") && i + 1 < arguments.size();
    if (!valued) {
      if (requested.unknown.empty()) requested.unknown = word;
      continue;
    }
    const auto& value = arguments[++i];
    if (word == "-i") requested.id = value;
    if (word == "-s") requested.groups = value;
    if (word == "-c") requested.count = number<int>(value).value_or(1);
    if (word == "-d") requested.delay = number<double>(value).value_or(1);
  }
  return requested;
}

std::string heading(const std::string& groups) {
  std::string names = "# gpu", units = "# Idx";
  for (const auto& column : kColumns) {
    if (!groups.contains(column.group)) continue;
    names += fmt::format("{:>7}", column.name);
    units += fmt::format("{:>7}", column.unit);
  }
  return names + " \n" + units + " \n";
}

std::string line(const GpuView& gpu, const std::string& groups) {
  auto text = fmt::format("{:>5}", gpu.index);
  for (const auto& column : kColumns)
    if (groups.contains(column.group)) text += fmt::format("{:>7}", column.value(gpu));
  return text + " \n";
}

std::string process_lines(const GpuView& gpu) {
  const auto row = [&](const std::string& number, std::string_view type, const std::string& sm,
                       const std::string& memory, std::string_view name) {
    return fmt::format("{:>5} {:>10}  {:>4}{:>7}{:>7}      -      -      -      -    {:<15}\n",
                       gpu.index, number, type, sm, memory, name);
  };
  if (gpu.processes.empty()) return row("-", "-", "-", "-", "-");
  std::string text;
  for (const auto& process : gpu.processes)
    text += row(text_of(process.number), "C", text_of(gpu.busy), text_of(gpu.memory_busy),
                process.name.substr(process.name.rfind('/') + 1));
  return text;
}

Task<int> refuse(ProcessPtr process, std::string what) {
  const auto text = fmt::format("ERROR: Option {} is not recognized.\n", what);
  co_await process->say(text);
  co_return 2;
}

Task<int> monitor(ProcessPtr process, MonitorRequest requested, bool of_processes) {
  if (!requested.unknown.empty()) co_return co_await refuse(process, requested.unknown);
  auto text = of_processes
                  ? std::string{"# gpu         pid   type     sm    mem    enc    dec    jpg    "
                                "ofa    command \n# Idx           #    C/G      %      %      %    "
                                "  %      %      %    name \n"}
                  : heading(requested.groups);
  for (int round = 0; requested.count < 0 || round < requested.count; ++round) {
    if (round > 0) co_await process->sleep(VirtualTime{requested.delay});
    if (process->interrupted()) break;
    const auto driver = look_at_gpus(process->host);
    for (const auto& gpu : driver.gpus) {
      const bool listed = requested.id.empty() ||
                          (("," + requested.id) + ",").contains(fmt::format(",{},", gpu.index));
      if (listed) text += of_processes ? process_lines(gpu) : line(gpu, requested.groups);
    }
    const int error = co_await process->write(1, text);
    if (error != 0) break;
    text.clear();
  }
  co_return process->fatal() != 0 ? 128 + process->fatal() : 0;
}

}  // namespace

Task<int> device_monitor(ProcessPtr process, Arguments arguments) {
  co_return co_await monitor(process, read_options(arguments), false);
}

Task<int> process_monitor(ProcessPtr process, Arguments arguments) {
  co_return co_await monitor(process, read_options(arguments), true);
}

}  // namespace cupel::rehearsal
