// `cupel rehearse`: the controller as it is, against the virtual rack as it is shipped.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "inventory/shipped.h"
#include "orchestrator/store/store.h"
#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

class RehearseTest : public ::testing::Test {
 protected:
  RehearseTest() {
    std::string made = (std::filesystem::temp_directory_path() / "cupel-rack-XXXXXX").string();
    folder = ::mkdtemp(made.data());
  }
  ~RehearseTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  Ran rehearse(const std::string& playbook, std::vector<std::string> more = {},
               std::chrono::seconds patience = std::chrono::seconds{240}) const {
    std::vector<std::string> words{CUPEL_BINARY, "rehearse", playbook, "--folder", folder.string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {}, patience);
  }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{folder / name} << text;
    return (folder / name).string();
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream{folder / name}.rdbuf();
    return text.str();
  }

  std::filesystem::path folder;
};

/// Minutes: scripts/test leaves out what is called Long.
using LongRehearseTest = RehearseTest;

/// From off to a verdict, without the long stages: whose numbers are of many samples, and differ
/// with the moment of each.
constexpr const char* kShort = R"(playbook: short
max_parallel: 64
steps:
  - step: bmc-facts
  - step: power-on
  - step: ssh-wait
  - stage: node-facts
  - {stage: gpu-facts, on_failure: continue}
  - {stage: cpu-memory, with: {duration: 90s}, on_failure: continue}
  - {stage: disk, with: {directory: /var/tmp, size: 1GiB, runtime: 20s}, on_failure: continue}
  - step: audit
  - step: verdict
)";

constexpr const char* kOwnInventory = R"(site: oslo
racks: [{name: a01, pdus: [{name: p1, watts: 60000, breakers: [{name: "b[1-2]", watts: 30000}]}]}]
defaults:
  profile: dgx-h100
  bmc: {user: root, password: "env:NO_SUCH_VARIABLE", tls: {trust: first-use}, ipmi: true}
  ssh: {user: root}
nodes:
  - {name: "a01-n[1-2]", rack: a01, unit: [1, 9], breaker: "p1/b[1-2]",
     bmc: {address: "10.255.255.[1-2]"}, ssh: {address: "a01-n[1-2].invalid"}, serial: "SN[1-2]"}
groups: [{name: both, nodes: all}]
)";

/// Evidence is named by its digest, and holds times.
void drop_evidence(json::value& value) {
  if (auto* list = value.if_array())
    for (auto& item : *list) drop_evidence(item);
  if (auto* object = value.if_object()) {
    for (const auto* digest : {"evidence", "log_mark", "kernel_log_mark"}) object->erase(digest);
    for (auto& [key, item] : *object) drop_evidence(item);
  }
}

/// How far a clock is ahead is as much as a rack that is faster than life has gained by then.
void drop_clocks(json::value& value) {
  auto* object = value.if_object();
  if (auto* facts = object == nullptr ? nullptr : object->if_contains("facts"))
    if (auto* reported = facts->if_object())
      for (const auto* key : {"bmc.clock_ahead", "node.clock_ahead", "node.epoch"})
        reported->erase(key);
}

/// What a second earlier is otherwise: a machine warms and cools while it is read, and a healthy
/// link repeats a packet now and then.
void drop_what_passes(json::value& value) {
  auto* object = value.if_object();
  if (auto* log = object == nullptr ? nullptr : object->if_contains("kernel_log"))
    drop_what_passes(*log);
  for (const auto& [list_name, key] :
       {std::pair{"measurements", "name"}, std::pair{"checked", "measure"}}) {
    auto* list = object == nullptr ? nullptr : object->if_contains(list_name);
    if (list == nullptr || !list->is_array()) continue;
    auto& all = list->get_array();
    for (std::size_t i = all.size(); i-- > 0;) {
      const auto name = text_at(all[i], key).value_or("");
      if (name.ends_with("kernel.aer.corrected"))  // in which stage, is a matter of time
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
      else if (name.starts_with("gpu.temperature") || name == "gpu.power" ||
               name == "gpu.pcie.replays")
        all[i].get_object().erase("value");
    }
  }
}

