#include <set>

#include "burnin/agent/node/watch/reading.h"

namespace cupel::agent {
namespace {

constexpr unsigned kMostGpus = 64;

struct Asked {
  unsigned field;
  std::string_view name;
};

/// In one call into the driver, together with those that are seldom asked.
constexpr std::array kOften{Asked{nvml::kMemoryTemperature, "temperature.memory"}};
constexpr std::array kSeldom{
    Asked{nvml::kEccCorrectedVolatile, "ecc.corrected"},
    Asked{nvml::kEccUncorrectedVolatile, "ecc.uncorrected"},
    Asked{nvml::kEccCorrectedLifetime, "ecc.corrected.lifetime"},
    Asked{nvml::kEccUncorrectedLifetime, "ecc.uncorrected.lifetime"},
    Asked{nvml::kRemappedCorrectable, "remap.correctable"},
    Asked{nvml::kRemappedUncorrectable, "remap.uncorrectable"},
    Asked{nvml::kRemapPending, "remap.pending"},
    Asked{nvml::kRemapFailed, "remap.failed"},
    Asked{nvml::kPcieReplay, "pcie.replays"},
    Asked{nvml::kNvlinkCrcFlit, "nvlink.crc"},
    Asked{nvml::kNvlinkReplay, "nvlink.replays"},
    Asked{nvml::kNvlinkRecovery, "nvlink.recoveries"},
};

class Gpus : public Sampler {
 public:
  explicit Gpus(const nvml::Library& library) : library_{library} {
    if (!library.works()) {
      gaps_.push_back({"GPUs", "NVML", library.why()});
      return;
    }
    const auto count = library.count();
    if (!count.value) gaps_.push_back({"GPUs", "NVML", std::string{count.why}});
    for (unsigned i = 0; i < std::min(count.value.value_or(0), kMostGpus); ++i) {
      const auto gpu = library.device(i);
      const auto part = "gpu" + std::to_string(i);
      if (gpu.value)
        gpus_.push_back({part, *gpu.value, {}});
      else
        gaps_.push_back({part, "NVML", std::string{gpu.why}});
    }
    for (const auto& each : kOften) often_.push_back(each.field);
    seldom_ = often_;
    for (const auto& each : kSeldom) seldom_.push_back(each.field);
  }

  void read(bool slow, std::vector<Reading>& into) override {
    for (auto& gpu : gpus_) read(gpu, slow, into);
    first_ = false;
  }

  std::vector<Gap> gaps() const override { return gaps_; }

 private:
  struct Gpu {
    std::string part;
    nvml::Device device;
    std::set<std::string_view> never;  // what it said it does not support
  };

  template <class Value>
  void add(Gpu& gpu, std::string_view name, const nvml::Answer<Value>& answer,
           std::vector<Reading>& into) {
    if (answer.value) {
      into.push_back({gpu.part, name, static_cast<double>(*answer.value)});
      return;
    }
    if (!first_) return;
    gaps_.push_back({std::string{name} + " of " + gpu.part, "NVML", std::string{answer.why}});
    // Whoever lacks it will not learn it; another error may pass.
    constexpr int kUnsupported = 3, kNoFunction = 13;
    if (answer.why == nvml::error_text(kUnsupported) || answer.why == nvml::error_text(kNoFunction))
      gpu.never.insert(name);
  }

  void read(Gpu& gpu, bool slow, std::vector<Reading>& into) {
    const auto celsius = library_.celsius(gpu.device);
    add(gpu, "temperature", celsius, into);
    // Of a GPU that is lost each further question costs time and tells nothing.
    const bool answers = celsius.value || celsius.why != nvml::error_text(kLost);
    into.push_back({gpu.part, "answers", answers ? 1.0 : 0.0});
    if (!answers) return;
    if (!gpu.never.contains("power")) add(gpu, "power", library_.watts(gpu.device), into);
    if (!gpu.never.contains("clock.sm")) add(gpu, "clock.sm", library_.sm_mhz(gpu.device), into);
    if (!gpu.never.contains("clock.memory"))
      add(gpu, "clock.memory", library_.memory_mhz(gpu.device), into);
    if (!gpu.never.contains("throttle")) add(gpu, "throttle", library_.throttle(gpu.device), into);
    if (!gpu.never.contains("busy")) read_use(gpu, into);
    read_fields(gpu, slow, into);
  }

  void read_use(Gpu& gpu, std::vector<Reading>& into) {
    const auto use = library_.utilization(gpu.device);
    nvml::Answer<double> busy{.why = use.why};
    if (use.value) busy.value = use.value->gpu;
    add(gpu, "busy", busy, into);
    if (!use.value) return;
    into.push_back({gpu.part, "busy.memory", static_cast<double>(use.value->memory)});
  }

  void read_fields(Gpu& gpu, bool slow, std::vector<Reading>& into) {
    const auto told = library_.fields(gpu.device, slow ? seldom_ : often_);
    for (std::size_t i = 0; i < told.size(); ++i) {
      const auto name = i < kOften.size() ? kOften[i].name : kSeldom[i - kOften.size()].name;
      add(gpu, name, told[i], into);
    }
  }

  static constexpr int kLost = 15;
  const nvml::Library& library_;
  std::vector<Gpu> gpus_;
  std::vector<unsigned> often_, seldom_;
  std::vector<Gap> gaps_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<Sampler> gpu_sampler(const nvml::Library& library) {
  return std::make_unique<Gpus>(library);
}

}  // namespace cupel::agent
