#include "rehearsal/tools/nvidia_smi.h"

#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

std::string product(const Gpu& gpu) {
  return gpu.model.starts_with("NVIDIA") ? gpu.model : "NVIDIA " + gpu.model;
}
/// nvidia-smi writes eight digits of domain and capitals.
std::string bus_id(const Gpu& gpu) {
  auto id = "0000" + gpu.pci;
  for (char& c : id) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return id;
}
long mebibytes(const Gpu& gpu) { return static_cast<long>(gpu.bytes / 1048576); }
std::string driver(const Hardware& hardware) { return hardware.version("driver", "550.90.07"); }
int temperature(const Gpu& gpu) { return 28 + (gpu.index * 5) % 9; }
double watts(const Gpu& gpu) { return 68.0 + gpu.index * 1.37; }

std::string table(const Hardware& hardware, const std::string& now) {
  const std::string rule =
      "+-----------------------------------------+------------------------+----------------------+"
      "\n";
  auto text = now + "       \n" +
              "+-----------------------------------------------------------------------------------"
              "------+\n" +
              fmt::format("| NVIDIA-SMI {0:<22} Driver Version: {0:<14} CUDA Version: 12.4     |\n",
                          driver(hardware)) +
              rule +
              "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile "
              "Uncorr. ECC |\n"
              "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  "
              "Compute M. |\n"
              "|                                         |                        |               "
              "MIG M. |\n"
              "|=========================================+========================+================"
              "======|\n";
  int index = 0;
  for (const auto& gpu : hardware.gpus) {
    text += fmt::format("| {:>3}  {:<26} {:>6}  |   {} Off | {:>20} |\n", index++,
                        product(gpu).substr(0, 26), "On", bus_id(gpu), gpu.uncorrected);
    text += fmt::format(
        "| N/A   {}C    P0            {:>4.0f}W /  700W | {:>8}MiB / {:>6}MiB | {:>7}%      "
        "Default |\n",
        temperature(gpu), watts(gpu), 1, mebibytes(gpu), 0);
    text +=
        "|                                         |                        |             Disabled "
        "|\n" +
        rule;
  }
  return text +
         "\n+--------------------------------------------------------------------------------------"
         "---+\n"
         "| Processes:                                                                             "
         " |\n"
         "|  GPU   GI   CI        PID   Type   Process name                              GPU "
         "Memory |\n"
         "|        ID   ID                                                               Usage     "
         " |\n"
         "|========================================================================================"
         "=|\n"
         "|  No running processes found                                                            "
         " |\n"
         "+----------------------------------------------------------------------------------------"
         "-+\n";
}

std::string identity_xml(const Gpu& gpu, int index) {
  return fmt::format(R"(		<product_name>{}</product_name>
		<product_brand>NVIDIA</product_brand>
		<product_architecture>Hopper</product_architecture>
		<display_mode>Enabled</display_mode>
		<display_active>Disabled</display_active>
		<persistence_mode>Enabled</persistence_mode>
		<addressing_mode>None</addressing_mode>
		<mig_mode>
			<current_mig>Disabled</current_mig>
			<pending_mig>Disabled</pending_mig>
		</mig_mode>
		<mig_devices>
			None
		</mig_devices>
		<accounting_mode>Disabled</accounting_mode>
		<accounting_mode_buffer_size>4000</accounting_mode_buffer_size>
		<serial>{}</serial>
		<uuid>{}</uuid>
		<minor_number>{}</minor_number>
		<vbios_version>{}</vbios_version>
		<multigpu_board>No</multigpu_board>
		<board_id>0x{}00</board_id>
		<board_part_number>692-2G520-0200-000</board_part_number>
		<gpu_part_number>2330-885-A1</gpu_part_number>
		<gpu_module_id>{}</gpu_module_id>
)",
                     product(gpu), gpu.serial, gpu.uuid, index, gpu.vbios, gpu.pci.substr(5, 2),
                     gpu.index + 1);
}

