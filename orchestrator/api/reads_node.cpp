// What a run found out about one node: its record, numbers, console recording and raw outputs.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "inventory/subject.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/console/bounded_log.h"
#include "orchestrator/report/document.h"
#include "orchestrator/report/kept_summary.h"
#include "orchestrator/report/node_json.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/store/measured.h"
#include "orchestrator/store/step_secrets.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kLargestConsole = 2u << 20;
constexpr std::int64_t kUsualConsolePiece = 64 * 1024;

Problem no_node(const Call& call) {
  return not_found(fmt::format("run {} has no node '{}'", call.text("run"), call.text("node")));
}

/// The node of the call, where the person may see it. Errors: kNotFound; kStorage.
Result<std::string> node_for(RequestHandler& handler, const Call& call, const store::Run& run) {
  auto node = call.text("node");
  const bool there = std::ranges::find(run.nodes, node) != run.nodes.end();
  if (there && handler.sees(call, run.id, node)) return node;
  return Error{Code::kNotFound, no_node(call).detail};
}

/// A summary of this one node alone: of a run of thousands, nothing else is read.
Result<report::NodeSummary> summary_of(RequestHandler& handler, const store::Run& run,
                                       const std::string& node) {
  TRY(auto summary, report::summarize_node(handler.store(), run.id, node));
  for (const auto& each :
       console::log_files(console::console_folder(handler.shared().state, run.id), node))
    summary.console.push_back({each.file.filename().string(), each.bytes});
  return summary;
}

/// `make` of the node, kept until its run has another event.
template <class Make>
Reply of_node(RequestHandler& handler, const Call& call, Make make) {
  const auto found = handler.run_for(call);
  if (!found) return problem_of(found.error());
  const auto& run = **found;
  const auto node = node_for(handler, call, run);
  if (!node) return problem_of(node.error());
  const auto end = handler.ends().of(run.id);
  if (!end) return problem_of(end.error());
  return handler.kept(call, end->hash, [&]() -> Reply {
    auto summary = summary_of(handler, run, *node);
    if (!summary) return problem_of(summary.error());
    return json_answer(make(run, *summary));
  });
}

json::object measured_row(const store::Measured& each, std::string_view node) {
  json::object row{{"run", each.run},         {"node", node},
                   {"subject", each.subject}, {"stage", each.stage},
                   {"measure", each.measure}, {"value", each.value},
                   {"unit", each.unit},       {"time", utc_ms(each.time)},
                   {"profile", each.profile}};
  if (!each.criterion.empty()) row["criterion"] = each.criterion;
  const auto slash = each.subject.find('/');
  if (each.subject.starts_with(node) && slash == node.size())
    row["part"] = each.subject.substr(slash + 1);
  return row;
}

/// "a01-n07" of "a01-n07/gpu3"; empty for what belongs to no node.
std::string node_of(const std::string& subject) {
  const auto parsed = inventory::parse_subject(subject);
  if (!parsed || inventory::is_beyond_a_node(*parsed)) return {};
  return parsed->name;
}

Reply measurements(RequestHandler& handler, const Call& call, const store::MeasuredQuery& query) {
  const auto found = store::measured(handler.shared().state, query);
  if (!found) return problem_of(found.error());
  const auto most = static_cast<std::size_t>(call.integer("limit", 1000));
  auto skip = number<std::size_t>(call.text("cursor")).value_or(0);
  const auto first = skip;
  const auto only_node = call.text("node"), only_stage = call.text("stage");
  json::array items;
  for (const auto& each : *found) {
    const auto node = node_of(each.subject);
    const bool selected = (only_node.empty() || node == only_node) &&
                          (only_stage.empty() || each.stage == only_stage) &&
                          handler.sees(call, each.run, node);
    if (!selected || (skip > 0 && skip-- > 0)) continue;
    if (items.size() == most) return list_answer(std::move(items), std::to_string(first + most));
    items.push_back(measured_row(each, node));
  }
  return list_answer(std::move(items), {});
}

}  // namespace

