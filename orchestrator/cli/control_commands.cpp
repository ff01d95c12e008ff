// cancel, pause, unpause, approve, retry, skip and continue: what an operator asks of a running
// run. Written into the store; the run's controller takes it within a second.
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "base/login.h"
#include "base/task.h"
#include "base/text.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/control.h"
#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/run_copy.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/watch_there.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/report/drained.h"
#include "orchestrator/report/leftovers.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/journal_end.h"

namespace cupel::cli {
namespace {

using engine::Command;
using engine::RunPhase;
using Kind = engine::Command::Kind;

// Steps clean up on nodes and BMCs, each within its bound.
constexpr std::chrono::seconds kCancelPatience{60};
constexpr std::chrono::milliseconds kLook{200};
constexpr std::chrono::seconds kAnswerPatience{10};
constexpr std::chrono::milliseconds kAnswerLook{100};
constexpr std::size_t kLongestReason = 500;

struct Asked {
  engine::RunId run = 0;
  std::string node{};
  std::string step{};
  std::string reason{};
};

Error unknown(std::string_view what, const std::string& name, engine::RunId run,
              const std::vector<std::string>& known) {
  return {Code::kNotFound,
          fmt::format("run {} has no {} '{}'{}", run, what, name,
                      inventory::did_you_mean(name, std::span<const std::string>{known}))};
}

/// The steps of the run, as its first event has them.
Result<std::vector<std::string>> steps_of(const store::Store& store, engine::RunId run) {
  TRY(const auto summary, report::summarize(store, run));
  return summary.steps;
}

/// Node and step are ones that the run has. Where only one was given it may be either, except that
/// `retry` and `skip` need a node.
Result<void> check(const store::Store& store, const store::Run& run, const Command& command) {
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return one.empty() || std::ranges::find(all, one) != all.end();
  };
  if (!has(run.nodes, command.node)) return unknown("node", command.node, run.id, run.nodes);
  TRY(const auto steps, steps_of(store, run.id));
  // A run that has not begun has not reported its steps.
  if (!steps.empty() && !has(steps, command.step))
    return unknown("step", command.step, run.id, steps);
  if (command.text.size() > kLongestReason)
    return Error{Code::kInvalid, fmt::format("the reason is longer than {} bytes", kLongestReason)};
  return ok();
}

bool over(RunPhase phase) { return phase == RunPhase::ended || phase == RunPhase::cancelled; }

/// `answer`: "accepted", "waiting".
Exit print_answer(const Context& context, const Command& command, std::string_view answer,
                  std::string_view what) {
  if (context.json) {
    boost::json::object object{{"run", command.run},
                               {"asked", to_string(command.kind)},
                               {"command", command.id},
                               {"by", command.by},
                               {"answer", answer}};
    if (command.kind == Kind::cancel) object["cancelled"] = command.run;
    std::printf("%s\n", boost::json::serialize(object).c_str());
  } else {
    say("run {}{}\n", command.run, what);
  }
  return Exit::passed;
}

/// Until the controller has ended the run, or is gone.
Task<bool> wait_for_end(const Context& context, const store::Store& store, engine::RunId run) {
  const auto deadline = Deadline::in(kCancelPatience);
  while (!deadline.passed()) {
    const bool alive = store::ControllerLock::holder(context.state).has_value();
    const auto now = store.run(run);
    if (now && over(now->phase)) co_return true;
    if (!alive) co_return false;
    [[maybe_unused]] const auto paused = co_await pause_for(kLook);
  }
  co_return false;
}

/// Errors: kStorage.
Result<report::Leftovers> leftovers(const store::Store& store, engine::RunId run) {
  TRY(const auto events, store.events(run));
  return report::leftovers(events);
}

/// It is over; and what is still set on its nodes is reported.
Exit ended(const Context& context, const store::Store& store, const Command& command) {
  const auto exit = print_answer(context, command, "accepted",
                                 " is cancelled" + report::still_drained(store, command.run));
  const auto left = leftovers(store, command.run);
  if (!left) return print_error(context, left.error(), Exit::unfinished);
  if (left->set.empty()) return exit;
  return print_error(
      context,
      Error{Code::kFailed,
            fmt::format("what was set on {} is not put back: each does it by itself when its "
                        "at_most: is over, or at once with: "
                        "/var/lib/cupel/settings/cupel-node restore-settings",
                        fmt::join(left->set, ", "))},
      Exit::unfinished);
}

/// What the run left on its nodes is ended, and what it set there put back, by going on with it:
/// the first thing that it does is to take the cancellation. False, and the reason was reported,
/// where it cannot go on.
bool end_its_jobs(Context& context, const store::Store& store, engine::RunId id) {
  const auto run = store.run(id);
  if (!run) return false;
  auto planned = planned_again_or_exit(context, *run);
  if (!planned) return false;
  execute_again(context, *std::move(planned), *run);
  const auto after = store.run(id);
  return after && over(after->phase);
}

/// Where nobody drives the run and nothing of it is at work, it is over with its last event.
Exit cancel(Context& context, store::Store& store, const Command& command) {
  asio::io_context io{1};
  if (run_to_end(io, wait_for_end(context, store, command.run)))
    return ended(context, store, command);
  const auto left = leftovers(store, command.run);
  if (!left) return print_error(context, left.error(), Exit::unfinished);
  if (left->anything()) {
    if (end_its_jobs(context, store, command.run)) return ended(context, store, command);
    const auto& at_work = left->at_work;
    if (!at_work.empty())
      print_error(context,
                  Error{Code::kFailed, fmt::format("what still runs on {} ends at its own limit",
                                                   fmt::join(at_work, ", "))},
                  Exit::unfinished);
  }
  const auto lock = store::ControllerLock::take(context.state);
  if (!lock)
    return print_error(
        context,
        Error{Code::kTimeout, fmt::format("run {} has not ended yet; it will, when its steps have "
                                          "cleaned up",
                                          command.run)},
        Exit::unfinished);
  const auto now = store.run(command.run);
  if (now && !over(now->phase)) {
    engine::Event event;
    event.kind = engine::EventKind::run_cancelled;
    event.data = {{"by", command.by}, {"command", command.id}};
    const auto written = store.append(command.run, event);
    if (!written) return print_error(context, written.error(), Exit::unfinished);
  }
  return ended(context, store, command);
}

/// How the controller answered, as the journal has it.
struct Answer {
  enum class Kind { pending, accepted, refused, gone } kind = Kind::pending;
  std::string why{};
};

/// What of the run's events behind `sequence` names the command.
Result<Answer> answer_in(const store::Store& store, const Command& command,
                         std::int64_t& sequence) {
  TRY(const auto events, store.events_after(command.run, sequence));
  for (const auto& event : events) {
    sequence = event.sequence;
    const auto* number = event.data.if_contains("command");
    if (number == nullptr || !number->is_int64() || number->get_int64() != command.id) continue;
    const auto* refused = event.data.if_contains("refused");
    if (refused == nullptr || !refused->is_string()) return Answer{Answer::Kind::accepted};
    return Answer{Answer::Kind::refused, std::string{refused->get_string()}};
  }
  return Answer{};
}

/// Whether somebody who lives drives the run, or is about to.
bool is_driven(const Context& context, const store::Run& run) {
  if (!store::ControllerLock::holder(context.state)) return false;
  return run.phase == RunPhase::submitted ||
         controller::find(controller::read_status(context.state), run.id) != nullptr;
}

/// Errors: kStorage.
Result<store::JournalEnd> end_of(const store::Store& store, engine::RunId run) {
  TRY(const auto ends, store::JournalEnds::open(store.folder()));
  return ends.of(run);
}

Task<Result<Answer>> wait_for_answer(const Context& context, const store::Store& store,
                                     const Command& command, std::int64_t sequence) {
  const auto deadline = Deadline::in(kAnswerPatience);
  CO_TRY(const auto ends, store::JournalEnds::open(store.folder()));
  while (!deadline.passed()) {
    // In this order: what a controller wrote before it went is not missed.
    CO_TRY(const auto run, store.run(command.run));
    const bool driven = is_driven(context, run);
    CO_TRY(const auto end, ends.of(command.run));
    if (end.sequence > sequence) {
      CO_TRY(auto answer, answer_in(store, command, sequence));
      if (answer.kind != Answer::Kind::pending) co_return answer;
    }
    if (over(run.phase)) co_return Answer{Answer::Kind::refused, "it has ended meanwhile"};
    if (!driven) co_return Answer{Answer::Kind::gone};
    CO_TRY(co_await pause_for(kAnswerLook));
  }
  co_return Answer{};
}

std::string words_of(const Command& command) {
  auto text = std::string{to_string(command.kind)};
  for (const auto* word : {&command.node, &command.step})
    if (!word->empty()) text += " " + *word;
  return text;
}

/// Tells whoever asked what became of it.
Exit answered(const Context& context, const Command& command, const Result<Answer>& answer) {
  if (!answer) return print_error(context, answer.error(), Exit::unfinished);
  const auto what = words_of(command);
  switch (answer->kind) {
    case Answer::Kind::accepted:
      return print_answer(context, command, "accepted", fmt::format(": {}: accepted", what));
    case Answer::Kind::refused:
      return print_error(context,
                         Error{Code::kInvalid, fmt::format("run {}: {} is refused: {}", command.run,
                                                           what, answer->why)},
                         Exit::invalid);
    case Answer::Kind::gone:
      return print_answer(
          context, command, "waiting",
          fmt::format(": {} is asked for. No controller drives the run: it is done when the "
                      "run goes on (cupel resume {})",
                      what, command.run));
    case Answer::Kind::pending:
      break;
  }
  return print_error(
      context,
      Error{Code::kTimeout,
            fmt::format("run {}: {} is asked for, and its controller has not answered in {} s: see "
                        "cupel status",
                        command.run, what, kAnswerPatience.count())},
      Exit::unfinished);
}

Command command_of(Kind kind, const Asked& asked, engine::RunId run) {
  Command command;
  command.run = run;
  command.kind = kind;
  command.node = asked.node;
  command.step = asked.step;
  command.text = asked.reason;
  return command;
}

/// Whether the service's controller drives the run, or is about to.
bool is_driven_there(const api::ServiceClient& client, const store::Run& run) {
  if (run.phase == RunPhase::submitted) return true;
  const auto status = client.get("/api/v1/status");
  const auto* runs = status ? find(*status, "runs") : nullptr;
  return runs != nullptr && runs->is_array() &&
         std::ranges::any_of(runs->get_array(), [&](const boost::json::value& each) {
           return number_at(each, "run") == static_cast<double>(run.id);
         });
}

Task<Result<Answer>> wait_for_service(const api::ServiceClient& client, RunCopy& copy,
                                      const Command& command) {
  const auto deadline = Deadline::in(kAnswerPatience);
  while (!deadline.passed()) {
    CO_TRY(copy.catch_up());
    std::int64_t sequence = 0;
    CO_TRY(auto answer, answer_in(copy.store(), command, sequence));
    if (answer.kind != Answer::Kind::pending) co_return answer;
    CO_TRY(const auto run, copy.store().run(command.run));
    if (over(run.phase)) co_return Answer{Answer::Kind::refused, "it has ended meanwhile"};
    if (!is_driven_there(client, run)) co_return Answer{Answer::Kind::gone};
    CO_TRY(co_await pause_for(kAnswerLook));
  }
  co_return Answer{};
}

Task<bool> wait_for_end_there(RunCopy& copy) {
  const auto deadline = Deadline::in(kCancelPatience);
  while (!deadline.passed()) {
    const bool read = copy.catch_up().has_value();
    const auto run = copy.store().run(copy.run());
    if (read && run && over(run->phase)) co_return true;
    [[maybe_unused]] const auto paused = co_await pause_for(kLook);
  }
  co_return false;
}

Exit cancel_there(const Context& context, RunCopy& copy, const Command& command) {
  asio::io_context io{1};
  if (run_to_end(io, wait_for_end_there(copy))) return ended(context, copy.store(), command);
  return print_error(
      context,
      Error{Code::kTimeout, fmt::format("run {} has not ended yet; it will, when its "
                                        "steps have cleaned up",
                                        command.run)},
      Exit::unfinished);
}

/// The same through the API of a service.
Exit ask_service(const Context& context, const api::ServiceClient& client, Kind kind,
                 const Asked& asked) {
  const auto number = asked.run != 0 ? Result<engine::RunId>{asked.run} : newest_run(client);
  if (!number) return print_error_of_service(context, number.error());
  const auto copy = RunCopy::make(client, *number);
  if (!copy) return print_error_of_service(context, copy.error());
  const auto run = (*copy)->store().run(*number);
  if (!run) return print_error(context, run.error(), Exit::unfinished);
  auto command = command_of(kind, asked, *number);
  if (over(run->phase))
    return print_error(context,
                       Error{Code::kInvalid, fmt::format("run {} is {} already", command.run,
                                                         to_string(run->phase))},
                       Exit::invalid);
  const auto right = check((*copy)->store(), *run, command);
  if (!right) return print_error(context, right.error(), Exit::invalid);
  boost::json::object body{{"command", to_string(kind)}};
  for (const auto& [key, text] :
       {std::pair{"node", &command.node}, {"step", &command.step}, {"reason", &command.text}})
    if (!text->empty()) body[key] = *text;
  const auto given = client.post(fmt::format("/api/v1/runs/{}/commands", command.run), body);
  if (!given) return print_error_of_service(context, given.error());
  if (const auto waits = waits_for_approval(*given))
    return print_error(context, *waits, Exit::unfinished);
  command.id = static_cast<std::int64_t>(number_at(*given, "command").value_or(0));
  command.by = text_at(*given, "by").value_or("");
  if (kind == Kind::cancel) return cancel_there(context, **copy, command);
  asio::io_context io{1};
  return answered(context, command, run_to_end(io, wait_for_service(client, **copy, command)));
}

Exit ask(Context& context, Kind kind, const Asked& asked) {
  const auto service = service_to_ask(context);
  if (!service) return print_error(context, service.error(), Exit::invalid);
  if (*service) return ask_service(context, **service, kind, asked);
  auto opened = store::Store::open(context.state);
  if (!opened) return print_error(context, opened.error(), Exit::unfinished);
  auto& store = **opened;
  const auto run = meant_run(store, asked.run);
  if (!run) return print_error(context, run.error(), Exit::invalid);
  auto command = command_of(kind, asked, run->id);
  command.by = login_name();
  if (over(run->phase))
    return print_error(context,
                       Error{Code::kInvalid, fmt::format("run {} is {} already", command.run,
                                                         to_string(run->phase))},
                       Exit::invalid);
  const auto right = check(store, *run, command);
  if (!right) return print_error(context, right.error(), Exit::invalid);
  const auto before = end_of(store, command.run);
  if (!before) return print_error(context, before.error(), Exit::unfinished);
  const auto id = store.ask(command);
  if (!id) return print_error(context, id.error(), Exit::unfinished);
  command.id = *id;
  if (kind == Kind::cancel) return cancel(context, store, command);
  asio::io_context io{1};
  return answered(context, command,
                  run_to_end(io, wait_for_answer(context, store, command, before->sequence)));
}

/// `[RUN] [STEP]` of approve and continue: either may be left out, a number is a run.
void take_words(const std::vector<std::string>& words, Asked& asked) {
  for (const auto& word : words) {
    const bool number = word.find_first_not_of("0123456789") == word.npos && word.size() < 18;
    if (number && asked.run == 0 && !word.empty())
      asked.run = std::stoll(word);
    else
      asked.step = word;
  }
}

struct Words {
  std::shared_ptr<Asked> asked = std::make_shared<Asked>();
  std::shared_ptr<std::vector<std::string>> words = std::make_shared<std::vector<std::string>>();
};

CommandRow row_of(Context& context, Kind kind, std::string_view summary, std::string_view example,
                  const Words& words, std::vector<OptionRow> options) {
  CommandRow row{to_string(kind), summary};
  row.footer = example;
  row.options = joined<OptionRow>({{json_flag(context)}, std::move(options)});
  row.run = [&context, kind, words] {
    take_words(*words.words, *words.asked);
    return ask(context, kind, *words.asked);
  };
  return row;
}

OptionRow reason_option(const Words& words) {
  return {"--reason", &words.asked->reason, "the reason, recorded with your name"};
}

/// Of a run as a whole.
CommandRow row_for_run(Context& context, Kind kind, std::string_view summary,
                       std::string_view example) {
  const Words words;
  return row_of(context, kind, summary, example, words,
                {{"RUN", &words.asked->run, "its number [the newest]"}, reason_option(words)});
}

/// "", or that it is empty.
std::string no_reason(const std::string& reason) {
  return trimmed(reason).empty() ? "is empty: say why, 'drive is on order'" : "";
}

}  // namespace

