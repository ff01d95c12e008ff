#include "orchestrator/cli/controller.h"

#include <fmt/format.h>

#include <boost/asio/signal_set.hpp>
#include <boost/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "orchestrator/cli/hands_watch.h"
#include "orchestrator/cli/power_watch.h"
#include "orchestrator/cli/run_events.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/console/recorder.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/resume.h"

namespace cupel::cli {
namespace {

using engine::Event;
using engine::EventKind;

constexpr std::chrono::seconds kTick{1};
constexpr std::size_t kRunsLookedAt = 32;
constexpr std::size_t kMostReasons = 20;  // of one run, why steps are held
constexpr std::size_t kNewsLimit = 4u << 20;

std::filesystem::path news_file(const std::filesystem::path& state) {
  return state / "controller.json";
}

/// Shows what happens on this run, and tells the notifier.
class Ears final : public engine::Observer {
 public:
  Ears(engine::RunId run, Progress* progress, Notifier& notifier)
      : run_{run}, progress_{progress}, notifier_{notifier} {}
  void on_event(const Event& event, const engine::RunState& state) override {
    notifier_.hear(run_, event);
    if (progress_ != nullptr) progress_->on_event(event, state);
  }
  void on_waiting(std::string_view node, std::string_view step, std::string_view what) override {
    if (progress_ != nullptr) progress_->on_waiting(node, step, what);
  }

 private:
  engine::RunId run_;
  Progress* progress_;
  Notifier& notifier_;
};

bool over(const engine::RunState& state) {
  using engine::RunPhase;
  return state.phase == RunPhase::ended || state.phase == RunPhase::cancelled ||
         state.phase == RunPhase::interrupted;
}

/// Step -> nodes that wait at it for a person's word.
boost::json::object approvals_of(const playbooks::Plan& plan, const engine::RunState& state) {
  std::map<std::string, std::int64_t> waiting;
  for (const auto& node : plan.nodes) {
    const auto known = state.nodes.find(node.node->name);
    if (known == state.nodes.end()) continue;
    const auto what = engine::next(node, known->second);
    if (what.kind == engine::Next::Kind::await_approval) ++waiting[(*node.steps)[what.step].name];
  }
  boost::json::object approvals;
  for (const auto& [step, nodes] : waiting) approvals[step] = nodes;
  return approvals;
}

/// What is left of the longest node, by what its steps are expected to take.
std::chrono::seconds left_of(const playbooks::Plan& plan, const engine::RunState& state) {
  std::chrono::seconds longest{0};
  for (const auto& node : plan.nodes) {
    const auto known = state.nodes.find(node.node->name);
    if (known == state.nodes.end()) continue;
    std::chrono::seconds left{0};
    const auto& steps = known->second.steps;
    for (std::size_t i = 0; i < steps.size() && i < node.steps->size(); ++i)
      if (!steps[i].over()) left += (*node.steps)[i].expected;
    longest = std::max(longest, left);
  }
  return longest;
}

}  // namespace

/// One run, with all that it stands on.
struct Controller::Driven {
  Driven(store::RunLock held, store::Run which, std::unique_ptr<Planned> what, store::Store& store,
         Network& network)
      : lock{std::move(held)},
        run{std::move(which)},
        planned{std::move(what)},
        world{planned->inventory, store, network},
        journal{store, run.id},
        snapshots{store, run.id},
        steps{world.doors()} {}

