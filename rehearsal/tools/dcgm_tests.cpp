// What dcgmi diag runs at each level, and what each test can find.
#include <fmt/format.h>

#include "rehearsal/shell/host.h"
#include "rehearsal/tools/dcgmi.h"
#include "rehearsal/tools/fault_now.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;

// dcgmErrorCategory_enum and dcgmErrorSeverity_enum of dcgm_errors.h.
constexpr int kThermal = 2, kPcie = 5, kEcc = 6, kConfiguration = 8, kMemory = 9, kPower = 11;
constexpr int kIsolate = 2, kTriage = 4, kSettings = 5, kReset = 6;

void fail(DcgmResult& result, DcgmError error) {
  result.status = "Fail";
  result.errors.push_back(std::move(error));
}

double speed(const Host& host, const GpuView& gpu, Work work) {
  return host.machine().physics().speed(gpu.part.index, work);
}

void judge_software(const Host&, const GpuView& gpu, DcgmResult& result) {
  if (!gpu.persistence)
    fail(result, {29, kConfiguration, kSettings,
                  fmt::format("Persistence mode for GPU {0} is disabled. Enable persistence mode "
                              "by running \"nvidia-smi -i {0} -pm 1\" as root.",
                              gpu.index)});
  if (gpu.remaps.failed)
    fail(result,
         {80, kMemory, kIsolate,
          fmt::format("GPU {} had uncorrectable memory errors and row remapping failed. Run "
                      "a field diagnostic on the GPU.",
                      gpu.index)});
  if (gpu.remaps.pending)
    fail(result, {85, kMemory, kReset,
                  fmt::format("GPU {} has pending row remappings. Reset the GPU to clear them.",
                              gpu.index)});
}

void judge_memory(const Host&, const GpuView& gpu, DcgmResult& result) {
  if (gpu.volatile_ecc.dram_uncorrected > 0)
    fail(result, {4, kEcc, kIsolate,
                  fmt::format("Detected {} volatile double-bit ECC error(s) in GPU {}. Drain the "
                              "GPU and reset it or reboot the node.",
                              gpu.volatile_ecc.dram_uncorrected, gpu.index)});
}

void judge_pcie(const Host& host, const GpuView& gpu, DcgmResult& result) {
  // The plugin's own limits for Hopper: generation 3, width 16.
  if (gpu.part.gen < 3)
    fail(result, {45, kPcie, kTriage,
                  fmt::format("GPU {} is running at PCI link generation {}, which is below the "
                              "minimum allowed link generation of 3",
                              gpu.index, gpu.part.gen)});
  if (gpu.part.width < 16)
    fail(result, {46, kPcie, kTriage,
                  fmt::format("GPU {} is running at PCI link width {}X, which is below the minimum "
                              "allowed link width of 16X",
                              gpu.index, gpu.part.width)});
  std::uint64_t crc = 0;
  for (const auto& link : gpu.links) crc += link.crc;
  if (crc > 0)
    fail(result,
         {13, kPcie, kTriage,
          fmt::format("Detected {} NvLink errors on GPU {}'s NVLink which exceeds threshold "
                      "of 0.",
                      crc, gpu.index)});
  (void)host;
}

void judge_compute(const Host& host, const GpuView& gpu, DcgmResult& result) {
  if (fault_now(host.machine(), gpu_wrong_results, gpu.part.name))
    fail(result, {52, kMemory, kIsolate,
                  fmt::format("Found {} faulty memory elements on GPU {}", 17, gpu.index)});
  if (gpu.celsius >= gpu.model.limit_celsius)
    fail(result, {42, kThermal, kTriage,
                  fmt::format("Temperature {} of GPU {} exceeded user-specified maximum allowed "
                              "temperature {}",
                              gpu.celsius, gpu.index, gpu.model.limit_celsius)});
}

void judge_bandwidth(const Host& host, const GpuView& gpu, DcgmResult& result) {
  // DCGM's floor is 0.75 of what a good one was measured at.
  const double share = speed(host, gpu, Work::hbm);
  if (share < 0.75)
    fail(result,
         {62, kMemory, kIsolate,
          fmt::format("GPU {} only achieved a memory bandwidth of {:.2f} GB/s, below the "
                      "minimum of {:.2f} GB/s",
                      gpu.index, share * gpu.model.memory_rate, 0.75 * gpu.model.memory_rate)});
}

void judge_stress(const Host& host, const GpuView& gpu, DcgmResult& result) {
  const double share = speed(host, gpu, Work::gemm);
  if (share < 0.75)
    fail(result,
         {50, kPower, kTriage,
          fmt::format("GPU {} reached a stress level of {:.0f} %, below the minimum of 75 %",
                      gpu.index, share * 100)});
}

void judge_power(const Host& host, const GpuView& gpu, DcgmResult& result) {
  const double needed_watts = 0.75 * gpu.model.default_watts;
  if (gpu.watts < needed_watts)
    fail(result, {63, kPower, kTriage,
                  fmt::format("Max power of {:.1f} did not reach desired power minimum {:.1f} for "
                              "GPU {}",
                              gpu.watts, needed_watts, gpu.index)});
  judge_compute(host, gpu, result);
}

void judge_links(const Host&, const GpuView& gpu, DcgmResult& result) {
  const int down = static_cast<int>(gpu.links.size()) - gpu.links_up();
  if (down > 0)
    fail(result,
         {14, kPcie, kTriage,
          fmt::format("GPU {}'s NvLink link {} is currently down", gpu.index,
                      std::ranges::find(gpu.links, false, &NvLink::up) - gpu.links.begin())});
}

/// Only where an environment variable names nccl-tests' program.
void skip(const Host&, const GpuView&, DcgmResult& result) { result.status = "Skip"; }

constexpr auto kTests = std::to_array<DcgmTest>({
    {"software", "Deployment", 1, 1, Work::idle, judge_software},
    {"memory", "Hardware", 2, 30, Work::hbm, judge_memory},
    {"pcie", "Integration", 2, 45, Work::pcie, judge_pcie},
    {"diagnostic", "Hardware", 3, 180, Work::gemm, judge_compute},
    {"nvbandwidth", "Hardware", 3, 60, Work::p2p, judge_links},
    {"nccl_tests", "Integration", 3, 0, Work::idle, skip},
    {"memory_bandwidth", "Stress", 3, 20, Work::hbm, judge_bandwidth},
    {"targeted_stress", "Stress", 3, 30, Work::gemm, judge_stress},
    {"targeted_power", "Stress", 3, 120, Work::gemm, judge_power},
    {"memtest", "Stress", 4, 600, Work::hbm, judge_memory},
    {"pulse_test", "Hardware", 4, 120, Work::gemm, judge_compute},
});

}  // namespace

std::span<const DcgmTest> dcgm_tests() { return kTests; }

}  // namespace cupel::rehearsal
