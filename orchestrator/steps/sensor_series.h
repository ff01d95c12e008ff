#pragma once
// What the BMC of one node measured while a stage ran, for the record: from the readings that the
// controller makes anyway of what loaded nodes draw. Lost with the process; a stage that is found
// again begins anew.
#include <chrono>

#include "bmc/sensor.h"
#include "burnin/time_series.h"

namespace cupel::steps {

class SensorSeries {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit SensorSeries(Time begin) : begin_{begin} {}

  /// The machine's power, then its sensors with a number: power, temperatures, others; the first 24
  /// of them all. A sensor whose health becomes worse is a fault.
  void take(const bmc::Sensors& sensors, Time now);
  const burnin::SeriesRecorder& recorder() const { return recorder_; }

 private:
  void note_health(const bmc::Sensor& sensor, double seconds);

  Time begin_;
  /// A reading a minute: some 45 kB of memory for a node, however long the stage lasts.
  burnin::SeriesRecorder recorder_{
      {.series = 24, .spans = 64, .around = 24, .faults = 16, .reach = 300, .finest = 60}};
  std::map<std::string, int> health_{};  // of the sensors, from 0: OK
};

}  // namespace cupel::steps
