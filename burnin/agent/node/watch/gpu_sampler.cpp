#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "burnin/agent/node/watch/reading.h"

namespace cupel::agent {
namespace {

constexpr unsigned kMostGpus = 64;

struct Asked {
  unsigned field;
  std::string_view name;
  int nvlink = 0;  // the generations that count it: 4 (and before) or 5; 0: any GPU
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
    Asked{nvml::kNvlinkCrcFlit, "nvlink.crc", 4},
    Asked{nvml::kNvlinkCrcData, "nvlink.crc.data", 4},
    Asked{nvml::kNvlinkReplay, "nvlink.replays", 4},
    Asked{nvml::kNvlinkRecovery, "nvlink.recoveries", 4},
    Asked{nvml::kNvlinkRecoveries, "nvlink.recoveries", 5},
    Asked{nvml::kNvlinkRecoveriesFailed, "nvlink.recoveries.failed", 5},
    Asked{nvml::kNvlinkSymbolErrors, "nvlink.errors.symbol", 5},
    Asked{nvml::kNvlinkEffectiveErrors, "nvlink.errors.effective", 5},
    Asked{nvml::kNvlinkReceiveErrors, "nvlink.errors.received", 5},
    Asked{nvml::kNvlinkMalformed, "nvlink.errors.malformed", 5},
    Asked{nvml::kNvlinkOverruns, "nvlink.errors.overrun", 5},
    Asked{nvml::kNvlinkRemoteErrors, "nvlink.errors.remote", 5},
    Asked{nvml::kNvlinkGeneralErrors, "nvlink.errors.general", 5},
    Asked{nvml::kNvlinkIntegrityErrors, "nvlink.errors.integrity", 5},
    Asked{nvml::kNvlinkDiscards, "nvlink.discards", 5},
    Asked{nvml::kNvlinkSymbolBer, "nvlink.ber.symbol", 5},
    Asked{nvml::kNvlinkEffectiveBer, "nvlink.ber.effective", 5},
};

bool is_ratio(unsigned field) {
  return field == nvml::kNvlinkSymbolBer || field == nvml::kNvlinkEffectiveBer;
}

/// Whoever lacks it will not learn it; another error may pass.
bool is_for_good(std::string_view why) {
  constexpr std::array kCodes{2, 3, 13};  // invalid argument, not supported, no such function
  return std::ranges::any_of(kCodes, [&](int code) { return why == nvml::error_text(code); });
}

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
        gpus_.push_back({.part = part, .device = *gpu.value});
      else
        gaps_.push_back({part, "NVML", std::string{gpu.why}});
    }
  }

  void read(bool slow, std::vector<Reading>& into) override {
    for (auto& gpu : gpus_) read(gpu, slow, into);
    first_ = false;
  }

  std::vector<Gap> gaps() const override { return gaps_; }

 private:
  struct Gpu {
    std::string part{};
    nvml::Device device{};
    std::set<std::string_view> never{};  // what it said it does not support
    std::vector<Asked> often{kOften.begin(), kOften.end()}, seldom{kSeldom.begin(), kSeldom.end()};
  };

  template <class Value>
  void add(Gpu& gpu, std::string_view name, const nvml::Answer<Value>& answer,
           std::vector<Reading>& into) {
    if (answer.value) {
      into.push_back({gpu.part, name, static_cast<double>(*answer.value)});
      return;
    }
    if (!first_) return;
    lack(gpu, name, answer.why);
    if (is_for_good(answer.why)) gpu.never.insert(name);
  }

  void lack(const Gpu& gpu, std::string_view name, std::string_view why) {
    gaps_.push_back({std::string{name} + " of " + gpu.part, "NVML", std::string{why}});
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
    auto asked = gpu.often;
    if (slow) asked.insert(asked.end(), gpu.seldom.begin(), gpu.seldom.end());
    if (asked.empty()) return;
    std::vector<unsigned> ids;
    for (const auto& each : asked) ids.push_back(each.field);
    const auto reported = library_.fields(gpu.device, ids);
    for (std::size_t i = 0; i < reported.size(); ++i) {
      const auto& value = reported[i].value;
      if (!value) continue;
      into.push_back(
          {gpu.part, asked[i].name, is_ratio(ids[i]) ? nvml::bit_error_rate(*value) : *value});
    }
    if (first_ && slow) forget_what_it_lacks(gpu, asked, reported);
  }

  /// A GPU has links of one generation, or none: the counters of the other are no gap.
  void forget_what_it_lacks(Gpu& gpu, const std::vector<Asked>& asked,
                            const std::vector<nvml::Answer<double>>& reported) {
    std::set<int> generations;
    for (std::size_t i = 0; i < reported.size(); ++i)
      if (reported[i].value) generations.insert(asked[i].nvlink);
    const bool linked = generations.contains(4) || generations.contains(5);
    bool noted = false;
    std::set<unsigned> gone;
    for (std::size_t i = 0; i < reported.size(); ++i) {
      if (reported[i].value) continue;
      if (is_for_good(reported[i].why)) gone.insert(asked[i].field);
      if (asked[i].nvlink == 0 || generations.contains(asked[i].nvlink))
        lack(gpu, asked[i].name, reported[i].why);
      else if (!linked && !std::exchange(noted, true))
        lack(gpu, "NVLink's error counters", reported[i].why);
    }
    const auto is_gone = [&](const Asked& each) { return gone.contains(each.field); };
    std::erase_if(gpu.often, is_gone);
    std::erase_if(gpu.seldom, is_gone);
  }

  static constexpr int kLost = 15;
  const nvml::Library& library_;
  std::vector<Gpu> gpus_;
  std::vector<Gap> gaps_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<Sampler> gpu_sampler(const nvml::Library& library) {
  return std::make_unique<Gpus>(library);
}

}  // namespace cupel::agent
