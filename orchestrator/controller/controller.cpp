#include "orchestrator/controller/controller.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/log.h"
#include "base/text.h"
#include "orchestrator/console/recorder.h"
#include "orchestrator/controller/eta.h"
#include "orchestrator/controller/event_words.h"
#include "orchestrator/controller/own_runs.h"
#include "orchestrator/controller/power_watch.h"
#include "orchestrator/controller/repair_watch.h"
#include "orchestrator/controller/run_events.h"
#include "orchestrator/controller/run_options.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/clocked_journal.h"
#include "orchestrator/store/resume.h"

namespace cupel::controller {
namespace {

using engine::Event;
using engine::EventKind;

constexpr std::chrono::seconds kTick{1};
constexpr std::size_t kRunsLookedAt = 32;

/// Logs and shows what happens on this run, and tells the notifier.
class RunObserver final : public engine::Observer {
 public:
  /// `view` may be none, and may be replaced by another one.
  RunObserver(engine::RunId run, const std::unique_ptr<RunView>& view, Notifier& notifier,
              std::string program)
      : run_{run}, view_{view}, notifier_{notifier}, program_{std::move(program)} {}
  void on_event(const Event& event, const engine::RunState& state) override {
    log_event(run_, event);
    notifier_.hear(program_, run_, event);
    if (view_) view_->on_event(event, state);
  }
  void on_waiting(std::string_view node, std::string_view step, std::string_view what) override {
    if (view_) view_->on_waiting(node, step, what);
  }

 private:
  engine::RunId run_;
  const std::unique_ptr<RunView>& view_;
  Notifier& notifier_;
  std::string program_;
};

}  // namespace

/// One run, with all that it stands on.
struct Controller::Driven {
  Driven(store::Run which, std::unique_ptr<Planned> what, store::Store& store,
         store::JournalThread& writer, Network& network, const engine::Clock& clock,
         std::shared_ptr<ssh::ProgramShelf> programs)
      : run{std::move(which)},
        options{run_options_of(run.options)},
        planned{std::move(what)},
        connections{planned->inventory, store, network},
        written{writer, run.id},
        journal{written, clock},
        snapshots{store, run.id},
        steps{connections.environment(std::move(programs))},
        eta{planned->plan, planned->inventory} {}

