#include "orchestrator/report/site_lists.h"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "base/json.h"
#include "inventory/model.h"

namespace cupel::report {
namespace {

using ::testing::ElementsAre;

struct SiteLists : ::testing::Test {
  inventory::Inventory inventory{};

  void add(const std::string& name, const std::string& rack, const std::string& host) {
    inventory::Node node;
    node.name = name;
    node.rack = rack;
    node.profile = "dgx-h100";
    node.bmc.endpoint = {"10.0.1.1", 443};
    node.ssh.endpoint = {host, 22};
    inventory.nodes.push_back(std::move(node));
  }
  ListedNodes all() const {
    ListedNodes nodes;
    for (const auto& each : inventory.nodes) nodes.push_back(&each);
    return nodes;
  }
  boost::json::value for_ansible(const NodeVerdicts& verdicts) const {
    return ansible_inventory(inventory, all(), verdicts, false);
  }
};

TEST_F(SiteLists, GroupsAreRacksProfilesGroupsAndVerdicts) {
  add("n1", "a01", "10.0.0.1");
  add("n2", "a02", "10.0.0.2");
  inventory.groups["spare"] = {"n2"};

  const auto list = for_ansible({{"n1", {.run = 7, .state = "pass"}}});

  const auto hosts = [&](const std::string& group) {
    const auto* of = find(list, group + "/hosts");
    return of == nullptr ? "absent" : boost::json::serialize(*of);
  };
  EXPECT_EQ(hosts("rack_a01"), R"(["n1"])");
  EXPECT_EQ(hosts("profile_dgx_h100"), R"(["n1","n2"])");
  EXPECT_EQ(hosts("group_spare"), R"(["n2"])");
  EXPECT_EQ(hosts("verdict_pass"), R"(["n1"])");
  EXPECT_EQ(hosts("verdict_none"), R"(["n2"])");
  EXPECT_EQ(list.at("all").at("children").as_array().size(), 6u);
  EXPECT_EQ(list.at("_meta").at("hostvars").at("n1").at("cupel_run"), 7);
}

TEST_F(SiteLists, AGroupHasOnlyNodesThatAreListed) {
  add("n1", "a01", "10.0.0.1");
  inventory.groups["spare"] = {"n1", "n9"};

  EXPECT_EQ(for_ansible({}).at("group_spare").at("hosts"), boost::json::array{"n1"});
}

// Ansible evaluates templates in variables: "{{ lookup('pipe', ...) }}" in what a machine printed
// would run on the admin node.
TEST_F(SiteLists, ACauseIsNoTemplateOfAnsible) {
  add("n1", "a01", "10.0.0.1");
  const NodeVerdicts verdicts{
      {"n1",
       {.run = 1, .state = "fail", .cause = "gpu0: {{ lookup('pipe','id') }} {% x %}\x1b[2J"}}};

  const auto list = for_ansible(verdicts);

  const std::string cause{list.at("_meta").at("hostvars").at("n1").at("cupel_cause").as_string()};
  EXPECT_EQ(cause.find_first_of("{}\x1b"), cause.npos) << cause;
  EXPECT_NE(cause.find("lookup('pipe','id')"), cause.npos) << cause;
}

TEST_F(SiteLists, TwoNamesNeverBecomeOneGroup) {
  EXPECT_THAT(ansible_group_names({"rack_a-1", "rack_a.1", "rack_b-1"}),
              ElementsAre("rack_a-1", "rack_a.1", "rack_b_1"));
  EXPECT_THAT(ansible_group_names({"rack_a_1", "rack_a.1"}), ElementsAre("rack_a_1", "rack_a.1"));
}

TEST_F(SiteLists, ATargetIsTheHostOfSshWithTheExportersPort) {
  add("n1", "a01", "10.0.0.1");
  add("n2", "", "fd00::2");

  const auto targets = prometheus_targets(all(), {{"n1", {.run = 7, .state = "pass"}}}, 9400);

  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].at("targets"), boost::json::array{"10.0.0.1:9400"});
  EXPECT_EQ(targets[0].at("labels").at("__meta_cupel_verdict"), "pass");
  EXPECT_EQ(targets[0].at("labels").at("__meta_cupel_run"), "7");
  EXPECT_EQ(targets[1].at("targets"), boost::json::array{"[fd00::2]:9400"});
  EXPECT_EQ(targets[1].at("labels").at("__meta_cupel_verdict"), "none");
}

}  // namespace
}  // namespace cupel::report
