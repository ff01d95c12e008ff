#include "orchestrator/compliance/page.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/array.hpp>

#include "base/text.h"
#include "orchestrator/report/html_text.h"
#include "orchestrator/report/markdown.h"
#include "orchestrator/report/rehearsal.h"

namespace cupel::compliance {
namespace {

namespace json = boost::json;

constexpr std::array kOrder{Status::not_met, Status::not_run, Status::proven, Status::not_here};

/// The class of the report's style sheet that has the colour.
std::string_view colour(Status status) {
  return status == Status::proven    ? "pass"
         : status == Status::not_met ? "fail"
         : status == Status::not_run ? "inconclusive"
                                     : "dim";
}

std::string summary(const Answers& answers) {
  std::string text = fmt::format("{} rows on {} nodes:", answers.rows.size(), answers.nodes);
  for (const auto status : kOrder)
    text += fmt::format("{} {} {}", status == kOrder.front() ? "" : ",", answers.count(status),
                        to_string(status));
  return text;
}

std::string html_row(const Answer& row) {
  const auto command = row.command.empty()
                           ? std::string{}
                           : fmt::format("<br><code>{}</code>", report::escaped(row.command));
  return fmt::format("<tr><td>{}<td>{}<td><b class={}>{}</b><td>{}{}</tr>", report::escaped(row.id),
                     report::escaped(row.asks), colour(row.status), to_string(row.status),
                     report::broken_at_commas(row.says), command);
}

}  // namespace

std::string to_text(const Answers& answers) {
  auto text = fmt::format("{}{} ({}, {})\n",
                          answers.rehearsal ? std::string{report::kRehearsal} + "\n" : "",
                          answers.title, answers.list, answers.date);
  for (const auto status : kOrder)
    for (const auto& row : answers.rows) {
      if (row.status != status) continue;
      text += fmt::format("\n{:<18} {}  {}\n", to_string(status), row.id, row.asks);
      text += fmt::format("{:<18} {}\n", "", printable(row.says));
      if (!row.command.empty()) text += fmt::format("{:<18} {}\n", "", row.command);
    }
  return text + fmt::format("\n{}\n", summary(answers));
}

std::string to_markdown(const Answers& answers) {
  auto text = fmt::format(
      "# {}\n\n{}{}. Source: {} ({}). {}\n\n", report::plain_text(answers.title),
      answers.rehearsal ? fmt::format("**{}** ", report::plain_text(report::kRehearsal)) : "",
      summary(answers), report::plain_text(answers.source), report::plain_text(answers.date),
      report::plain_text(answers.covers));
  text += "| row | asks | answer | shown by |\n|---|---|---|---|\n";
  for (const auto& row : answers.rows)
    text += fmt::format("| {} | {} | {} | {}{} |\n", report::plain_text(row.id),
                        report::plain_text(row.asks), to_string(row.status),
                        report::plain_text(row.says),
                        row.command.empty() ? "" : ": " + report::plain_text(row.command));
  return text;
}

std::string to_html(const Answers& answers, std::string_view when) {
  auto text = fmt::format(
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width\"><meta http-equiv=Content-Security-Policy "
      "content=\"default-src 'none'; style-src "
      "'unsafe-inline'\"><title>{0}</title><style>{1}</style>"
      "<body><main>{2}<h1>{0}</h1><p class=dim>{3} &middot; {4} &middot; {5} ({6}) &middot; "
      "{7}</p>",
      report::escaped(answers.title), report::kStyle,
      answers.rehearsal ? fmt::format("<p class=rehearsal>{}</p>", report::kRehearsal) : "",
      report::escaped(answers.site), report::escaped(when), report::escaped(answers.source),
      report::escaped(answers.date), report::escaped(answers.covers));
  text += "<div class=tally>";
  for (const auto status : kOrder)
    text += fmt::format("<div><b class={}>{}</b>{}</div>", colour(status), answers.count(status),
                        to_string(status));
  text +=
      "</div>" + report::table_begin({{"row", 9}, {"asks", 36}, {"answer", 13}, {"shown by", 42}});
  for (const auto status : kOrder)
    for (const auto& row : answers.rows)
      if (row.status == status) text += html_row(row);
  return text + std::string{report::kTableEnd} + "</main></body></html>\n";
}

json::object to_json(const Answers& answers) {
  json::array rows;
  for (const auto& row : answers.rows) {
    json::object object{{"id", row.id},
                        {"asks", row.asks},
                        {"answer", to_string(row.status)},
                        {"says", valid_utf8(row.says)},
                        {"runs", json::array(row.runs.begin(), row.runs.end())}};
    if (!row.command.empty()) object["command"] = row.command;
    if (!row.failed.empty()) object["failed"] = json::array(row.failed.begin(), row.failed.end());
    if (!row.unmeasured.empty())
      object["not_measured"] = json::array(row.unmeasured.begin(), row.unmeasured.end());
    rows.push_back(std::move(object));
  }
  json::object counts;
  for (const auto status : kOrder) counts[to_string(status)] = answers.count(status);
  return {{"schema", 1},
          {"list", answers.list},
          {"title", answers.title},
          {"source", answers.source},
          {"date", answers.date},
          {"site", answers.site},
          {"nodes", answers.nodes},
          {"rehearsal", answers.rehearsal},
          {"counts", std::move(counts)},
          {"rows", std::move(rows)}};
}

}  // namespace cupel::compliance
