#pragma once
// What one line of the kernel's log says of a part: Xid, SXid, MCE, EDAC, AER, NMI, IOMMU, NVMe,
// mlx5, OOM, I/O. Pure; who the part is by its name (gpu3, mlx5_5) is reported elsewhere, by its
// PCI address.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::agent {

enum class MessageKind : std::uint8_t {
  xid,
  sxid,
  gpu,        // the driver lost a GPU or could not start it, in words of its own
  gpu_reset,  // the driver refuses a GPU until it is reset
  mce,        // machine checks, and pages that were given up
  edac,       // memory errors
  aer,
  pcie,  // a slot or a link of a device: "Link Down", less bandwidth than it could have
  nvme,
  disk,  // I/O errors of other drives, of arrays and of file systems
  mlx5,
  link,  // a network port lost or gained its carrier
  oom,
  thermal,
  hang,   // a task or a CPU that stands still, an oops, memory of the kernel that is damaged
  net,    // a network card's queue or hardware hangs
  iommu,  // a device reached for memory that is not its own
  nmi,    // the chipset reported an error by a non-maskable interrupt
};
constexpr int kMessageKinds = 18;
std::string_view to_string(MessageKind kind);

enum class Weight : std::uint8_t {
  harmless,     // known to say nothing: floods of internal ports
  information,  // worth counting, no fault by itself
  corrected,    // hardware corrected it
  error,        // a fault, or work that was lost
};
std::string_view to_string(Weight weight);

struct KernelMessage {
  MessageKind kind{};
  Weight weight = Weight::error;
  std::optional<int> code{};  // Xid, SXid
  std::string pci{};          // "0000:1b:00.0"; empty: not reported
  std::string part{};         // where the line names it itself: "nvme0", "nvswitch2", "CPU3", "ib6"
  std::string detail{};       // what follows, at most 160 bytes of printable ASCII

  friend bool operator==(const KernelMessage&, const KernelMessage&) = default;
};

/// `line`: the message, with or without the stamps that dmesg, syslog or pstore put in front.
/// Nothing where it is none of the kinds. Source: NVIDIA's Xid catalogue; the kernel's
/// drivers/edac, drivers/pci/pcie/aer.c, drivers/nvme/host, drivers/net/ethernet/mellanox/mlx5,
/// mm/oom_kill.c.
std::optional<KernelMessage> recognise(std::string_view line);

/// One record of /dev/kmsg: "6,3964,206764307,-;text\n SUBSYSTEM=pci\n DEVICE=+pci:0000:1b:00.0\n".
struct KernelRecord {
  int priority = 6;  // of syslog(3)
  std::uint64_t sequence = 0;
  double seconds = 0;  // since the boot
  std::string text{};
  std::string device{};  // "+pci:0000:1b:00.0"; empty: not reported
};
/// Nothing where it is none. Source: Documentation/ABI/testing/dev-kmsg of Linux.
std::optional<KernelRecord> parse_record(std::string_view record);

/// As recognise(), and the record's own device where the line does not name one.
std::optional<KernelMessage> recognise(const KernelRecord& record);

class FirmwareReport;

/// Records in their order, for messages that take several lines.
class MessageReader {
 public:
  MessageReader();
  ~MessageReader();

  /// What is complete with this record: none, one or two.
  std::vector<KernelMessage> read(const KernelRecord& record);
  /// What is still open, where nothing follows for now.
  std::optional<KernelMessage> rest();

 private:
  std::unique_ptr<FirmwareReport> report_;
};

}  // namespace cupel::agent
