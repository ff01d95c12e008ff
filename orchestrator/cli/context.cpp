#include "orchestrator/cli/context.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/load.h"
#include "inventory/model.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/report/nodes_by_verdict.h"

namespace cupel::cli {

OptionRow json_flag(Context& context) {
  return {"--json", &context.json, "print JSON for programs instead of text for people"};
}

namespace {

constexpr std::size_t kLargestInventory = 64u << 20;  // as load_inventory() reads it

/// Several problems, or what a tool wrote, as one line.
std::string as_one_line(std::string_view text) {
  std::string one;
  for (const auto line : lines(text))
    if (const auto output = printable(trimmed(line)); !output.empty())
      one += (one.empty() ? "" : "; ") + output;
  return one;
}

}  // namespace

inventory::NodesOfRun nodes_of_run(const Context& context) {
  return [state = context.state](std::string_view verdict,
                                 engine::RunId run) -> Result<std::vector<std::string>> {
    TRY(const auto store, store::Store::open(state));
    return report::nodes_by_verdict(*store, verdict, run);
  };
}

bool ends_when_halted(const Context& context) {
  return context.ends_when_halted.value_or(::isatty(STDOUT_FILENO) != 1);
}

std::string state_to_name(const Context& context) {
  return context.state_chosen ? context.state.string() : std::string{};
}

std::string advised(const Context& context, std::string_view command) {
  return cupel_command(command, state_to_name(context));
}

std::string advised_in(const Context& context, std::string_view text) {
  constexpr std::string_view kName = "cupel ", kBefore = " \n`(\"'";
  if (state_to_name(context).empty() || context.program == nullptr) return std::string{text};
  std::string all;
  for (auto at = text.find(kName); at != text.npos; at = text.find(kName)) {
    const bool begins = at == 0 || kBefore.contains(text[at - 1]);
    const auto rest = text.substr(at + kName.size());
    const auto word = rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"));
    const auto& known = context.program->subcommands;
    const bool is_command = std::ranges::find(known, word, &CommandRow::name) != known.end();
    all += text.substr(0, at);
    all += begins && is_command ? advised(context, kName) : std::string{kName};
    text = rest;
  }
  return all + std::string{text};
}

Exit print_error(const Context& context, const Error& error, Exit exit) {
  const auto what = advised_in(context, error.what);
  std::fprintf(stderr, "cupel: %s\n", as_one_line(what).c_str());
  if (context.json) {
    const boost::json::object object{{"error", valid_utf8(what)}, {"code", to_string(error.code)}};
    std::printf("%s\n", boost::json::serialize(object).c_str());
  }
  return exit;
}

Exit print_error(const Context& context, const std::vector<inventory::Problem>& problems) {
  if (!context.json) {
    std::fputs(to_string(problems).c_str(), stderr);
    const bool more = problems.size() > inventory::kMostProblems;
    std::fprintf(stderr, "cupel: %s%zu error%s; nothing was touched\n", more ? "more than " : "",
                 more ? inventory::kMostProblems : problems.size(),
                 problems.size() == 1 ? "" : "s");
    return Exit::invalid;
  }
  boost::json::array all;
  for (const auto& problem : problems)
    all.push_back({{"file", valid_utf8(problem.where.file)},
                   {"line", problem.where.line},
                   {"column", problem.where.column},
                   {"what", valid_utf8(problem.what)}});
  std::printf("%s\n", boost::json::serialize(boost::json::object{{"problems", all}}).c_str());
  return Exit::invalid;
}

Result<store::Run> meant_run(const store::Store& store, engine::RunId named) {
  if (named != 0) return store.run(named);
  TRY(const auto runs, store.runs(1));
  if (runs.empty()) return Error{Code::kNotFound, "there is no run in " + store.folder().string()};
  return runs.front();
}

std::string default_inventory() {
  const char* named = std::getenv("CUPEL_INVENTORY");
  if (named != nullptr && *named != '\0') return named;
  constexpr const char* kOfThePackage = "/etc/cupel/inventory.yaml";
  return !is_there("inventory.yaml") && is_there(kOfThePackage) ? kOfThePackage : "inventory.yaml";
}

Result<void> check_named_inventory(bool named, const std::string& file) {
  if (!named) return ok();
  TRY([[maybe_unused]] const auto text, read_file(file, kLargestInventory));
  return ok();
}

OrExit<inventory::Inventory> inventory_or_exit(const Context& context, const std::string& file,
                                               std::string_view cable_columns) {
  auto loaded = inventory::load_inventory(file, cable_columns);
  if (loaded.inventory) return *std::move(loaded.inventory);
  return print_error(context, loaded.problems);
}

}  // namespace cupel::cli
