// How long it takes until the last of many machines has fetched its image.
#include "orchestrator/os/image_forecast.h"

#include <gtest/gtest.h>

namespace cupel::os {
namespace {

using std::chrono::seconds;

TEST(ImageForecast, IsWhatTheUplinkTakesForAll) {
  EXPECT_EQ(least_time_of({.bytes_of_rack = {{"a", 1'000'000'000'000}}, .uplink = 1.25e9}),
            seconds{800});
}

TEST(ImageForecast, IsWhatTheFullestRackTakesWhereThatIsLonger) {
  EXPECT_EQ(
      least_time_of(
          {.bytes_of_rack = {{"a", 9'000}, {"b", 1'000}}, .uplink = 1'000, .rack_uplink = 500}),
      seconds{18});
}

TEST(ImageForecast, CountsARackWithAMirrorOnce) {
  ImageTraffic traffic{.uplink = 100};
  for (int i = 0; i < 8; ++i) {
    add_machine(traffic, "a", 1'000, true);
    add_machine(traffic, "b", 1'000, false);
  }

  EXPECT_EQ(least_time_of(traffic), seconds{90});
}

TEST(ImageForecast, IsNothingWithoutALimit) {
  EXPECT_EQ(least_time_of({.bytes_of_rack = {{"a", 9'000}}}), seconds{0});
}

}  // namespace
}  // namespace cupel::os
