#pragma once
// NVML, found on the node when we run: nothing of NVIDIA's is needed to build. Own declarations of
// the few functions that are asked, each of which may be missing in an older or newer driver, with
// the sizes of structs checked. Asks; sets nothing.
// Source: NVML API reference (docs.nvidia.com/deploy/nvml-api), names and numbers of nvml.h.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/common/nvml_fabric.h"
#include "burnin/agent/common/shared_library.h"

namespace cupel::agent::nvml {

using Device = struct nvmlDevice_st*;

struct Memory {
  unsigned long long total, free, used;  // bytes
};
static_assert(sizeof(Memory) == 24);

struct Utilization {
  unsigned gpu, memory;  // per cent
};
static_assert(sizeof(Utilization) == 8);

struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, ids, subsystem;
  char address[32];  // "00000000:1B:00.0"
};
static_assert(sizeof(PciInfo) == 68);

union Value {
  double real;
  int signed_int;
  unsigned unsigned_int;
  unsigned long long unsigned_long;
  long long signed_long;
  unsigned short unsigned_short;
};

struct FieldValue {
  unsigned field, scope;
  long long micros, latency;
  int type, error;
  Value value;
};
static_assert(sizeof(FieldValue) == 40);

/// Ids of nvmlDeviceGetFieldValues.
enum Field : unsigned {
  kEccCorrectedVolatile = 3,
  kEccUncorrectedVolatile = 4,
  kEccCorrectedLifetime = 5,
  kEccUncorrectedLifetime = 6,
  kNvlinkCrcFlit = 38,
  kNvlinkCrcData = 45,
  kNvlinkReplay = 52,
  kNvlinkRecovery = 59,
  kMemoryTemperature = 82,
  kPcieReplay = 94,
  kRemappedCorrectable = 142,
  kRemappedUncorrectable = 143,
  kRemapPending = 144,
  kRemapFailed = 145,
  // Of NVLink 5 (Blackwell), which no longer counts those above.
  kNvlinkMalformed = 206,
  kNvlinkOverruns = 207,
  kNvlinkReceiveErrors = 208,
  kNvlinkRemoteErrors = 209,
  kNvlinkGeneralErrors = 210,
  kNvlinkIntegrityErrors = 211,
  kNvlinkDiscards = 212,
  kNvlinkRecoveriesFailed = 214,
  kNvlinkRecoveries = 215,
  kNvlinkEffectiveErrors = 219,
  kNvlinkEffectiveBer = 220,
  kNvlinkSymbolErrors = 221,
  kNvlinkSymbolBer = 222,
};

/// These are counted link by link, and are asked for all links of a GPU together.
constexpr bool is_of_nvlink_5(unsigned field) { return field >= 202 && field <= 222; }

/// Of the two BERs: bits 8 to 11 times ten to the power of minus bits 0 to 7.
/// Source: NVML, NVML_NVLINK_ERROR_COUNTER_BER_GET.
double bit_error_rate(double reported);

/// What a call gave: a value, or why not ("not supported", "nvmlDeviceGetX is not in this
/// library").
template <class T>
struct Answer {
  std::optional<T> value{};
  std::string_view why{};
};

/// The driver's own library, as the node's loader finds it.
inline constexpr std::string_view kFileName = "libnvidia-ml.so.1";

/// One loaded libnvidia-ml.so.1; there is no second one in a process.
class Library {
 public:
  /// Never fails: where it can't be loaded or begun, why() says so and there are no devices.
  explicit Library(const std::string& file = std::string{kFileName});
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool works() const { return why_.empty(); }
  const std::string& why() const { return why_; }

  /// Two-part versions as they are: "580.65.06", "13.580.65.06".
  Answer<std::string> driver_version() const;
  Answer<std::string> library_version() const;
  Answer<unsigned> count() const;
  Answer<Device> device(unsigned index) const;
  /// By its address, as "0000:1b:00.0".
  Answer<Device> device_at(const std::string& pci) const;
  /// As nvidia-smi counts, also where CUDA does not see all of them.
  Answer<unsigned> index(Device device) const;

  Answer<std::string> name(Device device) const;
  Answer<std::string> uuid(Device device) const;
  Answer<std::string> serial(Device device) const;
  Answer<std::string> vbios(Device device) const;
  Answer<std::string> board_part(Device device) const;
  Answer<unsigned> board_id(Device device) const;
  Answer<std::string> pci(Device device) const;  // as it is written: "00000000:1B:00.0"
  Answer<Memory> memory(Device device) const;
  Answer<bool> persistence(Device device) const;
  /// Of now, and after the next reset.
  Answer<std::pair<bool, bool>> ecc(Device device) const;
  Answer<std::pair<bool, bool>> mig(Device device) const;

  Answer<double> watts(Device device) const;
  Answer<double> limit_watts(Device device) const;     // as somebody set it
  Answer<double> enforced_watts(Device device) const;  // the least of all that hold it back
  Answer<double> default_watts(Device device) const;
  Answer<std::pair<double, double>> limits_watts(Device device) const;  // least, most
  Answer<unsigned> celsius(Device device) const;
  Answer<unsigned> sm_mhz(Device device) const;
  Answer<unsigned> memory_mhz(Device device) const;
  Answer<unsigned> max_sm_mhz(Device device) const;
  Answer<Utilization> utilization(Device device) const;
  Answer<std::uint64_t> throttle(Device device) const;  // bits: throttle_words()

  Answer<unsigned> pcie_gen(Device device) const;
  Answer<unsigned> pcie_gen_max(Device device) const;
  Answer<unsigned> pcie_width(Device device) const;
  Answer<unsigned> pcie_width_max(Device device) const;
  Answer<bool> nvlink_active(Device device, unsigned link) const;
  /// By the newest call that the driver has: only newer ones report the fabric's health.
  Answer<Fabric> fabric(Device device) const;

  /// Several at once: one way into the driver. In the order in which they were asked. Counters of
  /// links are those of all links together; the BERs are as bit_error_rate() takes them.
  std::vector<Answer<double>> fields(Device device, const std::vector<unsigned>& ids) const;

 private:
  template <class... Types, class... Given>
  int call(const char* name, Given... given) const;

  std::optional<SharedLibrary> loaded_{};
  std::string why_{};
};

/// "power-cap", "hw-thermal", ...: the words of the bits that are set; "idle" and what somebody set
/// on purpose (application clocks) among them.
std::vector<std::string_view> throttle_words(std::uint64_t bits);
inline constexpr std::array<std::string_view, 9> kThrottleWords{
    "idle",       "application-clocks", "power-cap",   "hw-slowdown",  "sync-boost",
    "sw-thermal", "hw-thermal",         "power-brake", "display-clock"};

/// nvmlReturn_t in words.
std::string_view error_text(int code);

}  // namespace cupel::agent::nvml
