// requalify: a machine that was repaired proves again what the repair has made void, and no more.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "base/text.h"
#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/first_look.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/controller/plan_needs.h"
#include "orchestrator/report/serials.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/requalify/base_run.h"
#include "orchestrator/requalify/changes.h"
#include "orchestrator/requalify/selection.h"
#include "orchestrator/requalify/swap.h"

namespace cupel::cli {
namespace {

using burnin::Change;
using requalify::NodeRun;
using requalify::Selection;

struct RequalifyAsked {
  std::string node{};
  std::string inventory = default_inventory();
  std::vector<std::string> replaced{};
  engine::RunId since = 0;
  bool after_swap = false, plan_only = false, new_machine = false, programs_on_nodes = false;
};

/// All that is known before anything is run.
struct Known {
  NodeRun base{};
  NodeRun seen{};  // the newest look; the base itself where there is none
  bool is_seen = false;
  std::vector<NodeRun> failed{};  // runs behind the base, newest first
  std::vector<Change> changes{};
  std::vector<std::string> unseen{};  // declared, and by its serial number not so
  bool is_new_machine = false;
};

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
Result<void> compare(Known& known, const RequalifyAsked& asked) {
  for (const auto& what : asked.replaced) {
    TRY(auto change, requalify::declared_change(known.base.record, what));
    known.changes.push_back(std::move(change));
  }
  if (!known.is_seen) {
    if (!known.changes.empty()) return ok();
    return Error{Code::kNotFound,
                 fmt::format("nothing was seen of {0} since run {1}: without --plan its parts are "
                             "read first; or name what was replaced: --replaced gpu3",
                             asked.node, known.base.run.id)};
  }
  const auto was = report::chassis_serial(known.base.record);
  const auto is = report::chassis_serial(known.seen.record);
  known.is_new_machine = !was.empty() && !is.empty() && was != is;
  if (known.is_new_machine)
    return asked.new_machine ? ok() : Result<void>{another_machine(known, asked.node)};
  const auto silent = requalify::silent_sources(known.base.record, known.seen.record);
  if (!silent.empty()) return not_reported(asked.node, silent, known.seen.run.id);
  auto seen = requalify::changes_between(known.base.record, known.seen.record);
  known.unseen = requalify::unseen(known.changes, seen);
  for (const auto& declared : std::exchange(known.changes, std::move(seen))) {
    const bool is_seen = std::ranges::any_of(known.changes, [&](const Change& each) {
      return each.of == declared.of && each.part == declared.part;
    });
    if (!is_seen) known.changes.push_back(declared);
  }
  return ok();
}

/// `looked`: the run that has just read what is there; 0: there was none, and the newest run that
/// reported parts stands for it.
Result<Known> look_back(const store::Store& store, const RequalifyAsked& asked,
                        engine::RunId looked) {
  Known known;
  if (asked.after_swap && asked.since == 0) {
    TRY(known.base, requalify::failed_run(store, asked.node));
  } else {
    TRY(known.base, requalify::passed_run(store, asked.node, asked.since));
  }
  if (!asked.after_swap) {
    TRY(known.failed, requalify::failed_since(store, asked.node, known.base.run.id));
  }
  known.seen = known.base;
  if (looked != 0) {
    TRY(known.seen, requalify::seen_in(store, asked.node, looked));
    known.is_seen = true;
  } else {
    TRY(auto seen, requalify::seen_since(store, asked.node, known.base.run.id));
    known.is_seen = seen.has_value();
    if (seen) known.seen = *std::move(seen);
  }
  TRY(compare(known, asked));
  return known;
}

/// What failed must be measured again: before a swap, or since the run that was passed.
std::map<std::string, std::string, std::less<>> wanted_again(const Known& known,
                                                             const RequalifyAsked& asked) {
  if (asked.after_swap) return requalify::failed_stages({&known.base, 1});
  return requalify::failed_stages(known.failed);
}

Result<Selection> select(const Known& known, const RequalifyAsked& asked,
                         const inventory::Inventory& inventory, const inventory::Node& node) {
  std::vector<inventory::Problem> problems;
  const auto passed = playbooks::parse_playbook(known.base.run.playbook_text,
                                                known.base.run.playbook_file, problems);
  if (!passed) return Error{Code::kInvalid, to_string(problems)};
  requalify::Request request{.run = known.base.run.id, .changes = known.changes};
  request.hands_over = !asked.after_swap;
  request.wanted = wanted_again(known, asked);
  return requalify::select_stages(*passed, inventory, node, request);
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

void print_plan(const RequalifyAsked& asked, const Known& known, const Selection& selection) {
  say("{} since run {} ({}, {}):\n", asked.node, known.base.run.id, known.base.run.playbook,
      report::utc(known.base.run.ended));
  for (const auto& each : known.changes) say("  {}\n", printable(to_string(each)));
  if (known.changes.empty()) say("  nothing has changed\n");
  for (const auto& run : known.failed) {
    say("  it failed run {} since ({}, {})\n", run.run.id, run.run.playbook,
        report::utc(run.run.ended));
    for (const auto& each : requalify::other_failures(run)) say("    {}\n", printable(each));
  }
  for (const auto& part : known.unseen)
    say("  {} was said to be replaced, and has the serial number that it had\n", printable(part));
  if (selection.is_empty()) {
    if (known.failed.empty())
      say("no stage is void: what run {} has proven stands\n", known.base.run.id);
    else
      say("no stage is void, and run {} found what no stage measures: name what was repaired, such "
          "as --replaced \"dimm A7\"\n",
          known.failed.front().run.id);
    return;
  }
  say("\n{}\n", headline(known, selection));
  for (const auto& each : selection.again) {
    say("  {:<16} {:>12}  {}\n", each.stage, span_words(each.expected),
        printable(each.why.front()));
    for (std::size_t at = 1; at < each.why.size(); ++at)
      say("  {:<16} {:>12}  {}\n", "", "", printable(each.why[at]));
  }
  if (!selection.whole.empty())
    say("  {:<16} {:>12}  the whole node at once\n", selection.whole, "5 min");
  if (!selection.elsewhere.empty())
    say("failed since, and no stage of {}: {}; run them as they were: cupel run PLAYBOOK --nodes "
        "{}\n",
        known.base.run.playbook, fmt::join(selection.elsewhere, ", "), asked.node);
  if (!selection.kept.empty()) say("kept: {}\n", fmt::join(selection.kept, ", "));
  if (!selection.open.empty())
    say("void, and not to be renewed by one node alone: {}; run them with a partner: cupel run {} "
        "--nodes {},PARTNER\n",
        fmt::join(selection.open, ", "), known.base.run.playbook, asked.node);
}

boost::json::object plan_json(const RequalifyAsked& asked, const Known& known,
                              const Selection& selection) {
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

std::unique_ptr<Planned> planned_of(playbooks::Playbook playbook, const inventory::Inventory& site,
                                    const std::string& node, Error& why) {
  auto planned = std::make_unique<Planned>(Planned{site, std::move(playbook), {}});
  std::vector<inventory::Problem> problems;
  auto plan = playbooks::make_plan(planned->playbook, planned->inventory,
                                   {planned->inventory.node(node)}, problems);
  if (!plan) {
    why = Error{Code::kInvalid, to_string(problems)};
    return nullptr;
  }
  planned->plan = std::move(*plan);
  return planned;
}

/// What the stages need on this machine, as cupel run asks for it.
std::optional<Error> missing_here(const Context& context, const RequalifyAsked& asked,
                                  const Planned& planned) {
  const ssh::ProgramShelf shelf{ssh::program_folders(context.programs)};
  const auto missing = controller::missing_programs(planned.plan, shelf);
  if (missing.empty() || asked.programs_on_nodes) return std::nullopt;
  return Error{Code::kInvalid, missing + "; no stage was run"};
}

/// The look: what is in the machine now.
Exit look(Context& context, const inventory::Inventory& site, const RequalifyAsked& asked) {
  std::vector<inventory::Problem> problems;
  auto playbook = playbooks::parse_playbook(requalify::look_playbook(), "look", problems);
  if (!playbook) return complain(context, problems);
  Error why{Code::kInvalid, {}};
  auto planned = planned_of(*std::move(playbook), site, asked.node, why);
  if (!planned) return complain(context, why, Exit::invalid);
  if (!context.json) say("reading what is in {} now\n", asked.node);
  return execute_new(context, std::move(planned));
}

/// What the run says that has just ended; nothing of one that goes on.
void print_swap(const Context& context, const NodeRun& before, const std::string& node) {
  const auto store = store::Store::open(context.state);
  if (!store) return;
  const auto after = requalify::read_run(**store, context.begun, node);
  if (!after || after->run.phase != engine::RunPhase::ended) return;
  for (const auto& each : requalify::read_swap(before.record, after->record))
    say(context.json ? stderr : stdout, "{}\n", printable(to_string(each)));
}

Exit start(Context& context, const RequalifyAsked& asked, const inventory::Inventory& site,
           const Known& known, Selection selection, Where where) {
  Error why{Code::kInvalid, {}};
  report::Requalified requalified{.run = known.base.run.id, .voided = selection.voided};
  for (const auto& each : known.changes) requalified.changes.push_back(to_string(each));
  requalified.open = selection.open;
  std::ranges::copy(selection.elsewhere, std::back_inserter(requalified.open));
  auto planned = planned_of(std::move(selection.playbook), site, asked.node, why);
  if (!planned) return complain(context, why, Exit::invalid);
  if (const auto missing = missing_here(context, asked, *planned))
    return complain(context, *missing, Exit::invalid);
  // What was found by a machine that failed is kept of no run.
  if (!asked.after_swap) context.run.requalifies = std::move(requalified);
  look_at_nodes_first(context, *planned);
  const auto exit = execute_new(context, std::move(planned), where);
  const bool has_ended = exit == Exit::passed || exit == Exit::failed;
  if (asked.after_swap && has_ended && where == Where::here)
    print_swap(context, known.base, asked.node);
  return exit;
}

/// All of the playbook: nothing that is known of the former machine speaks for this one.
Exit start_anew(Context& context, const inventory::Inventory& site, const RequalifyAsked& asked,
                const Known& known, Where where) {
  std::vector<inventory::Problem> problems;
  auto playbook = playbooks::parse_playbook(known.base.run.playbook_text,
                                            known.base.run.playbook_file, problems);
  if (!playbook) return complain(context, problems);
  Error why{Code::kInvalid, {}};
  auto planned = planned_of(*std::move(playbook), site, asked.node, why);
  if (!planned) return complain(context, why, Exit::invalid);
  if (!context.json)
    say("{} is another machine than in run {}: all of {} is run\n", asked.node, known.base.run.id,
        known.base.run.playbook);
  if (asked.plan_only) return Exit::passed;
  if (const auto missing = missing_here(context, asked, *planned))
    return complain(context, *missing, Exit::invalid);
  return execute_new(context, std::move(planned), where);
}

/// From the store alone. Nothing, and `exit`, where it cannot be told.
std::optional<Known> known_or_complain(Context& context, const inventory::Inventory& site,
                                       const RequalifyAsked& asked, engine::RunId looked,
                                       Exit& exit) {
  const auto store = open_store_for(context, site);
  if (!store) {
    exit = complain_of_store(context, store.error());
    return std::nullopt;
  }
  auto known = look_back(**store, asked, looked);
  if (known) return *std::move(known);
  exit = complain(context, known.error(),
                  known.error().code == Code::kStorage ? Exit::unfinished : Exit::invalid);
  return std::nullopt;
}

/// Whether there is a run to build on, said before the machine is asked anything.
bool has_base(Context& context, const inventory::Inventory& site, const RequalifyAsked& asked,
              Exit& exit) {
  const auto store = open_store_for(context, site);
  if (!store) {
    exit = complain_of_store(context, store.error());
    return false;
  }
  const bool swap = asked.after_swap && asked.since == 0;
  const auto base = swap ? requalify::failed_run(**store, asked.node)
                         : requalify::passed_run(**store, asked.node, asked.since);
  if (!base) {
    exit = complain(context, base.error(), Exit::invalid);
    return false;
  }
  for (const auto& what : asked.replaced)
    if (const auto change = requalify::declared_change(base->record, what); !change) {
      exit = complain(context, change.error(), Exit::invalid);
      return false;
    }
  return true;
}

Exit requalify_node(Context& context, const RequalifyAsked& asked, Where where) {
  Exit exit = Exit::passed;
  const auto site = inventory_or_complain(context, asked.inventory, exit);
  if (!site) return exit;
  const auto* node = site->node(asked.node);
  if (node == nullptr)
    return complain(context,
                    Error{Code::kInvalid,
                          fmt::format("{} has no node '{}'", site->file, printable(asked.node))},
                    Exit::invalid);
  engine::RunId look_run = 0;
  if (!asked.plan_only) {
    if (!has_base(context, *site, asked, exit)) return exit;
    const auto looked = look(context, *site, asked);
    if (looked == Exit::unfinished || looked == Exit::invalid) return looked;
    look_run = context.begun;
  }
  const auto known = known_or_complain(context, *site, asked, look_run, exit);
  if (!known) return exit;
  if (known->is_new_machine) return start_anew(context, *site, asked, *known, where);
  auto selection = select(*known, asked, *site, *node);
  if (!selection) return complain(context, selection.error(), Exit::invalid);
  if (context.json)
    say("{}\n", boost::json::serialize(
                    boost::json::object{{"requalify", plan_json(asked, *known, *selection)}}));
  else
    print_plan(asked, *known, *selection);
  std::fflush(stdout);
  if (selection->is_empty() && !known->failed.empty()) return Exit::failed;
  if (asked.plan_only || selection->is_empty()) return Exit::passed;
  return start(context, asked, *site, *known, *std::move(selection), where);
}

}  // namespace

void add_requalify(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand(
      "requalify", "test what a repair has made void, and keep the rest of the proof");
  command->footer(
      "Examples: cupel requalify a01-n07 --plan\n"
      "          cupel requalify a01-n07 --replaced gpu3\n"
      "          cupel requalify a01-n07 --after-swap");
  auto asked = std::make_shared<RequalifyAsked>();
  command->add_option("NODE", asked->node, "its name")->required();
  command->add_option("-i,--inventory", asked->inventory, "[$CUPEL_INVENTORY, ./inventory.yaml]");
  command
      ->add_option(
          "--replaced", asked->replaced,
          "a part that was replaced: gpu3, \"dimm A7\", cable:mlx5_5, bmc; repeatable. What "
          "reports a serial number is found without")
      ->take_all()
      ->allow_extra_args(false);
  auto* swap = command->add_flag("--after-swap", asked->after_swap,
                                 "two parts changed places: measure again what failed, and say "
                                 "whether it went with the part. Slurm keeps the node drained");
  command->add_option(
      "--since", asked->since,
      "the run whose evidence is kept [the newest that tested most and was passed]");
  command->add_flag("--new-machine", asked->new_machine,
                    "another chassis has taken the place: run all of it");
  command->add_flag("--plan", asked->plan_only,
                    "print what would be run, by what the store has; asks no machine");
  command->add_flag("--programs-on-nodes", asked->programs_on_nodes,
                    "as with run: the node's image has cupel-node and cupel-burn");
  swap->excludes("--new-machine");
  auto where = std::make_shared<Where>(Where::here);
  command->add_flag_callback(
      "--detach", [where] { *where = Where::background; },
      "leave the run to a controller in the background once it is planned");
  add_json_flag(*command, context);
  command->callback([&context, &exit, asked, where] {
    if (!context.run.repair_patience) context.run.repair_patience = std::chrono::seconds{0};
    exit = requalify_node(context, *asked, *where);
  });
}

}  // namespace cupel::cli
