#include "rehearsal/shell/kernel_log.h"

#include <fmt/format.h>

#include <cmath>

#include "rehearsal/physics/random.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/system_tree.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/gpu_view.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;
using Lines = std::vector<KernelLine>;
constexpr int kCritical = 2, kError = 3, kWarning = 4, kInformational = 6;

/// Seconds of this boot since a fault has been there; negative where it has not.
double since_boot(const Host& host, const Fault& fault) {
  const auto& clock = host.machine().clock();
  const double up = clock.epoch() - host.booted_at();
  const double there = (clock.elapsed() - fault.timing.after).count();
  return std::min(up, there);
}

/// When in this boot a fault began.
double began(const Host& host, const Fault& fault) {
  const double up = host.machine().clock().epoch() - host.booted_at();
  return std::max(0.0, up - since_boot(host, fault));
}

/// "0000:1b:00" of "0000:1b:00.0", as an Xid names a GPU.
std::string xid_place(const std::string& pci) { return pci.substr(0, pci.rfind('.')); }

std::string xid(const Gpu& gpu, int code, std::string_view what) {
  return fmt::format("NVRM: Xid (PCI:{}): {}, pid='<unknown>', name=<unknown>, {}",
                     xid_place(gpu.pci), code, what);
}

/// Gb/s of one lane. Source: PCIe base specification; the kernel's PCIE_SPEED2MBS_ENC.
double lane_rate(int gen) {
  constexpr std::array<double, 7> kRates{0, 2, 4, 7.876, 15.753, 31.506, 63.012};
  return kRates[static_cast<std::size_t>(std::clamp(gen, 0, 6))];
}
std::string_view transfers(int gen) {
  constexpr std::array<std::string_view, 7> kNames{"Unknown", "2.5",  "5.0", "8.0",
                                                   "16.0",    "32.0", "64.0"};
  return kNames[static_cast<std::size_t>(std::clamp(gen, 0, 6))];
}

std::string bandwidth(const Gpu& gpu) {
  const double now = lane_rate(gpu.gen) * gpu.width;
  const double most = lane_rate(gpu.gen_max) * gpu.width_max;
  if (now >= most)
    return fmt::format("pci {}: {:.3f} Gb/s available PCIe bandwidth ({} GT/s PCIe x{} link)",
                       gpu.pci, now, transfers(gpu.gen), gpu.width);
  return fmt::format(
      "pci {}: {:.3f} Gb/s available PCIe bandwidth, limited by {} GT/s PCIe x{} link at "
      "{}:{:02x}:01.0 (capable of {:.3f} Gb/s with {} GT/s PCIe x{} link)",
      gpu.pci, now, transfers(gpu.gen), gpu.width, gpu.pci.substr(0, 4),
      std::stoi(gpu.pci.substr(5, 2), nullptr, 16) - 2, most, transfers(gpu.gen_max),
      gpu.width_max);
}

void add_boot(Lines& lines, Host& host) {
  const auto& hardware = host.machine().hardware();
  lines.push_back({0, 5,
                   fmt::format("Linux version {} (debian-kernel@lists.debian.org) (gcc-12 "
                               "12.2.0) #1 SMP PREEMPT_DYNAMIC",
                               kKernelRelease)});
  lines.push_back({0, kInformational, "Command line: " + std::string{kCommandLine}});
  lines.push_back(
      {0, kInformational,
       fmt::format("DMI: {} {}/{}, BIOS {} 05/12/2024", hardware.manufacturer, hardware.model,
                   hardware.model, hardware.version("HostBIOS_0", "01.01.03"))});
  lines.push_back({0.4, kInformational,
                   fmt::format("smpboot: Allowing {} CPUs, 0 hotplug CPUs", hardware.threads())});
  lines.push_back(
      {0.6, kInformational,
       fmt::format("Memory: {:.0f}K/{:.0f}K available", hardware.memory_bytes() * 0.985 / 1024,
                   hardware.memory_bytes() / 1024)});
  for (const auto& gpu : hardware.gpus) lines.push_back({1.9, kInformational, bandwidth(gpu)});
  for (const auto& drive : hardware.drives)
    lines.push_back(
        {3.1, kInformational, fmt::format("nvme {}: pci function {}", drive.name, drive.pci)});
  for (const auto& adapter : hardware.adapters)
    if (adapter.infiniband)
      lines.push_back(
          {4.2, kInformational,
           fmt::format("mlx5_core {}: firmware version: {}", adapter.pci, adapter.firmware)});
  for (std::size_t i = 0; i < hardware.cpus.size(); ++i)
    lines.push_back({5, kInformational,
                     fmt::format("EDAC MC{0}: Giving out device to module i10nm_edac "
                                 "controller Intel_10nm Socket#{0} IMC#0: DEV "
                                 "0000:{1:02x}:0c.0 (INTERRUPT)",
                                 i, 0x7e + i * 0x80)});
}

