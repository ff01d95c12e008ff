// libcublasLt.so.13 as the program under test opens it: plain products in the host's memory, each
// element summed in the same order wherever it lies. What NVIDIA's library refuses, it refuses.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/burn/fake/on_stream.h"

struct cublasLtContext {};

namespace {

constexpr std::uint64_t kFirstWay = 0x6377'0000'0000'0001;

struct Layout {
  cudaDataType_t type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};

struct Description {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t a = CUBLAS_OP_N;
  cublasOperation_t b = CUBLAS_OP_N;
};

struct Product {
  Description how;
  Layout a, b, c;
  double alpha, beta;
  const char* from_a;
  const char* from_b;
  char* to;
};

Layout& of(cublasLtMatrixLayout_t layout) { return *reinterpret_cast<Layout*>(layout); }
Description& of(cublasLtMatmulDesc_t desc) { return *reinterpret_cast<Description*>(desc); }

std::size_t bytes_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_16BF:
    case CUDA_R_16F:
      return 2;
    case CUDA_R_32F:
      return 4;
    case CUDA_R_64F:
      return 8;
    default:
      return 1;
  }
}

double read(const char* memory, cudaDataType_t type, std::int64_t at) {
  switch (type) {
    case CUDA_R_16BF:
      return static_cast<float>(reinterpret_cast<const __nv_bfloat16*>(memory)[at]);
    case CUDA_R_16F:
      return static_cast<float>(reinterpret_cast<const __half*>(memory)[at]);
    case CUDA_R_32F:
      return reinterpret_cast<const float*>(memory)[at];
    case CUDA_R_64F:
      return reinterpret_cast<const double*>(memory)[at];
    default:
      return static_cast<float>(reinterpret_cast<const __nv_fp8_e4m3*>(memory)[at]);
  }
}

void write(char* memory, cudaDataType_t type, std::int64_t at, double value) {
  const auto single = static_cast<float>(value);
  switch (type) {
    case CUDA_R_16BF:
      reinterpret_cast<__nv_bfloat16*>(memory)[at] = __nv_bfloat16(single);
      break;
    case CUDA_R_16F:
      reinterpret_cast<__half*>(memory)[at] = __half(single);
      break;
    case CUDA_R_32F:
      reinterpret_cast<float*>(memory)[at] = single;
      break;
    default:
      reinterpret_cast<double*>(memory)[at] = value;
  }
}

/// The other side of an operand, each of its vectors along k.
template <class Number>
std::vector<Number> vectors(const char* memory, const Layout& layout, std::uint64_t count,
                            std::uint64_t k, bool lies_along_k) {
  std::vector<Number> all(count * k);
  for (std::uint64_t one = 0; one < count; ++one)
    for (std::uint64_t at = 0; at < k; ++at) {
      const auto place = lies_along_k ? one * layout.leading + at : at * layout.leading + one;
      all[one * k + at] =
          static_cast<Number>(read(memory, layout.type, static_cast<std::int64_t>(place)));
    }
  return all;
}

template <class Number>
void multiply(const Product& product, int batch) {
  const auto start = [batch](auto* memory, const Layout& layout) {
    return memory + batch * layout.stride * static_cast<std::int64_t>(bytes_of(layout.type));
  };
  const auto m = product.c.rows;
  const auto n = product.c.columns;
  const bool a_along = product.how.a == CUBLAS_OP_T;
  const bool b_along = product.how.b == CUBLAS_OP_N;
  const auto k = a_along ? product.a.rows : product.a.columns;
  const auto a = vectors<Number>(start(product.from_a, product.a), product.a, m, k, a_along);
  const auto b = vectors<Number>(start(product.from_b, product.b), product.b, n, k, b_along);
  auto* const c = start(product.to, product.c);
  for (std::uint64_t column = 0; column < n; ++column)
    for (std::uint64_t row = 0; row < m; ++row) {
      std::array<Number, 8> sums{};
      const auto* const x = &a[row * k];
      const auto* const y = &b[column * k];
      for (std::uint64_t at = 0; at < k; at += 8)
        for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += x[at + lane] * y[at + lane];
      double sum = 0;
      for (const auto lane : sums) sum += static_cast<double>(lane);
      const auto place =
          static_cast<std::int64_t>(column) * product.c.leading + static_cast<std::int64_t>(row);
      const double before = product.beta == 0 ? 0 : read(c, product.c.type, place);
      write(c, product.c.type, place, product.alpha * sum + product.beta * before);
    }
}

