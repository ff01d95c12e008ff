// What nodes must have for a stage: the stages' own scripts against the table of packages, and
// against docs/start/nodes.md.
#include "burnin/requirements.h"

#include <gmock/gmock.h>

#include "tests/burnin/tools.h"

namespace cupel::burnin {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Parameters usual(std::string_view stage_name) {
  if (stage_name == "disk" || stage_name == "storage")
    return {{"directory", "/var/tmp"}, {"type", "nfs"}};
  if (stage_name == "settings") return {{"governor", "performance"}};
  if (stage_name == "nvme") return {{"raw", "yes"}};
  return {};
}

Requirements needs_of(std::string_view stage_name, Parameters with) {
  const auto job = prepared(stage_name, with);
  return requirements_of(*stage(stage_name), *job);
}

TEST(Requirements, AreWhatTheScriptItselfAsksFor) {
  const auto disk = needs_of("disk", {{"directory", "/var/tmp"}});
  const auto gemm = needs_of("gemm", {});
  const auto by_cpu = needs_of("thermal", {{"load", "cpu"}});
  const auto by_gpu = needs_of("thermal", {{"load", "gpu"}});
  const auto facts = needs_of("node-facts", {});

  EXPECT_THAT(disk.tools, ElementsAre("fio"));
  EXPECT_THAT(disk.programs, ElementsAre("cupel-node"));
  EXPECT_THAT(gemm.tools, ElementsAre("nvidia-smi"));
  EXPECT_THAT(gemm.programs, ElementsAre("cupel-node", "cupel-burn"));
  EXPECT_EQ(gemm.root, Root::needed);
  EXPECT_THAT(by_cpu.tools, ElementsAre("stress-ng"));
  EXPECT_THAT(by_gpu.tools, IsEmpty());
  EXPECT_THAT(by_gpu.programs, ElementsAre("cupel-node", "cupel-burn"));
  EXPECT_THAT(facts.tools, IsEmpty());
  EXPECT_THAT(facts.helpful, ElementsAre("smartctl", "dmidecode"));
  EXPECT_THAT(facts.programs, ElementsAre("cupel-node"));
  EXPECT_EQ(facts.root, Root::needed);
}

TEST(Requirements, KnowThePackageOfEveryToolThatAStageLooksFor) {
  for (const auto& each : stages()) {
    const auto needs = needs_of(each.name, usual(each.name));
    for (const auto& list : {needs.tools, needs.helpful})
      for (const auto& tool : list)
        EXPECT_NE(package_of(tool), nullptr) << each.name << " looks for " << tool;
  }
}

TEST(Requirements, AreLookedForInTheFoldersInWhichTheStageLooks) {
  FakeTools tools;
  tools.add("gpu_burn", "exit 0");
  const auto there = *prepared("gpu-burn", {{"directory", tools.folder()}});
  const auto elsewhere = *prepared("gpu-burn", {{"directory", "/no/such/folder"}});
  const auto look = [](const Job& job) {
    const Job* jobs[] = {&job};
    return read_look(run_script(look_script(jobs)).text);
  };

  EXPECT_TRUE(look(there).whole);
  EXPECT_THAT(look(there).lacking, ::testing::Not(Contains("gpu_burn")));
  EXPECT_THAT(look(elsewhere).lacking, Contains("gpu_burn"));
}

TEST(Requirements, TellWhatAPersonTypes) {
  const std::vector<std::string> both{"fio", "lsblk", "blkid", "nvidia-smi"};

  EXPECT_EQ(how_to_install(both),
            "apt-get install fio util-linux (RHEL: dnf install fio util-linux); the NVIDIA driver "
            "(package cuda-drivers of NVIDIA's repository)");
}

TEST(Requirements, UseOnlyACompleteCheck) {
  const auto cut = read_look("cupel-lacks: fio\n");
  const auto strange = read_look("cupel-lacks: $(reboot)\ncupel-no-root\ncupel-looked\n");

  EXPECT_FALSE(cut.whole);
  EXPECT_TRUE(strange.whole);
  EXPECT_FALSE(strange.root);
  EXPECT_THAT(strange.lacking, IsEmpty());
}

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text.empty() ? "-" : text;
}

std::string_view word_for(Root root) { return root == Root::needed ? "yes" : "no"; }

TEST(Requirements, AreTheTableOfTheDocuments) {
  const auto page = *read_file(std::filesystem::path{SOURCE_DIR} / "docs/start/nodes.md", 1u << 20);
  for (const auto& each : stages()) {
    const auto needs = needs_of(each.name, usual(each.name));
    const auto why = needs.root == Root::no ? std::string{} : ": " + std::string{needs.why_root};
    const auto row = "| `" + std::string{each.name} + "` | " + quoted(needs.tools) + " | " +
                     quoted(needs.helpful) + " | " + quoted(needs.programs) + " | " +
                     std::string{word_for(needs.root)} + why + " |\n";
    EXPECT_THAT(page, HasSubstr(row));
  }
  for (const auto& each : tool_packages()) {
    const auto packages = each.source.empty() ? "`" + std::string{each.debian} + "` | `" +
                                                    std::string{each.rhel} + "`"
                                              : std::string{each.source} + " | the same";
    EXPECT_THAT(page, HasSubstr("| `" + std::string{each.tool} + "` | " + packages + " |\n"));
  }
}

}  // namespace
}  // namespace cupel::burnin
