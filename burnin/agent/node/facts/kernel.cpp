#include <sys/timex.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {
namespace {

/// "kernel module version" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun
/// Jul..." and of the open one ("... Open Kernel Module for x86_64  580.65.06  Release Build ..."):
/// the first word that is digits and points.
std::optional<std::string> driver_version(std::string_view text) {
  const auto first = text.substr(0, text.find('\n'));
  for (const auto word : words(first)) {
    const bool version = word.find('.') != word.npos &&
                         word.find_first_not_of("0123456789.") == word.npos && word.front() != '.';
    if (version) return std::string{word};
  }
  return std::nullopt;
}

/// "42.5 1234.5": seconds since the boot.
std::optional<double> uptime(const Tree& tree) {
  const auto reported = tree.text("/proc/uptime");
  return reported ? number_in(reported->substr(0, reported->find(' '))) : std::nullopt;
}

constexpr std::array kTopGroups{"/sys/fs/cgroup/system.slice",
                                "/sys/fs/cgroup/systemd/system.slice",
                                "/sys/fs/cgroup/unified/system.slice"};
constexpr std::array kTimeUnits{
    "chronyd", "chrony",     "systemd-timesyncd", "ntpd",    "ntp",  "ntpsec", "ptp4l",
    "phc2sys", "timemaster", "openntpd",          "ntpd-rs", "ptpd", "ptpd2",  "sfptpd"};
/// As /proc has them: 15 characters. ntp-daemon is that of ntpd-rs.
constexpr std::array kTimePrograms{"chronyd",    "systemd-timesyn", "ntpd", "ptp4l", "phc2sys",
                                   "timemaster", "ntp-daemon",      "ptpd", "ptpd2", "sfptpd"};

bool is_time_program(const Tree& tree, const std::string& process) {
  if (process.find_first_not_of("0123456789") != process.npos) return false;
  const auto name = tree.text("/proc/" + process + "/comm");
  return name && std::ranges::find(kTimePrograms, *name) != kTimePrograms.end();
}

/// What sets the clock: a unit, or a program that another unit runs. "none" where systemd runs, all
/// processes were seen, and it is none of them; nothing where that cannot be seen.
std::optional<std::string> clock_keeper(const Tree& tree) {
  bool has_units = false;
  for (const std::string top : kTopGroups) {
    has_units |= tree.exists(top);
    for (const std::string unit : kTimeUnits)
      if (tree.text(top + "/" + unit + ".service/cgroup.procs")) return unit;
  }
  const auto processes = tree.names("/proc");
  if (!has_units || tree.text("/proc/1/comm") != "systemd") return std::nullopt;
  for (const auto& each : processes)
    if (is_time_program(tree, each)) return tree.text("/proc/" + each + "/comm");
  return processes.size() < Tree::kMostNames ? std::optional<std::string>{"none"} : std::nullopt;
}

}  // namespace

void add_kernel(const Tree& tree, Report& report) {
  report.line.object("kernel");
  report.add("release", tree.text("/proc/sys/kernel/osrelease"));
  report.add("build", tree.text("/proc/sys/kernel/version"));
  report.add("hostname", tree.text("/proc/sys/kernel/hostname"));
  report.add("boot_id", tree.text("/proc/sys/kernel/random/boot_id"));
  report.add("command_line", tree.text("/proc/cmdline"));
  report.add("tainted", tree.number("/proc/sys/kernel/tainted"));
  report.add("numa_balancing", tree.number("/proc/sys/kernel/numa_balancing"));
  report.add("uptime", uptime(tree));
  report.line.end();
  if (!tree.exists("/proc/cmdline"))
    report.unknown("kernel command line", "/proc/cmdline", "absent");
}

void add_drivers(const Tree& tree, Report& report) {
  constexpr std::string_view kNvidia = "/proc/driver/nvidia/version";
  report.line.object("drivers");
  const auto nvidia = tree.text(kNvidia);
  const auto version = nvidia ? driver_version(*nvidia) : std::nullopt;
  report.add("nvidia", version);
  if (nvidia) report.line.add("nvidia_open", nvidia->find("Open Kernel") != nvidia->npos);
  if (!version)
    report.unknown("NVIDIA driver", std::string{kNvidia},
                   nvidia ? "no version in it" : "the driver is not loaded");
  for (const auto* module : {"mlx5_core", "mlx5_ib", "nvme", "ice", "bnxt_en", "nvidia_peermem"}) {
    const auto folder = std::string{"/sys/module/"} + module;
    if (!tree.exists(folder)) continue;
    // A driver that came with the kernel has the kernel's version.
    report.line.add(module,
                    std::string_view{tree.text(folder + "/version").value_or("of the kernel")});
  }
  report.line.end();
}

/// Whether the unit runs, without asking systemd over its bus: a unit that runs has processes in
/// its control group.
void add_fabric_manager(const Tree& tree, Report& report) {
  constexpr std::string_view kUnit = "nvidia-fabricmanager.service";
  bool active = false, installed = false;
  for (const auto* top : {"/sys/fs/cgroup/system.slice/", "/sys/fs/cgroup/systemd/system.slice/"})
    active |= tree.text(top + std::string{kUnit} + "/cgroup.procs").has_value();
  for (const auto* folder :
       {"/etc/systemd/system/", "/usr/lib/systemd/system/", "/lib/systemd/system/"})
    installed |= tree.exists(folder + std::string{kUnit});
  for (const auto* file : {"/usr/bin/nv-fabricmanager", "/usr/sbin/nv-fabricmanager"})
    installed |= tree.exists(file);
  const char* state = active ? "active" : installed ? "inactive" : "absent";
  report.line.object("fabric_manager").add("state", state).end();
}

void add_iommu(const Tree& tree, Report& report) {
  constexpr std::string_view kGroups = "/sys/kernel/iommu_groups";
  report.line.object("iommu");
  const auto units = tree.names("/sys/class/iommu");
  const auto groups = tree.names(kGroups);
  report.line.add("units", std::uint64_t{units.size()}).add("groups", std::uint64_t{groups.size()});
  report.line.add("on", !groups.empty());
  if (!groups.empty())
    report.add("mode", tree.text(std::string{kGroups} + "/" + groups.front() + "/type"));
  report.line.end();
}

void add_time(const Tree& tree, Report& report) {
  constexpr double kMicro = 1e-6, kNano = 1e-9;
  timex reported{};  // modes 0: asks, sets nothing
  const int state = ::adjtimex(&reported);
  report.line.object("time");
  if (state < 0) report.unknown("time synchronisation", "adjtimex(2)", "it is refused");
  if (state >= 0) {
    const double unit = (reported.status & STA_NANO) != 0 ? kNano : kMicro;
    report.line.add("synchronised", state != TIME_ERROR && (reported.status & STA_UNSYNC) == 0);
    report.line.add("offset_seconds", static_cast<double>(reported.offset) * unit);
    report.line.add("estimated_error_seconds", static_cast<double>(reported.esterror) * kMicro);
    report.line.add("most_error_seconds", static_cast<double>(reported.maxerror) * kMicro);
    report.line.add("epoch", static_cast<std::int64_t>(reported.time.tv_sec));
  }
  if (const auto keeper = clock_keeper(tree)) report.line.add("keeper", *keeper);
  report.add("clock_source",
             tree.text("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
  report.line.end();
}

}  // namespace cupel::agent
