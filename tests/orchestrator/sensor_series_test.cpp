#include "orchestrator/steps/sensor_series.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace cupel::steps {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

bmc::Sensor sensor(std::string name, bmc::SensorKind kind, double value,
                   std::string health = "OK") {
  bmc::Sensor one;
  one.name = std::move(name);
  one.kind = kind;
  one.value = value;
  one.unit = kind == bmc::SensorKind::temperature ? "°C" : "W";
  one.health = std::move(health);
  return one;
}

TEST(SensorSeries, KeepsWhatTheBmcMeasuredSinceTheStageBegan) {
  const SensorSeries::Time begin{};
  SensorSeries series{begin};
  for (int minute = 1; minute <= 3; ++minute) {
    bmc::Sensors reported;
    reported.watts = 9000 + minute;
    reported.sensors = {sensor("Inlet", bmc::SensorKind::temperature, 20 + minute)};
    reported.sensors.push_back(sensor("Unread", bmc::SensorKind::temperature, 0));
    reported.sensors.back().value.reset();
    series.take(reported, begin + std::chrono::minutes{minute});
  }

  const auto all = series.recorder().all();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_THAT(all.at({"", "bmc.power", "W"}).spans,
              ElementsAre(burnin::SeriesSpan{60, 9001, 9001, 9001, 1},
                          burnin::SeriesSpan{120, 9002, 9002, 9002, 1},
                          burnin::SeriesSpan{180, 9003, 9003, 9003, 1}));
  EXPECT_EQ(all.at({"Inlet", "bmc.temperature", "°C"}).spans.back().most, 23);
  EXPECT_THAT(series.recorder().faults(), IsEmpty());
}

TEST(SensorSeries, KeepsEachReadingAroundASensorThatBecomesUnwell) {
  const SensorSeries::Time begin{};
  SensorSeries series{begin};
  for (int minute = 0; minute < 60; ++minute) {
    bmc::Sensors reported;
    reported.sensors = {
        sensor("PSU1", bmc::SensorKind::power, minute, minute >= 30 ? "Critical" : "OK")};
    series.take(reported, begin + std::chrono::minutes{minute});
  }

  EXPECT_THAT(series.recorder().faults(), ElementsAre(burnin::SeriesFault{1800, "PSU1: Critical"}));
  const auto around = series.recorder().all().begin()->second.around;
  ASSERT_THAT(around, SizeIs(11));
  EXPECT_EQ(around.front().value, 25);
  EXPECT_EQ(around.back().value, 35);
}

TEST(SensorSeries, PrefersPowerAndTemperaturesWhereThereAreTooMany) {
  const SensorSeries::Time begin{};
  SensorSeries series{begin};
  bmc::Sensors reported;
  reported.watts = 9000;
  for (int i = 0; i < 5000; ++i)
    reported.sensors.push_back(
        sensor(std::string(2000, '\x1b') + fmt::format("fan {}", i), bmc::SensorKind::fan, i));
  reported.sensors[20] = sensor("Inlet", bmc::SensorKind::temperature, 21);
  reported.sensors[30] = sensor("PSU1", bmc::SensorKind::power, 1500);
  for (int minute = 0; minute < 3; ++minute)
    series.take(reported, begin + std::chrono::minutes{minute});

  const auto all = series.recorder().all();
  EXPECT_THAT(all, SizeIs(::testing::Le(24)));
  EXPECT_TRUE(all.contains({"PSU1", "bmc.power", "W"}));
  EXPECT_TRUE(all.contains({"Inlet", "bmc.temperature", "°C"}));
  for (const auto& [name, one] : all) EXPECT_LE(name.part.size(), 60);
}

}  // namespace
}  // namespace cupel::steps
