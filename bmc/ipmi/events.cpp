// The standard's words for states. '!' in front: critical; '~': a warning.
// Source: IPMI 2.0, tables 42-2 and 42-3.
#include <algorithm>
#include <array>
#include <span>

#include "bmc/ipmi/sel.h"

namespace cupel::bmc::ipmi {
namespace {

using Words = std::span<const char* const>;

constexpr const char* kThreshold[]{
    "~Lower Non-critical - going low",    "~Lower Non-critical - going high",
    "!Lower Critical - going low",        "!Lower Critical - going high",
    "!Lower Non-recoverable - going low", "!Lower Non-recoverable - going high",
    "~Upper Non-critical - going low",    "~Upper Non-critical - going high",
    "!Upper Critical - going low",        "!Upper Critical - going high",
    "!Upper Non-recoverable - going low", "!Upper Non-recoverable - going high"};
constexpr const char* kUsage[]{"Transition to Idle", "Transition to Active", "Transition to Busy"};
constexpr const char* kState[]{"State Deasserted", "State Asserted"};
constexpr const char* kPredictive[]{"Predictive Failure deasserted",
                                    "~Predictive Failure asserted"};
constexpr const char* kLimit[]{"Limit Not Exceeded", "~Limit Exceeded"};
constexpr const char* kPerformance[]{"Performance Met", "~Performance Lags"};
constexpr const char* kSeverity[]{"Transition to OK",
                                  "~Transition to Non-Critical from OK",
                                  "!Transition to Critical from less severe",
                                  "!Transition to Non-recoverable from less severe",
                                  "~Transition to Non-Critical from more severe",
                                  "!Transition to Critical from Non-recoverable",
                                  "!Transition to Non-recoverable",
                                  "Monitor",
                                  "Informational"};
constexpr const char* kPresence[]{"Device Removed / Device Absent",
                                  "Device Inserted / Device Present"};
constexpr const char* kEnabled[]{"Device Disabled", "Device Enabled"};
constexpr const char* kAvailability[]{
    "Transition to Running",   "Transition to In Test",    "Transition to Power Off",
    "Transition to On Line",   "Transition to Off Line",   "Transition to Off Duty",
    "~Transition to Degraded", "Transition to Power Save", "~Install Error"};
constexpr const char* kRedundancy[]{
    "Fully Redundant",
    "~Redundancy Lost",
    "~Redundancy Degraded",
    "~Non-redundant: Sufficient Resources from Redundant",
    "~Non-redundant: Sufficient Resources from Insufficient Resources",
    "!Non-redundant: Insufficient Resources",
    "~Redundancy Degraded from Fully Redundant",
    "~Redundancy Degraded from Non-redundant"};
constexpr const char* kPowerState[]{"D0 Power State", "D1 Power State", "D2 Power State",
                                    "D3 Power State"};

constexpr std::array<Words, 13> kGeneric{
    Words{},   kThreshold, kUsage,   kState,        kPredictive, kLimit,     kPerformance,
    kSeverity, kPresence,  kEnabled, kAvailability, kRedundancy, kPowerState};

constexpr const char* kIntrusion[]{
    "~General Chassis Intrusion", "~Drive Bay intrusion", "~I/O Card area intrusion",
    "~Processor area intrusion",  "~LAN Leash Lost",      "~Unauthorized dock",
    "~FAN area intrusion"};
constexpr const char* kViolation[]{"~Front Panel Lockout violation attempted",
                                   "~Pre-boot Password Violation - user password",
                                   "~Pre-boot Password Violation - setup password",
                                   "~Pre-boot Password Violation - network boot password",
                                   "~Other pre-boot Password Violation",
                                   "~Out-of-band Access Password Violation"};
constexpr const char* kProcessor[]{"!IERR",
                                   "!Thermal Trip",
                                   "!FRB1/BIST failure",
                                   "!FRB2/Hang in POST failure",
                                   "!FRB3/Processor Startup/Initialization failure",
                                   "!Configuration Error",
                                   "!SM BIOS Uncorrectable CPU-complex Error",
                                   "Processor Presence detected",
                                   "~Processor disabled",
                                   "Terminator Presence Detected",
                                   "~Processor Automatically Throttled",
                                   "!Machine Check Exception (Uncorrectable)",
                                   "~Correctable Machine Check Error"};
constexpr const char* kPowerSupply[]{"Presence detected",
                                     "!Power Supply Failure detected",
                                     "~Predictive Failure",
                                     "!Power Supply input lost (AC/DC)",
                                     "!Power Supply input lost or out-of-range",
                                     "!Power Supply input out-of-range, but present",
                                     "~Configuration error",
                                     "Power Supply Inactive"};
constexpr const char* kPowerUnit[]{"Power Off / Power Down",
                                   "Power Cycle",
                                   "!240VA Power Down",
                                   "!Interlock Power Down",
                                   "!AC lost / Power input lost",
                                   "!Soft Power Control Failure",
                                   "!Power Unit Failure detected",
                                   "~Predictive Failure"};
constexpr const char* kMemory[]{"~Correctable ECC / other correctable memory error",
                                "!Uncorrectable ECC / other uncorrectable memory error",
                                "!Parity",
                                "!Memory Scrub Failed",
                                "~Memory Device Disabled",
                                "~Correctable ECC error logging limit reached",
                                "Presence detected",
                                "~Configuration error",
                                "Spare",
                                "~Memory Automatically Throttled",
                                "!Critical Overtemperature"};
constexpr const char* kDrive[]{"Drive Presence",
                               "!Drive Fault",
                               "~Predictive Failure",
                               "Hot Spare",
                               "Consistency Check / Parity Check in progress",
                               "~In Critical Array",
                               "!In Failed Array",
                               "Rebuild/Remap in progress",
                               "~Rebuild/Remap Aborted"};
constexpr const char* kFirmware[]{"!System Firmware Error (POST Error)", "!System Firmware Hang",
                                  "System Firmware Progress"};
constexpr const char* kLogging[]{"~Correctable Memory Error Logging Disabled",
                                 "~Event Type Logging Disabled",
                                 "Log Area Reset/Cleared",
                                 "~All Event Logging Disabled",
                                 "~SEL Full",
                                 "~SEL Almost Full",
                                 "~Correctable Machine Check Error Logging Disabled"};
constexpr const char* kWatchdog1[]{"!BIOS Watchdog Reset",
                                   "!OS Watchdog Reset",
                                   "!OS Watchdog Shut Down",
                                   "!OS Watchdog Power Down",
                                   "!OS Watchdog Power Cycle",
                                   "!OS Watchdog NMI / Diagnostic Interrupt",
                                   "~OS Watchdog Expired, status only",
                                   "~OS Watchdog pre-timeout Interrupt, non-NMI"};
constexpr const char* kSystemEvent[]{"System Reconfigured",
                                     "OEM System Boot Event",
                                     "!Undetermined system hardware failure",
                                     "Entry added to Auxiliary Log",
                                     "PEF Action",
                                     "Timestamp Clock Synch"};
constexpr const char* kCriticalInterrupt[]{"!Front Panel NMI / Diagnostic Interrupt",
                                           "!Bus Timeout",
                                           "!I/O channel check NMI",
                                           "!Software NMI",
                                           "!PCI PERR",
                                           "!PCI SERR",
                                           "!EISA Fail Safe Timeout",
                                           "~Bus Correctable Error",
                                           "!Bus Uncorrectable Error",
                                           "!Fatal NMI",
                                           "!Bus Fatal Error",
                                           "~Bus Degraded"};
constexpr const char* kButton[]{"Power Button pressed", "Sleep Button pressed",
                                "Reset Button pressed", "FRU latch open",
                                "FRU service request button"};
constexpr const char* kChipSet[]{"!Soft Power Control Failure", "!Thermal Trip"};
constexpr const char* kCable[]{"Cable/Interconnect is connected",
                               "~Configuration Error - Incorrect cable connected / Incorrect "
                               "interconnection"};
constexpr const char* kBootInitiated[]{"Initiated by power up",
                                       "Initiated by hard reset",
                                       "Initiated by warm reset",
                                       "User requested PXE boot",
                                       "Automatic boot to diagnostic",
                                       "OS / run-time software initiated hard reset",
                                       "OS / run-time software initiated warm reset",
                                       "System Restart"};
// That a machine found nothing to boot from is no fault of its parts.
constexpr const char* kBootError[]{"~No bootable media", "~Non-bootable diskette left in drive",
                                   "~PXE Server not found", "~Invalid boot sector",
                                   "~Timeout waiting for user selection of boot source"};
constexpr const char* kBoot[]{"A: boot completed",
                              "C: boot completed",
                              "PXE boot completed",
                              "Diagnostic boot completed",
                              "CD-ROM boot completed",
                              "ROM boot completed",
                              "Boot completed - boot device not specified",
                              "Base OS/Hypervisor Installation started",
                              "Base OS/Hypervisor Installation completed",
                              "Base OS/Hypervisor Installation aborted",
                              "Base OS/Hypervisor Installation failed"};
constexpr const char* kStop[]{"!Critical stop during OS load / initialization",
                              "!Run-time Critical Stop",
                              "OS Graceful Stop",
                              "OS Graceful Shutdown",
                              "Soft Shutdown initiated by PEF",
                              "~Agent Not Responding"};
constexpr const char* kSlot[]{"~Fault Status asserted",
                              "Identify Status asserted",
                              "Slot / Connector Device installed/attached",
                              "Slot / Connector Ready for Device Installation",
                              "Slot / Connector Ready for Device Removal",
                              "Slot Power is Off",
                              "Slot / Connector Device Removal Request",
                              "Interlock asserted",
                              "Slot is Disabled",
                              "Slot holds spare device"};
constexpr const char* kAcpi[]{"S0/G0 \"working\"",
                              "S1 \"sleeping with system h/w & processor context maintained\"",
                              "S2 \"sleeping, processor context lost\"",
                              "S3 \"sleeping, processor & h/w context lost, memory retained\"",
                              "S4 \"non-volatile sleep / suspend-to disk\"",
                              "S5/G2 \"soft-off\"",
                              "S4/S5 soft-off, particular state cannot be determined",
                              "G3/Mechanical Off",
                              "Sleeping in an S1, S2, or S3 state",
                              "G1 sleeping",
                              "S5 entered by override",
                              "Legacy ON state",
                              "Legacy OFF state"};
constexpr const char* kWatchdog2[]{"~Timer expired, status only",
                                   "!Hard Reset",
                                   "!Power Down",
                                   "!Power Cycle",
                                   "reserved",
                                   "reserved",
                                   "reserved",
                                   "reserved",
                                   "~Timer interrupt"};
constexpr const char* kAlert[]{"platform generated page", "platform generated LAN alert",
                               "Platform Event Trap generated", "platform generated SNMP trap"};
constexpr const char* kEntityPresence[]{"Entity Present", "~Entity Absent", "~Entity Disabled"};
constexpr const char* kLan[]{"~LAN Heartbeat Lost", "LAN Heartbeat"};
constexpr const char* kSubsystem[]{"~Sensor access degraded or unavailable",
                                   "~Controller access degraded or unavailable",
                                   "~Management controller off-line",
                                   "~Management controller unavailable",
                                   "~Sensor failure",
                                   "~FRU failure"};
constexpr const char* kBattery[]{"~Battery low", "!Battery failed", "Battery presence detected"};
constexpr const char* kAudit[]{"Session Activated", "Session Deactivated",
                               "~Invalid Username or Password", "~Invalid password disable"};
constexpr const char* kVersion[]{"Hardware change detected",
                                 "Firmware or software change detected",
                                 "~Hardware incompatibility detected",
                                 "~Firmware or software incompatibility detected",
                                 "~Invalid or unsupported hardware version",
                                 "~Invalid or unsupported firmware or software version",
                                 "Hardware change was successful",
                                 "Firmware or software change was successful"};
constexpr const char* kFruState[]{"FRU Not Installed",
                                  "FRU Inactive",
                                  "FRU Activation Requested",
                                  "FRU Activation In Progress",
                                  "FRU Active",
                                  "FRU Deactivation Requested",
                                  "FRU Deactivation In Progress",
                                  "~FRU Communication Lost"};

struct Kind {
  const char* name;
  Words states{};
};

constexpr std::array<Kind, 0x2d> kKinds{{
    {"reserved"},
    {"Temperature"},
    {"Voltage"},
    {"Current"},
    {"Fan"},
    {"Physical Security (Chassis Intrusion)", kIntrusion},
    {"Platform Security Violation Attempt", kViolation},
    {"Processor", kProcessor},
    {"Power Supply", kPowerSupply},
    {"Power Unit", kPowerUnit},
    {"Cooling Device"},
    {"Other Units-based Sensor"},
    {"Memory", kMemory},
    {"Drive Slot (Bay)", kDrive},
    {"POST Memory Resize"},
    {"System Firmware Progress", kFirmware},
    {"Event Logging Disabled", kLogging},
    {"Watchdog 1", kWatchdog1},
    {"System Event", kSystemEvent},
    {"Critical Interrupt", kCriticalInterrupt},
    {"Button / Switch", kButton},
    {"Module / Board"},
    {"Microcontroller / Coprocessor"},
    {"Add-in Card"},
    {"Chassis"},
    {"Chip Set", kChipSet},
    {"Other FRU"},
    {"Cable / Interconnect", kCable},
    {"Terminator"},
    {"System Boot / Restart Initiated", kBootInitiated},
    {"Boot Error", kBootError},
    {"Base OS Boot / Installation Status", kBoot},
    {"OS Stop / Shutdown", kStop},
    {"Slot / Connector", kSlot},
    {"System ACPI Power State", kAcpi},
    {"Watchdog 2", kWatchdog2},
    {"Platform Alert", kAlert},
    {"Entity Presence", kEntityPresence},
    {"Monitor ASIC / IC"},
    {"LAN", kLan},
    {"Management Subsystem Health", kSubsystem},
    {"Battery", kBattery},
    {"Session Audit", kAudit},
    {"Version Change", kVersion},
    {"FRU State", kFruState},
}};

Words states_of(std::uint8_t reading, std::uint8_t sensor_type) {
  if (reading == 0x6f) return sensor_type < kKinds.size() ? kKinds[sensor_type].states : Words{};
  return reading < kGeneric.size() ? kGeneric[reading] : Words{};
}

}  // namespace

std::string sensor_type_name(std::uint8_t type) {
  if (type < kKinds.size()) return kKinds[type].name;
  return (type >= 0xc0 ? "OEM sensor " : "sensor type ") + hex(type, 2);
}

std::optional<State> state_of(std::uint8_t reading, std::uint8_t sensor_type, std::uint8_t offset) {
  const auto states = states_of(reading, sensor_type);
  if (offset >= states.size()) return std::nullopt;
  const std::string_view words = states[offset];
  if (words.front() == '!') return State{std::string{words.substr(1)}, 'C'};
  if (words.front() == '~') return State{std::string{words.substr(1)}, 'W'};
  return State{std::string{words}};
}

}  // namespace cupel::bmc::ipmi