  store::RunLock lock;
  store::Run run;
  std::unique_ptr<Planned> planned;
  World world;
  store::RunJournal journal;
  store::RunSnapshots snapshots;
  steps::NodeSteps steps;
  std::unique_ptr<Progress> progress{};  // of this process's own runs
  std::unique_ptr<Ears> ears{};
  engine::RunState state{};  // as it was replayed
  std::optional<Event> first{};
  std::int64_t taken = 0;  // commands up to this one were handed to the engine
};

Controller::Controller(Context& context, store::Store& store)
    : context_{context},
      store_{store},
      network_{store},
      engine_{dispatcher_, clock_},
      notifier_{network_.io.get_executor(), context.notify} {}

Controller::~Controller() = default;

Result<std::unique_ptr<Controller::Driven>> Controller::make(std::unique_ptr<Planned> planned,
                                                             const store::Run& run) {
  TRY(auto lock, store::RunLock::take(store_.folder(), run.id));
  auto driven =
      std::make_unique<Driven>(std::move(lock), run, std::move(planned), store_, network_);
  TRY(driven->state, store::standing(store_, run.id, driven->planned->plan));
  // A crash between the run's row and its first event leaves a run without a plan to show.
  driven->first = driven->state.last_sequence == 0 ? run_started(*driven->planned) : run_resumed();
  driven->taken = driven->state.last_command;
  return driven;
}

Result<void> Controller::add(std::unique_ptr<Planned> planned, const store::Run& run) {
  TRY(auto driven, make(std::move(planned), run));
  std::vector<const inventory::Node*> nodes;
  for (const auto& each : driven->planned->plan.nodes) nodes.push_back(each.node);
  TRY(driven->world.check_secrets(nodes));
  driven->progress = make_progress(driven->planned->plan, run.id, context_.json);
  drive(std::move(driven));
  return ok();
}

void Controller::drive(std::unique_ptr<Driven> driven) {
  auto& one = *runs_.emplace_back(std::move(driven));
  known_.insert(one.run.id);
  one.ears = std::make_unique<Ears>(one.run.id, one.progress.get(), notifier_);
  dispatcher_.know(one.planned->inventory);
  dispatcher_.limit(one.planned->plan.limits);
  engine_.add({.run = one.run.id,
               .plan = one.planned->plan,
               .state = std::move(one.state),
               .journal = one.journal,
               .steps = one.steps,
               .observer = *one.ears,
               .first = std::move(one.first),
               .snapshots = &one.snapshots});
  if (companions_) start_companions(one);
}

void Controller::start_companions(Driven& driven) {
  auto& world = driven.world;
  const auto bmc = [&world](const inventory::Node& node) { return world.bmc(node); };
  if (context_.consoles) {
    console::Recording recording;
    recording.bmc = bmc;
    recording.folder = console::console_folder(context_.state, driven.run.id);
    recording.locks = context_.state / "locks";
    for (const auto& each : driven.planned->plan.nodes) recording.nodes.push_back(each.node);
    companions_->start(console::record_consoles(std::move(recording)));
  }
  PowerWatch power;
  power.bmc = bmc;
  power.loaded = [this, &driven] {
    return loaded_nodes(driven.planned->plan, engine_.state(driven.run.id));
  };
  power.measured = [this](std::string_view node, double watts) { engine_.measured(node, watts); };
  companions_->start(watch_power(std::move(power)));
  HandsWatch hands;
  hands.run = driven.run.id;
  hands.plan = &driven.planned->plan;
  hands.state = [this, &driven]() -> const engine::RunState& {
    return engine_.state(driven.run.id);
  };
  hands.bmc = bmc;
  hands.ssh = [&world](const inventory::Node& node, Deadline deadline) {
    return world.ssh(node, deadline);
  };
  hands.store = &store_;
  hands.pause = context_.look_again;
  companions_->start(watch_hands(std::move(hands)));
}

Result<void> Controller::work() { return run_to_end(network_.io, work_all()); }

Task<Result<void>> Controller::work_all() {
  companions_.emplace(network_.io.get_executor());
  for (auto& driven : runs_) start_companions(*driven);
  companions_->start(listen());
  companions_->start(attend());
  companions_->start(notifier_.serve());
  auto ran = co_await engine_.run();
  co_await companions_->end();
  companions_.reset();
  co_await notifier_.flush();
  for (auto& driven : runs_)
    if (driven->progress) driven->progress->finish();
  std::error_code gone;
  std::filesystem::remove(news_file(context_.state), gone);
  co_return ran;
}

/// SIGINT and SIGTERM stop all runs; a second one does not make it faster, since steps are cleaning
/// up.
Task<Result<void>> Controller::listen() {
  boost::asio::signal_set signals{co_await asio::this_coro::executor, SIGINT, SIGTERM};
  for (;;) {
    const auto [failure, signal] = co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
    if (failure) co_return ok();
    engine_.stop(engine::Stop::interrupt);
  }
}

Task<Result<void>> Controller::attend() {
  for (;;) {
    // A command may have ended the last run: then this was cancelled while it was being taken.
    const bool stop = co_await cancelled();
    if (stop) co_return ok();
    CO_TRY(co_await pause_for(kTick));
    take_up_submitted();
    // By index: a run may be taken up while a command is being written.
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i]->progress) runs_[i]->progress->tick();
      CO_TRY(co_await take_commands(*runs_[i]));
    }
    publish();
  }
}