void add_driver(Lines& lines, Host& host) {
  if (!is_driver_loaded(host.machine())) return;
  const auto& hardware = host.machine().hardware();
  for (std::size_t i = 0; i < hardware.nvswitches.size(); ++i)
    lines.push_back({7.6, kInformational, fmt::format("nvidia-nvswitch{}: open (major=510)", i)});
  double at = 8.1;
  for (const auto& gpu : hardware.gpus)
    lines.push_back({at += 0.04, kInformational,
                     fmt::format("nvidia {}: enabling device (0000 -> 0002)", gpu.pci)});
  lines.push_back({8.8, 5,
                   fmt::format("NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  "
                               "{}  Release Build",
                               driver_version(hardware))});
  const auto view = look_at_gpus(host);
  if (view.library == view.version) return;
  for (const auto& text :
       {fmt::format("NVRM: API mismatch: the client has the version {}, but", view.library),
        fmt::format("NVRM: this kernel module has the version {}.  Please", view.version),
        std::string{"NVRM: make sure that this kernel module and all NVIDIA driver"},
        std::string{"NVRM: components have the same version."}})
    lines.push_back({14, kError, text});
}

std::string_view words_of(int code) {
  switch (code) {
    case 13:
      return "Graphics SM Global Exception on (GPC 8, TPC 5, SM 1): Multiple Warp Errors";
    case 31:
      return "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ "
             "0x7f5c_e2000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ";
    case 43:
      return "Ch 00000008";
    case 48:
      return "DBE (double bit error) Error Detected";
    case 62:
      return "Internal micro-controller halt (newer drivers)";
    case 63:
      return "Row Remapper: New row (0x0000000000fffed6) marked for remapping, reset gpu to "
             "activate.";
    case 64:
      return "Row Remapper: Failed to remap row: no spare row is left in the bank";
    case 74:
      return "NVLink: fatal error detected on link 0(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)";
    case 79:
      return "GPU has fallen off the bus.";
    case 94:
      return "Contained: CE User Channel (0x9). RST: No, D-RST: No";
    case 95:
      return "Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No";
    case 119:
      return "Timeout after 6s of waiting for RPC response from GPU GSP! Expected function 103 "
             "(GSP_RM_ALLOC) (0x2081 0x4).";
    default:
      return "unknown error";
  }
}

void add_fallen(Lines& lines, Host& host, const Gpu& gpu) {
  const auto lost = host.gpus().lost(gpu.name);
  if (!lost) return;
  const auto& clock = host.machine().clock();
  const double up = clock.epoch() - host.booted_at();
  const double at = std::max(10.5, up - (clock.elapsed().count() - *lost));
  for (const auto& text :
       {fmt::format("NVRM: GPU at PCI:{}: {}", xid_place(gpu.pci), gpu.uuid),
        fmt::format("NVRM: GPU Board Serial Number: {}", gpu.serial), xid(gpu, 79, words_of(79)),
        fmt::format("NVRM: GPU {}: GPU has fallen off the bus.", gpu.pci),
        fmt::format("NVRM: GPU {}: GPU serial number is {}.", gpu.pci, gpu.serial)})
    lines.push_back({at, kWarning, text});
  // The switches' ends of its links fault up soon after.
  const auto& switches = host.machine().hardware().nvswitches;
  for (std::size_t i = 0; i < switches.size(); ++i)
    lines.push_back({at + 11.85, kError,
                     fmt::format("nvidia-nvswitch{}: SXid (PCI:{}): 20034, Fatal, Link {} LTSSM "
                                 "Fault Up",
                                 i, switches[i].pci, 32 + gpu.index * 4)});
}

