#include "burnin/agent/node/check/judge_node.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::agent {
namespace {

constexpr double kGib = 1073741824.0;
constexpr double kLeftOnGpu = 2.0;     // GiB: the driver itself keeps up to 0.7 of an H100
constexpr double kPowerCapped = 0.95;  // share of the default limit
using Complaints = std::vector<Complaint>;

std::optional<double> number_of(const JsonValue& object, std::string_view key) {
  const auto* value = object.find(key);
  const auto* reported = value == nullptr ? nullptr : value->number();
  return reported == nullptr ? std::nullopt : std::optional{*reported};
}

std::optional<bool> flag_of(const JsonValue& object, std::string_view key) {
  const auto* value = object.find(key);
  const auto* reported = value == nullptr ? nullptr : value->boolean();
  return reported == nullptr ? std::nullopt : std::optional{*reported};
}

std::string text_of(const JsonValue& object, std::string_view key) {
  const auto* value = object.find(key);
  const auto* reported = value == nullptr ? nullptr : value->text();
  return reported == nullptr ? std::string{} : *reported;
}

const JsonValue& child(const JsonValue& object, std::string_view key) {
  static const JsonValue kNone;
  const auto* found = object.find(key);
  return found == nullptr ? kNone : *found;
}

const JsonValue::Array& rows(const JsonValue& object, std::string_view key) {
  static const JsonValue::Array kNone;
  const auto* list = child(object, key).array();
  return list == nullptr ? kNone : *list;
}

std::string gpu_name(const JsonValue& gpu) {
  return "gpu" + plain(number_of(gpu, "index").value_or(0), 0);
}

/// Addresses of NVIDIA's GPUs that PCI shows.
std::vector<std::string> gpus_on_pci(const JsonValue& facts) {
  std::vector<std::string> found;
  for (const auto& device : rows(facts, "pci"))
    if (text_of(device, "kind") == "gpu" && text_of(device, "vendor") == "0x10de")
      found.push_back(text_of(device, "address"));
  return found;
}

void judge_gpu_count(const Expectations& expected, const JsonValue& facts, Complaints& bad) {
  const auto& gpus = rows(facts, "gpus");
  const auto on_pci = gpus_on_pci(facts);
  const bool asked = expected.gpus ? *expected.gpus > 0 : !on_pci.empty();
  if (!asked) return;
  const auto requested = expected.gpus.value_or(static_cast<double>(on_pci.size()));
  if (static_cast<double>(gpus.size()) >= requested) return;
  if (gpus.empty()) {
    bad.push_back({"", "the NVIDIA driver answers for none of " + plain(requested, 0) + " GPUs"});
    return;
  }
  std::string lost;
  for (const auto& address : on_pci) {
    const bool there = std::ranges::any_of(
        gpus, [&](const JsonValue& gpu) { return text_of(gpu, "pci") == address; });
    if (!there) lost += (lost.empty() ? ", the driver has lost " : " ") + address;
  }
  bad.push_back({"", plain(static_cast<double>(gpus.size()), 0) + " of " + plain(requested, 0) +
                         " GPUs answer" + lost});
}

struct Counter {
  std::string_view key, words;
};
constexpr std::array kCounters{
    Counter{"ecc_uncorrected", "uncorrected ECC errors since the driver was loaded"},
    Counter{"remap_failed", "row remaps failed"},
    Counter{"remap_pending", "row remap waits for a reset of the GPU"},
};

void judge_links(const Expectations& expected, const JsonValue& gpu, Complaints& bad) {
  if (!expected.nvlinks) return;
  double active = 0;
  for (const auto& link : rows(gpu, "nvlinks")) active += flag_of(link, "active").value_or(false);
  if (active < *expected.nvlinks)
    bad.push_back({gpu_name(gpu), plain(active, 0) + " of " + plain(*expected.nvlinks, 0) +
                                      " NVLinks are active"});
}

void judge_gpu(const Expectations& expected, const JsonValue& gpu, Complaints& bad) {
  const auto name = gpu_name(gpu);
  const auto& counters = child(gpu, "counters");
  for (const auto& each : kCounters)
    if (const auto count = number_of(counters, each.key); count && *count > 0)
      bad.push_back({name, plain(*count, 0) + " " + std::string{each.words}});
  const auto& fabric = child(gpu, "fabric");
  const auto state = text_of(fabric, "state"), status = text_of(fabric, "status");
  if (state == "completed" && status != "success")
    bad.push_back({name, "the NVLink fabric could not be set up: " + status});
  for (const auto& fault : rows(fabric, "faults"))
    if (const auto* words = fault.text()) bad.push_back({name, "NVLink fabric: " + *words});
  judge_links(expected, gpu, bad);
  const auto ecc = flag_of(child(gpu, "ecc"), "now");
  if (expected.ecc && ecc && *ecc != *expected.ecc)
    bad.push_back({name, *ecc ? "ECC is on" : "ECC is off"});
  const auto bytes = number_of(gpu, "memory");
  if (expected.gpu_memory_gib && bytes && *bytes / kGib < *expected.gpu_memory_gib)
    bad.push_back({name, plain(*bytes / kGib, 1) + " GiB of memory, expected " +
                             plain(*expected.gpu_memory_gib, 1)});
  const auto width = number_of(gpu, "pcie_width");
  if (expected.gpu_pcie_width && width && *width < *expected.gpu_pcie_width)
    bad.push_back({name, "PCIe link is x" + plain(*width, 0) + ", expected x" +
                             plain(*expected.gpu_pcie_width, 0)});
  const auto& power = child(gpu, "power");
  const auto limit = number_of(power, "enforced"), usual = number_of(power, "default");
  if (limit && usual && *limit < *usual * kPowerCapped)
    bad.push_back({name, "power is capped at " + plain(*limit, 0) + " W of " + plain(*usual, 0)});
}

void judge_job_gpus(const NodeSeen& seen, Complaints& bad) {
  for (const auto& gpu : rows(seen.facts, "gpus")) {
    const auto index = number_of(gpu, "index").value_or(-1);
    const bool asked = std::ranges::any_of(
        seen.job_gpus, [&](unsigned each) { return static_cast<double>(each) == index; });
    const auto used = number_of(gpu, "memory_used");
    if (asked && used && *used / kGib > kLeftOnGpu)
      bad.push_back({gpu_name(gpu), plain(*used / kGib, 1) + " GiB of its memory are in use, and "
                                                             "no job is to use it"});
  }
}

/// Work that was lost, or a part that fails. What a program does to itself is not the node's.
bool is_of_a_part(std::string_view kind) {
  constexpr std::array<std::string_view, 11> kKinds{
      "xid", "sxid", "gpu", "gpu-reset", "mce", "edac", "aer", "pcie", "nmi", "nvme", "disk"};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

void judge_log(const JsonValue& log, Complaints& bad) {
  for (const auto& message : rows(log, "messages")) {
    const auto kind = text_of(message, "class");
    if (text_of(message, "weight") != "error" || !is_of_a_part(kind)) continue;
    const auto code = number_of(message, "code");
    auto words = code ? (kind == "sxid" ? "SXid " : "Xid ") + plain(*code, 0) : kind;
    if (const auto detail = text_of(message, "detail"); !detail.empty())
      words += " (" + shortened(printable(detail), 60) + ")";
    bad.push_back({printable(text_of(message, "part")), "the kernel's log has " + words});
  }
}

void judge_memory(const Expectations& expected, const JsonValue& facts, Complaints& bad) {
  const auto bytes = number_of(child(facts, "memory"), "bytes");
  if (expected.memory_gib && bytes && *bytes / kGib < *expected.memory_gib)
    bad.push_back(
        {"memory", plain(*bytes / kGib, 0) + " GiB, expected " + plain(*expected.memory_gib, 0)});
  for (const auto& controller : rows(facts, "edac"))
    for (const auto& dimm : rows(controller, "dimms"))
      if (const auto count = number_of(dimm, "uncorrected"); count && *count > 0)
        bad.push_back({"dimm " + printable(text_of(dimm, "label")),
                       plain(*count, 0) + " uncorrected memory errors since the start"});
}

void judge_port(const Expectations& expected, const std::string& device, const JsonValue& port,
                Complaints& bad) {
  const auto name = device + "/" + plain(number_of(port, "port").value_or(0), 0);
  const auto state = text_of(port, "state");
  const auto gbits = number_of(port, "gbits");
  const auto requested = std::ranges::find(expected.ports, device, &ExpectedPort::name);
  if (requested != expected.ports.end()) {
    if (state != "ACTIVE")
      bad.push_back({name, "the port is " + (state.empty() ? std::string{"not reported"} : state) +
                               ", expected ACTIVE"});
    else if (!gbits || *gbits < requested->gbits)
      bad.push_back({name, (gbits ? plain(*gbits, 0) : std::string{"no"}) + " Gb/s, expected " +
                               plain(requested->gbits, 0)});
  } else if (text_of(port, "phys_state") == "LinkUp" && state == "INIT") {
    bad.push_back({name, "the link is up and no subnet manager has made it active"});
  }
}

void judge_adapters(const Expectations& expected, const JsonValue& facts, Complaints& bad) {
  const auto& adapters = rows(facts, "infiniband");
  const auto count = static_cast<double>(adapters.size());
  if (expected.hcas && count < *expected.hcas)
    bad.push_back({"", plain(count, 0) + " of " + plain(*expected.hcas, 0) + " HCAs are there"});
  std::vector<std::string> seen;
  for (const auto& adapter : adapters) {
    seen.push_back(text_of(adapter, "name"));
    for (const auto& port : rows(adapter, "ports")) judge_port(expected, seen.back(), port, bad);
  }
  for (const auto& port : expected.ports)
    if (std::ranges::find(seen, port.name) == seen.end())
      bad.push_back({port.name, "the HCA is not there"});
}

void judge_drives(const Expectations& expected, const JsonValue& facts, Complaints& bad) {
  const auto& drives = rows(facts, "nvme");
  const auto count = static_cast<double>(drives.size());
  if (expected.nvme && count < *expected.nvme)
    bad.push_back(
        {"", plain(count, 0) + " of " + plain(*expected.nvme, 0) + " NVMe drives are there"});
  for (const auto& drive : drives) {
    const auto name = printable(text_of(drive, "name"));
    const auto state = text_of(drive, "state");
    if (!state.empty() && state != "live") bad.push_back({name, "the controller is " + state});
    if (const auto warnings = number_of(child(drive, "smart"), "warnings");
        warnings && *warnings > 0)
      bad.push_back({name, "SMART critical warning " + plain(*warnings, 0)});
  }
}

struct Mounted {
  std::string path{}, type{};
  bool read_only = false;
};

/// Source: man proc_pid_mounts: device, place, type, options.
std::vector<Mounted> mounts_of(const Tree& tree) {
  std::vector<Mounted> found;
  const auto text = tree.text("/proc/mounts").value_or("");
  for (const auto line : lines(text)) {
    const auto fields = words(line);
    if (fields.size() < 4) continue;
    const auto options = split(fields[3], ',');
    found.push_back({std::string{fields[1]}, std::string{fields[2]},
                     std::ranges::find(options, "ro") != options.end()});
  }
  return found;
}

bool is_local(std::string_view type) {
  constexpr std::array<std::string_view, 7> kLocal{"ext4",  "ext3",    "xfs", "btrfs",
                                                   "tmpfs", "overlay", "zfs"};
  return std::ranges::find(kLocal, type) != kLocal.end();
}

/// Where the path lies: the longest mount that it begins with.
const Mounted* mount_of(const std::vector<Mounted>& mounts, std::string_view path) {
  const Mounted* best = nullptr;
  for (const auto& each : mounts) {
    const bool under = each.path == "/" || path == each.path || path.starts_with(each.path + "/");
    if (under && (best == nullptr || each.path.size() >= best->path.size())) best = &each;
  }
  return best;
}

std::optional<double> free_percent(const std::string& path) {
  struct statvfs reported{};
  if (::statvfs(path.c_str(), &reported) != 0 || reported.f_blocks == 0) return std::nullopt;
  return 100.0 * static_cast<double>(reported.f_bavail) / static_cast<double>(reported.f_blocks);
}

}  // namespace

std::string to_string(const Complaint& complaint) {
  return complaint.part.empty() ? complaint.what : complaint.part + ": " + complaint.what;
}

std::vector<Complaint> judge_node(const Expectations& expected, const NodeSeen& seen) {
  Complaints bad;
  judge_gpu_count(expected, seen.facts, bad);
  judge_log(seen.log, bad);
  for (const auto& gpu : rows(seen.facts, "gpus")) judge_gpu(expected, gpu, bad);
  judge_memory(expected, seen.facts, bad);
  judge_adapters(expected, seen.facts, bad);
  judge_drives(expected, seen.facts, bad);
  judge_job_gpus(seen, bad);
  const auto manager = text_of(child(seen.facts, "fabric_manager"), "state");
  if (expected.fabric_manager.value_or(false) && manager != "active")
    bad.push_back({"", "nvidia-fabricmanager is " + (manager.empty() ? "not there" : manager)});
  const auto synchronised = flag_of(child(seen.facts, "time"), "synchronised");
  if (expected.time_synchronised.value_or(false) && synchronised && !*synchronised)
    bad.push_back({"", "the clock is not synchronised"});
  return bad;
}

std::vector<Complaint> judge_file_systems(const Expectations& expected, const Tree& tree) {
  Complaints bad;
  const auto mounts = mounts_of(tree);
  const auto* root = mount_of(mounts, "/");
  if (root != nullptr && root->read_only && root->type != "squashfs")
    bad.push_back({"/", "is read-only"});
  for (const auto& path : expected.mounts)
    if (std::ranges::find(mounts, path, &Mounted::path) == mounts.end())
      bad.push_back({path, "is not mounted"});
  for (const auto& [path, least] : expected.free) {
    const auto* mounted = mount_of(mounts, path);
    if (mounted == nullptr || !is_local(mounted->type)) continue;
    const auto free = free_percent(tree.real(path));
    if (free && *free < least)
      bad.push_back({path, plain(*free, 1) + " % are free, expected " + plain(least, 1) + " %"});
  }
  return bad;
}

}  // namespace cupel::agent
