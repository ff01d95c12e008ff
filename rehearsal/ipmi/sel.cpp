#include "rehearsal/ipmi/sel.h"

#include <algorithm>

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kSystemEvent = 0x02;
constexpr std::uint8_t kFirstWithoutTime = 0xE0;  // table 32-2 and 32-3
constexpr std::uint16_t kLast = 0xFFFF;

std::uint16_t id_of(const Sel::Record& record) {
  return static_cast<std::uint16_t>(record[0] | record[1] << 8);
}

}  // namespace

std::uint32_t Sel::time() const { return static_cast<std::uint32_t>(clock_() + ahead_); }
void Sel::set_time(std::uint32_t seconds) { ahead_ = seconds - clock_(); }

void Sel::log(const SensorEvent& event) {
  constexpr std::uint8_t kBmc = 0x20, kRevision = 0x04, kDeasserted = 0x80;
  const auto direction = static_cast<std::uint8_t>(event.asserted ? 0 : kDeasserted);
  add({0, 0, kSystemEvent, 0, 0, 0, 0, kBmc, 0, kRevision, event.sensor_type, event.sensor,
       static_cast<std::uint8_t>(event.event_type | direction), event.data_1, event.data_2,
       event.data_3});
}

std::uint16_t Sel::add(Record record) {
  const auto id = next_id_++;
  if (next_id_ == kLast) next_id_ = 1;
  record[0] = static_cast<std::uint8_t>(id & 0xFF);
  record[1] = static_cast<std::uint8_t>(id >> 8);
  last_added_ = time();
  if (record[2] < kFirstWithoutTime)
    for (std::size_t i = 0; i < 4; ++i)
      record[3 + i] = static_cast<std::uint8_t>(last_added_ >> (8 * i));
  if (records_.size() >= kMost) {
    records_.pop_front();
    overflowed_ = true;
  }
  records_.push_back(record);
  return id;
}

const Sel::Record* Sel::at(std::uint16_t id) const {
  if (records_.empty()) return nullptr;
  if (id == 0) return &records_.front();
  if (id == kLast) return &records_.back();
  const auto found = std::ranges::find(records_, id, id_of);
  return found == records_.end() ? nullptr : &*found;
}

std::uint16_t Sel::after(std::uint16_t id) const {
  if (id == kLast || records_.empty()) return kLast;
  auto found = id == 0 ? records_.begin() : std::ranges::find(records_, id, id_of);
  if (found == records_.end() || ++found == records_.end()) return kLast;
  return id_of(*found);
}

bool Sel::erase(std::uint16_t id) {
  const auto* record = at(id);
  if (record == nullptr) return false;
  const auto exact = id_of(*record);
  std::erase_if(records_, [&](const Record& each) { return id_of(each) == exact; });
  last_erased_ = time();
  cancel_reservation();
  return true;
}

void Sel::clear(Moment now) {
  constexpr std::chrono::milliseconds kErasing{200};
  records_.clear();
  overflowed_ = false;
  last_erased_ = time();
  erased_at_ = now + kErasing;
  cancel_reservation();
}

std::uint16_t Sel::reserve() {
  if (++last_reservation_ == 0) ++last_reservation_;
  return reservation_ = last_reservation_;
}

}  // namespace cupel::rehearsal::ipmi
