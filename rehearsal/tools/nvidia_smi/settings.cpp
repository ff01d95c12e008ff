#include "rehearsal/tools/nvidia_smi/settings.h"

#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/shell/host.h"

namespace cupel::rehearsal {
namespace {

constexpr auto kSettings = std::to_array<SettingOption>({
    {"-pm", "--persistence-mode", 'P', true},
    {"-e", "--ecc-config", 'e', true},
    {"-p", "--reset-ecc-errors", 'p', true},
    {"-c", "--compute-mode", 'c', true},
    {"-r", "--gpu-reset", 'r', false},
    {"-lgc", "--lock-gpu-clocks", 'l', true},
    {"-rgc", "--reset-gpu-clocks", 'u', false},
    {"-pl", "--power-limit", 'w', true},
    {"-mig", "--multi-instance-gpu", 'm', true},
});

/// "0", "DISABLED", "1", "ENABLED".
std::optional<bool> on_off(std::string_view value) {
  const auto word = lower_case(value);
  if (word == "1" || word == "enabled") return true;
  if (word == "0" || word == "disabled") return false;
  return std::nullopt;
}

Changed invalid(const Setting& setting) {
  return {
      fmt::format("Unable to parse argument '{}'. Please run 'nvidia-smi -h'.\n", setting.value),
      2};
}

constexpr std::string_view word(bool on) { return on ? "Enabled" : "Disabled"; }

Changed set_persistence(GpuSettings& set, const GpuView& gpu, bool on) {
  set.persistence = on;
  if (gpu.persistence == on)
    return {fmt::format("Persistence mode is already {} for GPU {}.\n", word(on), gpu.bus_id())};
  return {fmt::format("{} persistence mode for GPU {}.\n", word(on), gpu.bus_id())};
}

Changed set_ecc(GpuSettings& set, const GpuView& gpu, bool on) {
  set.ecc = gpu.ecc;
  set.ecc_pending = on;
  if (gpu.ecc_pending == on)
    return {fmt::format("ECC support is already {} for GPU {}.\n", word(on), gpu.bus_id())};
  return {fmt::format("{} ECC support for GPU {}.\nReboot required.\n", word(on), gpu.bus_id())};
}

/// Hopper changes at once where nobody uses the GPU. Source: NVIDIA MIG user guide, "Enable MIG
/// Mode".
Changed set_mig(GpuSettings& set, const GpuView& gpu, bool on) {
  set.mig_pending = on;
  if (!gpu.processes.empty())
    return {
        fmt::format("Warning: MIG mode is in pending {} state for GPU {}:In use by another "
                    "client\n",
                    on ? "enable" : "disable", gpu.bus_id())};
  set.mig = on;
  return {fmt::format("{} MIG Mode for GPU {}\n", word(on), gpu.bus_id())};
}

Changed set_power(Host& host, GpuSettings& set, const GpuView& gpu, const Setting& setting) {
  const auto watts = number<double>(setting.value);
  if (!watts) return invalid(setting);
  if (*watts < gpu.model.min_watts || *watts > gpu.model.default_watts)
    return {fmt::format("Provided power limit {:.2f} W is not a valid power limit which should be "
                        "between {:.2f} W and {:.2f} W for GPU {}\nTerminating early due to "
                        "previous errors.\n",
                        *watts, gpu.model.min_watts, gpu.model.default_watts, gpu.bus_id()),
            2};
  set.power_limit = *watts;
  host.machine().physics().limit_power(gpu.part.index, *watts);
  return {fmt::format("Power limit for GPU {} was set to {:.2f} W from {:.2f} W.\n", gpu.bus_id(),
                      *watts, gpu.limit_watts)};
}

Changed lock_clocks(Host& host, GpuSettings& set, const GpuView& gpu, const Setting& setting) {
  const auto parts = split(setting.value, ',');
  const auto least = number<int>(trimmed(parts.front())), most = number<int>(trimmed(parts.back()));
  if (!least || !most || *least > *most) return invalid(setting);
  set.locked_mhz = *most;
  host.machine().physics().lock_clock(gpu.part.index, *most);
  return {fmt::format("GPU clocks set to \"(gpuClkMin {}, gpuClkMax {})\" for GPU {}\n", *least,
                      *most, gpu.bus_id())};
}

Changed unlock_clocks(Host& host, GpuSettings& set, const GpuView& gpu) {
  set.locked_mhz.reset();
  host.machine().physics().lock_clock(gpu.part.index, std::nullopt);
  return {fmt::format("All GPU clocks reset to default for GPU {}\n", gpu.bus_id())};
}

Changed set_compute_mode(GpuSettings& set, const GpuView& gpu, const Setting& setting) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kModes{
      {{"default", "Default"}, {"prohibited", "Prohibited"}, {"exclusive_process", "E. Process"}}};
  const auto asked = lower_case(setting.value);
  for (std::size_t i = 0; i < kModes.size(); ++i) {
    const auto by_number = i == 0 ? "0" : i == 1 ? "2" : "3";
    if (asked != kModes[i].first && asked != by_number) continue;
    set.compute_mode = kModes[i].second;
    auto name = std::string{kModes[i].first};
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return {fmt::format("Set compute mode to {} for GPU {}.\n", name, gpu.bus_id())};
  }
  return invalid(setting);
}

void clear_counters(Host& host, const GpuView& gpu) {
  const auto errors = host.machine().physics().gpu_errors(gpu.part.index);
  auto& cleared = host.gpus().cleared(gpu.part.name);
  cleared.corrected = errors.corrected;
  cleared.uncorrected = errors.uncorrected;
}

Changed reset(Host& host, const GpuView& gpu) {
  if (gpu.lost)
    return {fmt::format("Unable to reset this GPU because it's lost: GPU {}. Reboot the system to "
                        "recover it.\n",
                        gpu.bus_id()),
            15};
  if (!gpu.processes.empty())
    return {fmt::format(
                "The following GPUs could not be reset:\n  GPU {}: In use by another client\n\n1 "
                "device is currently being used by one or more other processes (e.g., Fabric "
                "Manager, CUDA application, graphics application such as an X server, or a "
                "monitoring application such as another instance of nvidia-smi). Please first kill "
                "all processes using this device and all compute applications running in the "
                "system.\n",
                gpu.bus_id()),
            255};
  host.gpus().reset(gpu.part.name);
  clear_counters(host, gpu);
  host.gpus().cleared(gpu.part.name).pcie_replays =
      host.machine().physics().gpu_errors(gpu.part.index).pcie_replays;
  return {fmt::format("GPU {} was successfully reset.\n", gpu.bus_id())};
}

}  // namespace

const SettingOption* setting_option(std::string_view name) {
  for (const auto& option : kSettings)
    if (name == option.name || name == option.long_name) return &option;
  return nullptr;
}

Changed change(Host& host, const GpuView& gpu, const Setting& setting) {
  auto& set = host.gpus().settings(gpu.part.name);
  const auto on = on_off(setting.value);
  switch (setting.what) {
    case 'P':
      return on ? set_persistence(set, gpu, *on) : invalid(setting);
    case 'e':
      return on ? set_ecc(set, gpu, *on) : invalid(setting);
    case 'm':
      return on ? set_mig(set, gpu, *on) : invalid(setting);
    case 'p':
      clear_counters(host, gpu);
      return {fmt::format("Reset volatile ECC errors to zero for GPU {}.\n", gpu.bus_id())};
    case 'c':
      return set_compute_mode(set, gpu, setting);
    case 'w':
      return set_power(host, set, gpu, setting);
    case 'l':
      return lock_clocks(host, set, gpu, setting);
    case 'u':
      return unlock_clocks(host, set, gpu);
    case 'r':
      return reset(host, gpu);
    default:
      return invalid(setting);
  }
}

}  // namespace cupel::rehearsal
