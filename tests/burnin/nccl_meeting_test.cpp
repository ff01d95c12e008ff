// Where the nodes of the stage fabric-nccl meet: the id that the first one makes, the address that
// the others reach it at, and what a playbook may say of both.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/group_stage.h"
#include "inventory/profile.h"
#include "tests/burnin/agent_order.h"

namespace cupel::burnin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Member> members(int count) {
  std::vector<Member> all;
  for (int i = 0; i < count; ++i)
    all.push_back({fmt::format("n{}", i + 1), fmt::format("10.0.0.{}", i + 1)});
  return all;
}

std::string id_of(std::string_view address_digits) {
  return "9a5de56de6ae7fa60200987b" + std::string{address_digits} + std::string(224, '0');
}

std::string id_line(const std::string& id, std::string_view address) {
  return fmt::format("{{\"kind\":\"nccl-id\",\"id\":\"{}\",\"address\":\"{}\",\"port\":39035}}\n",
                     id, address);
}

constexpr const char* kStart =
    R"({"kind":"start","program":"cupel-burn","version":"0.1.0","protocol":1,"command":"collective","nccl":"2.28.9","gpus":[],"parameters":{}})"
    "\n";

const GroupStage& nccl() { return *stage("fabric-nccl")->group; }

const Parameters kTwo{{"ranks", "2"}};

TEST(NcclMeeting, TheFirstMakesTheIdAndTheOthersReachItBeforeTheyBegin) {
  const auto nodes = members(2);
  const inventory::Profile profile;
  const Parameters with{{"ranks", "8"}, {"interface", "bond0"}, {"environment", "NCCL_IB_SL=1"}};
  auto begun = nccl().rounds({.profile = profile, .members = nodes, .parameters = with});
  ASSERT_TRUE(begun) << begun.error().what;

  const auto jobs = (*begun)->next();

  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0]->leader, 0u);
  EXPECT_EQ(jobs[1]->leader, 0u);
  const auto id = id_of("0a000001");
  const auto leads = order_of(*jobs[0]), follows = order_of(*jobs[1], id);
  EXPECT_FALSE(leads.contains("id"));
  EXPECT_FALSE(jobs[0]->with_shared.check);
  EXPECT_EQ(json::serialize(json::array{leads.at("ranks"), leads.at("first"), leads.at("gpu"),
                                        leads.at("gpus"), leads.at("interface")}),
            R"([16,0,0,8,"bond0"])");
  EXPECT_EQ(json::serialize(leads.at("environment")), R"({"NCCL_IB_SL":"1"})");
  EXPECT_EQ(follows.at("first"), 8);
  EXPECT_EQ(follows.at("id"), json::string(id));
  EXPECT_EQ(json::serialize(order_in(jobs[1]->with_shared.check(id))),
            fmt::format(R"({{"work":"check","id":"{}"}})", id));
}

TEST(NcclMeeting, MeetsWhereTheInventorySaysAndElseAtTheNodesOwnAddress) {
  const auto nodes = members(2);
  const inventory::Profile profile;
  const auto place = [&](Parameters with, const inventory::NcclSettings* site) {
    with["ranks"] = "2";
    auto begun =
        nccl().rounds({.profile = profile, .members = nodes, .parameters = with, .nccl = site});
    const auto order = order_of(*(*begun)->next().at(1));
    json::object place;
    for (const auto* key : {"interface", "address", "environment"})
      if (order.contains(key)) place[key] = order.at(key);
    return json::serialize(place);
  };
  const inventory::NcclSettings site{.interface = "bond0",
                                     .environment = {{"NCCL_ALGO", "TREE"}, {"NCCL_IB_SL", "1"}}};
  const inventory::NcclSettings elsewhere{.any_address = true};

  EXPECT_EQ(place({}, nullptr), R"({"address":"10.0.0.2"})");
  EXPECT_EQ(place({{"interface", "any"}}, &site),
            R"({"environment":{"NCCL_ALGO":"TREE","NCCL_IB_SL":"1"}})");
  EXPECT_EQ(place({}, &elsewhere), "{}");
  EXPECT_EQ(place({{"address", "inventory"}}, &elsewhere), R"({"address":"10.0.0.2"})");
  EXPECT_EQ(place({{"environment", "NCCL_ALGO=RING"}}, &site),
            R"({"interface":"bond0","environment":{"NCCL_ALGO":"RING","NCCL_IB_SL":"1"}})");
}

