#include "burnin/agent/burn/cuda/cublaslt.h"

#include "burnin/agent/burn/gemm_lines.h"
#include "burnin/agent/burn/own_libraries.h"

namespace cupel::burn {
namespace {

Outcome<std::shared_ptr<cublasLtMatrixLayoutOpaque_t>> make_layout(
    const std::shared_ptr<const CublasLt>& library, cudaDataType_t type, std::uint64_t rows,
    std::uint64_t columns, std::int64_t leading, int batch, std::int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  TRY(library->check(library->layout_create(&layout, type, rows, columns, leading), "a layout"));
  std::shared_ptr<cublasLtMatrixLayoutOpaque_t> owned{
      layout, [library](cublasLtMatrixLayout_t ended) { library->layout_destroy(ended); }};
  if (batch > 1) {
    const std::int32_t count = batch;
    TRY(library->check(
        library->layout_set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
        "a batch"));
    TRY(library->check(library->layout_set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                           &stride, sizeof stride),
                       "a batch's stride"));
  }
  return owned;
}

Outcome<std::shared_ptr<cublasLtMatmulPreferenceOpaque_t>> make_preference(
    const std::shared_ptr<const CublasLt>& library) {
  cublasLtMatmulPreference_t preference = nullptr;
  TRY(library->check(library->preference_create(&preference), "a preference"));
  std::shared_ptr<cublasLtMatmulPreferenceOpaque_t> owned{
      preference,
      [library](cublasLtMatmulPreference_t ended) { library->preference_destroy(ended); }};
  const std::uint64_t workspace = kWorkspaceBytes;
  TRY(library->check(library->preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &workspace, sizeof workspace),
                     "the workspace's size"));
  // Sums that are split over blocks and joined as these end would not repeat bit for bit.
  const std::uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_NONE;
  TRY(library->check(library->preference_set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                             &schemes, sizeof schemes),
                     "sums that repeat"));
  return owned;
}

}  // namespace

Outcome<std::shared_ptr<const CublasLt>> CublasLt::open() {
  TRY(const auto library, open_cublaslt());
  const auto load = [&library](auto*& function, const char* name) {
    return coded("no-library", library.load(function, name));
  };
  auto lt = std::make_shared<CublasLt>();
  TRY(load(lt->create, "cublasLtCreate"));
  TRY(load(lt->destroy, "cublasLtDestroy"));
  TRY(load(lt->version, "cublasLtGetVersion"));
  TRY(load(lt->status_string, "cublasLtGetStatusString"));
  TRY(load(lt->matmul, "cublasLtMatmul"));
  TRY(load(lt->desc_create, "cublasLtMatmulDescCreate"));
  TRY(load(lt->desc_destroy, "cublasLtMatmulDescDestroy"));
  TRY(load(lt->desc_set, "cublasLtMatmulDescSetAttribute"));
  TRY(load(lt->layout_create, "cublasLtMatrixLayoutCreate"));
  TRY(load(lt->layout_destroy, "cublasLtMatrixLayoutDestroy"));
  TRY(load(lt->layout_set, "cublasLtMatrixLayoutSetAttribute"));
  TRY(load(lt->preference_create, "cublasLtMatmulPreferenceCreate"));
  TRY(load(lt->preference_destroy, "cublasLtMatmulPreferenceDestroy"));
  TRY(load(lt->preference_set, "cublasLtMatmulPreferenceSetAttribute"));
  TRY(load(lt->heuristic, "cublasLtMatmulAlgoGetHeuristic"));
  return std::shared_ptr<const CublasLt>{std::move(lt)};
}

Outcome<> CublasLt::check(cublasStatus_t status, std::string_view tried) const {
  if (status == CUBLAS_STATUS_SUCCESS) return done();
  return Failure{.code = "cuda",
                 .message = "cuBLASLt: " + std::string{tried} + ": " + status_string(status)};
}

Outcome<LtHandle> LtHandle::make(std::shared_ptr<const CublasLt> library) {
  LtHandle made;
  cublasLtHandle_t handle = nullptr;
  TRY(library->check(library->create(&handle), "starting"));
  made.handle_ = {handle, [library](cublasLtHandle_t ended) { library->destroy(ended); }};
  made.library_ = std::move(library);
  TRY(made.workspace_, make_memory(kWorkspaceBytes, "cuBLASLt's workspace"));
  return made;
}

