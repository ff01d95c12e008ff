// The OpenAPI 3.1 document, from the table of operations and the schemas of what they answer.
#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>

#include "orchestrator/api/handlers.h"

namespace cupel::api {
namespace {

namespace json = boost::json;
using Kind = Field::Kind;

constexpr Field text(std::string_view name, std::string_view what = {}, bool always = false) {
  return {name, Kind::text, what, always, 0, 1'000'000};
}
constexpr Field whole(std::string_view name, std::string_view what = {}, bool always = false) {
  return {name, Kind::integer, what, always, 0, 1'000'000'000'000'000};
}
constexpr Field of(std::string_view name, Kind kind, std::string_view what = {},
                   bool always = false) {
  return {name, kind, what, always};
}

constexpr std::array kIdentity{
    text("name", {}, true),
    text("kind", {}, true),
    text("role", {}, true),
    of("racks", Kind::texts, "absent: all of them"),
    of("expires", Kind::time),
    text("csrf", "to be sent as X-Cupel-CSRF with each change"),
    of("two_person", Kind::texts, "what needs a second person's approval"),
    of("reason_required", Kind::texts, "commands that need a reason")};
constexpr std::array kStatus{
    text("version", {}, true),           of("site", Kind::any), of("rehearsal", Kind::flag),
    of("started", Kind::time, {}, true), whole("pid"),          of("runs", Kind::list, {}, true)};
constexpr std::array kInventory{of("site", Kind::any, {}, true),
                                text("file"),
                                text("digest"),
                                of("racks", Kind::list, {}, true),
                                of("power", Kind::list, {}, true),
                                of("profiles", Kind::list, {}, true),
                                whole("nodes")};
constexpr std::array kNodeFields{text("name", {}, true),
                                 of("rack", Kind::any),
                                 whole("unit"),
                                 whole("height"),
                                 text("profile"),
                                 of("feeds", Kind::texts),
                                 text("serial"),
                                 whole("run", "newest that it took part in"),
                                 of("runs", Kind::list, "newest first")};
constexpr std::array kResult{
    text("node", {}, true), whole("run", "of which the state is", true),
    whole("newest", "a newer run, which judged nothing"),
    text("state", "pass, fail, inconclusive; ended: nothing was judged", true), text("cause")};
constexpr std::array kTarget{
    of("targets", Kind::texts, "one: address and port", true),
    of("labels", Kind::any, "node, rack, profile, __meta_cupel_verdict, __meta_cupel_run", true)};
constexpr std::array kPastRun{
    whole("run", {}, true), text("playbook", {}, true), of("began", Kind::time, {}, true),
    text("state", "the verdict; without one inconclusive where a step failed, or as the run", true),
    text("cause")};
constexpr std::array kFound{text("kind", {}, true), text("node", {}, true), whole("run"),
                            text("part"), text("text", {}, true)};
constexpr std::array kPlaybook{text("name", {}, true), of("description", Kind::any),
                               of("parameters", Kind::list)};
constexpr std::array kSchedule{text("name", {}, true),
                               text("playbook", {}, true),
                               text("nodes", "as --nodes; for who may see all racks"),
                               text("when", "local time of the service's machine", true),
                               of("next", Kind::time, {}, true),
                               of("idle_only", Kind::flag),
                               text("missed", "what becomes of a time that was missed: once, skip"),
                               of("due", Kind::time, "when it was last due"),
                               text("outcome", "first-seen, begun, started, skipped, refused"),
                               whole("run"),
                               text("why", "where nothing was started; for who may see all racks")};
constexpr std::array kNoticeHook{
    text("name", {}, true),
    text("kind", "webhook, slack, mail, otlp", true),
    text("host", "absent: its address is a secret; for who may see all racks"),
    of("on", Kind::texts, "what raises a notice", true),
    of("racks", Kind::texts, "absent: all of them"),
    whole("group_s", "what comes within so many seconds is sent as one"),
    text("quiet", "hours that hold notices back, in local time of the service's machine"),
    of("urgent", Kind::texts, "what is sent in quiet hours too"),
    whole("waiting", "notices that are not delivered yet", true),
    whole("tries", "how often what is to be sent next has failed"),
    of("next", Kind::time, "when it is tried"),
    whole("sent", "notices that were delivered", true),
    of("last_sent", Kind::time),
    whole("lost", "notices that were given up, or found 100 others waiting", true),
    of("last_failed", Kind::time),
    text("why", "of the newest failure; for who may see all racks")};
constexpr std::array kCable{text("node", "absent: between two switches"),
                            text("hca"),
                            whole("rail", "from 1"),
                            whole("group", "of nodes that share their leaves, from 1"),
                            text("below", "the switch of the lower level"),
                            text("below_port"),
                            text("switch", {}, true),
                            text("port", "as it stands on the switch", true)};
constexpr std::array kPlan{text("playbook", {}, true), whole("steps"), whole("max_parallel"),
                           of("groups", Kind::list, {}, true),
                           of("forecast", Kind::object, {}, true)};
constexpr std::array kRunFields{
    whole("run", {}, true),
    text("playbook", {}, true),
    text("state", {}, true),
    of("began", Kind::time, {}, true),
    of("ended", Kind::time),
    of("seconds", Kind::number),
    whole("nodes", {}, true),
    whole("pass"),
    whole("fail"),
    whole("inconclusive"),
    whole("in_work"),
    of("rehearsal", Kind::flag),
    text("by"),
    text("error", "why its journal cannot be read; then without counts"),
    text("range", "its nodes, of a run with an error"),
    of("steps", Kind::list),
    of("racks", Kind::list),
    of("standing", Kind::object),
    of("ends", Kind::any),
    of("held", Kind::any),
    of("approvals", Kind::any),
    of("failures", Kind::list),
    of("site", Kind::any),
    of("parameters", Kind::object),
    of("hands_until", Kind::any),
    of("halted", Kind::flag)};
constexpr std::array kStarted{whole("run", {}, true)};
constexpr std::array kRequalification{
    text("node", {}, true),
    whole("of_run", "whose evidence is kept", true),
    of("new_machine", Kind::flag, "another chassis: all is run, and nothing is kept"),
    of("failed_since", Kind::list, "runs"),
    of("changes", Kind::list),
    of("unseen", Kind::texts, "said to be replaced, with the serial number that it had"),
    of("again", Kind::list, "stages, each with its seconds and why"),
    of("whole", Kind::any, "the short stage of the whole node"),
    of("kept", Kind::texts, "stages whose evidence stands"),
    of("open", Kind::texts, "void, and not to be renewed by one node"),
    of("elsewhere", Kind::texts, "failed since, and no stage of that run"),
    whole("stages", "of that run"),
    whole("seconds"),
    whole("seconds_of_all"),
    text("text", "the same for people", true)};
constexpr std::array kRunStatus{
    whole("run", {}, true),
    text("playbook", {}, true),
    text("state", "interrupted: no controller drives it", true),
    of("began", Kind::time, {}, true),
    of("ended", Kind::time),
    of("seconds", Kind::number),
    of("rehearsal", Kind::flag),
    of("requalifies", Kind::object),
    text("range", "its nodes in one word: a01-n[01-08]", true),
    of("nodes", Kind::list, {}, true),
    whole("pass"),
    whole("fail"),
    whole("inconclusive"),
    whole("in_work"),
    of("failures", Kind::list),
    of("standing", Kind::object, "of one that is not over"),
    whole("driven_by", "process of its controller"),
    whole("eta_s"),
    of("ends", Kind::time),
    of("held", Kind::list),
    of("approvals", Kind::object, "step: nodes that wait there for approval"),
    of("messages", Kind::object, "step: the playbook's message for who approves it"),
    of("hands_until", Kind::time),
    of("steps", Kind::list, "nodes by how they stand at each step")};
constexpr std::array kRunNode{text("node", {}, true),
                              of("rack", Kind::any),
                              whole("unit"),
                              whole("height"),
                              of("profile", Kind::any),
                              text("state", {}, true),
                              text("step"),
                              of("step_began", Kind::time),
                              whole("attempt"),
                              text("waits_for"),
                              text("cause"),
                              of("overdue", Kind::flag),
                              whole("done"),
                              whole("steps")};
constexpr std::array kNodeRecord{
    text("node", {}, true),          whole("run", {}, true),
    text("verdict", {}, true),       of("causes", Kind::list, {}, true),
    of("checked", Kind::list),       of("slow", Kind::list),
    of("steps", Kind::list),         of("bmc_parts", Kind::list),
    of("stages", Kind::object),      of("evidence", Kind::object),
    of("nvlink_domain", Kind::any),  of("nvlink_domains", Kind::any),
    of("console", Kind::list),       whole("schema"),
    of("hand_off", Kind::any),       of("audit", Kind::any),
    of("security_floor", Kind::any), of("profile", Kind::any),
    of("rack", Kind::any),           whole("unit"),
    of("chassis_serial", Kind::any), whole("gpus_with_serial"),
    of("serials", Kind::any),        of("measurements", Kind::list)};
constexpr std::array kConsole{of("files", Kind::list, {}, true), whole("file"), whole("offset"),
                              of("text", Kind::any), whole("next")};
constexpr std::array kStep{text("node", {}, true),
                           text("step", {}, true),
                           of("outcome", Kind::any, "empty: it is not over", true),
                           of("began", Kind::time, {}, true),
                           of("ended", Kind::time),
                           whole("attempts"),
                           text("detail"),
                           of("overdue", Kind::flag)};
constexpr std::array kPower{of("levels", Kind::list, {}, true)};
constexpr std::array kEvent{whole("run", {}, true),
                            whole("sequence", {}, true),
                            of("time", Kind::time, {}, true),
                            text("kind", {}, true),
                            text("node"),
                            text("step"),
                            of("data", Kind::object, {}, true),
                            of("truncated", Kind::object,
                               "of a list, where data has over 16 KiB: its bytes, and the href of "
                               "the whole event; here data has its short members alone"),
                            text("words"),
                            of("hash", Kind::digest, {}, true)};
constexpr std::array kMeasurement{whole("run", {}, true),
                                  of("node", Kind::any),
                                  text("part"),
                                  text("subject", {}, true),
                                  text("stage", {}, true),
                                  text("measure", {}, true),
                                  of("value", Kind::number, {}, true),
                                  of("unit", Kind::any),
                                  of("time", Kind::time),
                                  of("profile", Kind::any),
                                  text("criterion")};
constexpr std::array kVerdict{text("node", {}, true), text("verdict", {}, true),
                              of("causes", Kind::list, {}, true), whole("checked"),
                              whole("not_met")};
constexpr std::array kReport{of("schema", Kind::any), of("summary", Kind::object, {}, true)};
constexpr std::array kCommand{whole("command", {}, true),
                              text("kind", {}, true),
                              text("node"),
                              text("step"),
                              text("reason"),
                              text("by"),
                              text("origin"),
                              of("at", Kind::time),
                              text("answer", {}, true),
                              text("why")};
constexpr std::array kActions{of("actions", Kind::list, {}, true)};
constexpr std::array kApproval{
    text("approval", {}, true), of("what", Kind::object), text("by"), text("origin"),
    of("at", Kind::time),       of("expires", Kind::time)};
constexpr std::array kDecision{text("approval"), text("decision"), whole("run"), whole("command")};
constexpr std::array kAuditEntry{whole("sequence", {}, true), of("time", Kind::time, {}, true),
                                 text("who", {}, true),       of("origin", Kind::any),
                                 text("what", {}, true),      of("data", Kind::object),
                                 of("hash", Kind::digest)};
constexpr std::array kToken{text("id", {}, true),      text("name", {}, true),
                            text("role", {}, true),    of("racks", Kind::texts),
                            text("made_by"),           of("created", Kind::time),
                            of("expires", Kind::time), of("last_used", Kind::time),
                            of("revoked", Kind::time)};
constexpr std::array kIdentityProvider{text("issuer", "an https:// address", true),
                                       text("client_id", {}, true),
                                       text("scope", "what a login asks for", true)};
constexpr std::array kLocator{text("node", {}, true), of("on", Kind::flag, {}, true)};
constexpr std::array kHealth{text("status", {}, true)};
constexpr std::array kOpenApi{text("openapi", {}, true), of("info", Kind::object),
                              of("servers", Kind::list), of("security", Kind::list),
                              of("paths", Kind::object), of("components", Kind::object)};
constexpr std::array kProblem{
    text("type", {}, true),    text("title", {}, true),
    whole("status", {}, true), text("code", "stable", true),
    text("detail", {}, true),  of("errors", Kind::list, "every wrong value: where, what")};

struct Named {
  std::string_view name;
  std::span<const Field> fields;
};

constexpr Named kSchemas[] = {
    {"Identity", kIdentity},
    {"Status", kStatus},
    {"Inventory", kInventory},
    {"Node", kNodeFields},
    {"Result", kResult},
    {"Target", kTarget},
    {"PastRun", kPastRun},
    {"Found", kFound},
    {"Playbook", kPlaybook},
    {"Schedule", kSchedule},
    {"NoticeHook", kNoticeHook},
    {"Cable", kCable},
    {"Plan", kPlan},
    {"Run", kRunFields},
    {"Started", kStarted},
    {"Requalification", kRequalification},
    {"RunStatus", kRunStatus},
    {"RunNode", kRunNode},
    {"NodeRecord", kNodeRecord},
    {"Console", kConsole},
    {"Step", kStep},
    {"Power", kPower},
    {"Event", kEvent},
    {"Measurement", kMeasurement},
    {"Verdict", kVerdict},
    {"Report", kReport},
    {"Command", kCommand},
    {"Actions", kActions},
    {"Approval", kApproval},
    {"Decision", kDecision},
    {"AuditEntry", kAuditEntry},
    {"Token", kToken},
    {"IdentityProvider", kIdentityProvider},
    {"Locator", kLocator},
    {"Health", kHealth},
    {"OpenApi", kOpenApi},
    {"Problem", kProblem},
};

json::object reference(std::string_view name) {
  return {{"$ref", fmt::format("#/components/schemas/{}", name)}};
}

json::object content(std::string_view type, json::object schema) {
  return {{type, {{"schema", std::move(schema)}}}};
}

json::object list_of(std::string_view name) {
  return {{"type", "object"},
          {"required", json::array{"items"}},
          {"properties",
           {{"items", {{"type", "array"}, {"items", reference(name)}}},
            {"next", {{"type", "string"}, {"description", "the cursor of the next page"}}},
            {"incomplete",
             {{"type", "boolean"},
              {"description",
               "it ended before all was looked at: of a search, and of results that "
               "are not read yet"}}}}}};
}

json::array parameters_of(const Operation& operation) {
  json::array parameters;
  const auto add = [&](const Field& field, std::string_view where) {
    json::object parameter{{"name", field.name},
                           {"in", where},
                           {"required", where == "path" || field.required},
                           {"schema", schema_of(field)}};
    if (!field.what.empty()) parameter["description"] = field.what;
    parameters.push_back(std::move(parameter));
  };
  for (const auto& field : operation.in_path) add(field, "path");
  for (const auto& field : operation.query) add(field, "query");
  if (operation.method == "POST" && !operation.login)
    parameters.push_back({{"$ref", "#/components/parameters/IdempotencyKey"}});
  return parameters;
}

/// Of what a second person is to approve the status may be the same.
json::object answer_schema(const Operation& operation) {
  const bool may_wait = !operation.two_person.empty() && operation.status == 202;
  if (!may_wait) return reference(operation.answer);
  return {{"oneOf", json::array{reference(operation.answer), reference("Approval")}}};
}

json::object responses_of(const Operation& operation) {
  json::object good{{"description", "done"}};
  if (operation.is_array)
    good["content"] = content(
        operation.type, json::object{{"type", "array"}, {"items", reference(operation.answer)}});
  else if (!operation.answer.empty())
    good["content"] = content(
        operation.type, operation.is_list ? list_of(operation.answer) : answer_schema(operation));
  else if (operation.status != 204)
    good["content"] = content(operation.type, {{"type", "string"}});
  json::object responses{{std::to_string(operation.status), std::move(good)}};
  if (!operation.two_person.empty() && operation.status != 202)
    responses["202"] = {{"description", "it waits for a second person"},
                        {"content", content("application/json", reference("Approval"))}};
  if (operation.method == "GET" && operation.type == "application/json")
    responses["304"] = {{"description", "as If-None-Match has it"}};
  responses["default"] = {{"description", "a problem (RFC 9457)"},
                          {"content", content("application/problem+json", reference("Problem"))}};
  return responses;
}

json::object described(const Operation& operation) {
  json::object object{{"operationId", operation.id},
                      {"summary", operation.what},
                      {"description", fmt::format("Needs the role {}.", to_string(operation.role))},
                      {"responses", responses_of(operation)}};
  if (operation.login) {
    object["description"] = "Needs no login.";
    object["security"] = json::array{};
  }
  if (auto parameters = parameters_of(operation); !parameters.empty())
    object["parameters"] = std::move(parameters);
  if (!operation.body.empty())
    object["requestBody"] = {
        {"required", true},
        {"content", content("application/json", schema_of(operation.body, true))}};
  return object;
}

json::object components() {
  json::object schemas;
  for (const auto& [name, fields] : kSchemas) schemas[name] = schema_of(fields, false);
  return {{"schemas", std::move(schemas)},
          {"parameters",
           {{"IdempotencyKey",
             {{"name", "Idempotency-Key"},
              {"in", "header"},
              {"required", true},
              {"description",
               "a UUID, say: the same request with the same key is done once in 24 hours"},
              {"schema", {{"type", "string"}, {"pattern", "^[A-Za-z0-9._:-]{1,128}$"}}}}}}},
          {"securitySchemes",
           {{"token", {{"type", "http"}, {"scheme", "bearer"}}},
            {"session", {{"type", "apiKey"}, {"in", "cookie"}, {"name", kSessionCookie}}},
            {"certificate", {{"type", "mutualTLS"}}}}}};
}

std::shared_ptr<const std::string> document(const std::string& version) {
  json::object paths;
  for (const auto& operation : operations()) {
    auto& path = paths[operation.path];
    if (!path.is_object()) path = json::object{};
    std::string method{operation.method};
    for (char& c : method) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    path.get_object()[method] = described(operation);
  }
  const json::object whole_document{
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Cupel"},
        {"version", version},
        {"description", "Racks of GPU nodes from cabled to Slurm: runs, results, actions."},
        {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"servers", json::array{{{"url", "/"}}}},
      {"security", json::array{{{"token", json::array{}}},
                               {{"session", json::array{}}},
                               {{"certificate", json::array{}}}}},
      {"paths", std::move(paths)},
      {"components", components()}};
  return shared_text(json::serialize(whole_document));
}

}  // namespace

Reply read_openapi(RequestHandler& handler, const Call&) {
  static const auto text = document(handler.shared().version);
  Answer answer;
  answer.body = text;
  return answer;
}

Reply read_health(RequestHandler&, const Call&) {
  return json_answer(json::object{{"status", "ok"}});
}

}  // namespace cupel::api
