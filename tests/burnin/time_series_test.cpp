// What becomes of samples in the record: spans with least, mean and most, single samples around
// faults, and bounds that hold whatever a node sends.
#include "burnin/time_series.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

#include "base/json.h"
#include "burnin/stage_series.h"
#include "tests/burnin/burn_said.h"
#include "tests/burnin/node_lines.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const SeriesName kPower{"gpu3", "gpu.power", "W"};

TEST(TimeSeries, KeepsLeastMeanAndMostOfEachSpan) {
  SeriesRecorder recorder{{.finest = 10}};
  for (int second = 0; second < 20; ++second) recorder.add(kPower, second, second < 10 ? 600 : 700);
  recorder.add(kPower, 20, 650);
  recorder.add(kPower, 21, 750);

  EXPECT_THAT(recorder.all().at(kPower).spans,
              ElementsAre(SeriesSpan{0, 600, 600, 600, 10}, SeriesSpan{10, 700, 700, 700, 10},
                          SeriesSpan{20, 650, 700, 750, 2}));
  EXPECT_THAT(recorder.all().at(kPower).around, IsEmpty());
}

TEST(TimeSeries, DoublesItsSpansWhereThereWouldBeTooManyAndLosesNoPeak) {
  SeriesRecorder recorder{{.spans = 100, .finest = 1}};
  for (int second = 0; second < 1000; ++second)
    recorder.add(kPower, second, second == 777 ? 990 : 600);

  const auto series = recorder.all().at(kPower);
  ASSERT_LE(series.spans.size(), 100);
  EXPECT_EQ(series.width, 16);
  std::uint32_t samples = 0;
  for (const auto& span : series.spans) {
    samples += span.samples;
    EXPECT_EQ(span.most, span.seconds == 768 ? 990 : 600);
  }
  EXPECT_EQ(samples, 1000);
}

TEST(TimeSeries, KeepsEachSampleFromThirtySecondsBeforeAFaultToThirtyAfter) {
  SeriesRecorder recorder;
  for (int second = 0; second < 500; ++second) {
    recorder.add(kPower, second, second);
    if (second == 200) recorder.fault(second, "gpu3: xid 79");
  }

  const auto around = recorder.all().at(kPower).around;
  ASSERT_THAT(around, SizeIs(61));
  for (std::size_t i = 0; i < around.size(); ++i)
    EXPECT_EQ(around[i], (Sample{170.F + static_cast<float>(i), 170.F + static_cast<float>(i)}));
  EXPECT_THAT(recorder.faults(), ElementsAre(SeriesFault{200, "gpu3: xid 79"}));
}

TEST(TimeSeries, BoundsSeriesSamplesAndFaults) {
  SeriesRecorder recorder{{.series = 3, .spans = 8, .around = 50, .faults = 4}};
  for (int second = 0; second < 2000; ++second) {
    for (int part = 0; part < 5; ++part)
      recorder.add({fmt::format("gpu{}", part), "x", ""}, second, second);
    recorder.fault(second, "flood");
  }

  EXPECT_THAT(recorder.all(), SizeIs(3));
  EXPECT_EQ(recorder.left_out(), 4000);
  EXPECT_THAT(recorder.faults(), SizeIs(4));
  for (const auto& [name, series] : recorder.all()) {
    EXPECT_LE(series.spans.size(), 8);
    EXPECT_THAT(series.around, SizeIs(50));
  }
}

TEST(TimeSeries, LeavesOutWhatIsNoNumberOrNoTime) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  SeriesRecorder recorder;
  for (const double value : {kNone, 1e300, -1e300, HUGE_VAL}) recorder.add(kPower, 1, value);
  for (const double second : {kNone, -1.0, 1e12, HUGE_VAL}) {
    recorder.add(kPower, second, 600);
    recorder.fault(second, "never");
  }
  EXPECT_TRUE(recorder.empty());
  EXPECT_THAT(recorder.faults(), IsEmpty());

  recorder.add(kPower, 100, 600);
  recorder.add(kPower, 50, 900);  // a clock that was set back
  EXPECT_THAT(recorder.all().at(kPower).spans, ElementsAre(SeriesSpan{100, 600, 600, 600, 1}));
}

SeriesRecorder read(std::string_view stage_name, std::string text) {
  SeriesRecorder recorder;
  add_series(*stage(stage_name), profile(), {std::move(text), {}, 0, {}}, recorder);
  return recorder;
}

TEST(WatchSeries, NamesSamplesAsItsMeasuresAndTellsItsFaults) {
  const auto recorder = read("watch", std::string{kWatchLines});

  const auto all = recorder.all();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all.begin()->first.name, "gpu.power");
  EXPECT_EQ(all.begin()->first.unit, "W");
  EXPECT_THAT(all.begin()->second.spans, ElementsAre(SeriesSpan{0, 650, 650, 650, 1}));
  EXPECT_THAT(all.begin()->second.around, ElementsAre(Sample{0, 650}));
  ASSERT_THAT(recorder.faults(), SizeIs(2));
  EXPECT_THAT(recorder.faults()[0].what, ::testing::EndsWith(": xid 94"));
}