Exit retry_node(Context& context, const NodeRetry& asked) {
  return ask(context, Kind::retry, {asked.run, asked.node, asked.step, asked.reason});
}

CommandRow cancel_command(Context& context) {
  return row_for_run(context, Kind::cancel, "end a run; nodes that it drained stay drained",
                     "Example: cupel cancel 12");
}

CommandRow pause_command(Context& context) {
  return row_for_run(context, Kind::pause,
                     "start no further step of a run; steps that run are finished",
                     "Example: cupel pause 12");
}

CommandRow unpause_command(Context& context) {
  return row_for_run(context, Kind::unpause, "resume a paused run", "Example: cupel unpause 12");
}

CommandRow approve_command(Context& context) {
  const Words words;
  return row_of(context, Kind::approve, "let nodes continue that wait for approval",
                "Example: cupel approve 12 go", words,
                {{"RUN_STEP",
                  words.words.get(),
                  "the run's number [the newest] and the step [any]",
                  {.up_to = 2}},
                 {"--node", &words.asked->node, "only this node"},
                 reason_option(words)});
}

CommandRow retry_command(Context& context) {
  const Words words;
  return row_of(context, Kind::retry, "repeat a node's failed step and the steps after it",
                "Example: cupel retry 12 a01-n07 --reason 'cable reseated'", words,
                {{"RUN", &words.asked->run, "its number; 0: the newest", kRequired},
                 {"NODE", &words.asked->node, "its name", kRequired},
                 {"--from", &words.asked->step, "begin at this earlier step"},
                 reason_option(words)});
}

CommandRow skip_command(Context& context) {
  const Words words;
  return row_of(context, Kind::skip, "leave out a step of a node, with a reason",
                "Example: cupel skip 12 a01-n07 disk --reason 'drive is on order'", words,
                {{"RUN", &words.asked->run, "its number; 0: the newest", kRequired},
                 {"NODE", &words.asked->node, "its name", kRequired},
                 {"STEP", &words.asked->step, "its name", kRequired},
                 {"--reason",
                  &words.asked->reason,
                  "the reason, recorded with your name",
                  {.required = true, .check = no_reason}}});
}

CommandRow continue_command(Context& context) {
  const Words words;
  return row_of(context, Kind::release, "continue after a halt, once the failures were looked at",
                "Example: cupel continue 12 boot-once", words,
                {{"RUN_STEP",
                  words.words.get(),
                  "the run's number [the newest] and the step [all]",
                  {.up_to = 2}},
                 reason_option(words)});
}

}  // namespace cupel::cli
