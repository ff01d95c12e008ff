// Captured trees with random properties gone, null or of another type: a fact may be lost, never
// the machine, and nothing may be made up.
#include <random>

#include "bmc/redfish/inventory.h"
#include "bmc/redfish/uri.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captured_fetch.h"

namespace cupel::bmc {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

json::value something_else(Random& random) {
  const json::value kinds[] = {nullptr,
                               true,
                               -1,
                               1e300,
                               "",
                               "../../../etc/passwd",
                               json::array{},
                               json::object{},
                               json::array{json::array{}},
                               "\x1b[31m red",
                               "https://elsewhere.example/redfish/v1"};
  return kinds[below(random, std::size(kinds))];
}

/// One property somewhere below `value` goes, or becomes something else.
void damage(json::value& value, Random& random) {
  if (auto* object = value.if_object(); object != nullptr && !object->empty()) {
    const auto entry = object->begin() + static_cast<std::ptrdiff_t>(below(random, object->size()));
    const bool deeper = entry->value().is_structured() && below(random, 2) == 0;
    if (deeper) return damage(entry->value(), random);
    if (below(random, 2) == 0) {
      object->erase(entry->key());
    } else {
      entry->value() = something_else(random);
    }
  } else if (auto* list = value.if_array(); list != nullptr && !list->empty()) {
    damage((*list)[below(random, list->size())], random);
  } else {
    value = something_else(random);
  }
}

class Damage : public ::testing::TestWithParam<const char*> {};

TEST_P(Damage, CostsFactsAndNeverTheMachine) {
  CUPEL_NEED_CAPTURE(tree, GetParam());
  asio::io_context io;
  test::CapturedFetch fetch{tree};
  const auto whole = run_to_end(io, redfish::read_inventory(fetch, Deadline::in(60s)));
  ASSERT_TRUE(whole);
  const auto parts = whole.assume_value().parts.size();

  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    fetch.requests = 0;
    fetch.damage_with([&](const std::string& uri, json::value& body) {
      // Without these there is no machine to speak of.
      const auto where = redfish::normal(uri);
      if (where == "/redfish/v1" || where == "/redfish/v1/Systems") return;
      if (below(random, 8) == 0) damage(body, random);
    });

    const auto seen = run_to_end(io, redfish::read_inventory(fetch, Deadline::in(60s)));

    ASSERT_TRUE(seen) << seen.assume_error().what;
    EXPECT_LE(seen.assume_value().parts.size(), parts + 40);
    EXPECT_LE(fetch.requests, 1000);
    for (const auto& part : seen.assume_value().parts) {
      EXPECT_FALSE(part.name.empty());
      EXPECT_EQ((part.name + part.model + part.serial + part.slot).find('\x1b'), std::string::npos);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Captured, Damage,
                         ::testing::Values("nvidia_viking", "supermicro", "dell", "nvidia_gb200",
                                           "lenovo", "XL675d_A100"),
                         [](const auto& machine) { return std::string{machine.param}; });

}  // namespace
}  // namespace cupel::bmc
