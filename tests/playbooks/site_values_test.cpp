// What decides which programs run as root on nodes is the site's to say, by whichever way a request
// tries to set it.
#include "playbooks/site_values.h"

#include <gmock/gmock.h>

#include "tests/playbooks/read.h"

namespace cupel::playbooks {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SiteValues, OfShippedPlaybooksAreFound) {
  for (const auto& [playbook, name] :
       std::vector<std::pair<std::string, std::string>>{{"burn-in-tools", "gpu_burn"},
                                                        {"burn-in-tools", "nccl_tests"},
                                                        {"fabric", "variables"},
                                                        {"quick-check", "scratch"}})
    EXPECT_THAT(set_by_the_site(playbook, {{name, "/tmp/evil"}}), ElementsAre(name)) << playbook;
  EXPECT_THAT(set_by_the_site("new-rack", {{"storage", "yes"}, {"storage_folder", "/tmp/evil"}}),
              ElementsAre("storage_folder"));
  EXPECT_THAT(set_by_the_site("new-rack", {{"storage", "yes"}, {"flow", "20s"}}), IsEmpty());
  EXPECT_THAT(set_by_the_site("fabric", {{"flow", "20s"}, {"bisect", "yes"}}), IsEmpty());
}

TEST(SiteValues, AreFoundThroughForeachAndInclude) {
  const Folder folder;
  folder.write("tools.yaml",
               "playbook: tools\nparameters:\n  where: {default: /opt/gpu-burn}\nsteps:\n"
               "  - stage: gpu-burn\n    with: {directory: \"${where}\"}\n");
  const auto outer = folder.write(
      "outer.yaml",
      "playbook: outer\nparameters:\n  place: {default: gpu-burn}\n  first: {default: /opt/a}\n"
      "  burn: {default: 5m, type: duration}\n  more: {default: \"no\"}\nsteps:\n"
      "  - include: tools.yaml\n    with: {where: \"/opt/${place}\"}\n"
      "  - stage: nccl-tests\n    foreach: [a]\n    with: {directory: \"${first}/${each}\"}\n"
      "  - stage: gpu-burn\n    as: long\n    when: {parameter: {more: \"yes\"}}\n"
      "    with: {directory: /opt/other, duration: \"${burn}\"}\n");

  EXPECT_THAT(set_by_the_site(outer, {{"place", "../tmp"}}), ElementsAre("place"));
  EXPECT_THAT(set_by_the_site(outer, {{"place", "evil"}, {"burn", "10m"}}), ElementsAre("place"));
  EXPECT_THAT(set_by_the_site(outer, {{"first", "/tmp/evil"}}), ElementsAre("first"));
  // The item of the turn is put into it: its own text stands in no step.
  EXPECT_THAT(set_by_the_site(outer, {{"first", "/tmp/${each}"}}), ElementsAre("first"));
  EXPECT_THAT(set_by_the_site(outer, {{"more", "yes"}, {"burn", "10m"}}), IsEmpty());
}

TEST(SiteValues, OneWithoutADefaultIsFoundToo) {
  const Folder folder;
  const auto needed = folder.write("needed.yaml",
                                   "playbook: needed\nparameters:\n  where: {}\nsteps:\n"
                                   "  - stage: gpu-burn\n    with: {directory: \"${where}\"}\n");

  EXPECT_THAT(set_by_the_site(needed, {{"where", "/tmp/evil"}}), ElementsAre("where"));
}

}  // namespace
}  // namespace cupel::playbooks
