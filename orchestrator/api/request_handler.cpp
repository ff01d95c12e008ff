#include "orchestrator/api/request_handler.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/json.h"
#include "base/log.h"
#include "base/network_of.h"
#include "base/text.h"
#include "orchestrator/api/entity_tag.h"
#include "orchestrator/api/pending_approvals.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/report/run_progress.h"

namespace cupel::api {
namespace {

constexpr std::size_t kMostHeads = 64;
constexpr std::size_t kMostKnownRuns = 16;
constexpr std::size_t kMostUnplanned = 64;
constexpr std::chrono::minutes kKept{1};  // a failure to plan: its files may be put back
constexpr std::size_t kMostPlans = 4;     // of 10,000 nodes each has some 40 MB
constexpr std::size_t kMostKept = 512;
constexpr std::size_t kMostKeptBytes = 64u << 20;
constexpr std::size_t kMostKeptReply = 8u << 10;  // bytes of an answer that the store keeps

bool changes(const Operation& operation) { return operation.method != "GET"; }

std::string tag_of(const Answer& answer) {
  return fmt::format("\"{}\"", sha256_hex(*answer.body).substr(0, 24));
}

/// A GET of JSON has a tag, and is not sent again to who has it. Source: RFC 9110, 13.2.2.
void tag(const Request& request, Answer& answer) {
  const bool tagged = request.method != "POST" && answer.status == 200 && answer.body &&
                      answer.type == "application/json";
  if (!tagged) return;
  const auto known =
      std::ranges::find(answer.fields, "ETag", &std::pair<std::string, std::string>::first);
  const auto text = known == answer.fields.end() ? tag_of(answer) : known->second;
  if (known == answer.fields.end()) answer.fields.emplace_back("ETag", text);
  answer.fields.emplace_back("Cache-Control", "private, no-cache");
  const auto expected = request.field("if-match");
  if (!expected.empty() && !has_strong_tag(expected, text)) {
    answer =
        api::answer_of(Problem{412, "changed", "it is another one by now than If-Match expects"});
    return;
  }
  if (!has_tag(request.field("if-none-match"), text)) return;
  answer.status = 304;
  answer.body = shared_text({});
}

bool is_sound_key(std::string_view key) {
  return !key.empty() && key.size() <= 128 && std::ranges::all_of(key, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view{"-_.:"}.contains(static_cast<char>(c));
  });
}

Answer answer_of(Reply reply) {
  if (auto* problem = std::get_if<Problem>(&reply)) return api::answer_of(*problem);
  return std::get<Answer>(std::move(reply));
}

/// Whose requests are counted before it is known who asks.
std::string address_of(const Request& request) {
  const auto& peer = request.peer;
  return peer.local ? fmt::format("unix user {}", peer.user) : network_of(peer.address);
}

/// What the store keeps of an answer. That of a change is small; a list of faults may not be.
std::string kept_body(const Answer& answer) {
  if (!answer.body) return {};
  if (answer.body->size() <= kMostKeptReply) return *answer.body;
  if (answer.status < 400) return "{}";
  const Problem problem{answer.status, "invalid",
                        "the answer was too large to keep: send it again with another key"};
  return *api::answer_of(problem).body;
}

Answer replayed(const store::KeptReply& kept) {
  Answer answer;
  answer.status = static_cast<unsigned>(kept.status);
  answer.type = kept.status >= 400 ? "application/problem+json" : "application/json";
  answer.body = shared_text(kept.body);
  if (!kept.location.empty()) answer.fields.emplace_back("Location", kept.location);
  answer.fields.emplace_back("Idempotency-Replayed", "true");
  return answer;
}

/// Who sees the same racks gets the same answer.
std::string key_of(const Call& call) {
  auto key = fmt::format("{}\n{}", call.request.path, call.identity.racks.text());
  for (const auto& [name, value] : call.request.query) key += fmt::format("\n{}={}", name, value);
  return key;
}

}  // namespace

std::string utc_ms(engine::WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(static_cast<std::time_t>(seconds.time_since_epoch().count())),
                     (time - seconds).count());
}

Answer json_answer(const boost::json::value& body) {
  Answer answer;
  answer.body = shared_text(boost::json::serialize(body));
  return answer;
}

