// The shipped profiles, held against captures of the machines that they describe.
#include <gmock/gmock.h>

#include "bmc/redfish/inventory.h"
#include "inventory/audit.h"
#include "inventory/load_profile.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captured_fetch.h"

namespace cupel::bmc {
namespace {

struct Held {
  const char* machine;
  const char* profile;
  std::vector<std::string> differs{};  // what is really otherwise in that machine
};

void PrintTo(const Held& held, std::ostream* out) { *out << held.machine; }

const Held kHeld[] = {
    {"nvidia_viking", "dgx-h100"},
    {"supermicro", "hgx-h100-8"},
    {"nvidia_gb200", "gb200-nvl72-tray"},
    // Sixteen DIMMs of 32 GiB, and no drive.
    {"XL675d_A100", "a100-8"},
};

class ShippedProfile : public ::testing::TestWithParam<Held> {};

/// GPUs, CPUs, DIMMs, drives and supplies. Adapters are counted as the node sees them, and firmware
/// is a site's own.
TEST_P(ShippedProfile, HasThePartsThatTheBmcOfSuchAMachineReports) {
  const auto& held = GetParam();
  CUPEL_NEED_CAPTURE(tree, held.machine);
  asio::io_context io;
  test::CapturedFetch fetch{tree};
  std::vector<inventory::Problem> problems;
  auto profile = inventory::ProfileSource{"/nowhere"}.load(held.profile, problems).value();
  std::erase_if(profile.parts,
                [](const auto& parts) { return parts.kind == inventory::PartKind::hca; });
  profile.firmware.clear();

  const auto seen = run_to_end(io, redfish::read_inventory(fetch, Deadline::in(60s)));

  ASSERT_TRUE(seen) << seen.error().what;
  std::vector<std::string> differs;
  const inventory::Seen looked{.by_bmc = seen->parts, .by_node = {}};
  for (const auto& each : inventory::audit(profile, {}, looked))
    if (each.finding != inventory::Finding::unhealthy)
      differs.push_back(fmt::format("{} {}: {}, not {}", each.part, to_string(each.finding),
                                    each.observed, each.expected));
  EXPECT_EQ(differs, held.differs);
}

INSTANTIATE_TEST_SUITE_P(Captured, ShippedProfile, ::testing::ValuesIn(kHeld),
                         [](const auto& held) { return std::string{held.param.machine}; });

}  // namespace
}  // namespace cupel::bmc
