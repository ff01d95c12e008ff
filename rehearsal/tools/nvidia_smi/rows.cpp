#include "rehearsal/tools/nvidia_smi/rows.h"

namespace cupel::rehearsal {

void RowWriter::open(std::string label, std::string tag) {
  rows_.push_back(
      {.depth = depth_++, .section = section_, .label = std::move(label), .tag = std::move(tag)});
}

Row& RowWriter::leaf(std::string label, std::string tag, std::string field, std::string value) {
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
  add_identity(writer, driver, gpu);
  add_performance(writer, gpu);
  add_memory(writer, gpu);
  add_condition(writer, gpu);
  return rows;
}

}  // namespace cupel::rehearsal
