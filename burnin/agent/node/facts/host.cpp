#include <map>
#include <set>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {
namespace {

constexpr std::string_view kCpuFolder = "/sys/devices/system/cpu";
constexpr std::size_t kMostSockets = 64;

bool is_numbered(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && number<int>(name.substr(prefix.size())).has_value();
}

std::string join(std::string_view folder, std::string_view name) {
  return std::string{folder} + "/" + std::string{name};
}

struct Socket {
  std::string model{}, vendor{}, microcode{};
  std::optional<double> cores{};
  std::int64_t threads = 0;
  std::set<std::string> governors{};
  std::optional<double> throttled{};  // times since boot, of the thread that counts most
};

struct Cpus {
  std::map<int, Socket> sockets{};        // by physical id
  std::map<int, int> socket_of_thread{};  // none of a kernel that reports no physical id
  std::int64_t threads = 0;               // of all
};

/// Each socket once; /proc/cpuinfo tells of it again for every thread.
Cpus read_cpus(const Tree& tree) {
  Cpus cpus;
  auto& [sockets, socket_of_thread, threads] = cpus;
  Socket current;
  std::optional<int> thread;
  const auto reported = tree.bytes("/proc/cpuinfo", 16u << 20).value_or("");
  for (const auto line : lines(reported)) {
    const auto colon = line.find(':');
    if (colon == line.npos) continue;
    const auto key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
    if (key == "processor") {
      current = {};
      thread = number<int>(value);
      ++threads;
    }
    if (key == "vendor_id") current.vendor = value;
    if (key == "model name") current.model = value;
    if (key == "microcode") current.microcode = value;
    const auto id = key == "physical id" ? number<int>(value) : std::nullopt;
    if (id && thread && sockets.size() < kMostSockets) {
      socket_of_thread[*thread] = *id;
      ++sockets.emplace(*id, current).first->second.threads;
    }
    if (key != "cpu cores" || !thread || !socket_of_thread.contains(*thread)) continue;
    sockets.at(socket_of_thread.at(*thread)).cores = number_in(value);
  }
  return cpus;
}

/// How often each package slowed down for heat: the most that one of its threads counts. The
/// kernel's own id of the package counts where it has one.
void read_throttling(const Tree& tree, Cpus& cpus) {
  for (const auto& [thread, socket] : cpus.socket_of_thread) {
    const auto folder = join(kCpuFolder, "cpu" + std::to_string(thread));
    const auto throttled = tree.number(folder + "/thermal_throttle/package_throttle_count");
    if (!throttled || *throttled < 0) continue;
    const auto package = tree.text(folder + "/topology/physical_package_id");
    const auto id = package ? number<int>(*package) : std::optional{socket};
    const auto found = id ? cpus.sockets.find(*id) : cpus.sockets.end();
    if (found == cpus.sockets.end()) continue;
    auto& most = found->second.throttled;
    most = std::max(most.value_or(0), *throttled);
  }
}

}  // namespace

bool is_filler(std::string_view text) {
  static const std::set<std::string> kFillers{"to be filled by o.e.m.",
                                              "not specified",
                                              "not applicable",
                                              "default string",
                                              "system serial number",
                                              "none",
                                              "n/a",
                                              "unknown",
                                              "no dimm",
                                              "not provided",
                                              "0123456789"};
  return kFillers.contains(lower_case(text));
}

void add_system(const Tree& tree, Report& report) {
  constexpr std::string_view kFolder = "/sys/class/dmi/id";
  constexpr std::array<std::pair<const char*, const char*>, 14> kFields{{
      {"vendor", "sys_vendor"},
      {"product", "product_name"},
      {"version", "product_version"},
      {"sku", "product_sku"},
      {"serial", "product_serial"},
      {"uuid", "product_uuid"},
      {"board_vendor", "board_vendor"},
      {"board", "board_name"},
      {"board_serial", "board_serial"},
      {"chassis_serial", "chassis_serial"},
      {"asset", "chassis_asset_tag"},
      {"bios_vendor", "bios_vendor"},
      {"bios", "bios_version"},
      {"bios_date", "bios_date"},
  }};
  report.line.object("system");
  const bool there = tree.exists(kFolder);
  for (const auto& [key, file] : kFields) {
    const auto path = join(kFolder, file);
    auto value = tree.text(path);
    if (value && is_filler(*value)) value.reset();
    report.add(key, value);
    const bool secret = std::string_view{file}.ends_with("serial");
    if (!value && there && secret)
      report.unknown(key, path,
                     tree.exists(path) ? "not readable, or empty: root reads it" : "absent");
  }
  report.line.end();
  if (!there) report.unknown("system", std::string{kFolder}, "this kernel tells nothing of DMI");
}

