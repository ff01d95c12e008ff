#include "tests/burn/fake/driver/kernels.h"

#include <cstring>
#include <string_view>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/sm_said.h"
#include "tests/burn/fake/driver/faults.h"
#include "tests/burn/kernels/grid.h"
#include "tests/burn/kernels/table.h"

struct CUmod_st {
  std::string ptx{};  // empty: machine code
};

struct CUfunc_st {
  std::string name{};
};

namespace cupel::burn::fake {
namespace {

constexpr unsigned kFatBinary = 0xba55ed50;  // its first word
constexpr unsigned kFewBlocks = 2;
constexpr std::string_view kSmKernel = "sm_product_kernel";

/// 7.8 is what a driver of CUDA 11.8 knows; each minor version of CUDA has one of its own.
/// Source: PTX ISA, "Release Notes": 8.0 came with CUDA 12.0.
bool knows_ptx(std::string_view ptx) {
  return ptx.find(".version 7.8") != ptx.npos && faults().driver >= 11'080;
}

/// What sm_kernels.cu would say, without tensor cores: the same on each SM, but for the planted
/// one.
Work sm_product(unsigned blocks, void** values) {
  const auto seed = *static_cast<std::uint64_t*>(values[0]);
  const auto iterations = *static_cast<int*>(values[1]);
  const auto planted = *static_cast<int*>(values[2]);
  auto* const results = *static_cast<SmReport**>(values[3]);
  return [=] {
    for (unsigned block = 0; block < blocks; ++block) {
      auto& mine = results[block];
      mine.sm = block % kSms;
      for (int unit = 0; unit < kSmUnits; ++unit)
        for (int warp = 0; warp < kSmWarps; ++warp) {
          const bool is_odd = static_cast<int>(mine.sm) == planted && unit == 0 && warp == 0;
          mine.sums[unit][warp] =
              scrambled(seed + static_cast<unsigned>(unit + iterations)) + (is_odd ? 1u : 0u);
        }
      mine.written = 1;
    }
  };
}

}  // namespace

CUresult load(CUmodule* module, const void* image) {
  unsigned magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic == kFatBinary) {
    *module = new CUmod_st;
    return faults().driver >= 13'000 ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  const std::string_view ptx{static_cast<const char*>(image)};
  if (!knows_ptx(ptx)) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  *module = new CUmod_st{std::string{ptx}};
  return CUDA_SUCCESS;
}

CUresult find(CUfunction* function, CUmodule module, const char* name) {
  const auto entry = ".entry " + std::string{name} + "(";
  const bool is_there = module->ptx.empty() || module->ptx.find(entry) != std::string::npos;
  const bool is_known = name == kSmKernel || on_host::kernel(name) != nullptr;
  if (!is_there || !is_known) return CUDA_ERROR_NOT_FOUND;
  *function = new CUfunc_st{name};
  return CUDA_SUCCESS;
}

Operation launch(CUfunction function, unsigned blocks, unsigned threads, void** values) {
  if (function->name == kSmKernel)
    return {.what = function->name, .work = sm_product(blocks, values)};
  const auto* const kernel = on_host::kernel(function->name);
  return {.what = function->name,
          .memory = *static_cast<void**>(values[0]),
          .wrong_before = true,
          .work = [kernel, blocks, threads, thread = kernel->with(values)] {
            compute([&] {
              const on_host::FewBlocks few{kernel->strides ? kFewBlocks : ~0u};
              on_host::run(blocks, threads, thread);
            });
          }};
}

void copy(char* to, const char* from, std::size_t bytes) {
  const bool is_word = bytes == sizeof(unsigned) && reinterpret_cast<std::uintptr_t>(to) % 4 == 0;
  if (!is_word) {
    std::memcpy(to, from, bytes);
    return;
  }
  unsigned word = 0;
  std::memcpy(&word, from, sizeof word);
  std::atomic_ref{*reinterpret_cast<unsigned*>(to)}.store(word, std::memory_order_release);
}

void keep(CUevent event) {
  static auto* const mutex = new std::mutex;
  static auto* const kept = new std::deque<CUevent>;
  const std::scoped_lock lock{*mutex};
  kept->push_back(event);
}

}  // namespace cupel::burn::fake

void cupel::burn::on_host::misused(const std::string& what) { fake::misuse(what); }
