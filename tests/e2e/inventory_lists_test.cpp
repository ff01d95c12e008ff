// `cupel inventory ansible` read by Ansible itself, as an inventory script is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class InventoryLists : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(run({"ansible-inventory", "--version"}).status == 0,
                          "no ansible-inventory: apt-get install ansible-core");
    std::string made = (fs::temp_directory_path() / "cupel-lists-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    write(
        "site.yaml",
        "site: lab\nracks: [{name: a-1}]\ngroups: [{name: spare, nodes: n2}]\n"
        "defaults: {profile: mine, bmc: {user: a, password: \"cmd:echo x\"}}\nnodes:\n"
        "  - {name: n1, rack: a-1, bmc: {address: 127.0.0.1}, ssh: {address: \"127.0.0.1:2201\"}}\n"
        "  - {name: n2, rack: a-1, bmc: {address: 127.0.0.2}, ssh: {address: \"fd00::2\", user: "
        "ops}}\n");
    fs::create_directory(folder_ / "profiles");
    write("profiles/mine.yaml", "profile: mine\npower: {idle: 1, loaded: 2}\n");
    write("judge.yaml", "playbook: judge\nsteps: [{step: verdict}]\n");
    write("site", "#!/bin/sh\nexec " CUPEL_BINARY " --state " + file("state") +
                      " inventory ansible -i " + file("site.yaml") + " \"$@\"\n");
    fs::permissions(folder_ / "site", fs::perms::owner_all);
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder_ / name} << text;
  }
  Ran ansible(std::vector<std::string> argv) const {
    argv.insert(argv.begin() + 1, {"-i", file("site")});
    const std::vector<std::string> environment{"HOME=" + folder_.string(), "LC_ALL=C.UTF-8",
                                               "ANSIBLE_LOCAL_TEMP=" + file("tmp"),
                                               "ANSIBLE_INVENTORY_UNPARSED_FAILED=true"};
    return Child{std::move(argv), environment}.wait();
  }

 private:
  fs::path folder_{};
};

TEST_F(InventoryLists, AnsibleReadsTheNodesWithTheirGroupsAndVerdicts) {
  const auto judged =
      run({CUPEL_BINARY, "--state", file("state"), "run", file("judge.yaml"), "-i",
           file("site.yaml"), "--nodes", "n1", "--no-console", "--wait-for-repair", "0s"});
  ASSERT_EQ(judged.status, 1) << judged.out << judged.err;

  const auto listed = ansible({"ansible-inventory", "--list"});
  const auto host = ansible({"ansible-inventory", "--host", "n2"});
  const auto shown =
      ansible({"ansible", "rack_a_1", "-m", "ansible.builtin.debug", "-a", "var=cupel_verdict"});

  ASSERT_EQ(listed.status, 0) << listed.out << listed.err;
  const auto all = parse_json(listed.out);
  ASSERT_TRUE(all) << listed.out;
  const auto hosts = [&](const char* group) {
    const auto* of = find(*all, std::string{group} + "/hosts");
    return of == nullptr ? "absent" : json::serialize(*of);
  };
  EXPECT_EQ(hosts("rack_a_1"), R"(["n1","n2"])") << listed.out;
  EXPECT_EQ(hosts("group_spare"), R"(["n2"])");
  EXPECT_EQ(hosts("verdict_inconclusive"), R"(["n1"])");
  EXPECT_EQ(hosts("verdict_none"), R"(["n2"])");
  const auto n2 = parse_json(host.out);
  ASSERT_TRUE(n2) << host.out << host.err;
  EXPECT_EQ(text_at(*n2, "ansible_host"), "fd00::2");
  EXPECT_EQ(text_at(*n2, "ansible_user"), "ops");
  EXPECT_EQ(shown.status, 0) << shown.out << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("inconclusive"), HasSubstr("none")));
}

TEST_F(InventoryLists, AScriptThatIsAskedForOneHostAnswersItsVariables) {
  const auto known = run({file("site"), "--host", "n1"});
  const auto unknown = run({file("site"), "--host", "n9"});

  EXPECT_THAT(known.out, HasSubstr("\"ansible_port\":2201"));
  EXPECT_EQ(unknown.out, "{}\n");
}

}  // namespace
}  // namespace cupel::testing
