// The ways to the serial console that each captured machine tells, looked up by hand.
#include "bmc/redfish/console_ways.h"

#include "tests/bmc/fixture.h"
#include "tests/support/captures.h"

namespace cupel::bmc {
namespace {

using Kind = ConsoleWay::Kind;

struct Ways {
  const char* machine;
  std::vector<ConsoleWay> ways;
};

void PrintTo(const Ways& ways, std::ostream* out) { *out << ways.machine; }

ConsoleWay sol(bool enabled, int port) {
  return {.kind = Kind::sol, .enabled = enabled, .port = port, .command = ""};
}
ConsoleWay ssh(bool enabled, int port, const char* command = "") {
  return {.kind = Kind::ssh, .enabled = enabled, .port = port, .command = command};
}

const Ways kWays[] = {
    {"nvidia_viking", {sol(true, 623)}},
    {"supermicro", {sol(true, 623), ssh(true, 22, "cd system1/sol1; start")}},
    // Its list is empty; its command shell opens one. The port of IPMI is not reported.
    {"dell", {sol(true, 0), ssh(true, 22, "console com2")}},
    // IPMI is off as delivered.
    {"hpe", {sol(false, 623), ssh(true, 22, "vsp")}},
    {"lenovo", {sol(false, 623), ssh(true, 22, "console 1")}},
    // A port of its own for the console: nothing to type.
    {"nvidia_gb200", {sol(true, 0), ssh(true, 2200)}},
    {"nvidia_dpu", {sol(true, 0), ssh(true, 2200)}},
    {"OpenBMC-stock", {sol(true, 0), ssh(true, 2200)}},
    {"Gigabyte", {sol(true, 623)}},
};

class Console : public ::testing::TestWithParam<Ways> {};

TEST_P(Console, IsReachedTheseWays) {
  CUPEL_NEED_CAPTURE(tree, GetParam().machine);
  asio::io_context io;
  test::HttpsServer server{{.tree = tree}};
  redfish::Transport transport{io.get_executor()};
  RememberedKeys keys;
  const std::string password = "open sesame";
  const inventory::BmcAccess access{
      .endpoint = server.endpoint(), .user = "admin", .password = {}, .trust = {}};
  const auto bmc = redfish::open(transport, "n", access, password_from(password), keys);

  const auto ways = run_to_end(io, bmc->console.ways(Deadline::in(30s)));

  ASSERT_TRUE(ways) << ways.error().what;
  EXPECT_EQ(*ways, GetParam().ways);
}

INSTANTIATE_TEST_SUITE_P(All, Console, ::testing::ValuesIn(kWays), [](const auto& one) {
  std::string name = one.param.machine;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

}  // namespace
}  // namespace cupel::bmc
