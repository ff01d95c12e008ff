#include "burnin/agent/burn/own_libraries.h"

#include <array>

#include "burnin/agent/burn/driver_version.h"
#include "burnin/agent/burn/library_places.h"
#include "burnin/agent/burn/nccl.h"
#include "burnin/agent/common/json_line.h"

namespace cupel::burn {

using agent::SharedLibrary;

namespace {

/// Source: cublas_api.h: CUBLAS_VERSION is 10000 * major + 100 * minor + patch.
constexpr std::size_t kOldest = 120'000, kNextMajor = 140'000;

/// All that cuda/cublaslt.cpp loads.
constexpr std::array kCalls{"cublasLtCreate",
                            "cublasLtDestroy",
                            "cublasLtGetStatusString",
                            "cublasLtMatmul",
                            "cublasLtMatmulDescCreate",
                            "cublasLtMatmulDescDestroy",
                            "cublasLtMatmulDescSetAttribute",
                            "cublasLtMatrixLayoutCreate",
                            "cublasLtMatrixLayoutDestroy",
                            "cublasLtMatrixLayoutSetAttribute",
                            "cublasLtMatmulPreferenceCreate",
                            "cublasLtMatmulPreferenceDestroy",
                            "cublasLtMatmulPreferenceSetAttribute",
                            "cublasLtMatmulAlgoGetHeuristic"};

std::string version_name(std::size_t version) {
  return std::to_string(version / 10'000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Result<std::size_t> version_of(const SharedLibrary& library) {
  std::size_t (*ask)() = nullptr;
  TRY(library.load(ask, "cublasLtGetVersion"));
  return ask();
}

/// A driver of CUDA 12 runs no library of 13. Without a driver there is nothing to compare.
Result<void> check_runs_on_driver(const SharedLibrary& library, std::size_t version) {
  const auto driver = open_driver();
  const auto runs = driver ? cuda_of_driver(*driver) : Result<int>{driver.error()};
  if (!runs || version / 10'000 <= static_cast<std::size_t>(*runs) / 1000) return ok();
  return Error{Code::kUnsupported, library.path() + " is cuBLASLt " + version_name(version) +
                                       "; this node's driver runs CUDA " +
                                       cuda_version_text(*runs) + " at most"};
}

Result<void> check_cublaslt(const SharedLibrary& library) {
  TRY(const auto version, version_of(library));
  if (version < kOldest || version >= kNextMajor)
    return Error{Code::kUnsupported, library.path() + " is cuBLASLt " + version_name(version) +
                                         "; this program needs that of CUDA 12 or 13"};
  TRY(check_runs_on_driver(library, version));
  for (const auto* call : kCalls) {
    TRY(library.symbol(call));
  }
  return ok();
}

std::string driver_line() {
  const auto driver = open_driver();
  const auto runs = driver ? cuda_of_driver(*driver) : Result<int>{driver.error()};
  agent::JsonLine line{"driver"};
  line.add("fits", runs.has_value());
  if (runs)
    line.add("path", driver->path()).add("cuda", cuda_version_text(*runs));
  else
    line.add("why", runs.error().what);
  return line.text();
}

std::string line_of(std::string_view name, const Outcome<>& found, std::string_view path,
                    std::string_view version) {
  agent::JsonLine line{"library"};
  line.add("name", name).add("fits", found.has_value());
  if (found)
    line.add("path", path).add("version", version);
  else
    line.add("why", found.error().message);
  return line.text();
}

}  // namespace

std::span<const std::string_view> cublaslt_names() {
  static constexpr std::array<std::string_view, 3> kNames{"libcublasLt.so.13", "libcublasLt.so.12",
                                                          "libcublasLt.so"};
  return kNames;
}

Outcome<SharedLibrary> open_cublaslt(std::span<const std::string_view> names) {
  auto opened = SharedLibrary::open(library_places(names), check_cublaslt);
  return coded("no-library", within("no usable " + std::string{names.front()}, std::move(opened)));
}

std::string library_lines() {
  const auto lt = open_cublaslt();
  const auto nccl = nccl::Library::load(nccl::usual_places());
  std::string text = driver_line();
  if (lt) {
    const auto version = version_of(*lt);
    text += line_of("libcublasLt", done(), lt->path(), version_name(version ? *version : 0));
  } else {
    text += line_of("libcublasLt", lt.error(), "", "");
  }
  if (nccl)
    text += line_of("libnccl", done(), nccl->path(), nccl->version_name());
  else
    text += line_of("libnccl", nccl.error(), "", "");
  return text;
}

}  // namespace cupel::burn
