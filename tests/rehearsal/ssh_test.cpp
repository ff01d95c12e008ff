// The nodes over SSH, asked by OpenSSH's own client.
#include "tests/rehearsal/rack_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

class SshTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(bench.boot("v01-n01")); }
  RackBench bench;
};

TEST_F(SshTest, PassesOutputErrorsAndStatus) {
  const auto ran = bench.ssh(0, "echo out; echo err >&2; hostname; exit 7");

  EXPECT_EQ(ran.output, "out\nv01-n01\n");
  EXPECT_EQ(ran.error, "err\n");
  EXPECT_EQ(ran.exit_status, 7);
}

TEST_F(SshTest, PassesStandardInputToItsEnd) {
  std::string bytes;
  for (int i = 0; i < 2'000'000; ++i) bytes += static_cast<char>(i * 7);

  const auto ran = bench.ssh(0, "cat > /tmp/upload; wc -c < /tmp/upload; cat /tmp/upload", bytes);

  EXPECT_EQ(ran.output, "2000000\n" + bytes);
  EXPECT_EQ(ran.exit_status, 0) << ran.error;
}

TEST_F(SshTest, PassesMuchOutput) {
  const auto ran = bench.ssh(0, "head -c 20000000 /dev/zero; echo done");

  EXPECT_EQ(ran.output.size(), 20'000'005);
  EXPECT_TRUE(ran.output.ends_with("done\n"));
}

TEST_F(SshTest, TellsTheSignalThatEndedACommand) {
  EXPECT_EQ(bench.ssh(0, "kill -KILL $$").exit_status, 255);
}

TEST_F(SshTest, RefusesAnotherKey) {
  const auto key = (bench.folder.path() / "stranger").string();
  ASSERT_EQ(bench.run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}).exit_status, 0);
  auto line = bench.ssh_line(0, "true");
  *std::ranges::find(line, bench.node(0).ssh.key_file) = key;

  const auto ran = bench.run(std::move(line));

  EXPECT_EQ(ran.exit_status, 255);
  EXPECT_THAT(ran.error, HasSubstr("Permission denied (publickey)"));
}

TEST_F(SshTest, ANodeThatIsOffRefusesTheConnection) {
  const auto ran = bench.ssh(1, "true");

  EXPECT_EQ(ran.exit_status, 255);
  EXPECT_THAT(ran.error, HasSubstr("Connection refused"));
}

TEST_F(SshTest, PowerOffCutsWhatRunsThere) {
  asio::io_context io{1};
  ProcessRequest request{.argv = bench.ssh_line(0, "echo here; sleep 1000000")};
  std::thread off{[&] {
    // The command is there once its process is: the shell says so in its own file.
    for (bool there = false; !there;)
      there = bench.ssh(0, "ps | grep -v grep | grep -q 1000000").exit_status == 0;
    bench.on("v01-n01", [](Machine& machine) { return machine.press(Reset::force_off); });
  }};

  const auto ran =
      run_to_end(io, run_process(std::move(request), Deadline::in(std::chrono::minutes{1})));
  off.join();

  ASSERT_TRUE(ran) << ran.error().what;
  EXPECT_EQ(ran->exit_status, 255);
  EXPECT_EQ(ran->output, "here\n");
  EXPECT_THAT(bench.ssh(0, "true").error, HasSubstr("Connection refused"));
}

TEST_F(SshTest, ARestartMeansAnotherBootIdAndAnEmptyTmp) {
  const std::string look =
      "cat /proc/sys/kernel/random/boot_id; ls /tmp; ls /root; echo x > /tmp/t; echo y > /root/r";
  const auto before = bench.ssh(0, look);

  ASSERT_TRUE(bench.boot("v01-n01"));
  const auto after = bench.ssh(0, look);

  EXPECT_NE(before.output.substr(0, 36), after.output.substr(0, 36));
  EXPECT_EQ(before.output.substr(36), "\n");
  EXPECT_EQ(after.output.substr(36), "\nr\n");
}

TEST_F(SshTest, HostKeyIsTheOneInTheInventory) {
  const auto& endpoint = bench.node(0).ssh.endpoint;
  const auto scanned = bench.run({"sh", "-c",
                                  "ssh-keyscan -t ed25519 -p " + std::to_string(endpoint.port) +
                                      " " + endpoint.host + " 2>/dev/null | ssh-keygen -lf -"});

  EXPECT_THAT(scanned.output, HasSubstr(bench.node(0).ssh.trust.what));
}

TEST(SshFaultTest, HostKeyIsAnotherWhereAFaultSaysSo) {
  RackBench bench{{{.kind = FaultKind::ssh_host_key_changed}}};
  ASSERT_TRUE(bench.boot("v01-n01"));
  const auto& endpoint = bench.node(0).ssh.endpoint;

  const auto scanned = bench.run({"sh", "-c",
                                  "ssh-keyscan -t ed25519 -p " + std::to_string(endpoint.port) +
                                      " " + endpoint.host + " 2>/dev/null | ssh-keygen -lf -"});

  EXPECT_THAT(scanned.output, HasSubstr("SHA256:"));
  EXPECT_THAT(scanned.output, ::testing::Not(HasSubstr(bench.node(0).ssh.trust.what)));
}

TEST(SshFaultTest, ConnectionsAreCutWhereAFaultSaysSo) {
  RackBench bench{{{.kind = FaultKind::ssh_drops, .span = VirtualTime{1000}}}};
  ASSERT_TRUE(bench.boot("v01-n01"));

  EXPECT_EQ(bench.ssh(0, "sleep 1000000").exit_status, 255);
  EXPECT_EQ(bench.ssh(0, "true").exit_status, 0);
}

TEST(SshFaultTest, ABootThatHangsIsOnAndNeverAnswers) {
  RackBench bench{{{.kind = FaultKind::boot_hangs}}, 100000};
  auto on = std::make_shared<std::promise<void>>();
  auto reported = on->get_future();
  bench.rack->post("v01-n01", [on](Machine& machine) {
    machine.subscribe([on](Machine::Event event) {
      if (event == Machine::Event::started) on->set_value();
    });
    machine.press(Reset::on);
  });
  ASSERT_EQ(reported.wait_for(std::chrono::minutes{1}), std::future_status::ready);

  EXPECT_THAT(bench.ssh(0, "true").error, HasSubstr("Connection refused"));
  EXPECT_FALSE(bench.on("v01-n01", [](Machine& machine) { return machine.up(); }));
}

}  // namespace
}  // namespace cupel::rehearsal
