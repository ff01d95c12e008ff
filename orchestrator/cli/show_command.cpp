// show and report: what the journal tells of a node, and of a run.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "burnin/criteria/causes.h"
#include "burnin/stage.h"
#include "burnin/verdict_text.h"
#include "inventory/nvlink_domain.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/run_copy.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/console/bounded_log.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/fact_of.h"
#include "orchestrator/record/fleet_codec.h"
#include "orchestrator/record/link_record.h"
#include "orchestrator/record/series_codec.h"
#include "orchestrator/report/advice.h"
#include "orchestrator/report/document.h"
#include "orchestrator/report/exports.h"
#include "orchestrator/report/fold_equal.h"
#include "orchestrator/report/html.h"
#include "orchestrator/report/html_links.h"
#include "orchestrator/report/kept_summary.h"
#include "orchestrator/report/markdown.h"
#include "orchestrator/report/nearest.h"
#include "orchestrator/report/node_json.h"
#include "orchestrator/report/part_telemetry.h"
#include "orchestrator/report/report_schema.h"
#include "orchestrator/store/damaged_run.h"

namespace cupel::cli {
namespace {

/// The words of docs/do/operating.md.
std::string_view words_for(const std::string& outcome) {
  return outcome.empty() ? std::string_view{"open"} : outcome;
}

void print_steps(const record::NodeRecord& record) {
  std::vector<Row> rows{{"step", "outcome", "took", "tries", "detail"}};
  for (const auto& step : record.steps) {
    const bool over = step.ended != engine::WallTime{};
    rows.push_back({step.name, std::string{words_for(step.outcome)},
                    over ? report::span_text(step.ended - step.began) : "",
                    std::to_string(step.attempts), step.detail});
  }
  say("\n{}\n", table(rows));
}

/// What follows from a cause stands below it: each by itself, or all of it in one line.
void print_consequences(const std::vector<burnin::Cause>& consequences, bool each_part) {
  if (!each_part && !consequences.empty())
    say("    explains {}\n", printable(report::consequences_text(consequences)));
  if (!each_part) return;
  for (const auto& each : consequences) {
    const auto seen = report::stages_text(each.stages);
    say("    explains {}{}\n", printable(burnin::to_string(each)),
        seen.empty() ? seen : "  (" + seen + ")");
    if (!each.evidence.empty()) say("      evidence {}\n", each.evidence);
  }
}

/// What is likely behind a failure, and which test decides.
void print_diagnosis(const report::NodeSummary& node, const burnin::Cause& cause) {
  if (cause.decision != burnin::Decision::fail) return;
  const auto diagnosis = burnin::causes().diagnose(cause, node.causes, node.record.findings);
  if (!diagnosis) return;
  say("    likely {}\n", printable(burnin::suspects_text(*diagnosis)));
  if (diagnosis->suspects.size() > 1)
    say("    to tell them apart: {}\n",
        printable(report::action_for(diagnosis->apart, 0, node.record.node)));
  if (!diagnosis->xid_action.empty()) say("    NVIDIA: {}\n", printable(diagnosis->xid_action));
}

void print_causes(const report::NodeSummary& node, bool each_part) {
  for (const auto& [cause, consequences] : report::fold_equal(burnin::explained(node.causes))) {
    const auto seen = report::stages_text(cause.stages);
    say("  {}{}\n", printable(burnin::to_string(cause)), seen.empty() ? seen : "  (" + seen + ")");
    if (!cause.remedy.empty())
      say("    -> {}\n", printable(report::action_for(cause.remedy, 0, node.record.node)));
    print_diagnosis(node, cause);
    if (!cause.evidence.empty()) say("    evidence {}\n", cause.evidence);
    print_consequences(consequences, each_part);
  }
}

/// What is worse than its like, and decides nothing.
void print_slow(const report::NodeSummary& node, bool each_part) {
  constexpr std::size_t kMost = 10;
  const auto slow = node.record.verdict.value_or(burnin::Verdict{}).slow;
  if (slow.empty()) return;
  const auto shown = each_part ? slow.size() : std::min(slow.size(), kMost);
  say("\nslow, which fails nothing\n");
  for (const auto& each : std::span{slow}.first(shown))
    say("  {} {}\n", each.stage, printable(burnin::slow_text(each)));
  if (shown < slow.size())
    say("  and {} more: cupel show {} --all\n", slow.size() - shown, node.record.node);
}

/// Of a tray of an NVL72; more than one is a finding.
void print_domain(const record::NodeRecord& record) {
  for (const auto& [words, fact] : {std::pair{"NVLink domain", inventory::kDomainFact},
                                    std::pair{"NVLink domains", inventory::kSplitDomainFact}})
    if (const auto text = record::fact_of(record, fact); !text.empty())
      say("\n{} {}\n", words, printable(text));
}

/// What it has only just passed.
void print_nearest(const report::NodeSummary& node, const std::vector<burnin::Compared>& compared) {
  const auto verdict = node.record.verdict.value_or(burnin::Verdict{});
  const auto near = report::nearest(verdict.checked, compared);
  if (!near.empty()) say("\nnearest to their limits\n");
  for (const auto& each : near)
    say("  {:<12} {} {}{}: {}\n", each.margin_text(), each.stage,
        each.part.empty() ? "" : printable(each.part) + ": ", each.criterion,
        printable(each.words));
}

void print_numbers(const burnin::Findings& findings, bool each_part) {
  if (!each_part) {
    for (const auto& each : report::fold_equal(findings.measurements))
      say("  {:<34} {:<24} {}\n", each.name, each.value, printable(each.parts));
    return;
  }
  for (const auto& each : findings.measurements)
    say("  {:<34} {:<24} {}\n", each.name, plain(each.value) + " " + each.unit,
        printable(each.part));
}

void print_findings(const record::NodeRecord& record, const std::string& stage, bool each_part) {
  const auto& findings = record.findings.at(stage);
  const auto evidence = record.evidence.find(stage);
  say("\n{} (evidence {})\n", stage, evidence == record.evidence.end() ? "none" : evidence->second);
  print_numbers(findings, each_part);
  for (const auto& each : findings.unknown)
    say("  {:<34} unknown: {}\n", printable(each.fact), printable(each.why));
}

/// In the order in which they ran, each with what else was read after it.
void print_measurements(const record::NodeRecord& record, bool each_part) {
  std::size_t quiet = 0, quiet_kernel = 0;
  const auto print_log = [&](const std::string& step, const std::string& log, std::size_t& count) {
    const auto found = record.findings.find(log);
    for (int which = 1; record.findings.contains(record::former_log_name(log, which)); ++which)
      print_findings(record, record::former_log_name(log, which), each_part);
    if (log == step || found == record.findings.end()) return;
    // That a log gained nothing while a stage ran is not worth a section for each stage.
    if (each_part || !record::gained_nothing(found->second))
      print_findings(record, log, each_part);
    else
      ++count;
  };
  for (const auto& step : record.steps) {
    if (record.findings.contains(step.name)) print_findings(record, step.name, each_part);
    for (const auto& name : record.companions)
      if (name.ends_with("@" + step.name)) print_findings(record, name, each_part);
    print_log(step.name, burnin::kernel_log_name(step.name), quiet_kernel);
    print_log(step.name, burnin::bmc_log_name(step.name), quiet);
  }
  if (quiet_kernel > 0) say("\nthe kernel's log gained nothing during {} stages\n", quiet_kernel);
  if (quiet > 0) say("\nthe BMC's log gained nothing during {} stages\n", quiet);
}

void print_parts(const record::NodeRecord& record) {
  std::vector<Row> rows{{"part", "name", "model", "serial", "firmware", "seen by"}};
  const auto add = [&rows](const std::vector<inventory::Part>& parts, const std::string& seen_by) {
    for (const auto& part : parts)
      rows.push_back({std::string{to_string(part.kind)}, part.name, part.model, part.serial,
                      part.firmware, seen_by});
  };
  add(record.bmc_parts, "BMC");
  for (const auto& [stage, findings] : record.findings) add(findings.parts, stage);
  say("\n{}\n", table(rows));
}

void print_console(const std::vector<report::ConsoleFile>& files) {
  if (files.empty()) return;
  say("\nserial console, as it was recorded\n");
  for (const auto& each : files) say("  {:>9} bytes  {}\n", each.bytes, each.file);
}

std::vector<report::ConsoleFile> console_of(const Context& context, engine::RunId run,
                                            const std::string& node) {
  const auto folder = absolute_path(console::console_folder(context.state, run));
  std::vector<report::ConsoleFile> files;
  for (const auto& each : console::log_files(folder, node))
    files.push_back({each.file.string(), each.bytes});
  return files;
}

Exit print_error_of_run(const Context& context, const store::Store& store, engine::RunId run,
                        const Error& error) {
  return print_error(context, Error{error.code, words_of_damage(store, run, error)}, Exit::invalid);
}

/// What `show` is to print.
struct ShowOptions {
  bool all = false;     // a row for each part
  bool series = false;  // only what stages sampled over time
  bool csv = false;     // of these, each value
};

void print_series(const std::map<std::string, record::KeptSeries>& all) {
  for (const auto& [stage, kept] : all) {
    say("\n{}\n  {:<10} {:<26} {:>10} {:>10} {:>10} {:<6} {:>7} {:>6}\n", stage, "part", "series",
        "least", "mean", "most", "", "spans", "single");
    for (const auto& [series, values] : kept.series) {
      const auto whole = record::whole_of(values);
      say("  {:<10} {:<26} {:>10.6g} {:>10.6g} {:>10.6g} {:<6} {:>7} {:>6}\n", series.part,
          series.name, whole.least, whole.mean, whole.most, series.unit, values.spans.size(),
          values.around.size());
    }
    for (const auto& fault : kept.faults) say("  at {:.0f} s: {}\n", fault.seconds, fault.what);
    if (kept.left_out > 0) say("  {} values or series had no room\n", kept.left_out);
  }
}

Exit show_series(const Context& context, const store::Store& store,
                 const record::NodeRecord& record, const ShowOptions& options) {
  const auto series = record::series_of(store, record);
  if (!series) return print_error(context, series.error(), Exit::unfinished);
  if (series->empty())
    return print_error(context,
                       Error{Code::kNotFound, "no stage of this run sampled anything on " +
                                                  record.node + ": watch and the GPU stages do"},
                       Exit::invalid);
  if (options.csv)
    std::fputs(record::series_csv(*series).c_str(), stdout);
  else
    print_series(*series);
  return Exit::passed;
}

Exit show(const Context& context, const std::string& name, engine::RunId run,
          const ShowOptions& options) {
  const auto opened = store::Store::open(context.state);
  if (!opened) return print_error(context, opened.error(), Exit::unfinished);
  const auto& store = **opened;
  if (run == 0) {
    const auto runs = store.runs_of(name, 1);
    if (!runs) return print_error(context, runs.error(), Exit::unfinished);
    if (runs->empty())
      return print_error(context,
                         Error{Code::kNotFound, "no run has ever seen node '" + name + "'"},
                         Exit::invalid);
    run = runs->front();
  }
  auto summary = report::summarize(store, run);
  if (!summary) return print_error_of_run(context, store, run, summary.error());
  for (auto& node : summary->nodes) {
    if (node.record.node != name) continue;
    if (options.series) return show_series(context, store, node.record, options);
    const bool in_work = report::is_in_work(summary->run, node);
    if (in_work) report::leave_out_unfinished(node);
    const std::string verdict{in_work ? "in work" : to_string(node.decision)};
    const auto consoles = console_of(context, run, name);
    const auto compared = record::compared_of(store, run, name);
    if (!compared) return print_error(context, compared.error(), Exit::unfinished);
    if (context.json) {
      auto object = report::node_json(node, run);
      if (in_work) object["verdict"] = verdict;
      object["compared"] = record::to_json(*compared);
      object["console"] = report::to_json(consoles);
      if (summary->rehearsal) object["rehearsal"] = true;
      std::printf("%s\n", boost::json::serialize(object).c_str());
    } else {
      say("{}{} in run {}: {}{}\n", rehearsal_line(context.state), name, run, verdict,
          node.record.hand_off.empty() ? "" : ", hand-off: " + node.record.hand_off);
      print_causes(node, options.all);
      print_slow(node, options.all);
      print_domain(node.record);
      print_nearest(node, *compared);
      print_steps(node.record);
      print_measurements(node.record, options.all);
      print_parts(node.record);
      print_console(consoles);
    }
    return node.decision == burnin::Decision::pass ? Exit::passed : Exit::failed;
  }
  return print_error(context,
                     Error{Code::kNotFound, fmt::format("run {} has no node '{}'", run, name)},
                     Exit::invalid);
}

/// What `report` is to write.
struct ReportOptions {
  std::string html{};  // a file
  bool csv = false, junit = false, openmetrics = false;
  std::string ocp{};  // of this node
  bool markdown = false;
  bool all = false;     // every node, however many lines that is
  bool schema = false;  // of --json, and no report
};

Exit report(const Context& context, engine::RunId run, const ReportOptions& options) {
  const auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  if (run == 0) {
    const auto runs = (*store)->runs(1);
    if (!runs) return print_error(context, runs.error(), Exit::unfinished);
    if (!runs->empty()) run = runs->front().id;
  }
  auto summary = report::summarize(**store, run);
  if (!summary) return print_error_of_run(context, **store, run, summary.error());
  for (auto& node : summary->nodes) node.console = console_of(context, run, node.record.node);
  const auto links = record::recorded_links(context.state);
  if (!links) return print_error(context, links.error(), Exit::unfinished);
  report::add_links(*summary, *links);
  const auto broken = (*store)->broken_at(run);
  if (!broken) return print_error(context, broken.error(), Exit::unfinished);
  if (*broken)
    return print_error(
        context,
        Error{Code::kMalformed, fmt::format("the journal of run {} was changed at event {}: "
                                            "no report is made of it",
                                            run, **broken)},
        Exit::unfinished);
  if (!options.html.empty()) {
    report::add_telemetry(**store, *summary);
    const auto written = write_file(options.html, report::to_html(*summary), 0600);
    if (!written) return print_error(context, written.error(), Exit::unfinished);
  }
  if (context.json)
    std::printf("%s\n", boost::json::serialize(report::to_document(*summary)).c_str());
  else if (options.junit)
    std::fputs(report::to_junit(*summary).c_str(), stdout);
  else if (options.openmetrics)
    std::fputs(report::to_openmetrics(*summary).c_str(), stdout);
  else if (!options.ocp.empty()) {
    const auto lines = report::to_ocp(*summary, options.ocp);
    if (!lines) return print_error(context, lines.error(), Exit::invalid);
    std::fputs(lines->c_str(), stdout);
  } else if (options.csv)
    std::fputs(report::to_csv(*summary).c_str(), stdout);
  else if (options.markdown)
    std::fputs(report::to_markdown(*summary).c_str(), stdout);
  else if (!options.html.empty())
    say("wrote {}\n", options.html);
  else
    std::fputs(report::to_text(*summary, options.all).c_str(), stdout);
  const auto& nodes = summary->nodes;
  return summary->count(burnin::Decision::pass) == nodes.size() ? Exit::passed : Exit::failed;
}

/// `command` on the state folder, or, where a service is asked, on a copy of its run; `series`:
/// with what stages sampled on the node, or on all nodes where it is empty.
template <class Command>
Exit here_or_there(const Context& context, engine::RunId run, const std::string& node, bool series,
                   Command command) {
  const auto service = service_to_ask(context);
  if (!service) return print_error(context, service.error(), Exit::invalid);
  if (!*service) return command(context, run);
  const auto number = run != 0 ? Result<engine::RunId>{run} : newest_run(**service, node);
  if (!number) return print_error_of_service(context, number.error());
  const auto copy = RunCopy::make(**service, *number);
  if (!copy) return print_error_of_service(context, copy.error());
  if (series)
    if (const auto copied = (*copy)->copy_series(node); !copied)
      return print_error_of_service(context, copied.error());
  auto there = context;
  there.state = (*copy)->folder();
  return command(there, *number);
}

}  // namespace

CommandRow show_command(Context& context) {
  auto node = std::make_shared<std::string>();
  auto run = std::make_shared<engine::RunId>(0);
  auto options = std::make_shared<ShowOptions>();
  CommandRow row{"show", "all facts about one node"};
  row.footer =
      "Examples: cupel show a01-n07\n"
      "          cupel show a01-n07 --series --csv > a01-n07.csv";
  row.options = {
      {"NODE", node.get(), "its name", kRequired},
      {"--run", run.get(), "run number [the newest run of the node]"},
      {"--all", &options->all, "a row for each part, and all consequences of each cause"},
      {"--series",
       &options->series,
       "only what stages sampled over time",
       {.excludes = {"--json"}}},
      {"--csv",
       &options->csv,
       "of --series each value, as comma-separated lines",
       {.needs = {"--series"}}},
      json_flag(context)};
  row.run = [&context, node, run, options] {
    return here_or_there(context, *run, *node, options->series,
                         [&](const Context& where, engine::RunId number) {
                           return show(where, *node, number, *options);
                         });
  };
  return row;
}

CommandRow report_command(Context& context) {
  auto run = std::make_shared<engine::RunId>(0);
  auto options = std::make_shared<ReportOptions>();
  CommandRow row{"report", "the result of a run"};
  row.footer =
      "Examples: cupel report 12 --html run-12.html\n"
      "          cupel report 12 --csv > run-12.csv\n"
      "          cupel report --schema > report.schema.json";
  row.options = {
      {"RUN", run.get(), "its number [the newest]"},
      {"--html", &options->html,
       "write one self-contained HTML file (mode 0600), to read, print and sign"},
      {"--csv",
       &options->csv,
       "print one line for each criterion of each node",
       {.excludes = {"--json"}}},
      {"--markdown",
       &options->markdown,
       "print Markdown, for a ticket or a wiki",
       {.excludes = {"--csv", "--json"}}},
      {"--junit",
       &options->junit,
       "print JUnit XML: a test case for each criterion",
       {.only_one_of = "forms"}},
      {"--openmetrics",
       &options->openmetrics,
       "print OpenMetrics: each measurement a gauge",
       {.only_one_of = "forms"}},
      {"--ocp",
       &options->ocp,
       "print OCP diagnostic output of one node, as JSON lines",
       {.placeholder = "NODE", .only_one_of = "forms"}},
      {"--all", &options->all, "every node that did not pass, however many lines that is"},
      {"--schema", &options->schema, "print the JSON Schema of --json; reads no run"},
      json_flag(context)};
  row.run = [&context, run, options] {
    if (options->schema) {
      std::printf("%s\n", boost::json::serialize(report::report_schema()).c_str());
      return Exit::passed;
    }
    return here_or_there(context, *run, {}, !options->html.empty(),
                         [&](const Context& where, engine::RunId number) {
                           return report(where, number, *options);
                         });
  };
  return row;
}

}  // namespace cupel::cli
