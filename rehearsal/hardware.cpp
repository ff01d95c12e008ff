#include "rehearsal/hardware.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "inventory/expected_parts.h"
#include "inventory/part_kind.h"
#include "inventory/profile.h"
#include "rehearsal/physics/gpu_kind.h"

namespace cupel::rehearsal {
namespace {

using inventory::ExpectedParts;
using inventory::PartKind;

/// Serial numbers and the like: stable for a node's name, different for its neighbour's.
class Seeded {
 public:
  Seeded(std::string node, std::uint64_t seed) : start_{fmt::format("{}/{}", seed, node)} {}

  std::string hex(std::string_view what, std::size_t digits) const {
    return sha256_hex(start_ + "/" + std::string{what}).substr(0, digits);
  }
  std::string digits(std::string_view what, std::size_t count) const {
    auto text = sha256_hex(start_ + "#" + std::string{what});
    for (char& c : text)
      if (c >= 'a') c = static_cast<char>('0' + (c - 'a'));
    return text.substr(0, count);
  }
  std::string uuid(std::string_view what) const {
    auto h = hex(what, 32);
    h[12] = '4';  // RFC 4122, 4.4: tools tell byte orders apart by the version
    h[16] = 'a';
    return fmt::format("{}-{}-{}-{}-{}", h.substr(0, 8), h.substr(8, 4), h.substr(12, 4),
                       h.substr(16, 4), h.substr(20, 12));
  }

 private:
  std::string start_;
};

const ExpectedParts* expected(const inventory::Profile& profile, PartKind kind) {
  for (const auto& parts : profile.parts)
    if (parts.kind == kind) return &parts;
  return nullptr;
}

std::string model_of(const ExpectedParts& parts, const std::string& otherwise) {
  return parts.models.empty() ? otherwise : parts.models.front();
}

/// "94:6d" of "946d".
std::string in_bytes(std::string hex) {
  std::erase(hex, ':');
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    text += (text.empty() ? "" : ":") + hex.substr(i, 2);
  return text;
}

/// What a CPU calls itself, of which a profile writes the telling part: "8480C".
std::string whole_name(const std::string& cpu) {
  const std::string known = "Intel(R) Xeon(R) Platinum 8480C";
  return known.ends_with(cpu) ? known : cpu;
}

/// "0000:1b:00.0", however short the profile wrote it; where it wrote none, one of our own.
std::string pci_of(const ExpectedParts& parts, int index, int first_bus) {
  if (index < static_cast<int>(parts.pci.size())) {
    auto address = lower_case(parts.pci[static_cast<std::size_t>(index)]);
    if (address.size() == 7) address = "0000:" + address;
    if (address.size() == 16) address = address.substr(4);
    return address;
  }
  return fmt::format("0000:{:02x}:00.0", first_bus + index);
}

/// What the driver counts of a nominal size: 81559 MiB where 80 GiB is printed on the box.
double framebuffer(std::string_view model, double nominal) {
  constexpr double kMiB = 1048576;
  if (model.contains("H100 80GB")) return 81559 * kMiB;
  if (model.contains("H200")) return 143771 * kMiB;
  if (model.contains("B200")) return 183359 * kMiB;
  if (model.contains("B300")) return 275040 * kMiB;
  if (model.contains("L40S") || model.contains("A40")) return 46068 * kMiB;
  if (model == "A10") return 23028 * kMiB;
  return nominal;
}

/// Of the fourth generation until Hopper.
int generation_of(std::string_view model) {
  constexpr std::array<std::string_view, 4> kFourth{"A100", "A40", "A10", "L40S"};
  return std::ranges::any_of(kFourth, [&](auto each) { return model.contains(each); }) ? 4 : 5;
}

struct Maker {
  const inventory::Profile& profile;
  std::span<const Fault> faults;
  Seeded seeded;
  Hardware made{};

