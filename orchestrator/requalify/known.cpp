#include "orchestrator/requalify/known.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>
#include <map>
#include <utility>

#include "base/text.h"
#include "orchestrator/report/serials.h"
#include "orchestrator/requalify/changes.h"

namespace cupel::requalify {
namespace {

using burnin::Change;

Error another_machine(const Known& known, const std::string& node) {
  return Error{
      Code::kInvalid,
      fmt::format(
          "{0} reports chassis serial {1}, and run {2} was of {3}: it is another machine, of "
          "which nothing is proven. If it is to take that place: cupel requalify {0} "
          "--new-machine, which runs all of run {2}'s playbook",
          node, printable(report::chassis_serial(known.seen.record)), known.base.run.id,
          printable(report::chassis_serial(known.base.record)))};
}

Error not_reported(const std::string& node, const std::vector<std::string>& silent,
                   engine::RunId run) {
  return Error{Code::kInvalid,
               fmt::format("what changed in {0} cannot be found out: {1} reported no parts in run "
                           "{2}, and did before. Turn the machine on, and see why: cupel show {0} "
                           "--run {2}",
                           node, fmt::join(silent, ", "), run)};
}

/// Two looks at one machine. Errors: kInvalid: a look is missing something, or shows another
/// machine.
Result<void> compare(Known& known, const Asked& asked) {
  for (const auto& what : asked.replaced) {
    TRY(auto change, declared_change(known.base.record, what));
    known.changes.push_back(std::move(change));
  }
  if (!known.is_seen) {
    if (!known.changes.empty()) return ok();
    return Error{
        Code::kNotFound,
        fmt::format("nothing was seen of {0} since run {1}: name what was replaced "
                    "(--replaced gpu3), or leave out --plan, and its parts are read first: "
                    "cupel requalify {0}",
                    asked.node, known.base.run.id)};
  }
  const auto was = report::chassis_serial(known.base.record);
  const auto is = report::chassis_serial(known.seen.record);
  known.is_new_machine = !was.empty() && !is.empty() && was != is;
  if (known.is_new_machine)
    return asked.new_machine ? ok() : Result<void>{another_machine(known, asked.node)};
  const auto silent = silent_sources(known.base.record, known.seen.record);
  if (!silent.empty()) return not_reported(asked.node, silent, known.seen.run.id);
  auto seen = changes_between(known.base.record, known.seen.record);
  known.unseen = unseen(known.changes, seen);
  for (const auto& declared : std::exchange(known.changes, std::move(seen))) {
    const bool is_seen = std::ranges::any_of(
        known.changes, [&](const Change& each) { return is_of_same_part(declared, each); });
    if (!is_seen) known.changes.push_back(declared);
  }
  return ok();
}

/// What failed must be measured again: before a swap, or since the run that was passed.
std::map<std::string, std::string, std::less<>> needed_again(const Known& known,
                                                             const Asked& asked) {
  if (asked.after_swap) return failed_stages({&known.base, 1});
  return failed_stages(known.failed);
}

std::string span_words(std::chrono::seconds span) {
  return report::span_text(std::chrono::milliseconds{span});
}

/// "GPU 3 replaced: 5 stages of 19, 1 h 50 min instead of 26 h".
std::string headline(const Known& known, const Selection& selection) {
  std::vector<std::string> names;
  for (const auto& each : known.changes)
    names.push_back(fmt::format("{} {}", printable(each.part), to_string(each.kind)));
  if (names.empty()) names = {"what failed"};
  if (names.size() > 4) names = {fmt::format("{} changes", names.size())};
  return fmt::format("{}: {} stage{} of {}, {} instead of {}", fmt::join(names, ", "),
                     selection.again.size(), selection.again.size() == 1 ? "" : "s",
                     selection.stages, span_words(selection.takes),
                     span_words(selection.whole_run));
}

template <class... Words>
void add(std::string& text, fmt::format_string<Words...> form, Words&&... words) {
  fmt::format_to(std::back_inserter(text), form, std::forward<Words>(words)...);
}

}  // namespace

Result<NodeRun> base_of(const store::Store& store, const Asked& asked) {
  const bool swap = asked.after_swap && asked.since == 0;
  TRY(auto base, swap ? failed_run(store, asked.node) : passed_run(store, asked.node, asked.since));
  for (const auto& what : asked.replaced) {
    TRY([[maybe_unused]] const auto change, declared_change(base.record, what));
  }
  return base;
}

Result<Known> look_back(const store::Store& store, const Asked& asked) {
  Known known;
  TRY(known.base, base_of(store, asked));
  if (!asked.after_swap) {
    TRY(known.failed, failed_since(store, asked.node, known.base.run.id));
  }
  known.seen = known.base;
  if (asked.looked != 0) {
    TRY(known.seen, seen_in(store, asked.node, asked.looked));
    known.is_seen = true;
  } else {
    TRY(auto seen, seen_since(store, asked.node, known.base.run.id));
    known.is_seen = seen.has_value();
    if (seen) known.seen = *std::move(seen);
  }
  TRY(compare(known, asked));
  return known;
}

Result<playbooks::Playbook> passed_playbook(const Known& known) {
  std::vector<inventory::Problem> problems;
  auto passed = playbooks::parse_playbook(known.base.run.playbook_text,
                                          known.base.run.playbook_file, problems);
  if (!passed) return Error{Code::kInvalid, to_string(problems)};
  return *std::move(passed);
}

Result<Selection> select_for(const Known& known, const Asked& asked,
                             const inventory::Inventory& inventory, const inventory::Node& node) {
  TRY(const auto passed, passed_playbook(known));
  Request request{.run = known.base.run.id, .changes = known.changes};
  request.hands_over = !asked.after_swap;
  request.needed = needed_again(known, asked);
  return select_stages(passed, inventory, node, request);
}

report::Requalified renewed_by(const Known& known, const Selection& selection) {
  report::Requalified renewed{.run = known.base.run.id, .voided = selection.voided};
  for (const auto& each : known.changes) renewed.changes.push_back(to_string(each));
  renewed.open = selection.open;
  std::ranges::copy(selection.elsewhere, std::back_inserter(renewed.open));
  return renewed;
}

std::string plan_text(const Asked& asked, const Known& known, const Selection& selection) {
  std::string text;
  add(text, "{} since run {} ({}, {}):\n", asked.node, known.base.run.id, known.base.run.playbook,
      report::utc(known.base.run.ended));
  for (const auto& each : known.changes) add(text, "  {}\n", printable(to_string(each)));
  if (known.changes.empty()) add(text, "  nothing has changed\n");
  for (const auto& run : known.failed) {
    add(text, "  it failed run {} since ({}, {})\n", run.run.id, run.run.playbook,
        report::utc(run.run.ended));
    for (const auto& each : other_failures(run)) add(text, "    {}\n", printable(each));
  }
  for (const auto& part : known.unseen)
    add(text, "  {} was said to be replaced, and has the serial number that it had\n",
        printable(part));
  if (selection.is_empty()) {
    if (known.failed.empty())
      add(text, "no stage is void: what run {} has proven stands\n", known.base.run.id);
    else
      add(text,
          "no stage is void, and run {} found what no stage measures: name what was repaired, such "
          "as --replaced \"dimm A7\"\n",
          known.failed.front().run.id);
    return text;
  }
  add(text, "\n{}\n", headline(known, selection));
  for (const auto& each : selection.again) {
    add(text, "  {:<16} {:>12}  {}\n", each.stage, span_words(each.expected),
        printable(each.why.front()));
    for (std::size_t at = 1; at < each.why.size(); ++at)
      add(text, "  {:<16} {:>12}  {}\n", "", "", printable(each.why[at]));
  }
  if (!selection.whole.empty())
    add(text, "  {:<16} {:>12}  the whole node at once\n", selection.whole, "5 min");
  if (!selection.elsewhere.empty())
    add(text,
        "failed since, and no stage of {}: {}; run them as they were: cupel run PLAYBOOK --nodes "
        "{}\n",
        known.base.run.playbook, fmt::join(selection.elsewhere, ", "), asked.node);
  if (!selection.kept.empty()) add(text, "kept: {}\n", fmt::join(selection.kept, ", "));
  if (!selection.open.empty())
    add(text,
        "void, and not to be renewed by one node alone: {}; run them with a partner: cupel run {} "
        "--nodes {},PARTNER\n",
        fmt::join(selection.open, ", "), known.base.run.playbook, asked.node);
  return text;
}

boost::json::object plan_json(const Asked& asked, const Known& known, const Selection& selection) {
  boost::json::array changes, again, failed;
  for (const auto& each : known.failed) failed.push_back(each.run.id);
  for (const auto& each : known.changes)
    changes.push_back({{"change", to_string(each.kind)},
                       {"of", each.of},
                       {"part", each.part},
                       {"was", each.was},
                       {"is", each.is}});
  for (const auto& each : selection.again)
    again.push_back({{"stage", each.stage},
                     {"seconds", each.expected.count()},
                     {"why", boost::json::array(each.why.begin(), each.why.end())}});
  const auto words = [](const std::vector<std::string>& all) {
    return boost::json::array(all.begin(), all.end());
  };
  return {{"node", asked.node},
          {"of_run", known.base.run.id},
          {"failed_since", std::move(failed)},
          {"changes", std::move(changes)},
          {"unseen", words(known.unseen)},
          {"again", std::move(again)},
          {"whole", selection.whole},
          {"kept", words(selection.kept)},
          {"open", words(selection.open)},
          {"elsewhere", words(selection.elsewhere)},
          {"stages", selection.stages},
          {"seconds", selection.takes.count()},
          {"seconds_of_all", selection.whole_run.count()}};
}

std::string new_machine_text(const Asked& asked, const Known& known) {
  return fmt::format("{} is another machine than in run {}: all of {} is run\n", asked.node,
                     known.base.run.id, known.base.run.playbook);
}

}  // namespace cupel::requalify
