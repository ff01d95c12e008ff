// /sys of PCI functions, drives, GPUs, memory controllers and sensors.
#include <fmt/format.h>

#include <cmath>

#include "rehearsal/shell/host.h"
#include "rehearsal/shell/kernel_log.h"
#include "rehearsal/shell/tree_parts.h"
#include "rehearsal/tools/gpu_model.h"
#include "rehearsal/tools/gpu_view.h"

namespace cupel::rehearsal {
namespace {

std::string transfers(int gen) {
  constexpr std::array<std::string_view, 7> kRates{"Unknown", "2.5",  "5.0", "8.0",
                                                   "16.0",    "32.0", "64.0"};
  return std::string{kRates[static_cast<std::size_t>(std::clamp(gen, 0, 6))]} + " GT/s PCIe\n";
}

std::string count_text(std::uint64_t value) { return fmt::format("{}\n", value); }

}  // namespace

std::string pci_folder(const std::string& address) { return "/sys/bus/pci/devices/" + address; }

void plant_pci(FileSystem& disk, const PciFunction& function) {
  const auto folder = pci_folder(function.address);
  disk.put(folder + "/vendor", function.vendor + "\n");
  disk.put(folder + "/device", function.device + "\n");
  disk.put(folder + "/class", function.type + "\n");
  disk.put(folder + "/current_link_speed", transfers(function.gen));
  disk.put(folder + "/max_link_speed", transfers(function.gen_max));
  disk.put(folder + "/current_link_width", fmt::format("{}\n", function.width));
  disk.put(folder + "/max_link_width", fmt::format("{}\n", function.width_max));
  disk.put(folder + "/numa_node", fmt::format("{}\n", function.numa));
  disk.put(folder + "/uevent",
           fmt::format("{}PCI_SLOT_NAME={}\n",
                       function.driver.empty() ? "" : fmt::format("DRIVER={}\n", function.driver),
                       function.address));
}

void plant_device(FileSystem& disk, const std::string& path, std::string name) {
  const auto node = disk.put(path, "");
  node->kind = Inode::Kind::device;
  node->mode = 0666;
  node->bytes = std::move(name);
}

void plant_drive(Host& host, const Drive& drive) {
  auto& disk = host.disk();
  plant_pci(disk, {.address = drive.pci,
                   .vendor = "0x144d",
                   .device = "0xa80a",
                   .type = "0x010802",
                   .driver = "nvme",
                   .gen = drive.link.gen,
                   .gen_max = drive.link.gen_max,
                   .width = drive.link.width,
                   .width_max = drive.link.width_max});
  const auto name = drive.name + "n1";
  const auto folder = "/sys/class/nvme/" + drive.name;
  disk.put_link(folder + "/device", pci_folder(drive.pci));
  disk.put(folder + "/model", fmt::format("{:<40}\n", drive.model));
  disk.put(folder + "/serial", fmt::format("{:<20}\n", drive.serial));
  disk.put(folder + "/firmware_rev", drive.firmware + "\n");
  disk.put(folder + "/state", "live\n");
  disk.put(folder + "/transport", "pcie\n");
  disk.put(folder + "/address", drive.pci + "\n");
  disk.put(folder + "/" + name + "/size", fmt::format("{:.0f}\n", drive.bytes / 512));
  plant_device(disk, "/dev/" + name, "disk");
  disk.put("/sys/block/" + name + "/size", fmt::format("{:.0f}\n", drive.bytes / 512));
  disk.put("/sys/block/" + name + "/device/model", fmt::format("{:<40}\n", drive.model));
  disk.put("/sys/block/" + name + "/device/serial", fmt::format("{:<20}\n", drive.serial));
  disk.put("/sys/block/" + name + "/queue/rotational", "0\n");
}

void plant_gpu(Host& host, const Gpu& gpu) {
  auto& disk = host.disk();
  const bool loaded = is_driver_loaded(host.machine());
  const auto& model = gpu_model(gpu.model);
  std::string device{model.device};
  for (char& c : device) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  plant_pci(disk, {.address = gpu.pci,
                   .vendor = "0x10de",
                   .device = "0x" + device,
                   .type = "0x030200",
                   .driver = loaded ? "nvidia" : "",
                   .gen = gpu.gen,
                   .gen_max = gpu.gen_max,
                   .width = gpu.width,
                   .width_max = gpu.width_max,
                   .numa = gpu.numa});
  if (!loaded) return;
  // As the driver's own file of a GPU is laid out.
  disk.put("/proc/driver/nvidia/gpus/" + gpu.pci + "/information",
           fmt::format("Model: \t\t NVIDIA {}\nIRQ:   \t\t {}\nGPU UUID: \t {}\nVideo BIOS: \t {}\n"
                       "Bus Type: \t PCIe\nDMA Size: \t 52 bits\nDMA Mask: \t 0xfffffffffffff\n"
                       "Bus Location: \t {}\nDevice Minor: \t {}\nGPU Firmware: \t {}\nGPU "
                       "Excluded:\t No\n",
                       gpu.model, 18 + gpu.index, gpu.uuid, gpu.vbios, gpu.pci, gpu.index,
                       driver_version(host.machine().hardware())));
  plant_device(disk, fmt::format("/dev/nvidia{}", gpu.index), "gpu");
}

/// One controller for each socket, with its DIMMs under the names that are printed on the board.
void plant_memory_controllers(Host& host) {
  auto& disk = host.disk();
  const auto& hardware = host.machine().hardware();
  const auto sockets = std::max<std::size_t>(hardware.cpus.size(), 1);
  const auto socket_of = [sockets](const Dimm& dimm) {
    return dimm.locator.size() > 5 ? static_cast<std::size_t>(dimm.locator[5] - 'A') % sockets : 0;
  };
  const auto sum = [&host, socket_of](std::size_t socket, std::uint64_t DimmErrors::* which) {
    std::uint64_t all = 0;
    for (const auto& dimm : host.machine().hardware().dimms)
      if (dimm.present && socket_of(dimm) == socket) all += dimm_errors(host, dimm.name).*which;
    return count_text(all);
  };
  for (std::size_t i = 0; i < sockets; ++i) {
    const auto folder = fmt::format("/sys/devices/system/edac/mc/mc{}", i);
    disk.put(folder + "/mc_name", fmt::format("Intel_10nm Socket#{} IMC#0\n", i));
    disk.put_generated(folder + "/ce_count", [sum, i] { return sum(i, &DimmErrors::corrected); });
    disk.put_generated(folder + "/ue_count", [sum, i] { return sum(i, &DimmErrors::uncorrected); });
    disk.put(folder + "/ce_noinfo_count", "0\n");
    disk.put(folder + "/ue_noinfo_count", "0\n");
    int place = 0;
    for (const auto& dimm : hardware.dimms) {
      if (!dimm.present || socket_of(dimm) != i) continue;
      const auto each = fmt::format("{}/dimm{}", folder, place++);
      disk.put(each + "/dimm_label", dimm.locator.substr(5) + "\n");
      disk.put(each + "/dimm_mem_type", "Unbuffered-DDR5\n");
      disk.put(each + "/size", fmt::format("{:.0f}\n", dimm.bytes / 1048576));
      disk.put_generated(each + "/dimm_ce_count", [&host, name = dimm.name] {
        return count_text(dimm_errors(host, name).corrected);
      });
      disk.put_generated(each + "/dimm_ue_count", [&host, name = dimm.name] {
        return count_text(dimm_errors(host, name).uncorrected);
      });
    }
  }
}

/// coretemp's hwmon folders, thermal zones, clocks and throttle counters of the CPUs.
void plant_sensors(Host& host) {
  auto& disk = host.disk();
  const auto& cpus = host.machine().hardware().cpus;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    const int socket = static_cast<int>(i);
    const auto celsius = [&host, socket] {
      return fmt::format("{:.0f}\n",
                         std::round(host.machine().physics().cpu_celsius(socket)) * 1000);
    };
    const auto hwmon = fmt::format("/sys/class/hwmon/hwmon{}", i);
    disk.put(hwmon + "/name", "coretemp\n");
    disk.put(hwmon + "/temp1_label", fmt::format("Package id {}\n", i));
    disk.put(hwmon + "/temp1_crit", "103000\n");
    disk.put(hwmon + "/temp1_max", "93000\n");
    disk.put_generated(hwmon + "/temp1_input", celsius);
    const auto zone = fmt::format("/sys/class/thermal/thermal_zone{}", i);
    disk.put(zone + "/type", "x86_pkg_temp\n");
    disk.put_generated(zone + "/temp", celsius);
    const auto cpu = fmt::format("/sys/devices/system/cpu/cpu{}", socket * cpus[i].cores);
    disk.put(cpu + "/topology/physical_package_id", fmt::format("{}\n", socket));
    disk.put(cpu + "/cpufreq/base_frequency", "2000000\n");
    disk.put_generated(cpu + "/cpufreq/scaling_cur_freq", [&host, socket] {
      return fmt::format("{:.0f}\n", host.machine().physics().cpu_mhz(socket) * 1000);
    });
    disk.put(cpu + "/cpufreq/scaling_governor", "powersave\n");
    disk.put(cpu + "/cpufreq/scaling_available_governors", "performance powersave\n");
    disk.put_generated(
        cpu + "/thermal_throttle/package_throttle_count",
        [&host, name = cpus[i].name] { return count_text(throttle_events(host, name)); });
    disk.put_generated(cpu + "/thermal_throttle/core_throttle_count", [&host, name = cpus[i].name] {
      return count_text(throttle_events(host, name));
    });
  }
}

}  // namespace cupel::rehearsal
