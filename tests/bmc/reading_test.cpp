// Sensors, event logs and repeated audits of every machine that was captured. The figures were
// looked up in the captures' own files.
#include "bmc/redfish/event_log.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/sensors.h"
#include "bmc/redfish/spelling.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captured_fetch.h"

namespace cupel::bmc {
namespace {

struct Read {
  const char* machine;
  int temperatures, fans;  // rows of Thermal that are not Absent, or Sensors
  double watts;            // PowerControl[0] or EnvironmentMetrics; 0: not told
  int log_entries;         // in all event logs together, each once
};

void PrintTo(const Read& truth, std::ostream* out) { *out << truth.machine; }

const Read kRead[] = {
    {"supermicro", 36, 6, 2161, 591},
    {"dell", 5, 6, 614, 10},
    {"XL675d_A100", 53, 15, 894, 40},
    {"nvidia_dpu", 4, 0, 0, 0},
    {"nvidia-bluefield3-bmc-23.10", 3, 0, 0, 0},
    {"OpenBMC-stock", 0, 0, 0, 0},
    {"hpe-dl380a-gen11-ilo6-2xh100nvl", 29, 6, 565, 715},
    {"lenovo-sr670v2-xcc-1.40", 8, 10, 416, 468},
};

class Reading : public ::testing::TestWithParam<Read> {};

TEST_P(Reading, TellsWhatTheMachineMeasuresAndLogged) {
  CUPEL_NEED_CAPTURE(tree, GetParam().machine);
  asio::io_context io;
  test::CapturedFetch fetch{tree};

  const auto sensors = run_to_end(io, redfish::read_sensors(fetch, Deadline::in(60s)));
  io.restart();
  const auto log =
      run_to_end(io, redfish::read_event_log(fetch, std::nullopt, 100'000, Deadline::in(60s)));

  ASSERT_TRUE(sensors && log);
  const auto count = [&](SensorKind kind) {
    return std::ranges::count(sensors.assume_value().sensors, kind, &Sensor::kind);
  };
  EXPECT_EQ(count(SensorKind::temperature), GetParam().temperatures);
  EXPECT_EQ(count(SensorKind::fan), GetParam().fans);
  EXPECT_EQ(sensors.assume_value().watts.value_or(0), GetParam().watts);
  EXPECT_EQ(static_cast<int>(log.assume_value().entries.size()), GetParam().log_entries);
}

INSTANTIATE_TEST_SUITE_P(Captured, Reading, ::testing::ValuesIn(kRead), [](const auto& truth) {
  std::string name = truth.param.machine;
  for (char& c : name)
    if (c == '-' || c == '.') c = '_';
  return name;
});

TEST(Spelling, OfMacsIsOneAndJunkIsNone) {
  EXPECT_EQ(redfish::canonical_mac("5C-FF-35-FB-E6-E9"), "5c:ff:35:fb:e6:e9");
  EXPECT_EQ(redfish::canonical_mac("00620B4C284E"), "00:62:0b:4c:28:4e");
  for (const auto* junk :
       {"Not Available", "", "00:00:00:00:00:00", "FF:FF:FF:FF:FF:FF", "88e9:a4ff:ff87:42c8"})
    EXPECT_EQ(redfish::canonical_mac(junk), std::nullopt) << junk;
}

TEST(Spelling, OfVersionsLosesTheNameOfWhatTheyAreOf) {
  EXPECT_EQ(redfish::canonical_version("GB200Nvl-24.12-8"), "24.12-8");
  EXPECT_EQ(redfish::canonical_version("xx-1.2 "), "1.2");
  EXPECT_EQ(redfish::canonical_version("no valid golden_image_arm!!!!"), "");
}

TEST(Spelling, OfDatesThatAreNoneIsNoDate) {
  for (const auto* none : {"0000-00-00T00:00:00Z", "1970-01-01T00:00:20+00:00",
                           "9999-12-31T23:59:59Z", "2000-01-01T00:00:10+00:00", "TIME_NA"})
    EXPECT_EQ(redfish::moment_of(none), std::nullopt) << none;
  EXPECT_EQ(redfish::moment_of("2012-03-07T14:44+06:00"),
            redfish::moment_of("2012-03-07T08:44:00Z"));
  EXPECT_EQ(redfish::moment_of("2024-08-08T18:48:19"), redfish::moment_of("2024-08-08T18:48:19Z"));
}

/// What has to come again whole: what has no tag, and what tells the power state.
std::size_t bytes_without_tags(const std::filesystem::path& tree, const test::Asked& asked) {
  std::set<std::string> uris;
  for (const auto& line : asked.lines)
    if (line.starts_with("GET ")) uris.insert(line.substr(4));
  std::size_t bytes = 0;
  for (const auto& uri : uris) {
    const auto body = parse_json(test::captured_answer(tree, uri).value_or("{}"));
    if (!body) continue;
    const bool always =
        uri == "/redfish/v1" || uri == "/redfish/v1/Systems" || uri == "/redfish/v1/Systems/1";
    if (always || !text_at(body.assume_value(), "@odata.etag"))
      bytes += serialize(body.assume_value()).size();
  }
  return bytes;
}

TEST(SecondAudit, TransfersUnderATenthOfTheBytesThatHaveTags) {
  CUPEL_NEED_CAPTURE(tree, "supermicro");
  asio::io_context io;
  test::HttpsServer server{{.tree = tree}};
  redfish::Transport transport{io.get_executor()};
  RememberedKeys keys;
  redfish::MemoryCache cache;
  const inventory::BmcAccess access{
      .endpoint = server.endpoint(), .user = "admin", .password = {}, .trust = {}};
  const auto bmc =
      redfish::open(transport, "a01-n01", access, password_from("open sesame"), keys, {}, &cache);

  const auto first = run_to_end(io, bmc->observe(Deadline::in(60s)));
  const auto second = run_to_end(io, bmc->observe(Deadline::in(60s)));
  run_to_end(io, [](Bmc& one) -> Task<bool> {
    co_await one.log_out();
    co_return true;
  }(*bmc));

  ASSERT_TRUE(first && second);
  EXPECT_EQ(first.assume_value().parts, second.assume_value().parts);
  EXPECT_GT(second.assume_value().unchanged, 100);
  const auto untagged = bytes_without_tags(tree, server.asked());
  ASSERT_LT(untagged, first.assume_value().bytes / 2);  // most of them do
  const auto tagged = first.assume_value().bytes - untagged;
  EXPECT_LT(second.assume_value().bytes, untagged + tagged / 10);
  RecordProperty("first", static_cast<int>(first.assume_value().bytes));
  RecordProperty("second", static_cast<int>(second.assume_value().bytes));
}

}  // namespace
}  // namespace cupel::bmc
