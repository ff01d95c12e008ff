#pragma once
// DCGM's command line, and what each of its diagnostics can find. No host engine behind it.
#include "rehearsal/tools/gpu_work.h"
#include "rehearsal/tools/sets.h"

namespace cupel::rehearsal {

/// dcgmi of DCGM 4.4: discovery, diag, health, nvlink.
Task<int> dcgmi(ProcessPtr process, Arguments arguments);

/// One finding of a diagnostic. Source: NVIDIA/DCGM, dcgmlib/dcgm_errors.h.
struct DcgmError {
  int id = 0, category = 0, severity = 0;
  std::string text{};
};

struct DcgmResult {
  int gpu = 0;
  std::string status = "Pass";
  std::vector<DcgmError> errors{};
};

/// One test of a run level. `judge` looks at one GPU while its load runs.
struct DcgmTest {
  std::string_view name, category;
  int level;       // of `-r` from which on it runs
  double seconds;  // that it takes
  Work work;
  void (*judge)(const Host& host, const GpuView& gpu, DcgmResult& result);
};

std::span<const DcgmTest> dcgm_tests();

}  // namespace cupel::rehearsal