/// With how many other nodes a verdict was compared: as many as had been measured by then.
void drop_comparison(json::value& value) {
  auto* object = value.if_object();
  if (object == nullptr) return;
  for (const auto* key : {"compared", "basis"}) object->erase(key);
  const auto detail = text_at(value, "detail").value_or("");
  for (const auto* begin : {"; numbers ", "; versions "})
    if (const auto at = detail.find(begin); at != detail.npos)
      (*object)["detail"] = detail.substr(0, at);
}

/// What a journal tells of each node, without what is a time, a digest or a number of a process.
std::map<std::string, std::vector<std::string>> story(const std::filesystem::path& state) {
  std::map<std::string, std::vector<std::string>> reported;
  const auto store = store::Store::open(state);
  if (!store) return reported;
  const auto events = (*store)->events(1);
  if (!events) return reported;
  for (const auto& event : *events) {
    if (event.kind == engine::EventKind::step_overdue) continue;  // as busy as this machine is
    auto data = event.data;
    for (const auto* key :
         {"after_ms", "until", "spent_ms", "handle", "command", "expected_s", "after_s"})
      data.erase(key);
    data.erase("series");  // of sensors, each minute of our time: only of a stage that one falls in
    json::value rest(std::move(data));  // braces would make a list of it
    drop_evidence(rest);
    drop_clocks(rest);
    drop_what_passes(rest);
    drop_comparison(rest);
    reported[event.node].push_back(std::string{to_string(event.kind)} + " " + event.step + " " +
                                   json::serialize(rest));
  }
  return reported;
}

std::map<std::string, std::string> verdicts(const Ran& ran) {
  std::map<std::string, std::string> found;
  const auto lines = json_lines(ran.out);
  if (lines.empty()) return found;
  const auto* summary = lines.back().if_contains("summary");
  if (summary == nullptr) return found;
  const auto* nodes = find(*summary, "nodes");
  if (nodes == nullptr || !nodes->is_array()) return found;
  for (const auto& node : nodes->get_array()) {
    std::string first;
    if (const auto* causes = find(node, "causes"); causes != nullptr && causes->is_array())
      if (!causes->get_array().empty())
        first = text_at(causes->get_array().front(), "part").value_or("");
    const auto verdict = text_at(node, "verdict").value_or("");
    found[text_at(node, "node").value_or("")] = verdict + (first.empty() ? "" : " " + first);
  }
  return found;
}

/// scripts/demo, at the end of scripts/test, holds the same.
TEST_F(LongRehearseTest, PassesSixNodesAndNamesThePartOfTheTwoThatFail) {
  const auto ran = rehearse(
      "new-rack",
      {"--json", "--speed", "50", "--set", "burn=1m", "--set", "soak=6m", "--set", "phase=4m"},
      std::chrono::seconds{1500});

  EXPECT_EQ(ran.status, 1) << ran.err;
  const std::map<std::string, std::string> expected{
      {"v01-n01", "pass"}, {"v01-n02", "pass"}, {"v01-n03", "fail gpu5"},
      {"v01-n04", "pass"}, {"v01-n05", "pass"}, {"v01-n06", "fail dimm A7"},
      {"v01-n07", "pass"}, {"v01-n08", "pass"}};
  EXPECT_EQ(verdicts(ran), expected)
      << ran.out.substr(std::min(ran.out.size(), ran.out.rfind("{\"summary\"")));
}

