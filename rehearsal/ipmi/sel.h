#pragma once
// The System Event Log of one virtual BMC: a ring, so that the newest are always there. Source:
// IPMI 2.0, 31 and 32.1.
#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <optional>

#include "rehearsal/ipmi/bytes.h"
#include "rehearsal/ipmi/session.h"

namespace cupel::rehearsal::ipmi {

/// What a sensor has to say. 32.1, table 32-1.
struct SensorEvent {
  std::uint8_t sensor_type = 0, sensor = 0;
  std::uint8_t event_type = 0x6F;  // 6Fh: as the sensor's type defines it
  bool asserted = true;
  std::uint8_t data_1 = 0, data_2 = 0xFF, data_3 = 0xFF;
};

class Sel {
 public:
  static constexpr std::size_t kMost = 512;
  static constexpr std::size_t kRecord = 16;
  using Record = std::array<std::uint8_t, kRecord>;

  /// `clock`: seconds since 1970 as the machine has them.
  explicit Sel(std::function<double()> clock) : clock_{std::move(clock)} {}

  std::uint32_t time() const;
  void set_time(std::uint32_t seconds);
  std::int16_t utc_offset = 0x7FF;  // 31.11a: not specified

  void log(const SensorEvent& event);
  /// Its number and, for a record with one, its time are the log's own. Returns the number.
  std::uint16_t add(Record record);
  /// 0: the first, FFFFh: the last.
  const Record* at(std::uint16_t id) const;
  /// FFFFh behind the last.
  std::uint16_t after(std::uint16_t id) const;
  bool erase(std::uint16_t id);
  void clear(Moment now);
  bool erasing(Moment now) const { return now < erased_at_; }

  std::size_t size() const { return records_.size(); }
  bool overflowed() const { return overflowed_; }
  std::uint32_t last_added() const { return last_added_; }
  std::uint32_t last_erased() const { return last_erased_; }

  std::uint16_t reserve();
  bool reserved(std::uint16_t reservation) const {
    return reservation != 0 && reservation == reservation_;
  }
  void cancel_reservation() { reservation_ = 0; }

 private:
  std::function<double()> clock_;
  double ahead_ = 0;  // of the machine's clock
  std::deque<Record> records_{};
  std::uint16_t next_id_ = 1;
  std::uint16_t reservation_ = 0, last_reservation_ = 0;
  std::uint32_t last_added_ = 0, last_erased_ = 0;
  Moment erased_at_{};
  bool overflowed_ = false;
};

}  // namespace cupel::rehearsal::ipmi
