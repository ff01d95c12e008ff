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
  int requests_at_most;
  int gpus, dimms, psus;
  int nics, hcas, dpus, nvswitches;
  int nvmes, drives, fans;
  int links;                          // parts of which a PCIe link is reported
  int versions;                       // with "bios" and "bmc"
  std::vector<std::string> bmc_macs;  // of the BMC's own ports
  int temperatures, fan_speeds;       // rows that are not Absent
  double watts;                       // 0: not reported
  int log_entries;                    // of all event logs, each once
};

void PrintTo(const Truth& truth, std::ostream* out) { *out << truth.machine; }

const Truth kTruth[] = {
    // By PCI ids: two of the twelve adapters are Intel's, nine ConnectX-7, one a BlueField-3. Ten
    // drives among fifteen rows: the others are the BMC's virtual media. Links: 8 GPUs, 4
    // NVSwitches,
    // 12 adapters and 2 devices alone in their slots. 107 temperatures of the host, 56 of the HGX.
    // Its PowerControl tells no watts. 459 log entries, of which 100 are a BMC's own journal.
    {"nvidia_viking",
     "NVIDIA",
     "1662923610124",
     PowerState::on,
     350,
     8,
     32,
     6,
     2,
     9,
     1,
     4,
     10,
     0,
     36,
     26,
     68,
     {"5c:ff:35:fb:e6:e9"},
     163,
     36,
     0,
     359},
    // Eight rows of PSUs, of which two are fans that fill an empty bay (PWS-DF009-2F, no watts).
    // The
    // NVSwitches are reported by their firmware alone.
    {"supermicro",
     "Supermicro",
     "S889914X3710910",
     PowerState::on,
     200,
     8,
     32,
     6,
     1,
     8,
     1,
     4,
     8,
     0,
     6,
     18,
     101,
     {"7c:c2:55:50:a8:ff"},
     36,
     6,
     2161,
     591},
    // The service tag, which is in SKU; SerialNumber is the board's. 29 versions, two of which are
    // what could be rolled back to. Five temperatures in Thermal, and one that only Sensors have.
    {"dell", "Dell", "F54P1G3", PowerState::on,        200, 1, 16,  2, 2, 1, 1, 0, 3, 0,
     6,      0,      29,        {"b0:7b:25:d6:51:82"}, 6,   6, 614, 10},
    // A third port of the BMC is the machine's own (0A:CA:FE:...). 47 temperatures under 43 names.
    {"hpe",
     "HPE",
     "MXQ302099S",
     PowerState::on,
     200,
     0,
     16,
     2,
     1,
     2,
     1,
     0,
     16,
     2,
     6,
     0,
     50,
     {"5c:ed:8c:34:c2:94", "5c:ed:8c:34:c2:95"},
     47,
     6,
     531,
     20},
    // 21 temperatures, one of them Absent.
    {"lenovo", "Lenovo", "J105958B", PowerState::on,        200, 8,  16,  4, 1, 0, 1, 0, 4, 0,
     10,       13,       43,         {"08:8f:c3:a5:8a:6f"}, 20,  10, 708, 18},
    // System_0 has no serial number, its chassis Chassis_0 has. Fed by a bus bar: no PSU of its
    // own.
    // Fans are sensors only: 12 speeds and 6 duty cycles. 4 of its 30 versions are Absent. It has
    // no
    // BIOS version. Two BMCs with an event log each.
    {"nvidia_gb200",
     "NVIDIA",
     "1333024020524",
     PowerState::on,
     200,
     4,
     2,
     0,
     0,
     4,
     2,
     0,
     9,
     0,
     0,
     0,
     28,
     {"3c:6d:66:0e:db:dc"},
     35,
     18,
     1073.190183,
     40},
    // A DPU: its collections of processors and memory are empty, and it has no PSU. Its own network
    // controller is an adapter of its own.
    {"nvidia_dpu",
     "NVIDIA",
     "MT2423600ANG",
     PowerState::on,
     200,
     0,
     0,
     0,
     0,
     1,
     1,
     0,
     0,
     0,
     0,
     0,
     12,
     {"5c:25:73:08:f3:77"},
     4,
     0,
     0,
     0},
    {"nvidia-bluefield3-bmc-23.10",
     "NVIDIA",
     "MT2328XZ185R",
     PowerState::on,
     200,
     0,
     0,
     0,
     0,
     1,
     1,
     0,
     0,
     0,
     0,
     0,
     12,
     {"a0:88:c2:08:80:97"},
     3,
     0,
     0,
     0},
    // Six bays of PSUs, two of them Absent. No adapters, but six ports whose makers are not
    // reported. A
    // second bay of a drive says nothing. 65 temperatures, twelve Absent.
    {"XL675d_A100",
     "HPE",
     "JS05NP0896",
     PowerState::on,
     200,
     8,
     16,
     4,
     6,
     0,
     0,
     0,
     0,
     1,
     15,
     0,
     27,
     {"94:40:c9:41:e8:8a", "94:40:c9:41:e8:8b"},
     53,
     15,
     894,
     40},
    // No serial number anywhere; off, so nothing else either. The BMC's MAC is made up. Its only
    // log
    // is the BMC's journal.
    {"OpenBMC-stock",
     "OpenBMC",
     "",
     PowerState::off,
     200,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     2,
     {},
     0,
     0,
     0,
     0},
    // Two rows of power supplies that say nothing but Name "nil". One of three versions is "ff".
    {"Gigabyte",
     "GIGABYTE",
     "GJG9NF512A000302",
     PowerState::on,
     200,
     0,
     16,
     0,
     3,
     0,
     0,
     0,
     0,
     1,
     0,
     1,
     4,
     {"b4:2e:99:ba:de:17"},
     17,
     0,
     100,
     40},
    // Of eight drives one is Absent; most temperatures are.
    {"hpe-dl380a-gen11-ilo6-2xh100nvl",
     "HPE",
     "2M2D2J00L4",
     PowerState::on,
     200,
     2,
     16,
     4,
     0,
     1,
     0,
     0,
     7,
     0,
     6,
     0,
     36,
     {"7c:a6:2a:40:c3:e4", "7c:a6:2a:40:c3:e5"},
     29,
     6,
     565,
     715},
    // Two cards that call themselves Adapter: ConnectX-6 Dx by their PCI ids.
    {"lenovo-sr670v2-xcc-1.40",
     "Lenovo",
     "J101RZ43",
     PowerState::on,
     200,
     2,
     16,
     4,
     0,
     2,
     0,
     0,
     2,
     0,
     10,
     4,
     14,
     {"7c:8a:e1:d5:a2:75"},
     8,
     10,
     416,
     468},
};

