// A library with cuBLASLt's functions by name, none of which does anything. Which version it is the
// environment says (FAKE_CUBLASLT_VERSION).
#include <cstddef>
#include <cstdlib>

extern "C" {

std::size_t cublasLtGetVersion() {
  const char* told = std::getenv("FAKE_CUBLASLT_VERSION");
  return told == nullptr ? 130'100 : static_cast<std::size_t>(std::atol(told));
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