  store::Run run;
  RunOptions options;
  std::unique_ptr<Planned> planned;
  Connections connections;
  store::BackgroundJournal written;
  store::ClockedJournal journal;
  store::RunSnapshots snapshots;
  steps::NodeSteps steps;
  Eta eta;
  Origin origin = Origin::own;
  std::unique_ptr<RunView> view{};  // nullptr: not shown
  std::unique_ptr<RunObserver> observer{};
  engine::RunState state{};  // as it was replayed
  std::optional<Event> first{};
  bool shown_to_its_end = false;
  bool waits = false;                     // for operator actions alone
  std::int64_t taken = 0;                 // commands up to this one were handed to the engine
  std::optional<TaskGroup> companions{};  // while the run works; they use what stands above
};

Controller::Controller(Front& front, store::Store& store, Settings settings)
    : front_{front},
      store_{store},
      settings_{std::move(settings)},
      network_{store},
      signals_{network_.io, SIGINT, SIGTERM, SIGHUP},
      writer_{store.folder()},
      news_{network_.io, asio::steady_timer::time_point::max()},
      programs_{std::make_shared<ssh::ProgramShelf>(ssh::program_folders(settings_.programs))},
      engine_{dispatcher_, clock_},
      notifier_{network_.io.get_executor(), [this](engine::RunId run, const std::string& what) {
                  announce(Weight::warning, run, "notice-failed", what);
                }} {}

Controller::~Controller() = default;

Result<std::unique_ptr<Controller::Driven>> Controller::make(std::unique_ptr<Planned> planned,
                                                             const store::Run& run) {
  auto driven = std::make_unique<Driven>(run, std::move(planned), store_, writer_, network_, clock_,
                                         programs_);
  TRY(driven->state, store::standing(store_, run.id, driven->planned->plan));
  // A crash between the run's row and its first event leaves a run without a plan to show.
  const bool fresh = driven->state.last_sequence == 0;
  driven->first =
      fresh ? run_started(*driven->planned, driven->options, *programs_, settings_.version)
            : run_resumed();
  if (settings_.stays) driven->first->data[kDrivenByService] = true;
  driven->taken = driven->state.last_command;
  return driven;
}

Result<void> Controller::add(std::unique_ptr<Planned> planned, const store::Run& run) {
  TRY(auto driven, make(std::move(planned), run));
  std::vector<const inventory::Node*> nodes;
  for (const auto& each : driven->planned->plan.nodes) nodes.push_back(each.node);
  TRY(driven->connections.check_secrets(nodes));
  show_from_now_on(*driven);
  drive(std::move(driven));
  return ok();
}

void Controller::show_from_now_on(Driven& driven) {
  driven.view = front_.view(driven.planned->plan, driven.run.id, driven.origin);
  if (driven.view) driven.view->listen(network_.io.get_executor());
}

void Controller::drive(std::unique_ptr<Driven> driven) {
  auto& one = *runs_.emplace_back(std::move(driven));
  one.observer = std::make_unique<RunObserver>(one.run.id, one.view, notifier_, one.options.notify);
  dispatcher_.know(one.planned->inventory);
  dispatcher_.limit(one.planned->plan.limits);
  engine_.add({.run = one.run.id,
               .plan = one.planned->plan,
               .state = std::move(one.state),
               .journal = one.journal,
               .steps = one.steps,
               .observer = *one.observer,
               .first = std::move(one.first),
               .snapshots = &one.snapshots,
               .repair_patience = one.options.repair_patience});
  if (companions_) start_companions(one);
  news_.cancel();
  // Before its first event: nobody shall take it for one that nobody drives.
  publish();
}

/// What goes on beside the run for as long as it works.
void Controller::start_companions(Driven& driven) {
  auto& companions = driven.companions.emplace(network_.io.get_executor());
  auto& connections = driven.connections;
  const auto bmc = [&connections](const inventory::Node& node) { return connections.bmc(node); };
  if (driven.options.consoles) {
    console::Recording recording;
    recording.bmc = bmc;
    recording.folder = console::console_folder(store_.folder(), driven.run.id);
    recording.locks = store_.folder() / "locks";
    for (const auto& each : driven.planned->plan.nodes) recording.nodes.push_back(each.node);
    companions.start(console::record_consoles(std::move(recording)));
  }
  PowerWatch power;
  power.run = driven.run.id;
  power.bmc = bmc;
  power.loaded = [this, &driven] {
    return loaded_nodes(driven.planned->plan, engine_.state(driven.run.id));
  };
  power.measured = [this](std::string_view node, double watts) { engine_.measured(node, watts); };
  power.sensed = [&driven](std::string_view node, const bmc::Sensors& sensors) {
    driven.steps.sensed(node, sensors);
  };
  power.pause = driven.options.measure_power;
  companions.start(watch_power(std::move(power)));
  RepairWatch watch;
  watch.run = driven.run.id;
  watch.plan = &driven.planned->plan;
  watch.inventory = &driven.planned->inventory;
  watch.state = [this, &driven]() -> const engine::RunState& {
    return engine_.state(driven.run.id);
  };
  watch.bmc = bmc;
  watch.ssh = [&connections](const inventory::Node& node, Deadline deadline) {
    return connections.ssh(node, deadline);
  };
  watch.store = &store_;
  watch.pause = driven.options.look_again;
  companions.start(watch_repairs(std::move(watch)));
}

Result<void> Controller::work() { return run_to_end(network_.io, work_all()); }

Task<Result<void>> Controller::work_all() {
  companions_.emplace(network_.io.get_executor(), [this](const Error& error) { lose(error); });
  for (auto& driven : runs_) start_companions(*driven);
  companions_->start(listen());
  companions_->start(attend());
  companions_->start(notifier_.serve());
  if (settings_.stays) resume_own_runs();
  take_up_submitted();
  auto ran = co_await run_all();
  for (auto& driven : runs_)
    if (driven->companions) driven->companions->cancel();
  // First: attend() may be about to forget a run.
  co_await end_all(*companions_);
  companions_.reset();
  for (auto& driven : runs_)
    if (driven->companions) co_await end_all(*driven->companions);
  if (companion_bug_ && !lost_) std::rethrow_exception(companion_bug_);
  co_await notifier_.flush();
  for (auto& driven : runs_)
    if (driven->view && !driven->shown_to_its_end) driven->view->finish();
  remove_status(store_.folder());
  if (lost_) co_return *std::move(lost_);
  co_return ran;
}

/// A bug of one of them is thrown when all have ended.
Task<void> Controller::end_all(TaskGroup& group) {
  try {
    co_await group.end();
  } catch (...) {
    if (!companion_bug_) companion_bug_ = std::current_exception();
  }
}

/// Signals, commands or the front are heard no more: what looks alive and hears nothing is worse
/// than a process that has ended.
void Controller::lose(const Error& error) {
  if (lost_) return;
  lost_ = error;
  log::error({}, "controller-stopped",
             "what it cannot do without has ended, so its runs are interrupted: " + error.what);
  stop_all();
}

void Controller::stop_all() {
  stopping_ = true;
  engine_.stop(engine::Stop::interrupt);
  news_.cancel();
}

bool Controller::works() const {
  return std::ranges::any_of(
      runs_, [this](const auto& driven) { return !engine_.finished(driven->run.id); });
}

Task<Result<void>> Controller::run_all() {
  for (;;) {
    auto ran = co_await engine_.run();
    const bool broken = !ran && ran.error().code == Code::kStorage;
    if (!settings_.stays || stopping_ || broken) co_return ran;
    // attend() goes on meanwhile, and takes up what is submitted.
    while (!works() && !stopping_) {
      co_await news_.async_wait(asio::as_tuple(asio::use_awaitable));
      const bool stop = co_await cancelled();
      if (stop) co_return Error{Code::kCancelled, "the service was stopped"};
    }
    if (stopping_) co_return ran;
  }
}

/// SIGINT and SIGTERM stop all runs; a second one does not make it faster, since steps are cleaning
/// up.
Task<Result<void>> Controller::listen() {
  for (;;) {
    const auto [failure, signal] =
        co_await signals_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (failure) co_return ok();
    if (signal == SIGHUP) {
      go_on_without_terminal();
      continue;
    }
    stop_all();
  }
}

void Controller::go_on_without_terminal() {
  const bool reads_again = front_.hang_up();
  if (!front_.has_terminal()) return;
  if (reads_again)
    for (auto& driven : runs_)
      if (driven->view) show_from_now_on(*driven);
  if (!std::exchange(hung_up_, true)) note_lost_terminal();
}

/// Written as the run's going on, which it is: without its terminal. What cannot be written is not
/// worth an end of the run; the next event will tell.
void Controller::note_lost_terminal() {
  log::info({}, "terminal-lost",
            fmt::format("the terminal is gone; process {} goes on with its runs", ::getpid()));
  for (const auto& driven : runs_) {
    if (engine_.finished(driven->run.id)) continue;
    auto event = run_event(EventKind::run_resumed, {{"why", "terminal-lost"}, {"pid", ::getpid()}});
    [[maybe_unused]] const auto written = store_.append(driven->run.id, event);
  }
}

Task<Result<void>> Controller::attend() {
  for (;;) {
    // A command may have ended the last run: then this was cancelled while it was being taken.
    const bool stop = co_await cancelled();
    if (stop) co_return ok();
    CO_TRY(co_await pause_for(kTick));
    front_.tick();
    if (auto fault = front_.fault()) co_return *std::move(fault);
    // Before another run takes up the nodes, and their consoles.
    for (auto& driven : runs_) end_companions(*driven);
    forget_ended_runs();
    if (!stopping_) take_up_submitted();
    // By index: a run may be taken up while a command is being written.
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      CO_TRY(co_await take_commands(*runs_[i]));
      show(*runs_[i]);
    }
    if (settings_.ends_when_halted && !stopping_ && all_are_halted()) stop_all();
    publish();
  }
}

