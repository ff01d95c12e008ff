#include "rehearsal/tools/nvidia_smi/query.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>

#include "base/text.h"
#include "rehearsal/tools/nvidia_smi/rows.h"
#include "rehearsal/tools/nvidia_smi/write.h"

namespace cupel::rehearsal {
namespace {

/// Second names of fields. Source: `nvidia-smi --help-query-gpu` of driver 590.
constexpr std::array<std::pair<std::string_view, std::string_view>, 30> kSecondNames{{
    {"gpu_name", "name"},
    {"gpu_serial", "serial"},
    {"gpu_uuid", "uuid"},
    {"gpu_bus_id", "pci.bus_id"},
    {"inforom.image", "inforom.img"},
    {"inforom.power", "inforom.pwr"},
    {"gpu_operation_mode.current", "gom.current"},
    {"gpu_operation_mode.pending", "gom.pending"},
    {"retired_pages.sbe", "retired_pages.single_bit_ecc.count"},
    {"retired_pages.dbe", "retired_pages.double_bit.count"},
    {"remapped_rows.sbe", "remapped_rows.correctable"},
    {"remapped_rows.dbe", "remapped_rows.uncorrectable"},
    {"gpu.power.draw.average", "power.draw.average"},
    {"gpu.power.draw.instant", "power.draw.instant"},
    {"gpu.power.requested_limit", "power.limit"},
    {"gpu.power.current_limit", "enforced.power.limit"},
    {"gpu.power.default_limit", "power.default_limit"},
    {"gpu.power.min_limit", "power.min_limit"},
    {"gpu.power.max_limit", "power.max_limit"},
    {"module.power.requested_limit", "module.power.limit"},
    {"module.power.current_limit", "module.enforced.power.limit"},
    {"clocks.gr", "clocks.current.graphics"},
    {"clocks.sm", "clocks.current.sm"},
    {"clocks.mem", "clocks.current.memory"},
    {"clocks.video", "clocks.current.video"},
    {"clocks.applications.gr", "clocks.applications.graphics"},
    {"clocks.applications.mem", "clocks.applications.memory"},
    {"clocks.max.gr", "clocks.max.graphics"},
    {"clocks.max.mem", "clocks.max.memory"},
    {"gpu_utilization", "gpu_util"},
}};

std::string first_name(std::string_view field) {
  constexpr std::string_view kOld = "clocks_throttle_reasons.";
  if (field.starts_with(kOld))
    return "clocks_event_reasons." + std::string{field.substr(kOld.size())};
  const auto* found =
      std::ranges::find(kSecondNames, field, &std::pair<std::string_view, std::string_view>::first);
  return std::string{found == kSecondNames.end() ? field : found->second};
}

std::string without_unit(std::string_view name) {
  return std::string{name.substr(0, name.find(" ["))};
}

/// "[N/A]", and numbers without their unit where none is requested.
std::string cell(const Row& row, CsvFormat format) {
  auto value = row.csv.value_or(row.value.value_or(""));
  const bool unreported = value == "N/A" || value == kDeprecated;
  if (unreported) return row.bare ? value : "[" + value + "]";
  const bool number = row.field.contains(" [");
  if (number && !format.units) value = value.substr(0, value.find(' '));
  return value;
}

Error wrong_field(std::string_view field) {
  return {Code::kInvalid, fmt::format("Field \"{}\" is not a valid field to query.\n\n", field)};
}

using Record = std::vector<Row>;

/// One line for each record, of the fields asked for.
Result<std::string> csv(std::span<const Record> records, const Record& sample,
                        std::string_view fields, CsvFormat format) {
  std::vector<std::size_t> columns;
  std::string text;
  for (const auto asked : split(fields, ',')) {
    const auto named = [&](std::string_view name) {
      return std::ranges::find_if(sample, [name](const Row& row) {
        return !row.field.empty() && without_unit(row.field) == name;
      });
    };
    auto found = named(trimmed(asked));
    if (found == sample.end()) found = named(first_name(trimmed(asked)));
    if (found == sample.end()) return wrong_field(trimmed(asked));
    columns.push_back(static_cast<std::size_t>(found - sample.begin()));
    text += (text.empty() ? "" : ", ") + (format.units ? found->field : without_unit(found->field));
  }
  text = format.header ? text + "\n" : "";
  for (const auto& record : records) {
    std::string line;
    for (const auto column : columns)
      line += (line.empty() ? "" : ", ") + cell(record[column], format);
    text += line + "\n";
  }
  return text;
}

/// What every other query tells of the GPU that it is about.
void add_gpu(RowWriter& rows, const DriverView& driver, const GpuView& gpu) {
  rows.leaf("", "", "timestamp", csv_time_of(driver.now));
  rows.leaf("", "", "gpu_name", gpu.product());
  rows.leaf("", "", "gpu_bus_id", gpu.bus_id());
  rows.leaf("", "", "gpu_serial", gpu.part.serial);
  rows.leaf("", "", "gpu_uuid", gpu.part.uuid);
}

std::vector<Record> apps(const DriverView& driver, const GpuView& gpu) {
  std::vector<Record> records;
  for (const auto& process : gpu.processes) {
    RowWriter rows{records.emplace_back()};
    add_gpu(rows, driver, gpu);
    rows.leaf("", "", "pid", std::to_string(process.number));
    rows.leaf("", "", "process_name", process.name);
    rows.leaf("", "", "name", process.name);
    const auto mib = fmt::format("{} MiB", process.mib);
    rows.leaf("", "", "used_gpu_memory [MiB]", mib);
    rows.leaf("", "", "used_memory [MiB]", mib);
  }
  return records;
}

std::vector<Record> remaps(const DriverView& driver, const GpuView& gpu) {
  std::vector<Record> records;
  RowWriter rows{records.emplace_back()};
  add_gpu(rows, driver, gpu);
  const std::string field = "remapped_rows.";
  rows.leaf("", "", field + "correctable", std::to_string(gpu.remaps.correctable));
  rows.leaf("", "", field + "uncorrectable", std::to_string(gpu.remaps.uncorrectable));
  rows.leaf("", "", field + "pending", gpu.remaps.pending ? "1" : "0");
  rows.leaf("", "", field + "failure", gpu.remaps.failed ? "1" : "0");
  return records;
}

/// Rows are remapped since Ampere; pages are not retired any more.
std::vector<Record> pages(const DriverView& driver, const GpuView& gpu) {
  std::vector<Record> records;
  for (const auto* cause : {"Single Bit ECC", "Double Bit ECC"}) {
    RowWriter rows{records.emplace_back()};
    add_gpu(rows, driver, gpu);
    rows.leaf("", "", "retired_pages.address", "N/A");
    rows.leaf("", "", "retired_pages.timestamp", "N/A");
    rows.leaf("", "", "retired_pages.cause", cause);
  }
  return records;
}

/// Accounting is off: only the header is ever seen.
std::vector<Record> accounts(const DriverView& driver, const GpuView& gpu) {
  std::vector<Record> records;
  RowWriter rows{records.emplace_back()};
  add_gpu(rows, driver, gpu);
  for (const auto* field : {"pid", "vgpu_instance", "gpu_util [%]", "mem_util [%]",
                            "max_memory_usage [MiB]", "time [ms]"})
    rows.leaf("", "", field, "0");
  return records;
}

struct Query {
  std::string_view of;
  std::vector<Record> (*records)(const DriverView& driver, const GpuView& gpu);
  bool always_empty;
};
constexpr std::array kQueries{
    Query{"compute-apps", apps, false},
    Query{"accounted-apps", accounts, true},
    Query{"remapped-rows", remaps, false},
    Query{"retired-pages", pages, false},
};

/// A GPU with one of everything, for the names of the fields.
GpuView made_up() {
  GpuView gpu{
      .part = {.model = "H100 80GB HBM3", .uuid = std::string(40, '0'), .pci = "0000:00:00.0"}};
  gpu.processes.push_back({1, "one", 1});
  return gpu;
}

void add_timestamp(RowWriter& rows, const DriverView& driver, const GpuView&) {
  rows.leaf("", "", "timestamp", csv_time_of(driver.now));
}

/// Some of the fields, and the parts of a GPU's rows that write them.
struct QueryRequest {
  std::vector<std::string> fields{};  // with their units
  std::vector<AddRows> parts{};       // each once
};

Record record_of_gpu(const QueryRequest& requested, const DriverView& driver, const GpuView& gpu) {
  Record record;
  RowWriter rows{record, requested.fields};
  for (const auto add : requested.parts) add(rows, driver, gpu);
  return record;
}

struct Place {
  std::string field;  // with its unit
  AddRows part;
};

std::map<std::string, Place, std::less<>> places_of_fields() {
  std::map<std::string, Place, std::less<>> places;
  auto parts = gpu_parts();
  parts.insert(parts.begin(), add_timestamp);
  for (const auto part : parts) {
    Record record;
    RowWriter rows{record};
    part(rows, DriverView{}, made_up());
    for (const auto& row : record)
      if (!row.field.empty()) places.emplace(without_unit(row.field), Place{row.field, part});
  }
  return places;
}

/// A sampler asks for a few of hundreds, again and again.
QueryRequest query_request_of(std::string_view fields) {
  static const auto places = places_of_fields();
  QueryRequest requested;
  for (const auto asked : split(fields, ',')) {
    auto found = places.find(trimmed(asked));
    if (found == places.end()) found = places.find(first_name(trimmed(asked)));
    if (found == places.end()) continue;
    requested.fields.push_back(found->second.field);
    if (std::ranges::find(requested.parts, found->second.part) == requested.parts.end())
      requested.parts.push_back(found->second.part);
  }
  return requested;
}

}  // namespace

Result<CsvFormat> read_format(std::string_view text) {
  CsvFormat format;
  bool named = false;
  for (const auto word : split(text, ',')) {
    const auto name = trimmed(word);
    named |= name == "csv";
    if (name == "noheader") format.header = false;
    if (name == "nounits") format.units = false;
    if (name != "csv" && name != "noheader" && name != "nounits")
      return Error{Code::kInvalid, fmt::format("\"{}\" is not a valid format option.\n", name)};
  }
  if (!named) return Error{Code::kInvalid, "\"csv\" is a mandatory format option.\n"};
  return format;
}

Result<std::string> query_gpus(const DriverView& driver, std::span<const GpuView* const> gpus,
                               std::string_view fields, CsvFormat format) {
  const auto requested = query_request_of(fields);
  std::vector<Record> records;
  for (const auto* gpu : gpus) records.push_back(record_of_gpu(requested, driver, *gpu));
  return csv(records, record_of_gpu(requested, driver, made_up()), fields, format);
}

Result<std::string> query_other(std::string_view of, const DriverView& driver,
                                std::span<const GpuView* const> gpus, std::string_view fields,
                                CsvFormat format) {
  const auto* query = std::ranges::find(kQueries, of, &Query::of);
  if (query == kQueries.end()) return wrong_field(of);
  std::vector<Record> records;
  for (const auto* gpu : gpus) {
    if (query->always_empty) break;
    auto more = query->records(driver, *gpu);
    std::ranges::move(more, std::back_inserter(records));
  }
  auto sample = query->records(driver, made_up()).front();
  return csv(records, sample, fields, format);
}

}  // namespace cupel::rehearsal