/// Xids that a fault of one GPU stands for.
void add_xids(Lines& lines, Host& host, const Gpu& gpu) {
  const auto& machine = host.machine();
  const auto add = [&](FaultKind kind, int code) {
    if (const auto* fault = fault_begun(machine, kind, gpu.name))
      lines.push_back({began(host, *fault) + 12, kWarning, xid(gpu, code, words_of(code))});
  };
  add(gpu_ecc, 48);
  if (host.gpus().restarts(gpu.name) == 0) add(gpu_remap_pending, 63);
  add(gpu_remap_failed, 64);
  if (const auto* down = fault_begun(machine, nvlink_down, gpu.name))
    lines.push_back({began(host, *down) + 13, kWarning,
                     xid(gpu, 74,
                         fmt::format("NVLink: fatal error detected on link {}(0x0, 0x0, "
                                     "0x10000, 0x0, 0x0, 0x0, 0x0)",
                                     down->number.value_or(0)))});
  if (const auto* any = fault_begun(machine, gpu_xid, gpu.name)) {
    const int code = any->number.value_or(43);
    lines.push_back({began(host, *any) + 15, kWarning, xid(gpu, code, words_of(code))});
  }
  add_fallen(lines, host, gpu);
  const auto replay = machine.physics().first_replay(gpu.index);
  if (!replay) return;
  // Whoever has read the log up to some line reads on after it: none may come before it later.
  const auto& clock = machine.clock();
  const double up = clock.epoch() - host.booted_at();
  const double at = std::max(16.0, up - (clock.elapsed() - *replay).count());
  lines.push_back({at, kWarning,
                   fmt::format("pcieport {}: AER: Corrected error received: {}",
                               gpu.pci.substr(0, 8) + "01.0", gpu.pci)});
  lines.push_back({at, kWarning,
                   fmt::format("nvidia {}: PCIe Bus Error: severity=Corrected, "
                               "type=Data Link Layer, (Transmitter ID)",
                               gpu.pci)});
}

void add_switches(Lines& lines, Host& host) {
  const auto& switches = host.machine().hardware().nvswitches;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    const auto* fault = fault_begun(host.machine(), nvswitch_fatal, switches[i].name);
    if (fault == nullptr) continue;
    const double at = began(host, *fault) + 12;
    lines.push_back({at, kError,
                     fmt::format("nvidia-nvswitch{}: SXid (PCI:{}): 20034, Fatal, Link 48 LTSSM "
                                 "Fault Up",
                                 i, switches[i].pci)});
    lines.push_back({at, kError,
                     fmt::format("nvidia-nvswitch{}: SXid (PCI:{}): 20034, Severity 1 Engine "
                                 "instance 48 Sub-engine instance 00",
                                 i, switches[i].pci)});
  }
}

/// "dimm B3": controller, channel and slot as EDAC names the place.
std::string edac_line(const std::string& dimm, std::string_view kind, std::uint64_t page) {
  const int socket = dimm.size() > 5 ? dimm[5] - 'A' : 0;
  const int place = dimm.size() > 6 ? std::max(0, std::atoi(dimm.c_str() + 6) - 1) : 0;
  return fmt::format(
      "EDAC MC{0}: 1 {1} memory read error on {5} (channel:{2} slot:{3} page:0x{4:x} offset:0x0 "
      "grain:32 syndrome:0x0 - err_code:0x0101:0x0090 SystemAddress:0x{4:x}000 "
      "ProcessorSocketId:0x{0:x} MemoryControllerId:0x0 ChannelAddress:0x0)",
      socket, kind, place / 2, place % 2, page, dimm.substr(5));
}

void add_memory(Lines& lines, Host& host) {
  constexpr std::uint64_t kMost = 64;
  for (const auto& dimm : host.machine().hardware().dimms) {
    const auto errors = dimm_errors(host, dimm.name);
    const auto draw = Draw{3}.of(dimm.serial);
    const auto* storm = fault_begun(host.machine(), dimm_storm, dimm.name);
    for (std::uint64_t i = errors.corrected - std::min(errors.corrected, kMost);
         storm != nullptr && i < errors.corrected; ++i) {
      const double each = since_boot(host, *storm) / static_cast<double>(errors.corrected);
      const double at = began(host, *storm) + each * static_cast<double>(i + 1);
      lines.push_back({at, kError, "mce: [Hardware Error]: Machine check events logged"});
      lines.push_back({at, kError, edac_line(dimm.name, "CE", draw.of(i).bits() % 0x7ffffff)});
    }
    const auto* uncorrected = fault_begun(host.machine(), dimm_uncorrected, dimm.name);
    const double at = uncorrected == nullptr ? 0 : std::max(17.0, began(host, *uncorrected) + 5);
    for (std::uint64_t i = 0; i < std::min(errors.uncorrected, kMost); ++i)
      lines.push_back(
          {at, kCritical, edac_line(dimm.name, "UE", draw.of(i + 7).bits() % 0x7ffffff)});
  }
}

/// "{gpu3}" becomes "0000:61:00.0".
std::string with_addresses(std::string line, const Hardware& hardware) {
  const auto put = [&](const auto& parts) {
    for (const auto& part : parts)
      if (const auto at = line.find("{" + part.name + "}"); at != line.npos)
        line.replace(at, part.name.size() + 2, part.pci);
  };
  put(hardware.gpus);
  put(hardware.adapters);
  put(hardware.drives);
  return line;
}

