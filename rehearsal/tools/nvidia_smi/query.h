#pragma once
// nvidia-smi's selective queries: --query-gpu=, --query-compute-apps=, --query-remapped-rows= and
// their like, as CSV.
#include <span>
#include <string>

#include "base/result.h"
#include "rehearsal/tools/gpu_view.h"

namespace cupel::rehearsal {

struct CsvFormat {
  bool header = true, units = true;
};

/// Errors: kBadRequest, with nvidia-smi's own words.
Result<CsvFormat> read_format(std::string_view text);
Result<std::string> query_gpus(const DriverView& driver, std::span<const GpuView* const> gpus,
                               std::string_view fields, CsvFormat format);
/// `of`: "compute-apps", "accounted-apps", "remapped-rows", "retired-pages".
Result<std::string> query_other(std::string_view of, const DriverView& driver,
                                std::span<const GpuView* const> gpus, std::string_view fields,
                                CsvFormat format);

}  // namespace cupel::rehearsal
