// Kernel log, /sys, InfiniBand, PCI and drives: the product's stages read them, and what no stage
// reads yet is held against captured outputs.
#include <cstdio>
#include <set>

#include "base/json.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;
using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::Optional;
using ::testing::SizeIs;

TEST(NodeTree, TheStageReadsAHealthyNodeWhole) {
  Bench bench;

  const auto findings = found_by(bench, "node-facts");

  ASSERT_TRUE(findings) << findings.error().what;
  const auto& found = *findings;
  EXPECT_EQ(value_of(found, "ib.port.rate", "mlx5_0"), 400);
  EXPECT_EQ(value_of(found, "ib.port.active", "mlx5_11"), 1);
  EXPECT_EQ(value_of(found, "edac.corrected"), 0);
  EXPECT_EQ(value_of(found, "edac.uncorrected"), 0);
  EXPECT_EQ(value_of(found, "edac.corrected", "dimm A7"), 0);
  EXPECT_EQ(value_of(found, "hca.pcie.width", "mlx5_3"), 16);
  for (const auto& each : found.unknown) ADD_FAILURE() << each.fact << ": " << each.why;
}

TEST(NodeTree, TheStageSeesAPortThatIsDownAndAStormOfErrors) {
  Bench bench{{{.kind = hca_down, .part = "mlx5_4"},
               {.kind = dimm_storm, .part = "dimm B3", .errors = 36000},
               {.kind = dimm_uncorrected, .part = "dimm A2", .errors = 1}}};
  bench.sh("sleep 600");

  const auto findings = found_by(bench, "node-facts");

  ASSERT_TRUE(findings) << findings.error().what;
  const auto& found = *findings;
  EXPECT_EQ(value_of(found, "ib.port.active", "mlx5_4"), 0);
  EXPECT_THAT(value_of(found, "edac.corrected", "dimm B3"), Optional(Gt(5000)));
  EXPECT_EQ(value_of(found, "edac.corrected", "dimm B4"), 0);
  EXPECT_EQ(value_of(found, "edac.uncorrected", "dimm A2"), 1);
  EXPECT_THAT(bench.sh("dmesg -l err | tail -n 1").out, HasSubstr("CE memory read error on B3"));
}

/// Paths below one HCA of the captured tree.
Texts captured_paths() {
  const auto archive = (testing::samples() / "sys-class-infiniband-h100.tar.zst").string();
  const auto command = "tar --zstd -tf " + archive + " 2>/dev/null";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, got);
  ::pclose(pipe);
  Texts paths;
  constexpr std::string_view kHca = "/mlx5_4/";
  for (const auto& line : lines_of(text)) {
    const auto at = line.find(kHca);
    const bool file = at != line.npos && !line.ends_with('/') && !line.contains("hw_counters");
    if (file) paths.push_back(line.substr(at + kHca.size()));
  }
  std::ranges::sort(paths);
  return paths;
}

TEST(NodeTree, AnHcaHasTheFilesOfAnH100Nodes) {
  const auto captured = captured_paths();
  CUPEL_NEEDS_REAL_PART(!captured.empty(), "no captured tree of /sys/class/infiniband");
  Bench bench;

  const auto ours = lines_of(
      bench.sh("cd /sys/class/infiniband/mlx5_4 && find ports fw_ver hca_type board_id").out);

  EXPECT_THAT(captured, IsSubsetOf(ours));
  EXPECT_EQ(bench.sh("cat /sys/class/infiniband/mlx5_4/ports/1/rate").out, "400 Gb/sec (4X NDR)\n");
  EXPECT_EQ(bench.sh("cat /sys/class/infiniband/mlx5_4/ports/1/state").out, "4: ACTIVE\n");
}

TEST(Infiniband, AllToolsAgreeOnAPort) {
  Bench bench{{{.kind = hca_slow, .part = "mlx5_2", .amount = 200}}};

  EXPECT_THAT(bench.sh("ibstat mlx5_2").out, HasSubstr("Rate: 200\n"));
  EXPECT_THAT(bench.sh("ibstatus mlx5_2").out, HasSubstr("200 Gb/sec (4X "));
  EXPECT_THAT(bench.sh("cat /sys/class/infiniband/mlx5_2/ports/1/rate").out,
              HasSubstr("200 Gb/sec"));
  EXPECT_THAT(bench.sh("ibstat mlx5_3").out, HasSubstr("Rate: 400\n"));
  EXPECT_THAT(bench.sh("ibv_devinfo -d mlx5_2").out, HasSubstr("PORT_ACTIVE (4)"));
  EXPECT_EQ(bench.sh("ibstat mlx5_99").status, 255);
}

