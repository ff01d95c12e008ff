// `cupel-burn hbm`: all free memory of all GPUs, written and read back in patterns, and how fast.
// Each GPU has a process of its own (gpu_processes.h).
#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/cuda/devices.h"
#include "burnin/agent/burn/cuda/gemm_kernels.h"
#include "burnin/agent/burn/cuda/hbm_kernels.h"
#include "burnin/agent/burn/cuda/owned.h"
#include "burnin/agent/burn/gpu_processes.h"
#include "burnin/agent/burn/links/numa.h"
#include "burnin/agent/burn/self_test.h"
#include "burnin/agent/burn/tell_times.h"

namespace cupel::burn {
namespace {

using Kind = Choice::Kind;
constexpr std::array kChoices{
    Choice{.name = "--margin",
           .kind = Kind::kNumber,
           .fallback = "768",
           .low = 64,
           .high = 1e6,
           .help = "MiB of free memory that are left alone"},
    Choice{.name = "--patterns",
           .kind = Kind::kWords,
           .fallback = "address,walking,inversions,random,hot-rows",
           .words = "address,walking,inversions,random,hot-rows",
           .help = "which, in this order"},
    kAloneChoice,
};

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::uint64_t kBandwidthBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kHotStride = 1024;  // words: a row of a bank holds a few KiB
constexpr std::uint64_t kBlock = 8192;      // words in which one planted pattern lies
constexpr int kRepeats = 20;
constexpr int kHotTimes = 1024;  // a window's reads go on for longer than rows wait for a refresh

class HbmWorker {
 public:
  HbmWorker(const Options& options, const Node& node, const Device& device, Report& report,
            Stop& stop, WatchdogScope& scope)
      : options_{options},
        node_{node},
        device_{device},
        report_{report},
        stop_{stop},
        scope_{scope} {}

  Outcome<> run() {
    stay_near(device_.gpu.pci);
    TRY(cuda(cudaSetDevice(device_.ordinal), "taking the GPU"));
    TRY(stream_, make_stream());
    TRY(take_memory());
    if (options_.self_tests() > 0) return self_test(options_.self_tests());
    auto outcome = sweeps();
    tell_figures();
    return outcome;
  }

 private:
  Outcome<> sweeps() {
    TRY(bandwidths());
    TellTimes times;
    for (std::uint64_t round = 1; !stop_.over(); ++round) {
      if (options_.rounds() > 0 && round > static_cast<std::uint64_t>(options_.rounds())) break;
      TRY(sweep(round));
      if (stop_.over()) break;
      whole_sweeps_ = round;
      if (times.due(report_.seconds())) tell_figures();
    }
    return done();
  }

  void tell_figures() {
    const auto part = device_.part();
    report_.result("hbm.errors", part, static_cast<double>(wrong_), "errors");
    if (whole_sweeps_ > 0)  // a part of a sweep has not tested all of it
      report_.result("hbm.tested", part, static_cast<double>(words_ * 8) / (1024.0 * kMiB), "GiB");
    report_.result("hbm.rounds", part, static_cast<double>(whole_sweeps_), "count");
  }

  Outcome<> take_memory() {
    scope_.doing("allocating");
    TRY(found_, make_memory(sizeof(WrongWords), "what is found"));
    TRY(sink_, make_memory(sizeof(std::uint64_t), "sums"));
    TRY(begun_, make_event());
    TRY(ended_, make_event());
    TRY(cuda(cudaMemsetAsync(found_, 0, sizeof(WrongWords), stream_), "clearing"));
    std::size_t free_bytes = 0;
    std::size_t all = 0;
    TRY(cuda(cudaMemGetInfo(&free_bytes, &all), "asking for the free memory"));
    const auto margin = static_cast<std::size_t>(options_.number("--margin")) * kMiB;
    auto bytes = free_bytes > margin ? (free_bytes - margin) / (2 * kMiB) * (2 * kMiB) : 0;
    // The driver's pages leave gaps.
    for (; bytes >= 2 * kMiB; bytes -= std::min(bytes, 64 * kMiB)) {
      void* memory = nullptr;
      const auto status = cudaMalloc(&memory, bytes);
      if (status == cudaErrorMemoryAllocation) {
        static_cast<void>(cudaGetLastError());
        continue;
      }
      TRY(cuda(status, "allocating all free memory"));
      memory_ = Memory{memory};
      words_ = bytes / 8;
      return done();
    }
    return Failure{.code = "memory",
                   .message = std::to_string(free_bytes / kMiB) + " MiB of GPU memory are free, " +
                              std::to_string(margin / kMiB) +
                              " of them the margin: nothing to test; who uses it? see nvidia-smi"};
  }

