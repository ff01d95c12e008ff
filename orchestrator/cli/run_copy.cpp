#include "orchestrator/cli/run_copy.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <condition_variable>
#include <mutex>

#include "base/paths.h"
#include "base/text.h"
#include "base/utc.h"
#include "orchestrator/api/live_run.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/engine/clock.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/record/series_codec.h"
#include "orchestrator/store/journal_reader.h"
#include "orchestrator/store/purpose.h"
#include "orchestrator/store/run_numbers.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kMostCopied = 5'000'000;  // events
constexpr std::chrono::milliseconds kCopyPause{300};
constexpr std::chrono::seconds kStatusPause{3};
constexpr std::chrono::seconds kLostPatience{60};

/// "2026-11-25T22:50:12.345Z".
std::optional<engine::WallTime> time_in(std::string_view text) {
  if (text.size() != 24 || text[19] != '.' || text[23] != 'Z') return std::nullopt;
  const auto seconds = utc_of(fmt::format("{}Z", text.substr(0, 19)));
  const auto rest = number<int>(text.substr(20, 3));
  if (!seconds || !rest) return std::nullopt;
  return engine::WallTime{*seconds} + std::chrono::milliseconds{*rest};
}

Result<engine::Event> event_in(const json::value& item) {
  const Error malformed{Code::kMalformed, "the service sent an event that cannot be read"};
  const auto kind = text_at(item, "kind"), time = text_at(item, "time");
  const auto known = kind ? engine::event_kind(*kind) : std::nullopt;
  const auto when = time ? time_in(*time) : std::nullopt;
  const auto sequence = number_at(item, "sequence");
  const auto* data = find(item, "data");
  if (!known || !when || !sequence || data == nullptr || !data->is_object()) return malformed;
  engine::Event event;
  event.kind = *known;
  event.time = *when;
  event.sequence = static_cast<std::int64_t>(*sequence);
  event.node = text_at(item, "node").value_or("");
  event.step = text_at(item, "step").value_or("");
  event.data = data->get_object();
  return event;
}

}  // namespace

/// What the copy's events are dated by: as the service has them.
class RunCopy::CopiedTime final : public engine::Clock {
 public:
  Time now() const override { return Deadline::Clock::now(); }
  engine::WallTime wall() const override { return wall_; }
  Task<Result<void>> pause_until(Time) override { co_return ok(); }
  void set(engine::WallTime time) { wall_ = time; }

 private:
  engine::WallTime wall_{};
};

RunCopy::RunCopy(api::ServiceClient client, engine::RunId run)
    : client_{std::move(client)}, run_{run}, time_{std::make_unique<CopiedTime>()} {}

