// IPMI 2.0, 31: the event log.
#include "rehearsal/ipmi/device.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kStorage = 0x0A;
constexpr std::uint8_t kVersion = 0x51;
constexpr std::uint8_t kWholeRecord = 0xFF;

Reply sel_info(Device& device, const Request&) {
  constexpr unsigned kDeleteReserveAllocation = 0x0B, kOverflow = 0x80;
  const auto& sel = device.sel;
  Bytes data{kVersion};
  put16(data, static_cast<unsigned>(sel.size()));
  put16(data, static_cast<unsigned>((Sel::kMost - sel.size()) * Sel::kRecord));
  put32(data, sel.last_added());
  put32(data, sel.last_erased());
  put8(data, kDeleteReserveAllocation | (sel.overflowed() ? kOverflow : 0u));
  return data;
}

Reply allocation(Device& device, const Request&) {
  const auto free = static_cast<unsigned>(Sel::kMost - device.sel.size());
  Bytes data;
  put16(data, Sel::kMost);
  put16(data, Sel::kRecord);
  put16(data, free);
  put16(data, free);
  put8(data, 1);
  return data;
}

Reply reserve(Device& device, const Request&) {
  Bytes data;
  put16(data, device.sel.reserve());
  return data;
}

/// 31.5. A piece from the middle needs the reservation.
Reply entry(Device& device, const Request& request) {
  Reader reader{request.data};
  const auto reservation = reader.u16(), id = reader.u16();
  const auto offset = reader.u8(), count = reader.u8();
  const bool partial = offset != 0 || reservation != 0;
  if (partial && !device.sel.reserved(reservation)) return Completion::reservation_cancelled;
  const auto* record = device.sel.at(id);
  if (record == nullptr) return Completion::not_present;
  const std::size_t most = Sel::kRecord - std::min<std::size_t>(offset, Sel::kRecord);
  if (most == 0 || (count != kWholeRecord && count > most)) return Completion::out_of_range;
  Bytes data;
  put16(data, device.sel.after(id));
  put(data, View{*record}.subspan(offset, std::min<std::size_t>(count, most)));
  return data;
}

Reply add(Device& device, const Request& request) {
  Sel::Record record{};
  std::ranges::copy(request.data, record.begin());
  Bytes data;
  put16(data, device.sel.add(record));
  return data;
}

Reply erase(Device& device, const Request& request) {
  Reader reader{request.data};
  const auto reservation = reader.u16(), id = reader.u16();
  if (!device.sel.reserved(reservation)) return Completion::reservation_cancelled;
  const auto* record = device.sel.at(id);
  if (record == nullptr) return Completion::not_present;
  Bytes data{(*record)[0], (*record)[1]};
  device.sel.erase(id);
  return data;
}

/// 31.9: "CLR" and what to do; the answer is how far it is. The first entry after it says so, as
/// this firmware does.
Reply clear(Device& device, const Request& request) {
  constexpr std::uint8_t kInitiate = 0xAA, kAskStatus = 0x00, kErasing = 0, kErased = 1;
  constexpr std::uint8_t kCleared = 0x02;
  Reader reader{request.data};
  const auto reservation = reader.u16();
  const auto word = reader.take(3);
  const auto action = reader.u8();
  const bool spelled = word[0] == 'C' && word[1] == 'L' && word[2] == 'R';
  if (!spelled || (action != kInitiate && action != kAskStatus)) return Completion::invalid_field;
  if (action == kAskStatus) return Bytes{device.sel.erasing(device.now()) ? kErasing : kErased};
  if (!device.sel.reserved(reservation)) return Completion::reservation_cancelled;
  device.sel.clear(device.now());
  device.log(SensorType::event_log, kSelSensor, kCleared);
  return Bytes{kErasing};
}

Reply time_of_sel(Device& device, const Request&) {
  Bytes data;
  put32(data, device.sel.time());
  return data;
}

Reply set_time(Device& device, const Request& request) {
  device.sel.set_time(Reader{request.data}.u32());
  return {};
}

Reply utc_offset(Device& device, const Request&) {
  Bytes data;
  put16(data, static_cast<std::uint16_t>(device.sel.utc_offset));
  return data;
}

Reply set_utc_offset(Device& device, const Request& request) {
  constexpr int kMostMinutes = 1440, kUnspecified = 0x7FF;
  const auto minutes = static_cast<std::int16_t>(Reader{request.data}.u16());
  const bool known = minutes == kUnspecified || std::abs(minutes) <= kMostMinutes;
  if (!known) return Completion::invalid_field;
  device.sel.utc_offset = minutes;
  return {};
}

constexpr auto kUser = Privilege::user;
constexpr auto kOperator = Privilege::operator_;

constexpr std::array<Command, 11> kTable{{
    {kStorage, 0x40, kUser, 0, 0, sel_info},
    {kStorage, 0x41, kUser, 0, 0, allocation},
    {kStorage, 0x42, kUser, 0, 0, reserve},
    {kStorage, 0x43, kUser, 6, 6, entry},
    {kStorage, 0x44, kOperator, 16, 16, add},
    {kStorage, 0x46, kOperator, 4, 4, erase},
    {kStorage, 0x47, kOperator, 6, 6, clear},
    {kStorage, 0x48, kUser, 0, 0, time_of_sel},
    {kStorage, 0x49, kOperator, 4, 4, set_time},
    {kStorage, 0x5C, kUser, 0, 0, utc_offset},
    {kStorage, 0x5D, kOperator, 2, 2, set_utc_offset},
}};

}  // namespace

std::span<const Command> sel_commands() { return kTable; }

}  // namespace cupel::rehearsal::ipmi
