// The plan of updates for 10,000 machines of nine components each, from what their BMCs report:
// pure planning, one thread.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "inventory/profile.h"
#include "orchestrator/firmware/firmware_plan.h"

namespace {

using namespace cupel;
using inventory::ExpectedFirmware;
using inventory::FirmwareReset;
using inventory::Part;

constexpr int kMachines = 10'000;

ExpectedFirmware component(std::string name, std::string version, std::vector<std::string> ids,
                           std::vector<FirmwareReset> follow) {
  ExpectedFirmware expected{.component = std::move(name), .version = std::move(version)};
  expected.ids = std::move(ids);
  expected.models = {"DGXH100*"};
  expected.image = {.file = "/images/x", .sha256 = std::string(64, 'a')};
  expected.follow = std::move(follow);
  return expected;
}

/// A DGX H100's.
inventory::Profile baseline() {
  using enum FirmwareReset;
  inventory::Profile profile;
  profile.firmware = {
      component("bmc", "24.09.17", {"HostBMC_0"}, {bmc_restart}),
      component("gpu", "96.00.A5.00.01", {"HGX_FW_GPU_SXM_*"}, {ac_cycle}),
      component("nvswitch", "96.10.57.00.01", {"HGX_FW_NVSwitch_*"}, {ac_cycle}),
      component("erot", "00.02.0182.0000_n00", {"HGX_FW_ERoT_*"}, {ac_cycle}),
      component("retimer", "2.7.20", {"HGX_FW_PCIeRetimer_*"}, {ac_cycle}),
      component("hgx-bmc", "HGX-22.10-1-rc67", {"HGX_FW_BMC_0"}, {bmc_restart}),
      component("bios", "01.05.03", {"HostBIOS_0"}, {host_restart}),
      component("cpld", "0.2.1.9", {"CPLDMB_0", "CPLDMID_0"}, {power_drain}),
      component("psu", "0204.0201.0202", {"PSU_*"}, {}),
  };
  profile.firmware[0].stepping_stones = {{"23.09.20", "23.09.20", {"/images/y", "", "", {}}, {}}};
  return profile;
}

void add(std::vector<Part>& parts, const std::string& id, const std::string& version) {
  Part part{.kind = inventory::PartKind::firmware, .name = id, .firmware = version};
  part.source = "/redfish/v1/UpdateService/FirmwareInventory/" + id;
  parts.push_back(std::move(part));
}

/// What it reports of these and of others, 66 entries.
std::vector<Part> machine() {
  std::vector<Part> parts;
  for (int i = 1; i <= 8; ++i) {
    add(parts, fmt::format("HGX_FW_GPU_SXM_{}", i), "96.00.89.00.01");
    add(parts, fmt::format("HGX_FW_ERoT_GPU_SXM_{}", i), "00.02.0150.0000_n00");
    add(parts, fmt::format("HGX_FW_PCIeRetimer_{}", i - 1), "2.7.20");
    add(parts, fmt::format("HGX_InfoROM_GPU_SXM_{}", i), "G520.0200.00.05");
  }
  for (int i = 0; i < 4; ++i) {
    add(parts, fmt::format("HGX_FW_NVSwitch_{}", i), "96.10.4A.00.01");
    add(parts, fmt::format("HGX_FW_ERoT_NVSwitch_{}", i), "00.02.0150.0000_n00");
    add(parts, fmt::format("HGX_InfoROM_NVSwitch_{}", i), "5612.0002.00.01");
  }
  for (int i = 0; i < 6; ++i) add(parts, fmt::format("PSU_{}", i), "0204.0201.0202");
  for (const auto* id : {"bmc", "HostBMC_0"}) add(parts, id, "23.08.18");
  for (const auto* id : {"bios", "HostBIOS_0"}) add(parts, id, "01.01.03");
  for (const auto* id : {"CPLDMB_0", "CPLDMID_0"}) add(parts, id, "0.2.1.8");
  for (const auto* id : {"HGX_FW_ERoT_BMC_0", "HGX_FW_ERoT_FPGA_0", "HGX_FW_ERoT_PCIeSwitch_0",
                         "EROT_BIOS_0", "EROT_BMC_0"})
    add(parts, id, "00.02.0150.0000_n00");
  for (const auto* id : {"HGX_FW_FPGA_0", "HGX_FW_PCIeSwitch_0", "PCIeRetimer_0", "PCIeRetimer_1"})
    add(parts, id, "2.07");
  add(parts, "HGX_FW_BMC_0", "HGX-22.10-1-rc57");
  return parts;
}

void plan(benchmark::State& state) {
  const auto profile = baseline();
  const auto reported = machine();
  const bmc::Identity identity{"NVIDIA", "DGXH100", "", "", "", "", ""};
  std::size_t updates = 0;
  for (auto _ : state)
    for (int i = 0; i < kMachines; ++i)
      updates += firmware::plan_firmware(profile, identity, reported).updates.size();
  if (updates == 0) state.SkipWithError("nothing was planned");
  state.counters["entries"] = static_cast<double>(reported.size());
}
BENCHMARK(plan)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
