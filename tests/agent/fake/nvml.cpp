// A libnvidia-ml.so.1 of eight GPUs that are not there: loaded by dlopen as the real one is. What
// it says can be planted while it is loaded. Built three times: whole, lacking functions (an old
// driver's), and refusing everything (FAKE_LACKS, FAKE_REFUSES).
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

namespace {

constexpr unsigned kGpus = 8, kLinks = 18;
constexpr int kSuccess = 0, kInvalid = 2, kUnsupported = 3, kNotFound = 6, kLost = 15,
              kUnknown = 999;

struct Board {
  unsigned index = 0;
  bool lost = false;
  std::map<std::string, double> planted{};
};

Board* boards() {
  static Board all[kGpus];
  for (unsigned i = 0; i < kGpus; ++i) all[i].index = i;
  return all;
}

constexpr unsigned kBuses[kGpus]{0x1b, 0x43, 0x52, 0x61, 0x9d, 0xc3, 0xd1, 0xdf};

double value_of(const Board& board, const char* name, double otherwise) {
  const auto found = board.planted.find(name);
  return found == board.planted.end() ? otherwise : found->second;
}

int refused(const Board* board) {
#ifdef FAKE_REFUSES
  return board == nullptr ? kUnknown : kUnknown;
#else
  if (board == nullptr) return kInvalid;
  return board->lost ? kLost : kSuccess;
#endif
}

int text(const Board* board, char* into, unsigned size, const std::string& words) {
  if (const int code = refused(board)) return code;
  std::snprintf(into, size, "%s", words.c_str());
  return kSuccess;
}

template <class Number>
int number(const Board* board, Number* into, const char* name, double otherwise) {
  if (const int code = refused(board)) return code;
  *into = static_cast<Number>(value_of(*board, name, otherwise));
  return kSuccess;
}

}  // namespace

