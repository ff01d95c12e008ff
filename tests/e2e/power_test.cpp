// Watts in earnest: a breaker that carries one soak at a time, and BMCs that measure more than the
// profile says. The built cupel against a virtual rack with a power tree.
#include "orchestrator/store/store.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using engine::EventKind;

constexpr const char* kSoak = R"(playbook: soak
parameters:
  burn: {default: 20m, type: duration}
steps:
  - step: ssh-wait
  - stage: cpu-memory
    with: {duration: "${burn}", memory: 64MiB}
)";

class PowerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    site.write("soak.yaml", kSoak);
    for (const auto* node : {"v01-n01", "v01-n02"})
      site.rack().post(node, [](auto& machine) { machine.press(rehearsal::Reset::on); });
  }

  Child begin() {
    return Child{site.cupel({"run", "soak.yaml", "--json", "--no-console", "--measure-power", "1s",
                             "--programs-on-nodes"})};
  }
  json::object status() const {
    const auto ran = site.run({"status", "--json"});
    const auto reported = parse_json(ran.out);
    if (!reported || !reported->is_array() || reported->as_array().empty()) return {};
    return reported->as_array()[0].as_object();
  }
  bool status_tells(const std::string& text) {
    const auto end = Deadline::in(std::chrono::seconds{60});
    while (!end.passed())
      if (site.run({"status"}).out.find(text) != std::string::npos) return true;
    return false;
  }
  /// Of any step where none is named.
  std::vector<engine::Event> events_of(EventKind kind, std::string_view step = {}) const {
    const auto store = store::Store::open(site.file("state"));
    if (!store) return {};
    auto events = (*store)->events(1);
    if (!events) return {};
    auto all = *std::move(events);
    std::erase_if(all, [&](const auto& each) {
      return each.kind != kind || (!step.empty() && each.step != step);
    });
    return all;
  }

  RackSite site{{.network = 80, .ports = "bmc: 0, ssh: 0", .speed = 100}};
};

TEST_F(PowerTest, StatusSaysForWhichBreakerASoakWaitsAndCountsItInTheTimeLeft) {
  // An idle node 2.3 kW, one that burns its CPUs 4.3: one of each fits, two of those do not.
  site.change_inventory("name: b1, watts: 22440", "name: b1, watts: 7500");
  auto run = begin();
  ASSERT_TRUE(run.wait_for("\"step\":\"cpu-memory\",\"attempt\""));

  const bool blocked = status_tells("breaker v01/p1/b1: 6.6 of 7.5 kW taken");
  const auto reported = status();
  const auto ran = run.wait();

  EXPECT_TRUE(blocked) << site.run({"status"}).out;
  ASSERT_TRUE(reported.contains("eta_s"));
  EXPECT_GT(std::chrono::seconds{reported.at("eta_s").as_int64()}, std::chrono::minutes{35})
      << "one behind the other";
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const auto ends = events_of(EventKind::step_ended, "cpu-memory");
  const auto begins = events_of(EventKind::step_began, "cpu-memory");
  ASSERT_EQ(begins.size(), 2u);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_GT(begins[1].sequence, ends[0].sequence) << "both at once";
}

TEST_F(PowerTest, WhatTheBmcsMeasureEndsTheYoungerLoad) {
  // By its profile a machine takes little; its BMC knows better.
  std::filesystem::create_directories(site.file("profiles"));
  site.write("profiles/frugal.yaml",
             "profile: frugal\nextends: dgx-h100\npower: {idle: 100, loaded: 1000}\n");
  site.change_inventory("profile: dgx-h100", "profile: frugal");
  site.change_inventory("name: b1, watts: 22440", "name: b1, watts: 3000");

  auto run = begin();

  const bool shed = run.wait_for("\"why\":\"a level");
  const auto cancelled = site.run({"cancel", "1"});
  const auto ran = run.wait();

  ASSERT_TRUE(shed) << ran.out << ran.err;
  EXPECT_EQ(cancelled.status, 0) << cancelled.err;
  const auto sheds = events_of(EventKind::step_shed);
  ASSERT_GE(sheds.size(), 1u);
  std::string youngest;
  for (const auto& each : events_of(EventKind::step_began, sheds[0].step))
    if (each.sequence < sheds[0].sequence) youngest = each.node;
  EXPECT_EQ(sheds[0].node, youngest);
}

}  // namespace
}  // namespace cupel::testing