Outcome<LtProduct> LtProduct::prepare(const std::shared_ptr<const CublasLt>& lt,
                                      const Product& product) {
  LtProduct made;
  made.library_ = lt;
  made.twofold_ = product.compute == CUBLAS_COMPUTE_64F;
  cublasLtMatmulDesc_t desc = nullptr;
  const auto scale = made.twofold_ ? CUDA_R_64F : CUDA_R_32F;
  TRY(lt->check(lt->desc_create(&desc, product.compute, scale), "a product"));
  made.desc_ = {desc, [lt](cublasLtMatmulDesc_t ended) { lt->desc_destroy(ended); }};
  const cublasOperation_t a = product.transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t b = product.transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  TRY(lt->check(lt->desc_set(desc, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a), "transposing A"));
  TRY(lt->check(lt->desc_set(desc, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b), "transposing B"));
  TRY(made.a_, make_layout(lt, product.operand, product.transposed_a ? product.k : product.m,
                           product.transposed_a ? product.m : product.k, product.lda, product.batch,
                           product.stride_a));
  TRY(made.b_, make_layout(lt, product.operand, product.transposed_b ? product.n : product.k,
                           product.transposed_b ? product.k : product.n, product.ldb, product.batch,
                           product.stride_b));
  TRY(made.c_, make_layout(lt, product.result, product.m, product.n, product.ldc, product.batch,
                           product.stride_c));
  return made;
}

Outcome<LtProduct> LtProduct::read(const LtHandle& handle, const Product& product,
                                   std::string_view written) {
  TRY(auto made, prepare(handle.library_of(), product));
  if (!bytes_of(written, &made.algo_, sizeof made.algo_))
    return Failure{.code = "usage", .message = "this is no way of cuBLASLt to multiply"};
  return made;
}

std::string LtProduct::written() const { return hex_of(&algo_, sizeof algo_); }

Outcome<std::vector<LtProduct>> LtProduct::ways(const LtHandle& handle, const Product& product,
                                                int most) {
  const auto& lt = handle.library_of();
  TRY(const auto made, prepare(lt, product));
  TRY(const auto preference, make_preference(lt));
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most));
  int count = 0;
  TRY(lt->check(
      lt->heuristic(handle.get(), made.desc_.get(), made.a_.get(), made.b_.get(), made.c_.get(),
                    made.c_.get(), preference.get(), most, found.data(), &count),
      "asking for ways to multiply"));
  std::vector<LtProduct> ways;
  for (int at = 0; at < count; ++at) {
    if (found[at].state != CUBLAS_STATUS_SUCCESS) continue;
    ways.push_back(made);
    ways.back().algo_ = found[at].algo;
  }
  if (ways.empty())
    return Failure{.code = "cuda",
                   .message = "cuBLASLt knows no way to do this product on this GPU"};
  return ways;
}

Outcome<> LtProduct::run(const LtHandle& handle, double alpha, const void* a, const void* b,
                         double beta, void* c, cudaStream_t stream) const {
  const auto alpha_single = static_cast<float>(alpha);
  const auto beta_single = static_cast<float>(beta);
  const void* by = twofold_ ? static_cast<const void*>(&alpha) : &alpha_single;
  const void* add = twofold_ ? static_cast<const void*>(&beta) : &beta_single;
  const auto status =
      library_->matmul(handle.get(), desc_.get(), by, a, a_.get(), b, b_.get(), add, c, c_.get(), c,
                       c_.get(), &algo_, handle.workspace(), kWorkspaceBytes, stream);
  if (status == CUBLAS_STATUS_SUCCESS) return done();
  // Of a GPU that broke before, cuBLASLt only says that it could not; CUDA says of what.
  const auto why = cudaStreamQuery(stream);
  if (why != cudaErrorNotReady) {
    TRY(cuda(why, "a product"));
  }
  return library_->check(status, "a product");
}

}  // namespace cupel::burn