TEST(Infiniband, CountersAreListedAsPerfqueryListsThem) {
  CUPEL_NEEDS_SAMPLE(capture, "perfquery/0x506b4b03005c2740.out");
  Bench bench;
  const auto names = [](const std::string& text) {
    Texts all;
    for (const auto& line : lines_of(text))
      if (line.contains(":.")) all.push_back(line.substr(0, 33));
    return all;
  };

  const auto ours = bench.sh("perfquery -x -C mlx5_0").out;

  EXPECT_THAT(names(ours), ElementsAreArray(names(capture)));
}

TEST(Infiniband, CountersOfASwitchAreListedPortByPort) {
  Bench bench;
  const std::string look = "ibnetdiscover -C mlx5_0 -P 1 | grep '^Switch' | head -n 1";

  const auto line = bench.sh(look).out;
  const auto at = line.rfind(" lid ");
  ASSERT_NE(at, line.npos) << line;
  const auto lid = line.substr(at + 5, line.find(' ', at + 5) - at - 5);
  const auto some = bench.sh("perfquery -x -l -C mlx5_0 -P 1 " + lid + " 1,2").out;

  EXPECT_THAT(some,
              AllOf(HasSubstr("Lid " + lid + " port 1 ("), HasSubstr("Lid " + lid + " port 2 ("),
                    HasSubstr("PortSelect:......................2\n"),
                    HasSubstr("PortXmitData:....................0\n")));
  EXPECT_EQ(bench.sh("perfquery -x -l -C mlx5_0 -P 1 60000 1,2").status, 1);
}

TEST(Infiniband, SymbolErrorsGrow) {
  Bench bench{{{.kind = hca_errors, .part = "mlx5_1", .errors = 3600}}};
  const std::string ask = "cat /sys/class/infiniband/mlx5_1/ports/1/counters/symbol_error";

  const auto before = number<int>(trimmed(bench.sh(ask).out));
  bench.sh("sleep 600");
  const auto after = number<int>(trimmed(bench.sh(ask).out));

  ASSERT_TRUE(before && after);
  EXPECT_GT(*after, *before + 100);
}

TEST(Perftest, TwoEndsMeetAndReadNearTheLinksRate) {
  CUPEL_NEEDS_SAMPLE(capture, "perftest/ib_write_bw_loopback_hdr_8M.log");
  Bench bench;

  const auto ran = bench.sh(
      "ib_write_bw -d mlx5_0 -s 8388608 -n 20000 > /tmp/server & sleep 2; "
      "ib_write_bw -d mlx5_1 -s 8388608 -n 20000 --report_gbits localhost; wait; cat /tmp/server");

  EXPECT_EQ(ran.status, 0) << ran.err;
  Texts rows, headers;
  for (const auto& line : lines_of(ran.out)) {
    if (line.starts_with(" 8388608")) rows.push_back(line);
    if (line.starts_with(" #bytes")) headers.push_back(shape_of(line));
  }
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_THAT(number<double>(words(rows[0])[3]), Optional(Gt(380)));
  EXPECT_THAT(capture, HasSubstr("BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]"));
  EXPECT_THAT(ran.out, HasSubstr("BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]"));
  EXPECT_THAT(capture, HasSubstr("Waiting for client to connect"));
  EXPECT_THAT(ran.out, HasSubstr("Waiting for client to connect"));
}

TEST(Perftest, NobodyThereAndNoSuchDeviceAreErrors) {
  Bench bench;

  const auto alone = bench.sh("ib_write_bw -d mlx5_0 nowhere");
  const auto device = bench.sh("ib_write_bw -d mlx5_77 localhost");

  EXPECT_THAT(alone.err, HasSubstr("Couldn't connect to nowhere:18515"));
  EXPECT_EQ(alone.status, 1);
  EXPECT_THAT(device.err, HasSubstr("IB device mlx5_77 not found"));
}

TEST(Lspci, IsWrittenAsTheCaptured) {
  CUPEL_NEEDS_SAMPLE(capture, "lspci/lspci_nn_a100.txt");
  Bench bench;
  const std::string form =
      "[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-9] 3D controller \\[0302\\]: NVIDIA Corporation "
      "G[AH]100 \\[[A-Z0-9a-z ]+\\] \\[10de:[0-9a-f]{4}\\] \\(rev a1\\)";

  const auto ours = lines_of(bench.sh("lspci -D -nn -d 10de:2330").out);

  ASSERT_THAT(ours, SizeIs(8));
  EXPECT_TRUE(std::regex_match(ours[0], std::regex{form})) << ours[0];
  EXPECT_TRUE(std::regex_match(lines_of(capture)[0], std::regex{form}));
  EXPECT_THAT(bench.sh("lspci -Q").err, HasSubstr("lspci: invalid option -- 'Q'"));
}

