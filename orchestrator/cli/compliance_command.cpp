// `cupel compliance`: a list of what buyers demand, answered by what runs have shown.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/select.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/compliance/page.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

struct ComplianceOptions {
  std::string against{}, inventory = default_inventory(), nodes = "all";
  std::filesystem::path html{};
  engine::RunId run = 0;
  bool markdown = false, lists = false;
  std::string check{};
};

OrExit<compliance::Answers> answers_or_exit(const Context& context,
                                            const ComplianceOptions& options) {
  std::vector<inventory::Problem> problems;
  const auto list = compliance::load_list(options.against, problems);
  if (!list) return print_error(context, problems);
  TRY(const auto inventory, inventory_or_exit(context, options.inventory));
  const auto nodes = inventory::select(inventory, options.nodes, inventory::RackScope::all(),
                                       nodes_of_run(context));
  if (!nodes) return print_error(context, nodes.error(), Exit::invalid);
  std::set<std::string, std::less<>> names;
  for (const auto* node : *nodes) names.insert(node->name);
  const auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  if (options.run != 0) {
    const auto run = (*store)->run(options.run);
    if (!run) return print_error(context, run.error(), Exit::invalid);
  }
  const auto evidence = compliance::read_evidence(**store, names, options.run);
  if (!evidence) return print_error(context, evidence.error(), Exit::unfinished);
  auto answers = compliance::answer(*list, *evidence);
  answers.site = inventory.site;
  answers.rehearsal = !rehearsal_line(context.state).empty();
  return answers;
}

Exit answer(const Context& context, const ComplianceOptions& options) {
  TRY(const auto answers, answers_or_exit(context, options));
  if (!options.html.empty()) {
    const auto page = compliance::to_html(answers, report::utc(report::wall_now()));
    const auto written = write_file(options.html, page, kReadableByAll);
    if (!written) return print_error(context, written.error(), Exit::unfinished);
  }
  if (context.json)
    say("{}\n", boost::json::serialize(compliance::to_json(answers)));
  else if (options.markdown)
    say("{}", compliance::to_markdown(answers));
  else
    say("{}", compliance::to_text(answers));
  using compliance::Status;
  const bool wanting = answers.count(Status::not_met) + answers.count(Status::not_run) > 0;
  return wanting ? Exit::failed : Exit::passed;
}

Exit list_lists(const Context& context) {
  std::vector<Row> rows{{"list", "rows", "date", "is"}};
  boost::json::array all;
  for (const auto& name : compliance::shipped_lists()) {
    std::vector<inventory::Problem> problems;
    const auto list = compliance::load_list(name, problems);
    if (!list) return print_error(context, problems);
    rows.push_back({name, std::to_string(list->demands.size()), list->date, list->title});
    all.push_back({{"list", name},
                   {"rows", list->demands.size()},
                   {"date", list->date},
                   {"title", list->title},
                   {"source", list->source}});
  }
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"lists", std::move(all)}}));
  else
    say("{}\n", table(rows));
  return Exit::passed;
}

Exit check_list(const Context& context, const std::string& file) {
  std::vector<inventory::Problem> problems;
  // A name without a slash is a shipped list's elsewhere; here it is a file.
  const auto path = file.contains('/') ? file : "./" + file;
  const auto list = compliance::load_list(path, problems);
  if (!list) return print_error(context, problems);
  if (context.json)
    say("{}\n", boost::json::serialize(
                    boost::json::object{{"list", list->name}, {"rows", list->demands.size()}}));
  else
    say("{}: {} rows, no error\n", printable(file), list->demands.size());
  return Exit::passed;
}

Exit comply(const Context& context, const ComplianceOptions& options) {
  if (options.lists) return list_lists(context);
  if (!options.check.empty()) return check_list(context, options.check);
  if (!options.against.empty()) return answer(context, options);
  return print_error(
      context,
      Error{Code::kInvalid, fmt::format("against which list? --against {}, or a file of your own",
                                        fmt::join(compliance::shipped_lists(), ", --against "))},
      Exit::invalid);
}

}  // namespace

CommandRow compliance_command(Context& context) {
  auto options = std::make_shared<ComplianceOptions>();
  CommandRow row{"compliance", "what buyers demand, answered by what runs have shown"};
  row.footer =
      "Examples: cupel compliance --against nvidia-ai-clouds-2.4\n"
      "          cupel compliance --against ./ours.yaml --nodes rack:a01 --html page.html\n"
      "          cupel compliance --check ours.yaml\n"
      "Exit codes: 0 every row is proven or cannot be proven here, 1 some row is not met or not\n"
      "            run yet, 2 the input is wrong, 3 the store could not be read.";
  row.options = {
      {"--against",
       &options->against,
       "a list by its name, or a file of your own",
       {.only_one_of = "what to do"}},
      {"--list",
       &options->lists,
       "the lists that are part of cupel",
       {.only_one_of = "what to do"}},
      {"--check",
       &options->check,
       "list all errors in a list of your own",
       {.only_one_of = "what to do"}},
      {"--nodes", &options->nodes, "as with run --nodes [all]", {.needs = {"--against"}}},
      {"--run",
       &options->run,
       "what this run has shown [the newest 50 of each node]",
       {.needs = {"--against"}}},
      {"-i,--inventory", &options->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"--html",
       &options->html,
       "write a page for buyers to this file, too",
       {.needs = {"--against"}}},
      {"--markdown",
       &options->markdown,
       "print Markdown",
       {.excludes = {"--json"}, .needs = {"--against"}}},
      json_flag(context)};
  row.run = [&context, options] { return comply(context, *options); };
  return row;
}

}  // namespace cupel::cli
