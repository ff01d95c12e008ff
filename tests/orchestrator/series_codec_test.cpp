// Time series as they are kept beside the record: what is written is read back, a node's 72 hours
// stay below 2 MB, and documents that are not ours are refused.
#include "orchestrator/record/series_codec.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "orchestrator/engine/fold.h"
#include "tests/support/captures.h"
#include "tests/support/synthetic_fleet.h"

namespace cupel::record {
namespace {

using ::testing::SizeIs;

KeptSeries kept_of(const burnin::SeriesRecorder& recorder) {
  return {recorder.faults(), recorder.all(), recorder.left_out()};
}

/// A number as a sensor tells it, with noise.
double noisy(double typical, std::uint64_t series, int sample) {
  const auto draw = rehearsal::Draw{5}.of(series).of(static_cast<std::uint64_t>(sample));
  return std::round(typical * (1 + 0.02 * fleets::normal(draw)) * 100) / 100;
}

/// What one sample of a node has: eight GPUs and what its BMC measures.
std::vector<std::pair<burnin::SeriesName, double>> node_series() {
  std::vector<std::pair<burnin::SeriesName, double>> all;
  for (int gpu = 0; gpu < 8; ++gpu) {
    const auto part = fmt::format("gpu{}", gpu);
    all.push_back({{part, "gpu.power", "W"}, 680});
    all.push_back({{part, "gpu.temperature", "C"}, 66});
    all.push_back({{part, "gpu.temperature.memory", "C"}, 80});
    all.push_back({{part, "gpu.clock.sm", "MHz"}, 1755});
  }
  for (int i = 0; i < 6; ++i) all.push_back({{fmt::format("psu{}", i), "bmc.power", "W"}, 1700});
  for (int i = 0; i < 40; ++i)
    all.push_back({{fmt::format("sensor {}", i), "bmc.temperature", "C"}, 45});
  for (int i = 0; i < 20; ++i) all.push_back({{fmt::format("fan{}", i), "bmc.fan", "RPM"}, 9000});
  return all;
}

TEST(SeriesCodec, KeepsThreeDaysOfANodeBelowTwoMegabytesWithEachSampleAroundFaults) {
  constexpr int kSeconds = 72 * 3600, kFault = 100'000;
  const auto series = node_series();
  burnin::SeriesRecorder recorder;
  int samples = 0;
  // Every minute, as in a burn of days; each second where one is near a fault.
  for (int second = 0; second < kSeconds; ++second) {
    const bool near = std::abs(second - kFault) <= 60;
    if (!near && second % 60 != 0) continue;
    for (std::size_t i = 0; i < series.size(); ++i)
      recorder.add(series[i].first, second, noisy(series[i].second, i, second));
    if (second == kFault) recorder.fault(second, "gpu3: xid 79");
    ++samples;
  }

  const auto text = to_text(kept_of(recorder));

  EXPECT_LT(text.size(), 2'000'000);
  RecordProperty("bytes", std::to_string(text.size()));
  RecordProperty("samples", std::to_string(samples));
  std::printf("%zu series, %d samples of each: %zu bytes\n", series.size(), samples, text.size());
  const auto read = series_from(text);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->left_out, 0);
  ASSERT_THAT(read->series, SizeIs(98));
  for (const auto& [name, one] : read->series) {
    std::uint32_t counted = 0;
    for (const auto& span : one.spans) counted += span.samples;
    EXPECT_EQ(counted, samples);
    ASSERT_THAT(one.around, SizeIs(61));
    for (std::size_t i = 0; i < one.around.size(); ++i)
      EXPECT_EQ(one.around[i].seconds, kFault - 30 + static_cast<int>(i));
  }
}

/// As much as a recorder takes, of numbers that pack badly and names that are long.
burnin::SeriesRecorder hostile() {
  burnin::SeriesRecorder recorder;
  for (int i = 0; i < 700; ++i) {
    const burnin::SeriesName name{fmt::format("gpu{}{}", i, std::string(4000, '"')), "x\n", "\xff"};
    for (int sample = 0; sample < 600; ++sample) {
      recorder.add(name, sample * 30, -1.234567e-20 * sample * (sample % 2 == 0 ? 1 : -1e25));
      if (i == 0 && sample == 0) recorder.fault(0, std::string(100'000, 'x'));
    }
  }
  return recorder;
}

TEST(SeriesCodec, BoundsWhatANodeCanMakeItWrite) {
  const auto text = to_text(kept_of(hostile()));

  EXPECT_LE(text.size(), kMostSeriesBytes);
  const auto read = series_from(text);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_GT(read->left_out, 0);
  EXPECT_FALSE(read->series.empty());
}

TEST(SeriesCodec, ReadsWhatItHasWritten) {
  burnin::SeriesRecorder recorder{{.finest = 10}};
  for (int second = 0; second < 40; ++second) {
    recorder.add({"gpu0", "gpu.power", "W"}, second, 600 + second % 7);
    recorder.add({"mlx5_0", "ib.port.downed.new", "count"}, second, 0);
    if (second == 20) recorder.fault(second, "mlx5_0: \"down\"");
  }
  auto kept = kept_of(recorder);
  for (auto& [name, series] : kept.series)  // as many digits as are written
    for (auto& span : series.spans) span.mean = std::round(span.mean * 10) / 10;
  kept.left_out = 3;

  const auto read = series_from(to_text(kept));

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(*read, kept);
}

TEST(SeriesCodec, RefusesDocumentsThatAreNotItsOwn) {
  burnin::SeriesRecorder recorder;
  recorder.add({"gpu0", "gpu.power", "W"}, 1, 600);
  const auto text = to_text(kept_of(recorder));
  const auto with = [&](std::string_view from, std::string_view to) {
    auto changed = text;
    const auto at = changed.find(from);
    EXPECT_NE(at, changed.npos) << from;
    return changed.replace(at, from.size(), to);
  };
  for (const auto& changed :
       {std::string{}, std::string{"[]"}, text.substr(0, text.size() / 2),
        std::string(kMostSeriesBytes + 1, ' '), with("\"format\":1", "\"format\":2"),
        with("time series", "fleet reference"), with("\"samples\":[1]", "\"samples\":[1,1]"),
        with("\"samples\":[1]", "\"samples\":[-1]"), with("\"mean\":[600]", "\"mean\":[\"600\"]"),
        with("\"series\":[", "\"series\":7,\"x\":[")}) {
    const auto read = series_from(changed);
    ASSERT_FALSE(read) << changed.substr(0, 200);
    EXPECT_EQ(read.error().code, Code::kMalformed);
  }
}

TEST(SeriesCodec, WritesALineForEachSpanAndEachSampleAroundFaults) {
  burnin::SeriesRecorder recorder{{.finest = 10}};
  recorder.add({"=cmd", "gpu.power", "W"}, 0, 600);
  recorder.add({"=cmd", "gpu.power", "W"}, 5, 700.5);
  recorder.fault(5, "x");

  EXPECT_EQ(series_csv({{"watch", kept_of(recorder)}}),
            "stage,part,name,unit,seconds,least,mean,most,samples\n"
            "watch,'=cmd,gpu.power,W,0,600,650.25,700.5,2\n"
            "watch,'=cmd,gpu.power,W,0,600,600,600,0\n"
            "watch,'=cmd,gpu.power,W,5,700.5,700.5,700.5,0\n");
}

engine::Event event(engine::EventKind kind, boost::json::object data = {}) {
  engine::Event one;
  one.kind = kind;
  one.node = "n1";
  one.step = "watch";
  one.data = std::move(data);
  return one;
}

TEST(SeriesOfARecord, AreFoundByTheHashInTheEventThatEndedTheStage) {
  const test::TemporaryFolder folder;
  const auto store = store::Store::open(folder.path()).value();
  burnin::SeriesRecorder recorder;
  recorder.add({"gpu0", "gpu.power", "W"}, 1, 600);
  const auto hash = store->keep_evidence(to_text(kept_of(recorder))).value();
  const std::string output(64, 'a');
  std::vector events{
      event(engine::EventKind::step_began),
      event(engine::EventKind::step_ended,
            {{"outcome", "done"}, {"evidence", output}, {"series", {{"evidence", hash}}}})};

  const auto record = record_of("n1", engine::fold(events));

  // Certificates list all of a record's evidence.
  EXPECT_EQ(record.evidence,
            (decltype(record.evidence){{"watch", output}, {"series@watch", hash}}));
  const auto series = series_of(*store, record);
  ASSERT_TRUE(series) << series.error().what;
  EXPECT_EQ(*series, (std::map<std::string, KeptSeries>{{"watch", kept_of(recorder)}}));
  auto other = record;
  other.evidence["series@watch"] = output;
  EXPECT_EQ(series_of(*store, other).error().code, Code::kNotFound);
}

TEST(SeriesOfARecord, AreNotThoseOfAnEarlierAttempt) {
  const auto end = [](boost::json::object data) {
    data["outcome"] = "failed";
    data["evidence"] = std::string(64, 'a');
    return event(engine::EventKind::step_ended, std::move(data));
  };
  const std::vector events{event(engine::EventKind::step_began),
                           end({{"series", {{"evidence", std::string(64, 'b')}}}}),
                           event(engine::EventKind::step_began), end({})};

  EXPECT_FALSE(record_of("n1", engine::fold(events)).evidence.contains("series@watch"));
}

}  // namespace
}  // namespace cupel::record
