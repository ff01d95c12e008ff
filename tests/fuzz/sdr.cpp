// Any bytes as a sensor data record, and a reading of what came out.
#include "bmc/ipmi/sensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel::bmc::ipmi;
  const View bytes{data, size};
  const auto record = parse_sdr(bytes);
  if (!record) return 0;
  const auto* sensor = std::get_if<SensorRecord>(&*record);
  if (sensor == nullptr) return 0;
  (void)sensor->unit.text();
  (void)understood(*sensor, bytes.last(std::min<std::size_t>(size, 4)), sensor->thresholds);
  (void)understood(*sensor, bytes, parse_thresholds(bytes));
  return 0;
}
