#include "orchestrator/cli/plan_needs.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "orchestrator/cli/table.h"

namespace cupel::cli {
namespace {

using burnin::Root;
using controller::StepNeeds;

std::string_view word_of_root(Root root) { return root == Root::needed ? "yes" : "-"; }

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
}

boost::json::array array_of(const std::vector<std::string>& names) {
  boost::json::array all;
  for (const auto& name : names) all.emplace_back(name);
  return all;
}

/// What nodes must have installed, over all stages.
std::vector<std::string> tools_of(const std::vector<StepNeeds>& needs) {
  std::set<std::string> all;
  for (const auto& each : needs) all.insert(each.needs.tools.begin(), each.needs.tools.end());
  return {all.begin(), all.end()};
}

std::string line_of_program(const ssh::ProgramShelf& shelf, const std::string& name) {
  const auto file = ssh::file_of(shelf, name);
  return file ? fmt::format("{}: {}", name, file->string()) : ssh::why_missing(shelf, name);
}

}  // namespace

std::string needs_text(const playbooks::Plan& plan, const ssh::ProgramShelf& shelf) {
  const auto needs = controller::needs_of(plan);
  if (needs.empty()) return {};
  std::vector<Row> rows{{"stage", "our program", "tools on the node", "tells more with", "root"}};
  for (const auto& [step, each] : needs)
    rows.push_back({step, listed(each.programs), listed(each.tools), listed(each.helpful),
                    std::string{word_of_root(each.root)}});
  auto text = fmt::format("\nwhat it needs (docs/start/nodes.md)\n{}\n", table(rows));
  for (const auto& name : programs_of(needs)) text += line_of_program(shelf, name) + "\n";
  const auto how = burnin::how_to_install(tools_of(needs));
  if (!how.empty()) text += "on each node: " + how + "\n";
  return text;
}

boost::json::object needs_json(const playbooks::Plan& plan, const ssh::ProgramShelf& shelf) {
  const auto needs = controller::needs_of(plan);
  boost::json::array stages, programs;
  for (const auto& [step, each] : needs)
    stages.push_back({{"step", step},
                      {"programs", array_of(each.programs)},
                      {"tools", array_of(each.tools)},
                      {"tells_more_with", array_of(each.helpful)},
                      {"root", word_of_root(each.root)}});
  for (const auto& name : programs_of(needs)) {
    boost::json::object program{{"program", name}};
    if (const auto file = ssh::file_of(shelf, name))
      program["file"] = file->string();
    else
      program["missing"] = ssh::why_missing(shelf, name);
    programs.push_back(std::move(program));
  }
  return {{"stages", stages},
          {"programs", programs},
          {"install_on_nodes", burnin::how_to_install(tools_of(needs))}};
}

}  // namespace cupel::cli