/// All of the shipped playbook: a good node passes, and what begins late is found. Its full length
/// is the next one's.
TEST_F(LongRehearseTest, BurnsEverythingInTwoNodesForADay) {
  const auto rack =
      write("rack.yaml",
            "rack: v01\nprofile: dgx-h100\nnodes: v01-n[1-2]\n"
            "bmc: 127.64.7.[1-2]\nssh: 127.64.8.[1-2]\nfaults:\n"
            "  - {node: v01-n2, fault: cpu-core-wrong, part: cpu0, core: 17, after: 5h}\n");

  const auto ran = rehearse(
      "burn-in-72h",
      {"--json", "--rack", rack, "--speed", "3000", "--set", "shift=3h", "--set", "memory=2h"},
      std::chrono::seconds{1500});

  EXPECT_EQ(ran.status, 1) << ran.out.substr(ran.out.size() - std::min(ran.out.size(), 4000ul))
                           << ran.err;
  const std::map<std::string, std::string> expected{{"v01-n1", "pass"},
                                                    {"v01-n2", "fail cpu0 core 17"}};
  EXPECT_EQ(verdicts(ran), expected)
      << ran.out.substr(std::min(ran.out.size(), ran.out.rfind("{\"summary\"")));
}

/// What begins on the second day, or under one load alone, by the shipped playbook in full length.
TEST_F(LongRehearseTest, FindsInThreeDaysWhatBeginsLate) {
  const auto rack = write(
      "rack.yaml",
      "rack: v01\nprofile: dgx-h100\nnodes: v01-n[1-7]\n"
      "bmc: 127.64.13.[1-7]\nssh: 127.64.14.[1-7]\nfaults:\n"
      "  - {node: v01-n2, fault: gpu-xid, part: gpu4, code: 92, after: 30h}\n"
      "  - {node: v01-n3, fault: cpu-core-wrong, part: cpu0, core: 17, after: 10h}\n"
      "  - {node: v01-n4, fault: memory-errors, after: 20h}\n"
      "  - {node: v01-n5, fault: disk-slow, part: nvme5, after: 30h}\n"
      "  - {node: v01-n6, fault: gpu-power-capped, part: gpu0, watts: 500, under: train}\n"
      "  - {node: v01-n7, fault: hca-flapping, part: mlx5_9, after: 20h, every: 30h, for: 2s}\n");

  const auto ran = rehearse("burn-in-72h", {"--json", "--rack", rack, "--speed", "3000"},
                            std::chrono::seconds{1500});

  EXPECT_EQ(ran.status, 1) << ran.out.substr(ran.out.size() - std::min(ran.out.size(), 4000ul))
                           << ran.err;
  const std::map<std::string, std::string> expected{
      {"v01-n1", "pass"},       {"v01-n2", "fail gpu4"},  {"v01-n3", "fail cpu0 core 17"},
      {"v01-n4", "fail numa1"}, {"v01-n5", "fail nvme5"}, {"v01-n6", "fail gpu0"},
      {"v01-n7", "fail mlx5_9"}};
  EXPECT_EQ(verdicts(ran), expected);
}

/// Also those that leave supplies, drives or HCAs to the site.
TEST_F(LongRehearseTest, PassesAHealthyNodeOfEachShippedProfile) {
  constexpr std::string_view kFolder = "inventory/profiles/", kEnding = ".yaml";
  std::string profiles;
  std::map<std::string, std::string> expected;
  for (const auto& file : inventory::shipped_files()) {
    if (!file.path.starts_with(kFolder)) continue;
    auto profile = file.path.substr(kFolder.size());
    profile.remove_suffix(kEnding.size());
    const auto node = fmt::format("v01-n{:02}", expected.size() + 1);
    profiles += fmt::format("  - {{nodes: {}, profile: {}}}\n", node, profile);
    expected[node] = "pass";
  }
  const auto rack = write("rack.yaml", fmt::format("rack: v01\nprofile: dgx-h100\n"
                                                   "nodes: v01-n[01-{0:02}]\nprofiles:\n{1}"
                                                   "bmc: 127.64.15.[1-{0}]\n"
                                                   "ssh: 127.64.16.[1-{0}]\n",
                                                   expected.size(), profiles));

  const auto ran = rehearse("new-rack",
                            {"--json", "--rack", rack, "--speed", "80", "--set", "burn=3m", "--set",
                             "soak=6m", "--set", "phase=4m", "--set", "canary=100"},
                            std::chrono::seconds{1500});

  EXPECT_EQ(ran.status, 0) << ran.out.substr(ran.out.size() - std::min(ran.out.size(), 4000ul))
                           << ran.err;
  EXPECT_EQ(verdicts(ran), expected);
}

