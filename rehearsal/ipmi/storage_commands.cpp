// IPMI 2.0, 33 and 34: the SDR repository and FRU data.
#include "rehearsal/ipmi/device.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kStorage = 0x0A;
constexpr std::uint8_t kVersion = 0x51;
constexpr std::uint8_t kWholeRecord = 0xFF;
constexpr std::uint16_t kLast = 0xFFFF;

Reply sdr_info(Device& device, const Request&) {
  constexpr std::uint8_t kReserveAllocation = 0x23;
  Bytes data{kVersion};
  put16(data, static_cast<unsigned>(device.sdr.size()));
  put16(data, 0);
  put32(data, device.sdr_time);
  put32(data, 0);
  put8(data, kReserveAllocation);
  return data;
}

Reply sdr_allocation(Device& device, const Request&) {
  constexpr unsigned kUnit = 64;
  Bytes data;
  put16(data, static_cast<unsigned>(device.sdr.size()));
  put16(data, kUnit);
  put16(data, 0);
  put16(data, 0);
  put8(data, 1);
  return data;
}

Reply sdr_reserve(Device& device, const Request&) {
  if (++device.last_sdr_reservation == 0) ++device.last_sdr_reservation;
  device.sdr_reservation = device.last_sdr_reservation;
  Bytes data;
  put16(data, device.sdr_reservation);
  return data;
}

/// 33.12. A piece from the middle needs the reservation; this BMC gives 32 bytes at once, as many
/// do.
Reply sdr(Device& device, const Request& request) {
  constexpr std::size_t kMostAtOnce = 32;
  Reader reader{request.data};
  const auto reservation = reader.u16(), id = reader.u16();
  const std::size_t offset = reader.u8(), count = reader.u8();
  const bool partial = offset != 0 || reservation != 0;
  const bool reserved = reservation != 0 && reservation == device.sdr_reservation;
  if (partial && !reserved) return Completion::reservation_cancelled;
  const auto records = device.sdr.size();
  const std::size_t index = id == 0 ? 0 : id == kLast ? records - 1 : id - 1u;
  if (index >= records) return Completion::not_present;
  const auto& record = device.sdr[index];
  if (offset >= record.size()) return Completion::out_of_range;
  const auto rest = record.size() - offset;
  if (count != kWholeRecord && count > rest) return Completion::out_of_range;
  const auto requested = count == kWholeRecord ? rest : count;
  if (requested > kMostAtOnce) return Completion::too_many_bytes;
  Bytes data;
  put16(data, index + 1 == records ? kLast : static_cast<unsigned>(index + 2));
  put(data, View{record}.subspan(offset, requested));
  return data;
}

Reply sdr_time(Device& device, const Request&) {
  Bytes data;
  put32(data, device.sel.time());
  return data;
}

const Fru* fru_of(Device& device, std::uint8_t id) {
  const auto found = std::ranges::find(device.frus, id, &Fru::id);
  return found == device.frus.end() || found->bytes.empty() ? nullptr : &*found;
}

Reply fru_info(Device& device, const Request& request) {
  constexpr std::uint8_t kByBytes = 0;
  const auto* fru = fru_of(device, request.data[0]);
  if (fru == nullptr) return Completion::not_present;
  Bytes data;
  put16(data, static_cast<unsigned>(fru->bytes.size()));
  put8(data, kByBytes);
  return data;
}

Reply fru_data(Device& device, const Request& request) {
  constexpr std::size_t kMostAtOnce = 64;
  Reader reader{request.data};
  const auto* fru = fru_of(device, reader.u8());
  const std::size_t offset = reader.u16(), count = reader.u8();
  if (fru == nullptr) return Completion::not_present;
  if (offset >= fru->bytes.size()) return Completion::out_of_range;
  if (count > kMostAtOnce) return Completion::too_many_bytes;
  const auto piece = View{fru->bytes}.subspan(offset, std::min(count, fru->bytes.size() - offset));
  Bytes data{static_cast<std::uint8_t>(piece.size())};
  put(data, piece);
  return data;
}

/// 34.3: 80h: this one may not be written.
Reply write_fru(Device& device, const Request& request) {
  if (fru_of(device, request.data[0]) == nullptr) return Completion::not_present;
  return Completion::special_80;
}

constexpr auto kUser = Privilege::user;

constexpr std::array<Command, 8> kTable{{
    {kStorage, 0x10, kUser, 1, 1, fru_info},
    {kStorage, 0x11, kUser, 4, 4, fru_data},
    {kStorage, 0x12, Privilege::operator_, 4, 255, write_fru},
    {kStorage, 0x20, kUser, 0, 0, sdr_info},
    {kStorage, 0x21, kUser, 0, 0, sdr_allocation},
    {kStorage, 0x22, kUser, 0, 0, sdr_reserve},
    {kStorage, 0x23, kUser, 6, 6, sdr},
    {kStorage, 0x28, kUser, 0, 0, sdr_time},
}};

}  // namespace

std::span<const Command> storage_commands() { return kTable; }

}  // namespace cupel::rehearsal::ipmi
