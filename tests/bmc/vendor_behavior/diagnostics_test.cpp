// Diagnostic data on a virtual BMC of every vendor: a DGX H100 collects it on its baseboard, the
// others have no such action.
#include "bmc/diagnostics.h"

#include "tests/bmc/vendor_behavior/fixture.h"

namespace cupel::bmc {
namespace {

constexpr std::uint64_t kMost = 1u << 20;

class VendorBehaviorOfDiagnostics : public OfEachVendor {
 protected:
  auto offered() {
    return with_bmc([](Bmc& bmc) { return bmc.diagnostics.offered(soon()); });
  }
  auto collect(const DiagnosticOrder& order) {
    return with_bmc([&](Bmc& bmc) { return bmc.diagnostics.collect(order, soon()); });
  }
  auto download(const DiagnosticData& file) {
    const DiagnosticSink sink = [this](std::string_view piece) {
      got += piece;
      return ok();
    };
    return with_bmc([&](Bmc& bmc) { return bmc.diagnostics.download(file, sink, kMost, soon()); });
  }
  /// The only order for `requested`.
  DiagnosticOrder order_of(std::string_view requested) {
    const auto offers = offered();
    if (!offers) return {};
    const auto orders = diagnostic_orders(offers->services, requested);
    return orders && orders->size() == 1 ? orders->front() : DiagnosticOrder{};
  }

  std::string got;
};

TEST_P(VendorBehaviorOfDiagnostics, AreCollectedAndFetchedWhereTheBmcOffersThem) {
  const auto offers = offered();
  if (!is("dgx")) {
    ASSERT_FALSE(offers);
    EXPECT_EQ(offers.error().code, Code::kUnsupported) << offers.error().what;
    return;
  }

  const auto order = order_of("Manager");
  const auto files = collect(order);

  EXPECT_EQ(order.service, "/redfish/v1/Managers/HGX_BMC_0/LogServices/Dump");
  ASSERT_TRUE(files) << files.error().what;
  ASSERT_EQ(files->size(), 1u);
  const auto bytes = download(files->front());
  ASSERT_TRUE(bytes) << bytes.error().what;
  EXPECT_EQ(files->front().bytes, *bytes);
  EXPECT_EQ(got.size(), *bytes);
  EXPECT_THAT(got, HasSubstr("dump"));
}

TEST_P(VendorBehaviorOfDiagnostics, OfTheVendorsOwnTypesHaveTheirNames) {
  if (!is("dgx")) GTEST_SKIP() << "it collects none";

  const auto order = order_of("OEM:DiagnosticType=FPGA");
  const auto files = collect(order);
  const auto wrong = collect({.service = order.service, .type = "OEM", .oem_type = "Everything"});

  EXPECT_EQ(order.service, "/redfish/v1/Systems/HGX_Baseboard_0/LogServices/Dump");
  ASSERT_TRUE(files) << files.error().what;
  EXPECT_EQ(files->size(), 1u);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().what, HasSubstr("Everything"));
}

/// A second collection leaves a second entry: that is the one that is fetched.
TEST_P(VendorBehaviorOfDiagnostics, AreThoseOfTheirOwnCollection) {
  if (!is("dgx")) GTEST_SKIP() << "it collects none";
  const auto order = order_of("Manager");

  const auto first = collect(order);
  const auto second = collect(order);

  ASSERT_TRUE(first && second);
  ASSERT_EQ(second->size(), 1u);
  EXPECT_NE(first->front().uri, second->front().uri);
}

INSTANTIATE_TEST_SUITE_P(OfVendor, VendorBehaviorOfDiagnostics,
                         ::testing::ValuesIn(all_abilities()), name_of_vendor);

}  // namespace
}  // namespace cupel::bmc
