#include "rehearsal/shell/system_tree.h"

#include <fmt/format.h>

#include "rehearsal/shell/host.h"
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {
namespace {

void device(FileSystem& disk, const std::string& path, std::string name) {
  const auto node = disk.put(path, "");
  node->kind = Inode::Kind::device;
  node->mode = 0666;
  node->bytes = std::move(name);
}

std::string gigatransfers(int gen) {
  constexpr std::array<std::string_view, 7> kRates{"Unknown", "2.5",  "5.0", "8.0",
                                                   "16.0",    "32.0", "64.0"};
  return std::string{kRates[static_cast<std::size_t>(std::clamp(gen, 0, 6))]} + " GT/s PCIe\n";
}

struct PciFunction {
  std::string address, vendor, device, type, driver;
  int gen, gen_max, width, width_max, numa;
};

std::string pci_folder(const std::string& address) { return "/sys/bus/pci/devices/" + address; }

void plant_pci(FileSystem& disk, const PciFunction& function) {
  const auto folder = pci_folder(function.address);
  disk.put(folder + "/vendor", function.vendor + "\n");
  disk.put(folder + "/device", function.device + "\n");
  disk.put(folder + "/class", function.type + "\n");
  disk.put(folder + "/current_link_speed", gigatransfers(function.gen));
  disk.put(folder + "/max_link_speed", gigatransfers(function.gen_max));
  disk.put(folder + "/current_link_width", fmt::format("{}\n", function.width));
  disk.put(folder + "/max_link_width", fmt::format("{}\n", function.width_max));
  disk.put(folder + "/numa_node", fmt::format("{}\n", function.numa));
  disk.put(folder + "/uevent",
           fmt::format("DRIVER={}\nPCI_SLOT_NAME={}\n", function.driver, function.address));
}

void plant_adapter(FileSystem& disk, const Adapter& adapter) {
  plant_pci(disk,
            {adapter.pci, adapter.infiniband ? "0x15b3" : "0x8086",
             adapter.infiniband ? "0x1021" : "0x1592", adapter.infiniband ? "0x020700" : "0x020000",
             adapter.infiniband ? "mlx5_core" : "ice", 5, 5, 16, 16, adapter.numa});
  const auto net = adapter.infiniband ? "ib" + adapter.name.substr(5) : adapter.name;
  disk.put("/sys/class/net/" + net + "/address", adapter.mac + "\n");
  disk.put("/sys/class/net/" + net + "/operstate", "up\n");
  disk.put("/sys/class/net/" + net + "/type", adapter.infiniband ? "32\n" : "1\n");
  disk.put_link("/sys/class/net/" + net + "/device", pci_folder(adapter.pci));
  disk.put("/sys/class/net/" + net + "/speed", adapter.infiniband ? "400000\n" : "100000\n");
  if (!adapter.infiniband) return;
  const auto folder = "/sys/class/infiniband/" + adapter.name;
  disk.put_link(folder + "/device", pci_folder(adapter.pci));
  disk.put(folder + "/fw_ver", adapter.firmware + "\n");
  disk.put(folder + "/hca_type", adapter.model + "\n");
  disk.put(folder + "/board_id", "MT_0000000838\n");
  disk.put(folder + "/node_guid", adapter.guid + "\n");
  disk.put(folder + "/ports/1/state", "4: ACTIVE\n");
  disk.put(folder + "/ports/1/phys_state", "5: LinkUp\n");
  disk.put(folder + "/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  disk.put(folder + "/ports/1/link_layer", "InfiniBand\n");
  for (const auto* counter :
       {"symbol_error", "link_downed", "link_error_recovery", "port_rcv_errors",
        "port_xmit_discards", "port_rcv_data", "port_xmit_data", "VL15_dropped"})
    disk.put(folder + "/ports/1/counters/" + counter, "0\n");
}

void plant_drive(FileSystem& disk, const Drive& drive) {
  plant_pci(disk, {drive.pci, "0x144d", "0xa80a", "0x010802", "nvme", 4, 4, 4, 4, 0});
  const auto name = drive.name + "n1";
  const auto folder = "/sys/class/nvme/" + drive.name;
  disk.put_link(folder + "/device", pci_folder(drive.pci));
  disk.put(folder + "/model", fmt::format("{:<40}\n", drive.model));
  disk.put(folder + "/serial", fmt::format("{:<20}\n", drive.serial));
  disk.put(folder + "/firmware_rev", "GDC5602Q\n");
  disk.put(folder + "/state", "live\n");
  disk.put(folder + "/" + name + "/size", fmt::format("{:.0f}\n", drive.bytes / 512));
  device(disk, "/dev/" + name, "disk");
  disk.put("/sys/block/" + name + "/size", fmt::format("{:.0f}\n", drive.bytes / 512));
  disk.put("/sys/block/" + name + "/device/model", fmt::format("{:<40}\n", drive.model));
  disk.put("/sys/block/" + name + "/device/serial", fmt::format("{:<20}\n", drive.serial));
  disk.put("/sys/block/" + name + "/queue/rotational", "0\n");
}

double total_kib(const Hardware& hardware) {
  // What firmware and kernel keep for themselves: about one and a half per cent on such a machine.
  return std::floor(hardware.memory_bytes() * 0.985 / 1024);
}

std::string memory_text(const Hardware& hardware) {
  const double total = total_kib(hardware);
  return fmt::format(
      "MemTotal:       {:.0f} kB\nMemFree:        {:.0f} kB\nMemAvailable:   {:.0f} kB\n"
      "Buffers:          102400 kB\nCached:         4194304 kB\nSwapTotal:             0 kB\n"
      "SwapFree:              0 kB\nHugePages_Total:       0\nHugepagesize:       2048 kB\n",
      total, total * 0.985, total * 0.98);
}

std::string cpu_text(const Hardware& hardware) {
  std::string text;
  int processor = 0;
  for (int thread = 0; thread < 2; ++thread)
    for (std::size_t socket = 0; socket < hardware.cpus.size(); ++socket)
      for (int core = 0; core < hardware.cpus[socket].cores; ++core) {
        auto model = hardware.cpus[socket].model;
        if (!model.contains("Xeon") && !model.contains("EPYC"))
          model = "Intel(R) Xeon(R) Platinum " + model;
        text += fmt::format(
            "processor\t: {}\nvendor_id\t: GenuineIntel\nmodel name\t: {}\ncpu MHz\t\t: 2000.000\n"
            "physical id\t: {}\nsiblings\t: {}\ncore id\t\t: {}\ncpu cores\t: {}\nflags\t\t: fpu "
            "avx512f amx_tile\n\n",
            processor++, model, socket, hardware.cpus[socket].cores * 2, core,
            hardware.cpus[socket].cores);
      }
  return text;
}

void plant_nodes(FileSystem& disk, const Hardware& hardware) {
  const auto sockets = std::max<std::size_t>(hardware.cpus.size(), 1);
  const int cores = hardware.cores();
  const int each = cores / static_cast<int>(sockets);
  disk.put("/sys/devices/system/cpu/online", fmt::format("0-{}\n", std::max(1, cores * 2) - 1));
  disk.put("/sys/devices/system/node/online", fmt::format("0-{}\n", sockets - 1));
  for (std::size_t i = 0; i < sockets; ++i) {
    const auto folder = fmt::format("/sys/devices/system/node/node{}", i);
    const int first = static_cast<int>(i) * each;
    disk.put(folder + "/cpulist", fmt::format("{}-{},{}-{}\n", first, first + each - 1,
                                              first + cores, first + cores + each - 1));
    disk.put(folder + "/meminfo", fmt::format("Node {} MemTotal:       {:.0f} kB\n", i,
                                              total_kib(hardware) / static_cast<double>(sockets)));
    disk.put(fmt::format("/sys/devices/system/edac/mc/mc{}/ce_count", i), "0\n");
    disk.put(fmt::format("/sys/devices/system/edac/mc/mc{}/ue_count", i), "0\n");
    disk.put(fmt::format("/sys/devices/system/edac/mc/mc{}/mc_name", i), "Intel_10nm\n");
  }
}

void plant_identity(FileSystem& disk, const Hardware& hardware) {
  const std::string folder = "/sys/class/dmi/id/";
  disk.put(folder + "sys_vendor", hardware.manufacturer + "\n");
  disk.put(folder + "product_name", hardware.model + "\n");
  disk.put(folder + "product_serial", hardware.serial + "\n", 0400);
  disk.put(folder + "product_uuid", hardware.uuid + "\n", 0400);
  disk.put(folder + "board_vendor", hardware.manufacturer + "\n");
  disk.put(folder + "bios_vendor", "American Megatrends International, LLC.\n");
  disk.put(folder + "bios_version", hardware.version("HostBIOS_0", "01.01.03") + "\n");
  disk.put(folder + "bios_date", "05/12/2024\n");
}

void plant_proc(Host& host) {
  auto& disk = host.disk();
  auto& machine = host.machine();
  disk.put_generated("/proc/cpuinfo", [&machine] { return cpu_text(machine.hardware()); });
  disk.put_generated("/proc/meminfo", [&machine] { return memory_text(machine.hardware()); });
  disk.put_generated("/proc/uptime", [&host, &machine] {
    const double up = machine.clock().epoch() - host.booted_at();
    return fmt::format("{:.2f} {:.2f}\n", up, up * 200);
  });
  disk.put("/proc/vmstat", "nr_free_pages 520000000\noom_kill 0\n");
  disk.put("/proc/loadavg", "0.08 0.03 0.01 1/1024 4242\n");
  disk.put("/proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz root=/dev/md0 ro iommu=pt\n");
  disk.put("/proc/version",
           fmt::format("Linux version {} (buildd@lcy02) #1 SMP\n", kKernelRelease));
  disk.put("/proc/mounts", "/dev/md0 / ext4 rw,relatime 0 0\ntmpfs /tmp tmpfs rw 0 0\n");
  disk.put("/proc/modules", "nvidia 56000000 100 nvidia_uvm,nvidia_modeset, Live 0x0\n");
  disk.put("/proc/sys/kernel/osrelease", std::string{kKernelRelease} + "\n");
  disk.put("/proc/sys/kernel/hostname", machine.name() + "\n");
  disk.put("/proc/sys/kernel/random/boot_id", host.boot_id() + "\n");
}

}  // namespace

void plant_disk(Host& host) {
  auto& disk = host.disk();
  for (const auto* folder : {"/root", "/home", "/tmp", "/var/tmp", "/var/log", "/run", "/mnt",
                             "/opt", "/srv", "/etc", "/proc", "/sys", "/dev/shm", "/usr/local/bin"})
    disk.make_folders(folder);
  for (const auto* open : {"/tmp", "/var/tmp", "/dev/shm"}) disk.find(open)->mode = 01777;
  disk.put("/etc/hostname", host.machine().name() + "\n");
  disk.put("/etc/hosts", "127.0.0.1 localhost\n");
  disk.put("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n");
  disk.put("/etc/machine-id", "b0a3c0ffee000000000000000000cafe\n");
  disk.put("/etc/os-release",
           "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n"
           "VERSION_ID=\"12\"\nVERSION=\"12 (bookworm)\"\nID=debian\n");
  for (const auto& tool : tools())
    disk.put("/usr/bin/" + std::string{tool.name},
             std::string{kProgramMark} + " " + std::string{tool.name}, 0755);
  disk.put_link("/bin", "/usr/bin");
  disk.put_link("/sbin", "/usr/bin");
  disk.put_link("/usr/sbin", "/usr/bin");
  for (const auto& [path, name] :
       std::initializer_list<std::pair<const char*, const char*>>{{"/dev/null", "null"},
                                                                  {"/dev/zero", "zero"},
                                                                  {"/dev/full", "full"},
                                                                  {"/dev/urandom", "random"},
                                                                  {"/dev/random", "random"}})
    device(disk, path, name);
}

void plant_system(Host& host) {
  auto& disk = host.disk();
  const auto& hardware = host.machine().hardware();
  disk.remove_tree("/sys");
  disk.remove_tree("/proc/driver");
  std::vector<std::string> old_drives;
  for (const auto& [name, node] : disk.find("/dev")->entries)
    if (name.starts_with("nvme") || name.starts_with("nvidia")) old_drives.push_back(name);
  for (const auto& name : old_drives) disk.remove_tree("/dev/" + name);
  plant_proc(host);
  plant_identity(disk, hardware);
  plant_nodes(disk, hardware);
  for (const auto& gpu : hardware.gpus) {
    plant_pci(disk, {gpu.pci, "0x10de", "0x2330", "0x030200", "nvidia", gpu.gen, gpu.gen_max,
                     gpu.width, gpu.width_max, gpu.numa});
    disk.put("/proc/driver/nvidia/gpus/" + gpu.pci + "/information",
             fmt::format("Model: \t\t {}\nBus Location: \t {}\n", gpu.model, gpu.pci));
    device(disk, fmt::format("/dev/nvidia{}", gpu.index), "gpu");
  }
  for (const auto& drive : hardware.drives) plant_drive(disk, drive);
  for (const auto& adapter : hardware.adapters) plant_adapter(disk, adapter);
}

void plant_process(Host& host, const std::shared_ptr<Process>& process) {
  const auto folder = "/proc/" + std::to_string(process->number);
  const std::weak_ptr<Process> weak = process;
  host.disk().put_generated(folder + "/environ", [weak] {
    std::string text;
    if (const auto one = weak.lock())
      for (const auto& [name, value] : one->environment) text += name + "=" + value + '\0';
    return text;
  });
  host.disk().put_generated(folder + "/cmdline", [weak] {
    const auto one = weak.lock();
    return one ? one->command + '\0' : std::string{};
  });
  host.disk().put_generated(folder + "/comm", [weak] {
    const auto one = weak.lock();
    return one ? one->command.substr(0, one->command.find(' ')) + "\n" : std::string{};
  });
  host.disk().put_generated(folder + "/stat", [weak] {
    const auto one = weak.lock();
    return one ? fmt::format("{} ({}) S {} {} {} 0 -1\n", one->number, "sh", one->parent,
                             one->group, one->session)
               : std::string{};
  });
}

}  // namespace cupel::rehearsal
