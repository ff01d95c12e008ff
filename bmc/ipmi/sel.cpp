#include "bmc/ipmi/sel.h"

namespace cupel::bmc::ipmi {
namespace {

constexpr std::uint8_t kFirstOemTimed = 0xc0, kFirstOemUntimed = 0xe0;
constexpr std::uint32_t kUnspecified = 0xffffffff;
constexpr std::uint32_t kLargestBeforeSet = 0x20000000;  // 37: up to this, since the BMC's start

void set_time(SelRecord& record, std::uint32_t time) {
  if (time == kUnspecified) return;
  record.time = time;
  record.before_clock_was_set = time <= kLargestBeforeSet;
}

std::string bytes_as_text(View bytes) {
  std::string text;
  for (const auto each : bytes) text += (text.empty() ? "" : " ") + hex(each, 2).substr(2);
  return text;
}

}  // namespace

Result<SelRecord> parse_sel(View bytes) {
  Reader reader{bytes};
  SelRecord record{.id = reader.u16(), .type = reader.u8()};
  if (bytes.size() != 16) return Error{Code::kMalformed, "a SEL record is 16 bytes long"};
  if (record.type >= kFirstOemUntimed) {
    record.oem.assign(reader.rest().begin(), reader.rest().end());
    return record;
  }
  set_time(record, reader.u32());
  if (record.type >= kFirstOemTimed) {
    record.manufacturer = reader.u24();
    record.oem.assign(reader.rest().begin(), reader.rest().end());
    return record;
  }
  record.generator = reader.u8();
  record.generator_unit = reader.u8() & 3;
  reader.u8();  // version of the event message
  record.sensor_type = reader.u8();
  record.sensor = reader.u8();
  const auto direction = reader.u8();
  record.deasserted = (direction & 0x80) != 0;
  record.reading = direction & 0x7f;
  for (auto& each : record.data) each = reader.u8();
  return record;
}

std::string text_of(const SelRecord& record) {
  if (!record.is_event()) {
    auto text = "OEM record " + hex(record.type, 2) + ": " + bytes_as_text(record.oem);
    if (record.manufacturer != 0) text += " (IANA " + std::to_string(record.manufacturer) + ")";
    return text;
  }
  const auto state = state_of(record.reading, record.sensor_type, record.offset());
  std::string text = state ? state->words
                           : "event type " + hex(record.reading, 2) + ", state " +
                                 std::to_string(record.offset()) + ", data " +
                                 bytes_as_text(record.data);
  if (record.deasserted) text += " (deasserted)";
  return text;
}

std::string severity_of(const SelRecord& record) {
  if (!record.is_event()) return {};
  const auto state = state_of(record.reading, record.sensor_type, record.offset());
  if (!state) return {};
  if (record.deasserted || state->severity == 0) return "OK";
  return state->severity == 'C' ? "Critical" : "Warning";
}

}  // namespace cupel::bmc::ipmi