/// `extra`: what each second has besides the power of a GPU.
std::string watch_of(int seconds, const std::function<std::string(int)>& extra) {
  std::string text = R"({"kind":"watch","places":{}})"
                     "\n";
  for (int second = 0; second < seconds; ++second)
    text += fmt::format(R"({{"kind":"sample","seconds":{},"parts":{{"gpu0":{{"power":600{}}}}}}})"
                        "\n",
                        second, extra(second));
  return text;
}

TEST(WatchSeries, FindsFaultsInTheSamplesThemselves) {
  const auto recorder =
      read("watch", watch_of(300, [](int second) {
             return fmt::format(R"(,"ecc.uncorrected":{},"answers":{},"throttle":[{}])",
                                second >= 100 ? 6 : 4, second == 200 ? 0 : 1,
                                second >= 250 ? R"("power-cap","hw-thermal")" : R"("power-cap")");
           }));

  EXPECT_THAT(recorder.faults(), ElementsAre(SeriesFault{100, "gpu0: gpu.ecc.uncorrected.new"},
                                             SeriesFault{200, "gpu0: it does not answer"},
                                             SeriesFault{250, "gpu0: its clock is held back"}));
  // Since the watch began, not since the driver was loaded.
  const auto errors = recorder.all().at({"gpu0", "gpu.ecc.uncorrected.new", "errors"});
  EXPECT_EQ(errors.spans.front().most, 0);
  EXPECT_EQ(errors.spans.back().most, 2);
  EXPECT_THAT(errors.around, SizeIs(61 + 61 + 61 - 11));
}

TEST(WatchSeries, PutsLinesThatWerePrintedLateInTheirPlace) {
  std::string text = R"({"kind":"watch","places":{}})"
                     "\n";
  for (const int second : {0, 100, 98, 99, 101})
    text += fmt::format(R"({{"kind":"sample","seconds":{},"parts":{{"gpu0":{{"power":{}}}}}}})"
                        "\n",
                        second, second);

  const auto all = read("watch", text).all();
  EXPECT_THAT(all.begin()->second.spans,
              ElementsAre(SeriesSpan{0, 0, 0, 0, 1}, SeriesSpan{90, 98, 98.5, 99, 2},
                          SeriesSpan{100, 100, 100.5, 101, 2}));
}

TEST(WatchSeries, ReadsNothingOfWhatIsNoWatch) {
  for (const auto* text :
       {"", "{}", "{\"kind\":\"sample\"", R"({"kind":"sample","seconds":1,"parts":7})",
        R"({"kind":"sample","seconds":nan,"parts":{"gpu0":{"power":1}}})",
        R"({"kind":"sample","seconds":1,"parts":{"gpu0":{"power":"1","fan":[1]}}})"})
    EXPECT_TRUE(read("watch", std::string{R"({"kind":"watch"})"} + "\n" + text).empty()) << text;
}

TEST(BurnSeries, ReadsWhatTheDriverSampledOfEachGpu) {
  auto burn = good();
  burn.reasons = "0x0000000000000044";
  const auto recorder = read("gemm", burn.text());

  EXPECT_THAT(recorder.all(), SizeIs(8 * 4));
  EXPECT_EQ(recorder.all().at({"gpu3", "gpu.power", "W"}).spans.front().mean, 688.2F);
  EXPECT_THAT(recorder.faults(), SizeIs(8));
}

/// As cupel-node reports a tool: pieces while it ran, its evidence when it has ended.
std::string reported(const char* kind, const char* name, const std::string& out) {
  return fmt::format(R"({{"kind":"{}","name":"{}","status":0,"cut":false,"out":{}}})"
                     "\n",
                     kind, name, json::serialize(json::string(out)));
}

TEST(BurnSeries, ReadsSamplesOfAJobThatWasKilledToo) {
  const auto burn = good();
  const std::string begin = R"({"kind":"stage","stage":"cupel-burn","protocol":1})"
                            "\n"
                            R"({"kind":"asked","name":"seconds","value":60})"
                            "\n" +
                            reported("evidence", "gpus", burn.gpus_text()) +
                            reported("piece", "run", burn.run_text()) +
                            reported("piece", "samples", burn.samples_text());
  const auto ended = begin + reported("evidence", "run", "") +
                     reported("evidence", "samples", burn.samples_text()) +
                     R"({"kind":"done","status":0})"
                     "\n";

  const auto killed = read("gemm", begin).all(), whole = read("gemm", ended).all();

  EXPECT_THAT(killed, SizeIs(8 * 4));
  EXPECT_EQ(killed.at({"gpu3", "gpu.power", "W"}).spans.front().samples, 1);
  EXPECT_EQ(whole.at({"gpu3", "gpu.power", "W"}).spans.front().samples, 2);
  EXPECT_EQ(killed, read("gemm", good().text()).all());
}

TEST(BurnSeries, PutsRoundsAsFarApartAsTheScriptAskedFor) {
  auto text = good().text();
  const std::string mark = "cupel-section: samples\n";
  const auto begin = text.find(mark) + mark.size();
  const auto rows = text.substr(begin, text.find("cupel-section: kernel") - begin);
  text.insert(begin, rows + rows);

  const auto all = read("gemm", text).all();
  std::vector<float> times;
  for (const auto& span : all.at({"gpu0", "gpu.clock.sm", "MHz"}).spans)
    times.push_back(span.seconds);
  EXPECT_THAT(times, ElementsAre(0, 10));  // 0 and 5 s are in one span
}

}  // namespace
}  // namespace cupel::burnin
