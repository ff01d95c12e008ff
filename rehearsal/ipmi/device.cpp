#include "rehearsal/ipmi/device.h"

#include "base/text.h"
#include "rehearsal/bmc_faults.h"

namespace cupel::rehearsal::ipmi {
namespace {

const Command* find_command(std::uint8_t net_function, std::uint8_t code) {
  static const auto all = [] {
    std::map<std::pair<int, int>, Command> table;
    for (const auto chapter : {device_commands(), session_commands(), user_commands(),
                               chassis_commands(), sensor_commands(), sel_commands(),
                               storage_commands(), lan_commands(), sol_commands(), dcmi_commands()})
      for (const auto& command : chapter)
        table.emplace(std::pair{command.net_function, command.code}, command);
    return table;
  }();
  const auto found = all.find({net_function, code});
  return found == all.end() ? nullptr : &found->second;
}

std::vector<std::string> names_of(const std::vector<Psu>& psus) {
  std::vector<std::string> names;
  for (const auto& psu : psus) names.push_back(psu.name);
  return names;
}

std::uint8_t hex_byte(std::string_view digits) {
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return static_cast<std::uint8_t>(value);
}

}  // namespace

Device::Device(asio::any_io_executor executor, ManagedSystem& of, Users& known, Sessions& open,
               std::function<Moment()> time)
    : machine{of},
      users{known},
      sessions{open},
      now{std::move(time)},
      sel{[&of] { return of.clock().epoch() + bmc_clock_error(of.faults()); }},
      sdr_time{sel.time()},
      boot{of},
      sol{executor, of.console()},
      whole_{of.whole_hardware()},
      started_{now()} {
  sensors = sensors_of(whole_);
  supplies_ = names_of(whole_.psus);
  refit();
}

Reply Device::answer(std::uint8_t net_function, std::uint8_t code, const Request& request) {
  const auto* command = find_command(net_function, code);
  const auto* session = request.session;
  if (session == nullptr && (command == nullptr || command->least != Privilege::unspecified))
    return Completion::insufficient_privilege;
  if (command == nullptr) return Completion::invalid_command;
  if (session != nullptr && session->privilege < command->least)
    return Completion::insufficient_privilege;
  const auto size = request.data.size();
  if (size < command->shortest || size > command->longest) return Completion::wrong_length;
  return command->act(*this, request);
}

void Device::log(SensorType type, std::uint8_t number, std::uint8_t data_1, std::uint8_t data_3,
                 bool asserted) {
  // 42.1: bits 5:4 of data 1 say that data 3 is the sensor's own.
  const bool more = data_3 != 0xFF;
  sel.log({.sensor_type = static_cast<std::uint8_t>(type),
           .sensor = number,
           .asserted = asserted,
           .data_1 = static_cast<std::uint8_t>(data_1 | (more ? 0x30 : 0)),
           .data_3 = data_3});
}

void Device::hear(ManagedSystem::Event event) {
  switch (event) {
    case ManagedSystem::Event::powered:
      log_power();
      break;
    case ManagedSystem::Event::started:
      boot.expire(now(), true);
      log_post();
      break;
    case ManagedSystem::Event::refitted:
      refit();
      break;
    case ManagedSystem::Event::went_down:
    case ManagedSystem::Event::panicked:
    case ManagedSystem::Event::booted:
    case ManagedSystem::Event::no_boot_device:
      break;
  }
}

void Device::log_power() {
  constexpr std::uint8_t kWorking = 0x00, kSoftOff = 0x05;
  if (machine.power() == Power::on) log(SensorType::acpi, kAcpiSensor, kWorking);
  if (machine.power() == Power::off) log(SensorType::acpi, kAcpiSensor, kSoftOff);
}

/// What the firmware finds when it starts, and tells again each time.
void Device::log_post() {
  constexpr std::uint8_t kByPowerUp = 0x00, kUncorrectable = 0x01, kMisconfigured = 0x07,
                         kPresent = 0x00;
  log(SensorType::boot, kBootSensor, kByPowerUp);
  std::uint8_t slot = 0;
  for (const auto& dimm : machine.hardware().dimms) {
    ++slot;
    const bool small = find_fault(machine.faults(), FaultKind::dimm_too_small, dimm.name);
    if (!dimm.present || small) log(SensorType::memory, kDimmSensor, kMisconfigured, slot);
  }
  for (const auto& gpu : machine.hardware().gpus)
    if (gpu.uncorrected > 0)
      log(SensorType::memory, kGpuEccSensor, kUncorrectable,
          static_cast<std::uint8_t>(gpu.index + 1));
  slot = 0;
  for (const auto& drive : whole_.drives) {
    ++slot;
    if (find_fault(machine.faults(), FaultKind::nvme_missing, drive.name))
      log(SensorType::drive_slot, kDriveSensor, kPresent, slot, false);
  }
}

void Device::refit() {
  frus = frus_of(whole_, machine.hardware());
  sdr = sdr_of(sensors, frus);
  log_supplies(std::exchange(supplies_, names_of(machine.hardware().psus)));
}

void Device::log_supplies(const std::vector<std::string>& before) {
  constexpr std::uint8_t kPresent = 0x00, kFull = 0x00, kLost = 0x01, kRedundancy = 0x0B;
  for (std::size_t i = 0; i < whole_.psus.size(); ++i) {
    const auto& name = whole_.psus[i].name;
    const bool was = std::ranges::count(before, name) > 0;
    const bool is = std::ranges::count(supplies_, name) > 0;
    if (was != is)
      log(SensorType::power_supply, static_cast<std::uint8_t>(kPsuSensor + i), kPresent, 0xFF, is);
  }
  const bool was_full = before.size() == whole_.psus.size();
  const bool is_full = supplies_.size() == whole_.psus.size();
  if (was_full != is_full)
    sel.log({.sensor_type = static_cast<std::uint8_t>(SensorType::power_supply),
             .sensor = kRedundancySensor,
             .event_type = kRedundancy,
             .data_1 = is_full ? kFull : kLost});
}

const Sensor* Device::sensor(std::uint8_t number) const {
  const auto found = std::ranges::find(sensors, number, &Sensor::number);
  return found == sensors.end() ? nullptr : &*found;
}

std::uint32_t Device::uptime() const {
  return static_cast<std::uint32_t>(machine.clock().elapsed().count());
}

Bytes guid_of(const std::string& uuid) {
  std::string digits;
  std::ranges::copy_if(uuid, std::back_inserter(digits), [](char c) { return c != '-'; });
  Bytes bytes;
  for (std::size_t i = 0; i + 2 <= digits.size() && bytes.size() < 16; i += 2)
    bytes.push_back(hex_byte(std::string_view{digits}.substr(i, 2)));
  bytes.resize(16);
  std::ranges::reverse(bytes);
  return bytes;
}

std::array<std::uint8_t, 6> mac_of(const Hardware& hardware) {
  constexpr std::size_t kStep = std::string_view{"94:"}.size();
  std::array<std::uint8_t, 6> mac{};
  for (std::size_t i = 0; i < mac.size() && kStep * i < hardware.bmc_mac.size(); ++i)
    mac[i] = hex_byte(std::string_view{hardware.bmc_mac}.substr(kStep * i, 2));
  return mac;
}

}  // namespace cupel::rehearsal::ipmi
