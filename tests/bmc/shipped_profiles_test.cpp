// Captured machines, audited against the shipped profile of their kind. Each difference is listed
// with its reason: either the captured machine is built otherwise, or its BMC reports less.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <regex>

#include "bmc/redfish/inventory.h"
#include "inventory/audit.h"
#include "inventory/load_profile.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captured_fetch.h"

namespace cupel::bmc {
namespace {

/// So many findings that are like a pattern (a regular expression).
struct Difference {
  int count;
  const char* pattern;
  const char* reason;
};

struct Machine {
  const char* capture;
  const char* profile;
  std::vector<Difference> differs{};
};

void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.capture; }

constexpr const char* kBuiltOtherwise = "the captured machine has other parts";
constexpr const char* kNotReported = "this BMC does not report it; the node does";
constexpr const char* kUnhealthyThen = "it was so when the machine was captured";

const Machine kMachines[] = {
    {"nvidia_viking",
     "dgx-h100",
     {{1, "cpu not observed: its model is not reported, not 8480C", kNotReported},
      {1, "hca not observed: 9 adapters by the BMC alone, .*, not 12 hcas",
       "the BMC lists cards, of which some have two ports"}}},
    {"supermicro",
     "hgx-h100-8",
     {{1, "gpu not observed: its size is not reported, not 80 GiB", kNotReported}}},
    {"nvidia_gb200",
     "gb200-nvl72-tray",
     {{1, "gpu not observed: its model is not reported, not GB200", kNotReported}}},
    // Of the modules with 40 GB, with 256 GiB of memory, four supplies, and no drive.
    {"XL675d_A100",
     "a100-8",
     {{8, "gpu[0-7] wrong model: NVIDIA A100-SXM4-40GB .*", kBuiltOtherwise},
      {1, "gpu not observed: its size is not reported, not 80 GiB", kNotReported},
      {1, "dimm missing: 16, not 32 dimms", kBuiltOtherwise},
      {16, "dimm PROC [12] DIMM [0-9]+ wrong size: 16 GiB .*, not 64 GiB", kBuiltOtherwise},
      {1, "psu missing: 4, not 6 psus", kBuiltOtherwise},
      {1, "nvme not observed: .*", kBuiltOtherwise},
      {1, "hca not observed: .*", kNotReported},
      {1, "bmc unhealthy: Warning, not OK", kUnhealthyThen}}},
    {"hpe-dl380a-gen11-ilo6-2xh100nvl",
     "gpu-server",
     {{1, "gpu missing: 2, not 8 gpus", kBuiltOtherwise}}},
    {"lenovo-sr670v2-xcc-1.40", "gpu-server", {{1, "gpu missing: 2, not 8 gpus", kBuiltOtherwise}}},
    {"lenovo", "gpu-server"},
    {"dell", "cpu-server"},
    {"hpe", "cpu-server", {{1, "nvme4 unhealthy: Critical .*, not OK", kUnhealthyThen}}},
    {"Gigabyte", "cpu-server"},
};

class ShippedProfile : public ::testing::TestWithParam<Machine> {};

TEST_P(ShippedProfile, HasThePartsThatTheBmcOfSuchAMachineReports) {
  const auto& machine = GetParam();
  CUPEL_NEED_CAPTURE(tree, machine.capture);
  asio::io_context io;
  test::CapturedFetch fetch{tree};
  std::vector<inventory::Problem> problems;
  const auto profile = inventory::ProfileSource{"/nowhere"}.load(machine.profile, problems).value();

  const auto seen = run_to_end(io, redfish::read_inventory(fetch, Deadline::in(60s)));

  ASSERT_TRUE(seen) << seen.error().what;
  std::vector<std::string> found;
  const inventory::Seen looked{.by_bmc = seen->parts, .by_node = {}};
  for (const auto& each : inventory::audit(profile, {}, looked))
    found.push_back(fmt::format("{} {}: {}, not {}", each.part, to_string(each.finding),
                                each.observed, each.expected));
  for (const auto& each : machine.differs) {
    const std::regex pattern{each.pattern};
    const auto fits = [&](const std::string& one) { return std::regex_match(one, pattern); };
    EXPECT_EQ(std::erase_if(found, fits), each.count) << each.pattern << ": " << each.reason;
  }
  EXPECT_THAT(found, ::testing::IsEmpty()) << "differences without a reason";
}

INSTANTIATE_TEST_SUITE_P(Captured, ShippedProfile, ::testing::ValuesIn(kMachines),
                         [](const auto& machine) {
                           std::string name = machine.param.capture;
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace cupel::bmc
