#include "orchestrator/handoff/slurmrestd.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "orchestrator/handoff/token_claims.h"

namespace cupel::handoff {
namespace {

/// The newest first. What lies behind v0.0.41 has not been read.
constexpr std::array kVersions{41, 40, 39, 38, 37};
constexpr std::size_t kMostNodes = 100'000, kMostWords = 64, kLongestWord = 255;
constexpr std::size_t kMostShown = 300;

/// Source: slurm_errno.h (22.05).
constexpr int kUnspecified = -1, kAccessDenied = 2002, kInvalidNodeName = 2018;

/// A text, or a list of texts; texts with commas in them are several. What is too long is left out.
std::vector<std::string> words_in(const json::object& object, std::string_view key) {
  std::vector<std::string> found;
  const auto add = [&](const json::value& value) {
    const auto* text = value.if_string();
    if (text == nullptr) return;
    for (const auto word : split({text->data(), text->size()}, ','))
      if (!trimmed(word).empty() && word.size() <= kLongestWord && found.size() < kMostWords)
        found.push_back(printable(trimmed(word)));
  };
  const auto* value = object.if_contains(key);
  if (value == nullptr) return found;
  add(*value);
  if (const auto* list = value->if_array())
    for (const auto& each : *list) add(each);
  return found;
}

std::string upper_case(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

/// A number, or one with {set, infinite, number} around it, as v0.0.39 began to write some.
double number_of(const json::value& node, std::string_view key) {
  const auto bare = number_at(node, key);
  const auto found = bare ? bare : number_at(node, std::string{key} + "/number");
  constexpr double kMost = 1e12;
  return found && *found >= 0 && *found <= kMost ? *found : 0;
}

Result<SlurmNode> node_of(const json::value& value) {
  const auto* object = value.if_object();
  SlurmNode node;
  if (object != nullptr) node.name = text_at(value, "name").value_or("");
  if (node.name.empty() || node.name.size() > kLongestWord)
    return Error{Code::kMalformed, "slurmrestd lists a node without a name"};
  for (const auto* key : {"state", "state_flags"})
    for (auto& word : words_in(*object, key)) node.state.push_back(upper_case(std::move(word)));
  if (node.state.empty())
    return Error{Code::kMalformed, "slurmrestd gives no state of node " + printable(node.name)};
  node.reason = shortened(printable(text_at(value, "reason").value_or("")), kMostShown);
  node.reason_by = printable(text_at(value, "reason_set_by_user").value_or(""));
  node.cpus = static_cast<int>(std::min(number_of(value, "cpus"), 1e6));
  node.memory_bytes = number_of(value, "real_memory") * 1024 * 1024;
  node.gres = printable(text_at(value, "gres").value_or(""));
  node.features = words_in(*object, "features");
  return node;
}

/// The first of the answer's errors: what it is called, and its number; nothing where there is
/// none.
struct Failure {
  std::string words{};
  int number = 0;
};

std::optional<Failure> failure_of(const json::value& body) {
  const auto* errors = find(body, "errors");
  const auto* list = errors == nullptr ? nullptr : errors->if_array();
  if (list == nullptr || list->empty()) return std::nullopt;
  const auto& first = list->front();
  Failure failure;
  for (const auto* key : {"error", "description"})
    if (const auto text = text_at(first, key))
      failure.words += (failure.words.empty() ? "" : ": ") + *text;
  failure.words = shortened(printable(failure.words), kMostShown);
  const auto number = number_at(first, "error_number");
  const auto former = number_at(first, "errno");  // before v0.0.39
  failure.number =
      static_cast<int>(std::clamp(number.value_or(former.value_or(kUnspecified)), -1.0, 1e6));
  return failure;
}

/// "Unable find requested URL. Please view /openapi/v3 for API reference."
bool is_unknown_path(const ApiAnswer& answer) {
  return answer.status == 404 && lower_case(answer.text).find("url") != std::string::npos;
}

/// Slurm 24.11 answers a question for a node that it does not have with "No error", number 0, and
/// "Failure to query node n9"; a change, and older versions, with the number of an invalid name.
bool is_no_node(const Failure& failure) {
  const auto words = lower_case(failure.words);
  const auto says = [&](std::string_view part) { return words.find(part) != words.npos; };
  return failure.number == kInvalidNodeName || says("invalid node name") ||
         (failure.number == 0 && says("failure to query node"));
}

/// X-SLURM-USER-NAME must be there in 22.05, also where the token says the name.
std::vector<std::string> presented(const std::string& user, const std::string& token) {
  std::vector<std::string> lines;
  if (token.empty()) return lines;
  const auto name = user.empty() ? token_claims(token).user : user;
  if (!name.empty() && name == printable(name)) lines.push_back("X-SLURM-USER-NAME: " + name);
  lines.push_back("X-SLURM-USER-TOKEN: " + token);
  return lines;
}

}  // namespace

Result<std::vector<SlurmNode>> parse_rest_nodes(const json::value& answer) {
  const auto* nodes = find(answer, "nodes");
  const auto* list = nodes == nullptr ? nullptr : nodes->if_array();
  if (list == nullptr || list->size() > kMostNodes)
    return Error{Code::kMalformed, "slurmrestd answers with no list of nodes, or one too long"};
  std::vector<SlurmNode> found;
  found.reserve(list->size());
  for (const auto& each : *list) {
    TRY(auto node, node_of(each));
    found.push_back(std::move(node));
  }
  return found;
}

json::object rest_update(const SlurmUpdate& update) {
  json::object body;
  if (!update.state.empty()) body["state"] = json::array{update.state};
  if (!update.reason.empty()) body["reason"] = valid_utf8(update.reason);
  if (update.features) {
    const json::array features(update.features->begin(), update.features->end());
    body["features"] = features;
    body["features_act"] = features;
  }
  return body;
}

Slurmrestd::Slurmrestd(const inventory::SlurmRest& rest)
    : client_{{.name = "slurmrestd",
               .section = "slurm: rest",
               .url = rest.url,
               .ca = rest.ca,
               .token = rest.token,
               .present = [user = rest.user](const std::string& token) {
                 return presented(user, token);
               }}} {}

/// What a person can do about it, where slurmrestd gives a reason at all.
Result<void> Slurmrestd::failure_in(const ApiAnswer& answer, const std::string& node) const {
  const auto& server = client_.server();
  const auto who = fmt::format("{} (API v0.0.{})", server.who(), version_);
  if (answer.status == 405)
    return Error{Code::kUnsupported,
                 who +
                     " cannot change nodes: Slurm 23.02 (v0.0.39) was the first that can. Leave "
                     "rest out of the slurm section, and scontrol is asked"};
  const auto failure = failure_of(answer.body);
  if (!failure && answer.status == 200) return ok();
  if (!failure)
    return Error{answer.status >= 500 ? Code::kUnreachable : Code::kFailed,
                 fmt::format("{}: HTTP {}: {}", who, answer.status, answer.text)};
  if (!node.empty() && is_no_node(*failure))
    return unknown_to_slurm(node, "slurmrestd: " + failure->words);
  if (failure->number == kAccessDenied)
    return Error{Code::kRefused,
                 fmt::format("{}: {}: the token's user may not change nodes in Slurm: sacctmgr "
                             "modify user where name=NAME set adminlevel=administrator",
                             who, failure->words)};
  // 22.05 says no more of an expired token, of a forged one, and of a slurmctld that is away.
  if (auto expired = client_.expired()) return *std::move(expired);
  if (failure->number == kUnspecified)
    return Error{Code::kUnreachable,
                 fmt::format("{}: {}: slurmctld does not answer it, or refuses the token: see "
                             "slurmctld's log",
                             who, failure->words)};
  return Error{Code::kFailed, fmt::format("{}: {} ({})", who, failure->words, failure->number)};
}

Task<Result<json::value>> Slurmrestd::ask(ApiRequest request, std::string node, Deadline deadline) {
  const auto path = request.path;
  std::vector<int> order(kVersions.begin(), kVersions.end());
  if (version_ != 0) order.insert(order.begin(), version_);
  for (const int version : order) {
    request.path = fmt::format("/slurm/v0.0.{}{}", version, path);
    CO_TRY(auto answer, co_await client_.ask(request, deadline));
    if (is_unknown_path(answer)) continue;
    version_ = version;
    CO_TRY(failure_in(answer, node));
    co_return std::move(answer.body);
  }
  co_return Error{Code::kUnsupported,
                  fmt::format("{} has none of the API's versions v0.0.{} to v0.0.{}: start it with "
                              "one of them, or leave rest out of the slurm section",
                              client_.server().who(), kVersions.back(), kVersions.front())};
}

Task<Result<std::vector<SlurmNode>>> Slurmrestd::nodes(std::string name, Deadline deadline) {
  ApiRequest request;
  request.path = name.empty() ? std::string{"/nodes"} : "/node/" + name;
  if (name.empty()) request.most = 64u << 20;
  CO_TRY(const auto answer, co_await ask(std::move(request), name, deadline));
  co_return parse_rest_nodes(answer);
}

Task<Result<void>> Slurmrestd::update(std::string name, SlurmUpdate update, Deadline deadline) {
  ApiRequest request;
  request.method = "POST";
  request.path = "/node/" + name;
  request.body = json::serialize(rest_update(update));
  CO_TRY(co_await ask(std::move(request), name, deadline));
  co_return ok();
}

Task<Result<void>> Slurmrestd::reserve(std::string, std::string, Deadline) {
  co_return Error{Code::kUnsupported,
                  "slurmrestd offers no reservations: leave out reservation, or rest"};
}

Task<Result<void>> Slurmrestd::unreserve(std::string, Deadline) { co_return ok(); }

Task<Result<std::string>> Slurmrestd::ping(Deadline deadline) {
  ApiRequest request;
  request.path = "/ping";
  std::string none;
  CO_TRY(const auto answer, co_await ask(std::move(request), std::move(none), deadline));
  co_return fmt::format("{} (API v0.0.{}) answers, and slurmctld answers it",
                        client_.server().who(), version_);
}

}  // namespace cupel::handoff
