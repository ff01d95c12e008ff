// Who may change nodes in Slurm, by what its tools print.
#include "orchestrator/handoff/slurm_rights.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/captures.h"

namespace cupel::handoff {
namespace {

using Right = SlurmRights::Right;

/// Programs that print what is written here, in front of those of the machine.
class SlurmRightsTest : public ::testing::Test {
 protected:
  SlurmRightsTest() {
    ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
    tool("scontrol", "echo 'SlurmUser               = slurm(64030)'");
  }
  ~SlurmRightsTest() override { ::setenv("PATH", path_.c_str(), 1); }

  void tool(const std::string& name, const std::string& does) {
    const auto file = folder_.path() / name;
    std::ofstream{file} << "#!/bin/sh\n" << does << "\n";
    ::chmod(file.c_str(), 0755);
  }
  SlurmRights of(const std::string& user) {
    asio::io_context io;
    return run_to_end(io, slurm_rights(user, "", Deadline::in(std::chrono::seconds{60})));
  }

 private:
  std::string path_ = std::getenv("PATH");
  test::TemporaryFolder folder_{};
};

TEST_F(SlurmRightsTest, AreThoseOfRootOfSlurmUserAndOfAdministrators) {
  tool("sacctmgr", "echo Administrator");

  EXPECT_EQ(of("root").right, Right::has);
  EXPECT_EQ(of("slurm"), (SlurmRights{Right::has, "slurm is SlurmUser", {}}));
  EXPECT_EQ(of("cupel"), (SlurmRights{Right::has, "cupel is an administrator", {}}));
}

TEST_F(SlurmRightsTest, LackWithTheCommandThatGivesThem) {
  tool("sacctmgr", "echo Operator");
  EXPECT_EQ(of("cupel"),
            (SlurmRights{Right::lacks, "the AdminLevel of cupel is Operator",
                         "sacctmgr -i modify user where name=cupel set adminlevel=administrator"}));

  tool("sacctmgr", ":");
  EXPECT_EQ(of("cupel"),
            (SlurmRights{Right::lacks, "accounting has no user cupel",
                         "sacctmgr -i add user name=cupel account=root adminlevel=administrator"}));
}

TEST_F(SlurmRightsTest, AreNoAdministratorsWhereThereIsNoAccounting) {
  tool("sacctmgr", "echo 'You are not running a supported accounting_storage plugin' >&2; exit 1");
  EXPECT_EQ(of("cupel").right, Right::lacks);

  tool("sacctmgr", "echo 'sacctmgr: error: Problem talking to the database' >&2; exit 1");
  const auto silent = of("cupel");
  EXPECT_EQ(silent.right, Right::unknown);
  EXPECT_EQ(silent.why, "sacctmgr failed: sacctmgr: error: Problem talking to the database");
}

TEST(SlurmUser, IsReadFromTheConfiguration) {
  EXPECT_EQ(slurm_user_in("Configuration data\nSlurmUser               = slurm(64030)\n"), "slurm");
  EXPECT_EQ(slurm_user_in("SlurmUserX = a\nSlurmdUser = root(0)\n"), "");
  EXPECT_EQ(slurm_user_in(""), "");
}

}  // namespace
}  // namespace cupel::handoff
