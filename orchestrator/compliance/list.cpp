#include "orchestrator/compliance/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/ownership.h"
#include "base/text.h"
#include "burnin/measures/measure.h"
#include "burnin/stage.h"
#include "inventory/security_floor.h"
#include "inventory/shipped.h"
#include "inventory/yaml.h"
#include "playbooks/step_kind.h"

namespace cupel::compliance {
namespace {

using Problems = std::vector<inventory::Problem>;

constexpr std::string_view kFolder = "orchestrator/compliance/";
constexpr std::size_t kMostDemands = 1000, kLargestList = 1u << 20;

bool is_step(const std::string& name) {
  return burnin::stage(name) != nullptr || playbooks::step_kind(name) != nullptr;
}

void check_names(inventory::YamlFields& fields, const Demand& demand) {
  const auto& playbook = demand.playbook;
  if (!playbook.empty() && !playbook.contains('/') &&
      inventory::shipped_file(fmt::format("playbooks/{}.yaml", playbook)) == nullptr)
    fields.report(
        fields.place("playbook"),
        fmt::format("there is no playbook '{}' (one of your own is a path, ./mine.yaml); to see "
                    "all of them: cupel playbook list",
                    printable(playbook)));
  for (const auto& name : demand.measures)
    if (burnin::measure_row(name) == nullptr)
      fields.report(
          fields.place("measures"),
          fmt::format("there is no measure '{}': docs/know/measures.md has them", printable(name)));
  for (const auto& name : demand.stages)
    if (!is_step(name))
      fields.report(fields.place("stages"),
                    fmt::format("there is no stage or step '{}': docs/know/playbooks.md has them",
                                printable(name)));
  for (const auto& name : demand.floor) {
    const auto* component = inventory::floor_component(name);
    if (component == nullptr || !component->is_read)
      fields.report(fields.place("floor"),
                    fmt::format("runs read no version of '{}' to hold against the security floor",
                                printable(name)));
  }
}

Demand read_demand(const inventory::YamlValue& value, const std::string& file,
                   std::set<std::string>& ids, Problems& problems) {
  inventory::YamlFields fields{value, "row", file, problems};
  Demand demand;
  demand.id = fields.required("id");
  demand.asks = fields.required("asks");
  demand.measures = fields.texts("measures");
  demand.stages = fields.texts("stages");
  demand.floor = fields.texts("floor");
  demand.playbook = fields.text("playbook").value_or("");
  demand.command = fields.text("command").value_or("");
  demand.not_here = fields.text("not_here").value_or("");
  fields.finish();
  const bool measured = !demand.measures.empty() || !demand.stages.empty() || !demand.floor.empty();
  const int proofs = static_cast<int>(measured) + static_cast<int>(!demand.command.empty()) +
                     static_cast<int>(!demand.not_here.empty());
  if (proofs != 1)
    fields.report(fields.place(),
                  "a row has either measures, stages and floor, or command, or not_here");
  if (measured == demand.playbook.empty())
    fields.report(
        fields.place(),
        "measures, stages and floor need playbook, which runs them; other rows have none");
  if (!demand.id.empty() && !ids.insert(demand.id).second)
    fields.report(fields.place("id"), fmt::format("{} is there twice", printable(demand.id)));
  check_names(fields, demand);
  return demand;
}

}  // namespace

std::optional<DemandList> parse_list(std::string_view text, const std::string& file,
                                     Problems& problems) {
  const auto before = problems.size();
  const auto document = inventory::parse_yaml(text, file, problems);
  if (!document) return std::nullopt;
  DemandList list;
  inventory::YamlFields fields{document->root, "list", file, problems};
  list.name = fields.required("list");
  list.title = fields.required("title");
  list.source = fields.required("source");
  list.date = fields.required("date");
  list.covers = fields.text("covers").value_or("");
  std::set<std::string> ids;
  const auto rows = fields.list("rows");
  if (rows.empty()) fields.report(fields.place("rows"), "the list has no rows");
  if (rows.size() > kMostDemands)
    fields.report(fields.place("rows"), fmt::format("more than {} rows", kMostDemands));
  for (const auto& row : rows.first(std::min(rows.size(), kMostDemands)))
    list.demands.push_back(read_demand(row, file, ids, problems));
  fields.finish();
  if (problems.size() > before) return std::nullopt;
  return list;
}

std::vector<std::string> shipped_lists() {
  std::vector<std::string> names;
  for (const auto& file : inventory::shipped_files())
    if (file.path.starts_with(kFolder))
      names.push_back(std::filesystem::path{file.path}.stem().string());
  std::ranges::sort(names);
  return names;
}

std::optional<DemandList> load_list(const std::string& name, Problems& problems) {
  const bool is_path = name.contains('/') || name.ends_with(".yaml");
  if (!is_path) {
    const auto path = fmt::format("{}{}.yaml", kFolder, name);
    if (const auto* shipped = inventory::shipped_file(path))
      return parse_list(shipped->text, path, problems);
    const auto known = shipped_lists();
    problems.push_back(
        {{name, 0, 0},
         fmt::format("there is no such list{} (one of your own is a file, ./mine.yaml); to see "
                     "all of them: cupel compliance --list",
                     inventory::did_you_mean(name, std::span{known}))});
    return std::nullopt;
  }
  const auto text = read_trusted_file(name, kLargestList);
  if (text) return parse_list(*text, name, problems);
  problems.push_back({{name, 0, 0}, text.error().what});
  return std::nullopt;
}

}  // namespace cupel::compliance