/// Nothing of any run goes on until an operator continues it.
bool Controller::all_are_halted() const {
  return works() && std::ranges::all_of(runs_, [this](const auto& driven) {
           return engine_.finished(driven->run.id) || engine_.halted(driven->run.id);
         });
}

/// What cannot be read now is read in a second.
Task<Result<void>> Controller::take_commands(Driven& driven) {
  if (engine_.finished(driven.run.id)) co_return ok();
  const auto commands = store_.commands(driven.run.id, driven.taken);
  if (!commands) co_return ok();
  for (const auto& command : *commands) {
    driven.taken = command.id;
    const auto taken = co_await engine_.take(command);
    if (taken) continue;
    const auto& error = taken.error();
    if (error.code == Code::kCancelled || error.code == Code::kStorage) co_return error;
    announce(Weight::warning, driven.run.id, "command-failed",
             fmt::format("run {}: {} was asked for, and is not done: {}", driven.run.id,
                         to_string(command.kind), error.what));
  }
  co_return ok();
}

/// Those that are shown, and why this process is still there when they are over.
void Controller::show(Driven& driven) {
  const auto id = driven.run.id;
  const auto until = hands_until(id);
  if (until && !driven.waits)
    log::info({.run = id}, "waits-for-repair",
              fmt::format("waits until {} for repairs: cupel actions {}", report::utc(*until), id));
  driven.waits = until.has_value();
  if (!driven.view || driven.shown_to_its_end) return;
  driven.view->waits_for_repair(until);
  report::NodeWords held;
  for (auto& each : engine_.held())
    if (each.run == id) held[each.node] = std::move(each.why);
  driven.view->hold(std::move(held));
  driven.view->tick();
  if (!engine_.finished(id)) return;
  std::vector<engine::RunId> others;
  for (const auto& each : runs_)
    if (!engine_.finished(each->run.id)) others.push_back(each->run.id);
  if (others.empty()) return;
  driven.shown_to_its_end = true;
  driven.view->finish();
  front_.outlast(id, others);
}