Answer list_answer(boost::json::array items, const std::string& next) {
  boost::json::object object{{"items", std::move(items)}};
  if (!next.empty()) object["next"] = next;
  return json_answer(object);
}

RequestHandler::RequestHandler(Shared& shared, std::unique_ptr<store::Store> store,
                               store::JournalReader journal, store::JournalEnds ends,
                               store::AuditLog audit, store::KeptReplies replies,
                               store::PendingRequests pending, Authenticator authenticator)
    : shared_{shared},
      store_{std::move(store)},
      journal_{std::move(journal)},
      ends_{std::move(ends)},
      audit_{std::move(audit)},
      replies_{std::move(replies)},
      pending_{std::move(pending)},
      authenticator_{std::move(authenticator)} {}

Result<std::unique_ptr<RequestHandler>> RequestHandler::open(Shared& shared) {
  TRY(auto store, store::Store::open(shared.state));
  TRY(auto journal, store::JournalReader::open(shared.state));
  TRY(auto ends, store::JournalEnds::open(shared.state));
  TRY(auto audit, store::AuditLog::open(shared.state));
  TRY(auto replies, store::KeptReplies::open(shared.state));
  TRY(auto pending, store::PendingRequests::open(shared.state));
  TRY(auto tokens, store::AccessTokens::open(shared.state));
  return std::unique_ptr<RequestHandler>{new RequestHandler{
      shared, std::move(store), std::move(journal), std::move(ends), std::move(audit),
      std::move(replies), std::move(pending), Authenticator{std::move(tokens), shared.logins}}};
}

Answer RequestHandler::answer(const Operation& operation, const Route& route,
                              const Request& request) {
  const auto begun = std::chrono::steady_clock::now();
  Answer answer;
  try {
    answer = answer_to(operation, route, request);
  } catch (const std::exception& bug) {
    log::error({}, "service-bug", fmt::format("{} {}: {}", operation.id, request.path, bug.what()));
    answer = api::answer_of(Problem{500, "internal", "this is a fault of Cupel; see its log"});
  }
  tag(request, answer);
  // A login is the one change that asks for none.
  answer.to_known = answer.status < 400 && (!operation.login || changes(operation));
  // Of a token that was shown: a page that asks who is there has none yet.
  const bool shown = operation.login || !bearer_token(request).empty();
  if (answer.status == 401 && shown) ++shared_.counters.refused_logins;
  shared_.counters.count(answer.status, std::chrono::duration_cast<std::chrono::microseconds>(
                                            std::chrono::steady_clock::now() - begun));
  return answer;
}

Answer RequestHandler::answer_to(const Operation& operation, const Route& route,
                                 const Request& request) {
  Identity identity;
  if (!operation.login) {
    const auto site = shared_.site.get();
    auto who = authenticator_.identify(request, *site);
    if (const auto* problem = std::get_if<Problem>(&who)) {
      const auto token = bearer_token(request);
      if (problem->status == 401 && !token.empty()) note_refusal(request, "token-refused", token);
      return api::answer_of(*problem);
    }
    identity = std::get<Identity>(std::move(who));
    if (const auto problem = refusal(operation, request, identity)) return api::answer_of(*problem);
  } else if (changes(operation)) {
    if (const auto problem = too_many("login " + address_of(request)))
      return api::answer_of(*problem);
  }
  Call call{request, identity};
  if (const auto problem = take_values(operation, route, call)) return api::answer_of(*problem);
  if (operation.method == "POST" && !operation.login) return change(operation, call);
  return answer_of(operation.handle(*this, call));
}

std::optional<Problem> RequestHandler::refusal(const Operation& operation, const Request& request,
                                               const Identity& identity) const {
  // By name: many tokens or sessions of one person are one share.
  if (auto problem = too_many("person " + identity.name)) return problem;
  if (!identity.may(operation.role))
    return Problem{403, "forbidden",
                   fmt::format("{} is a {}; this needs the role {}", identity.name,
                               to_string(identity.role), to_string(operation.role))};
  const bool by_page = identity.kind == Identity::Kind::session && changes(operation);
  if (by_page && request.field("x-cupel-csrf") != identity.csrf)
    return Problem{403, "forbidden",
                   "X-Cupel-CSRF is missing or of another session: see GET /api/v1/whoami"};
  return std::nullopt;
}

