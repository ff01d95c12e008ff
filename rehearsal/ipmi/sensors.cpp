#include "rehearsal/ipmi/sensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kInlet = 0x37, kProcessor = 0x03, kAddIn = 0x0B, kFan = 0x1D, kSupply = 0x0A,
                       kBoard = 0x07, kMemory = 0x20, kDriveBay = 0x0F, kSystem = 0x17;
constexpr std::size_t kMostOfAKind = 8;

std::uint8_t number_of(unsigned base, std::size_t index) {
  return static_cast<std::uint8_t>(base + index);
}
std::uint8_t instance_of(std::size_t index) { return static_cast<std::uint8_t>(index + 1); }

bool has_psu(const ManagedSystem& machine, const std::string& name) {
  return std::ranges::count(machine.hardware().psus, name, &Psu::name) > 0;
}

/// What the machine draws at the wall; Redfish's PowerWatts is the same.
double watts(const ManagedSystem& machine) { return machine.sensors().node_watts(); }

double watts_of_psu(const ManagedSystem& machine, const std::string& name) {
  return machine.sensors().psu_watts(name);
}

void add_temperatures(std::vector<Sensor>& all, const Hardware& whole) {
  all.push_back(
      {.number = 0x01,
       .name = "TEMP_AMBIENT",
       .entity = kInlet,
       .type = SensorType::temperature,
       .unit = Unit::celsius,
       .thresholds = {.upper_warning = 40, .upper_critical = 45},
       .standby = true,
       .value = [](const ManagedSystem& machine) { return machine.sensors().inlet_celsius(); }});
  for (std::size_t i = 0; i < std::min(whole.cpus.size(), kMostOfAKind); ++i)
    all.push_back({.number = number_of(0x02, i),
                   .name = fmt::format("TEMP_CPU{}", i),
                   .entity = kProcessor,
                   .instance = instance_of(i),
                   .type = SensorType::temperature,
                   .unit = Unit::celsius,
                   .thresholds = {.upper_warning = 90, .upper_critical = 96},
                   .value = [i](const ManagedSystem& machine) {
                     return machine.sensors().cpu_celsius(static_cast<int>(i));
                   }});
  for (std::size_t i = 0; i < std::min(whole.gpus.size(), kMostOfAKind); ++i)
    all.push_back(
        {.number = number_of(0x10, i),
         .name = fmt::format("TEMP_GPU_SXM_{}", i + 1),
         .entity = kAddIn,
         .instance = instance_of(i),
         .type = SensorType::temperature,
         .unit = Unit::celsius,
         .thresholds = {.upper_warning = 85, .upper_critical = 92},
         .value = [i](const ManagedSystem& machine) {
           const auto& gpus = machine.hardware().gpus;
           const bool there = (std::ranges::count(gpus, static_cast<int>(i), &Gpu::index) > 0);
           return there ? machine.sensors().gpu_celsius(static_cast<int>(i)) : std::nan("");
         }});
}

void add_fans(std::vector<Sensor>& all, const Hardware& whole) {
  for (std::size_t i = 0; i < std::min(whole.fans.size(), kMostOfAKind); ++i)
    all.push_back({.number = number_of(0x20, i),
                   .name = fmt::format("SPD_FAN_SYS{}_F", i),
                   .entity = kFan,
                   .instance = instance_of(i),
                   .type = SensorType::fan,
                   .unit = Unit::rpm,
                   .m = 100,
                   .thresholds = {.lower_warning = 1500, .lower_critical = 1000},
                   .value = [i](const ManagedSystem& machine) {
                     return machine.sensors().fan_rpm(static_cast<int>(i));
                   }});
}

void add_power(std::vector<Sensor>& all, const Hardware& whole) {
  constexpr double kEfficiency = 0.94;
  const auto add = [&](unsigned number, std::size_t index, std::string name, int m, auto value,
                       std::optional<double> most) {
    all.push_back({.number = number_of(number, index),
                   .name = std::move(name),
                   .entity = kSupply,
                   .instance = instance_of(index),
                   .type = SensorType::other_units,
                   .unit = Unit::watts,
                   .m = m,
                   .thresholds = {.upper_critical = most},
                   .standby = true,
                   .value = std::move(value)});
  };
  for (std::size_t i = 0; i < std::min(whole.psus.size(), kMostOfAKind); ++i) {
    const auto psu = whole.psus[i].name;
    add(
        0x30, i, fmt::format("PWR_PSU{}_IN", i), 15,
        [psu](const ManagedSystem& machine) { return watts_of_psu(machine, psu); }, 3300);
    add(
        0x38, i, fmt::format("PWR_PSU{}_OUT", i), 15,
        [psu](const ManagedSystem& machine) { return watts_of_psu(machine, psu) * kEfficiency; },
        3000);
  }
  all.push_back({.number = 0x40,
                 .name = "PWR_SYSTEM",
                 .entity = kSystem,
                 .type = SensorType::other_units,
                 .unit = Unit::watts,
                 .m = 60,
                 .standby = true,
                 .value = watts});
  all.push_back({.number = 0x48,
                 .name = "VOLT_12V",
                 .entity = kBoard,
                 .type = SensorType::voltage,
                 .unit = Unit::volts,
                 .m = 6,
                 .r_exp = -2,
                 .thresholds = {.lower_warning = 11.4,
                                .lower_critical = 10.8,
                                .upper_warning = 12.6,
                                .upper_critical = 13.2},
                 .value = [](const ManagedSystem&) { return 12.0; }});
}