/// Of a run that is over. Waits for none of them: a BMC may take its time to close a console.
void Controller::end_companions(Driven& driven) {
  if (!driven.companions || !engine_.finished(driven.run.id)) return;
  driven.companions->cancel();
  if (!driven.companions->ended()) return;
  if (!companion_bug_) companion_bug_ = driven.companions->bug();
  driven.companions.reset();
}

/// A process that stays has many runs; one that ends with them shows how they ended.
void Controller::forget_ended_runs() {
  if (!settings_.stays) return;
  std::erase_if(runs_, [this](const auto& driven) {
    if (driven->companions || !engine_.forget(driven->run.id)) return false;
    if (driven->view && !driven->shown_to_its_end) driven->view->finish();
    dispatcher_.let_go(driven->planned->inventory);
    return true;
  });
}

/// Where a table is drawn it stands above it, and stays.
void Controller::announce(Weight weight, engine::RunId run, std::string_view event,
                          const std::string& line) {
  const bool warns = weight == Weight::warning;
  log::write(warns ? log::Level::warning : log::Level::info, {.run = run}, event, line);
  for (auto& driven : runs_)
    if (driven->view && !driven->shown_to_its_end) return driven->view->announce(weight, line);
  front_.announce(weight, line);
}

std::optional<engine::WallTime> Controller::hands_until(engine::RunId run) const {
  const auto left = engine_.waits_for_repair(run);
  if (!left) return std::nullopt;
  return to_ten_seconds(clock_.wall() + *left);
}

