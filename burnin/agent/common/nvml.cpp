#include "burnin/agent/common/nvml.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace cupel::agent::nvml {
namespace {

constexpr int kSuccess = 0, kFunctionNotFound = 13;
constexpr int kSmClock = 1, kMemoryClock = 2, kDieTemperature = 0;
constexpr unsigned kLongestText = 96;  // NVML's own buffers are 80 at most

constexpr std::array<std::pair<int, std::string_view>, 19> kErrors{{
    {1, "NVML was not begun"},
    {2, "invalid argument"},
    {3, "not supported"},
    {4, "no permission"},
    {6, "not found"},
    {8, "its power cables are not attached"},
    {9, "the driver is not loaded"},
    {10, "timeout"},
    {11, "interrupts do not work"},
    {13, "not in this driver's NVML"},
    {14, "its infoROM is corrupted"},
    {15, "the GPU is lost"},
    {16, "the GPU needs a reset"},
    {17, "the system forbids it (cgroups)"},
    {18, "driver and library are of two versions"},
    {19, "in use"},
    {21, "no data"},
    {25, "not this version of the struct"},
    {999, "an internal error of the driver"},
}};

template <class T>
Answer<T> answer(int code, T value) {
  if (code != kSuccess) return {.why = error_text(code)};
  return {.value = std::move(value)};
}

/// nvmlValueType_t.
std::optional<double> real_of(const FieldValue& reported) {
  switch (reported.type) {
    case 0:
      return std::isfinite(reported.value.real) ? std::optional{reported.value.real} : std::nullopt;
    case 1:
      return reported.value.unsigned_int;
    case 2:
    case 3:
      return static_cast<double>(reported.value.unsigned_long);
    case 4:
      return static_cast<double>(reported.value.signed_long);
    case 5:
      return reported.value.signed_int;
    case 6:
      return reported.value.unsigned_short;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string_view error_text(int code) {
  const auto* found = std::ranges::find(kErrors, code, &std::pair<int, std::string_view>::first);
  return found == kErrors.end() ? "an error that has no name here" : found->second;
}

std::vector<std::string_view> throttle_words(std::uint64_t bits) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < kThrottleWords.size(); ++i)
    if ((bits >> i & 1) != 0) words.push_back(kThrottleWords[i]);
  return words;
}

double bit_error_rate(double reported) {
  const auto bits = static_cast<std::uint64_t>(reported);
  return static_cast<double>(bits >> 8 & 0xF) * std::pow(10.0, -static_cast<double>(bits & 0xFF));
}

/// By name, at each question: a table of thirty pointers with casts would say the same twice, and
/// looking one up costs less than a microsecond of the driver's hundred.
template <class... Types, class... Given>
int Library::call(const char* name, Given... given) const {
  void* const found = loaded_ ? loaded_->find(name) : nullptr;
  auto* const function = reinterpret_cast<int (*)(Types...)>(found);
  return function == nullptr ? kFunctionNotFound : function(given...);
}

Library::Library(const std::string& file) {
  auto opened = SharedLibrary::open(std::array{file});
  if (!opened) {
    why_ = std::move(opened).error().what;
    return;
  }
  loaded_ = *std::move(opened);
  const int begun = call<>("nvmlInit_v2");
  if (begun != kSuccess) why_ = "nvmlInit_v2: " + std::string{error_text(begun)};
}

Library::~Library() {
  if (works()) call<>("nvmlShutdown");
}

namespace {

/// Of a fixed buffer that may lack its final zero.
std::string text_of(const char* buffer, std::size_t size) {
  return {buffer, std::find(buffer, buffer + size, '\0')};
}

}  // namespace

// Each of these is one function of NVML; the ways of passing differ, the meaning does not.
#define CUPEL_NVML_TEXT(method, function)                                                 \
  Answer<std::string> Library::method(Device device) const {                              \
    char text[kLongestText] = "";                                                         \
    const int code = call<Device, char*, unsigned>(function, device, text, kLongestText); \
    return answer(code, text_of(text, kLongestText));                                     \
  }
#define CUPEL_NVML_NUMBER(method, function)                             \
  Answer<unsigned> Library::method(Device device) const {               \
    unsigned value = 0;                                                 \
    const int code = call<Device, unsigned*>(function, device, &value); \
    return answer(code, value);                                         \
  }
#define CUPEL_NVML_WATTS(method, function)                                   \
  Answer<double> Library::method(Device device) const {                      \
    unsigned milliwatts = 0;                                                 \
    const int code = call<Device, unsigned*>(function, device, &milliwatts); \
    return answer(code, milliwatts / 1000.0);                                \
  }

CUPEL_NVML_TEXT(name, "nvmlDeviceGetName")
CUPEL_NVML_TEXT(uuid, "nvmlDeviceGetUUID")
CUPEL_NVML_TEXT(serial, "nvmlDeviceGetSerial")
CUPEL_NVML_TEXT(vbios, "nvmlDeviceGetVbiosVersion")
CUPEL_NVML_TEXT(board_part, "nvmlDeviceGetBoardPartNumber")
CUPEL_NVML_NUMBER(index, "nvmlDeviceGetIndex")
CUPEL_NVML_NUMBER(board_id, "nvmlDeviceGetBoardId")
CUPEL_NVML_NUMBER(pcie_gen, "nvmlDeviceGetCurrPcieLinkGeneration")
CUPEL_NVML_NUMBER(pcie_gen_max, "nvmlDeviceGetMaxPcieLinkGeneration")
CUPEL_NVML_NUMBER(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth")
CUPEL_NVML_NUMBER(pcie_width_max, "nvmlDeviceGetMaxPcieLinkWidth")
CUPEL_NVML_WATTS(watts, "nvmlDeviceGetPowerUsage")
CUPEL_NVML_WATTS(limit_watts, "nvmlDeviceGetPowerManagementLimit")
CUPEL_NVML_WATTS(enforced_watts, "nvmlDeviceGetEnforcedPowerLimit")
CUPEL_NVML_WATTS(default_watts, "nvmlDeviceGetPowerManagementDefaultLimit")

Answer<std::string> Library::driver_version() const {
  char text[kLongestText] = "";
  const int code = call<char*, unsigned>("nvmlSystemGetDriverVersion", text, kLongestText);
  return answer(code, text_of(text, kLongestText));
}

Answer<std::string> Library::library_version() const {
  char text[kLongestText] = "";
  const int code = call<char*, unsigned>("nvmlSystemGetNVMLVersion", text, kLongestText);
  return answer(code, text_of(text, kLongestText));
}

Answer<unsigned> Library::count() const {
  unsigned value = 0;
  const int code = call<unsigned*>("nvmlDeviceGetCount_v2", &value);
  return answer(code, value);
}

Answer<Device> Library::device(unsigned index) const {
  Device found = nullptr;
  const int code = call<unsigned, Device*>("nvmlDeviceGetHandleByIndex_v2", index, &found);
  return answer(code, found);
}

Answer<Device> Library::device_at(const std::string& pci) const {
  Device found = nullptr;
  const int code =
      call<const char*, Device*>("nvmlDeviceGetHandleByPciBusId_v2", pci.c_str(), &found);
  return answer(code, found);
}

Answer<std::string> Library::pci(Device device) const {
  PciInfo reported{};
  const int code = call<Device, PciInfo*>("nvmlDeviceGetPciInfo_v3", device, &reported);
  return answer(code, text_of(reported.address, sizeof reported.address));
}

Answer<Memory> Library::memory(Device device) const {
  Memory reported{};
  return answer(call<Device, Memory*>("nvmlDeviceGetMemoryInfo", device, &reported), reported);
}

Answer<bool> Library::persistence(Device device) const {
  int on = 0;
  const int code = call<Device, int*>("nvmlDeviceGetPersistenceMode", device, &on);
  return answer(code, on == 1);
}

Answer<std::pair<bool, bool>> Library::ecc(Device device) const {
  int now = 0, then = 0;
  const int code = call<Device, int*, int*>("nvmlDeviceGetEccMode", device, &now, &then);
  return answer(code, std::pair{now == 1, then == 1});
}

Answer<std::pair<bool, bool>> Library::mig(Device device) const {
  unsigned now = 0, then = 0;
  const int code = call<Device, unsigned*, unsigned*>("nvmlDeviceGetMigMode", device, &now, &then);
  return answer(code, std::pair{now == 1, then == 1});
}

Answer<std::pair<double, double>> Library::limits_watts(Device device) const {
  unsigned least = 0, most = 0;
  const int code = call<Device, unsigned*, unsigned*>(
      "nvmlDeviceGetPowerManagementLimitConstraints", device, &least, &most);
  return answer(code, std::pair{least / 1000.0, most / 1000.0});
}

Answer<unsigned> Library::celsius(Device device) const {
  unsigned value = 0;
  const int code =
      call<Device, int, unsigned*>("nvmlDeviceGetTemperature", device, kDieTemperature, &value);
  return answer(code, value);
}

Answer<unsigned> Library::sm_mhz(Device device) const {
  unsigned value = 0;
  const int code = call<Device, int, unsigned*>("nvmlDeviceGetClockInfo", device, kSmClock, &value);
  return answer(code, value);
}

Answer<unsigned> Library::memory_mhz(Device device) const {
  unsigned value = 0;
  const int code =
      call<Device, int, unsigned*>("nvmlDeviceGetClockInfo", device, kMemoryClock, &value);
  return answer(code, value);
}

Answer<unsigned> Library::max_sm_mhz(Device device) const {
  unsigned value = 0;
  const int code =
      call<Device, int, unsigned*>("nvmlDeviceGetMaxClockInfo", device, kSmClock, &value);
  return answer(code, value);
}

Answer<Utilization> Library::utilization(Device device) const {
  Utilization reported{};
  return answer(call<Device, Utilization*>("nvmlDeviceGetUtilizationRates", device, &reported),
                reported);
}

/// The name changed with driver 535; both are the same bits.
Answer<std::uint64_t> Library::throttle(Device device) const {
  unsigned long long bits = 0;
  using Bits = unsigned long long*;
  int code = call<Device, Bits>("nvmlDeviceGetCurrentClocksEventReasons", device, &bits);
  if (code == kFunctionNotFound)
    code = call<Device, Bits>("nvmlDeviceGetCurrentClocksThrottleReasons", device, &bits);
  return answer(code, std::uint64_t{bits});
}

Answer<bool> Library::nvlink_active(Device device, unsigned link) const {
  int active = 0;
  const int code = call<Device, unsigned, int*>("nvmlDeviceGetNvLinkState", device, link, &active);
  return answer(code, active == 1);
}

Answer<Fabric> Library::fabric(Device device) const {
  FabricInfoV newer{};
  // A driver fills as much as the version asks for; one that does not know it refuses.
  for (const auto version : {kFabricInfoV3, kFabricInfoV2}) {
    newer = {.version = version};
    if (call<Device, FabricInfoV*>("nvmlDeviceGetGpuFabricInfoV", device, &newer) == kSuccess)
      return {.value = fabric_of(newer)};
  }
  FabricInfo reported{};
  const int code = call<Device, FabricInfo*>("nvmlDeviceGetGpuFabricInfo", device, &reported);
  return answer(code, fabric_of(reported));
}

std::vector<Answer<double>> Library::fields(Device device, const std::vector<unsigned>& ids) const {
  std::vector<FieldValue> asked(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    asked[i] = {};
    asked[i].field = ids[i];
    if (is_of_nvlink_5(ids[i])) asked[i].scope = std::numeric_limits<unsigned>::max();
  }
  const int code = call<Device, int, FieldValue*>("nvmlDeviceGetFieldValues", device,
                                                  static_cast<int>(ids.size()), asked.data());
  std::vector<Answer<double>> reported(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const int one = code == kSuccess ? asked[i].error : code;
    reported[i].value = one == kSuccess ? real_of(asked[i]) : std::nullopt;
    if (!reported[i].value) reported[i].why = one == kSuccess ? "not a number" : error_text(one);
  }
  return reported;
}

}  // namespace cupel::agent::nvml
