#include "inventory/read_security_floor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/file.h"
#include "base/json.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/utc.h"
#include "inventory/shipped.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

constexpr std::size_t kMostRows = 1'000, kMostModels = 64, kLongestText = 256,
                      kLargestFloor = 1u << 20;
constexpr std::string_view kShipped = "inventory/security-floor.yaml";

void check_text(YamlFields& fields, std::string_view key, const std::string& text) {
  if (text.size() > kLongestText)
    fields.report(fields.place(key),
                  fmt::format("{} has {} bytes: at most {}", key, text.size(), kLongestText));
  else if (printable(text) != text || valid_utf8(text) != text)
    fields.report(fields.place(key), fmt::format("{} has control characters", key));
}

std::string read_text(YamlFields& fields, std::string_view key) {
  auto text = fields.required(key);
  check_text(fields, key, text);
  if (fields.has(key) && text.empty())
    fields.report(fields.place(key), fmt::format("{} is empty", key));
  return text;
}

std::vector<std::string> component_names() {
  std::vector<std::string> names;
  for (const auto& each : floor_components()) names.emplace_back(each.name);
  return names;
}

void check_row(YamlFields& fields, const FloorRow& row) {
  const auto names = component_names();
  if (!row.component.empty() && floor_component(row.component) == nullptr)
    fields.report(
        fields.place("component"),
        fmt::format("component '{}' is none of {}{}", printable(row.component),
                    fmt::join(names, ", "), did_you_mean(row.component, std::span{names})));
  const bool own_branch = row.at_least == row.branch || row.at_least.starts_with(row.branch + ".");
  if (!row.branch.empty() && !row.at_least.empty() && !own_branch)
    fields.report(fields.place("at_least"),
                  fmt::format("at_least {} is not of branch {}", row.at_least, row.branch));
  if (row.component == "connectx" && !row.at_least.empty() && !is_connectx_train(row.at_least))
    fields.report(fields.place("at_least"),
                  fmt::format("at_least {} is not two numbers such as 43.8002: the chip's number "
                              "does not belong to it",
                              printable(row.at_least)));
  if (!row.date.empty() && (row.date.size() != 10 || !utc_of(row.date)))
    fields.report(fields.place("date"), "date is no day such as 2026-05-19");
  // Two families of BMCs number their versions each in its own way.
  const bool of_one_kind = row.component == "bmc" || row.component == "bios";
  if (of_one_kind && row.models.empty())
    fields.report(
        fields.place(),
        fmt::format("{} needs models, since each kind has versions of its own", row.component));
}

FloorRow read_row(const YamlValue& value, const std::string& file, Problems& problems) {
  YamlFields fields{value, "row", file, problems};
  FloorRow row;
  row.where = fields.place();
  row.component = read_text(fields, "component");
  row.at_least = read_text(fields, "at_least");
  row.advisory = read_text(fields, "advisory");
  row.date = read_text(fields, "date");
  row.source = fields.text("source").value_or("");
  check_text(fields, "source", row.source);
  row.branch = fields.text("branch").value_or(std::string{first_number(row.at_least)});
  if (fields.has("branch")) check_text(fields, "branch", row.branch);
  if (fields.has("branch") && row.branch.empty())
    fields.report(fields.place("branch"), "branch is empty");
  row.models = fields.texts("models");
  for (const auto& model : row.models) {
    check_text(fields, "models", model);
    if (model.empty()) fields.report(fields.place("models"), "one of models is empty");
  }
  if (row.models.size() > kMostModels)
    fields.report(fields.place("models"),
                  fmt::format("{} models: at most {}", row.models.size(), kMostModels));
  check_row(fields, row);
  fields.finish();
  return row;
}

/// Two rows of one branch: which of them counts would depend on their order.
void check_twice(const std::vector<FloorRow>& rows, Problems& problems) {
  std::map<std::tuple<std::string, std::string, std::vector<std::string>>, const FloorRow*> known;
  for (const auto& row : rows) {
    const auto [at, fresh] = known.try_emplace({row.component, row.branch, row.models}, &row);
    if (!fresh)
      problems.push_back({row.where, fmt::format("branch {} of {} is there twice: first at {}",
                                                 printable(row.branch), printable(row.component),
                                                 to_string(at->second->where))});
  }
}