int count(const Observed& seen, PartKind kind) {
  return static_cast<int>(std::ranges::count(seen.parts, kind, &Part::kind));
}

void expect_parts(const Observed& seen, const Truth& truth) {
  const std::pair<PartKind, int> expected[] = {{PartKind::gpu, truth.gpus},
                                               {PartKind::dimm, truth.dimms},
                                               {PartKind::psu, truth.psus},
                                               {PartKind::nic, truth.nics},
                                               {PartKind::hca, truth.hcas},
                                               {PartKind::dpu, truth.dpus},
                                               {PartKind::nvme, truth.nvmes},
                                               {PartKind::drive, truth.drives},
                                               {PartKind::fan, truth.fans},
                                               {PartKind::switch_chip, truth.nvswitches},
                                               {PartKind::system, 1},
                                               {PartKind::bmc, 1},
                                               {PartKind::firmware, truth.versions}};
  for (const auto& [kind, number] : expected)
    EXPECT_EQ(count(seen, kind), number) << to_string(kind);
  const auto has_link = [](const Part& part) { return part.pcie.has_value(); };
  EXPECT_EQ(std::ranges::count_if(seen.parts, has_link), truth.links);
}

void expect_readings(const Sensors& sensors, const Truth& truth) {
  const auto number = [&](SensorKind kind) {
    return std::ranges::count(sensors.sensors, kind, &Sensor::kind);
  };
  EXPECT_EQ(number(SensorKind::temperature), truth.temperatures);
  EXPECT_EQ(number(SensorKind::fan), truth.fan_speeds);
  EXPECT_EQ(sensors.watts.value_or(0), truth.watts);
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

  const auto power = run_to_end(io, bmc->power.state(Deadline::in(60s)));
  const auto observed = run_to_end(io, bmc->facts.observe(Deadline::in(60s)));
  const auto sensors = run_to_end(io, bmc->sensors.read(Deadline::in(60s)));
  const auto log = run_to_end(io, bmc->log.read(std::nullopt, 100'000, Deadline::in(60s)));
  const auto versions = run_to_end(io, bmc->update.versions(Deadline::in(60s)));
  run_to_end(io, [](Bmc& one) -> Task<bool> {
    co_await one.log_out();
    co_return true;
  }(*bmc));

  ASSERT_TRUE(power) << power.error().what;
  ASSERT_TRUE(observed) << observed.error().what;
  ASSERT_TRUE(sensors) << sensors.error().what;
  ASSERT_TRUE(log) << log.error().what;
  ASSERT_TRUE(versions) << versions.error().what;
  const Observed& seen = *observed;
  EXPECT_EQ(*power, truth.power);
  EXPECT_EQ(seen.power, truth.power);
  EXPECT_EQ(seen.identity.vendor, truth.vendor);
  EXPECT_EQ(seen.identity.serial, truth.serial);
  EXPECT_EQ(seen.identity.bmc_macs, truth.bmc_macs);
  expect_parts(seen, truth);
  expect_readings(*sensors, truth);
  EXPECT_EQ(static_cast<int>(log->entries.size()), truth.log_entries);
  EXPECT_EQ(static_cast<int>(versions->value.size()), truth.versions);
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
  for (const auto& part : observed->parts)
    EXPECT_TRUE(names.emplace(part.kind, part.name).second) << part.name;
}

/// An iLO 5 lists this card among its chassis's devices alone, and its ports beside the System.
TEST(CapturedCards, OfAnIlo5HaveTheMacsOfTheirPorts) {
  CUPEL_NEED_CAPTURE(tree, "hpe");
  asio::io_context io;
  test::CapturedFetch fetch{tree};

  const auto observed = run_to_end(io, redfish::read_inventory(fetch, Deadline::in(60s)));

  ASSERT_TRUE(observed);
  const auto card = std::ranges::find(observed->parts, "507C6F11F2A6", &inventory::Part::serial);
  ASSERT_NE(card, observed->parts.end());
  EXPECT_THAT(card->macs, ::testing::ElementsAre("50:7c:6f:11:f2:a6", "50:7c:6f:11:f2:a7",
                                                 "50:7c:6f:11:f2:a8", "50:7c:6f:11:f2:a9"));
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
    return seen ? *std::move(seen) : Observed{};
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