/// A line that comes back, each of its last times; another one once a boot.
void add_planted(Lines& lines, Host& host) {
  constexpr int kMost = 64;
  const auto& machine = host.machine();
  const auto now = machine.clock().elapsed();
  for (const auto& fault : machine.planted()) {
    const int turns = fault.kind == kernel_line ? fault.timing.begun(now) : 0;
    const auto add = [&](double at) {
      lines.push_back({at, kError, with_addresses(fault.component, machine.hardware())});
    };
    if (turns > 0 && !fault.timing.every) add(began(host, fault) + 12);
    if (!fault.timing.every) continue;
    for (int turn = std::max(0, turns - kMost); turn < turns; ++turn) {
      const auto since = now - fault.timing.after - *fault.timing.every * turn;
      const double at = machine.clock().epoch() - host.booted_at() - since.count();
      if (at > 0) add(at);
    }
  }
}

void add_rest(Lines& lines, Host& host) {
  constexpr double kFirstLoad = 18;  // seconds after the boot: a core is hot once it works
  const auto& machine = host.machine();
  for (const auto& drive : machine.hardware().drives)
    if (const auto* bad = fault_begun(machine, disk_errors, drive.name))
      lines.push_back({began(host, *bad) + 20, kCritical,
                       fmt::format("critical medium error, dev {}n1, sector 2048 op 0x0:(READ) "
                                   "flags 0x0 phys_seg 1 prio class 2",
                                   drive.name)});
  for (std::size_t i = 0; i < machine.hardware().cpus.size(); ++i) {
    const auto& cpu = machine.hardware().cpus[i];
    const auto events = throttle_events(host, cpu.name);
    const auto* slow = fault_begun(machine, cpu_throttled, cpu.name);
    if (events > 0 && slow != nullptr)
      lines.push_back({std::max(kFirstLoad, began(host, *slow)), kCritical,
                       fmt::format("mce: CPU{}: Package temperature is above threshold, cpu clock "
                                   "is throttled (total events = {})",
                                   static_cast<int>(i) * cpu.cores, events)});
  }
  for (const auto& adapter : machine.hardware().adapters) {
    const auto* flaps = fault_begun(machine, hca_flapping, adapter.name);
    if (flaps == nullptr || !adapter.infiniband) continue;
    constexpr int kMost = 64;
    const auto now = machine.clock().elapsed();
    const int turns = flaps->timing.begun(now);
    for (int turn = std::max(0, turns - kMost); turn < turns; ++turn) {
      const auto length = flaps->timing.every.value_or(VirtualTime{0});
      const auto up = flaps->timing.lasts.value_or(VirtualTime{0});
      const double at = machine.clock().epoch() - host.booted_at() -
                        (now - flaps->timing.after - length * turn - up).count();
      if (at > 0 && at <= machine.clock().epoch() - host.booted_at())
        lines.push_back({at, kInformational,
                         fmt::format("IPv6: ADDRCONF(NETDEV_CHANGE): ib{}: link becomes "
                                     "ready",
                                     adapter.name.substr(5))});
    }
  }
}

}  // namespace

DimmErrors dimm_errors(const Host& host, const std::string& dimm) {
  constexpr double kUsualRate = 3600;  // an hour
  const auto& machine = host.machine();
  DimmErrors errors;
  if (const auto* storm = fault_begun(machine, dimm_storm, dimm)) {
    const double hours = std::max(0.0, since_boot(host, *storm)) / 3600;
    errors.corrected = static_cast<std::uint64_t>(storm->errors.value_or(kUsualRate) * hours);
  }
  if (const auto* bad = fault_begun(machine, dimm_uncorrected, dimm))
    errors.uncorrected = static_cast<std::uint64_t>(std::max(0, bad->errors.value_or(1)));
  return errors;
}

std::uint64_t throttle_events(const Host& host, const std::string& cpu) {
  const auto* fault = fault_begun(host.machine(), cpu_throttled, cpu);
  if (fault == nullptr) return 0;
  constexpr double kEach =
      5;  // seconds: the kernel's CHECK_INTERVAL is 300 s, the counter's is not
  return 1 + static_cast<std::uint64_t>(std::max(0.0, since_boot(host, *fault)) / kEach);
}

std::vector<KernelLine> kernel_lines(Host& host) {
  Lines lines;
  add_boot(lines, host);
  add_driver(lines, host);
  for (const auto& gpu : host.machine().hardware().gpus) add_xids(lines, host, gpu);
  add_switches(lines, host);
  add_memory(lines, host);
  add_planted(lines, host);
  add_rest(lines, host);
  std::ranges::stable_sort(lines, {}, &KernelLine::at);
  const double up = host.machine().clock().epoch() - host.booted_at();
  // A boot's own lines are there at once: the time that they tell is the kernel's.
  for (auto& line : lines) line.at = std::min(line.at, std::max(up, 20.0));
  return lines;
}

}  // namespace cupel::rehearsal