std::string in_quotes(std::string_view text) {
  return json::serialize(json::value(valid_utf8(text)));
}

}  // namespace

std::optional<SecurityFloor> parse_floor(std::string_view text, const std::string& file,
                                         Problems& problems) {
  const auto before = problems.size();
  const auto document = parse_yaml(text, file, problems);
  if (!document) return std::nullopt;
  SecurityFloor floor;
  YamlFields fields{document->root, "floor", file, problems};
  floor.title = read_text(fields, "floor");
  const auto rows = fields.list("rows");
  if (rows.empty()) fields.report(fields.place("rows"), "the floor has no rows");
  if (rows.size() > kMostRows)
    fields.report(fields.place("rows"), fmt::format("{} rows: at most {}", rows.size(), kMostRows));
  for (const auto& row : rows.first(std::min(rows.size(), kMostRows)))
    floor.rows.push_back(read_row(row, file, problems));
  check_twice(floor.rows, problems);
  fields.finish();
  if (problems.size() > before) return std::nullopt;
  return floor;
}

const SecurityFloor& shipped_floor() {
  static const SecurityFloor floor = [] {
    Problems problems;  // a test reads it
    const auto* file = shipped_file(kShipped);
    auto read =
        file == nullptr ? std::nullopt : parse_floor(file->text, std::string{kShipped}, problems);
    return std::move(read).value_or(SecurityFloor{});
  }();
  return floor;
}

std::optional<SecurityFloor> load_floor(const std::filesystem::path& file, Problems& problems) {
  const auto text = read_trusted_file(file, kLargestFloor);
  if (text) return parse_floor(*text, file.string(), problems);
  problems.push_back({{file.string(), 0, 0}, text.error().what});
  return std::nullopt;
}

std::string to_yaml(const SecurityFloor& floor) {
  auto text = fmt::format("floor: {}\nrows:\n", in_quotes(floor.title));
  for (const auto& row : floor.rows) {
    text += fmt::format("  - {{component: {}, branch: {}, at_least: {}", row.component,
                        in_quotes(row.branch), in_quotes(row.at_least));
    std::vector<std::string> models;
    for (const auto& model : row.models) models.push_back(in_quotes(model));
    if (!models.empty()) text += fmt::format(", models: [{}]", fmt::join(models, ", "));
    text += fmt::format(", advisory: {}, date: {}", in_quotes(row.advisory), in_quotes(row.date));
    if (!row.source.empty()) text += fmt::format(", source: {}", in_quotes(row.source));
    text += "}\n";
  }
  return text;
}

FloorSite read_floor_site(YamlFields& site, const std::filesystem::path& folder,
                          const std::string& file, Problems& problems, std::string& digested) {
  FloorSite floor{.rows = {}};
  const auto* value = site.value("security_floor");
  if (value == nullptr) {
    floor.rows = shipped_floor().rows;
    return floor;
  }
  YamlFields fields{*value, "security_floor", file, problems};
  floor.where = fields.place();
  const auto name = fields.text("file");
  const auto policy = fields.text("policy").value_or("warn");
  floor.fails = policy == "fail";
  if (policy != "warn" && policy != "fail")
    fields.report(fields.place("policy"),
                  fmt::format("policy '{}' is none of warn, fail", printable(policy)));
  fields.finish();
  if (!name) {
    floor.rows = shipped_floor().rows;
    return floor;
  }
  floor.file = path_from(folder, *name).string();
  const auto text = read_file(floor.file, kLargestFloor);
  if (!text) {
    fields.report(fields.place("file"), text.error().what);
    return floor;
  }
  digested += *text;
  if (auto read = parse_floor(*text, floor.file, problems)) floor.rows = std::move(read->rows);
  return floor;
}

}  // namespace cupel::inventory
