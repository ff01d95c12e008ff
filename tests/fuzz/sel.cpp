// Any bytes as a record of the system event log, and as the line that it becomes.
#include "bmc/ipmi/event_log.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel::bmc::ipmi;
  const auto record = parse_sel({data, size});
  if (!record) return 0;
  Repository known;
  known.sensors.push_back({.owner = 0x20, .number = 0x30, .share = 15, .name = "fan"});
  const auto entry = entry_of(*record, known, std::chrono::minutes{60});
  if (entry.message.empty()) __builtin_trap();
  return 0;
}