  /// Waits for what was queued and tells what it found. How many words.
  Outcome<std::uint64_t> look(std::string_view pattern, std::uint64_t round) {
    TRY(launched(pattern));
    unsigned long long count = 0;
    TRY(cuda(cudaMemcpyAsync(&count, found_, sizeof count, cudaMemcpyDefault, stream_), "reading"));
    TRY(cuda(cudaStreamSynchronize(stream_), "memory pattern " + std::string{pattern}));
    scope_.alive();
    if (count == 0) return std::uint64_t{0};
    auto seen = std::make_unique<WrongWords>();
    TRY(cuda(cudaMemcpy(seen.get(), found_, sizeof *seen, cudaMemcpyDefault), "reading"));
    // On the stream of what counts next: any other would clear while that one counts.
    TRY(cuda(cudaMemsetAsync(found_, 0, sizeof *seen, stream_), "clearing"));
    last_ = seen->list[0];
    if (planting_) return std::uint64_t{count};
    wrong_ += count;
    const auto listed = std::min<std::uint64_t>(count, kMostWords);
    const auto base = reinterpret_cast<std::uint64_t>(memory_.get());
    Fault fault{.what = "wrong-memory",
                .part = device_.part(),
                .round = round,
                .celsius = celsius(node_, device_)};
    for (std::uint64_t at = 0; at < listed; ++at) {
      fault.address = base + seen->list[at].position * 8;
      fault.detail = std::string{pattern} + ": " + reported(seen->list[at]);
      report_.fault(fault);
    }
    if (count > listed) {
      fault.address = std::nullopt;
      fault.detail = std::string{pattern} + ": further words";
      report_.fault(fault, count - listed);
    }
    return std::uint64_t{count};
  }

  Outcome<> write_and_check(std::string_view name, Written what, std::uint64_t round) {
    if (stop_.over()) return done();
    scope_.doing("hbm " + std::string{name}, round);
    write_words(memory_, words_, what, stream_);
    check_words(memory_, words_, what, found(), stream_);
    TRY(look(name, round));
    return done();
  }

  /// Up and down, each word checked and inverted: finds cells that a neighbour's change disturbs.
  Outcome<> inversions(std::uint64_t seed, std::uint64_t round) {
    const Written plain{Pattern::kRandom, seed, 0};
    const Written inverse{Pattern::kRandomNot, seed, 0};
    scope_.doing("hbm inversions", round);
    write_words(memory_, words_, plain, stream_);
    for (const bool downwards : {false, true}) {
      invert_words(memory_, words_, plain, downwards, found(), stream_);
      TRY(look("inversions", round));
      invert_words(memory_, words_, inverse, !downwards, found(), stream_);
      TRY(look("inversions", round));
      if (stop_.over()) return done();
    }
    check_words(memory_, words_, plain, found(), stream_);
    TRY(look("inversions", round));
    return done();
  }

