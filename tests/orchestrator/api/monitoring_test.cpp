// What ships for Prometheus and Grafana, held against Prometheus' own tool and against /metrics.
#include <fmt/format.h>

#include <regex>
#include <set>

#include "tests/orchestrator/api/api_fixture.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kShipped = std::string{SOURCE_DIR} + "/orchestrator/api/monitoring/";

std::string text_of(const std::string& path) {
  std::ifstream stream{path};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

std::set<std::string> metrics_in(const std::string& text) {
  static const std::regex metric{R"(\bcupel_[a-z_]+)"};
  std::set<std::string> names;
  for (std::sregex_iterator at{text.begin(), text.end(), metric}, end; at != end; ++at)
    names.insert(at->str());
  return names;
}

class Monitoring : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    CUPEL_NEEDS_REAL_PART(testing::run({"promtool", "--version"}).status == 0,
                          "no promtool: apt-get install prometheus");
  }
};

TEST_F(Monitoring, MetricsAreWellFormed) {
  run_of_two();
  serve();
  const auto reported = get("/metrics");
  ASSERT_EQ(reported.status, 200);
  write("metrics", reported.body);

  const auto checked = testing::run({"sh", "-c", "promtool check metrics < " + file("metrics")});

  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
  EXPECT_THAT(reported.body, HasSubstr("cupel_nodes{state=\"fail\"} 1"));
  EXPECT_THAT(reported.body, HasSubstr("cupel_steps_running{step=\"bmc-facts\"} 1"));
  EXPECT_THAT(reported.body, HasSubstr("\ncupel_state_free_bytes "));
}

TEST_F(Monitoring, BmcsAreCountedByProfileAndNotByNode) {
  write("secret", "secret\n");
  write("site.yaml",
        "site: here\ndefaults:\n  profile: dgx-h100\n  bmc: {user: admin, password: \"file:" +
            file("secret") +
            "\", tls: {trust: first-use}}\n  ssh: {user: root, key: " + file("secret") +
            "}\nnodes:\n  - {name: \"n[1-3]\", bmc: {address: \"127.64.99.[1-3]\"}, "
            "ssh: {address: \"127.64.98.[1-3]\"}}\n");
  const auto fared = [](std::int64_t busy, std::chrono::milliseconds latency) {
    bmc::Budget budget;
    budget.requests = 100;
    budget.busy = busy;
    budget.latency = latency;
    return budget;
  };
  using std::chrono::milliseconds;
  store().keep_budgets({{"n1", fared(1, milliseconds{200})},
                        {"n2", fared(2, milliseconds{300})},
                        {"n3", fared(0, milliseconds{5000})},
                        {"gone", fared(4, milliseconds{0})}});
  auto options = usual();
  options.inventory = file("site.yaml");
  serve(options);

  const auto reported = get("/metrics").body;

  for (const auto* line :
       {"cupel_bmc_requests_total{profile=\"dgx-h100\"} 300",
        "cupel_bmc_failures_total{profile=\"dgx-h100\",why=\"busy\"} 3",
        "cupel_bmc_failures_total{profile=\"dgx-h100\",why=\"timeout\"} 0",
        "cupel_bmc_failures_total{profile=\"other\",why=\"busy\"} 4",
        "{of=\"median\",profile=\"dgx-h100\"} 0.3", "{of=\"slowest\",profile=\"dgx-h100\"} 5"})
    EXPECT_THAT(reported, HasSubstr(line));
  EXPECT_EQ(reported.find("n1"), reported.npos);
  write("metrics", reported);
  const auto checked = testing::run({"sh", "-c", "promtool check metrics < " + file("metrics")});
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
}

TEST_F(Monitoring, TellsTheRestWhereTheSumsOfBmcsCannotBeRead) {
  run_of_two();
  serve();
  const auto dropped = testing::run(
      {"/usr/bin/python3", "-c",
       "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('DROP TABLE bmc_budget')",
       (state() / "cupel.db").string()});
  ASSERT_EQ(dropped.status, 0) << dropped.err;

  const auto reported = get("/metrics");

  EXPECT_EQ(reported.status, 200);
  EXPECT_THAT(reported.body, HasSubstr("cupel_nodes{state=\"fail\"} 1"));
  EXPECT_EQ(reported.body.find("cupel_bmc_requests_total"), std::string::npos);
}

TEST_F(Monitoring, AlertsAreRaisedWhenTheyShouldBe) {
  const auto rules = testing::run({"promtool", "check", "rules", kShipped + "cupel.rules.yaml"});
  const auto tested =
      testing::run({"promtool", "test", "rules",
                    std::string{SOURCE_DIR} + "/tests/orchestrator/api/cupel.rules.test.yaml"});

  EXPECT_EQ(rules.status, 0) << rules.out << rules.err;
  EXPECT_EQ(tested.status, 0) << tested.out << tested.err;
}

TEST_F(Monitoring, RulesAndDashboardUseOnlyExportedMetrics) {
  run_of_two();
  serve();
  auto reported = metrics_in(get("/metrics").body);
  // Only of a run whose inventory has a power tree: ServeTest looks at these.
  reported.insert({"cupel_power_planned_watts", "cupel_power_limit_watts"});

  for (const auto* name : {"cupel.rules.yaml", "cupel-dashboard.json"}) {
    const auto used = metrics_in(text_of(kShipped + name));
    EXPECT_GT(used.size(), 5u) << name;
    std::vector<std::string> unknown;
    std::ranges::set_difference(used, reported, std::back_inserter(unknown));
    EXPECT_THAT(unknown, IsEmpty()) << name;
  }
}

TEST_F(Monitoring, TheDashboardIsOneThatGrafanaReads) {
  const auto dashboard = parse_json(text_of(kShipped + "cupel-dashboard.json"));
  ASSERT_TRUE(dashboard) << dashboard.error().what;
  std::set<std::int64_t> ids;
  for (const auto& panel : dashboard->at("panels").as_array()) {
    EXPECT_TRUE(ids.insert(panel.at("id").as_int64()).second) << "twice";
    const auto& place = panel.at("gridPos");
    EXPECT_LE(place.at("x").as_int64() + place.at("w").as_int64(), 24);
    EXPECT_FALSE(panel.at("targets").as_array().empty()) << panel.at("title");
  }
}

}  // namespace
}  // namespace cupel::test
