// `cupel-node facts` of a virtual machine.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "inventory/profile.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/kernel_log.h"
#include "rehearsal/shell/system_tree.h"
#include "rehearsal/tools/cupel_node.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/gpu_view.h"
#include "rehearsal/tools/infiniband.h"

namespace cupel::rehearsal {
namespace {

double transfers(int gen) {
  constexpr std::array<double, 7> kRates{0, 2.5, 5, 8, 16, 32, 64};
  return kRates[static_cast<std::size_t>(std::clamp(gen, 0, 6))];
}

double gbits(int gen, int width) {
  const double coded = gen <= 2 ? 0.8 : gen <= 5 ? 128.0 / 130 : 1;
  return transfers(gen) * width * coded;
}

json::object hop(const std::string& below, int gen, int width, int gen_max, int width_max) {
  return {{"below", below},
          {"above", below.substr(0, 8) + "01.0"},
          {"speed", transfers(gen)},
          {"width", width},
          {"max_speed", transfers(gen_max)},
          {"max_width", width_max},
          {"gbits", gbits(gen, width)},
          {"max_gbits", gbits(gen_max, width_max)},
          {"sunk", gen < gen_max || width < width_max}};
}

json::object hop(const std::string& below, const PcieLink& link) {
  return hop(below, link.gen, link.width, link.gen_max, link.width_max);
}

json::object device(std::string_view kind, std::string_view vendor, const std::string& address,
                    int numa, const json::object& link) {
  return {{"address", address},
          {"kind", kind},
          {"vendor", vendor},
          {"numa", numa},
          {"aer", json::object{{"correctable", 0}, {"nonfatal", 0}, {"fatal", 0}}},
          {"hops", json::array{link}},
          {"weakest", link},
          {"bridges", json::array{json::object{{"address", link.at("above")}, {"acs", "off"}}}}};
}

json::array pci_of(const Host& host) {
  const auto& hardware = host.machine().hardware();
  json::array all;
  for (const auto& gpu : hardware.gpus)
    all.push_back(device("gpu", "0x10de", gpu.pci, gpu.numa,
                         hop(gpu.pci, gpu.gen, gpu.width, gpu.gen_max, gpu.width_max)));
  for (const auto& each : hardware.nvswitches)
    all.push_back(device("nvswitch", "0x10de", each.pci, 0, hop(each.pci, 4, 2, 4, 2)));
  for (const auto& adapter : hardware.adapters)
    all.push_back(device(adapter.infiniband ? "hca" : "nic",
                         adapter.infiniband ? "0x15b3" : "0x8086", adapter.pci, adapter.numa,
                         hop(adapter.pci, adapter.link)));
  for (const auto& drive : hardware.drives)
    all.push_back(device("nvme", "0x144d", drive.pci, 0, hop(drive.pci, drive.link)));
  return all;
}

/// In the words of the real one, of a GPU of a rack.
json::array fabric_faults(const GpuView& gpu) {
  json::array faults;
  if (!is_of_nvl72(gpu.model) || gpu.fabric_state != "Completed") return faults;
  if (gpu.fabric_clique == "0")
    faults.emplace_back("it is in no partition of its NVLink domain (clique 0)");
  if (gpu.fabric_cluster == kNoCluster)
    faults.emplace_back("it is in no NVLink domain (cluster UUID of zeros)");
  return faults;
}

json::object gpu_row(const GpuView& gpu) {
  json::object row{{"index", gpu.index}, {"pci", gpu.part.pci}};
  // A GPU that is lost answers nothing at all.
  if (gpu.lost) return row;
  row["name"] = gpu.product();
  row["uuid"] = gpu.part.uuid;
  row["serial"] = gpu.part.serial;
  row["vbios"] = gpu.part.vbios;
  row["memory"] = static_cast<double>(gpu.mib()) * 1048576;
  row["ecc"] = json::object{{"now", gpu.ecc}, {"pending", gpu.ecc_pending}};
  row["mig"] = json::object{{"now", gpu.mig}, {"pending", gpu.mig_pending}};
  row["persistence"] = gpu.persistence;
  row["power"] = json::object{{"limit", gpu.limit_watts}, {"default", gpu.model.default_watts}};
  row["counters"] = json::object{{"remap_pending", gpu.remaps.pending ? 1 : 0},
                                 {"remap_failed", gpu.remaps.failed ? 1 : 0},
                                 {"remapped_uncorrectable", gpu.remaps.uncorrectable},
                                 {"ecc_uncorrected", gpu.volatile_ecc.dram_uncorrected},
                                 {"ecc_corrected", gpu.volatile_ecc.dram_corrected}};
  json::array links;
  for (std::size_t i = 0; i < gpu.links.size(); ++i)
    links.push_back(json::object{{"link", i}, {"active", gpu.links[i].up}});
  row["nvlinks"] = std::move(links);
  row["fabric"] = json::object{{"state", lower_case(gpu.fabric_state)},
                               {"status", lower_case(gpu.fabric_status)}};
  auto& fabric = row["fabric"].as_object();
  fabric["clique"] = number<std::uint32_t>(gpu.fabric_clique).value_or(0);
  if (gpu.fabric_cluster != kNoCluster) fabric["cluster"] = gpu.fabric_cluster;
  fabric["faults"] = fabric_faults(gpu);
  if (gpu.fabric_state.empty() || gpu.fabric_state == "N/A") row.erase("fabric");
  return row;
}

json::array ports_of(const Host& host) {
  json::array all;
  for (const auto& adapter : host.machine().hardware().adapters) {
    if (!adapter.infiniband) continue;
    const auto port = read_port(host, adapter.name);
    const auto word = [](const std::string& text) { return text.substr(text.find(' ') + 1); };
    const auto rate = rate_text(port);
    const json::object reported{
        {"port", 1},
        {"state", word(state_text(port))},
        {"phys_state", word(physical_text(port))},
        {"rate", rate},
        {"gbits", number<double>(rate.substr(0, rate.find(' '))).value_or(0)},
        {"lid", port.lid},
        {"link_layer", port.link_layer}};
    all.push_back(json::object{{"name", adapter.name},
                               {"bond", false},
                               {"type", adapter.model},
                               {"firmware", adapter.firmware},
                               {"node_guid", adapter.guid},
                               {"serial", adapter.serial},
                               {"pci", adapter.pci},
                               {"ports", json::array{reported}}});
  }
  return all;
}

void put_memory(json::object& facts, const Host& host) {
  const auto& hardware = host.machine().hardware();
  json::array nodes, controllers, modules;
  const auto sockets = std::max<std::size_t>(hardware.cpus.size(), 1);
  const double bytes = hardware.memory_bytes() * 0.985;  // what the kernel leaves of it
  for (std::size_t i = 0; i < sockets; ++i) {
    nodes.push_back(json::object{{"node", i}, {"bytes", bytes / static_cast<double>(sockets)}});
    json::array dimms;
    std::uint64_t corrected = 0, uncorrected = 0;
    for (const auto& dimm : hardware.dimms) {
      const bool here = dimm.name.size() > 5 && dimm.name[5] == static_cast<char>('A' + i);
      if (!here || !dimm.present) continue;
      const auto errors = dimm_errors(host, dimm.name);
      corrected += errors.corrected;
      uncorrected += errors.uncorrected;
      dimms.push_back(json::object{{"label", dimm.name.substr(5)},
                                   {"uncorrected", errors.uncorrected},
                                   {"corrected", errors.corrected}});
    }
    controllers.push_back(json::object{{"name", fmt::format("mc{}", i)},
                                       {"uncorrected", uncorrected},
                                       {"corrected", corrected},
                                       {"dimms", std::move(dimms)}});
  }
  for (const auto& dimm : hardware.dimms) {
    json::object row{{"slot", dimm.locator}, {"bytes", dimm.present ? dimm.bytes : 0.0}};
    if (dimm.present)
      for (const auto& [key, text] : {std::pair{"manufacturer", dimm.manufacturer},
                                      {"serial", dimm.serial},
                                      {"part_number", dimm.model},
                                      {"type", std::string{"DDR5"}}})
        row[key] = text;
    if (dimm.present) row["speed"] = dimm.mts;
    modules.push_back(std::move(row));
  }
  facts["dimms"] = std::move(modules);
  facts["memory"] = json::object{{"bytes", bytes}, {"numa", std::move(nodes)}};
  facts["edac"] = std::move(controllers);
}

void put_host(json::object& facts, Host& host, const DriverView& driver) {
  const auto& hardware = host.machine().hardware();
  facts["system"] = json::object{{"vendor", hardware.manufacturer},
                                 {"product", hardware.model},
                                 {"serial", smbios_serial(host.machine())},
                                 {"bios", hardware.version("HostBIOS_0", "01.01.03")}};
  json::array cpus;
  for (std::size_t i = 0; i < hardware.cpus.size(); ++i)
    cpus.push_back(json::object{{"index", i},
                                {"model", hardware.cpus[i].model},
                                {"cores", hardware.cpus[i].cores},
                                {"threads", hardware.cpus[i].cores * hardware.threads_of_core},
                                {"governor", "performance"}});
  facts["cpus"] = std::move(cpus);
  facts["kernel"] = json::object{{"release", kernel_release(hardware)},
                                 {"command_line", command_line(hardware)},
                                 {"hostname", host.machine().host_name()}};
  facts["iommu"] = json::object{{"on", true}, {"mode", "identity"}};
  facts["firmware"] = json::object{{"boot_mode", "uefi"}};
  facts["consoles"] =
      json::array{json::object{{"name", "ttyS0"}, {"enabled", true}, {"serial", true}}};
  facts["drivers"] = json::object{{"nvidia", driver.version}};
  const bool switched = !hardware.nvswitches.empty();
  const char* state = !switched ? "absent" : fabric_manager(host).running ? "active" : "inactive";
  facts["fabric_manager"] = json::object{{"state", state}};
  const bool is_kept = fault_now(host.machine(), FaultKind::time_service_off) == nullptr;
  facts["time"] = json::object{{"synchronised", true}, {"keeper", is_kept ? "chronyd" : "none"}};
}

}  // namespace

Task<int> virtual_cupel_node_facts(ProcessPtr process, Arguments arguments) {
  if (arguments.size() > 2) {
    co_await process->print_error("usage: cupel-node facts\n");
    co_return 64;
  }
  auto& host = process->host;
  const auto driver = look_at_gpus(host);
  // The library of another version than the module's is refused.
  const bool works = driver.loaded && driver.library == driver.version;
  json::object facts{{"kind", "facts"}, {"program", "cupel-node"}, {"protocol", 1}};
  put_host(facts, host, driver);
  put_memory(facts, host);
  facts["pci"] = pci_of(host);
  json::object nvml{{"works", works}};
  if (works) nvml["driver"] = driver.version;
  facts["nvml"] = std::move(nvml);
  json::array gpus, drives, unknown;
  for (const auto& gpu : driver.gpus) gpus.push_back(gpu_row(gpu));
  if (works && !host.machine().profile().parts.empty()) facts["gpus"] = std::move(gpus);
  if (!works)
    unknown.push_back(
        json::object{{"fact", "GPUs"},
                     {"source", "NVML"},
                     {"why", driver.loaded ? "nvmlInit_v2: driver and library are of two versions"
                                           : "nvmlInit_v2: the driver is not loaded"}});
  facts["infiniband"] = ports_of(host);
  for (const auto& drive : host.machine().hardware().drives)
    drives.push_back(json::object{{"name", drive.name},
                                  {"model", drive.model},
                                  {"serial", drive.serial},
                                  {"state", "live"},
                                  {"bytes", drive.bytes},
                                  {"firmware", drive.firmware},
                                  {"pci", drive.pci}});
  facts["nvme"] = std::move(drives);
  facts["unknown"] = std::move(unknown);
  const auto text = json::serialize(facts) + "\n";
  co_await process->say(text);
  co_return 0;
}

}  // namespace cupel::rehearsal
