#include "orchestrator/api/pending_approvals.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/enum_words.h"
#include "base/json.h"
#include "base/text.h"
#include "inventory/model.h"
#include "inventory/select.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/report/nodes_by_verdict.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/store/pending_requests.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

constexpr std::chrono::hours kApprovalPatience{24};

/// What the site may have named: "start", or the command's own word.
std::string word_of(const Operation& operation, const Call& call) {
  if (operation.two_person != "command") return std::string{operation.two_person};
  return call.body_text("command");
}

json::object row_of(const store::PendingRequest& pending) {
  json::object row{{"approval", pending.id},
                   {"by", pending.asked_by},
                   {"origin", pending.origin},
                   {"at", utc_ms(pending.at)},
                   {"expires", utc_ms(pending.expires)}};
  if (auto what = parse_json(pending.request)) {
    if (auto* asked = what->if_object())
      for (const auto* ours : {"kind", "role", "token"}) asked->erase(ours);
    row["what"] = *std::move(what);
  }
  return row;
}

/// A run that is to begin: all of its nodes, as the inventory has them now.
bool sees_nodes(RequestHandler& handler, const Identity& identity, const json::object& body) {
  const auto* terms = body.if_contains("nodes");
  const auto inventory = handler.shared().inventory.get();
  if (terms == nullptr || !terms->is_string() || !inventory) return false;
  const auto nodes =
      inventory::select(*inventory, std::string_view{terms->get_string()},
                        inventory::RackScope::all(), report::nodes_of_run(handler.store()));
  return nodes && std::ranges::all_of(*nodes, [&](const inventory::Node* node) {
           return identity.sees_rack(node->rack);
         });
}

/// A node of the inventory that the path names.
bool sees_node(RequestHandler& handler, const Identity& identity, const std::string& name) {
  const auto inventory = handler.shared().inventory.get();
  const auto* node = inventory ? inventory->node(name) : nullptr;
  return node != nullptr && identity.sees_rack(node->rack);
}

/// Whether all that the request is about is in racks that the person may see. What cannot be found
/// out is not.
bool sees_request(RequestHandler& handler, const Call& call, const store::PendingRequest& pending) {
  if (call.identity.sees_all_racks()) return true;
  const auto what = parse_json(pending.request);
  const auto* path = what ? find(*what, "path") : nullptr;
  const auto* body = what ? find(*what, "body") : nullptr;
  if (path == nullptr || !path->is_string() || body == nullptr || !body->is_object()) return false;
  const auto route = route_of("POST", std::string{path->get_string()});
  if (const auto named = route.values.find("node"); named != route.values.end())
    return sees_node(handler, call.identity, named->second);
  const auto of_run = route.values.find("run");
  if (of_run == route.values.end()) return sees_nodes(handler, call.identity, body->get_object());
  const auto id = number<engine::RunId>(of_run->second);
  if (!id) return false;
  const auto run = handler.store().run(*id);
  if (!run) return false;
  const auto node = text_at(*body, "node");
  return node ? handler.sees(call, *id, *node) : handler.sees_all(call, *run);
}

/// What a person may not do any more is not done in that person's name.
Result<void> check_asker(RequestHandler& handler, const json::value& asked,
                         const std::string& name) {
  Identity known{.name = name};
  const auto kind = enum_of<Identity::Kind, '-'>(text_at(asked, "kind").value_or(""));
  const auto role = role_of(text_at(asked, "role").value_or(""));
  // Of an older Cupel, which did not keep them.
  if (!kind || !role) return Error{Code::kRefused, "it is not known who asked; ask again"};
  known.kind = *kind;
  known.role = *role;
  known.token = text_at(asked, "token").value_or("");
  known.racks = inventory::RackScope::parse(text_at(asked, "racks").value_or(""));
  return handler.authenticator().check_again(known, *handler.shared().site.get());
}