  /// Rows read again and again, from so many lines that the caches hold none of them; then all of
  /// memory is checked, their neighbours with it.
  Outcome<> hot_rows(std::uint64_t seed, std::uint64_t round) {
    const Written what{Pattern::kRandom, seed, 1};
    scope_.doing("hbm hot-rows", round);
    int cache = 0;
    TRY(cuda(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device_.ordinal), "L2's size"));
    const auto lines = std::max<std::uint64_t>(4 * static_cast<std::uint64_t>(cache) / 128, 65'536);
    const auto window = lines * kHotStride;
    write_words(memory_, words_, what, stream_);
    auto* sink = static_cast<std::uint64_t*>(sink_.get());
    for (std::uint64_t first = 0; first < words_ && !stop_.over(); first += window) {
      const auto left = std::min(lines, (words_ - first + kHotStride - 1) / kHotStride);
      hammer_words(static_cast<const std::uint64_t*>(memory_.get()) + first, left, kHotStride,
                   kHotTimes, sink, stream_);
      TRY(launched("hot rows"));
      TRY(cuda(cudaStreamSynchronize(stream_), "hot rows"));
      scope_.alive();
    }
    check_words(memory_, words_, what, found(), stream_);
    TRY(look("hot-rows", round));
    return done();
  }

  Outcome<> sweep(std::uint64_t round) {
    const auto seed = seed_of(options_.seed(), round, 0);
    for (const auto& name : options_.words("--patterns")) {
      if (stop_.over()) return done();
      if (name == "address") {
        TRY(write_and_check("address", {Pattern::kAddress, 0, 0}, round));
        TRY(write_and_check("address inverted", {Pattern::kAddressNot, 0, 0}, round));
      } else if (name == "walking") {
        // Over 16 rounds each bit of each word has been the one.
        for (std::uint64_t turn = 0; turn < 4; ++turn) {
          TRY(write_and_check("walking ones", {Pattern::kWalkingOnes, 0, 4 * round + turn}, round));
          TRY(write_and_check("walking zeros", {Pattern::kWalkingZeros, 0, 4 * round + turn},
                              round));
        }
      } else if (name == "inversions") {
        TRY(inversions(seed, round));
      } else if (name == "random") {
        TRY(write_and_check("random", {Pattern::kRandom, seed, 0}, round));
      } else {
        TRY(hot_rows(seed, round));
      }
    }
    return done();
  }

  Outcome<> bandwidth(std::string_view name, double bytes, const std::function<Outcome<>()>& once) {
    const int repeats = options_.repeats() > 0 ? options_.repeats() : kRepeats;
    Samples samples;
    for (int turn = -3; turn < repeats && !stop_.over(); ++turn) {  // three to warm up
      scope_.doing(std::string{name}, static_cast<std::uint64_t>(std::max(turn, 0)));
      TRY(cuda(cudaEventRecord(begun_, stream_), "timing"));
      TRY(once());
      TRY(launched(name));
      TRY(cuda(cudaEventRecord(ended_, stream_), "timing"));
      TRY(cuda(cudaEventSynchronize(ended_), name));
      float milliseconds = 0;
      TRY(cuda(cudaEventElapsedTime(&milliseconds, begun_, ended_), "timing"));
      if (turn >= 0 && milliseconds > 0)
        samples.add(bytes / (static_cast<double>(milliseconds) * 1e6));
    }
    report_.result(name, device_.part(), samples, "GB/s");
    return done();
  }

  Outcome<> bandwidths() {
    const auto half = std::min<std::uint64_t>(words_ / 2, kBandwidthBytes / 8) / 2 * 2;
    auto* to = static_cast<std::uint64_t*>(memory_.get());
    const auto* from = to + half;
    const auto bytes = static_cast<double>(half * 8);
    auto* sink = static_cast<std::uint64_t*>(sink_.get());
    write_words(to, 2 * half, {Pattern::kRandom, options_.seed(), 0}, stream_);
    TRY(bandwidth("hbm.read", bytes, [&]() -> Outcome<> {
      read_words(from, half, sink, stream_);
      return done();
    }));
    TRY(bandwidth("hbm.write", bytes, [&]() -> Outcome<> {
      set_words(to, half, 0x5555aaaa3333ccccu, stream_);
      return done();
    }));
    // Bytes that are read and bytes that are written both count.
    TRY(bandwidth("hbm.copy", 2 * bytes, [&]() -> Outcome<> {
      copy_words(to, from, half, stream_);
      return done();
    }));
    return bandwidth("hbm.copy.plain", 2 * bytes, [&]() -> Outcome<> {
      return cuda(cudaMemcpyAsync(to, from, half * 8, cudaMemcpyDeviceToDevice, stream_),
                  "a plain copy");
    });
  }

