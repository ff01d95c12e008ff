#pragma once
// The management controller behind the sessions: a command in, an answer out. One table of commands
// for each chapter of the standard. What a command may touch is all in here. Not sessions, not
// sockets: service.h.
#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>

#include "rehearsal/ipmi/boot_flags.h"
#include "rehearsal/ipmi/sdr.h"
#include "rehearsal/ipmi/sel.h"
#include "rehearsal/ipmi/sol.h"
#include "rehearsal/managed_system.h"

namespace cupel::rehearsal::ipmi {

/// Table 5-2, and those of single commands.
enum class Completion : std::uint8_t {
  good = 0x00,
  special_80 = 0x80,  // what these mean, a command says for itself
  special_81 = 0x81,
  special_82 = 0x82,
  invalid_command = 0xC1,
  out_of_space = 0xC4,
  reservation_cancelled = 0xC5,
  wrong_length = 0xC7,
  out_of_range = 0xC9,
  too_many_bytes = 0xCA,
  not_present = 0xCB,
  invalid_field = 0xCC,
  insufficient_privilege = 0xD4,
  wrong_state = 0xD5,
};

struct Request {
  View data{};
  Session* session = nullptr;  // nullptr: outside of any
};

struct Reply {
  Completion code = Completion::good;
  Bytes data{};

  Reply() = default;
  Reply(Completion why) : code{why} {}
  Reply(Bytes what) : data{std::move(what)} {}
};

class Device;

struct Command {
  std::uint8_t net_function = 0, code = 0;
  Privilege least = Privilege::user;       // unspecified: may be asked without a session
  std::uint8_t shortest = 0, longest = 0;  // of the data
  Reply (*act)(Device& device, const Request& request) = nullptr;
};

// The chapters.
std::span<const Command> device_commands();
std::span<const Command> session_commands();
std::span<const Command> user_commands();
std::span<const Command> chassis_commands();
std::span<const Command> sensor_commands();
std::span<const Command> sel_commands();
std::span<const Command> storage_commands();
std::span<const Command> lan_commands();
std::span<const Command> sol_commands();
std::span<const Command> dcmi_commands();

/// Where its LAN interface is.
struct Place {
  std::array<std::uint8_t, 4> address{127, 0, 0, 1};
  std::uint16_t port = 623;
};

/// The watts that DCMI has reported so far.
struct PowerReadings {
  double lowest = 0, highest = 0, sum = 0;
  int count = 0;
};

class Device {
 public:
  static constexpr std::chrono::seconds kIdentifyDefault{15};  // 28.5

  /// `machine` and `sessions` must outlive it. `now`: our time, which a client counts in.
  Device(asio::any_io_executor executor, ManagedSystem& machine, Users& users, Sessions& sessions,
         std::function<Moment()> now);

  Reply answer(std::uint8_t net_function, std::uint8_t code, const Request& request);

  /// What the machine does, as the log tells it.
  void hear(ManagedSystem::Event event);
  void log(SensorType type, std::uint8_t sensor, std::uint8_t data_1, std::uint8_t data_3 = 0xFF,
           bool asserted = true);

  const Sensor* sensor(std::uint8_t number) const;
  std::uint32_t uptime() const;

  ManagedSystem& machine;
  Users& users;
  Sessions& sessions;
  std::function<Moment()> now;
  Place place{};
  Sel sel;
  std::vector<Sensor> sensors;
  std::vector<Fru> frus{};
  std::vector<Bytes> sdr{};
  std::uint16_t sdr_reservation = 0, last_sdr_reservation = 0;
  std::uint32_t sdr_time = 0;
  BootFlags boot;
  Sol sol;
  std::map<std::uint8_t, Bytes> lan_changes{};  // parameters that were set
  std::uint8_t restore_policy = 1;              // 28.8: as it was before
  bool power_by_command = false;                // the last change came from here
  std::uint8_t restart_cause = 0;
  Moment identify_until{};
  PowerReadings power_readings{};
  bool restart_requested = false;     // after this answer
  std::uint32_t close_requested = 0;  // the session that goes after this answer

 private:
  void refit();
  void log_power();
  void log_post();
  void log_supplies(const std::vector<std::string>& before);

  Hardware whole_;
  std::vector<std::string> supplies_{};
  Moment started_;
};

/// As the standard has it: the UUID's bytes, last first (20.8).
Bytes guid_of(const std::string& uuid);
/// The LAN interface's own; stable for a machine.
std::array<std::uint8_t, 6> mac_of(const Hardware& hardware);

}  // namespace cupel::rehearsal::ipmi
