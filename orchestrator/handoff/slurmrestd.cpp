#include "orchestrator/handoff/slurmrestd.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace cupel::handoff {
namespace {

constexpr std::size_t kMostNodes = 100'000, kMostWords = 64, kLongestWord = 255;
constexpr std::size_t kMostShown = 300;

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

/// Slurm 24.11 answers a question for a node that it does not have with "No error", number 0, and
/// "Failure to query node n9"; a change, and older versions, with the number of an invalid name.
bool is_no_node(const RestFailure& failure) {
  const auto words = lower_case(failure.words);
  const auto says = [&](std::string_view part) { return words.find(part) != words.npos; };
  return failure.number == kRestNoSuchNode || says("invalid node name") ||
         (failure.number == 0 && says("failure to query node"));
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

/// What a person can do about it, where slurmrestd gives a reason at all.
Result<void> Slurmrestd::failure_in(const ApiAnswer& answer, const std::string& node) const {
  if (answer.status == 405)
    return Error{Code::kUnsupported,
                 api_.who() +
                     " cannot change nodes: Slurm 23.02 (v0.0.39) was the first that can. Leave "
                     "rest out of the slurm section, and scontrol is asked"};
  const auto failure = rest_failure(answer.body);
  if (failure && !node.empty() && is_no_node(*failure))
    return unknown_to_slurm(node, "slurmrestd: " + failure->words);
  if (failure && failure->number == kRestAccessDenied)
    return Error{Code::kRefused,
                 fmt::format("{}: {}: the token's user may not change nodes in Slurm: sacctmgr "
                             "modify user where name=NAME set adminlevel=administrator",
                             api_.who(), failure->words)};
  return api_.check(answer);
}

Task<Result<json::value>> Slurmrestd::ask(ApiRequest request, std::string node, Deadline deadline) {
  SlurmrestdApi::ForVersion same = [request = std::move(request)](int) { return request; };
  CO_TRY(auto answer, co_await api_.ask(std::move(same), deadline));
  CO_TRY(failure_in(answer, node));
  co_return std::move(answer.body);
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
  co_return api_.who() + " answers, and slurmctld answers it";
}

}  // namespace cupel::handoff
