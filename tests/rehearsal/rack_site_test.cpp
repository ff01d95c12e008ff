// What machines of a site share: breakers, air, cables.
#include "rehearsal/physics/rack_site.h"

#include "rehearsal/rack_of_site.h"
#include "tests/rehearsal/rack_bench.h"

namespace cupel::rehearsal {
namespace {
using inventory::PowerNode;
using ::testing::ElementsAre;

/// Four nodes in one rack, from its bottom to its top; two on each of two breakers.
inventory::Inventory four_nodes(double breaker_watts) {
  inventory::Inventory site;
  site.racks.push_back({.name = "v01", .room = "hall", .units = 48});
  for (const auto* name : {"v01/p1/b1", "v01/p1/b2"})
    site.power.push_back({PowerNode::Kind::breaker, name, breaker_watts, "v01/p1", {}});
  for (int i = 0; i < 4; ++i) {
    inventory::Node node;
    node.name = "n" + std::to_string(i);
    node.rack = "v01";
    node.unit = 1 + i * 13;
    node.feeds = {i < 2 ? "v01/p1/b1" : "v01/p1/b2"};
    site.nodes.push_back(node);
  }
  return site;
}

/// The same on two PDUs, each with an outlet for each node.
inventory::Inventory two_feeds(double breaker_watts) {
  auto site = four_nodes(breaker_watts);
  for (const auto* name : {"v01/p2/b1", "v01/p2/b2"})
    site.power.push_back({PowerNode::Kind::breaker, name, breaker_watts, "v01/p2", {}});
  for (const auto* name : {"v01/p1", "v01/p2"}) {
    inventory::Pdu pdu;
    pdu.name = name;
    site.pdus.push_back(pdu);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    auto& node = site.nodes[i];
    node.feeds.push_back(i < 2 ? "v01/p2/b1" : "v01/p2/b2");
    node.outlets.assign(2, "A" + std::to_string(i + 1));
  }
  return site;
}

class SiteBench : public RackLoop {
 public:
  explicit SiteBench(double breaker_watts, double speed = 10000, std::vector<Fault> of_second = {})
      : SiteBench{four_nodes(breaker_watts), speed, std::move(of_second)} {}
  explicit SiteBench(const inventory::Inventory& of, double speed = 10000,
                     std::vector<Fault> of_second = {})
      : RackLoop{speed}, site{io.get_executor(), clock, of, 1} {
    const auto profile = std::make_shared<const inventory::Profile>(dgx());
    for (int i = 0; i < 4; ++i)
      machines.push_back(std::make_unique<Machine>(io.get_executor(), clock, profile,
                                                   "n" + std::to_string(i), 1, BootTimes{},
                                                   i == 1 ? of_second : std::vector<Fault>{}));
    std::vector<Machine*> all;
    for (const auto& machine : machines) all.push_back(machine.get());
    site.join(all);
    for (const auto& machine : machines) machine->press(Reset::on);
    run_until([this] {
      return std::ranges::all_of(machines, [](const auto& each) { return each->up(); });
    });
  }
  ~SiteBench() {
    site.stop();
    for (const auto& machine : machines) machine->stop();
    io.restart();
    io.run();
  }

  MachinePhysics& physics(std::size_t index) { return machines[index]->physics(); }

