// What entries of a BMC's log weigh: a table of entries as BMCs write them. Rows marked "captured"
// stand so in the log of a real machine.
#include "burnin/board/entry_weight.h"

#include <gmock/gmock.h>

#include "burnin/board/part_names.h"

namespace cupel::burnin {
namespace {

using enum EntryWeight;

struct Row {
  const char* severity;
  const char* id;
  const char* message;
  const char* sensor;
  EntryWeight weight;
  const char* part = "";  // or what it is a fault of
  const char* direction = "";
};

void expect(const Row& row) {
  const PartNames names{{}};
  LogEntryWords words{row.message, row.id, row.sensor, row.severity, row.direction, {}};
  words.part = names.of(words.message + " " + words.sensor);
  const auto found = weigh(words);
  EXPECT_EQ(found.weight, row.weight) << row.severity << " " << row.message;
  EXPECT_EQ(words.part.empty() ? found.family : words.part, row.part) << row.message;
}

TEST(EntryWeight, NoWordLowersACriticalEntry) {
  for (const auto& row : std::initializer_list<Row>{
           {"Critical", "IDRAC.2.9.SYS1003",
            "System CPU Resetting. The system was powered off because of an over-temperature.",
            "System", critical},
           {"Critical", "iLOEvents.3.2.ServerPoweredOff",
            "Server powered off unexpectedly: non-recoverable thermal condition.", "System",
            critical},
           {"Critical", "Event.1.0.PowerFault",
            "Power supply 2 is powered off: input over-voltage.", "PSU2", critical, "psu2"},
           {"Critical", "SystemPowerAction.Unexpected",
            "Unexpected power loss detected while the host was on", "Chassis", critical},
           {"Critical", "", "System ACPI Power State: soft-off by thermal trip",
            "CPU0 Thermal Trip", critical, "processors"},
           {"Critical", "Platform.1.0.ThermalTrip",
            "CPU0 thermal trip asserted; ACPI power state S5", "CPU0_PROCHOT", critical,
            "processors"},
           {"Critical", "Security.1.0.AccessDenied",
            "Chassis intrusion: while power is on the chassis is open", "Intrusion", critical},
           {"Critical", "", "GPU_SXM_4 audit: firmware attestation failed", "ERoT_GPU_SXM_4",
            critical, "gpu3"},
           {"Critical", "", "PSU redundancy lost: PSU3 powered off", "PSU Redundancy", critical,
            "psu3"},
           {"Critical", "", "PSU3 powered off", "", critical, "psu3"},
           {"Critical", "ResourceEvent.1.0.ResourcePoweredOff", "GPU_SXM_3 powered off", "",
            critical, "gpu2"},
           {"Critical", "", "Board powered on with a damaged standby regulator", "", critical},
           {"Critical", "", "Fan 3 failed; user root logged in", "", critical, "fan3"},
           {"Critical", "Security.1.0.CertificateExpired", "The certificate has expired", "",
            critical},
           {"Critical", "OpenBMC.0.4.SensorThresholdCriticalHighGoingHigh",
            "Temp_CPU sensor crossed a critical high threshold going high.", "Temp_CPU", critical},
           {"Critical", "OpenBMC.0.4.SensorThresholdCriticalHighGoingHigh",
            "CPU_0_TEMP sensor crossed a critical high threshold going high.", "", critical},
           {"Critical", "5.3", "Uncorrectable Machine Check Exception (Processor 2)", "", critical,
            "processors"}})
    expect(row);
}

TEST(EntryWeight, AWarningThatNamesAFaultCountsForAPartOrItsFamily) {
  for (const auto& row : std::initializer_list<Row>{
           {"Warning", "", "Power redundancy is lost: powered on supplies 5 of 6", "PSU Redundancy",
            warning, "power supplies"},
           {"Warning", "", "System Power Supplies Not Redundant", "", warning, "power supplies"},
           {"Warning", "", "1784-Slot 25 Drive Array - Drive Failure.", "", warning, "drives"},
           // of Dell's registry
           {"Warning", "IDRAC.2.7.IOV116",
            "PCIE AUX power cable 3 was disconnected while powered on.", "", warning},
           {"Warning", "IDRAC.2.9.MEM0701", "Correctable memory error rate exceeded for DIMM_A5.",
            "Memory", warning, "dimm A5"},
           {"Warning", "ResourceEvent.1.2.ResourcePoweredOff", "PSU4 was powered off", "", warning,
            "psu4"},
           // A room that is warm, a hood that was off: kept as evidence.
           {"Warning", "", "Inlet Temp: Upper Non-critical - going high", "Inlet Temp", warning},
           {"Warning", "10.1025", "Intrusion Alert Detection - The server chassis hood was removed",
            "", warning}})
    expect(row);
}

TEST(EntryWeight, CountsAnAssertedFaultWithSeverityOkOrNone) {
  for (const auto& row : std::initializer_list<Row>{
           {"OK", "", "Drive Slot / Bay: Drive Fault asserted", "Drive 3", critical, "drives"},
           {"OK", "0xF1FFFF", "PS2 Status, Power Supply Failure detected", "Power Supply", critical,
            "psu2", "Assert"},
           {"", "", "Critical Interrupt #0x00 | PCI SERR | Asserted", "PCI", critical,
            "PCIe devices"},
           {"", "", "Processor #0x8a | IERR | Asserted", "CPU1", critical, "processors"},
           {"", "", "Power Supply #0xc3 | Power Supply AC lost | Asserted", "PS2 Status", critical,
            "psu2"},
           {"", "", "Memory #0x02 | Uncorrectable ECC | Asserted", "DIMM B7", critical, "dimm B7"},
           {"", "", "Fan #0x41 | Lower Critical going low | Asserted", "FAN3", critical, "fan3"},
           {"", "", "Temperature #0x30 | Upper Critical going high | Asserted", "Inlet Temp",
            critical},
           {"", "", "Power Unit | Redundancy Lost | Asserted", "", warning, "power supplies"},
           {"OK", "", "Power Supply: Presence detected (deasserted)", "PS2 Status", warning, "psu2",
            "Deassert"},
           {"OK", "", "AC out-of-range, but present", "PS1 Status", critical, "psu1", "Assert"},
           {"OK", "", "240VA Power Down", "PWR", critical, "power supplies", "Assert"},
           {"OK", "", "CPU overheat", "CPU1 Temp", critical, "", "Assert"},
           {"OK", "", "PCIe SERR", "Slot 3", critical, "PCIe devices", "Assert"},
           {"", "", "Transition to Critical from less severe", "GPU_SXM_3 Status", critical, "gpu2",
            "Assert"},
           {"OK", "", "Unrecoverable system-board failure", "System Firmware", critical, "",
            "Assert"},
           {"OK", "", "Device Disabled", "GPU_SXM_5", warning, "gpu4", "Assert"},
           {"OK", "",
            "BIOS OEM(Memory Error) (runtime) Failing DIMM: DIMM location (Correctable memory "
            "component found). (P1-DIMMA1)",
            "Memory", warning, "dimm A1", "Assert"}})
    expect(row);
}

// A BMC that calls everything well.
TEST(EntryWeight, AFailureIsAWarningThoughItsSeverityIsOk) {
  for (const auto& row : std::initializer_list<Row>{
           {"OK", "", "The system powered off because of a CPU thermal trip", "", warning,
            "processors"},
           {"OK", "", "System powered off because of an over-temperature", "", warning},
           {"OK", "", "Fan 3: fan failure", "", warning, "fan3"},
           {"OK", "", "Uncorrectable ECC error", "DIMM B7", warning, "dimm B7"},
           {"OK", "", "CPU overheat detected", "CPU1 Temp", warning},
           {"OK", "", "PSU 2 input has been lost.", "", warning, "psu2"},
           {"OK", "", "Power supply 2: non-recoverable failure detected", "PSU2", warning, "psu2"},
           {"OK", "Environmental.1.0.FanFailed", "Fan 3 does not turn.", "", warning, "fan3"},
           {"OK", "ResourceEvent.1.3.ResourceStatusChangedCritical",
            "The health of GPU_SXM_3 has changed to Critical.", "", warning, "gpu2"},
           {"OK", "OpenBMC.0.4.SensorThresholdCriticalHighGoingHigh",
            "CPU_0_TEMP sensor crossed a critical high threshold going high.", "", warning},
           // of Lenovo's registry, at this severity
           {"OK", "", "Run-time critical stop on system 1.", "", warning},
           // captured: GB200, at this severity
           {"OK", "Platform.1.0.PlatformError", "A platform error occurred.", "", warning}})
    expect(row);
}

TEST(EntryWeight, WhatIsWellIsNoWarningThoughItSpeaksOfFaults) {
  for (const auto& row : std::initializer_list<Row>{
           {"OK", "StorageDevice.1.0.DriveFailureCleared", "A drive failure was cleared.", "",
            other},
           {"OK", "", "Fan failure has been repaired", "", other},
           {"OK", "", "Power input lost: input power has been restored", "", other},
           {"OK", "", "No drive failure detected", "", other},
           {"OK", "", "Memory scrub found 0 uncorrectable errors", "", other},
           {"OK", "", "The alert policy for power supply failure was changed", "", other},
           {"OK", "", "Correctable ECC", "", other},
           {"OK", "", "CPU_0_TEMP: critical high threshold set to 95", "", other},
           {"OK", "Update.1.0.TransferFailed", "Transfer of image 'bios.cap' failed.", "", other},
           {"OK", "SensorEvent.1.0.ReadingNoLongerCritical",
            "Sensor 'CPU temperature' reading of 80 C is no longer at a critical level.", "",
            other},
           // of registries, at this severity: OpenBMC, Lenovo, HPE
           {"OK", "OpenBMC.0.4.SensorThresholdCriticalHighGoingLow",
            "CPU_0_TEMP sensor crossed a critical high threshold going low.", "", other},
           {"OK", "OpenBMC.0.4.SensorThresholdCriticalLowGoingHigh",
            "P12V sensor crossed a critical low threshold going high.", "", other},
           {"OK", "", "An Over-Temperature Condition has been removed on CPU 1.", "", other},
           {"OK", "iLO.2.19.BundleUpdateComponentInstallationFailed",
            "Component U46.fwpkg installation failed, reason busy. Bundle update aborted.", "",
            other},
           // captured, at this severity: Lenovo, HPE, GB200, Supermicro
           {"OK", "",
            "Security: Userid: root using default authentication had 6 login failures from an SSH "
            "client at IP address 10.152.140.52.",
            "", other},
           {"OK", "",
            "Management Controller SN#   J101RZ43 Reset was caused by restoring default "
            "values.",
            "", other},
           {"OK", "35.1", "Server power removed.", "", other},
           {"OK", "",
            "nsmd: Created NSM Sensor : UUID=STATIC:0:2, "
            "Name=HGX_GPU_2_DRAM_0_Temp_0_UpperCritical, Type=Static",
            "", other},
           {"OK", "Event.1.0.HostFwPwdRemoved",
            "[MEL-0207] The host FW user password has been removed.", "", other}}) {
    const auto found = weigh({row.message, row.id, row.sensor, row.severity, row.direction, {}});
    EXPECT_EQ(found.weight, row.weight) << row.message;
  }
}

TEST(EntryWeight, AFaultThatIsOverIsNone) {
  for (const auto& row : std::initializer_list<Row>{
           {"OK", "0xF1FFFF", "[PWR-0001] PS1 Status, Power Supply Failure detected",
            "Power Supply / Converter", other, "psu1", "Deassert"},  // captured
           {"", "", "Power Supply #0x2e | Power Supply AC lost | Deasserted", "", other},
           {"", "", "Power Supply #0x2f | Failure detected | Deasserted", "", other},
           // of Lenovo's registry, at this severity
           {"OK", "FQXSPPW2111I",
            "Redundancy Degraded from Fully Redundant for Power Supplies has deasserted.", "",
            other},
           {"OK", "FQXSPPW2103I",
            "Non-redundant:Sufficient Resources from Redundancy Degraded or Fully Redundant for "
            "Power Supplies has deasserted.",
            "", other},
           {"", "", "Non-redundant: Sufficient Resources from Redundant (deasserted)",
            "PSU Redundancy", other},
           {"OK", "", "Power Supply input out-of-range, but present (deasserted)", "PS1 Status",
            other},
           {"Critical", "", "Upper Critical - going high (deasserted)", "Inlet Temp", other, "",
            "Deassert"},
           {"OK", "OpenBMC.0.1.SensorThresholdWarningLowGoingHigh",
            "HGX_GPU_2_Temp_1 sensor crossed a warning low threshold going high.", "Temperature",
            other, "gpu2", "Deassert"}}) {
    const PartNames names{{}};
    const auto found = weigh({row.message, row.id, row.sensor, row.severity, row.direction, {}});
    EXPECT_EQ(found.weight, row.weight) << row.message;
  }
}

TEST(EntryWeight, WhatPeopleAndTheBmcItselfDoIsHarmless) {
  for (const auto& row : std::initializer_list<Row>{
           // captured: Gigabyte, at this severity, for each refused login
           {"Critical", "Security.1.0.AccessDenied",
            "User: in-band-user, IP: 10.254.1.18, Protocol: http - While attempting to establish a "
            "connection to the service, it was denied access",
            "", harmless},
           {"Warning", "Event.1.0.AttemptConnect", "[MEL-0135] The user attempted to access BMC",
            "", harmless},
           {"OK", "IDRAC.2.9.USR0030",
            "Successfully logged in using root, from 10.0.0.1 and REDFISH.", "", harmless},
           {"Warning", "Event.1.0.LoginWeb", "Web login failed.", "", harmless},
           {"Warning", "IDRAC.2.9.LOG007", "The previous log entry was repeated 3 times.", "",
            harmless},
           {"OK", "ResourceEvent.1.2.ResourcePoweredOn", "The host was powered on.",
            "System ACPI PowerState", harmless},
           {"Warning", "ResourceEvent.1.2.ResourcePoweredOff", "The host was powered off.", "",
            harmless},
           {"OK", "EventLog.1.0.PowerStatusChange",
            "The power state of resource /redfish/v1/Systems/Self has changed to type Off", "",
            harmless},
           {"OK", "Event.1.0.SystemPowerAction",
            "[MEL-0051] The system was power cycled successfully.", "", harmless},
           {"Warning", "OpenBMC.0.4.BMCSystemResourceInfo",
            "Processes consuming HIGH Resource CPU are /usr/bin/pldmd (29%)", "", harmless},
           {"Critical", "OpenBMC.0.4.SensorThresholdCriticalHighGoingHigh",
            "CPU sensor crossed a critical high threshold going high. Reading=91 Threshold=90",
            "CPU", harmless},
           {"Warning", "OpenBMC.0.4.SensorThresholdWarningLowGoingLow",
            "Storage_RW sensor crossed a warning low threshold going low.", "", harmless},
           {"Warning", "OpenBMC.0.4.SensorThresholdWarningHighGoingHigh",
            "ProcessCPU_pldmd sensor crossed a warning high threshold going high.", "", harmless}})
    expect(row);
}

TEST(EntryWeight, WhatIsNoFaultAndNoRuleKnowsIsJudgedNowhere) {
  for (const auto& row : std::initializer_list<Row>{
           {"Warning", "IDRAC.2.9.PWR2270",
            "The Intel Management Engine has reported normal system operation.", "", warning},
           {"Warning", "0xA401FF", "[LAN-0006] Dedicated LAN Link Down", "", warning, "", "Assert"},
           {"Warning", "iLO.35.5", "Server reset.", "", warning},
           {"OK", "AmiIpmiOem.1.0.GeneralEventData", "0x07FFFF", "Processor", other, "", "Assert"},
           {"OK", "0xF2FFFF", "[SA-0002] Invalid Username or Password", "Session Audit", other, "",
            "Assert"},
           {"OK", "Update.1.0.UpdateSuccessful",
            "Device 'HGX_FW_ERoT_BMC_0' successfully updated with image '00.02'.", "", other},
           {"", "", "CPU 1(SKU NO: 40422740) is added.", "", other}})
    expect(row);
}

}  // namespace
}  // namespace cupel::burnin
