#pragma once
// Where requests are worked on, one after the other: one thread's store and what it has in memory.
// From a request that was routed to an answer: who asks, may it, is it sound, was it asked before.
#include <chrono>
#include <deque>

#include "orchestrator/api/live_run.h"
#include "orchestrator/api/node_results.h"
#include "orchestrator/api/operation.h"
#include "orchestrator/api/shared_state.h"
#include "orchestrator/controller/planned_run.h"
#include "orchestrator/store/audit_log.h"
#include "orchestrator/store/journal_end.h"
#include "orchestrator/store/kept_replies.h"
#include "orchestrator/store/pending_requests.h"

namespace cupel::api {

class RequestHandler {
 public:
  /// Errors: kStorage.
  static Result<std::unique_ptr<RequestHandler>> open(Shared& shared);

  Answer answer(const Operation& operation, const Route& route, const Request& request);

  Shared& shared() { return shared_; }
  store::Store& store() { return *store_; }
  const store::JournalReader& journal() const { return journal_; }
  const store::JournalEnds& ends() const { return ends_; }
  store::AuditLog& audit() { return audit_; }
  store::PendingRequests& pending() { return pending_; }
  Authenticator& authenticator() { return authenticator_; }
  LiveRuns& runs() { return runs_; }
  NodeResults& results() { return results_; }

  /// Errors: kStorage. Empty where the run has not begun.
  Result<std::shared_ptr<const RunHead>> head_of(engine::RunId run);
  /// The run's plan, made once of the files as they were. Errors: kConflict: it cannot be made.
  Result<std::shared_ptr<const controller::Planned>> plan_of(const store::Run& run);
  /// The rack of a node of the run, or of the inventory where the run does not say.
  std::string rack_of(engine::RunId run, std::string_view node);
  /// The run, where the person may see a node of it. Errors: kNotFound; kStorage.
  Result<std::shared_ptr<const store::Run>> run_for(const Call& call);
  /// Whether the person may see all nodes of the run.
  bool sees_all(const Call& call, const store::Run& run);
  bool sees(const Call& call, engine::RunId run, std::string_view node);
  /// Whether the person may see a node of the run; what no node of theirs is in does not exist for
  /// them.
  bool sees_part(const Identity& identity, engine::RunId run);

  /// Another one whenever the store was written to, the controller has published its status, and
  /// once a second: what an answer that is made of all of them stands for. Errors: kStorage.
  Result<std::string> moment() const;
  /// What `make` returns, as long as `version` is the same for this target and these racks.
  Reply kept(const Call& call, const std::string& version, const std::function<Reply()>& make);
  /// What was kept for this target, these racks and this version; nullptr: nothing.
  const Answer* kept_answer(const Call& call, std::string_view version) const;
  /// The same `reply`, with an ETag. What is no plain 200 is not kept.
  Reply keep(const Call& call, std::string version, Reply reply);

  /// In the audit log, and durable: before what it is about is done. Errors: kStorage.
  Result<void> note(const Identity& identity, std::string_view what, boost::json::object data);
  /// That a token was refused. Not every one: see RefusalNotes.
  void note_refusal(const Request& request, std::string_view what, std::string_view token);

 private:
  /// Errors: kNotFound; kStorage.
  Result<std::shared_ptr<const store::Run>> known_run(engine::RunId run);

  RequestHandler(Shared& shared, std::unique_ptr<store::Store> store, store::JournalReader journal,
                 store::JournalEnds ends, store::AuditLog audit, store::KeptReplies replies,
                 store::PendingRequests pending, Authenticator authenticator);

  Answer answer_to(const Operation& operation, const Route& route, const Request& request);
  std::optional<Problem> refusal(const Operation& operation, const Request& request,
                                 const Identity& identity) const;
  std::optional<Problem> too_many(const std::string& who) const;
  Answer change(const Operation& operation, Call& call);

  struct Kept {
    std::string key{}, version{};
    Answer answer{};
  };

  Shared& shared_;
  std::unique_ptr<store::Store> store_;
  store::JournalReader journal_;
  store::JournalEnds ends_;
  store::AuditLog audit_;
  store::KeptReplies replies_;
  store::PendingRequests pending_;
  Authenticator authenticator_;
  LiveRuns runs_{};
  NodeResults results_{};
  std::map<engine::RunId, std::shared_ptr<const RunHead>> heads_{};
  // As they were read when the store had this version: one of 10,000 nodes takes 2 ms to read.
  std::int64_t known_version_ = -1;
  std::map<engine::RunId, std::shared_ptr<const store::Run>> known_runs_{};
  std::map<engine::RunId, std::shared_ptr<const controller::Planned>> plans_{};
  struct Unplanned {
    Error why;
    std::chrono::steady_clock::time_point until{};
  };
  std::map<engine::RunId, Unplanned> unplanned_{};  // runs whose files have changed since
  std::map<std::string, Kept, std::less<>> kept_{};
  std::deque<std::string> kept_order_{};
  std::size_t kept_bytes_ = 0;
};

/// "2026-11-25T22:50:12.345Z".
std::string utc_ms(engine::WallTime time);

/// The answer with this body, 200.
Answer json_answer(const boost::json::value& body);
/// {"items": [...], "next": "..."}; without `next` where it is empty.
Answer list_answer(boost::json::array items, const std::string& next);

}  // namespace cupel::api
