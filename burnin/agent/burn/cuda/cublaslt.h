#pragma once
// cuBLASLt, opened when it is needed: the node's own, of CUDA 13 or 12, or the one in lib/ beside
// this program. Matrix products by it give the same bits each time: no split sums that add up in
// whatever order they end.
#include <cublasLt.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "burnin/agent/burn/cuda/owned.h"

namespace cupel::burn {

/// The functions that are used, each of the header's own type.
struct CublasLt {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtGetVersion) version = nullptr;
  decltype(&cublasLtGetStatusString) status_string = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;

  /// Errors: no-library.
  static Outcome<std::shared_ptr<const CublasLt>> open();

  Outcome<> check(cublasStatus_t status, std::string_view tried) const;
};

/// C = alpha * op(A) * op(B) + beta * C, all by columns; `batch` of them, `stride` elements apart.
struct Product {
  cudaDataType_t operand = CUDA_R_16BF;
  cudaDataType_t result = CUDA_R_16BF;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  bool transposed_a = true;
  bool transposed_b = false;
  std::uint64_t m = 0;
  std::uint64_t n = 0;
  std::uint64_t k = 0;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  int batch = 1;
  std::int64_t stride_a = 0;
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;
};

inline constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

/// A handle on the current device, with its workspace. One thread's and one stream's.
class LtHandle {
 public:
  static Outcome<LtHandle> make(std::shared_ptr<const CublasLt> library);
  const std::shared_ptr<const CublasLt>& library_of() const { return library_; }
  cublasLtHandle_t get() const { return handle_.get(); }
  void* workspace() const { return workspace_.get(); }

 private:
  std::shared_ptr<const CublasLt> library_;
  std::shared_ptr<cublasLtContext> handle_;
  Memory workspace_;
};

/// A product that was prepared. May be used on every GPU of the same model.
class LtProduct {
 public:
  /// The library's ways to do it, best guess first; at most `most`. Errors: cuda, where it has
  /// none.
  static Outcome<std::vector<LtProduct>> ways(const LtHandle& handle, const Product& product,
                                              int most);
  /// One of them, as written() returned it, of the same version of the library and the same model
  /// of GPU.
  /// Source: cuBLAS, cublasLtMatmulAlgo_t: "can be trivially serialized and later restored for use
  /// with the same version of cuBLAS library". Errors: usage, where it is none.
  static Outcome<LtProduct> read(const LtHandle& handle, const Product& product,
                                 std::string_view written);
  std::string written() const;
  /// Queued. `alpha` and `beta` are taken as double where the product is of fp64.
  Outcome<> run(const LtHandle& handle, double alpha, const void* a, const void* b, double beta,
                void* c, cudaStream_t stream) const;

 private:
  static Outcome<LtProduct> prepare(const std::shared_ptr<const CublasLt>& library,
                                    const Product& product);

  std::shared_ptr<const CublasLt> library_;
  std::shared_ptr<cublasLtMatmulDescOpaque_t> desc_;
  std::shared_ptr<cublasLtMatrixLayoutOpaque_t> a_;
  std::shared_ptr<cublasLtMatrixLayoutOpaque_t> b_;
  std::shared_ptr<cublasLtMatrixLayoutOpaque_t> c_;
  cublasLtMatmulAlgo_t algo_{};
  bool twofold_ = false;
};

}  // namespace cupel::burn
