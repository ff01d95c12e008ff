// A library with cuBLASLt's functions by name, none of which does anything. Which version it is the
// environment says (FAKE_CUBLASLT_VERSION).
#include <cstddef>
#include <cstdlib>

extern "C" {

std::size_t cublasLtGetVersion() {
  const char* reported = std::getenv("FAKE_CUBLASLT_VERSION");
  return reported == nullptr ? 130'100 : static_cast<std::size_t>(std::atol(reported));
}
void cublasLtCreate() {}
void cublasLtDestroy() {}
void cublasLtGetStatusString() {}
void cublasLtMatmul() {}
void cublasLtMatmulDescCreate() {}
void cublasLtMatmulDescDestroy() {}
void cublasLtMatmulDescSetAttribute() {}
void cublasLtMatrixLayoutCreate() {}
void cublasLtMatrixLayoutDestroy() {}
void cublasLtMatrixLayoutSetAttribute() {}
void cublasLtMatmulPreferenceCreate() {}
void cublasLtMatmulPreferenceDestroy() {}
void cublasLtMatmulPreferenceSetAttribute() {}
void cublasLtMatmulAlgoGetHeuristic() {}
}