double number_at(const void* value, cudaDataType_t type) {
  return type == CUDA_R_64F ? *static_cast<const double*>(value)
                            : *static_cast<const float*>(value);
}

bool is_aligned(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % 16 == 0; }

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion() {
  const char* const reported = std::getenv("FAKE_CUBLASLT_VERSION");
  return reported == nullptr ? 130'100 : static_cast<std::size_t>(std::atol(reported));
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_INVALID_VALUE ? "an invalid value" : "an error";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *desc = reinterpret_cast<cublasLtMatmulDesc_t>(new Description{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete &of(desc);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void* value, std::size_t bytes) {
  auto& how = of(desc);
  auto& operation = which == CUBLASLT_MATMUL_DESC_TRANSA ? how.a : how.b;
  if (bytes != sizeof operation) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&operation, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  if (static_cast<std::uint64_t>(leading) < rows) return CUBLAS_STATUS_INVALID_VALUE;
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(const cublasLtMatrixLayout_t layout) {
  delete &of(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which,
                                                const void* value, std::size_t bytes) {
  auto& own = of(layout);
  const bool is_count = which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  if (bytes != (is_count ? sizeof own.batch : sizeof own.stride))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(is_count ? static_cast<void*>(&own.batch) : &own.stride, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new int{0});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<int*>(preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void*, std::size_t bytes) {
  const std::size_t requested = which == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? 8 : 4;
  return bytes == requested ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/// Two ways, which do the same. Only what was chosen by this is taken by cublasLtMatmul().
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a_, cublasLtMatrixLayout_t b_,
                                              cublasLtMatrixLayout_t c_, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int most,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* found) {
  const auto& how = of(desc);
  const auto &a = of(a_), &b = of(b_), &c = of(c_);
  const bool at = how.a == CUBLAS_OP_T;
  const bool bt = how.b == CUBLAS_OP_T;
  const auto k = at ? a.rows : a.columns;
  const bool fits = (at ? a.columns : a.rows) == c.rows && (bt ? b.rows : b.columns) == c.columns &&
                    (bt ? b.columns : b.rows) == k && a.batch == b.batch && a.batch == c.batch;
  if (!fits) return CUBLAS_STATUS_INVALID_VALUE;
  const bool is_fp8 = a.type == CUDA_R_8F_E4M3;
  if (is_fp8 && !(at && !bt && c.rows % 16 == 0 && k % 16 == 0)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if ((how.compute == CUBLAS_COMPUTE_64F) != (how.scale == CUDA_R_64F))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  *found = std::min(most, 2);
  for (int way = 0; way < *found; ++way) {
    results[way] = {};
    results[way].state = CUBLAS_STATUS_SUCCESS;
    results[way].algo.data[0] = kFirstWay + static_cast<std::uint64_t>(way);
    results[way].algo.data[7] = ~results[way].algo.data[0];
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t,
                              const cublasLtMatmulAlgo_t* way, void*, std::size_t,
                              cudaStream_t stream) {
  if (way->data[0] - kFirstWay > 1 || way->data[7] != ~way->data[0])
    return CUBLAS_STATUS_INVALID_VALUE;
  if (c != d || !is_aligned(a) || !is_aligned(b) || !is_aligned(d))
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto& how = of(desc);
  const Product product{how,
                        of(a_layout),
                        of(b_layout),
                        of(c_layout),
                        number_at(alpha, how.scale),
                        number_at(beta, how.scale),
                        static_cast<const char*>(a),
                        static_cast<const char*>(b),
                        static_cast<char*>(d)};
  const auto put = cupel::burn::fake::on_stream(stream, "product", d, [product] {
    for (int batch = 0; batch < product.c.batch; ++batch)
      product.how.compute == CUBLAS_COMPUTE_64F ? multiply<double>(product, batch)
                                                : multiply<float>(product, batch);
  });
  return put == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
}