TEST(Drives, SmartctlsJsonHasTheKeysOfTheCaptured) {
  CUPEL_NEEDS_SAMPLE(capture, "smartctl/nvme.json");
  const auto theirs = parse_json(capture);
  ASSERT_TRUE(theirs);
  Bench bench{{{.kind = nvme_worn, .part = "nvme3", .amount = 104}}};
  const auto keys = [](const json::value& root) {
    std::set<std::string> names;
    for (const auto& entry : root.at("nvme_smart_health_information_log").as_object())
      names.emplace(entry.key());
    return names;
  };

  const auto healthy = bench.sh("smartctl -a -j /dev/nvme0");
  const auto worn = bench.sh("smartctl -a -j /dev/nvme3");
  const auto log = parse_json(bench.sh("nvme smart-log -o json /dev/nvme3").out);

  const auto ours = parse_json(healthy.out), old = parse_json(worn.out);
  ASSERT_TRUE(ours && old && log);
  EXPECT_EQ(keys(*ours), keys(*theirs));
  EXPECT_EQ(healthy.status, 0);
  EXPECT_EQ(worn.status, 8);
  EXPECT_EQ(number_at(*old, "nvme_smart_health_information_log/percentage_used"), 104);
  EXPECT_EQ(number_at(*log, "percent_used"), 104);
}

TEST(NodeTree, TheSerialConsoleShowsTheSystemThatSshShows) {
  Bench bench;
  std::string console;
  bench.machine.console()->wrote = [&](std::string_view piece) { console += piece; };
  bench.machine.press(Reset::power_cycle);
  ASSERT_TRUE(bench.run_until([&] { return bench.machine.boots() == 2; }));

  const auto release = bench.sh("uname -r").out, host = bench.sh("hostname").out;
  const auto up = number<double>(split(bench.sh("cat /proc/uptime").out, ' ').front());
  console += '\n';
  const auto before = console.size();
  bench.machine.console()->send_break();

  EXPECT_THAT(console, HasSubstr("Linux version " + release.substr(0, release.size() - 1) + " "));
  EXPECT_THAT(console, HasSubstr(host.substr(0, host.size() - 1) + " login: "));
  const auto line = console.substr(before);
  const auto stamp =
      number<double>(trimmed(line.substr(line.find('[') + 1, line.find(']') - line.find('[') - 1)));
  ASSERT_TRUE(up && stamp) << line;
  EXPECT_NEAR(*stamp, *up, 120);
}

TEST(NodeTree, UptimeAndDateTellOneTime) {
  Bench bench;

  const auto reported = bench.sh("date +%H:%M; uptime; date +%H:%M").out;

  const auto before = reported.substr(0, 5), after = reported.substr(reported.size() - 6, 5);
  EXPECT_THAT(reported,
              ::testing::AnyOf(HasSubstr(" " + before + ":"), HasSubstr(" " + after + ":")));
}

TEST(NodeTree, LscpuTellsTheWholeNameOfTheCpu) {
  Bench bench;

  EXPECT_THAT(bench.sh("lscpu").out, HasSubstr("Intel(R) Xeon(R) Platinum 8480C\n"));
}

TEST(NodeTree, NumactlShowsTheNodesThatSysfsShows) {
  Bench bench;

  const auto reported = bench.sh("numactl -H").out;

  EXPECT_THAT(reported, HasSubstr("available: 2 nodes (0-1)\nnode 0 cpus: 0 1 2 "));
  EXPECT_THAT(reported, HasSubstr("node 1 cpus: 56 57 "));
  EXPECT_THAT(reported, HasSubstr("node   0   1 \n  0:  10  21 \n  1:  21  10 \n"));
}

TEST(NodeTree, AnInfinibandPortHasAnAddressOfTwentyBytes) {
  Bench bench;

  const auto address = bench.sh("cat /sys/class/net/ib0/address").out;

  EXPECT_EQ(address.size(), 20u * 3);
  EXPECT_THAT(bench.sh("ip addr show ib0").out,
              HasSubstr("link/infiniband " + address.substr(0, 59)));
}

TEST(Drives, DfTellsSizesForPeopleWhereAsked) {
  Bench bench;

  EXPECT_THAT(bench.sh("df -h /").out, MatchesRegex("Filesystem +Size +Used Avail Use% Mounted on\n"
                                                    "/dev/md0 +1\\.7T +39G +1\\.6T +2% /\n"));
}

TEST(Drives, AFullDiskIsToldByDfAndRefusesWrites) {
  Bench bench{{{.kind = disk_full}}};

  const auto space = bench.sh("df -Pk /var/tmp | tail -n 1").out;
  const auto stage = found_by(bench, "disk");

  EXPECT_THAT(space, HasSubstr("100% /"));
  ASSERT_FALSE(stage);
  EXPECT_THAT(stage.error().what, HasSubstr("not enough space"));
}