TEST(NcclMeeting, SaysInCupelBurnsWordsWhyANodeDoesNotReachTheFirst) {
  const auto nodes = members(2);
  const inventory::Profile profile;
  const auto begun = nccl().rounds({.profile = profile, .members = nodes, .parameters = kTwo});
  const auto jobs = (*begun)->next();
  const auto refusal = [&](int status, const std::string& out, const std::string& error = "") {
    const std::string begin = R"({"kind":"stage","stage":"fabric-nccl","protocol":1})";
    json::object tool{{"kind", "evidence"}, {"name", "nccl-id"}, {"part", ""}, {"cut", false}};
    tool["status"] = status;
    tool["out"] = out;
    tool["err"] = error;
    return jobs[1]->with_shared.refusal(
        {begin + "\n" + json::serialize(tool) + "\n{\"kind\":\"done\",\"status\":0}\n", "", 0});
  };

  EXPECT_EQ(refusal(0, std::string{kStart}), "");
  EXPECT_EQ(
      refusal(2, std::string{kStart} +
                     R"({"kind":"error","code":"nccl","message":"no TCP connection"})" + "\n"),
      "no TCP connection");
  EXPECT_EQ(refusal(139, "", "Segmentation fault\n"),
            "cupel-burn nccl-id: exit status 139: Segmentation fault");
  EXPECT_THAT(jobs[1]->with_shared.refusal({"", "", 0}), HasSubstr("did not try to reach"));
}

TEST(NcclMeeting, TakesAnIdOnlyWithTheAddressThatTheInventoryHas) {
  const auto nodes = members(2);
  const inventory::Profile profile;
  const auto shared = [&](const Parameters& with, const std::string& text) {
    auto begun = nccl().rounds({.profile = profile, .members = nodes, .parameters = with});
    return (*begun)->shared(0, text);
  };
  const auto own = id_of("0a000001"), docker = id_of("ac110001");

  EXPECT_EQ(shared(kTwo, kStart)->has_value(), false);
  EXPECT_EQ(shared(kTwo, id_line(own, "10.0.0.1").substr(0, 100))->has_value(), false) << "half";
  EXPECT_EQ(**shared(kTwo, kStart + id_line(own, "10.0.0.1")), own);
  const auto other = shared(kTwo, id_line(docker, "172.17.0.1"));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().what, AllOf(HasSubstr("n1 chose 172.17.0.1"), HasSubstr("10.0.0.1"),
                                        HasSubstr("interface")));
  EXPECT_EQ(**shared({{"ranks", "2"}, {"address", "any"}}, id_line(docker, "172.17.0.1")), docker);
  EXPECT_FALSE(shared(kTwo, id_line(docker, "10.0.0.1"))) << "the line says another than the id";
  EXPECT_FALSE(shared(kTwo, id_line("00", "10.0.0.1")));
}

TEST(NcclMeeting, TakesAnAddressHoweverItIsWritten) {
  const std::vector<Member> nodes{{"n1", "FD00:0:0:0::01"}, {"n2", "fd00::2"}};
  const inventory::Profile profile;
  const auto begun = nccl().rounds({.profile = profile, .members = nodes, .parameters = kTwo});
  const auto id_at = [](std::string_view last_digit) {
    return "9a5de56de6ae7fa60a00987b00000000fd00" + std::string(27, '0') + std::string{last_digit} +
           std::string(192, '0');
  };

  const auto own = (*begun)->shared(0, id_line(id_at("1"), "fd00::1"));
  const auto other = (*begun)->shared(0, id_line(id_at("9"), "fd00::9"));

  ASSERT_TRUE(own) << own.error().what;
  EXPECT_EQ(**own, id_at("1"));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().what, HasSubstr("n1 chose fd00::9"));
}

TEST(NcclMeeting, RefusesWhatAPlaybookMustNotSay) {
  const std::pair<std::string, std::string> cases[] = {
      {"groups", "racks"},
      {"ops", "all_reduce,all_reduce"},
      {"ops", "reduce"},
      {"ranks", "0"},
      {"ranks", "65"},
      {"factor", "1"},
      {"times", "0"},
      {"steps", "3"},
      {"interface", "eth0; reboot"},
      {"interface", "a-name-that-is-too-long"},
      {"environment", "PATH=/tmp"},
      {"environment", "NCCL_DEBUG_FILE=/etc/passwd"},
      {"environment", "NCCL_IB_SL=$(reboot)"},
      {"environment", "NCCL_IB_SL"},
      {"address", "10.0.0.1"}};
  for (const auto& [name, value] : cases) {
    auto with = kTwo;
    with[name] = value;
    const auto job = stage("fabric-nccl")->prepare({}, with);

    ASSERT_FALSE(job) << name << "=" << value;
    EXPECT_EQ(job.error().code, Code::kInvalid);
    EXPECT_THAT(job.error().what, HasSubstr(name));
  }
  EXPECT_THAT(stage("fabric-nccl")->prepare({}, {}).error().what, HasSubstr("how many GPUs"));
}

}  // namespace
}  // namespace cupel::burnin
