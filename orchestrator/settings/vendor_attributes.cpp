#include "orchestrator/settings/vendor_attributes.h"

#include <array>

namespace cupel::settings {
namespace {

constexpr std::array<std::string_view, 3> kOn{"Enabled", "Enable", "true"};
constexpr std::array<std::string_view, 3> kOff{"Disabled", "Disable", "false"};
constexpr std::array kSwitch{ValueSpelling{"on", kOn}, ValueSpelling{"off", kOff}};

// Clusters within a socket. Two of them are just "Enabled" where there is no choice of how many.
constexpr std::array<std::string_view, 2> kOneCluster{"Disabled", "Disable"};
constexpr std::array<std::string_view, 6> kTwoClusters{
    "2-Way", "Enabled", "Enable", "SNC2", "EnableSNC2", "Enable SNC2 (2-clusters)"};
constexpr std::array<std::string_view, 4> kFourClusters{"4-Way", "SNC4", "EnableSNC4",
                                                        "Enable SNC4 (4-clusters)"};
constexpr std::array kClusters{ValueSpelling{"1", kOneCluster}, ValueSpelling{"2", kTwoClusters},
                               ValueSpelling{"4", kFourClusters}};

constexpr std::array<std::string_view, 3> kNps1{"1", "NPS1", "OneMemoryDomainPerSocket"};
constexpr std::array<std::string_view, 3> kNps2{"2", "NPS2", "TwoMemoryDomainsPerSocket"};
constexpr std::array<std::string_view, 3> kNps4{"4", "NPS4", "FourMemoryDomainsPerSocket"};
constexpr std::array kNps{ValueSpelling{"1", kNps1}, ValueSpelling{"2", kNps2},
                          ValueSpelling{"4", kNps4}};

constexpr std::array<std::string_view, 1> kDellFast{"PerfOptimized"};
constexpr std::array<std::string_view, 1> kDellBalanced{"PerfPerWattOptimizedDapc"};
constexpr std::array<std::string_view, 1> kDellSaving{"PerfPerWattOptimizedOs"};
constexpr std::array kDellProfiles{ValueSpelling{"performance", kDellFast},
                                   ValueSpelling{"balanced", kDellBalanced},
                                   ValueSpelling{"efficiency", kDellSaving}};

constexpr std::array<std::string_view, 1> kHpeFast{"HighPerformanceCompute(HPC)"};
constexpr std::array<std::string_view, 1> kHpeBalanced{"GeneralPeakFrequencyCompute"};
constexpr std::array<std::string_view, 1> kHpeSaving{"GeneralPowerEfficientCompute"};
constexpr std::array kHpeProfiles{ValueSpelling{"performance", kHpeFast},
                                  ValueSpelling{"balanced", kHpeBalanced},
                                  ValueSpelling{"efficiency", kHpeSaving}};

constexpr std::array<std::string_view, 1> kLenovoFast{"MaximumPerformance"};
constexpr std::array<std::string_view, 1> kLenovoBalanced{"Efficiency_FavorPerformance"};
constexpr std::array<std::string_view, 1> kLenovoSaving{"Efficiency_FavorPower"};
constexpr std::array kLenovoProfiles{ValueSpelling{"performance", kLenovoFast},
                                     ValueSpelling{"balanced", kLenovoBalanced},
                                     ValueSpelling{"efficiency", kLenovoSaving}};

constexpr std::array<std::string_view, 1> kAmiFast{"Performance"};
constexpr std::array<std::string_view, 1> kAmiBalanced{"Balanced Performance"};
constexpr std::array<std::string_view, 1> kAmiSaving{"Power"};
constexpr std::array kAmiProfiles{ValueSpelling{"performance", kAmiFast},
                                  ValueSpelling{"balanced", kAmiBalanced},
                                  ValueSpelling{"efficiency", kAmiSaving}};

constexpr std::array<std::string_view, 2> kDellSerialOn{"OnConRedir", "OnConRedirAuto"};
constexpr std::array<std::string_view, 1> kDellSerialOff{"Off"};
constexpr std::array kDellSerial{ValueSpelling{"on", kDellSerialOn},
                                 ValueSpelling{"off", kDellSerialOff}};

constexpr std::array<std::string_view, 2> kHpeSerialOn{"Virtual", "Auto"};
constexpr std::array<std::string_view, 1> kHpeSerialOff{"Disabled"};
constexpr std::array kHpeSerial{ValueSpelling{"on", kHpeSerialOn},
                                ValueSpelling{"off", kHpeSerialOff}};

constexpr std::array<std::string_view, 1> kGraceSerialOn{"ConsoleEnabledSbsa"};
constexpr std::array<std::string_view, 1> kGraceSerialOff{"PortDisabled"};
constexpr std::array kGraceSerial{ValueSpelling{"on", kGraceSerialOn},
                                  ValueSpelling{"off", kGraceSerialOff}};

constexpr std::string_view kR750 = "PowerEdge R750, BIOS 1.8.2, attribute registry",
                           kPowerEdgeAmd = "Dell, PowerEdge BIOS attributes, AMD platforms",
                           kDl380a = "ProLiant DL380a Gen11, U58 1.2.44",
                           kDl385 = "ProLiant DL385 Gen10 Plus v2, A42 2.60, attribute registry",
                           kSr670 = "ThinkSystem SR670 V2, TGBT42S, attribute registry",
                           kSys821 = "Supermicro SYS-821GE-TNHR, BIOS attributes",
                           kDgx = "DGX H100, attribute registry 113.1.1.3",
                           kH262 = "GIGABYTE H262-Z63, attribute registry",
                           kGb200 = "GB200 NVL compute tray, attribute registry",
                           kIdracJob =
                               "iDRAC: an own resource would need a job of its own, and it "
                               "takes one at a time";

constexpr std::array kRows{
    VendorAttribute{"Dell", "iommu", "IommuSupport", kSwitch, kPowerEdgeAmd},
    // Intel boards have no switch of its own: "Virtualization Technology" is both VT-x and VT-d.
    VendorAttribute{"Dell", "iommu", "ProcVirtualization", kSwitch, kR750},
    VendorAttribute{"Dell", "numa_per_socket", "SubNumaCluster", kClusters, kR750},
    VendorAttribute{"Dell", "numa_per_socket", "NumaNodesPerSocket", kNps, kPowerEdgeAmd},
    VendorAttribute{"Dell", "power_profile", "SysProfile", kDellProfiles, kR750},
    VendorAttribute{"Dell", "sr_iov", "SriovGlobalEnable", kSwitch, kR750},
    VendorAttribute{"Dell", "smt", "LogicalProc", kSwitch, kR750},
    VendorAttribute{"Dell", "sol", "SerialComm", kDellSerial, kR750},
    VendorAttribute{"Dell", "secure_boot", "SecureBoot", kSwitch, kIdracJob},

    VendorAttribute{"HPE", "iommu", "IntelProcVtd", kSwitch, kDl380a},
    VendorAttribute{"HPE", "iommu", "ProcAmdIoVt", kSwitch, kDl385},
    VendorAttribute{"HPE", "acs", "AccessControlService", kSwitch, kDl385},
    VendorAttribute{"HPE", "numa_per_socket", "SubNumaClustering", kClusters, kDl380a},
    VendorAttribute{"HPE", "numa_per_socket", "NumaMemoryDomainsPerSocket", kNps, kDl385},
    VendorAttribute{"HPE", "power_profile", "WorkloadProfile", kHpeProfiles, kDl385},
    VendorAttribute{"HPE", "sr_iov", "Sriov", kSwitch, kDl385},
    VendorAttribute{"HPE", "smt", "ProcHyperthreading", kSwitch, kDl380a},
    VendorAttribute{"HPE", "smt", "ProcSMT", kSwitch, kDl385},
    VendorAttribute{"HPE", "sol", "SerialConsolePort", kHpeSerial, kDl385},

    VendorAttribute{"Lenovo", "iommu", "DevicesandIOPorts_IntelVTforDirectedIOVTd", kSwitch,
                    kSr670},
    VendorAttribute{"Lenovo", "acs", "Processors_PCIeACSCTL", kSwitch, kSr670},
    VendorAttribute{"Lenovo", "numa_per_socket", "Processors_SNC", kClusters, kSr670},
    VendorAttribute{"Lenovo", "power_profile", "OperatingModes_ChooseOperatingMode",
                    kLenovoProfiles, kSr670},
    VendorAttribute{"Lenovo", "sr_iov", "DevicesandIOPorts_SRIOV", kSwitch, kSr670},
    VendorAttribute{"Lenovo", "smt", "Processors_HyperThreading", kSwitch, kSr670},
    VendorAttribute{"Lenovo", "sol", "DevicesandIOPorts_ConsoleRedirection", kSwitch, kSr670},

    // Names end with four digits that change with the board's BIOS.
    VendorAttribute{"Supermicro", "iommu", "IntelVTforDirectedI_O_VT_d__*", kSwitch, kSys821},
    VendorAttribute{"Supermicro", "acs", "PCIeACSCTL_*", kSwitch, kSys821},
    VendorAttribute{"Supermicro", "numa_per_socket", "SNC_*", kClusters, kSys821},
    VendorAttribute{"Supermicro", "sr_iov", "SR_IOVSupport_*", kSwitch, kSys821},
    VendorAttribute{"Supermicro", "smt", "Hyper_Threading_ALL__*", kSwitch, kSys821},
    // One for COM1 and one for SOL, of the same name: the BIOS writes to both, or to none.
    VendorAttribute{"Supermicro", "sol", "ConsoleRedirection_*", kSwitch, kSys821},

    VendorAttribute{"NVIDIA", "iommu", "VTdSupport", kSwitch, kDgx},
    VendorAttribute{"NVIDIA", "acs", "Socket*Pcie*AdvertiseACS", kSwitch, kGb200},
    VendorAttribute{"NVIDIA", "power_profile", "AltEngPerfBIAS", kAmiProfiles, kDgx},
    VendorAttribute{"NVIDIA", "sr_iov", "SriovSupport", kSwitch, kDgx},
    // Its name says Disable; its registry calls it "Hyper-Threading", and Enabled is on.
    VendorAttribute{"NVIDIA", "smt", "ProcessorHyperThreadingDisable", kSwitch, kDgx},
    VendorAttribute{"NVIDIA", "sol", "ConsoleRedirectionEnable0", kSwitch, kDgx},
    VendorAttribute{"NVIDIA", "sol", "SerialPortConfiguration", kGraceSerial, kGb200},

    VendorAttribute{"AMI", "iommu", "VTdSupport", kSwitch, kDgx},
    VendorAttribute{"AMI", "power_profile", "AltEngPerfBIAS", kAmiProfiles, kDgx},
    VendorAttribute{"AMI", "sr_iov", "SriovSupport", kSwitch, kDgx},
    VendorAttribute{"AMI", "smt", "ProcessorHyperThreadingDisable", kSwitch, kDgx},
    VendorAttribute{"AMI", "sol", "ConsoleRedirectionEnable0", kSwitch, kDgx},

    VendorAttribute{"GIGABYTE", "iommu", "Rome0162", kSwitch, kH262},
    VendorAttribute{"GIGABYTE", "acs", "Rome0164", kSwitch, kH262},
    VendorAttribute{"GIGABYTE", "numa_per_socket", "Rome0075", kNps, kH262},
    VendorAttribute{"GIGABYTE", "sr_iov", "PCIS007", kSwitch, kH262},

    VendorAttribute{"OpenBMC", "acs", "Socket*Pcie*AdvertiseACS", kSwitch, kGb200},
    VendorAttribute{"OpenBMC", "sol", "SerialPortConfiguration", kGraceSerial, kGb200},
};

}  // namespace

std::span<const VendorAttribute> vendor_attributes() { return kRows; }

std::vector<const VendorAttribute*> attributes_of(std::string_view vendor,
                                                  std::string_view setting) {
  std::vector<const VendorAttribute*> rows;
  for (const auto& row : kRows)
    if (row.vendor == vendor && row.setting == setting) rows.push_back(&row);
  return rows;
}

bool matches(std::string_view pattern, std::string_view name) {
  const auto star = pattern.find('*');
  if (star == pattern.npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const auto rest = pattern.substr(star + 1);
  for (auto from = star; from <= name.size(); ++from)
    if (matches(rest, name.substr(from))) return true;
  return false;
}

}  // namespace cupel::settings