  std::vector<std::unique_ptr<Machine>> machines;
  RackSite site;
};

TEST(RackSiteTest, AnOverdrawnBreakerCutsItsMachinesAndNoOthers) {
  SiteBench bench{12000};
  const auto one = bench.physics(0).hold({.work = Work::gemm});
  const auto other = bench.physics(1).hold({.work = Work::gemm});
  const auto third = bench.physics(2).hold({.work = Work::gemm});

  EXPECT_TRUE(bench.run_until([&] { return !bench.machines[0]->mains(); }));

  EXPECT_THAT(bench.site.feeds().tripped(), ElementsAre("v01/p1/b1"));
  EXPECT_FALSE(bench.machines[1]->mains());
  EXPECT_EQ(bench.machines[0]->power(), Power::off);
  EXPECT_EQ(bench.machines[0]->reported_power(), Power::off);
  EXPECT_FALSE(bench.machines[0]->press(Reset::on));
  EXPECT_TRUE(bench.machines[2]->up());
  EXPECT_EQ(bench.site.fabric()->port("n0", "mlx5_0", bench.clock.elapsed())->state,
            PortState::down);
}

TEST(RackSiteTest, ABreakerThatIsPutBackGivesPowerToMachinesThatAreOff) {
  SiteBench bench{12000};
  auto one = bench.physics(0).hold({.work = Work::gemm});
  auto other = bench.physics(1).hold({.work = Work::gemm});
  ASSERT_TRUE(bench.run_until([&] { return !bench.machines[0]->mains(); }));

  bench.site.close("v01/p1/b1");

  EXPECT_TRUE(bench.machines[0]->mains());
  EXPECT_EQ(bench.machines[0]->power(), Power::off);
  EXPECT_TRUE(bench.machines[0]->press(Reset::on));
  EXPECT_TRUE(bench.run_until([&] { return bench.machines[0]->up(); }));
  EXPECT_LT(bench.physics(0).node_watts(), 2400) << "the load ended with the power";
}

TEST(RackSiteTest, ABreakerWithRoomForBothNeverTrips) {
  SiteBench bench{22440};
  std::vector<RunningLoad> loads;
  for (std::size_t i = 0; i < 4; ++i)
    for (const auto work : {Work::gemm, Work::cpu, Work::memory, Work::disk})
      loads.push_back(bench.physics(i).hold({.work = work}));

  EXPECT_EQ(bench.site.feeds().next_trip(), std::nullopt);
  EXPECT_GT(bench.site.feeds().breaker("v01/p1/b1")->watts(), 19000);
}

int supplies_with_input(const Machine& machine) {
  int count = 0;
  for (const auto& psu : machine.hardware().psus)
    count += machine.physics().psu_has_input(psu.name);
  return count;
}

TEST(RackSiteTest, AnOutletThatIsOffTakesHalfOfTheSuppliesAndLeavesTheLoadToTheOthers) {
  SiteBench bench{two_feeds(22440)};
  const auto load = bench.physics(0).hold({.work = Work::gemm});
  const auto* first = bench.site.feeds().breaker("v01/p1/b1");
  const auto* second = bench.site.feeds().breaker("v01/p2/b1");
  const double before = first->watts(), all = first->watts() + second->watts();
  const auto supplies = static_cast<int>(bench.machines[0]->hardware().psus.size());
  EXPECT_EQ(supplies_with_input(*bench.machines[0]), supplies);

  bench.site.switch_outlet("v01/p1", "A1", false);

  EXPECT_EQ(supplies_with_input(*bench.machines[0]), supplies / 2);
  EXPECT_FALSE(bench.physics(0).psu_has_input("psu0"));
  EXPECT_TRUE(bench.physics(0).psu_has_input("psu1"));
  EXPECT_EQ(supplies_with_input(*bench.machines[1]), supplies);
  EXPECT_TRUE(bench.machines[0]->up());
  EXPECT_LT(first->watts(), before / 2);
  EXPECT_NEAR(first->watts() + second->watts(), all, 1);
  const auto& outlets = bench.site.outlets("v01/p2");
  EXPECT_NEAR(bench.site.outlet_watts("v01/p2", outlets[0]), bench.physics(0).node_watts(), 1);
  EXPECT_EQ(bench.site.outlet_watts("v01/p1", bench.site.outlets("v01/p1")[0]), 0);
  bench.site.switch_outlet("v01/p1", "A1", true);
  EXPECT_EQ(supplies_with_input(*bench.machines[0]), supplies);
  EXPECT_NEAR(first->watts(), before, 1);
}

TEST(RackSiteTest, BothOutletsOffAreADarkMachineAndEachIsEnoughToLightIt) {
  SiteBench bench{two_feeds(22440)};
  std::vector<std::pair<std::string, bool>> reported;
  bench.site.on_power = [&](Machine& machine, bool on) {
    reported.emplace_back(machine.name(), on);
  };

  bench.site.switch_outlet("v01/p1", "A1", false);
  bench.site.switch_outlet("v01/p2", "A1", false);
  const bool dark = !bench.machines[0]->mains();
  bench.site.switch_outlet("v01/p2", "A1", true);

  EXPECT_TRUE(dark);
  EXPECT_TRUE(bench.machines[0]->mains());
  EXPECT_EQ(bench.machines[0]->power(), Power::off);
  EXPECT_TRUE(bench.machines[1]->up());
  EXPECT_EQ(reported, (std::vector<std::pair<std::string, bool>>{{"n0", false}, {"n0", true}}));
}

TEST(RackSiteTest, OneFeedThatIsTakenAwayTripsABreakerThatIsTooSmallForAll) {
  SiteBench bench{two_feeds(11000)};
  const auto one = bench.physics(0).hold({.work = Work::gemm});
  const auto other = bench.physics(1).hold({.work = Work::gemm});
  ASSERT_EQ(bench.site.feeds().next_trip(), std::nullopt);

  bench.site.switch_outlet("v01/p1", "A1", false);
  bench.site.switch_outlet("v01/p1", "A2", false);

  EXPECT_TRUE(bench.run_until([&] { return !bench.machines[0]->mains(); }));
  EXPECT_THAT(bench.site.feeds().tripped(), ElementsAre("v01/p2/b1"));
  EXPECT_FALSE(bench.machines[1]->mains());
  EXPECT_TRUE(bench.machines[2]->up());
}

TEST(RackSiteTest, CordsHangOtherwiseAsSoonAsAFaultSaysSo) {
  SiteBench bench{two_feeds(22440)};
  auto& machine = *bench.machines[1];
  bench.site.switch_outlet("v01/p2", "A2", false);

  machine.set_faults({{.kind = FaultKind::cords_on_one_feed}});
  const auto supplies = supplies_with_input(machine);
  const auto carried = bench.site.feeds().breaker("v01/p2/b1")->watts();
  bench.site.switch_outlet("v01/p1", "A2", false);

  EXPECT_EQ(supplies, static_cast<int>(machine.hardware().psus.size()));
  EXPECT_LT(carried, bench.physics(0).node_watts()) << "of the first node alone";
  EXPECT_FALSE(machine.mains());
  machine.set_faults({{.kind = FaultKind::outlet_elsewhere}});
  EXPECT_TRUE(machine.mains()) << "its second cord is on another outlet";
}

TEST(RackSiteTest, ItIsWarmerHigherUpAndInALoadedRack) {
  SiteBench bench{22440};
  bench.pass(VirtualTime{1800});
  std::vector<double> idle, loaded;
  for (std::size_t i = 0; i < 4; ++i) idle.push_back(bench.physics(i).inlet_celsius());
  std::vector<RunningLoad> loads;
  for (std::size_t i = 0; i < 4; ++i) loads.push_back(bench.physics(i).hold({.work = Work::gemm}));
  bench.pass(VirtualTime{1800});
  for (std::size_t i = 0; i < 4; ++i) loaded.push_back(bench.physics(i).inlet_celsius());

  EXPECT_GT(idle[3], idle[0] + 1.5);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_GT(loaded[i], idle[i] + 0.3) << i;
  EXPECT_GT(loaded[3] - idle[3], loaded[0] - idle[0]);
  EXPECT_LT(loaded[3], 32);
}

TEST(RackSiteTest, HotAirThatComesBackWarmsOneInletAlone) {
  SiteBench bench{22440, 10000, {{.kind = FaultKind::hot_inlet, .amount = 10}}};
  bench.pass(VirtualTime{1800});

  const double below = bench.physics(0).inlet_celsius(), above = bench.physics(2).inlet_celsius();
  const double hot = bench.physics(1).inlet_celsius();

  EXPECT_GT(hot, above + 8);
  EXPECT_NEAR(hot - 10, (below + above) / 2, 1);
}

TEST(RackSiteTest, NodesShareOneFabric) {
  SiteBench bench{22440};

  auto& fabric = bench.machines[0]->fabric();
  EXPECT_EQ(&fabric, &bench.machines[3]->fabric());
  EXPECT_GT(fabric.gbit_between("n0", "mlx5_3", "n3", "mlx5_3", VirtualTime{0}), 390);
  bench.machines[3]->set_faults({{.kind = FaultKind::hca_slow, .part = "mlx5_3", .amount = 100}});
  EXPECT_LE(fabric.gbit_between("n0", "mlx5_3", "n3", "mlx5_3", VirtualTime{0}), 100);
}

TEST(RackSiteTest, ATripTakesTheBmcAwayAndPowerBringsItBack) {
  auto spec = two_nodes();
  spec.profiles.insert_or_assign(spec.profile, dgx());
  auto site = site_of(spec);
  for (auto& level : site.power)
    if (level.kind == PowerNode::Kind::breaker) level.watts = 9000;
  spec.site = std::make_shared<const inventory::Inventory>(std::move(site));
  RackBench bench{spec, 1000};
  ASSERT_TRUE(bench.boot("v01-n01"));
  ASSERT_TRUE(bench.boot("v01-n02"));
  Browser browser{bench.node(0).bmc.endpoint};
  ASSERT_EQ(browser.ask("GET", "/redfish/v1").status, 200);
  auto dark = std::make_shared<std::promise<void>>();
  auto reported = dark->get_future();
  for (const auto* name : {"v01-n01", "v01-n02"})
    bench.rack->post(name, [dark, name](Machine& machine) {
      machine.physics().begin({.work = Work::gemm});
      if (std::string_view{name} == "v01-n01")
        machine.subscribe([dark, &machine, done = false](Machine::Event) mutable {
          if (!machine.mains() && !std::exchange(done, true)) dark->set_value();
        });
    });
  ASSERT_EQ(reported.wait_for(std::chrono::minutes{1}), std::future_status::ready);

  const auto gone = browser.ask("GET", "/redfish/v1");
  std::promise<void> closed;
  bench.rack->on_site([&](RackSite& all) {
    all.close("v01/p1/b1");
    closed.set_value();
  });
  closed.get_future().get();
  auto back = browser.ask("GET", "/redfish/v1");
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (back.status != 200 && std::chrono::steady_clock::now() < until)
    back = browser.ask("GET", "/redfish/v1");

  EXPECT_NE(gone.failure, CURLE_OK);
  EXPECT_EQ(back.status, 200);
  EXPECT_EQ(bench.on("v01-n01", [](Machine& machine) { return machine.power(); }), Power::off);
}

}  // namespace
}  // namespace cupel::rehearsal