/// What differs from a DGX most: no GPU, cards on PCIe, Arm processors without supplies.
TEST_F(RehearseTest, PassesAServerWithoutGpusOneWithCardsAndATrayOfARack) {
  const auto rack = write("rack.yaml",
                          "rack: v01\nprofile: cpu-server\nnodes: v01-n[1-3]\nprofiles:\n"
                          "  - {nodes: v01-n2, profile: l40s-8}\n"
                          "  - {nodes: v01-n3, profile: gb200-nvl72-tray}\n"
                          "bmc: 127.64.17.[1-3]\nssh: 127.64.18.[1-3]\n");

  const auto ran = rehearse("new-rack",
                            {"--json", "--rack", rack, "--speed", "80", "--set", "burn=3m", "--set",
                             "soak=6m", "--set", "phase=4m", "--set", "canary=100"},
                            std::chrono::seconds{1500});

  EXPECT_EQ(ran.status, 0) << ran.out.substr(ran.out.size() - std::min(ran.out.size(), 4000ul))
                           << ran.err;
  EXPECT_EQ(verdicts(ran), (std::map<std::string, std::string>{
                               {"v01-n1", "pass"}, {"v01-n2", "pass"}, {"v01-n3", "pass"}}));
}

/// As they are shipped, on machines that are on already: none of them turns one on.
TEST_F(RehearseTest, PassesAHealthyNodeInEveryShippedPlaybookForMachinesThatAreOn) {
  const auto rack = write("rack.yaml",
                          "rack: v01\nprofile: dgx-h100\nnodes: v01-n1\n"
                          "bmc: 127.64.11.1\nssh: 127.64.12.1\n");
  for (const std::string name : {"audit", "quick-check", "burn-in-host", "burn-in-tools"}) {
    SCOPED_TRACE(name);

    const auto ran = run({CUPEL_BINARY, "rehearse", name, "--json", "--rack", rack, "--speed",
                          "500", "--folder", (folder / name).string()},
                         {}, std::chrono::seconds{300});

    EXPECT_EQ(ran.status, 0) << ran.out.substr(ran.out.size() - std::min(ran.out.size(), 4000ul))
                             << ran.err;
    EXPECT_EQ(verdicts(ran), (std::map<std::string, std::string>{{"v01-n1", "pass"}}));
  }
}

constexpr const char* kFeeds = R"(playbook: feeds
steps:
  - step: bmc-facts
  - step: power-on
  - step: ssh-wait
  - {stage: psu, with: {phase: 20s, feeds: "yes"}}
  - step: verdict
)";

/// By the outlets of two virtual PDUs: a node that lives on either feed, one that hangs on one of
/// them alone, and one that is not where the inventory says.
TEST_F(LongRehearseTest, TakesOneFeedAfterTheOtherAwayAndNamesTheOneThatIsPluggedWrongly) {
  const auto rack = write("rack.yaml",
                          "rack: v01\nprofile: dgx-h100\nnodes: v01-n[1-3]\nfeeds: 2\n"
                          "bmc: 127.64.9.[1-3]\nssh: 127.64.10.[1-3]\nboot: {post: 60s}\n"
                          "faults:\n  - {node: v01-n2, fault: cords-on-one-feed}\n"
                          "  - {node: v01-n3, fault: outlet-elsewhere, feed: 2}\n");

  const auto ran =
      rehearse(write("feeds.yaml", kFeeds), {"--json", "--rack", rack, "--speed", "12"},
               std::chrono::seconds{1500});

  EXPECT_EQ(ran.status, 1) << ran.err;
  const std::map<std::string, std::string> expected{
      {"v01-n1", "pass"}, {"v01-n2", "fail feed1"}, {"v01-n3", "fail feed2"}};
  EXPECT_EQ(verdicts(ran), expected) << ran.out.substr(0, 20000);
}