/// The request as it was asked for, done now. `second` has agreed.
Reply carry_out(RequestHandler& handler, const Call& call, const store::PendingRequest& pending) {
  const auto what = parse_json(pending.request);
  if (!what || !what->is_object()) return Problem{409, "conflict", "the request cannot be read"};
  const auto& asked = what->get_object();
  const auto route = route_of("POST", std::string{asked.at("path").get_string()});
  if (route.operation == nullptr) return not_found("what was asked for is not there any more");
  if (auto valid = check_asker(handler, *what, pending.asked_by); !valid)
    return Problem{409, "conflict",
                   fmt::format("{} may not do it any more: {}; it was not done", pending.asked_by,
                               valid.error().what)};
  Identity both = call.identity;
  // What one may not change, two may not either.
  both.racks =
      inventory::RackScope::parse(asked.at("racks").get_string()).common_with(call.identity.racks);
  both.name = fmt::format("{} (approved by {})", pending.asked_by, call.identity.name);
  both.origin = fmt::format("{}; approved from {}", pending.origin, call.identity.origin);
  Call again{call.request, both, route.values, asked.at("body").get_object(), call.change};
  return route.operation->handle(handler, again);
}

}  // namespace

bool needs_two(const Site& site, const Operation& operation, const Call& call) {
  return !operation.two_person.empty() &&
         site.settings.two_person.contains(word_of(operation, call));
}

Reply ask_second(RequestHandler& handler, const Operation& operation, const Call& call) {
  const auto now = report::wall_now();
  store::PendingRequest pending;
  pending.id = random_hex(8);
  pending.request = json::serialize(json::object{{"operation", operation.id},
                                                 {"path", call.request.path},
                                                 {"body", call.body},
                                                 {"racks", call.identity.racks.text()},
                                                 {"kind", to_string(call.identity.kind)},
                                                 {"role", to_string(call.identity.role)},
                                                 {"token", call.identity.token}});
  pending.asked_by = call.identity.name;
  pending.origin = call.identity.origin;
  pending.at = now;
  pending.expires = now + kApprovalPatience;
  const auto kept = handler.pending().add(pending);
  if (!kept) return problem_of(kept.error());
  const auto noted = handler.note(call.identity, "approval-asked",
                                  {{"approval", pending.id}, {"operation", operation.id}});
  if (!noted) return problem_of(noted.error());
  auto answer =
      json_answer(json::object{{"approval", pending.id}, {"expires", utc_ms(pending.expires)}});
  answer.status = 202;
  answer.fields.emplace_back("Location", "/api/v1/approvals");
  return answer;
}

Reply list_approvals(RequestHandler& handler, const Call& call) {
  const auto all = handler.pending().list(report::wall_now());
  if (!all) return problem_of(all.error());
  json::array items;
  for (const auto& each : *all)
    if (sees_request(handler, call, each)) items.push_back(row_of(each));
  return list_answer(std::move(items), {});
}

Reply decide_approval(RequestHandler& handler, const Call& call) {
  const auto pending = handler.pending().find(call.text("approval"), report::wall_now());
  if (!pending) return problem_of(pending.error());
  // Before it is taken: who may not see it does not end it either.
  if (!sees_request(handler, call, *pending))
    return not_found("no such request waits for an approval; it may have expired");
  const bool approves = call.body_text("decision") == "approve";
  if (approves && pending->asked_by == call.identity.name)
    return Problem{
        403, "forbidden",
        fmt::format("{} asked for it: another person is to approve it", pending->asked_by)};
  // Taken before it is done: of two who approve at once, one does it.
  const auto taken = handler.pending().take(pending->id);
  if (!taken) return problem_of(taken.error());
  const auto noted = handler.note(call.identity, approves ? "approval-given" : "approval-refused",
                                  {{"approval", pending->id}, {"asked_by", pending->asked_by}});
  if (!noted) return problem_of(noted.error());
  if (approves) return carry_out(handler, call, *pending);
  return json_answer(json::object{{"approval", pending->id}, {"decision", "reject"}});
}

}  // namespace cupel::api