void Controller::take_up_submitted() {
  const auto submitted = store_.submitted(kRunsLookedAt);
  if (!submitted) return;
  for (const auto id : *submitted) {
    const bool ours =
        std::ranges::any_of(runs_, [id](const auto& driven) { return driven->run.id == id; });
    if (ours || refused_.contains(id)) continue;
    if (const auto run = store_.run(id)) take_up(*run);
  }
}

/// After an upgrade, a reboot or a crash: without a person's word.
void Controller::resume_own_runs() {
  const auto journal = store::JournalReader::open(store_.folder());
  const auto own = journal ? own_runs(*journal) : Result<std::vector<OwnRun>>{journal.error()};
  if (!own) {
    log::error({}, "runs-not-resumed", own.error().what + ": resume them with cupel resume");
    return;
  }
  for (const auto& each : *own) {
    const auto run = store_.run(each.run);
    if (!run) continue;
    if (each.stuck)
      refuse(*run, fmt::format("the service died {} times in a row while it drove this run, and no "
                               "step ended: cupel resume {}",
                               kMostRestarts, each.run));
    else
      take_up(*run, true);
  }
}

void Controller::take_up(const store::Run& run, bool restarted) {
  auto planned = plan_again(run);
  if (!planned) {
    announce(Weight::warning, run.id, "no-plan", to_string(planned.error()));
    refuse(run, "its inventory or its playbook cannot be read any more");
    return;
  }
  auto driven = make(*std::move(planned), run);
  if (!driven) {
    refuse(run, driven.error().what);
    return;
  }
  if (restarted) {
    auto& first = (*driven)->first->data;
    first["by"] = engine::kByItself;
    first["why"] = kServiceRestarted;
    announce(Weight::information, run.id, "run-continued",
             fmt::format("run {} was interrupted with the service, and is resumed", run.id));
  } else {
    announce(Weight::information, run.id, "run-submitted",
             fmt::format("run {} was submitted, and begins here", run.id));
  }
  (*driven)->origin = Origin::submitted;
  show_from_now_on(**driven);
  drive(*std::move(driven));
}

/// One that had begun before can be resumed elsewhere, or when it is mended.
void Controller::refuse(const store::Run& run, const std::string& why) {
  const auto events = store_.events(run.id);
  const bool begun = events && !events->empty();
  auto event = run_event(begun ? EventKind::run_interrupted : EventKind::run_cancelled,
                         {{"why", valid_utf8(why)}});
  const auto written = store_.append(run.id, event);
  if (!written) refused_.insert(run.id);
  const auto reasons = written ? why : fmt::format("{} ({})", why, written.error().what);
  log::error({.run = run.id}, "run-refused", reasons);
  front_.refuse(run.id, reasons);
}

/// For `cupel status`, where something has changed. Not truth: that is in the journal.
void Controller::publish() {
  const auto held = engine_.held();
  ControllerStatus status{.pid = ::getpid()};
  for (const auto& driven : runs_) {
    const auto id = driven->run.id;
    const auto& state = engine_.state(id);
    if (engine_.finished(id)) continue;
    status.runs.push_back(status_of({.run = id,
                                     .plan = driven->planned->plan,
                                     .state = state,
                                     .held = held,
                                     .ends = driven->eta.end(state, clock_.wall(), clock_.now()),
                                     .hands_until = hands_until(id),
                                     .halted = engine_.halted(id)}));
  }
  auto text = to_text(status);
  if (text == published_) return;
  // A status that could not be written is no reason to stop.
  if (write_status(store_.folder(), text)) published_ = std::move(text);
}

}  // namespace cupel::controller