TEST_F(RehearseTest, SaysEveryErrorOfARackAndStartsNothing) {
  const auto file = folder / "rack.yaml";
  std::ofstream{file} << "rack: v01\nprofile: dgx-h10\nnodes: v01-n[01-02]\n"
                         "bmc: 127.64.1.[1-3]\nssh: 127.64.2.[1-2]\n"
                         "faults: [{node: v01-n09, fault: gpu-mising}]\n";

  const auto ran = rehearse("new-rack", {"--rack", file.string()});

  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("gpu-missing"), HasSubstr("rack.yaml:4:")));
}

TEST_F(RehearseTest, LeavesNoProcessBehind) {
  Child child{{CUPEL_BINARY, "rehearse", "new-rack", "--folder", folder.string()}};
  ASSERT_TRUE(child.wait_for("bmc-facts"));
  child.signal(SIGTERM);

  EXPECT_EQ(child.wait().status, 3);
  EXPECT_THAT(processes_with(folder.string()), ::testing::IsEmpty());
}

TEST_F(RehearseTest, StandsInThePlaceOfOnesOwnInventoryAndTouchesNoneOfItsAddresses) {
  const auto site = write("site.yaml", kOwnInventory);
  const auto scenario =
      write("evening.yaml",
            "description: a bad evening\n"
            "speed: 30\n"
            "boot: {post: 60s}\n"
            "faults: [{node: a01-n2, fault: gpu-missing, part: gpu5}]\n"
            "rules: [{method: GET, path: \"*/Systems/*\", do: status, status: 503, "
            "times: 2}]\n");

  const auto book = write("short.yaml", kShort);
  const auto ran =
      rehearse(book, {"--inventory", site, "--scenario", scenario, "--nodes", "@both", "--json"});
  const auto reported = run({CUPEL_BINARY, "rehearse", "new-rack", "--inventory", site, "--folder",
                             (folder / "again").string(), "--nodes", "nobody"});

  EXPECT_EQ(ran.status, 1) << ran.err;
  const std::map<std::string, std::string> expected{{"a01-n1", "pass"}, {"a01-n2", "fail gpu5"}};
  EXPECT_EQ(verdicts(ran), expected) << ran.out << ran.err;
  EXPECT_THAT(read("inventory.yaml"),
              Not(::testing::AnyOf(HasSubstr("10.255"), HasSubstr("invalid"))));
  EXPECT_THAT(reported.out,
              HasSubstr("2 virtual nodes in the place of " + site + "'s, at loopback"));
}

TEST_F(RehearseTest, SaysWhatIsWrongInPlaybookInventoryAndScenarioAtOnce) {
  auto text = std::string{kOwnInventory};
  text.replace(text.find("dgx-h100"), 8, "dgx-h10");
  const auto site = write("site.yaml", text);
  const auto scenario = write("evening.yaml", "rules: [{path: /x, do: nothing}]\nsped: 3\n");
  const auto playbook = write("mine.yaml", "playbook: mine\nsteps: [{step: power-onn}]\n");

  const auto ran = rehearse(playbook, {"--inventory", site, "--scenario", scenario});

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("site.yaml:8:"), HasSubstr("evening.yaml:1:24"),
                             HasSubstr("evening.yaml:2:1"), HasSubstr("mine.yaml:2:")));
  EXPECT_FALSE(std::filesystem::exists(folder / "inventory.yaml")) << "nothing stood";
}

