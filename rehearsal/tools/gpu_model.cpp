#include "rehearsal/tools/gpu_model.h"

#include <algorithm>
#include <array>

namespace cupel::rehearsal {
namespace {

constexpr std::array kModels{
    GpuModel{"H100 80GB HBM3",
             "Hopper",
             "9.0",
             "2330",
             "16C1",
             "692-2G520-0200-000",
             "2330-885-A1",
             "G520.0200.00.05",
             "GH100 [H100 SXM5 80GB]",
             18,
             "26.562",
             132,
             1980,
             2619,
             765,
             1545,
             200,
             700,
             87,
             479,
             2560,
             55.4,
             394,
             3090,
             478,
             364,
             365},
    GpuModel{"H200",
             "Hopper",
             "9.0",
             "2335",
             "18BE",
             "695-2G520-0280-001",
             "2335-895-A1",
             "G520.0280.02.02",
             "GH100 [H200 SXM 141GB]",
             18,
             "26.562",
             132,
             1980,
             3201,
             765,
             1545,
             200,
             700,
             87,
             614,
             3072,
             55.4,
             396,
             4420,
             480,
             366,
             367},
    GpuModel{"A100-SXM4-80GB",
             "Ampere",
             "8.0",
             "20B2",
             "147F",
             "692-2G506-0212-002",
             "20B2-895-A1",
             "G506.0212.00.01",
             "GA100 [A100 SXM4 80GB]",
             12,
             "25",
             108,
             1410,
             1593,
             585,
             1290,
             100,
             400,
             85,
             869,
             640,
             26.1,
             276,
             1850,
             235,
             235,
             230},
};

}  // namespace

const GpuModel& gpu_model(std::string_view model) {
  const auto found = std::ranges::find_if(kModels, [&](const GpuModel& row) {
    return model.contains(row.model) || row.model.contains(model);
  });
  return found == kModels.end() ? kModels.front() : *found;
}

}  // namespace cupel::rehearsal