extern "C" {

/// For tests: a number under a name of this file's own; "lost" and "field:82" among them.
void fake_nvml_plant(unsigned gpu, const char* name, double value) {
  auto& board = boards()[gpu % kGpus];
  if (std::strcmp(name, "lost") == 0)
    board.lost = value != 0;
  else
    board.planted[name] = value;
}
void fake_nvml_forget() {
  for (unsigned i = 0; i < kGpus; ++i) {
    boards()[i].planted.clear();
    boards()[i].lost = false;
  }
}

int nvmlInit_v2() { return kSuccess; }
int nvmlShutdown() { return kSuccess; }
int nvmlSystemGetDriverVersion(char* into, unsigned size) {
  return text(boards(), into, size, "580.65.06");
}
int nvmlSystemGetNVMLVersion(char* into, unsigned size) {
  return text(boards(), into, size, "13.580.65.06");
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = kGpus;
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Board** device) {
  if (index >= kGpus) return kInvalid;
  *device = boards() + index;
  return kSuccess;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, Board** device) {
  unsigned domain = 0, bus = 0;
  if (std::sscanf(address, "%x:%x:", &domain, &bus) != 2) return kInvalid;
  for (unsigned i = 0; i < kGpus; ++i)
    if (kBuses[i] == bus) *device = boards() + i;
  return *device == nullptr ? kNotFound : kSuccess;
}
int nvmlDeviceGetIndex(Board* board, unsigned* index) {
  *index = board->index;
  return kSuccess;
}
int nvmlDeviceGetName(Board* board, char* into, unsigned size) {
  const bool of_rack = board != nullptr && value_of(*board, "of_rack", 0) == 1;
  return text(board, into, size, of_rack ? "NVIDIA GB200" : "NVIDIA H100 80GB HBM3");
}
int nvmlDeviceGetUUID(Board* board, char* into, unsigned size) {
  return text(board, into, size,
              "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(board->index));
}
int nvmlDeviceGetSerial(Board* board, char* into, unsigned size) {
  return text(board, into, size, "165372305273" + std::to_string(board->index));
}
int nvmlDeviceGetPciInfo_v3(Board* board, void* into) {
  struct Pci {
    char legacy[16];
    unsigned domain, bus, device, ids, subsystem;
    char address[32];
  } reported{};
  if (refused(board) == kUnknown) return kUnknown;
  std::snprintf(reported.address, sizeof reported.address, "00000000:%02X:00.0",
                kBuses[board->index]);
  std::memcpy(into, &reported, sizeof reported);
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(Board* board, unsigned long long* memory) {
  if (const int code = refused(board)) return code;
  memory[0] = 85899345920ull;
  memory[2] = 1ull << 30;
  memory[1] = memory[0] - memory[2];
  return kSuccess;
}
int nvmlDeviceGetPowerUsage(Board* board, unsigned* milliwatts) {
  return number(board, milliwatts, "power", 71000 + 1000 * (board ? board->index : 0));
}
int nvmlDeviceGetTemperature(Board* board, int, unsigned* celsius) {
  return number(board, celsius, "temperature", 31);
}
int nvmlDeviceGetClockInfo(Board* board, int clock, unsigned* mhz) {
  return number(board, mhz, clock == 1 ? "clock.sm" : "clock.memory", clock == 1 ? 1980 : 2619);
}
int nvmlDeviceGetUtilizationRates(Board* board, unsigned* use) {
  if (const int code = refused(board)) return code;
  use[0] = static_cast<unsigned>(value_of(*board, "busy", 0));
  use[1] = static_cast<unsigned>(value_of(*board, "busy.memory", 0));
  return kSuccess;
}
int nvmlDeviceGetPersistenceMode(Board* board, int* on) {
  return number(board, on, "persistence", 1);
}

#ifdef FAKE_LACKS
/// What it was called before driver 535.
int nvmlDeviceGetCurrentClocksThrottleReasons(Board* board, unsigned long long* bits) {
  return number(board, bits, "throttle", 1);
}
#else
int nvmlDeviceGetCurrentClocksEventReasons(Board* board, unsigned long long* bits) {
  return number(board, bits, "throttle", 1);
}
int nvmlDeviceGetVbiosVersion(Board* board, char* into, unsigned size) {
  return text(board, into, size, "96.00.A5.00.01");
}
int nvmlDeviceGetBoardPartNumber(Board* board, char* into, unsigned size) {
  return text(board, into, size, "692-2G520-0200-000");
}
int nvmlDeviceGetBoardId(Board* board, unsigned* id) {
  return number(board, id, "board_id", 0x1b00);
}
int nvmlDeviceGetEccMode(Board* board, int* now, int* then) {
  number(board, then, "ecc", 1);
  return number(board, now, "ecc", 1);
}
int nvmlDeviceGetMigMode(Board* board, unsigned* now, unsigned* then) {
  number(board, then, "mig", 0);
  return number(board, now, "mig", 0);
}
int nvmlDeviceGetPowerManagementLimit(Board* board, unsigned* milliwatts) {
  return number(board, milliwatts, "limit", 700000);
}
int nvmlDeviceGetEnforcedPowerLimit(Board* board, unsigned* milliwatts) {
  return number(board, milliwatts, "limit", 700000);
}
int nvmlDeviceGetPowerManagementDefaultLimit(Board* board, unsigned* milliwatts) {
  return number(board, milliwatts, "default", 700000);
}
int nvmlDeviceGetPowerManagementLimitConstraints(Board* board, unsigned* least, unsigned* most) {
  number(board, most, "most", 700000);
  return number(board, least, "least", 200000);
}
int nvmlDeviceGetMaxClockInfo(Board* board, int, unsigned* mhz) {
  return number(board, mhz, "max", 1980);
}
int nvmlDeviceGetCurrPcieLinkGeneration(Board* board, unsigned* gen) {
  return number(board, gen, "gen", 5);
}
int nvmlDeviceGetMaxPcieLinkGeneration(Board* board, unsigned* gen) {
  return number(board, gen, "gen_max", 5);
}
int nvmlDeviceGetCurrPcieLinkWidth(Board* board, unsigned* width) {
  return number(board, width, "width", 16);
}
int nvmlDeviceGetMaxPcieLinkWidth(Board* board, unsigned* width) {
  return number(board, width, "width_max", 16);
}
int nvmlDeviceGetNvLinkState(Board* board, unsigned link, int* active) {
  if (link >= kLinks) return kInvalid;
  return number(board, active, ("link:" + std::to_string(link)).c_str(), 1);
}
int nvmlDeviceGetGpuFabricInfo(Board* board, void* into) {
  struct Fabric {
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
  } reported{};
  if (const int code = refused(board)) return code;
  reported.state = static_cast<unsigned char>(value_of(*board, "fabric", 3));
  reported.clique = static_cast<unsigned>(value_of(*board, "clique", 0));
  std::memset(reported.cluster, static_cast<int>(value_of(*board, "cluster", 0)),
              sizeof reported.cluster);
  std::memcpy(into, &reported, sizeof reported);
  return kSuccess;
}
#ifndef FAKE_LACKS
/// Of the newest version that a test gives the driver: "fabric_version".
int nvmlDeviceGetGpuFabricInfoV(Board* board, void* into) {
  struct Fabric {
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
    unsigned health;
    unsigned char summary;
  } reported{};
  if (const int code = refused(board)) return code;
  std::memcpy(&reported.version, into, sizeof reported.version);
  const unsigned asked = reported.version >> 24, size = reported.version & 0xffffffu;
  if (asked > value_of(*board, "fabric_version", 3) || size != (asked == 3 ? 40u : 36u)) return 25;
  reported.state = static_cast<unsigned char>(value_of(*board, "fabric", 3));
  reported.clique = static_cast<unsigned>(value_of(*board, "clique", 0));
  std::memset(reported.cluster, static_cast<int>(value_of(*board, "cluster", 0)),
              sizeof reported.cluster);
  reported.health = static_cast<unsigned>(value_of(*board, "health", 0));
  std::memcpy(into, &reported, size);
  return kSuccess;
}
#endif
int nvmlDeviceGetFieldValues(Board* board, int many, void* into) {
  struct Field {
    unsigned field, scope;
    long long micros, latency;
    int type, error;
    unsigned long long value;
  };
  if (const int code = refused(board)) return code;
  auto* fields = static_cast<Field*>(into);
  // A Hopper, unless a test says otherwise. A counter of NVLink 5 for one link alone is nobody's.
  const bool fifth = value_of(*board, "nvlink", 4) == 5;
  for (int i = 0; i < many; ++i) {
    const auto id = fields[i].field;
    const auto name = "field:" + std::to_string(id);
    const bool old_link = id >= 32 && id <= 73, new_link = id >= 202 && id <= 222;
    fields[i].type = 3;  // unsigned long long
    fields[i].value =
        static_cast<unsigned long long>(value_of(*board, name.c_str(), id == 82 ? 40 : 0));
    const bool lacks = (old_link && (fifth || id == 59)) || (new_link && !fifth);
    fields[i].error = lacks                                ? kUnsupported
                      : new_link && fields[i].scope != ~0u ? kInvalid
                                                           : kSuccess;
  }
  return kSuccess;
}
#endif

}  // extern "C"