TEST(Drives, ASlowOneIsNamedByWhatFioSaysOfTheFolder) {
  Bench bench{{{.kind = disk_slow, .part = "nvme0"}}};

  const auto found = found_by(bench, "disk");

  ASSERT_TRUE(found) << found.error().what;
  const auto& all = found->measurements;
  const auto speed = std::ranges::find(all, "disk.write.bandwidth", &burnin::Measurement::name);
  ASSERT_NE(speed, all.end());
  EXPECT_EQ(speed->traced_to, "nvme0");
}

TEST(Stress, ACoreThatIsWrongAndACpuThatIsHotAreSeen) {
  Bench wrong{{{.kind = cpu_core_wrong, .part = "cpu1", .number = 17}}};
  Bench hot{{{.kind = cpu_throttled, .part = "cpu0", .amount = 0.5}}};
  Bench healthy;
  const burnin::Parameters with{{"duration", "60s"}};
  const auto rate = [&](Bench& bench) {
    const auto found = found_by(bench, "cpu-memory");
    return found ? value_of(*found, "stress.bogo_ops", "cpu").value_or(0) : 0;
  };

  const auto found = found_by(wrong, "cpu-memory");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(value_of(*found, "stress.failures"), Optional(Gt(0)));
  const double good = rate(healthy);
  EXPECT_GT(good, 0);
  EXPECT_LT(rate(hot), 0.7 * good);
  EXPECT_THAT(hot.sh("dmesg").out, HasSubstr("cpu clock is throttled"));
  EXPECT_THAT(
      hot.sh("cat /sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count").out,
      Not("0\n"));
}

TEST(Stress, OptionsThatItDoesNotKnowAreRefused) {
  Bench bench;

  EXPECT_THAT(bench.sh("stress-ng --frobnicate 1").err,
              HasSubstr("stress-ng: unrecognized option '--frobnicate'"));
  EXPECT_THAT(bench.sh("fio --name=x --frobnicate=1").err,
              HasSubstr("fio: unrecognized option '--frobnicate'"));
}

TEST(KernelLog, TimesAndLevelsAreWrittenAsAsked) {
  CUPEL_NEEDS_SAMPLE(capture, "dmesg/oom_and_misc.dmesg.log");
  Bench bench{{{.kind = gpu_ecc, .part = "gpu1"}}};

  const auto iso = bench.sh("dmesg -x --time-format=iso -l warn | head -n 1").out;
  const auto human = bench.sh("dmesg -T | head -n 1").out;
  const auto journal = parse_json(lines_of(bench.sh("journalctl -k -o json").out).front());
  const auto wrong = bench.sh("dmesg --frobnicate");

  const std::regex form{
      R"(kern  :warn  : \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{6}\+00:00 NVRM: Xid \(PCI:.*\): \d+, .*)"};
  EXPECT_TRUE(std::regex_match(lines_of(iso).front(), form)) << iso;
  EXPECT_TRUE(std::regex_match(lines_of(capture).front(), form));
  EXPECT_TRUE(
      std::regex_search(human, std::regex{R"(^\[\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\] )"}))
      << human;
  ASSERT_TRUE(journal);
  EXPECT_EQ(text_at(*journal, "_TRANSPORT"), "kernel");
  EXPECT_THAT(wrong.err, HasSubstr("dmesg: unrecognized option '--frobnicate'"));
  EXPECT_EQ(wrong.status, 1);
}

TEST(Services, AnOperatorsQuestionsAreAnswered) {
  Bench bench;

  EXPECT_EQ(bench.sh("systemctl is-active nvidia-fabricmanager").out, "active\n");
  EXPECT_EQ(bench.sh("systemctl is-active no-such-unit").status, 3);
  EXPECT_THAT(bench.sh("chronyc tracking").out, HasSubstr("Leap status     : Normal"));
  EXPECT_THAT(bench.sh("ip -br link show").out, HasSubstr("ib0"));
  EXPECT_THAT(bench.sh("cat /proc/driver/nvidia/version").out, HasSubstr("590.48.01"));
}

TEST(Services, AStoppedTimeServiceIsStoppedWhereverItIsAskedFor) {
  Bench healthy, stopped{{{.kind = FaultKind::time_service_off}}};

  EXPECT_EQ(healthy.sh("systemctl is-active chronyd").out, "active\n");
  EXPECT_EQ(stopped.sh("systemctl is-active chronyd").out, "inactive\n");
  EXPECT_EQ(stopped.sh("chronyc tracking").err, "506 Cannot talk to daemon\n");
  EXPECT_THAT(healthy.sh("cupel-node facts").out, HasSubstr(R"("keeper":"chronyd")"));
  EXPECT_THAT(stopped.sh("cupel-node facts").out, HasSubstr(R"("keeper":"none")"));
}

}  // namespace
}  // namespace cupel::rehearsal
