#include <array>

#include "burnin/measures/tables.h"

namespace cupel::burnin {
namespace {

constexpr std::array kToolMeasures{
    MeasureRow{"dcgm.passed", "tests", "tests of dcgmi diag that passed", Better::more},
    MeasureRow{"dcgm.failed", "tests", "tests that failed", Better::less},
    MeasureRow{"dcgm.warned", "tests", "tests that warned", Better::less},
    MeasureRow{"dcgm.skipped", "tests", "tests that were skipped"},
    MeasureRow{"dcgm.errors.isolate", "errors", "errors of severity \"isolate the GPU\"",
               Better::less},
    MeasureRow{"dcgm.errors.triage", "errors", "errors of severity \"triage\"", Better::less},
    MeasureRow{"dcgm.errors.config", "errors", "errors of severity \"configure\"", Better::less},
    MeasureRow{"dcgm.errors.reset", "errors", "errors of severity \"reset\"", Better::less},
    MeasureRow{"dcgm.errors.other", "errors", "errors of another severity", Better::less},
    MeasureRow{"nvbandwidth.corrupted", "count", "whether nvbandwidth received damaged data",
               Better::less},
    MeasureRow{"gpuburn.errors", "errors", "products that differ from the first one", Better::less},
    MeasureRow{"gpuburn.died", "count", "GPUs that died during the test", Better::less},
    MeasureRow{"gpuburn.tensor.rate", "TFLOP/s", "with Tensor Cores", Better::more},
    MeasureRow{"gpuburn.double.rate", "TFLOP/s", "in double precision", Better::more},
    MeasureRow{"gpuburn.single.rate", "TFLOP/s", "in single precision", Better::more},
    MeasureRow{"gpuburn.temperature", "C", "highest temperature that gpu_burn reported",
               Better::less},
};

}  // namespace

std::span<const MeasureRow> tool_measure_rows() { return kToolMeasures; }

}  // namespace cupel::burnin