void add_cpus(const Tree& tree, Report& report) {
  auto cpus = read_cpus(tree);
  read_throttling(tree, cpus);
  auto& sockets = cpus.sockets;
  for (const auto& [thread, socket] : cpus.socket_of_thread) {
    const auto governor =
        tree.text(join(kCpuFolder, "cpu" + std::to_string(thread) + "/cpufreq/scaling_governor"));
    if (governor) sockets.at(socket).governors.insert(*governor);
  }
  if (sockets.empty()) report.unknown("CPUs", "/proc/cpuinfo", "this kernel tells no physical id");
  report.line.array("cpus");
  std::int64_t index = 0;
  for (const auto& [id, socket] : sockets) {
    report.line.object().add("index", index++).add("physical_id", id);
    report.line.add("model", std::string_view{socket.model});
    report.line.add("vendor", std::string_view{socket.vendor});
    report.add("cores", socket.cores);
    report.line.add("threads", socket.threads);
    if (!socket.microcode.empty()) report.line.add("microcode", std::string_view{socket.microcode});
    if (socket.governors.size() == 1)
      report.line.add("governor", std::string_view{*socket.governors.begin()});
    if (socket.governors.size() > 1) report.line.add("governor", "mixed");
    report.add("throttled", socket.throttled);
    report.line.end();
  }
  report.line.end();
  if (cpus.threads > 0) report.line.add("cpu_threads", cpus.threads);
  report.add("smt", tree.text(join(kCpuFolder, "smt/control")));
}

namespace {

/// "MemTotal:       1056763832 kB".
std::optional<double> bytes_of(std::string_view text, std::string_view key) {
  for (const auto line : lines(text)) {
    const auto at = line.find(key);
    if (at == line.npos) continue;
    const auto cells = words(line.substr(at + key.size()));
    if (cells.size() < 2 || cells[1] != "kB") continue;
    const auto kib = number_in(cells[0]);
    return kib && *kib >= 0 ? std::optional{*kib * kKiB} : std::nullopt;
  }
  return std::nullopt;
}

void add_numa(const Tree& tree, Report& report) {
  constexpr std::string_view kFolder = "/sys/devices/system/node";
  report.line.array("numa");
  std::size_t nodes = 0;
  for (const auto& name : tree.names(kFolder)) {
    if (!is_numbered(name, "node")) continue;
    ++nodes;
    const auto folder = join(kFolder, name);
    report.line.object().add("node", number<int>(name.substr(4)).value_or(0));
    report.add("bytes", bytes_of(tree.text(folder + "/meminfo").value_or(""), "MemTotal:"));
    report.add("cpus", tree.text(folder + "/cpulist"));
    report.add("distances", tree.text(folder + "/distance"));
    report.line.end();
  }
  report.line.end();
  if (nodes == 0) report.unknown("NUMA nodes", std::string{kFolder}, "absent");
}

void add_huge_pages(const Tree& tree, Report& report) {
  constexpr std::string_view kFolder = "/sys/kernel/mm/hugepages";
  report.line.array("huge_pages");
  for (const auto& name : tree.names(kFolder)) {
    const auto folder = join(kFolder, name);
    report.line.object().add("size", std::string_view{name});
    report.add("total", tree.number(folder + "/nr_hugepages"));
    report.add("free", tree.number(folder + "/free_hugepages"));
    report.line.end();
  }
  report.line.end();
  report.add("transparent", tree.text("/sys/kernel/mm/transparent_hugepage/enabled"));
}

}  // namespace

void add_memory(const Tree& tree, Report& report) {
  report.line.object("memory");
  const auto total = bytes_of(tree.text("/proc/meminfo").value_or(""), "MemTotal:");
  report.add("bytes", total);
  if (!total) report.unknown("memory", "/proc/meminfo", "no MemTotal");
  add_numa(tree, report);
  add_huge_pages(tree, report);
  report.line.end();
}

void add_edac(const Tree& tree, Report& report) {
  constexpr std::string_view kFolder = "/sys/devices/system/edac/mc";
  std::size_t controllers = 0;
  report.line.array("edac");
  for (const auto& name : tree.names(kFolder)) {
    if (!is_numbered(name, "mc")) continue;
    ++controllers;
    const auto folder = join(kFolder, name);
    report.line.object().add("name", std::string_view{name});
    report.add("driver", tree.text(folder + "/mc_name"));
    report.add("uncorrected", tree.number(folder + "/ue_count"));
    report.add("corrected", tree.number(folder + "/ce_count"));
    if (!tree.number(folder + "/ue_count"))
      report.unknown("memory errors of " + name, folder, "its ue_count is not reported");
    report.line.array("dimms");
    for (const auto& dimm : tree.names(folder)) {
      if (!is_numbered(dimm, "dimm") && !is_numbered(dimm, "rank")) continue;
      const auto place = join(folder, dimm);
      report.line.object();
      report.add("label", tree.text(place + "/dimm_label"));
      report.add("mib", tree.number(place + "/size"));
      report.add("type", tree.text(place + "/dimm_mem_type"));
      report.add("uncorrected", tree.number(place + "/dimm_ue_count"));
      report.add("corrected", tree.number(place + "/dimm_ce_count"));
      report.line.end();
    }
    report.line.end().end();
  }
  report.line.end();
  if (controllers == 0)
    report.unknown("memory errors", std::string{kFolder},
                   "no EDAC driver watches the memory: load the one for this CPU");
}

}  // namespace cupel::agent
