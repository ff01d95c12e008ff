#include "burnin/agent/burn/cuda_failure.h"

#include <algorithm>
#include <array>

namespace cupel::burn {
namespace {

struct Meaning {
  int status;
  std::string_view code;
  std::string_view advice;
};

// A sound kernel on a sound GPU ends in none of these; whose fault it was the driver's log tells.
constexpr std::string_view kNotOurs = "a kernel broke off; see dmesg for Xid, and run it again";

constexpr std::string_view kNoKernels =
    "this driver cannot compile the program's kernels (PTX 7.8) for this GPU; is the driver whole? "
    "see nvidia-smi";

constexpr std::array kMeanings{
    Meaning{2, "memory", "another process holds the GPU's memory? see nvidia-smi"},
    Meaning{3, "no-cuda-device", "the driver could not start; see dmesg for NVRM and Xid"},
    Meaning{35, "no-cuda-device",
            "no NVIDIA driver, or one that is older than 525: install or update it"},
    // Whoever holds a GPU was looked for before: nobody does.
    Meaning{46, kHardware,
            "no process holds it, so the driver refuses it until it is reset: see dmesg for "
            "NV_ERR_RESET_REQUIRED, reset the GPU, then test again (or its compute mode keeps "
            "programs out: see nvidia-smi -q)"},
    Meaning{100, "no-cuda-device", "no GPU that CUDA can use; see nvidia-smi and dmesg"},
    Meaning{101, "no-cuda-device", "the GPU is not there any more; see dmesg for Xid 79"},
    Meaning{209, "cuda", kNoKernels},
    Meaning{214, kHardware, "an uncorrectable ECC error; see nvidia-smi -q -d ECC, and dmesg"},
    Meaning{220, kHardware, "an uncorrectable NVLink error; see dmesg for Xid 74"},
    Meaning{218, "cuda", kNoKernels},
    Meaning{222, "cuda", kNoKernels},
    Meaning{226, kHardware, "an error that the GPU contained; see dmesg for Xid 94 and 95, or 74"},
    Meaning{700, "cuda", kNotOurs},
    Meaning{714, kHardware, "the GPU's stack is corrupt; see dmesg for Xid"},
    Meaning{715, "cuda", kNotOurs},
    Meaning{719, "cuda", kNotOurs},
    Meaning{
        802, "no-cuda-device",
        "the fabric manager does not run or does not fit the driver: start nvidia-fabricmanager"},
    Meaning{803, "no-cuda-device",
            "driver and libcuda are of unlike versions: reboot after update"},
};

}  // namespace

Failure cuda_failure(int status, std::string_view name, std::string_view tried) {
  const auto* known =
      std::ranges::find_if(kMeanings, [&](const auto& row) { return row.status == status; });
  const bool is_known = known != kMeanings.end();
  auto message =
      std::string{tried} + ": " + std::string{name} + " (" + std::to_string(status) + ")";
  if (is_known && known->code == "no-cuda-device") message = "no CUDA device: " + message;
  if (is_known) message += ": " + std::string{known->advice};
  return {.code = std::string{is_known ? known->code : "cuda"}, .message = std::move(message)};
}

}  // namespace cupel::burn
