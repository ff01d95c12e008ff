#include "rehearsal/bmc/phrase.h"

#include <array>

namespace cupel::rehearsal {
namespace {

/// An iDRAC's own message for what others say with the Base registry.
struct Rephrased {
  std::string_view base, own, text;
};
constexpr std::array<Rephrased, 1> kDells{{{"Base.1.12.SessionLimitExceeded", "IDRAC.2.8.RAC0218",
                                            "The maximum number of user sessions is reached."}}};

json::object message_of(std::string_view id, std::string_view text) {
  return {{"MessageId", id},
          {"Message", text},
          {"MessageArgs", json::array{}},
          {"MessageArgs@odata.count", 0},
          {"RelatedProperties", json::array{}},
          {"Resolution", "None."},
          {"Severity", "Warning"}};
}

/// The base message where there is one, Dell's own, and a code that says nothing.
json::object in_dells_words(const HttpResponse& response) {
  json::array messages;
  const auto row =
      std::ranges::find(kDells, std::string_view{response.message_id}, &Rephrased::base);
  if (row == kDells.end())
    messages.push_back(message_of(response.message_id, response.message));
  else
    messages.push_back(message_of(row->own, row->text));
  return {{"error",
           {{"@Message.ExtendedInfo", std::move(messages)},
            {"code", "Base.1.12.GeneralError"},
            {"message", "A general error has occurred. See ExtendedInfo for more information"}}}};
}

/// As an iLO has it: which message it is, and not what it says.
json::object by_ids_alone(std::string_view id, const json::array& args = {}) {
  json::object message{{"MessageId", id}};
  if (!args.empty()) message["MessageArgs"] = args;
  return {{"error",
           {{"code", "iLO.0.10.ExtendedInfo"},
            {"message", "See @Message.ExtendedInfo for more information."},
            {"@Message.ExtendedInfo", json::array{std::move(message)}}}}};
}

void say(HttpResponse& response, const json::object& body) {
  response.headers["Content-Type"] = "application/json; charset=utf-8";
  response.body = json::serialize(body);
}

}  // namespace

void phrase_error(HttpResponse& response, ErrorStyle style) {
  if (response.message_id.empty()) return;
  if (style == ErrorStyle::dell) say(response, in_dells_words(response));
  if (style == ErrorStyle::ids_only)
    say(response, by_ids_alone(response.message_id, response.message_args));
}

void phrase_success(HttpResponse& response, PatchReply thanks, const json::object* resource) {
  if (response.status != 204 || !response.body.empty()) return;
  if (thanks == PatchReply::nothing) return;
  // Lenovo's answer to an action is a plain 204.
  if (thanks == PatchReply::resource && resource == nullptr) return;
  response.status = 200;
  constexpr std::string_view kSuccess = "Base.1.12.Success";
  switch (thanks) {
    case PatchReply::resource:
      say(response, *resource);
      return;
    case PatchReply::messages:
      say(response, {{"@Message.ExtendedInfo",
                      json::array{{{"MessageId", kSuccess},
                                   {"Message", "The request completed successfully."},
                                   {"Severity", "OK"}}}}});
      return;
    case PatchReply::success_in_error:
      say(response, by_ids_alone(kSuccess));
      return;
    case PatchReply::nothing:
      return;
  }
}

HttpResponse busy_page() {
  return {.status = 503,
          .headers = {{"Content-Type", "text/html"}},
          .body =
              "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<!DOCTYPE html>\n<html><head>"
              "<title>503 Service Unavailable</title></head><body><h1>503 Service "
              "Unavailable</h1></body></html>\n"};
}

}  // namespace cupel::rehearsal