/// What cannot be read now is read in a second.
Task<Result<void>> Controller::take_commands(Driven& driven) {
  if (over(engine_.state(driven.run.id))) co_return ok();
  const auto commands = store_.commands(driven.run.id, driven.taken);
  if (!commands) co_return ok();
  for (const auto& command : commands.assume_value()) {
    driven.taken = command.id;
    const auto taken = co_await engine_.take(command);
    if (taken) continue;
    const auto& error = taken.assume_error();
    if (error.code == Code::kCancelled || error.code == Code::kStorage) co_return error;
    if (!context_.json)
      say(stderr, "cupel: run {}: {} was asked for, and is not done: {}\n", driven.run.id,
          to_string(command.kind), error.what);
  }
  co_return ok();
}

void Controller::take_up_submitted() {
  // The newest alone, as long as it is known: reading a run reads its nodes.
  const auto newest = store_.runs(1);
  if (!newest || newest.assume_value().empty()) return;
  if (known_.contains(newest.assume_value().front().id)) return;
  const auto runs = store_.runs(kRunsLookedAt);
  if (!runs) return;
  for (const auto& run : runs.assume_value()) {
    if (known_.contains(run.id)) continue;
    known_.insert(run.id);
    if (run.phase == engine::RunPhase::submitted) take_up(run);
  }
}

void Controller::take_up(const store::Run& run) {
  Exit exit = Exit::passed;
  auto planned = planned_again_or_complain(context_, run, exit);
  if (!planned) {
    refuse(run, "its inventory or its playbook cannot be read any more");
    return;
  }
  auto driven = make(std::move(planned), run);
  if (!driven) {
    refuse(run, driven.assume_error().what);
    return;
  }
  if (!context_.json) say("run {} was submitted, and begins here\n", run.id);
  drive(std::move(driven).assume_value());
}

void Controller::refuse(const store::Run& run, const std::string& why) {
  auto event = run_event(EventKind::run_cancelled, {{"why", why}});
  const auto written = store_.append(run.id, event);
  say(stderr, "cupel: run {} was submitted, and cannot begin: {}{}\n", run.id, why,
      written ? "" : " (" + written.assume_error().what + ")");
}

/// For `cupel status`, where something has changed. Not truth: that is in the journal.
void Controller::publish() {
  std::map<engine::RunId, std::map<std::string, std::vector<std::string>>> held;
  for (const auto& each : engine_.held()) held[each.run][each.why].push_back(each.node);
  boost::json::array runs;
  for (const auto& driven : runs_) {
    const auto id = driven->run.id;
    if (over(engine_.state(id))) continue;
    boost::json::array reasons;
    for (const auto& [why, nodes] : held[id]) {
      if (reasons.size() == kMostReasons) break;
      reasons.push_back({{"why", why}, {"nodes", nodes.size()}, {"first", nodes.front()}});
    }
    const auto left = left_of(driven->planned->plan, engine_.state(id));
    runs.push_back({{"run", id},
                    {"eta_s", left.count()},
                    {"held", std::move(reasons)},
                    {"approvals", approvals_of(driven->planned->plan, engine_.state(id))}});
  }
  const auto news =
      boost::json::serialize(boost::json::object{{"pid", ::getpid()}, {"runs", std::move(runs)}});
  if (news == published_) return;
  // A status that could not be told is no reason to stop.
  if (write_file(news_file(context_.state), news)) published_ = news;
}

std::optional<boost::json::object> controller_news(const std::filesystem::path& state) {
  const auto holder = store::ControllerLock::holder(state);
  if (!holder) return std::nullopt;
  const auto text = read_file(news_file(state), kNewsLimit);
  if (!text) return std::nullopt;
  boost::system::error_code bad;
  const auto value = boost::json::parse(text.assume_value(), bad);
  if (bad || !value.is_object()) return std::nullopt;
  const auto* pid = value.get_object().if_contains("pid");
  const bool its_own = pid != nullptr && pid->is_int64() && pid->get_int64() == holder->pid;
  if (!its_own) return std::nullopt;
  return value.get_object();
}

}  // namespace cupel::cli