std::string link_xml(const Gpu& gpu) {
  return fmt::format(R"(		<pci>
			<pci_bus>{}</pci_bus>
			<pci_device>{}</pci_device>
			<pci_domain>0000</pci_domain>
			<pci_device_id>233010DE</pci_device_id>
			<pci_bus_id>{}</pci_bus_id>
			<pci_sub_system_id>16C110DE</pci_sub_system_id>
			<pci_gpu_link_info>
				<pcie_gen>
					<max_link_gen>{}</max_link_gen>
					<current_link_gen>{}</current_link_gen>
					<device_current_link_gen>{}</device_current_link_gen>
					<max_device_link_gen>{}</max_device_link_gen>
					<max_host_link_gen>{}</max_host_link_gen>
				</pcie_gen>
				<link_widths>
					<max_link_width>{}x</max_link_width>
					<current_link_width>{}x</current_link_width>
				</link_widths>
			</pci_gpu_link_info>
			<replay_counter>0</replay_counter>
			<replay_rollover_counter>0</replay_rollover_counter>
			<tx_util>0 KB/s</tx_util>
			<rx_util>0 KB/s</rx_util>
		</pci>
		<gpu_reset_status>
			<reset_required>{}</reset_required>
			<drain_and_reset_recommended>No</drain_and_reset_recommended>
		</gpu_reset_status>
		<fan_speed>N/A</fan_speed>
		<performance_state>P0</performance_state>
)",
                     bus_id(gpu).substr(9, 2), bus_id(gpu).substr(12, 2), bus_id(gpu), gpu.gen_max,
                     gpu.gen, gpu.gen, gpu.gen_max, gpu.gen_max, gpu.width_max, gpu.width,
                     gpu.remap_pending ? "Yes" : "No");
}

constexpr std::array<std::string_view, 9> kReasons{
    "gpu_idle",    "applications_clocks_setting", "sw_power_cap",
    "hw_slowdown", "hw_thermal_slowdown",         "hw_power_brake_slowdown",
    "sync_boost",  "sw_thermal_slowdown",         "display_clocks_setting"};

std::string memory_xml(const Gpu& gpu) {
  std::string text = "\t\t<clocks_event_reasons>\n";
  for (const auto reason : kReasons)
    text += fmt::format("\t\t\t<clocks_event_reason_{0}>{1}</clocks_event_reason_{0}>\n", reason,
                        reason == "gpu_idle" ? "Active" : "Not Active");
  return text + fmt::format(R"(		</clocks_event_reasons>
		<fb_memory_usage>
			<total>{} MiB</total>
			<reserved>531 MiB</reserved>
			<used>1 MiB</used>
			<free>{} MiB</free>
		</fb_memory_usage>
		<compute_mode>Default</compute_mode>
		<utilization>
			<gpu_util>0 %</gpu_util>
			<memory_util>0 %</memory_util>
		</utilization>
)",
                            mebibytes(gpu), mebibytes(gpu) - 532);
}

std::string ecc_xml(const Gpu& gpu) {
  const auto counts = [&](std::string_view name) {
    return fmt::format(R"(			<{0}>
				<sram_correctable>0</sram_correctable>
				<sram_uncorrectable_parity>0</sram_uncorrectable_parity>
				<sram_uncorrectable_secded>0</sram_uncorrectable_secded>
				<dram_correctable>0</dram_correctable>
				<dram_uncorrectable>{1}</dram_uncorrectable>
			</{0}>
)",
                       name, gpu.uncorrected);
  };
  return R"(		<ecc_mode>
			<current_ecc>Enabled</current_ecc>
			<pending_ecc>Enabled</pending_ecc>
		</ecc_mode>
		<ecc_errors>
)" + counts("volatile") +
         counts("aggregate") +
         fmt::format(R"(		</ecc_errors>
		<retired_pages>
			<pending_retirement>N/A</pending_retirement>
		</retired_pages>
		<remapped_rows>
			<remapped_row_corr>0</remapped_row_corr>
			<remapped_row_unc>{}</remapped_row_unc>
			<remapped_row_pending>{}</remapped_row_pending>
			<remapped_row_failure>No</remapped_row_failure>
			<row_remapper_histogram>
				<row_remapper_histogram_max>2560 bank(s)</row_remapper_histogram_max>
				<row_remapper_histogram_high>0 bank(s)</row_remapper_histogram_high>
				<row_remapper_histogram_partial>0 bank(s)</row_remapper_histogram_partial>
				<row_remapper_histogram_low>0 bank(s)</row_remapper_histogram_low>
				<row_remapper_histogram_none>0 bank(s)</row_remapper_histogram_none>
			</row_remapper_histogram>
		</remapped_rows>
)",
                     gpu.remap_pending ? 1 : 0, gpu.remap_pending ? "Yes" : "No");
}