  Outcome<> self_test(int times) {
    planting_ = true;
    for (const auto kind : {PlantKind::kBit, PlantKind::kElement, PlantKind::kPattern}) {
      TRY(plant(kind, times_of(kind, times)));
    }
    return done();
  }

  /// In all memory, in each pattern by turns.
  Outcome<> plant(PlantKind kind, int times) {
    const auto seed = seed_of(options_.seed(), static_cast<std::uint64_t>(kind), 0);
    std::uint64_t count = 0;
    int turn = 0;
    for (; turn < times && !stop_.over(); ++turn) {
      scope_.doing("planting in memory", static_cast<std::uint64_t>(turn));
      const Written what{static_cast<Pattern>(turn % kPatterns), options_.seed(),
                         static_cast<std::uint64_t>(turn)};
      const auto random = random_at(seed, static_cast<std::uint64_t>(turn));
      const auto planting = planting_of(kind, random, words_ / kBlock * kBlock, kBlock, 8);
      write_words(memory_, words_, what, stream_);
      plant_errors(memory_, 8, planting, stream_);
      check_words(memory_, words_, what, found(), stream_);
      TRY(const auto seen, look("planting", 0));
      const auto past = last_.position - planting.first;  // of those listed first, any of them
      count += seen == planting.count && past % planting.stride == 0 &&
               past / planting.stride < planting.count &&
               (last_.expected ^ last_.actual) == planting.flips;
    }
    return tell_self_test(report_, stop_, planted_name("memory", kind), count, turn, times,
                          device_.part());
  }

  WrongWords* found() const { return static_cast<WrongWords*>(found_.get()); }

  const Options& options_;
  const Node& node_;
  const Device& device_;
  Report& report_;
  Stop& stop_;
  WatchdogScope& scope_;
  Stream stream_;
  Memory memory_, found_, sink_;
  Event begun_, ended_;
  std::uint64_t words_ = 0;
  std::uint64_t wrong_ = 0;
  std::uint64_t whole_sweeps_ = 0;
  bool planting_ = false;
  WrongWord last_{};
};

Outcome<> run_alone(const Options& options, Report& report, Stop& stop, Watchdog& watchdog) {
  TRY(const auto node, list_own_device(options, watchdog));
  const auto& device = node.devices.front();
  report.start(start_of(options, node));
  WatchdogScope scope{watchdog, device.part()};
  auto outcome = HbmWorker{options, node, device, report, stop, scope}.run();
  if (!outcome) return std::move(outcome).error().on(device.part());
  return done();
}

Outcome<> run(const Options& options, Report& report, Stop& stop, Watchdog& watchdog) {
  if (options.given(kAloneChoice.name)) return run_alone(options, report, stop, watchdog);
  TRY(const auto node, list_devices(options, watchdog));
  report.start(start_of(options, node));
  std::vector<GpuProcess> processes;
  for (const auto& device : node.devices)
    processes.push_back({.part = device.part(), .uuid = device.gpu.uuid});
  const auto ended =
      run_gpu_processes("/proc/self/exe", options, std::move(processes), report, stop, watchdog);
  if (!std::ranges::all_of(ended, std::identity{})) stop.give_up();
  return done();
}

}  // namespace

Command hbm_command() {
  return {.name = "hbm",
          .help = "patterns over all free GPU memory; read, write and copy bandwidth",
          .choices = kChoices,
          .run = run};
}

}  // namespace cupel::burn
