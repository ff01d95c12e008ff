#pragma once
// The commands that Cupel knows, by the standard's names. Source: IPMI 2.0, appendix G.
#include "bmc/ipmi/message.h"

namespace cupel::bmc::ipmi {

// Chassis (00h).
inline constexpr Command kGetChassisStatus{0x00, 0x01, "Get Chassis Status"};
inline constexpr Command kChassisControl{0x00, 0x02, "Chassis Control", Privilege::operate};
inline constexpr Command kChassisRestart{0x00, 0x02, "Chassis Control", Privilege::operate, true};
inline constexpr Command kChassisIdentify{0x00, 0x04, "Chassis Identify", Privilege::operate};
inline constexpr Command kSetBootOptions{0x00, 0x08, "Set System Boot Options", Privilege::operate};
inline constexpr Command kGetBootOptions{0x00, 0x09, "Get System Boot Options", Privilege::operate};

// Sensor/Event (04h).
inline constexpr Command kGetDeviceSdr{0x04, 0x21, "Get Device SDR"};
inline constexpr Command kReserveDeviceSdr{0x04, 0x22, "Reserve Device SDR Repository"};
inline constexpr Command kGetSensorThresholds{0x04, 0x27, "Get Sensor Thresholds"};
inline constexpr Command kGetSensorReading{0x04, 0x2d, "Get Sensor Reading"};

// Application (06h).
inline constexpr Command kGetDeviceId{0x06, 0x01, "Get Device ID"};
inline constexpr Command kColdReset{0x06, 0x02, "Cold Reset", Privilege::admin, true};
inline constexpr Command kGetSystemGuid{0x06, 0x37, "Get System GUID"};
inline constexpr Command kGetAuthenticationCapabilities{0x06, 0x38,
                                                        "Get Channel Authentication Capabilities"};
inline constexpr Command kSetSessionPrivilege{0x06, 0x3b, "Set Session Privilege Level"};
inline constexpr Command kCloseSession{0x06, 0x3c, "Close Session"};
inline constexpr Command kGetChannelAccess{0x06, 0x41, "Get Channel Access"};
inline constexpr Command kGetUserAccess{0x06, 0x44, "Get User Access", Privilege::operate};
inline constexpr Command kGetUserName{0x06, 0x46, "Get User Name", Privilege::operate};
inline constexpr Command kSetUserPassword{0x06, 0x47, "Set User Password", Privilege::admin};
inline constexpr Command kActivatePayload{0x06, 0x48, "Activate Payload", Privilege::admin};
inline constexpr Command kDeactivatePayload{0x06, 0x49, "Deactivate Payload", Privilege::admin};

// Storage (0Ah).
inline constexpr Command kGetFruArea{0x0a, 0x10, "Get FRU Inventory Area Info"};
inline constexpr Command kReadFru{0x0a, 0x11, "Read FRU Data"};
inline constexpr Command kGetRepository{0x0a, 0x20, "Get SDR Repository Info"};
inline constexpr Command kReserveRepository{0x0a, 0x22, "Reserve SDR Repository"};
inline constexpr Command kGetSdr{0x0a, 0x23, "Get SDR"};
inline constexpr Command kGetSel{0x0a, 0x40, "Get SEL Info"};
inline constexpr Command kReserveSel{0x0a, 0x42, "Reserve SEL"};
inline constexpr Command kGetSelEntry{0x0a, 0x43, "Get SEL Entry"};
inline constexpr Command kClearSel{0x0a, 0x47, "Clear SEL", Privilege::operate};
inline constexpr Command kGetSelTime{0x0a, 0x48, "Get SEL Time"};
inline constexpr Command kSetSelTime{0x0a, 0x49, "Set SEL Time", Privilege::operate};
inline constexpr Command kGetSelUtcOffset{0x0a, 0x5c, "Get SEL Time UTC Offset"};

// Transport (0Ch).
inline constexpr Command kGetLanParameters{0x0c, 0x02, "Get LAN Configuration Parameters",
                                           Privilege::operate};
inline constexpr Command kSetSolParameters{0x0c, 0x21, "Set SOL Configuration Parameters",
                                           Privilege::admin};
inline constexpr Command kGetSolParameters{0x0c, 0x22, "Get SOL Configuration Parameters"};

/// The channel that a request came in on, in every command that names one (IPMI 2.0, 6.3).
inline constexpr std::uint8_t kThisChannel = 0x0e;

}  // namespace cupel::bmc::ipmi
