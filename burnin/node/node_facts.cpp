#include "burnin/node/node_facts.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <set>

#include "base/bytes.h"
#include "base/pci_vpd.h"
#include "base/text.h"
#include "burnin/node/dimms.h"
#include "burnin/node/drive_health.h"
#include "burnin/node/rdma_counters.h"
#include "burnin/node/sysfs.h"
#include "burnin/script.h"
#include "inventory/identity.h"

namespace cupel::burnin {
namespace {

using inventory::Part;
using inventory::PartKind;
using inventory::Profile;

constexpr auto kMeasures = std::to_array<std::string_view>(
    {"nvme.used", "nvme.spare", "nvme.warnings", "nvme.media_errors", "cpu.throttled",
     "memory.total", "edac.uncorrected", "edac.corrected", "cpu.count", "cpu.threads", "dimm.speed",
     "ib.port.rate", "ib.port.active", "ib.port.downed", "ib.port.symbol_errors", "hca.pcie.width",
     "nvme.pcie.width", "nic.rate", "nic.slow", "nvme.health_read", "dimm.speed.below_fastest",
     "ib.port.receive_errors", "ib.port.recovered", "rdma.*",
     // Of a later reading: burnin/gains.h.
     "ib.port.downed.new", "ib.port.receive_errors.new", "ib.port.recovered.new", "rdma.*.new"});

constexpr double kSlowestPort = 1000;  // Mb/s: what every server's port has had for twenty years
constexpr double kSector = 512;        // /sys/block/*/size counts these whatever the drive has

/// A file that is not there is no error here: what it would have told stays unknown.
constexpr std::string_view kRead = R"sh(
grep -sH -e '^processor' -e '^model name' -e '^physical id' -e '^cpu cores' -e '^vendor_id' /proc/cpuinfo
grep -sH -e '^MemTotal' /proc/meminfo
grep -sH . /proc/sys/kernel/osrelease /proc/sys/kernel/hostname
cpu=/sys/devices/system/cpu
grep -sH . $cpu/cpu[0-9]*/topology/physical_package_id $cpu/cpu[0-9]*/thermal_throttle/package_throttle_count
dmi=/sys/class/dmi/id
grep -sH . $dmi/sys_vendor $dmi/product_name $dmi/product_serial $dmi/bios_version
mc=/sys/devices/system/edac/mc
grep -sH . $mc/mc*/mc_name $mc/mc*/ue_count $mc/mc*/ce_count
grep -sH . $mc/mc*/dimm*/dimm_label $mc/mc*/dimm*/dimm_ue_count $mc/mc*/dimm*/dimm_ce_count
nvme=/sys/class/nvme
grep -sH . $nvme/nvme*/model $nvme/nvme*/serial $nvme/nvme*/firmware_rev $nvme/nvme*/state
grep -sH . $nvme/nvme*/nvme*/size $nvme/nvme*/device/current_link_width
grep -sH -e '^PCI_SLOT_NAME' $nvme/nvme*/device/uevent
ib=/sys/class/infiniband
grep -sH . $ib/*/hca_type $ib/*/fw_ver $ib/*/board_id $ib/*/node_guid $ib/*/device/current_link_width
grep -sH . $ib/*/ports/*/state $ib/*/ports/*/phys_state $ib/*/ports/*/rate $ib/*/ports/*/link_layer
grep -sH . $ib/*/ports/*/counters/link_downed $ib/*/ports/*/counters/symbol_error
grep -sH . $ib/*/ports/*/counters/port_rcv_errors $ib/*/ports/*/counters/link_error_recovery
for counter in out_of_sequence packet_seq_err local_ack_timeout_err rnr_nak_retry_err roce_adp_retrans np_cnp_sent rp_cnp_handled; do
  grep -sH . $ib/*/ports/*/hw_counters/$counter
done
for net in $ib/*/device/net/*; do
  if [ ! -d "$net" ]; then continue; fi
  hca=${net#$ib/}
  echo "cupel-begin: pauses ${hca%%/*}"
  ethtool -S "$(basename "$net")" 2>/dev/null | grep -e '_pause:'
  echo cupel-end
done
grep -sH -e '^PCI_SLOT_NAME' $ib/*/device/uevent
for vpd in $ib/*/device/vpd; do
  if [ ! -r "$vpd" ]; then continue; fi
  hca=${vpd#$ib/}
  echo "cupel-vpd: ${hca%%/*} $(od -An -v -tx1 -N4096 "$vpd" 2>/dev/null | tr -d ' \n')"
done
net=/sys/class/net
grep -sH . $net/*/address $net/*/type $net/*/speed
grep -sH -e '^DRIVER' -e '^PCI_SLOT_NAME' $net/*/device/uevent
if command -v smartctl >/dev/null 2>&1; then
  for drive in $nvme/nvme*; do
    if [ ! -d "$drive" ]; then continue; fi
    drive=$(basename "$drive")
    echo "cupel-smart: $drive"
    smartctl -j -A "/dev/$drive" 2>/dev/null
    echo cupel-smart-end
  done
fi
echo "cupel-epoch: $(date +%s)"
if command -v dmidecode >/dev/null 2>&1; then
  dmidecode -t 17 2>&1 || echo 'cupel-dimms: not readable'
else
  echo 'cupel-dimms: dmidecode is not installed'
fi
echo cupel-all-told
exit 0
)sh";

Result<Job> prepare(const Profile&, const Parameters&) {
  return Job{script::head() + std::string{kRead}, std::chrono::seconds{2},
             std::chrono::seconds{120}};
}

void add(Findings& findings, std::string_view name, std::string part, std::optional<double> value,
         std::string_view unit) {
  if (value)
    findings.measurements.push_back(
        {std::string{name}, std::move(part), *value, std::string{unit}});
}

/// Not below zero.
std::optional<double> count_at(const Attributes& device, std::string_view path) {
  const auto value = script::finite(at(device, path));
  return value && *value >= 0 ? value : std::nullopt;
}

/// What is not told may not be passed over.
void add_unknown(Findings& findings, std::string fact, std::string_view source, std::string why) {
  findings.unknown.push_back({std::move(fact), std::string{source}, std::move(why)});
}

void add_memory(const Sysfs& sysfs, Findings& findings) {
  const auto line = sysfs.file("/proc/meminfo").value_or("");
  const auto cells = words(line);
  const auto kib = cells.size() == 3 && cells[0] == "MemTotal:" && cells[2] == "kB"
                       ? script::finite(cells[1])
                       : std::nullopt;
  if (!kib || *kib <= 0) return add_unknown(findings, "memory", "/proc/meminfo", "no MemTotal");
  add(findings, "memory.total", "", *kib * kKiB / kGiB, "GiB");
}

struct Socket {
  std::string model{};
  std::string vendor{};
  std::optional<double> cores{};
};

constexpr std::string_view kCpuFile = "/proc/cpuinfo";

struct Cpus {
  std::map<int, Socket> sockets{};  // by physical id
  double threads = 0;
};

/// Each physical CPU once; the file tells it again for every thread.
Cpus read_cpus(const Sysfs& sysfs) {
  constexpr std::size_t kMostSockets = 64;
  Cpus cpus;
  Socket current;
  std::optional<int> id;
  for (const auto line : sysfs.lines_of(kCpuFile)) {
    const auto colon = line.find(':');
    if (colon == line.npos) continue;
    const auto key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
    if (key == "processor") {
      ++cpus.threads;
      current = {};
      id.reset();
    }
    if (key == "vendor_id") current.vendor = script::clean(value);
    if (key == "model name") current.model = script::clean(value);
    if (key == "physical id") {
      id = number<int>(value);
      if (id && cpus.sockets.size() < kMostSockets) cpus.sockets.emplace(*id, current);
    }
    const auto socket = key == "cpu cores" && id ? cpus.sockets.find(*id) : cpus.sockets.end();
    if (socket != cpus.sockets.end() && !socket->second.cores)
      socket->second.cores = script::finite(value);
  }
  return cpus;
}

void add_cpus(const Sysfs& sysfs, Findings& findings) {
  const auto cpus = read_cpus(sysfs);
  if (cpus.threads > 0) add(findings, "cpu.threads", "", cpus.threads, "count");
  if (cpus.sockets.empty())
    return add_unknown(findings, "CPUs", kCpuFile, "this kernel tells no physical id");
  add(findings, "cpu.count", "", static_cast<double>(cpus.sockets.size()), "count");
  int next = 0;
  for (const auto& [id, socket] : cpus.sockets) {
    Part part;
    part.kind = PartKind::cpu;
    part.name = fmt::format("cpu{}", next++);
    part.model = socket.model;
    part.manufacturer = socket.vendor;
    part.slot = fmt::format("physical id {}", id);
    part.count = socket.cores;
    part.source = kCpuFile;
    findings.parts.push_back(std::move(part));
  }
}

/// How often each CPU has slowed down for heat since the kernel was started.
void add_throttling(const Sysfs& sysfs, Findings& findings) {
  std::map<int, double> by_socket;
  for (const auto& [name, cpu] : sysfs.below("/sys/devices/system/cpu")) {
    const auto socket = number<int>(at(cpu, "topology/physical_package_id"));
    const auto count = count_at(cpu, "thermal_throttle/package_throttle_count");
    if (!socket || !count) continue;
    auto& most = by_socket.try_emplace(*socket, 0.0).first->second;
    most = std::max(most, *count);
  }
  for (const auto& [socket, count] : by_socket)
    add(findings, "cpu.throttled", fmt::format("cpu{}", socket), count, "count");
}

void add_firmware(std::string name, std::string version, std::string_view source,
                  Findings& findings) {
  if (version.empty()) return;
  Part part;
  part.kind = PartKind::firmware;
  part.name = std::move(name);
  part.firmware = std::move(version);
  part.source = source;
  findings.parts.push_back(std::move(part));
}

void add_system(const Sysfs& sysfs, Findings& findings) {
  constexpr std::string_view kFolder = "/sys/class/dmi/id", kKernel = "/proc/sys/kernel/osrelease";
  const auto told = [&](std::string_view name) {
    return sysfs.file(fmt::format("{}/{}", kFolder, name)).value_or("");
  };
  Part system;
  system.kind = PartKind::system;
  system.name = "system";
  system.manufacturer = told("sys_vendor");
  system.model = told("product_name");
  system.serial = inventory::reported_serial(told("product_serial"));
  system.source = kFolder;
  if (system.model.empty())
    add_unknown(findings, "system", kFolder, "absent");
  else
    findings.parts.push_back(std::move(system));
  add_firmware("bios", told("bios_version"), kFolder, findings);
  add_firmware("kernel", sysfs.file(kKernel).value_or(""), kKernel, findings);
}

/// "dimm3/dimm_ue_count" and "dimm3/dimm_label" of one memory controller.
void add_edac_dimms(const Attributes& controller, Findings& findings) {
  constexpr std::string_view kSuffix = "/dimm_label";
  for (const auto& [path, label] : controller) {
    if (!path.ends_with(kSuffix)) continue;
    const auto dimm = path.substr(0, path.size() - kSuffix.size());
    const auto name = "dimm " + label;
    add(findings, "edac.uncorrected", name, count_at(controller, dimm + "/dimm_ue_count"),
        "errors");
    add(findings, "edac.corrected", name, count_at(controller, dimm + "/dimm_ce_count"), "errors");
  }
}

/// A controller that does not tell its count leaves the sum unknown.
void add_edac(const Sysfs& sysfs, Findings& findings) {
  constexpr std::string_view kFolder = "/sys/devices/system/edac/mc";
  const auto controllers = sysfs.below(kFolder);
  if (controllers.empty())
    return add_unknown(findings, "memory errors", kFolder,
                       "no EDAC driver watches the memory: load the one for this CPU");
  std::optional<double> uncorrected = 0.0, corrected = 0.0;
  const auto sum = [](std::optional<double>& total, std::optional<double> more) {
    total = total && more ? std::optional{*total + *more} : std::nullopt;
  };
  for (const auto& [name, controller] : controllers) {
    sum(uncorrected, count_at(controller, "ue_count"));
    sum(corrected, count_at(controller, "ce_count"));
    add_edac_dimms(controller, findings);
  }
  add(findings, "edac.uncorrected", "", uncorrected, "errors");
  add(findings, "edac.corrected", "", corrected, "errors");
  if (!uncorrected) add_unknown(findings, "memory errors", kFolder, "a ue_count is not reported");
}

std::string slot_of(const Attributes& device) {
  return std::string{at(device, "device/uevent/PCI_SLOT_NAME")};
}

/// All namespaces together.
std::optional<double> drive_bytes(const Attributes& drive) {
  std::optional<double> bytes;
  for (const auto& [path, text] : drive) {
    if (!path.starts_with("nvme") || !path.ends_with("/size")) continue;
    const auto sectors = script::finite(text);
    if (sectors && *sectors >= 0) bytes = bytes.value_or(0) + *sectors * kSector;
  }
  return bytes;
}

void add_drives(const Sysfs& sysfs, Findings& findings) {
  constexpr std::string_view kFolder = "/sys/class/nvme";
  for (const auto& [name, drive] : sysfs.below(kFolder)) {
    Part part;
    part.kind = PartKind::nvme;
    part.name = name;
    part.model = at(drive, "model");
    part.serial = inventory::reported_serial(at(drive, "serial"));
    part.firmware = at(drive, "firmware_rev");
    part.slot = slot_of(drive);
    part.size_bytes = drive_bytes(drive);
    part.health = at(drive, "state") == "live" ? "OK" : std::string{at(drive, "state")};
    part.source = kFolder;
    add(findings, "nvme.pcie.width", name, count_at(drive, "device/current_link_width"), "lanes");
    findings.parts.push_back(std::move(part));
  }
}

/// "400 Gb/sec (4X NDR)": 400.
std::optional<double> rate_of(std::string_view text) {
  const auto cells = words(text);
  if (cells.size() < 2 || cells[1] != "Gb/sec") return std::nullopt;
  const auto rate = script::finite(cells[0]);
  return rate && *rate >= 0 ? rate : std::nullopt;
}

/// A port that is down still tells a rate, of the link that it would like to have: it carries
/// nothing.
void add_port(const std::string& name, const Attributes& hca, const std::string& port,
              Findings& findings) {
  const auto state = at(hca, port + "/state"), physical = at(hca, port + "/phys_state");
  const auto rate = rate_of(at(hca, port + "/rate"));
  if (state.empty() || physical.empty() || !rate)
    return add_unknown(findings, "link of " + name, "/sys/class/infiniband",
                       "not reported in full");
  const bool active = state.ends_with("ACTIVE") && physical.ends_with("LinkUp");
  add(findings, "ib.port.active", name, active ? 1 : 0, "");
  add(findings, "ib.port.rate", name, active ? *rate : 0, "Gb/s");
  if (!active)
    add_unknown(findings, "rate of " + name, "/sys/class/infiniband",
                fmt::format("the port is not active: {}, {}", state, physical));
  add(findings, "ib.port.downed", name, count_at(hca, port + "/counters/link_downed"), "count");
  add(findings, "ib.port.symbol_errors", name, count_at(hca, port + "/counters/symbol_error"),
      "errors");
  add(findings, "ib.port.receive_errors", name, count_at(hca, port + "/counters/port_rcv_errors"),
      "errors");
  add(findings, "ib.port.recovered", name, count_at(hca, port + "/counters/link_error_recovery"),
      "count");
  add_rdma_counters(name, hca, port, findings);
}

/// "mlx5_0" is port 1; others are "mlx5_0/2".
void add_ports(const std::string& name, const Attributes& hca, Findings& findings) {
  std::set<std::string> ports;
  for (const auto& [path, text] : hca) {
    const auto pieces = split(path, '/');
    if (pieces.size() >= 3 && pieces[0] == "ports") ports.insert(std::string{pieces[1]});
  }
  for (const auto& port : ports)
    add_port(port == "1" ? name : name + "/" + port, hca, "ports/" + port, findings);
}

/// As the card's maker wrote it, by a line "cupel-vpd: mlx5_0 8215004e56..." in hexadecimal.
std::string card_serial(std::string_view text, const std::string& name) {
  const auto line = script::said_in(text, "cupel-vpd: " + name + " ");
  if (!line || line->size() % 2 != 0 || line->size() / 2 > kMostVpd) return {};
  std::string bytes;
  for (std::size_t i = 0; i < line->size(); i += 2) {
    unsigned value = 0;
    const auto* end = line->data() + i + 2;
    const auto [stop, failure] = std::from_chars(line->data() + i, end, value, 16);
    if (failure != std::errc{} || stop != end) return {};
    bytes += static_cast<char>(value);
  }
  const auto vpd = parse_pci_vpd(bytes);
  return vpd ? script::clean(vpd->serial) : std::string{};
}

void add_hcas(const Sysfs& sysfs, std::string_view text, Findings& findings) {
  constexpr std::string_view kFolder = "/sys/class/infiniband";
  for (const auto& [name, hca] : sysfs.below(kFolder)) {
    add_ports(name, hca, findings);
    // A bond is made of HCAs and is none.
    if (name.find("bond") != std::string::npos) continue;
    Part part;
    part.kind = PartKind::hca;
    part.name = name;
    part.model = at(hca, "hca_type");
    part.part_number = at(hca, "board_id");
    part.serial = inventory::reported_serial(card_serial(text, name));
    if (const auto guid = at(hca, "node_guid"); !guid.empty()) part.macs = {std::string{guid}};
    part.firmware = at(hca, "fw_ver");
    part.slot = slot_of(hca);
    part.source = kFolder;
    add(findings, "hca.pcie.width", name, count_at(hca, "device/current_link_width"), "lanes");
    findings.parts.push_back(std::move(part));
  }
}

/// Network interfaces with a device behind them; IPoIB (not ARPHRD_ETHER) belongs to its HCA.
void add_nics(const Sysfs& sysfs, Findings& findings) {
  constexpr std::string_view kFolder = "/sys/class/net";
  for (const auto& [name, nic] : sysfs.below(kFolder)) {
    const auto driver = at(nic, "device/uevent/DRIVER");
    if (at(nic, "type") != "1" || (driver.empty() && slot_of(nic).empty())) continue;
    Part part;
    part.kind = PartKind::nic;
    part.name = name;
    part.model = driver;
    part.serial = at(nic, "address");
    part.slot = slot_of(nic);
    part.source = kFolder;
    const auto megabits = count_at(nic, "speed");  // -1 where there is no link
    if (megabits) add(findings, "nic.rate", name, *megabits / 1000, "Gb/s");
    // Not of the BMC's USB network, which has no slot and what speed it likes.
    if (megabits && *megabits > 0 && !part.slot.empty())
      add(findings, "nic.slow", name, *megabits < kSlowestPort ? 1 : 0, "");
    findings.parts.push_back(std::move(part));
  }
}

/// A drive whose health nobody could read, for want of smartctl or of an answer, has proven
/// nothing.
void note_unread_drives(Findings& findings) {
  std::set<std::string> read;
  for (const auto& each : findings.measurements)
    if (each.name == "nvme.used") read.insert(each.part);
  for (const auto& part : findings.parts)
    if (part.kind == PartKind::nvme)
      add(findings, "nvme.health_read", part.name, read.contains(part.name) ? 1 : 0, "");
}

Result<Findings> parse(const Profile&, const Output& output) {
  const Sysfs sysfs{output.text};
  if (sysfs.empty())
    return Error{Code::kNoMeasurement,
                 "the node reported nothing of /proc and /sys: " + script::complaint(output)};
  // Half of the error counters would add up to too little.
  if (!script::said(output, "cupel-all-told"))
    return Error{Code::kMalformed, "the node's answer is cut short"};
  Findings findings;
  add_memory(sysfs, findings);
  add_cpus(sysfs, findings);
  add_system(sysfs, findings);
  add_throttling(sysfs, findings);
  if (const auto name = sysfs.file("/proc/sys/kernel/hostname"))
    findings.facts["node.hostname"] = *name;
  if (const auto epoch = script::said(output, "cupel-epoch: "))
    findings.facts["node.epoch"] = script::clean(*epoch);
  add_edac(sysfs, findings);
  add_dimms(output.text, findings);
  compare_dimm_speeds(findings);
  add_drives(sysfs, findings);
  add_drive_health(output.text, findings);
  note_unread_drives(findings);
  add_hcas(sysfs, output.text, findings);
  add_pauses(output.text, findings);
  add_nics(sysfs, findings);
  return findings;
}

}  // namespace

Stage node_facts() {
  Stage row{"node-facts",
            "read what the node is made of from its kernel (/proc, /sys, dmidecode)",
            {},
            prepare,
            parse,
            kMeasures,
            {0, 0, "reads files for a few seconds"}};
  row.lists = Lists::parts;
  return row;
}

}  // namespace cupel::burnin
