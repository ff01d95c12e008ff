#include "rehearsal/bmc/message.h"

namespace cupel::rehearsal {

HttpResponse answer(int status, const json::value& body) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json; charset=utf-8"}},
          .body = json::serialize(body)};
}

HttpResponse registry_error(int status, std::string_view message_id, std::string_view text,
                            json::array args) {
  const json::object message{{"@odata.type", "#Message.v1_1_1.Message"},
                             {"MessageId", message_id},
                             {"Message", text},
                             {"MessageArgs", args},
                             {"Severity", "Critical"},
                             {"MessageSeverity", "Critical"},
                             {"Resolution", "None."}};
  const json::object body{
      {"error",
       {{"code", message_id}, {"message", text}, {"@Message.ExtendedInfo", json::array{message}}}}};
  auto response = answer(status, body);
  response.message_id = message_id;
  response.message = text;
  response.message_args = std::move(args);
  return response;
}

HttpResponse redfish_error(int status, std::string_view message_id, std::string_view text) {
  return registry_error(status, "Base.1.12." + std::string{message_id}, text);
}

void merge(json::value& into, const json::value& patch) {
  const auto* changes = patch.if_object();
  if (!changes) {
    into = patch;
    return;
  }
  if (!into.is_object()) into = json::object{};
  auto& object = into.as_object();
  for (const auto& change : *changes) {
    if (change.value().is_null())
      object.erase(change.key());
    else
      merge(object[change.key()], change.value());
  }
}

bool is_like(std::string_view text, std::string_view pattern) {
  std::size_t at = 0, like = 0, star = pattern.npos, resumed = 0;
  while (at < text.size()) {
    if (like < pattern.size() && pattern[like] == '*') {
      star = like++;
      resumed = at;
    } else if (like < pattern.size() && pattern[like] == text[at]) {
      ++like, ++at;
    } else if (star != pattern.npos) {
      like = star + 1;
      at = ++resumed;
    } else {
      return false;
    }
  }
  return pattern.substr(like).find_first_not_of('*') == pattern.npos;
}

}  // namespace cupel::rehearsal
