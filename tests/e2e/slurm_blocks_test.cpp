// `cupel slurm conf --blocks`, as an operator uses it: from what runs have read, or refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "orchestrator/store/store.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"

namespace cupel::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr auto kDomain = "0a1b2c3d-0000-4000-8000-000000000001.32766";

class SlurmBlocksCommand : public ::testing::Test {
 protected:
  SlurmBlocksCommand() {
    std::ofstream{folder_.path() / "inventory.yaml"}
        << "site: lab\n"
           "racks: [{name: a01}]\n"
           "defaults: {profile: gb200-nvl72-tray, bmc: {user: a, password: \"cmd:echo x\"}}\n"
           "nodes:\n"
           "  - name: \"a01-n[01-18]\"\n"
           "    rack: a01\n"
           "    bmc: {address: \"127.9.1.[1-18]\"}\n"
           "    ssh: {address: \"127.9.2.[1-18]\"}\n";
  }

  /// A run has read this domain on the first so many trays.
  void read_domains(int trays) const {
    const auto store = store::Store::open(folder_.path() / "state").value();
    store::Run run;
    run.playbook = "audit";
    for (int i = 1; i <= trays; ++i) run.nodes.push_back(fmt::format("a01-n{:02}", i));
    const auto id = store->begin_run(run).value();
    for (const auto& node : run.nodes) {
      append(*store, id, engine::EventKind::step_began, node, {{"attempt", 1}});
      boost::json::object facts;
      facts["nvlink.domain"] = kDomain;
      append(*store, id, engine::EventKind::step_ended, node,
             {{"outcome", "done"}, {"facts", facts}});
    }
  }
  Ran conf(std::vector<std::string> options) const {
    std::vector<std::string> words{
        CUPEL_BINARY, "--state",     (folder_.path() / "state").string(),         "slurm",
        "conf",       "--inventory", (folder_.path() / "inventory.yaml").string()};
    words.insert(words.end(), options.begin(), options.end());
    return run(words);
  }

 private:
  static void append(store::Store& store, engine::RunId id, engine::EventKind kind,
                     const std::string& node, boost::json::object data) {
    engine::Event event;
    event.kind = kind;
    event.node = node;
    event.step = "gpu-facts";
    event.data = std::move(data);
    ASSERT_TRUE(store.append(id, event));
  }

  test::TemporaryFolder folder_{};
};

TEST_F(SlurmBlocksCommand, PrintsTheBlocksThatRunsHaveRead) {
  read_domains(18);

  const auto conf_file = conf({"--blocks", "conf"}), yaml_file = conf({"--blocks", "yaml"});

  EXPECT_EQ(conf_file.status, 0) << conf_file.err;
  EXPECT_THAT(conf_file.out, AllOf(HasSubstr("BlockName=a01 Nodes=a01-n[01-18]\nBlockSizes=16\n"),
                                   HasSubstr(std::string{"# a01: "} + kDomain + "\n")));
  EXPECT_EQ(yaml_file.status, 0) << yaml_file.err;
  EXPECT_THAT(yaml_file.out, HasSubstr("      - {block: \"a01\", nodes: \"a01-n[01-18]\"}\n"));
}

TEST_F(SlurmBlocksCommand, NamesAllThatIsWrongAndPrintsNothing) {
  read_domains(16);

  const auto ran = conf({"--blocks", "conf", "--block-sizes", "18,24"});

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, AllOf(HasSubstr("cupel run audit --nodes a01-n[17-18]"),
                             HasSubstr("block a01 has 16 nodes"), HasSubstr("block size 24"),
                             HasSubstr("3 errors; nothing was touched")));
}

TEST_F(SlurmBlocksCommand, RefusesSizesThatAreNone) {
  for (const auto* sizes : {"", "0", "16,"}) {
    const auto ran = conf({"--blocks", "conf", "--block-sizes", sizes});

    EXPECT_EQ(ran.status, 2) << sizes;
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, HasSubstr("must be up to 8 numbers of nodes such as 16,32"));
  }
}

}  // namespace
}  // namespace cupel::testing
