// Which BIOS attributes a virtual machine has: some on every vendor's, and each vendor's own for
// what a site sets, by the names and words of captured machines: a DGX H100 (AMI), a PowerEdge
// R750, a DL380a Gen11, an SR670 V2, a SYS-821GE-TNHR, a GB200 tray (OpenBMC).
#include <map>

#include "rehearsal/bmc/bios.h"

namespace cupel::rehearsal {
namespace {

using Rows = std::vector<BiosAttribute>;
using Type = BiosAttribute::Type;

const Rows kOfAll{
    {.name = "ProcVirtualization", .usual = "Enabled", .choices = {"Enabled", "Disabled"}},
    {.name = "LogicalProc", .usual = "Enabled", .choices = {"Enabled", "Disabled"}},
    {.name = "SysProfile",
     .usual = "PerfOptimized",
     .choices = {"PerfOptimized", "PerfPerWattOptimizedDapc", "PerfPerWattOptimizedOs", "Custom"}},
    {.name = "AcPwrRcvry", .usual = "Last", .choices = {"On", "Off", "Last"}},
    {.name = "BootMode", .usual = "Uefi", .choices = {"Uefi", "Bios"}},
    {.type = Type::integer, .name = "AcPwrRcvryDelay", .usual = 120, .least = 60, .most = 600},
    {.type = Type::flag, .name = "SpcrConsoleRedirection", .usual = true},
    {.type = Type::text, .name = "AssetTag", .usual = "", .most = 63},
    {.type = Type::text, .name = "SystemModelName", .usual = "", .most = 40, .read_only = true},
};

const Rows kAmi{
    {.name = "VTdSupport", .usual = "Enable", .choices = {"Enable", "Disable"}},
    {.name = "SriovSupport", .usual = "Enabled", .choices = {"Disabled", "Enabled"}},
    {.name = "ProcessorHyperThreadingDisable",
     .usual = "Enabled",
     .choices = {"Enabled", "Disabled"}},
    {.name = "AltEngPerfBIAS",
     .usual = "Balanced Performance",
     .choices = {"Performance", "Balanced Performance", "Balanced Power", "Power"}},
    {.type = Type::flag, .name = "ConsoleRedirectionEnable0", .usual = true},
};

/// As an iDRAC's registry has it: they are a person's to set in the profile Custom alone.
const BiosAttribute::Dependency kTurboBySystemProfile{
    .attribute = "SysProfile",
    .value = "Custom",
    .settings = {{"PerfOptimized", "Enabled"},
                 {"PerfPerWattOptimizedDapc", "Enabled"},
                 {"PerfPerWattOptimizedOs", "Enabled"}}};
const BiosAttribute::Dependency kCStatesBySystemProfile{
    .attribute = "SysProfile",
    .value = "Custom",
    .settings = {{"PerfOptimized", "Disabled"},
                 {"PerfPerWattOptimizedDapc", "Enabled"},
                 {"PerfPerWattOptimizedOs", "Enabled"}}};

const Rows kDell{
    {.name = "SubNumaCluster", .usual = "Disabled", .choices = {"2-Way", "Disabled"}},
    {.name = "SriovGlobalEnable", .usual = "Enabled", .choices = {"Enabled", "Disabled"}},
    {.name = "SerialComm", .usual = "OnConRedir", .choices = {"OnNoConRedir", "OnConRedir", "Off"}},
    {.name = "SecureBoot", .usual = "Disabled", .choices = {"Enabled", "Disabled"}},
    {.name = "ProcTurboMode",
     .usual = "Enabled",
     .choices = {"Enabled", "Disabled"},
     .depends = kTurboBySystemProfile},
    {.name = "ProcCStates",
     .usual = "Disabled",
     .choices = {"Enabled", "Disabled", "Autonomous"},
     .depends = kCStatesBySystemProfile},
};

const Rows kHpe{
    {.name = "IntelProcVtd", .usual = "Enabled", .choices = {"Enabled", "Disabled"}},
    {.name = "AccessControlService", .usual = "Enabled", .choices = {"Enabled", "Disabled"}},
    {.name = "SubNumaClustering", .usual = "Disabled", .choices = {"Enabled", "Disabled"}},
    {.name = "ProcHyperthreading", .usual = "Enabled", .choices = {"Enabled", "Disabled"}},
    {.name = "Sriov", .usual = "Enabled", .choices = {"Enabled", "Disabled"}},
    {.name = "SerialConsolePort",
     .usual = "Auto",
     .choices = {"Auto", "Disabled", "Physical", "Virtual"}},
    {.name = "WorkloadProfile",
     .usual = "GeneralPowerEfficientCompute",
     .choices = {"GeneralPowerEfficientCompute", "GeneralPeakFrequencyCompute",
                 "HighPerformanceCompute(HPC)", "Custom"}},
};

const Rows kLenovo{
    {.name = "DevicesandIOPorts_IntelVTforDirectedIOVTd",
     .usual = "Enabled",
     .choices = {"Disabled", "Enabled"}},
    {.name = "Processors_PCIeACSCTL", .usual = "Enabled", .choices = {"Disabled", "Enabled"}},
    {.name = "Processors_SNC", .usual = "Disabled", .choices = {"Disabled", "Enabled"}},
    {.name = "Processors_HyperThreading", .usual = "Enabled", .choices = {"Enabled", "Disabled"}},
    {.name = "DevicesandIOPorts_SRIOV", .usual = "Enabled", .choices = {"Disabled", "Enabled"}},
    {.name = "DevicesandIOPorts_ConsoleRedirection",
     .usual = "Enabled",
     .choices = {"Auto", "Enabled", "Disabled"}},
    {.name = "OperatingModes_ChooseOperatingMode",
     .usual = "Efficiency_FavorPerformance",
     .choices = {"MinimalPower", "Efficiency_FavorPower", "Efficiency_FavorPerformance",
                 "CustomMode", "MaximumPerformance"}},
};

const Rows kSupermicro{
    {.name = "IntelVTforDirectedI_O_VT_d__1E32",
     .usual = "Enable",
     .choices = {"Enable", "Disable"}},
    {.name = "PCIeACSCTL_1E3C", .usual = "Disable", .choices = {"Enable", "Disable"}},
    {.name = "SNC_F300",
     .usual = "Auto",
     .choices = {"Auto", "Disable", "Enable SNC2 (2-clusters)", "Enable SNC4 (4-clusters)"}},
    {.name = "Hyper_Threading_ALL__F27F", .usual = "Enable", .choices = {"Enable", "Disable"}},
    {.name = "SR_IOVSupport_0047", .usual = "Enabled", .choices = {"Enabled", "Disabled"}},
};

const Rows kOpenBmc{
    {.type = Type::flag, .name = "Socket0Pcie0AdvertiseACS", .usual = true},
    {.type = Type::flag, .name = "Socket0Pcie1AdvertiseACS", .usual = true},
    {.type = Type::flag, .name = "Socket1Pcie0AdvertiseACS", .usual = true},
    {.name = "SerialPortConfiguration",
     .usual = "ConsoleEnabledSbsa",
     .choices = {"PortDisabled", "ConsoleEnabledSbsa", "SerialDebugEnabledSbsa"}},
};

const std::map<std::string_view, const Rows*> kOwn{{"dgx", &kAmi},
                                                   {"ami", &kAmi},
                                                   {"dell", &kDell},
                                                   {"hpe", &kHpe},
                                                   {"hpe-ilo5", &kHpe},
                                                   {"lenovo", &kLenovo},
                                                   {"supermicro", &kSupermicro},
                                                   {"openbmc", &kOpenBmc}};

}  // namespace

const std::vector<BiosAttribute>& bios_attributes(std::string_view vendor) {
  static const auto all = [] {
    std::map<std::string_view, Rows> made;
    for (const auto& [name, own] : kOwn) {
      auto& rows = made[name] = kOfAll;
      rows.insert(rows.end(), own->begin(), own->end());
    }
    return made;
  }();
  const auto found = all.find(vendor);
  return found == all.end() ? kOfAll : found->second;
}

}  // namespace cupel::rehearsal
