#include "burnin/stage_series.h"

#include <algorithm>
#include <array>

#include "burnin/gpu/burn_series.h"
#include "burnin/node/watch_report.h"

namespace cupel::burnin {
namespace {

struct Row {
  std::string_view stage;
  void (*read)(const inventory::Profile& profile, const Output& output, SeriesRecorder& into);
};

constexpr std::array kRows{
    Row{"watch", watch_series}, Row{"gemm", burn_series}, Row{"hbm", burn_series},
    Row{"pcie", burn_series},   Row{"p2p", burn_series},  Row{"collective", burn_series},
    Row{"train", burn_series},
};

}  // namespace

void add_series(const Stage& stage, const inventory::Profile& profile, const Output& output,
                SeriesRecorder& into) {
  const auto* row = std::ranges::find(kRows, stage.name, &Row::stage);
  if (row != kRows.end()) row->read(profile, output, into);
}

}  // namespace cupel::burnin