/// Table 42-3: presence is state 0 of a power supply, input lost state 3; 42-2: full redundancy is
/// 0, lost is 1.
void add_supplies(std::vector<Sensor>& all, const Hardware& whole) {
  constexpr std::uint8_t kRedundancy = 0x0B;
  const auto bays = std::min(whole.psus.size(), kMostOfAKind);
  constexpr std::uint16_t kPresent = 1u << 0, kInputLost = 1u << 3;
  for (std::size_t i = 0; i < bays; ++i)
    all.push_back(
        {.number = number_of(kPsuSensor, i),
         .name = fmt::format("PSU{}_STATUS", i),
         .entity = kSupply,
         .instance = instance_of(i),
         .type = SensorType::power_supply,
         .event_type = 0x6F,
         .standby = true,
         .possible = 0x0B,
         .states = [psu = whole.psus[i].name](const ManagedSystem& machine) -> std::uint16_t {
           if (!has_psu(machine, psu)) return 0;
           const bool fed = machine.sensors().psu_has_input(psu);
           return static_cast<std::uint16_t>(fed ? kPresent : kPresent | kInputLost);
         }});
  if (bays == 0) return;
  all.push_back({.number = kRedundancySensor,
                 .name = "PSU_REDUNDANCY",
                 .entity = kSupply,
                 .instance = 0x60,
                 .type = SensorType::power_supply,
                 .event_type = kRedundancy,
                 .standby = true,
                 .possible = 0x03,
                 .states = [bays](const ManagedSystem& machine) -> std::uint16_t {
                   const auto fed = std::ranges::count_if(
                       machine.hardware().psus,
                       [&](const Psu& psu) { return machine.sensors().psu_has_input(psu.name); });
                   return static_cast<std::size_t>(fed) >= bays ? 1 : 2;
                 }});
}

void add_states(std::vector<Sensor>& all) {
  constexpr std::uint16_t kWorking = 1u << 0, kSoftOff = 1u << 5;
  all.push_back({.number = kAcpiSensor,
                 .name = "ACPI_STATE",
                 .entity = kSystem,
                 .type = SensorType::acpi,
                 .event_type = 0x6F,
                 .standby = true,
                 .possible = kWorking | kSoftOff,
                 .states = [](const ManagedSystem& machine) -> std::uint16_t {
                   return machine.power() == Power::on ? kWorking : kSoftOff;
                 }});
  const auto log_only = [&](std::uint8_t number, const char* name, std::uint8_t entity,
                            SensorType type) {
    all.push_back(
        {.number = number, .name = name, .entity = entity, .type = type, .event_type = 0x6F});
  };
  log_only(kDimmSensor, "DIMM", kMemory, SensorType::memory);
  log_only(kGpuEccSensor, "GPU_ECC", kAddIn, SensorType::memory);
  log_only(kDriveSensor, "NVME", kDriveBay, SensorType::drive_slot);
  log_only(kBootSensor, "BOOT", kSystem, SensorType::boot);
  log_only(kSelSensor, "SEL", kBoard, SensorType::event_log);
}

}  // namespace

std::uint8_t Sensor::raw(double reading) const {
  const double steps = reading / (m * std::pow(10.0, r_exp));
  return static_cast<std::uint8_t>(std::clamp(std::round(steps), 0.0, 255.0));
}

std::vector<Sensor> sensors_of(const Hardware& whole) {
  std::vector<Sensor> all;
  add_temperatures(all, whole);
  add_fans(all, whole);
  add_power(all, whole);
  add_supplies(all, whole);
  add_states(all);
  return all;
}

std::optional<std::uint8_t> reading(const Sensor& sensor, const ManagedSystem& machine) {
  const bool can_read = sensor.standby || machine.power() == Power::on;
  if (!can_read || !sensor.value) return std::nullopt;
  const double value = sensor.value(machine);
  if (std::isnan(value)) return std::nullopt;
  return sensor.raw(value);
}

std::uint8_t crossed(const Sensor& sensor, std::uint8_t raw) {
  const auto& limits = sensor.thresholds;
  unsigned bits = 0;
  if (limits.lower_warning && raw <= sensor.raw(*limits.lower_warning)) bits |= 0x01;
  if (limits.lower_critical && raw <= sensor.raw(*limits.lower_critical)) bits |= 0x02;
  if (limits.upper_warning && raw >= sensor.raw(*limits.upper_warning)) bits |= 0x08;
  if (limits.upper_critical && raw >= sensor.raw(*limits.upper_critical)) bits |= 0x10;
  return static_cast<std::uint8_t>(bits);
}

}  // namespace cupel::rehearsal::ipmi
