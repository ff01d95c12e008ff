#pragma once
// What a node's /proc, /sys, /dev and /etc say: made from the machine's hardware.
#include <memory>
#include <string>
#include <string_view>

namespace cupel::rehearsal {

class Host;
class Process;
struct Hardware;

inline constexpr std::string_view kKernelRelease = "6.1.0-21-amd64";
inline constexpr std::string_view kKernelVersion = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.90-1";
inline constexpr std::string_view kCommandLine =
    "BOOT_IMAGE=/boot/vmlinuz-6.1.0-21-amd64 root=/dev/md0 ro iommu=pt";

/// As they are, unless a fault says otherwise.
std::string kernel_release(const Hardware& hardware);
std::string command_line(const Hardware& hardware);

/// Where the shared file system is mounted, of type lustre. Each node's own: nothing that one
/// writes shows on another.
inline constexpr std::string_view kSharedFolder = "/lustre";

/// What an installed disk holds: /etc, /root, /var, the programs' names. Once in a node's life.
void plant_disk(Host& host);

/// What the kernel shows of the hardware there is now. Again at every boot and every refit.
void plant_system(Host& host);

/// /proc/NUMBER of one process; removed when it ends.
void plant_process(Host& host, const std::shared_ptr<Process>& process);

}  // namespace cupel::rehearsal
