#include "orchestrator/api/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "inventory/yaml.h"

namespace cupel::api {
namespace {

/// The values of the template's names; nothing where the path is another one.
std::optional<std::map<std::string, std::string, std::less<>>> matched(std::string_view form,
                                                                       std::string_view path) {
  const auto requested = split(form, '/'), given = split(path, '/');
  if (requested.size() != given.size()) return std::nullopt;
  std::map<std::string, std::string, std::less<>> values;
  for (std::size_t i = 0; i < requested.size(); ++i) {
    if (requested[i].starts_with('{'))
      values[std::string{requested[i].substr(1, requested[i].size() - 2)}] = given[i];
    else if (requested[i] != given[i])
      return std::nullopt;
  }
  return values;
}

void check_query(const Operation& operation, Call& call, std::vector<Fault>& faults) {
  std::vector<std::string_view> known;
  for (const auto& field : operation.query) known.push_back(field.name);
  for (const auto& [name, value] : call.request.query) {
    const auto where = "query." + shortened(name, 100);
    const auto field = std::ranges::find(operation.query, name, &Field::name);
    if (field == operation.query.end()) {
      faults.push_back({where, "is unknown" + inventory::did_you_mean(
                                                  name, std::span<const std::string_view>{known})});
      continue;
    }
    if (auto wrong = wrong_text(*field, value); !wrong.empty())
      faults.push_back({where, std::move(wrong)});
    else if (!call.values.emplace(name, value).second)
      faults.push_back({where, "is given twice"});
  }
  for (const auto& field : operation.query)
    if (field.required && !call.values.contains(field.name))
      faults.push_back({fmt::format("query.{}", field.name), "is missing"});
}

std::optional<Problem> take_body(const Operation& operation, Call& call,
                                 std::vector<Fault>& faults) {
  const auto& text = call.request.body;
  if (operation.body.empty()) {
    if (text.empty() || trimmed(text) == "{}") return std::nullopt;
    return Problem{422, "invalid", "this request takes no body"};
  }
  const auto type = lower_case(trimmed(split(call.request.field("content-type"), ';').front()));
  if (type != "application/json")
    return Problem{.status = 415,
                   .code = "unsupported-type",
                   .detail = "the body is to be application/json",
                   .accept = {"Accept", "application/json"}};
  const auto coding = lower_case(trimmed(call.request.field("content-encoding")));
  if (!coding.empty() && coding != "identity")
    return Problem{.status = 415,
                   .code = "unsupported-type",
                   .detail = "the body is to be sent as it is, without a Content-Encoding",
                   .accept = {"Accept-Encoding", "identity"}};
  auto value = parse_json(text);
  if (!value) return Problem{400, "invalid", "the body is no JSON: " + value.error().what};
  if (!value->is_object()) return Problem{422, "invalid", "the body is no JSON object"};
  call.body = std::move(value->get_object());
  for (auto& fault : faults_in(operation.body, call.body)) faults.push_back(std::move(fault));
  return std::nullopt;
}

}  // namespace

std::string Call::text(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::string{} : found->second;
}

std::int64_t Call::integer(std::string_view name, std::int64_t usual) const {
  return number<std::int64_t>(text(name)).value_or(usual);
}

std::string Call::body_text(std::string_view name) const {
  const auto* value = body.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

Route route_of(std::string_view method, std::string_view path) {
  Route route;
  const auto requested = method == "HEAD" ? std::string_view{"GET"} : method;
  for (const auto& operation : operations()) {
    auto values = matched(operation.path, path);
    if (!values) continue;
    if (operation.method == requested) {
      route.operation = &operation;
      route.values = *std::move(values);
      return route;
    }
    route.allow += fmt::format("{}{}", route.allow.empty() ? "" : ", ", operation.method);
    if (operation.method == "GET") route.allow += ", HEAD";
  }
  return route;
}

std::optional<Problem> take_values(const Operation& operation, const Route& route, Call& call) {
  std::vector<Fault> faults;
  call.values = route.values;
  for (const auto& field : operation.in_path)
    if (const auto wrong = wrong_text(field, call.text(field.name)); !wrong.empty())
      return not_found(fmt::format("there is nothing at {}: {} {}",
                                   printable(shortened(call.request.path, 200)), field.name,
                                   wrong));
  check_query(operation, call, faults);
  if (operation.method == "POST")
    if (auto problem = take_body(operation, call, faults)) return problem;
  if (faults.empty()) return std::nullopt;
  const auto first = faults.front();
  return invalid(fmt::format("{} {}", first.where, first.what), std::move(faults));
}

}  // namespace cupel::api
