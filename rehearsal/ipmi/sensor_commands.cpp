// IPMI 2.0, 35: sensors.
#include "rehearsal/ipmi/device.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kSensorEvent = 0x04;

const Sensor* readable(Device& device, const Request& request) {
  const auto* sensor = device.sensor(request.data[0]);
  return sensor == nullptr || sensor->event_only() ? nullptr : sensor;
}

/// 35.14. While it cannot be read: bit 5, and the other bytes mean nothing.
Reply sensor_reading(Device& device, const Request& request) {
  constexpr std::uint8_t kScanning = 0xC0, kUnavailable = 0x20, kReserved = 0xC0, kReserved2 = 0x80;
  const auto* sensor = readable(device, request);
  if (sensor == nullptr) return Completion::not_present;
  const bool can_read = sensor->standby || device.machine.power() == Power::on;
  if (!sensor->analog()) {
    if (!can_read) return Bytes{0, kScanning | kUnavailable, 0, kReserved2};
    const auto states = sensor->states(device.machine);
    return Bytes{0, kScanning, static_cast<std::uint8_t>(states & 0xFF),
                 static_cast<std::uint8_t>(kReserved2 | states >> 8)};
  }
  const auto raw = reading(*sensor, device.machine);
  if (!raw) return Bytes{0, kScanning | kUnavailable, kReserved};
  return Bytes{*raw, kScanning, static_cast<std::uint8_t>(kReserved | crossed(*sensor, *raw))};
}

Reply thresholds(Device& device, const Request& request) {
  const auto* sensor = readable(device, request);
  if (sensor == nullptr) return Completion::not_present;
  if (!sensor->analog()) return Completion::invalid_field;
  Bytes data{threshold_mask(*sensor)};
  put(data, raw_thresholds(*sensor));
  return data;
}

Reply hysteresis(Device& device, const Request& request) {
  const auto* sensor = readable(device, request);
  if (sensor == nullptr) return Completion::not_present;
  return Bytes{0, 0};
}

Reply event_enable(Device& device, const Request& request) {
  constexpr std::uint8_t kScanning = 0xC0;
  if (readable(device, request) == nullptr) return Completion::not_present;
  return Bytes{kScanning, 0, 0, 0, 0};
}

/// 35.13.
Reply event_status(Device& device, const Request& request) {
  constexpr std::uint8_t kScanning = 0xC0;
  if (readable(device, request) == nullptr) return Completion::not_present;
  return Bytes{kScanning, 0, 0, 0, 0};
}

Reply sensor_type(Device& device, const Request& request) {
  const auto* sensor = device.sensor(request.data[0]);
  if (sensor == nullptr) return Completion::not_present;
  return Bytes{static_cast<std::uint8_t>(sensor->type), sensor->event_type};
}

constexpr auto kUser = Privilege::user;

constexpr std::array<Command, 6> kTable{{
    {kSensorEvent, 0x25, kUser, 2, 2, hysteresis},
    {kSensorEvent, 0x27, kUser, 1, 1, thresholds},
    {kSensorEvent, 0x29, kUser, 1, 1, event_enable},
    {kSensorEvent, 0x2B, kUser, 1, 1, event_status},
    {kSensorEvent, 0x2D, kUser, 1, 1, sensor_reading},
    {kSensorEvent, 0x2F, kUser, 1, 1, sensor_type},
}};

}  // namespace

std::span<const Command> sensor_commands() { return kTable; }

}  // namespace cupel::rehearsal::ipmi
