#pragma once
// Everything that nvidia-smi tells of one GPU, once: the text of -q, its XML and the fields of
// --query-gpu are three ways to write the same rows. Shaped like driver 590 (nvsmi_device_v13.dtd).
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::rehearsal {

struct GpuView;
struct DriverView;

/// What `-d` chooses by; a row that no section names is in the whole listing alone.
enum class Section {
  none,
  memory,
  utilization,
  ecc,
  temperature,
  power,
  clock,
  compute,
  pids,
  performance,
  page_retirement,
  encoder_stats,
  fbc_stats,
  row_remapper,
  accounting,
  gsp,
  power_smoothing,
  power_profiles,
};

struct Row {
  int depth = 0;
  Section section = Section::none;
  std::string label{};  // of the text; empty: not there
  std::string tag{};    // of the XML; empty: not there
  std::string field{};  // of --query-gpu, with its unit: "power.draw [W]"; empty: not there
  std::optional<std::string> value{};  // nothing: a heading, with rows below it
  std::optional<std::string> xml{};    // where the XML writes it differently
  std::optional<std::string> csv{};    // and where --query-gpu does
  int column = 55;                     // of the colon in the text
  int deeper = 0;                      // in the text, than `depth`
  bool bare = false;                   // --query-gpu writes "N/A", not "[N/A]"
};

/// All of one GPU, in nvidia-smi's order.
std::vector<Row> gpu_rows(const DriverView& driver, const GpuView& gpu);

/// Collects rows, one heading within another.
class RowWriter {
 public:
  explicit RowWriter(std::vector<Row>& rows) : rows_{rows} {}
  /// Keeps the rows of these fields alone, without headings. `only` must outlive it.
  RowWriter(std::vector<Row>& rows, std::span<const std::string> only) : rows_{rows}, only_{only} {}

  void section(Section section) { section_ = section; }
  void open(std::string label, std::string tag);
  void close() { --depth_; }
  Row& leaf(std::string label, std::string tag, std::string field, std::string value);

 private:
  bool is_requested(std::string_view field) const;

  std::vector<Row>& rows_;
  std::optional<std::span<const std::string>> only_{};
  Row unselected_{};  // what callers add to a row that is not kept
  int depth_ = 0;
  Section section_ = Section::none;
};

/// One part of gpu_rows. Which fields it writes is the same for every GPU.
using AddRows = void (*)(RowWriter& rows, const DriverView& driver, const GpuView& gpu);

// All of them, in their order: identity's first, condition's last.
std::span<const AddRows> identity_parts();
std::span<const AddRows> performance_parts();
std::span<const AddRows> memory_parts();
std::span<const AddRows> condition_parts();
std::vector<AddRows> gpu_parts();

/// What driver 590 says of what it no longer tells.
inline constexpr const char* kDeprecated = "Requested functionality has been deprecated";

}  // namespace cupel::rehearsal
