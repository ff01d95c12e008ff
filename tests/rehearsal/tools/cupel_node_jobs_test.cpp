// Jobs that a virtual node's cupel-node looks after.
#include "base/json.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

const std::string kFolder = "/var/tmp/cupel-1-run1-x";

std::string start(const std::string& script, int limit = 600, const std::string& more = {}) {
  return "cupel-node start x --folder " + kFolder + " --limit " + std::to_string(limit) + " " +
         more + " -- sh -c " + shell_quoted(script);
}

/// The header, and what comes behind it.
std::pair<json::object, std::string> tail(Bench& bench, const std::string& options = {}) {
  const auto ran = bench.sh("cupel-node tail --folder " + kFolder + " " + options);
  const auto end = ran.out.find('\n');
  return {json::parse(ran.out.substr(0, end)).as_object(), ran.out.substr(end + 1)};
}

/// Once it has ended, however long that takes by the node's clock.
std::pair<json::object, std::string> ended(Bench& bench) {
  bench.sh("while [ ! -s " + kFolder + "/exit ]; do sleep 1; done");
  return tail(bench);
}

std::string alive(Bench& bench, const std::string& what) {
  return bench.sh("ps | grep -v grep | grep -c '" + what + "'").out;
}

TEST(VirtualNodeProgram, LooksAfterAJobThatOutlivesTheCommandThatStartedIt) {
  Bench bench;

  const auto started = bench.sh(start("echo out; sleep 100; echo err >&2; exit 5"));
  const auto early = tail(bench);
  const auto [header, bytes] = ended(bench);

  EXPECT_THAT(started.out, HasSubstr("\"started\":true"));
  EXPECT_EQ(early.first.at("state"), "running");
  EXPECT_EQ(header.at("state"), "ended");
  EXPECT_EQ(header.at("exit"), 5);
  EXPECT_EQ(bytes, "out\nerr\n");
}

TEST(VirtualNodeProgram, IsReadFromAnOffsetAndStartedOnce) {
  Bench bench;
  bench.sh(start("printf abcdefgh"));
  ended(bench);

  const auto again = bench.sh(start("printf other"));
  const auto [header, bytes] = tail(bench, "--from 3 --most 2");

  EXPECT_THAT(again.out, HasSubstr("\"started\":false"));
  EXPECT_EQ(bytes, "de");
  EXPECT_EQ(header.at("out_size"), 8);
}

TEST(VirtualNodeProgram, EndsAJobAtItsLimitWithAllThatItStarted) {
  Bench bench;

  bench.sh(start("setsid sleep 200001 & sleep 200002", 50));
  const auto [header, bytes] = ended(bench);

  EXPECT_EQ(header.at("exit"), 124);
  EXPECT_EQ(alive(bench, "20000"), "0\n");
}

TEST(VirtualNodeProgram, StopsAJobWithAllThatItStarted) {
  Bench bench;
  bench.sh(start("setsid sleep 200001 & sleep 200002", 100000));

  const auto stopped = bench.sh("cupel-node stop --folder " + kFolder);

  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_EQ(tail(bench).first.at("state"), "stopped");
  EXPECT_EQ(alive(bench, "20000"), "0\n");
}

TEST(VirtualNodeProgram, EndsAJobThatFillsItsSpool) {
  Bench bench;

  bench.sh(start("while :; do echo 0123456789; done", 100000, "--spool-limit 1000"));
  const auto [header, bytes] = ended(bench);

  EXPECT_EQ(header.at("out_size"), 1000);
  EXPECT_TRUE(header.at("over_spool").as_bool());
}

TEST(VirtualNodeProgram, HasLostAJobWhoseNodeWasRestarted) {
  Bench bench;
  bench.sh(start("sleep 100000", 200000));

  bench.machine.press(Reset::power_cycle);
  ASSERT_TRUE(bench.run_until([&] { return bench.machine.boots() == 2 && bench.machine.up(); }));

  EXPECT_EQ(tail(bench).first.at("state"), "lost");
}

TEST(VirtualNodeProgram, ListsItsJobs) {
  Bench bench;
  bench.sh(start("true"));
  ended(bench);

  const auto reported = bench.sh("cupel-node list --base /var/tmp");

  const auto job = json::parse(reported.out).as_object();
  EXPECT_EQ(job.at("folder"), kFolder.c_str());
  EXPECT_EQ(job.at("state"), "ended");
}

TEST(VirtualNodeProgram, ThatWasBroughtFromOutsideIsTheToolOfItsName) {
  Bench bench;
  const std::string real =
      "\x7f"
      "ELF\x02\x01 some thousand instructions";

  bench.sh("mkdir -p /opt/cupel/bin; cat > /opt/cupel/bin/cupel-node", real);
  bench.sh("cp /opt/cupel/bin/cupel-node /opt/cupel/bin/no-such-tool; chmod 755 /opt/cupel/bin/*");

  EXPECT_THAT(bench.sh("/opt/cupel/bin/cupel-node --version").out, HasSubstr("\"protocol\":1"));
  EXPECT_EQ(bench.sh("/opt/cupel/bin/no-such-tool").status, 126);
}

}  // namespace
}  // namespace cupel::rehearsal