std::string sensors_xml(const Gpu& gpu) {
  return fmt::format(R"(		<temperature>
			<gpu_temp>{} C</gpu_temp>
			<gpu_temp_tlimit>{} C</gpu_temp_tlimit>
			<gpu_temp_max_tlimit_threshold>-8 C</gpu_temp_max_tlimit_threshold>
			<gpu_temp_slow_tlimit_threshold>-2 C</gpu_temp_slow_tlimit_threshold>
			<gpu_temp_max_gpu_tlimit_threshold>0 C</gpu_temp_max_gpu_tlimit_threshold>
			<memory_temp>{} C</memory_temp>
		</temperature>
		<gpu_power_readings>
			<power_state>P0</power_state>
			<power_draw>{:.2f} W</power_draw>
			<current_power_limit>700.00 W</current_power_limit>
			<requested_power_limit>700.00 W</requested_power_limit>
			<default_power_limit>700.00 W</default_power_limit>
			<min_power_limit>200.00 W</min_power_limit>
			<max_power_limit>700.00 W</max_power_limit>
		</gpu_power_readings>
		<clocks>
			<graphics_clock>345 MHz</graphics_clock>
			<sm_clock>345 MHz</sm_clock>
			<mem_clock>2619 MHz</mem_clock>
			<video_clock>765 MHz</video_clock>
		</clocks>
		<max_clocks>
			<graphics_clock>1980 MHz</graphics_clock>
			<sm_clock>1980 MHz</sm_clock>
			<mem_clock>2619 MHz</mem_clock>
			<video_clock>1545 MHz</video_clock>
		</max_clocks>
		<fabric>
			<state>Completed</state>
			<status>Success</status>
		</fabric>
		<processes>
		</processes>
)",
                     temperature(gpu), 87 - temperature(gpu), temperature(gpu) + 7, watts(gpu));
}

std::string xml(const Hardware& hardware, const std::string& now) {
  auto text = fmt::format(R"(<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<timestamp>{}</timestamp>
	<driver_version>{}</driver_version>
	<cuda_version>12.4</cuda_version>
	<attached_gpus>{}</attached_gpus>
)",
                          now, driver(hardware), hardware.gpus.size());
  int index = 0;
  for (const auto& gpu : hardware.gpus)
    text += fmt::format("\t<gpu id=\"{}\">\n", bus_id(gpu)) + identity_xml(gpu, index++) +
            link_xml(gpu) + memory_xml(gpu) + ecc_xml(gpu) + sensors_xml(gpu) + "\t</gpu>\n\n";
  return text + "</nvidia_smi_log>\n";
}

/// One field of --query-gpu; nothing where there is no such field.
std::optional<std::string> field(const Hardware& hardware, const Gpu& gpu, int index,
                                 std::string_view name, bool units) {
  const auto with = [&](auto value, std::string_view unit) {
    return units ? fmt::format("{} {}", value, unit) : fmt::format("{}", value);
  };
  if (name == "index") return std::to_string(index);
  if (name == "name" || name == "gpu_name") return product(gpu);
  if (name == "serial" || name == "gpu_serial") return gpu.serial;
  if (name == "uuid" || name == "gpu_uuid") return gpu.uuid;
  if (name == "pci.bus_id" || name == "gpu_bus_id") return bus_id(gpu);
  if (name == "driver_version") return driver(hardware);
  if (name == "vbios_version") return gpu.vbios;
  if (name == "count") return std::to_string(hardware.gpus.size());
  if (name == "pcie.link.gen.current" || name == "pcie.link.gen.gpucurrent")
    return std::to_string(gpu.gen);
  if (name == "pcie.link.gen.max" || name == "pcie.link.gen.gpumax")
    return std::to_string(gpu.gen_max);
  if (name == "pcie.link.width.current") return std::to_string(gpu.width);
  if (name == "pcie.link.width.max") return std::to_string(gpu.width_max);
  if (name == "memory.total") return with(mebibytes(gpu), "MiB");
  if (name == "memory.used") return with(1, "MiB");
  if (name == "memory.free") return with(mebibytes(gpu) - 532, "MiB");
  if (name == "temperature.gpu") return std::to_string(temperature(gpu));
  if (name == "temperature.memory") return std::to_string(temperature(gpu) + 7);
  if (name == "power.draw") return with(fmt::format("{:.2f}", watts(gpu)), "W");
  if (name == "power.limit" || name == "power.max_limit") return with("700.00", "W");
  if (name == "utilization.gpu" || name == "utilization.memory") return with(0, "%");
  if (name == "ecc.mode.current" || name == "persistence_mode" || name == "ecc.mode.pending")
    return "Enabled";
  if (name == "mig.mode.current" || name == "mig.mode.pending") return "Disabled";
  if (name.starts_with("ecc.errors.uncorrected")) return std::to_string(gpu.uncorrected);
  if (name.starts_with("ecc.errors.corrected")) return "0";
  if (name == "remapped_rows.pending") return gpu.remap_pending ? "Yes" : "No";
  if (name == "remapped_rows.failure") return "No";
  if (name.starts_with("remapped_rows.")) return "0";
  if (name == "pstate") return "P0";
  if (name == "clocks.sm" || name == "clocks.gr" || name == "clocks.current.sm")
    return with(345, "MHz");
  if (name == "clocks.mem" || name == "clocks.current.memory") return with(2619, "MHz");
  if (name == "compute_cap") return "9.0";
  if (name == "clocks_event_reasons.active" || name == "clocks_throttle_reasons.active")
    return "0x0000000000000001";
  return std::nullopt;
}