  bool has(FaultKind kind, const std::string& part) const {
    return find_fault(faults, kind, part) != nullptr;
  }
  /// Half as wide where the fault says neither.
  void slow_down(FaultKind kind, const std::string& part, PcieLink& link) const {
    const auto* slow = find_fault(faults, kind, part);
    if (slow == nullptr) return;
    link.gen = slow->gen.value_or(link.gen);
    link.width = slow->width.value_or(slow->gen ? link.width : link.width / 2);
  }
  void gpus(const ExpectedParts& parts);
  void dimms(const ExpectedParts& parts);
  void drives(const ExpectedParts& parts);
  void psus(const ExpectedParts& parts);
  void cpus(const ExpectedParts& parts);
  void adapters(const ExpectedParts& parts);
  void switches_and_fans();
  void firmware();
  void unlisted();
};

void Maker::gpus(const ExpectedParts& parts) {
  for (int i = 0; i < parts.count; ++i) {
    Gpu gpu{.index = i, .name = fmt::format("gpu{}", i)};
    if (has(FaultKind::gpu_missing, gpu.name)) continue;
    gpu.model = model_of(parts, "H100 80GB HBM3");
    gpu.gen = gpu.gen_max = generation_of(gpu.model);
    gpu.serial = "165" + seeded.digits(gpu.name, 10);
    gpu.uuid = "GPU-" + seeded.uuid(gpu.name);
    gpu.pci = pci_of(parts, i, 0x18 + i * 7);
    gpu.bytes = framebuffer(gpu.model, parts.size_bytes.value_or(80.0 * 1073741824));
    if (const auto* small = find_fault(faults, FaultKind::gpu_wrong_size, gpu.name))
      gpu.bytes = small->bytes.value_or(gpu.bytes * 3 / 4);
    gpu.vbios = made.version(fmt::format("HGX_FW_GPU_SXM_{}", i + 1),
                             made.version("gpu", "96.00.89.00.01"));
    gpu.numa = i * 2 / std::max(parts.count, 1);
    if (const auto* ecc = find_fault(faults, FaultKind::gpu_ecc, gpu.name))
      gpu.uncorrected = static_cast<std::uint64_t>(ecc->errors.value_or(3));
    gpu.remap_pending = has(FaultKind::gpu_remap_pending, gpu.name);
    if (const auto* slow = find_fault(faults, FaultKind::gpu_slow_link, gpu.name)) {
      gpu.gen = slow->gen.value_or(gpu.gen);
      gpu.width = slow->width.value_or(slow->gen ? gpu.width : gpu.width / 2);
    }
    made.gpus.push_back(std::move(gpu));
  }
}

void Maker::dimms(const ExpectedParts& parts) {
  constexpr int kSlowRate = 3600;
  const int sockets = 2;
  const int each = std::max(1, (parts.count + sockets - 1) / sockets);
  for (int i = 0; i < parts.count; ++i) {
    const char bank = static_cast<char>('A' + i / each);
    Dimm dimm{.name = fmt::format("dimm {}{}", bank, i % each + 1),
              .locator = fmt::format("DIMM {}{}", bank, i % each + 1)};
    dimm.model = made.version(dimm.name, model_of(parts, "MTC40F2046S1RC48BA1"));
    dimm.manufacturer = "Micron";
    dimm.serial = seeded.hex(dimm.name, 8);
    for (char& c : dimm.serial) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    dimm.bytes = parts.size_bytes.value_or(64.0 * 1073741824);
    if (const auto* small = find_fault(faults, FaultKind::dimm_too_small, dimm.name))
      dimm.bytes = small->bytes.value_or(dimm.bytes / 2);
    if (const auto* slow = find_fault(faults, FaultKind::memory_slow))
      dimm.mts = slow->number.value_or(kSlowRate);
    if (const auto* slow = find_fault(faults, FaultKind::dimm_slow, dimm.name))
      dimm.mts = slow->number.value_or(kSlowRate);
    dimm.present = !has(FaultKind::dimm_missing, dimm.name);
    made.dimms.push_back(std::move(dimm));
  }
}

void Maker::drives(const ExpectedParts& parts) {
  for (int i = 0; i < parts.count; ++i) {
    Drive drive{.name = fmt::format("nvme{}", i)};
    if (has(FaultKind::nvme_missing, drive.name)) continue;
    drive.model = model_of(parts, "SAMSUNG MZQL23T8HCLS-00A07");
    drive.serial = "S64H" + seeded.digits(drive.name, 10);
    drive.pci = pci_of(parts, i, 0x82);
    drive.bytes = parts.size_bytes.value_or(3840755982336.0);
    if (const auto* small = find_fault(faults, FaultKind::nvme_too_small, drive.name))
      drive.bytes = small->bytes.value_or(drive.bytes / 2);
    drive.firmware = made.version(drive.name, made.version("nvme", "GDC5602Q"));
    drive.slow = has(FaultKind::disk_slow, drive.name);
    drive.broken = has(FaultKind::disk_errors, drive.name);
    slow_down(FaultKind::nvme_slow_link, drive.name, drive.link);
    made.drives.push_back(std::move(drive));
  }
}

void Maker::psus(const ExpectedParts& parts) {
  for (int i = 0; i < parts.count; ++i) {
    Psu psu{.name = fmt::format("psu{}", i)};
    if (has(FaultKind::psu_missing, psu.name)) continue;
    psu.model = model_of(parts, "ECD16020137");
    psu.serial = "DTHTCT" + seeded.digits(psu.name, 7);
    psu.firmware = made.version("psu", "2.2-2.1-2.4");
    made.psus.push_back(std::move(psu));
  }
}

void Maker::cpus(const ExpectedParts& parts) {
  for (int i = 0; i < parts.count; ++i) {
    Cpu cpu{.name = fmt::format("cpu{}", i),
            .model = whole_name(model_of(parts, "8480C")),
            .cores = static_cast<int>(parts.cores.value_or(56))};
    if (!has(FaultKind::cpu_missing, cpu.name)) made.cpus.push_back(std::move(cpu));
  }
  if (find_fault(faults, FaultKind::smt_off) != nullptr) made.threads_of_core = 1;
}

void Maker::adapters(const ExpectedParts& parts) {
  const bool infiniband = parts.kind == PartKind::hca;
  for (int i = 0; i < parts.count; ++i) {
    Adapter adapter{.name = infiniband ? fmt::format("mlx5_{}", i) : fmt::format("eno{}", i + 1)};
    adapter.infiniband = infiniband;
    if (has(FaultKind::hca_missing, adapter.name)) continue;
    adapter.model = model_of(parts, infiniband ? "MT4129" : "Ethernet Controller E810-C");
    adapter.serial = "MT" + seeded.digits(adapter.name, 10);
    adapter.pci = pci_of(parts, i, infiniband ? 0xa0 : 0x29);
    const auto h = seeded.hex(adapter.name, 10);
    adapter.mac = fmt::format("{}:{}:{}:{}:{}:{}", infiniband ? "94" : "a0", h.substr(0, 2),
                              h.substr(2, 2), h.substr(4, 2), h.substr(6, 2), h.substr(8, 2));
    const auto g = seeded.hex(adapter.name + "guid", 10);
    adapter.guid = fmt::format("946d:ae{}:{}:{}", g.substr(0, 2), g.substr(2, 4), g.substr(6, 4));
    adapter.firmware =
        made.version(adapter.name, infiniband ? made.version("hca", "28.39.1002") : "4.20");
    adapter.numa = i * 2 / std::max(parts.count, 1);
    if (!infiniband) adapter.link = {4, 4, 16, 16};
    slow_down(FaultKind::hca_slow_link, adapter.name, adapter.link);
    made.adapters.push_back(std::move(adapter));
  }
}

/// Neither stands in a profile: four switches join the eight GPUs of an HGX baseboard of Hopper's.
void Maker::switches_and_fans() {
  constexpr int kSwitches = 4, kFans = 8;
  const auto* parts = expected(profile, PartKind::gpu);
  const bool linked = parts != nullptr && gpu_kind(model_of(*parts, "H100")).nvlinks > 0;
  const int switches = linked && parts->count == 8 ? kSwitches : 0;
  for (int i = 0; i < switches; ++i)
    made.nvswitches.push_back(
        {.name = fmt::format("nvswitch{}", i), .pci = fmt::format("0000:{:02x}:00.0", 5 + i)});
  const auto* fans = expected(profile, PartKind::fan);
  const int count = fans != nullptr && fans->count > 0 ? fans->count : kFans;
  for (int i = 0; i < count; ++i) made.fans.push_back({.name = fmt::format("fan{}", i)});
}

void Maker::firmware() {
  for (const auto& expected_version : profile.firmware)
    made.firmware[expected_version.component] = expected_version.version;
  for (const auto& fault : faults)
    if (fault.kind == FaultKind::wrong_firmware) made.firmware[fault.component] = fault.version;
}

/// Whether it has supplies of its own: a tray that a bus bar feeds is not asked for redundant ones.
bool judges_supplies(const inventory::Profile& profile) {
  return std::ranges::any_of(profile.criteria,
                             [](const auto& each) { return each.measure == "psu.redundant"; });
}

/// What no server is without, where its profile leaves it to the site.
void Maker::unlisted() {
  constexpr int kDimms = 16, kDrives = 2, kPsus = 4;
  const auto lists = [this](PartKind kind) { return expected(profile, kind) != nullptr; };
  if (!lists(PartKind::dimm)) dimms({.kind = PartKind::dimm, .count = kDimms});
  if (!lists(PartKind::nvme) && !lists(PartKind::drive))
    drives({.kind = PartKind::nvme, .count = kDrives});
  if (!lists(PartKind::psu) && judges_supplies(profile))
    psus({.kind = PartKind::psu, .count = kPsus});
}

template <class Part>
void exchange_among(std::vector<Part>& parts, const std::string& one, const std::string& other) {
  const auto first = std::ranges::find(parts, one, &Part::name);
  const auto second = std::ranges::find(parts, other, &Part::name);
  if (first == parts.end() || second == parts.end()) return;
  std::swap(first->serial, second->serial);
  if constexpr (requires { first->uuid; }) std::swap(first->uuid, second->uuid);
}

}  // namespace

double Hardware::memory_bytes() const {
  double sum = 0;
  for (const auto& dimm : dimms)
    if (dimm.present) sum += dimm.bytes;
  return sum;
}

int Hardware::cores() const {
  int sum = 0;
  for (const auto& cpu : cpus) sum += cpu.cores;
  return sum;
}

std::string Hardware::version(const std::string& component, const std::string& otherwise) const {
  const auto found = firmware.find(component);
  return found == firmware.end() ? otherwise : found->second;
}

Hardware make_hardware(const inventory::Profile& profile, const std::string& node,
                       std::uint64_t seed, std::span<const Fault> faults) {
  // A machine that changed places with its neighbour brought its serial numbers along.
  const auto* swapped = find_fault(faults, FaultKind::node_swapped);
  const auto& whose = swapped == nullptr ? node : swapped->other;
  Maker maker{.profile = profile, .faults = faults, .seeded = Seeded{whose, seed}};
  auto& made = maker.made;
  made.node = node;
  made.profile = profile.name;
  made.manufacturer = "NVIDIA";
  made.model = "DGXH100";
  if (const auto* system = expected(profile, PartKind::system))
    made.model = model_of(*system, made.model);
  made.serial = "1660" + maker.seeded.digits("system", 9);
  made.bmc_mac = bmc_mac_of(made.serial);
  made.uuid = maker.seeded.uuid("system");
  made.idle_watts = profile.draw.idle_watts;
  made.loaded_watts = profile.draw.loaded_watts;
  maker.firmware();
  maker.switches_and_fans();
  for (const auto& parts : profile.parts) switch (parts.kind) {
      case PartKind::gpu:
        maker.gpus(parts);
        break;
      case PartKind::dimm:
        maker.dimms(parts);
        break;
      case PartKind::nvme:
        maker.drives(parts);
        break;
      case PartKind::psu:
        maker.psus(parts);
        break;
      case PartKind::cpu:
        maker.cpus(parts);
        break;
      case PartKind::hca:
      case PartKind::nic:
        maker.adapters(parts);
        break;
      case PartKind::drive:
      case PartKind::fan:
      case PartKind::dpu:
      case PartKind::pcie:
      case PartKind::switch_chip:
      case PartKind::firmware:
      case PartKind::bmc:
      case PartKind::system:
        break;
    }
  maker.unlisted();
  return made;
}

void set_version(Hardware& hardware, const std::string& component, const std::string& version) {
  for (auto& gpu : hardware.gpus)
    if (component == fmt::format("HGX_FW_GPU_SXM_{}", gpu.index + 1)) gpu.vbios = version;
  for (auto& psu : hardware.psus)
    if (component == "PSU_" + psu.name.substr(3)) psu.firmware = version;
  for (auto& adapter : hardware.adapters)
    if (component == adapter.name) adapter.firmware = version;
  for (auto& drive : hardware.drives)
    if (component == drive.name) drive.firmware = version;
  hardware.firmware[component] = version;
}

void exchange_parts(Hardware& hardware, const std::string& one, const std::string& other) {
  exchange_among(hardware.gpus, one, other);
  exchange_among(hardware.dimms, one, other);
  exchange_among(hardware.drives, one, other);
  exchange_among(hardware.psus, one, other);
}

std::string bmc_mac_of(std::string_view serial) {
  constexpr std::size_t kOwnDigits = 6;
  return "94:6d:ae:" + in_bytes(sha256_hex(std::string{serial} + "/bmc").substr(0, kOwnDigits));
}

std::string link_address(const Adapter& adapter) {
  if (!adapter.infiniband) return adapter.mac;
  return "00:00:10:29:fe:80:00:00:00:00:00:00:" + in_bytes(adapter.guid);
}

}  // namespace cupel::rehearsal
