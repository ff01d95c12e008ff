#include "rehearsal/tools/nvidia_smi/rows.h"

#include <algorithm>

namespace cupel::rehearsal {

bool RowWriter::is_requested(std::string_view field) const {
  return !only_ || (!field.empty() && std::ranges::find(*only_, field) != only_->end());
}

void RowWriter::open(std::string label, std::string tag) {
  if (only_) {
    ++depth_;
    return;
  }
  rows_.push_back(
      {.depth = depth_++, .section = section_, .label = std::move(label), .tag = std::move(tag)});
}

Row& RowWriter::leaf(std::string label, std::string tag, std::string field, std::string value) {
  if (!is_requested(field)) return unselected_;
  rows_.push_back({.depth = depth_,
                   .section = section_,
                   .label = std::move(label),
                   .tag = std::move(tag),
                   .field = std::move(field),
                   .value = std::move(value)});
  return rows_.back();
}

std::vector<Row> gpu_rows(const DriverView& driver, const GpuView& gpu) {
  std::vector<Row> rows;
  RowWriter writer{rows};
  for (const auto add : gpu_parts()) add(writer, driver, gpu);
  return rows;
}

std::vector<AddRows> gpu_parts() {
  std::vector<AddRows> all;
  for (const auto parts :
       {identity_parts(), performance_parts(), memory_parts(), condition_parts()})
    all.insert(all.end(), parts.begin(), parts.end());
  return all;
}

}  // namespace cupel::rehearsal