TEST_F(RehearseTest, TellsTheSameStoryForTheSameSeed) {
  const auto rack = write("rack.yaml",
                          "rack: v01\nprofile: dgx-h100\nnodes: v01-n[01-03]\n"
                          "bmc: 127.64.5.[1-3]\nssh: 127.64.6.[1-3]\n");
  const auto scenario = write("evening.yaml",
                              "speed: 200\n"
                              "faults: [{node: v01-n02, fault: memory-errors}]\n"
                              "rules: [{path: \"*\", do: latency, late: 1ms, jitter: 5ms}]\n");
  const auto book = write("short.yaml", kShort);
  const auto rehearse_in = [&](const std::string& where, const std::string& seed) {
    const auto ran = run({CUPEL_BINARY, "rehearse", book, "--folder", (folder / where).string(),
                          "--rack", rack, "--scenario", scenario, "--seed", seed, "--json"},
                         {}, std::chrono::seconds{600});
    EXPECT_EQ(ran.status, 1) << ran.err;
    return story(folder / where / "state");
  };

  const auto one = rehearse_in("one", "7"), again = rehearse_in("again", "7");
  const auto other = rehearse_in("other", "8");

  ASSERT_EQ(one.size(), 4u) << "three nodes, and the run as a whole";
  for (const auto& [node, events] : one)
    if (!node.empty()) EXPECT_EQ(events, again.at(node)) << node;
  EXPECT_NE(one.at("v01-n01"), other.at("v01-n01")) << "other serial numbers";
}

class RackServe : public RehearseTest {};

TEST_F(RackServe, KeepsARackForOtherClientsUntilItIsStopped) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/bin/ipmitool"), "ipmitool is not there");
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/bin/curl"), "curl is not there");
  Child child{
      {CUPEL_BINARY, "rack", "serve", "mixed-8", "--folder", folder.string(), "--speed", "2000"}};
  ASSERT_TRUE(child.wait_for("m01-n08, a BMC as of openbmc"));

  std::map<std::string, std::vector<Ran>> answers;
  for (const auto line : lines(read("doors.txt"))) {
    const auto tool = std::string{line.substr(0, line.find(' '))};
    if (tool == "curl" || tool == "ipmitool")
      answers[tool].push_back(run({"sh", "-c", std::string{line}}));
  }
  const auto mode = std::filesystem::status(folder / "bmc-password.admin.curl").permissions();
  child.signal(SIGTERM);
  const auto ended = child.wait();

  ASSERT_EQ(answers["curl"].size(), 8u);
  for (const auto& answer : answers["curl"])
    EXPECT_THAT(answer.out, HasSubstr("/redfish/v1/Systems/")) << answer.err;
  ASSERT_EQ(answers["ipmitool"].size(), 8u);
  for (const auto& answer : answers["ipmitool"])
    EXPECT_THAT(answer.out, HasSubstr("Chassis Power is off")) << answer.err;
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(processes_with(folder.string()), ::testing::IsEmpty());
}

TEST_F(RackServe, HasPdusWhoseCertificatesAPersonMayAccept) {
  const auto rack = write("rack.yaml",
                          "rack: v01\nprofile: dgx-h100\nnodes: v01-n1\nfeeds: 2\n"
                          "bmc: 127.64.11.1\nssh: 127.64.12.1\n");
  Child child{{CUPEL_BINARY, "rack", "serve", rack, "--folder", folder.string()}};
  ASSERT_TRUE(child.wait_for("v01-n1, a BMC as of dgx"));
  const auto accept = [&](const char* pdu) {
    return run({CUPEL_BINARY, "--state", (folder / "state").string(), "bmc", pdu, "--inventory",
                (folder / "inventory.yaml").string(), "accept-certificate"});
  };

  const auto accepted = accept("v01/p2");
  const auto unknown = accept("v01/p3");

  EXPECT_EQ(accepted.status, 0) << accepted.err;
  EXPECT_THAT(accepted.out, HasSubstr("v01/p2: accepted SHA256:"));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no PDU 'v01/p3' with redfish:"));
}

TEST_F(RackServe, SaysWhatIsWrongAndStandsNot) {
  const auto ran = run({CUPEL_BINARY, "rack", "serve", "h100-9", "--folder", folder.string()});

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("h100-9"));
}

}  // namespace
}  // namespace cupel::testing
