// The table of faults: what a file may say of each, and when each is there.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "rehearsal/fault.h"
#include "rehearsal/rack_spec.h"

namespace cupel::rehearsal {
namespace {
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr std::string_view kHead =
    "rack: v01\nprofile: dgx-h100\nnodes: v01-n[01-02]\nbmc: 127.64.1.[1-2]\n"
    "ssh: 127.64.2.[1-2]\nfaults:\n";

std::string part_for(PartClass about) {
  switch (about) {
    case PartClass::none:
      return "";
    case PartClass::gpu:
      return ", part: gpu1";
    case PartClass::nvswitch:
      return ", part: nvswitch1";
    case PartClass::dimm:
      return ", part: dimm A2";
    case PartClass::drive:
      return ", part: nvme1";
    case PartClass::psu:
      return ", part: psu1";
    case PartClass::fan:
      return ", part: fan1";
    case PartClass::cpu:
      return ", part: cpu1";
    case PartClass::hca:
      return ", part: mlx5_1";
  }
  return "";
}

/// A value that each word takes, under the key that a file has for it.
const std::map<std::string_view, std::string_view>& samples() {
  static const std::map<std::string_view, std::string_view> all{
      {"size", "size: 32GiB"},
      {"for", "for: 20s"},
      {"cut", "after: 40s"},
      {"delay", "after: 1m"},
      {"period", "every: 5m"},
      {"errors", "errors: 7"},
      {"gen", "gen: 4"},
      {"width", "width: 8"},
      {"nth", "every: 4"},
      {"link", "link: 3"},
      {"sm", "sm: 17"},
      {"core", "core: 5"},
      {"code", "code: 62"},
      {"line", "line: \"NVRM: GPU {gpu5}: RmInitAdapter failed!\""},
      {"uplink", "uplink: 1"},
      {"way", "way: out"},
      {"index", "index: 5"},
      {"feed", "feed: 1"},
      {"celsius", "celsius: 12"},
      {"watts", "watts: 500"},
      {"share", "share: 0.5"},
      {"gbit", "gbit: 200"},
      {"percent", "percent: 97"},
      {"years", "years: -6"},
      {"version", "version: 1.2.3"},
      {"setting", "setting: LogicalProc"},
      {"value", "value: Disabled"},
      {"component", "component: HostBIOS_0"},
      {"name", "name: other"},
      {"field", "field: ecc.mode.pending"},
      {"mhz", "mhz: 1200"},
      {"mts", "mts: 4000"},
      {"severity", "severity: Critical"},
      {"message", "message: \"CPU0 thermal trip asserted\""},
      {"sensor", "sensor: Processor"},
      {"path", "path: /redfish/v1"},
      {"method", "method: GET"},
      {"status", "status: 503"},
      {"body", "body: no"},
      {"times", "times: 2"},
      {"late", "late: 2s"}};
  return all;
}

std::string with_for(const FaultRow& row) {
  const bool of_nodes = row.kind == FaultKind::cables_crossed || row.kind == FaultKind::pair_slow ||
                        row.about != PartClass::hca;
  return of_nodes ? "with: v01-n02" : "with: mlx5_2";
}

std::string line_for(const FaultRow& row) {
  auto text = fmt::format("  - {{node: v01-n01, fault: {}{}", row.name, part_for(row.about));
  for (auto word : cupel::words(row.words)) {
    if (word.ends_with('?')) word.remove_suffix(1);
    text += ", " + (word == "with" ? with_for(row) : std::string{samples().at(word)});
  }
  return text + "}\n";
}

class EveryFault : public ::testing::TestWithParam<FaultRow> {};

TEST_P(EveryFault, IsReadWithEveryWordThatItsRowHas) {
  std::vector<inventory::Problem> problems;

  const auto rack = parse_rack(std::string{kHead} + line_for(GetParam()), "rack.yaml", problems);

  ASSERT_TRUE(rack) << to_string(problems);
  ASSERT_EQ(rack->nodes[0].faults.size(), 1u);
  EXPECT_EQ(rack->nodes[0].faults[0].kind, GetParam().kind);
  EXPECT_EQ(rack->nodes[0].faults[0].part.empty(), GetParam().about == PartClass::none);
}

TEST_P(EveryFault, StandsInTheReadme) {
  std::ifstream file{SOURCE_DIR "/rehearsal/README.md"};
  std::stringstream text;
  text << file.rdbuf();

  EXPECT_THAT(text.str(), HasSubstr(fmt::format("`{}`", GetParam().name)));
}

INSTANTIATE_TEST_SUITE_P(Table, EveryFault, ::testing::ValuesIn(fault_table()),
                         [](const ::testing::TestParamInfo<FaultRow>& info) {
                           std::string name{info.param.name};
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(FaultTable, ALineOfTheKernelNamesPartsThatTheMachineHas) {
  std::vector<inventory::Problem> problems;

  parse_rack(
      std::string{kHead} + "  - {node: v01-n01, fault: kernel-line, line: \"nvme {nvme77}: x\"}\n",
      "rack.yaml", problems);

  EXPECT_THAT(to_string(problems), HasSubstr("has no line 'nvme77' for fault kernel-line"));
}

TEST(FaultTable, AFaultOfAGpuComesWithALoadOfGpusAlone) {
  std::vector<inventory::Problem> problems;

  parse_rack(std::string{kHead} +
                 "  - {node: v01-n01, fault: gpu-wrong-results, part: gpu1, under: disk}\n",
             "rack.yaml", problems);

  EXPECT_THAT(to_string(problems), HasSubstr("disk is no load of GPUs"));
}

TEST(FaultTable, AReportNamesAFieldAndAValueThatTheFieldTakes) {
  std::vector<inventory::Problem> problems;

  for (const auto* report :
       {"field: ecc.mode, value: Disabled", "field: ecc.mode.pending, value: off",
        "field: uuid, value: gpu9", "field: remapped_rows.correctable, value: many"})
    parse_rack(
        std::string{kHead} +
            fmt::format("  - {{node: v01-n01, fault: gpu-report, part: gpu1, {}}}\n", report),
        "rack.yaml", problems);

  const auto text = to_string(problems);
  for (const auto* message : {"gpu-report has no field 'ecc.mode'",
                              "ecc.mode.pending takes Enabled or Disabled, not 'off'",
                              "has no value 'gpu9' for fault gpu-report",
                              "remapped_rows.correctable takes a number, not 'many'"})
    EXPECT_THAT(text, HasSubstr(message));
}

TEST(FaultTable, HasOneRowForEachKindAndName) {
  std::set<FaultKind> kinds;
  std::set<std::string_view> names;

  for (const auto& row : fault_table()) {
    kinds.insert(row.kind);
    names.insert(row.name);
  }

  EXPECT_GE(kinds.size(), 60u);
  EXPECT_EQ(kinds.size(), fault_table().size());
  EXPECT_EQ(names.size(), fault_table().size());
}

TEST(Timing, WithoutAWordIsAlways) {
  const Timing always;

  EXPECT_TRUE(always.at(VirtualTime{0}));
  EXPECT_TRUE(always.at(VirtualTime{1e7}));
  EXPECT_EQ(always.next(VirtualTime{5}), std::nullopt);
}

TEST(Timing, ComesLateAndGoes) {
  const Timing once{.after = seconds{60}, .lasts = seconds{10}};

  EXPECT_FALSE(once.at(VirtualTime{59}));
  EXPECT_TRUE(once.at(VirtualTime{60}));
  EXPECT_FALSE(once.at(VirtualTime{70}));
  EXPECT_EQ(once.next(VirtualTime{0}), VirtualTime{60});
  EXPECT_EQ(once.next(VirtualTime{65}), VirtualTime{70});
  EXPECT_EQ(once.next(VirtualTime{71}), std::nullopt);
}

TEST(Timing, ComesBackAndCountsHowOften) {
  const Timing flaps{.after = seconds{100}, .every = seconds{30}, .lasts = seconds{2}};

  EXPECT_EQ(flaps.begun(VirtualTime{99}), 0);
  EXPECT_EQ(flaps.begun(VirtualTime{100}), 1);
  EXPECT_EQ(flaps.begun(VirtualTime{161}), 3);
  EXPECT_TRUE(flaps.at(VirtualTime{131}));
  EXPECT_FALSE(flaps.at(VirtualTime{133}));
  EXPECT_EQ(flaps.next(VirtualTime{131}), VirtualTime{132});
  EXPECT_EQ(flaps.next(VirtualTime{133}), VirtualTime{160});
}

TEST(ReadFaults, TakesWhenAFaultIsThere) {
  std::vector<inventory::Problem> problems;

  const auto rack = parse_rack(std::string{kHead} +
                                   "  - {node: v01-n01, fault: nvlink-down, part: gpu1, after: "
                                   "10m, every: 1m, for: 2s, under: collective}\n",
                               "rack.yaml", problems);

  ASSERT_TRUE(rack) << to_string(problems);
  EXPECT_EQ(rack->nodes[0].faults[0].timing, (Timing{.after = seconds{600},
                                                     .every = seconds{60},
                                                     .lasts = seconds{2},
                                                     .under = "collective"}));
}

TEST(ReadFaults, SaysWhatIsWrongWithWordsAndTimes) {
  std::vector<inventory::Problem> problems;

  const auto rack =
      parse_rack(std::string{kHead} +
                     "  - {node: v01-n01, fault: hca-flapping, part: mlx5_1, every: 1m}\n"
                     "  - {node: v01-n01, fault: gpu-hot, part: gpu1, under: gem}\n"
                     "  - {node: v01-n01, fault: hca-down, part: mlx5_1, under: collective}\n"
                     "  - {node: v01-n01, fault: gpu-power-capped, part: gpu1, watts: 5}\n"
                     "  - {node: v01-n01, fault: node-swapped, with: v01-n03}\n"
                     "  - {node: v01-n01, fault: cables-swapped, part: mlx5_0, with: mlx5_99}\n"
                     "  - {node: v01-n01, fault: gpu-ecc}\n",
                 "rack.yaml", problems);

  EXPECT_FALSE(rack);
  const auto text = to_string(problems);
  for (const auto* message :
       {"rack.yaml:7:", "less than every", "no load 'gem' (did you mean 'gemm'?)",
        "watts must be 50 to 3000, not 5", "no node 'v01-n03'", "no with 'mlx5_99'",
        "rack.yaml:13:", "fault gpu-ecc needs part", "fault hca-down cannot come with a load"})
    EXPECT_THAT(text, HasSubstr(message));
}

TEST(ReadFaults, SwapsTwoMachinesWhereOneIsNamed) {
  std::vector<inventory::Problem> problems;

  const auto rack =
      parse_rack(std::string{kHead} + "  - {node: v01-n01, fault: node-swapped, with: v01-n02}\n",
                 "rack.yaml", problems);

  ASSERT_TRUE(rack) << to_string(problems);
  EXPECT_EQ(rack->nodes[0].faults[0].other, "v01-n02");
  ASSERT_EQ(rack->nodes[1].faults.size(), 1u);
  EXPECT_EQ(rack->nodes[1].faults[0].other, "v01-n01");
}

}  // namespace
}  // namespace cupel::rehearsal