RunCopy::~RunCopy() {
  if (follower_.joinable()) {
    follower_.request_stop();
    follower_.join();
  }
  lock_.reset();
  store_.reset();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Result<std::unique_ptr<RunCopy>> RunCopy::make(const api::ServiceClient& client,
                                               engine::RunId run) {
  std::unique_ptr<RunCopy> copy{new RunCopy{client, run}};
  TRY(copy->begin());
  TRY(copy->catch_up());
  return copy;
}

Result<void> RunCopy::begin() {
  TRY(const auto row, client_.get(fmt::format("/api/v1/runs/{}", run_)));
  TRY(const auto nodes, client_.list(fmt::format("/api/v1/runs/{}/nodes", run_), kMostCopied));
  auto name = (temporary_folder() / "cupel-run-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return Error{Code::kStorage, "no folder can be made for a copy of the run: " + name};
  folder_ = name;
  if (find(row, "rehearsal") != nullptr) {
    TRY(store::keep_for_rehearsals(folder_));
  }
  TRY(store_, store::Store::open(folder_));
  store_->tell_time_by(*time_);
  TRY(store::begin_numbers_at(folder_, run_));
  store::Run run;
  run.playbook = text_at(row, "playbook").value_or("");
  for (const auto& each : nodes) run.nodes.push_back(text_at(each, "node").value_or(""));
  const auto phase = engine::run_phase(text_at(row, "state").value_or(""));
  run.phase = phase.value_or(engine::RunPhase::submitted);
  const auto began = text_at(row, "began");
  time_->set((began ? time_in(*began) : std::nullopt).value_or(engine::WallTime{}));
  TRY(const auto number, store_->begin_run(run));
  if (number == run_) return ok();
  return Error{Code::kStorage, fmt::format("the copy of run {} got the number {}", run_, number)};
}

Result<void> RunCopy::copy_evidence(const engine::Event& event) {
  // What several nodes did together stands in evidence; the rest of it nobody needs here.
  const auto* hash = event.data.if_contains("evidence");
  if (!event.data.contains("together") || hash == nullptr || !hash->is_string()) return ok();
  return fetch_evidence(std::string{hash->get_string()});
}

Result<void> RunCopy::fetch_evidence(const std::string& hash) {
  if (store_->evidence(hash)) return ok();
  TRY(const auto bytes, client_.text(fmt::format("/api/v1/runs/{}/evidence/{}", run_, hash)));
  TRY(const auto kept, store_->keep_evidence(bytes));
  if (kept == hash) return ok();
  return Error{Code::kMalformed, fmt::format("evidence {} was changed on its way", hash)};
}

Result<void> RunCopy::copy_series(std::string_view node) {
  TRY(const auto run, store_->run(run_));
  for (const auto& name : run.nodes) {
    if (!node.empty() && name != node) continue;
    TRY(const auto record, record::node_record(*store_, run_, name));
    for (const auto& step : record.steps) {
      const auto found = record.evidence.find(record::series_name(step.name));
      if (found == record.evidence.end()) continue;
      TRY(fetch_evidence(found->second));
    }
  }
  return ok();
}

Result<void> RunCopy::catch_up() {
  TRY(const auto items,
      client_.list(
          fmt::format("/api/v1/runs/{}/events?after={}&limit=1000&whole=true", run_, sequence_),
          kMostCopied));
  for (const auto& item : items) {
    TRY(auto event, event_in(item));
    if (event.sequence != sequence_ + 1)
      return Error{Code::kRefused,
                   fmt::format("not all of run {} may be seen with this token", run_)};
    TRY(copy_evidence(event));
    time_->set(event.time);
    sequence_ = event.sequence;
    TRY(store_->append(run_, event));
  }
  return ok();
}

/// What the journal does not say, as the service's controller has it.
void RunCopy::copy_status() {
  auto row = client_.get(fmt::format("/api/v1/runs/{}", run_));
  if (!row) return;  // asked again in a moment
  const json::object status{{"pid", ::getpid()}, {"runs", json::array{*std::move(row)}}};
  // One that is not written is missed, and written with the next.
  (void)controller::write_status(folder_, json::serialize(status));
}

void RunCopy::keep_up() {
  auto lock = store::ControllerLock::take(folder_);
  if (lock) lock_.emplace(*std::move(lock));
  follower_ = std::jthread{[this](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock held{mutex};
    auto lost = Deadline::in(kLostPatience);
    auto status_due = Deadline::in(std::chrono::seconds{0});
    while (!stop.stop_requested()) {
      if (catch_up()) lost = Deadline::in(kLostPatience);
      if (status_due.passed()) {
        copy_status();
        status_due = Deadline::in(kStatusPause);
      }
      if (lost.passed()) lock_.reset();
      wake.wait_for(held, stop, kCopyPause, [] { return false; });
    }
  }};
}

std::unique_ptr<controller::Planned> RunCopy::plan() {
  const auto journal = store::JournalReader::open(folder_);
  if (!journal) return nullptr;
  const auto first = journal->page({.run = run_, .kind = "run-started", .most = 1});
  if (!first || first->empty()) return nullptr;
  const auto data = parse_json(first->front().data);
  if (!data || !data->is_object()) return nullptr;
  const auto head = api::run_head(data->get_object());
  auto planned = std::make_unique<controller::Planned>();
  auto steps = std::make_shared<std::vector<playbooks::PlannedStep>>();
  if (const auto* names = head.begin.if_contains("steps"); names != nullptr && names->is_array())
    for (const auto& each : names->get_array()) {
      if (!each.is_string()) continue;
      playbooks::PlannedStep step;
      step.name = each.get_string();
      const bool approval = step.name.starts_with("approval");
      step.kind = approval ? playbooks::StepKind::approval : playbooks::StepKind::stage;
      steps->push_back(std::move(step));
    }
  for (const auto& name : head.order) {
    const auto& place = head.places.find(name)->second;
    inventory::Node node;
    node.name = name;
    node.profile = place.profile;
    node.rack = place.rack;
    node.unit = place.unit;
    planned->inventory.nodes.push_back(std::move(node));
  }
  planned->plan.playbook = store_->run(run_).value_or(store::Run{}).playbook;
  for (const auto& node : planned->inventory.nodes) planned->plan.nodes.push_back({&node, steps});
  return planned;
}

Result<std::optional<api::ServiceClient>> service_to_ask(const Context& context) {
  TRY(auto server, api::server_of_environment());
  if (!server && !context.socket.empty()) server.emplace().socket = context.socket;
  if (!server) return std::optional<api::ServiceClient>{};
  return std::optional{api::ServiceClient{*std::move(server)}};
}

Exit print_error_of_service(const Context& context, const Error& error) {
  const bool wrong = error.code == Code::kInvalid || error.code == Code::kNotFound ||
                     error.code == Code::kConflict || error.code == Code::kRefused;
  return print_error(context, error, wrong ? Exit::invalid : Exit::unfinished);
}

Result<engine::RunId> newest_run(const api::ServiceClient& client, std::string_view node) {
  if (!node.empty()) {
    const auto row = client.get(fmt::format("/api/v1/nodes/{}", node));
    if (!row && row.error().code != Code::kNotFound) return row.error();
    const auto* runs = row ? find(*row, "runs") : nullptr;
    if (runs != nullptr && runs->is_array() && !runs->get_array().empty())
      return runs->get_array().front().to_number<engine::RunId>();
    return Error{Code::kNotFound, fmt::format("no run has ever seen node '{}'", node)};
  }
  TRY(const auto page, client.get("/api/v1/runs?limit=1"));
  const auto* items = find(page, "items");
  if (items == nullptr || !items->is_array() || items->get_array().empty())
    return Error{Code::kNotFound, "the service has no run"};
  return items->get_array().front().at("run").to_number<engine::RunId>();
}

}  // namespace cupel::cli