Task<int> query(ProcessPtr process, const Hardware& hardware, std::string fields,
                std::string format) {
  const bool units = !format.contains("nounits"), header = !format.contains("noheader");
  std::string text;
  const auto names = split(fields, ',');
  for (const auto name : names) text += (text.empty() ? "" : ", ") + std::string{trimmed(name)};
  text = header ? text + "\n" : "";
  int index = 0;
  for (const auto& gpu : hardware.gpus) {
    std::string line;
    for (const auto name : names) {
      const auto value = field(hardware, gpu, index, trimmed(name), units);
      if (!value) {
        const auto wrong =
            fmt::format("Field \"{}\" is not a valid field to query.\n\n", trimmed(name));
        co_await process->say(wrong);
        co_return 2;
      }
      line += (line.empty() ? "" : ", ") + *value;
    }
    text += line + "\n";
    ++index;
  }
  co_await process->say(text);
  co_return 0;
}

/// What `-i` leaves: an index, a UUID or a PCI address; nothing said leaves all.
Hardware chosen(Hardware hardware, std::string id) {
  if (id.empty()) return hardware;
  id = lower_case(id);
  const auto as_index = number<std::size_t>(id);
  std::vector<Gpu> left;
  for (std::size_t i = 0; i < hardware.gpus.size(); ++i) {
    const auto& gpu = hardware.gpus[i];
    const bool named = (as_index && *as_index == i) || lower_case(gpu.uuid) == id ||
                       (id.size() >= 7 && lower_case(bus_id(gpu)).ends_with(id));
    if (named) left.push_back(gpu);
  }
  hardware.gpus = std::move(left);
  return hardware;
}

/// The value of "-i 3", "--id=3".
std::string wanted_id(const Arguments& arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i].starts_with("--id=")) return arguments[i].substr(5);
    const bool next = arguments[i] == "-i" || arguments[i] == "--id";
    if (next && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return {};
}

}  // namespace

Task<int> nvidia_smi(ProcessPtr process, Arguments arguments) {
  const auto hardware = chosen(process->host.machine().hardware(), wanted_id(arguments));
  std::string fields, format;
  bool list = false, is_xml = false, log = false, setting = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    if (word.starts_with("--query-gpu=")) fields = word.substr(12);
    if (word.starts_with("--format=")) format = word.substr(9);
    list |= word == "-L" || word == "--list-gpus";
    is_xml |= word == "-x" || word == "--xml-format";
    log |= word == "-q" || word == "--query";
    setting |= word == "-pm" || word == "-e" || word == "-lgc" || word == "-pl" || word == "-rgc";
  }
  if (hardware.gpus.empty()) {
    co_await process->say("No devices were found\n");
    co_return 6;
  }
  if (!fields.empty())
    co_return co_await query(process, hardware, std::move(fields), std::move(format));
  char now[64];
  const auto seconds = static_cast<std::time_t>(process->now());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::strftime(now, sizeof now, "%a %b %e %H:%M:%S %Y", &parts);
  std::string text;
  if (setting) {
    text = "All done.\n";
  } else if (list) {
    int index = 0;
    for (const auto& gpu : hardware.gpus)
      text += fmt::format("GPU {}: {} (UUID: {})\n", index++, product(gpu), gpu.uuid);
  } else if (is_xml && log) {
    text = xml(hardware, now);
  } else {
    text = table(hardware, now);
  }
  co_await process->say(text);
  co_return 0;
}

}  // namespace cupel::rehearsal