std::optional<Problem> RequestHandler::too_many(const std::string& who) const {
  if (shared_.rate.may(who, RequestRate::Clock::now())) return std::nullopt;
  return Problem{429,
                 "too-many",
                 "more requests a second than one person may send",
                 {},
                 std::chrono::seconds{1}};
}

Answer RequestHandler::change(const Operation& operation, Call& call) {
  const auto key = call.request.field("idempotency-key");
  if (!is_sound_key(key))
    return api::answer_of(
        Problem{400,
                "invalid",
                "the request needs an Idempotency-Key, such as a UUID",
                {{"field.Idempotency-Key", "is missing, or not 1 to 128 of A-Za-z0-9-_.:"}}});
  if (!operation.keeps_reply) return answer_of(operation.handle(*this, call));
  store::KeptReply reply{call.identity.name, std::string{key}};
  reply.request = sha256_hex(
      fmt::format("{}\n{}\n{}", call.request.method, call.request.path, call.request.body));
  reply.at = report::wall_now();
  reply.body = fmt::format("{} {}", call.request.method, call.request.path);
  const auto claimed = replies_.claim(reply);
  if (!claimed) return api::answer_of(problem_of(claimed.error()));
  if (*claimed) {
    const auto& kept = **claimed;
    if (kept.request != reply.request)
      return api::answer_of(invalid("the Idempotency-Key was used for another request"));
    if (kept.status == 0)
      return api::answer_of(Problem{409, "conflict", "the same request is being worked on"});
    return replayed(kept);
  }
  call.change = reply.id();
  Reply made;
  const auto site = shared_.site.get();
  if (needs_two(*site, operation, call))
    made = ask_second(*this, operation, call);
  else
    made = operation.handle(*this, call);
  auto answer = answer_of(std::move(made));
  // What was not done may be asked for again with the same key.
  if (answer.status >= 500 || answer.status == 429) {
    [[maybe_unused]] const auto dropped = replies_.drop(reply);
    return answer;
  }
  reply.status = static_cast<int>(answer.status);
  reply.body = kept_body(answer);
  for (const auto& [name, value] : answer.fields)
    if (name == "Location") reply.location = value;
  [[maybe_unused]] const auto kept = replies_.keep(reply);
  return answer;
}

Result<std::shared_ptr<const RunHead>> RequestHandler::head_of(engine::RunId run) {
  if (const auto known = heads_.find(run); known != heads_.end()) return known->second;
  TRY(const auto page, journal_.page({.run = run, .kind = "run-started", .most = 1}));
  auto head = std::make_shared<RunHead>();
  if (page.empty()) return std::shared_ptr<const RunHead>{head};
  TRY(const auto data, parse_json(page.front().data));
  if (data.is_object()) *head = run_head(data.get_object());
  if (heads_.size() >= kMostHeads) heads_.clear();
  return heads_[run] = std::move(head);
}

Result<std::shared_ptr<const controller::Planned>> RequestHandler::plan_of(const store::Run& run) {
  if (const auto known = plans_.find(run.id); known != plans_.end()) return known->second;
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(unplanned_, [&](const auto& each) { return each.second.until <= now; });
  if (const auto known = unplanned_.find(run.id); known != unplanned_.end())
    return known->second.why;
  auto planned = controller::plan_again(run);
  if (!planned) {
    Error why{Code::kConflict, controller::to_string(planned.error())};
    if (unplanned_.size() < kMostUnplanned)
      unplanned_.insert_or_assign(run.id, Unplanned{why, now + kKept});
    return why;
  }
  if (plans_.size() >= kMostPlans) plans_.clear();
  return plans_[run.id] = *std::move(planned);
}

std::string RequestHandler::rack_of(engine::RunId run, std::string_view node) {
  if (run != 0)
    if (const auto head = head_of(run); head && *head)
      if (const auto place = (*head)->places.find(node); place != (*head)->places.end())
        return place->second.rack;
  const auto inventory = shared_.inventory.get();
  const auto* known = inventory ? inventory->node(node) : nullptr;
  return known == nullptr ? std::string{} : known->rack;
}

bool RequestHandler::sees(const Call& call, engine::RunId run, std::string_view node) {
  return call.identity.sees_all_racks() || call.identity.sees_rack(rack_of(run, node));
}

