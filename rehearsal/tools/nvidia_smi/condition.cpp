// What nvidia-smi tells of a GPU last: heat, power, clocks, NVLink fabric, processes.
#include <fmt/format.h>

#include "rehearsal/tools/gpu_view.h"
#include "rehearsal/tools/nvidia_smi/rows.h"

namespace cupel::rehearsal {
namespace {

void add_temperature(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  const auto margin = gpu.model.limit_celsius - gpu.celsius;
  rows.section(Section::temperature);
  rows.open("Temperature", "temperature");
  rows.leaf("GPU Current Temp", "gpu_temp", "temperature.gpu", fmt::format("{} C", gpu.celsius))
      .csv = std::to_string(gpu.celsius);
  rows.leaf("GPU T.Limit Temp", "gpu_temp_tlimit", "temperature.gpu.tlimit",
            fmt::format("{} C", margin))
      .csv = std::to_string(margin);
  rows.leaf("GPU Shutdown T.Limit Temp", "gpu_temp_max_tlimit_threshold", "", "-8 C");
  rows.leaf("GPU Slowdown T.Limit Temp", "gpu_temp_slow_tlimit_threshold", "", "-2 C");
  rows.leaf("GPU Max Operating T.Limit Temp", "gpu_temp_max_gpu_tlimit_threshold", "", "0 C");
  rows.leaf("GPU Target Temperature", "gpu_target_temperature", "", "N/A");
  rows.leaf("Memory Current Temp", "memory_temp", "temperature.memory",
            fmt::format("{} C", gpu.memory_celsius))
      .csv = std::to_string(gpu.memory_celsius);
  rows.leaf("Memory Max Operating T.Limit Temp", "gpu_temp_max_mem_tlimit_threshold", "", "0 C");
  rows.close();
  rows.section(Section::none);
  rows.open("", "supported_gpu_target_temp");
  rows.leaf("", "gpu_target_temp_min", "", "N/A");
  rows.leaf("", "gpu_target_temp_max", "", "N/A");
  rows.close();
}

void add_module_power(RowWriter& rows, const DriverView&, const GpuView&) {
  rows.open("Module Power Readings", "module_power_readings");
  rows.leaf("", "power_state", "", kDeprecated);
  rows.leaf("Average Power Draw", "average_power_draw", "module.power.draw.average [W]", "N/A");
  rows.leaf("Instantaneous Power Draw", "instant_power_draw", "module.power.draw.instant [W]",
            "N/A");
  rows.leaf("Current Power Limit", "current_power_limit", "module.enforced.power.limit [W]", "N/A");
  rows.leaf("Requested Power Limit", "requested_power_limit", "module.power.limit [W]", "N/A");
  rows.leaf("Default Power Limit", "default_power_limit", "module.power.default_limit [W]", "N/A");
  rows.leaf("Min Power Limit", "min_power_limit", "module.power.min_limit [W]", "N/A");
  rows.leaf("Max Power Limit", "max_power_limit", "module.power.max_limit [W]", "N/A");
  rows.close();
}

void add_smoothing(RowWriter& rows, const DriverView&, const GpuView&) {
  rows.section(Section::power_smoothing);
  rows.leaf("Power Smoothing", "power_smoothing",
            "power_smoothing.delayed_power_smoothing_supported", "N/A");
  const std::string smoothing = "power_smoothing.";
  for (const auto* field :
       {"primary_power_floor [W]", "secondary_power_floor [W]",
        "min_primary_floor_activation_offset [W]", "min_primary_floor_activation_point [W]",
        "window_multiplier [ms]", "curr_profile.secondary_power_floor [W]",
        "curr_profile.primary_floor_act_window_multiplier",
        "curr_profile.primary_floor_tar_window_multiplier",
        "curr_profile.primary_floor_act_offset [W]", "admin_override.secondary_power_floor [W]",
        "admin_override.primary_floor_act_window_multiplier",
        "admin_override.primary_floor_tar_window_multiplier",
        "admin_override.primary_floor_act_offset [W]"})
    rows.leaf("", "", smoothing + field, "N/A");
  rows.section(Section::power_profiles);
  rows.open("Workload Power Profiles", "power_profiles");
  rows.leaf("Requested Profiles", "power_profile_requested_profiles", "", "N/A");
  rows.leaf("Enforced Profiles", "power_profile_enforced_profiles", "", "N/A");
  rows.close();
  rows.section(Section::none);
  rows.leaf("EDPp Multiplier", "edpp_multiplier", "edpp_multiplier [%]", "100.00%").csv =
      "100.00 %";
}

void add_power(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  const auto watts = [](double value) { return fmt::format("{:.2f} W", value); };
  const auto limit = watts(gpu.requested_watts);
  const auto enforced = watts(gpu.limit_watts);
  rows.section(Section::power);
  rows.open("GPU Power Readings", "gpu_power_readings");
  rows.leaf("", "power_state", "", kDeprecated);
  rows.leaf("", "", "power.management", kDeprecated);
  rows.leaf("", "", "power.draw [W]", watts(gpu.watts));
  rows.leaf("Average Power Draw", "average_power_draw", "power.draw.average [W]", watts(gpu.watts));
  rows.leaf("Instantaneous Power Draw", "instant_power_draw", "power.draw.instant [W]",
            watts(gpu.watts));
  rows.leaf("Current Power Limit", "current_power_limit", "enforced.power.limit [W]", enforced);
  rows.leaf("Requested Power Limit", "requested_power_limit", "power.limit [W]", limit);
  rows.leaf("Default Power Limit", "default_power_limit", "power.default_limit [W]",
            watts(gpu.model.default_watts));
  rows.leaf("Min Power Limit", "min_power_limit", "power.min_limit [W]",
            watts(gpu.model.min_watts));
  rows.leaf("Max Power Limit", "max_power_limit", "power.max_limit [W]",
            watts(gpu.model.default_watts));
  rows.close();
  rows.open("GPU Memory Power Readings ", "gpu_memory_power_readings");
  rows.leaf("Average Power Draw", "average_power_draw", "", "N/A");
  rows.leaf("Instantaneous Power Draw", "instant_power_draw", "", "N/A");
  rows.close();
}

void add_clocks(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  const auto mhz = [](int value) { return fmt::format("{} MHz", value); };
  const auto video = gpu.idle() ? gpu.model.idle_video_mhz : gpu.model.max_video_mhz;
  rows.section(Section::clock);
  rows.open("Clocks", "clocks");
  rows.leaf("Graphics", "graphics_clock", "clocks.current.graphics [MHz]", mhz(gpu.sm_mhz));
  rows.leaf("SM", "sm_clock", "clocks.current.sm [MHz]", mhz(gpu.sm_mhz));
  rows.leaf("Memory", "mem_clock", "clocks.current.memory [MHz]", mhz(gpu.memory_mhz));
  rows.leaf("Video", "video_clock", "clocks.current.video [MHz]", mhz(video));
  rows.close();
  const std::string deprecated{kDeprecated};
  rows.open("Applications Clocks", "applications_clocks");
  rows.leaf("Graphics", "graphics_clock", "clocks.applications.graphics [MHz]", deprecated);
  rows.leaf("Memory", "mem_clock", "clocks.applications.memory [MHz]", deprecated);
  rows.close();
  rows.open("Default Applications Clocks", "default_applications_clocks");
  rows.leaf("Graphics", "graphics_clock", "clocks.default_applications.graphics [MHz]", deprecated);
  rows.leaf("Memory", "mem_clock", "clocks.default_applications.memory [MHz]", deprecated);
  rows.close();
  rows.open("Deferred Clocks", "deferred_clocks");
  rows.leaf("Memory", "mem_clock", "", "N/A");
  rows.close();
  rows.open("Max Clocks", "max_clocks");
  rows.leaf("Graphics", "graphics_clock", "clocks.max.graphics [MHz]", mhz(gpu.model.max_sm_mhz));
  rows.leaf("SM", "sm_clock", "clocks.max.sm [MHz]", mhz(gpu.model.max_sm_mhz));
  rows.leaf("Memory", "mem_clock", "clocks.max.memory [MHz]", mhz(gpu.model.memory_mhz));
  rows.leaf("Video", "video_clock", "", mhz(gpu.model.max_video_mhz));
  rows.close();
  rows.open("Max Customer Boost Clocks", "max_customer_boost_clocks");
  rows.leaf("Graphics", "graphics_clock", "", mhz(gpu.model.max_sm_mhz));
  rows.close();
  rows.open("Clock Policy", "clock_policy");
  rows.leaf("Auto Boost", "auto_boost", "", "N/A");
  rows.leaf("Auto Boost Default", "auto_boost_default", "", "N/A");
  rows.close();
}

void add_fabric(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  const bool joined = gpu.fabric_state == "Completed";
  rows.section(Section::none);
  rows.open("Fabric", "fabric");
  rows.leaf("State", "state", "fabric.state", gpu.fabric_state);
  rows.leaf("Status", "status", "fabric.status", gpu.fabric_status);
  rows.leaf("CliqueId", "cliqueId", "fabric.cliqueId", joined ? gpu.fabric_clique : "N/A");
  rows.leaf("ClusterUUID", "clusterUuid", "fabric.clusterUuid",
            joined ? gpu.fabric_cluster : "N/A");
  rows.open("Health", "health");
  // A machine that is a fabric by itself reports no health of it (driver 590, H100 and H200).
  const bool reports = joined && gpu.fabric_clique != "0";
  const auto health = [&](std::string label, const std::string& tag, std::string good) {
    rows.leaf(std::move(label), tag, "fabric.health." + tag, reports ? good : "N/A").bare = true;
  };
  health("Summary", "summary", "Healthy");
  health("Bandwidth", "bandwidth", "Full");
  health("Route Recovery in progress", "route_recovery_in_progress", "False");
  health("Route Unhealthy", "route_unhealthy", "False");
  health("Access Timeout Recovery", "access_timeout_recovery", "False");
  health("Incorrect Configuration", "incorrect_configuration", "None");
  rows.leaf("", "partition_assigned", "", "N/A");
  rows.close();
  rows.close();
}

/// Every clock that can be set, in steps of 15 MHz; the text tells them for `-d` alone, which
/// nobody here asks for.
void add_supported_clocks(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  constexpr int kStep = 15, kLeast = 210;
  rows.section(Section::none);
  rows.open("", "supported_clocks");
  rows.open("", "supported_mem_clock");
  rows.leaf("", "value", "", fmt::format("{} MHz", gpu.model.memory_mhz));
  for (int mhz = gpu.model.max_sm_mhz; mhz >= kLeast; mhz -= kStep)
    rows.leaf("", "supported_graphics_clock", "", fmt::format("{} MHz", mhz));
  rows.close();
  rows.close();
}

void add_processes(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  rows.section(Section::pids);
  if (gpu.processes.empty()) {
    rows.leaf("Processes", "processes", "", "None").xml = "\n\t\t";
  } else {
    rows.open("Processes", "processes");
    for (const auto& process : gpu.processes) {
      rows.open("", "process_info");
      const auto add = [&](std::string label, std::string tag, std::string value, int deeper) {
        auto& row = rows.leaf(std::move(label), std::move(tag), "", std::move(value));
        row.column = 42;
        row.deeper = deeper;
      };
      add("GPU instance ID", "gpu_instance_id", "N/A", -1);
      add("Compute instance ID", "compute_instance_id", "N/A", -1);
      add("Process ID", "pid", std::to_string(process.number), -1);
      add("Type", "type", "C", 0);
      add("Name", "process_name", process.name, 0);
      add("Used GPU Memory", "used_memory", fmt::format("{} MiB", process.mib), 0);
      rows.close();
    }
    rows.close();
  }
  rows.section(Section::none);
  rows.leaf("", "accounted_processes", "", "").xml = "\n\t\t";
  rows.open("Capabilities", "capabilities");
  rows.leaf("EGM", "egm", "", "disabled");
  rows.close();
}

}  // namespace

std::span<const AddRows> condition_parts() {
  static constexpr std::array<AddRows, 8> kParts{
      add_temperature, add_power,  add_module_power,     add_smoothing,
      add_clocks,      add_fabric, add_supported_clocks, add_processes};
  return kParts;
}

}  // namespace cupel::rehearsal
