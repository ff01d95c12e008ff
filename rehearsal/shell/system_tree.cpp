#include "rehearsal/shell/system_tree.h"

#include <fmt/format.h>

#include "rehearsal/shell/host.h"
#include "rehearsal/shell/program.h"
#include "rehearsal/shell/tree_parts.h"
#include "rehearsal/tools/cuda_libraries.h"
#include "rehearsal/tools/gpu_view.h"

namespace cupel::rehearsal {
namespace {

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

std::string cpu_text(const Machine& machine) {
  const auto& hardware = machine.hardware();
  std::string text;
  int processor = 0;
  for (int thread = 0; thread < hardware.threads_of_core; ++thread)
    for (std::size_t socket = 0; socket < hardware.cpus.size(); ++socket) {
      auto model = hardware.cpus[socket].model;
      if (!model.contains("Xeon") && !model.contains("EPYC"))
        model = "Intel(R) Xeon(R) Platinum " + model;
      const double mhz = machine.physics().cpu_mhz(static_cast<int>(socket));
      for (int core = 0; core < hardware.cpus[socket].cores; ++core)
        text += fmt::format(
            "processor\t: {}\nvendor_id\t: GenuineIntel\nmodel name\t: {}\ncpu MHz\t\t: {:.3f}\n"
            "physical id\t: {}\nsiblings\t: {}\ncore id\t\t: {}\ncpu cores\t: {}\nflags\t\t: fpu "
            "avx512f amx_tile\n\n",
            processor++, model, mhz, socket, hardware.cpus[socket].cores * hardware.threads_of_core,
            core, hardware.cpus[socket].cores);
    }
  return text;
}

void plant_nodes(FileSystem& disk, const Hardware& hardware) {
  const auto sockets = std::max<std::size_t>(hardware.cpus.size(), 1);
  const int cores = hardware.cores();
  const int each = cores / static_cast<int>(sockets);
  disk.put("/sys/devices/system/cpu/online",
           fmt::format("0-{}\n", std::max(1, hardware.threads()) - 1));
  disk.put("/sys/devices/system/node/online", fmt::format("0-{}\n", sockets - 1));
  for (std::size_t i = 0; i < sockets; ++i) {
    const auto folder = fmt::format("/sys/devices/system/node/node{}", i);
    const int first = static_cast<int>(i) * each;
    auto list = fmt::format("{}-{}", first, first + each - 1);
    for (int thread = 1; thread < hardware.threads_of_core; ++thread)
      list += fmt::format(",{}-{}", first + thread * cores, first + thread * cores + each - 1);
    disk.put(folder + "/cpulist", list + "\n");
    const double total = total_kib(hardware) / static_cast<double>(sockets);
    disk.put(
        folder + "/meminfo",
        fmt::format("Node {0} MemTotal:       {1:.0f} kB\nNode {0} MemFree:        {2:.0f} kB\n"
                    "Node {0} Active(file):   1048576 kB\nNode {0} Inactive(file): 2097152 kB\n"
                    "Node {0} AnonPages:       524288 kB\n",
                    i, total, total * 0.985));
  }
}

void plant_identity(FileSystem& disk, const Machine& machine) {
  const auto& hardware = machine.hardware();
  const std::string folder = "/sys/class/dmi/id/";
  disk.put(folder + "sys_vendor", hardware.manufacturer + "\n");
  disk.put(folder + "product_name", hardware.model + "\n");
  disk.put(folder + "product_serial", smbios_serial(machine) + "\n", 0400);
  disk.put(folder + "product_uuid", hardware.uuid + "\n", 0400);
  disk.put(folder + "board_vendor", hardware.manufacturer + "\n");
  disk.put(folder + "bios_vendor", "American Megatrends International, LLC.\n");
  disk.put(folder + "bios_version", hardware.version("HostBIOS_0", "01.01.03") + "\n");
  disk.put(folder + "bios_date", "05/12/2024\n");
}

void plant_proc(Host& host) {
  auto& disk = host.disk();
  auto& machine = host.machine();
  disk.put_generated("/proc/cpuinfo", [&machine] { return cpu_text(machine); });
  disk.put_generated("/proc/meminfo", [&machine] { return memory_text(machine.hardware()); });
  disk.put_generated("/proc/uptime", [&host, &machine] {
    const double up = machine.clock().epoch() - host.booted_at();
    return fmt::format("{:.2f} {:.2f}\n", up, up * 200);
  });
  disk.put("/proc/vmstat", "nr_free_pages 520000000\noom_kill 0\n");
  disk.put("/proc/loadavg", "0.08 0.03 0.01 1/1024 4242\n");
  disk.put("/proc/cmdline", command_line(machine.hardware()) + "\n");
  disk.put("/proc/version", fmt::format("Linux version {} (buildd@lcy02) #1 SMP\n",
                                        kernel_release(machine.hardware())));
  disk.put("/proc/mounts",
           "/dev/md0 / ext4 rw,relatime 0 0\ntmpfs /tmp tmpfs rw 0 0\n"
           "10.72.0.1@o2ib:/cupel /lustre lustre rw,flock,lazystatfs 0 0\n");
  disk.put("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
  disk.put("/proc/interrupts",
           "            CPU0       CPU1\n MCE:          0          0   Machine check exceptions\n "
           "MCP:         12         12   Machine check polls\n");
  disk.put("/proc/modules", is_driver_loaded(machine)
                                ? "nvidia 56000000 100 nvidia_uvm,nvidia_modeset, Live 0x0\n"
                                : "");
  disk.put("/proc/sys/kernel/osrelease", kernel_release(machine.hardware()) + "\n");
  disk.put("/proc/sys/kernel/numa_balancing", "1\n");
  disk.put("/proc/sys/kernel/hostname", machine.host_name() + "\n");
  disk.put("/proc/sys/kernel/random/boot_id", host.boot_id() + "\n");
}

/// What the GPUs' module shows of itself.
void plant_driver(FileSystem& disk, const Hardware& hardware) {
  disk.put("/proc/driver/nvidia/version",
           fmt::format("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release "
                       "Build\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n",
                       driver_version(hardware)));
  disk.put("/sys/module/nvidia/version", driver_version(hardware) + "\n");
}

}  // namespace

std::string kernel_release(const Hardware& hardware) {
  return hardware.version("kernel", std::string{kKernelRelease});
}

std::string command_line(const Hardware& hardware) {
  return hardware.version("command line", std::string{kCommandLine});
}

void plant_disk(Host& host) {
  auto& disk = host.disk();
  for (const auto* folder :
       {"/root", "/home", "/tmp", "/var/tmp", "/var/log", "/run", "/mnt", "/opt", "/srv", "/etc",
        "/lustre", "/proc", "/sys", "/dev/shm", "/usr/local/bin"})
    disk.make_folders(folder);
  for (const auto* open : {"/tmp", "/var/tmp", "/dev/shm"}) disk.find(open)->mode = 01777;
  disk.put("/etc/hostname", host.machine().host_name() + "\n");
  disk.put("/etc/hosts", "127.0.0.1 localhost\n");
  if (const auto* set = find_fault(host.machine().faults(), FaultKind::nccl_setting))
    disk.put("/etc/nccl.conf", set->component + "=" + set->version + "\n");
  disk.put("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n");
  disk.put("/etc/machine-id", "b0a3c0ffee000000000000000000cafe\n");
  disk.put("/etc/os-release",
           "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n"
           "VERSION_ID=\"12\"\nVERSION=\"12 (bookworm)\"\nID=debian\n");
  for (const auto& tool : tools())
    disk.put("/usr/bin/" + std::string{tool.name},
             std::string{kProgramMark} + " " + std::string{tool.name}, 0755);
  plant_cuda_libraries(disk);
  disk.put_link("/bin", "/usr/bin");
  disk.put_link("/sbin", "/usr/bin");
  disk.put_link("/usr/sbin", "/usr/bin");
  for (const auto& [path, name] :
       std::initializer_list<std::pair<const char*, const char*>>{{"/dev/null", "null"},
                                                                  {"/dev/zero", "zero"},
                                                                  {"/dev/full", "full"},
                                                                  {"/dev/urandom", "random"},
                                                                  {"/dev/random", "random"}})
    plant_device(disk, path, name);
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
  plant_identity(disk, host.machine());
  plant_nodes(disk, hardware);
  if (is_driver_loaded(host.machine())) plant_driver(disk, hardware);
  for (const auto& gpu : hardware.gpus) plant_gpu(host, gpu);
  for (const auto& nvswitch : hardware.nvswitches)
    plant_pci(disk, {.address = nvswitch.pci,
                     .vendor = "0x10de",
                     .device = "0x22a3",
                     .type = "0x068000",
                     .driver = "nvidia-nvswitch",
                     .gen = 4,
                     .gen_max = 4,
                     .width = 2,
                     .width_max = 2});
  for (const auto& drive : hardware.drives) plant_drive(host, drive);
  for (const auto& adapter : hardware.adapters) plant_adapter(host, adapter);
  plant_memory_controllers(host);
  plant_sensors(host);
}

void plant_process(Host& host, const std::shared_ptr<Process>& process) {
  auto& disk = host.disk();
  const auto folder = disk.make_folders("/proc/" + std::to_string(process->number));
  const std::weak_ptr<Process> weak = process;
  disk.put_generated(*folder, "environ", [weak] {
    std::string text;
    if (const auto one = weak.lock())
      for (const auto& [name, value] : one->environment) text += name + "=" + value + '\0';
    return text;
  });
  disk.put_generated(*folder, "cmdline", [weak] {
    const auto one = weak.lock();
    return one ? one->command + '\0' : std::string{};
  });
  disk.put_generated(*folder, "comm", [weak] {
    const auto one = weak.lock();
    return one ? one->command.substr(0, one->command.find(' ')) + "\n" : std::string{};
  });
  disk.put_generated(*folder, "stat", [weak] {
    const auto one = weak.lock();
    return one ? fmt::format("{} ({}) S {} {} {} 0 -1\n", one->number, "sh", one->parent,
                             one->group, one->session)
               : std::string{};
  });
}

}  // namespace cupel::rehearsal
