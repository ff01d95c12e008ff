#pragma once
// What node-facts prints on a small DGX: two threads for each CPU, two memory controllers, one of
// everything else.
#include <string_view>

namespace cupel::burnin {

constexpr std::string_view kNodeText = R"(/proc/cpuinfo:processor	: 0
/proc/cpuinfo:vendor_id	: GenuineIntel
/proc/cpuinfo:model name	: Intel(R) Xeon(R) Platinum 8480C
/proc/cpuinfo:physical id	: 0
/proc/cpuinfo:cpu cores	: 56
/proc/cpuinfo:processor	: 1
/proc/cpuinfo:vendor_id	: GenuineIntel
/proc/cpuinfo:model name	: Intel(R) Xeon(R) Platinum 8480C
/proc/cpuinfo:physical id	: 1
/proc/cpuinfo:cpu cores	: 56
/proc/cpuinfo:processor	: 2
/proc/cpuinfo:physical id	: 0
/proc/cpuinfo:cpu cores	: 56
/proc/cpuinfo:processor	: 3
/proc/cpuinfo:physical id	: 1
/proc/cpuinfo:cpu cores	: 56
/proc/meminfo:MemTotal:       2113431404 kB
/proc/sys/kernel/osrelease:5.15.0-1046-nvidia
/sys/class/dmi/id/sys_vendor:NVIDIA
/sys/class/dmi/id/product_name:DGXH100
/sys/class/dmi/id/product_serial:1664922000123
/sys/class/dmi/id/bios_version:01.01.03
/sys/devices/system/edac/mc/mc0/mc_name:Intel_0 Socket#0 IMC#0
/sys/devices/system/edac/mc/mc1/mc_name:Intel_0 Socket#0 IMC#1
/sys/devices/system/edac/mc/mc0/ue_count:2
/sys/devices/system/edac/mc/mc1/ue_count:0
/sys/devices/system/edac/mc/mc0/ce_count:3
/sys/devices/system/edac/mc/mc1/ce_count:4
/sys/devices/system/edac/mc/mc0/dimm1/dimm_label:CPU_SrcID#0_MC#0_Chan#1_DIMM#0
/sys/devices/system/edac/mc/mc0/dimm1/dimm_ue_count:2
/sys/devices/system/edac/mc/mc0/dimm1/dimm_ce_count:3
/sys/class/nvme/nvme0/model:SAMSUNG MZWLO3T8HCLS-00A07
/sys/class/nvme/nvme0/serial:S6XXNE0T123456
/sys/class/nvme/nvme0/firmware_rev:OPPA4B5Q
/sys/class/nvme/nvme0/state:live
/sys/class/nvme/nvme0/nvme0n1/size:7501476528
/sys/class/nvme/nvme0/device/current_link_width:4
/sys/class/nvme/nvme0/device/uevent:PCI_SLOT_NAME=0000:ab:00.0
/sys/class/infiniband/mlx5_0/hca_type:MT4129
/sys/class/infiniband/mlx5_0/fw_ver:28.41.1000
/sys/class/infiniband/mlx5_0/board_id:MT_0000000838
/sys/class/infiniband/mlx5_0/device/current_link_width:16
/sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE
/sys/class/infiniband/mlx5_0/ports/1/phys_state:5: LinkUp
/sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec (4X NDR)
/sys/class/infiniband/mlx5_0/ports/1/link_layer:InfiniBand
/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed:0
/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error:0
/sys/class/infiniband/mlx5_0/device/uevent:PCI_SLOT_NAME=0000:18:00.0
/sys/class/net/lo/address:00:00:00:00:00:00
/sys/class/net/lo/type:772
/sys/class/net/eno1/address:94:6d:ae:00:11:22
/sys/class/net/eno1/type:1
/sys/class/net/eno1/speed:10000
/sys/class/net/ibp24s0/address:00:00:10:29:fe:80:00:00
/sys/class/net/ibp24s0/type:32
/sys/class/net/br0/address:94:6d:ae:00:11:22
/sys/class/net/br0/type:1
/sys/class/net/eno1/device/uevent:DRIVER=i40e
/sys/class/net/eno1/device/uevent:PCI_SLOT_NAME=0000:0b:00.0
/sys/class/net/ibp24s0/device/uevent:PCI_SLOT_NAME=0000:18:00.0
# dmidecode 3.3
Getting SMBIOS data from sysfs.
SMBIOS 3.5 present.

Handle 0x0030, DMI type 17, 92 bytes
Memory Device
	Array Handle: 0x002F
	Total Width: 80 bits
	Size: 64 GB
	Locator: DIMM A1
	Bank Locator: P0 CHANNEL A
	Type: DDR5
	Speed: 4800 MT/s
	Manufacturer: Samsung
	Serial Number: 80CE012345
	Part Number: M321R8GA0BB0-CQKZJ
	Configured Memory Speed: 4800 MT/s

Handle 0x0031, DMI type 17, 92 bytes
Memory Device
	Size: No Module Installed
	Locator: A2

Handle 0x0032, DMI type 17, 92 bytes
Memory Device
	Size: 65536 MB
	Locator: B1
	Serial Number: Not Specified

cupel-all-told
)";

/// What smartctl adds of the drive there.
inline constexpr std::string_view kSmart = R"(cupel-smart: nvme0
{"nvme_smart_health_information_log":{"critical_warning":0,"available_spare":100,)"
                                           R"("percentage_used":0,"media_errors":0}}
cupel-smart-end
)";

}  // namespace cupel::burnin