bool RequestHandler::sees_part(const Identity& identity, engine::RunId run) {
  if (identity.sees_all_racks()) return true;
  const auto head = head_of(run);
  if (head && !(*head)->places.empty())
    return std::ranges::any_of(
        (*head)->places, [&](const auto& place) { return identity.sees_rack(place.second.rack); });
  const auto row = store_->run(run);
  return row && std::ranges::any_of(row->nodes, [&](const std::string& node) {
           return identity.sees_rack(rack_of(run, node));
         });
}

bool RequestHandler::sees_all(const Call& call, const store::Run& run) {
  return call.identity.sees_all_racks() ||
         std::ranges::all_of(run.nodes,
                             [&](const std::string& node) { return sees(call, run.id, node); });
}

Result<std::shared_ptr<const store::Run>> RequestHandler::known_run(engine::RunId run) {
  TRY(const auto version, journal_.version());
  if (std::exchange(known_version_, version) != version) known_runs_.clear();
  if (const auto known = known_runs_.find(run); known != known_runs_.end()) return known->second;
  TRY(auto read, store_->run(run));
  if (known_runs_.size() >= kMostKnownRuns) known_runs_.clear();
  return known_runs_[run] = std::make_shared<const store::Run>(std::move(read));
}

Result<std::shared_ptr<const store::Run>> RequestHandler::run_for(const Call& call) {
  const auto id = call.integer("run", 0);
  TRY(auto run, known_run(id));
  const bool seen = call.identity.sees_all_racks() ||
                    std::ranges::any_of(
                        run->nodes, [&](const std::string& node) { return sees(call, id, node); });
  if (!seen) return Error{Code::kNotFound, fmt::format("there is no run {}", id)};
  return run;
}

Result<std::string> RequestHandler::moment() const {
  TRY(const auto version, journal_.version());
  const auto second = std::chrono::floor<std::chrono::seconds>(report::wall_now());
  return fmt::format("{} {} {}", version, second.time_since_epoch().count(),
                     controller::status_mark(shared_.state));
}

Reply RequestHandler::kept(const Call& call, const std::string& version,
                           const std::function<Reply()>& make) {
  if (const auto* answer = kept_answer(call, version)) return *answer;
  return keep(call, version, make());
}

const Answer* RequestHandler::kept_answer(const Call& call, std::string_view version) const {
  const auto found = kept_.find(key_of(call));
  return found != kept_.end() && found->second.version == version ? &found->second.answer : nullptr;
}

Reply RequestHandler::keep(const Call& call, std::string version, Reply reply) {
  auto* answer = std::get_if<Answer>(&reply);
  if (answer == nullptr || answer->status != 200 || !answer->body) return reply;
  answer->fields.emplace_back("ETag", tag_of(*answer));
  auto key = key_of(call);
  if (const auto found = kept_.find(key); found != kept_.end())
    kept_bytes_ -= found->second.answer.body->size();
  else
    kept_order_.push_back(key);
  kept_bytes_ += answer->body->size();
  kept_[key] = {key, std::move(version), *answer};
  while (kept_order_.size() > 1 &&
         (kept_order_.size() > kMostKept || kept_bytes_ > kMostKeptBytes)) {
    const auto oldest = kept_.find(kept_order_.front());
    kept_bytes_ -= oldest->second.answer.body->size();
    kept_.erase(oldest);
    kept_order_.pop_front();
  }
  return reply;
}

Result<void> RequestHandler::note(const Identity& identity, std::string_view what,
                                  boost::json::object data) {
  log::info({}, what, fmt::format("by {} from {}", identity.name, identity.origin));
  auto noted = audit_.append({.who = identity.name,
                              .origin = identity.origin,
                              .what = std::string{what},
                              .data = std::move(data)});
  if (!noted) log::error({}, "audit-not-written", fmt::format("{}: {}", what, noted.error().what));
  return noted;
}

void RequestHandler::note_refusal(const Request& request, std::string_view what,
                                  std::string_view token) {
  const auto address = address_of(request);
  if (!shared_.refusals.may(address, RequestRate::Clock::now())) return;
  boost::json::object data;
  if (const auto id = store::token_id(token); !id.empty()) data["token"] = id;
  // That it cannot be noted changes nothing: it is refused.
  [[maybe_unused]] const auto noted = note({.name = "-", .origin = address}, what, std::move(data));
}

}  // namespace cupel::api