Reply read_run_node(RequestHandler& handler, const Call& call) {
  return of_node(handler, call, [](const store::Run& run, report::NodeSummary& summary) {
    const bool in_work = report::is_in_work(run, summary);
    if (in_work) report::leave_out_unfinished(summary);
    auto object = report::node_json(summary, run.id);
    if (in_work) object["verdict"] = "in work";
    object["console"] = report::to_json(summary.console);
    return object;
  });
}

Reply read_record(RequestHandler& handler, const Call& call) {
  return of_node(handler, call, [](const store::Run& run, report::NodeSummary& summary) {
    auto object = report::node_json(summary, run.id);
    report::put_details(object, summary);
    json::object evidence;
    for (const auto& [step, hash] : summary.record.evidence) evidence[step] = hash;
    object["evidence"] = std::move(evidence);
    return object;
  });
}

Reply list_run_measurements(RequestHandler& handler, const Call& call) {
  const auto run = handler.run_for(call);
  if (!run) return problem_of(run.error());
  return measurements(handler, call, {.measure = call.text("measure"), .run = (*run)->id});
}

Reply list_measurements(RequestHandler& handler, const Call& call) {
  return measurements(handler, call,
                      {.measure = call.text("measure"), .profile = call.text("profile")});
}

Reply read_console(RequestHandler& handler, const Call& call) {
  const auto found = handler.run_for(call);
  if (!found) return problem_of(found.error());
  const auto& run = **found;
  const auto node = node_for(handler, call, run);
  if (!node) return problem_of(node.error());
  const auto files =
      console::log_files(console::console_folder(handler.shared().state, run.id), *node);
  json::array all;
  for (std::size_t i = 0; i < files.size(); ++i)
    all.push_back({{"file", i + 1}, {"bytes", files[i].bytes}});
  json::object answer{{"files", std::move(all)}};
  if (files.empty()) return json_answer(answer);
  const auto which = call.integer("file", static_cast<std::int64_t>(files.size()));
  if (std::cmp_greater(which, files.size()))
    return not_found(fmt::format("the console of {} has {} files", *node, files.size()));
  const auto output = read_file(files[static_cast<std::size_t>(which - 1)].file, kLargestConsole);
  if (!output) return problem_of(output.error());
  // Firmware and iPXE print the URLs that they boot, a kernel its command line.
  const auto text = store::cut_tickets(*output);
  const auto offset =
      std::min<std::size_t>(static_cast<std::size_t>(call.integer("offset", 0)), text.size());
  const auto piece = std::string_view{text}.substr(
      offset, static_cast<std::size_t>(call.integer("limit", kUsualConsolePiece)));
  std::string shown;
  for (const auto line : split(piece, '\n')) {
    if (!shown.empty() || line.data() != piece.data()) shown += '\n';
    shown += printable(valid_utf8(line));
  }
  answer["file"] = which;
  answer["offset"] = offset;
  answer["text"] = shown;
  if (offset + piece.size() < text.size()) answer["next"] = offset + piece.size();
  return json_answer(answer);
}

/// Only what an event of the run names, on a node that the person may see.
Reply read_evidence(RequestHandler& handler, const Call& call) {
  const auto found = handler.run_for(call);
  if (!found) return problem_of(found.error());
  const auto run = (*found)->id;
  const auto live = handler.runs().of(run, handler.journal());
  if (!live) return problem_of(live.error());
  const auto hash = call.text("sha256");
  const bool named = std::ranges::any_of((*live)->evidence(), [&](const auto& each) {
    return each.second.contains(hash) && (each.first.empty() ? call.identity.sees_all_racks()
                                                             : handler.sees(call, run, each.first));
  });
  if (!named) return not_found(fmt::format("run {} has no evidence {}", run, hash));
  auto bytes = handler.store().evidence(hash);
  if (!bytes) return problem_of(bytes.error());
  Answer answer;
  answer.type = "application/octet-stream";
  // A kernel's log may have its command line: the bytes are then not those of the hash.
  answer.body = shared_text(store::cut_tickets(*std::move(bytes)));
  answer.fields.emplace_back("Content-Disposition",
                             fmt::format("attachment; filename=\"{}.txt\"", hash));
  answer.fields.emplace_back("Content-Security-Policy", "sandbox");
  return answer;
}

}  // namespace cupel::api
