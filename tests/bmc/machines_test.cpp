// Every machine that was captured, read over HTTPS as it would be in a rack.
#include "bmc/redfish/inventory.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captured_fetch.h"

namespace cupel::bmc {
namespace {

using inventory::Part;
using inventory::PartKind;

/// What is in the capture, found by looking into its files.
struct Truth {
  const char* machine;
  const char* vendor;
  const char* serial;
  PowerState power;
  int gpus, dimms, psus;
  int requests_at_most;
};

void PrintTo(const Truth& truth, std::ostream* out) { *out << truth.machine; }

const Truth kTruth[] = {
    {"nvidia_viking", "NVIDIA", "1662923610124", PowerState::on, 8, 32, 6, 350},
    // Eight rows, of which two are fans that fill an empty bay (PWS-DF009-2F, no watts).
    {"supermicro", "Supermicro", "S889914X3710910", PowerState::on, 8, 32, 6, 200},
    // The service tag, which is in SKU; SerialNumber is the board's.
    {"dell", "Dell", "F54P1G3", PowerState::on, 1, 16, 2, 200},
    {"hpe", "HPE", "MXQ302099S", PowerState::on, 0, 16, 2, 200},
    {"lenovo", "Lenovo", "J105958B", PowerState::on, 8, 16, 4, 200},
    // System_0 has no serial number, its chassis Chassis_0 has. Fed by a bus bar: no PSU of its
    // own.
    {"nvidia_gb200", "NVIDIA", "1333024020524", PowerState::on, 4, 2, 0, 200},
    // A DPU: its collections of processors and memory are empty, and it has no PSU.
    {"nvidia_dpu", "NVIDIA", "MT2423600ANG", PowerState::on, 0, 0, 0, 200},
    {"nvidia-bluefield3-bmc-23.10", "NVIDIA", "MT2328XZ185R", PowerState::on, 0, 0, 0, 200},
    // Six bays, two of them Absent.
    {"XL675d_A100", "HPE", "JS05NP0896", PowerState::on, 8, 16, 4, 200},
    // No serial number anywhere; off, so nothing else either.
    {"OpenBMC-stock", "OpenBMC", "", PowerState::off, 0, 0, 0, 200},
    // Two rows of power supplies that say nothing but Name "nil".
    {"Gigabyte", "GIGABYTE", "GJG9NF512A000302", PowerState::on, 0, 16, 0, 200},
    {"hpe-dl380a-gen11-ilo6-2xh100nvl", "HPE", "2M2D2J00L4", PowerState::on, 2, 16, 4, 200},
    {"lenovo-sr670v2-xcc-1.40", "Lenovo", "J101RZ43", PowerState::on, 2, 16, 4, 200},
};

int count(const Observed& seen, PartKind kind) {
  return static_cast<int>(std::ranges::count(seen.parts, kind, &Part::kind));
}

class Machine : public ::testing::TestWithParam<Truth> {};

TEST_P(Machine, IsReadRightOverHttps) {
  const Truth& truth = GetParam();
  CUPEL_NEED_CAPTURE(tree, truth.machine);
  asio::io_context io;
  test::HttpsServer server{{.tree = tree}};
  redfish::Transport transport{io.get_executor()};
  RememberedKeys keys;
  const std::string password = "open sesame";
  const inventory::BmcAccess access{
      .endpoint = server.endpoint(), .user = "admin", .password = {}, .trust = {}};
  const auto bmc = redfish::open(transport, truth.machine, access, password_from(password), keys);

  const auto power = run_to_end(io, bmc->power_state(Deadline::in(10s)));
  const auto observed = run_to_end(io, bmc->observe(Deadline::in(60s)));
  run_to_end(io, [](Bmc& one) -> Task<bool> {
    co_await one.log_out();
    co_return true;
  }(*bmc));

  ASSERT_TRUE(power) << power.assume_error().what;
  ASSERT_TRUE(observed) << observed.assume_error().what;
  const Observed& seen = observed.assume_value();
  EXPECT_EQ(power.assume_value(), truth.power);
  EXPECT_EQ(seen.power, truth.power);
  EXPECT_EQ(seen.identity.vendor, truth.vendor);
  EXPECT_EQ(seen.identity.serial, truth.serial);
  EXPECT_EQ(count(seen, PartKind::gpu), truth.gpus);
  EXPECT_EQ(count(seen, PartKind::dimm), truth.dimms);
  EXPECT_EQ(count(seen, PartKind::psu), truth.psus);
  EXPECT_LE(seen.requests, truth.requests_at_most);
  EXPECT_LE(server.asked().most_in_flight, 2);
  EXPECT_EQ(server.asked().open_sessions, 0);
  RecordProperty("requests", seen.requests);
}

TEST_P(Machine, HasNoPartTwiceUnderOneName) {
  CUPEL_NEED_CAPTURE(tree, GetParam().machine);
  asio::io_context io;
  test::CapturedFetch fetch{tree};

  const auto observed = run_to_end(io, redfish::read_inventory(fetch, Deadline::in(60s)));

  ASSERT_TRUE(observed);
  std::set<std::pair<PartKind, std::string>> names;
  for (const auto& part : observed.assume_value().parts)
    EXPECT_TRUE(names.emplace(part.kind, part.name).second) << part.name;
}

INSTANTIATE_TEST_SUITE_P(Captured, Machine, ::testing::ValuesIn(kTruth), [](const auto& truth) {
  std::string name = truth.param.machine;
  for (char& c : name)
    if (c == '-' || c == '.') c = '_';
  return name;
});

class OneMachine : public ::testing::Test {
 protected:
  Observed read(const std::filesystem::path& tree) {
    test::CapturedFetch fetch{tree};
    auto seen = run_to_end(io, redfish::read_inventory(fetch, Deadline::in(60s)));
    return seen ? std::move(seen).assume_value() : Observed{};
  }
  static Part part(const Observed& seen, PartKind kind, const std::string& name) {
    for (const auto& one : seen.parts)
      if (one.kind == kind && one.name == name) return one;
    return {};
  }
  asio::io_context io;
};

TEST_F(OneMachine, DgxH100TellsItsGpusWithTheirMemory) {
  CUPEL_NEED_CAPTURE(tree, "nvidia_viking");

  const auto seen = read(tree);

  const Part expected{.kind = PartKind::gpu,
                      .name = "gpu0",
                      .model = "H100 80GB HBM3",
                      .manufacturer = "NVIDIA",
                      .serial = "1652923003067",
                      .part_number = "2330-885-A1",
                      .firmware = "96.00.89.00.01",
                      .slot = "SXM1",
                      .size_bytes = 81559.0 * 1024 * 1024,
                      .health = "OK",
                      .pcie = inventory::PcieLink{5, 16, 5, 16},
                      .source = "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_SXM_1"};
  EXPECT_EQ(part(seen, PartKind::gpu, "gpu0"), expected);
  EXPECT_EQ(part(seen, PartKind::gpu, "gpu7").serial, "1652923001497");
  EXPECT_EQ(seen.identity, (Identity{.vendor = "NVIDIA",
                                     .model = "DGXH100",
                                     .serial = "1662923610124",
                                     .part_number = "",
                                     .uuid = "B11DD4F2-BFDE-1000-02BC-5CFF35FBE6E9",
                                     .bios_version = "1.1.3",
                                     .bmc_version = "23.11.20",
                                     .bmc_macs = {"5c:ff:35:fb:e6:e9"}}));
}

TEST_F(OneMachine, Supermicro821geTellsItsGpusAsPcieDevices) {
  CUPEL_NEED_CAPTURE(tree, "supermicro");

  const auto seen = read(tree);

  const Part expected{.kind = PartKind::gpu,
                      .name = "gpu2",
                      .model = "H100 80GB HBM3",
                      .manufacturer = "NVIDIA",
                      .serial = "1652323020605",
                      .part_number = "2330-885-A1",
                      .firmware = "96.00.61.00.01",
                      .slot = "GPU3",
                      .health = "OK",
                      .pcie = inventory::PcieLink{5, 16, 5, 16},
                      .source = "/redfish/v1/Chassis/1/PCIeDevices/GPU3"};
  EXPECT_EQ(part(seen, PartKind::gpu, "gpu2"), expected);
  EXPECT_EQ(count(seen, PartKind::hca), 8);
  EXPECT_EQ(count(seen, PartKind::nvme), 8);
}

TEST_F(OneMachine, Xl675dTellsItsGpusInAListOfHpesOwn) {
  CUPEL_NEED_CAPTURE(tree, "XL675d_A100");

  const auto seen = read(tree);

  const auto gpu = part(seen, PartKind::gpu, "gpu0");
  EXPECT_EQ(gpu.model, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(gpu.serial, "1323620023536");
  EXPECT_EQ(gpu.firmware, "92.00.19.00.10");
  EXPECT_EQ(gpu.slot, "PCI-E Slot 1");
}

TEST_F(OneMachine, LenovosGpuModelIsInItsPcieDevice) {
  CUPEL_NEED_CAPTURE(tree, "lenovo");
  EXPECT_EQ(part(read(tree), PartKind::gpu, "gpu3").model, "NVIDIA L40");
}

TEST_F(OneMachine, HpesGpuModelIsAPartNumberAndItsNameTheModel) {
  CUPEL_NEED_CAPTURE(tree, "hpe-dl380a-gen11-ilo6-2xh100nvl");

  const auto gpu = part(read(tree), PartKind::gpu, "gpu0");

  EXPECT_EQ(gpu.model, "NVIDIA H100 NVL");
  EXPECT_EQ(gpu.part_number, "900-21010-0320-030");
}

TEST_F(OneMachine, Gb200SaysThatItDoesNotKnowItsGpus) {
  CUPEL_NEED_CAPTURE(tree, "nvidia_gb200");

  const auto seen = read(tree);

  const std::string gpu0 = "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0";
  EXPECT_THAT(seen.unknown,
              ::testing::IsSupersetOf({inventory::Unknown{"serial of gpu0", gpu0, "absent"},
                                       inventory::Unknown{"model of gpu0", gpu0, "absent"}}));
  EXPECT_EQ(part(seen, PartKind::cpu, "cpu0").model, "Grace A02");
  EXPECT_EQ(part(seen, PartKind::gpu, "gpu2").slot, "HGX_Chassis_0/ProcessorModule_1/GPU_0");
}

TEST_F(OneMachine, DellsDrivesAreNvmeThoughTheyCallItPcie) {
  CUPEL_NEED_CAPTURE(tree, "dell");

  const auto seen = read(tree);

  EXPECT_EQ(count(seen, PartKind::nvme), 3);
  EXPECT_EQ(part(seen, PartKind::firmware, "bmc").firmware, "6.00.30.00");
  EXPECT_EQ(part(seen, PartKind::firmware, "bios").firmware, "1.8.2");
}

}  // namespace
}  // namespace cupel::bmc
