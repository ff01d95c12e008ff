#include "rehearsal/bmc/message.h"

namespace cupel::rehearsal {

HttpResponse answer(int status, const json::value& body) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json; charset=utf-8"}},
          .body = json::serialize(body)};
}

HttpResponse redfish_error(int status, std::string_view message_id, std::string_view text) {
  const auto id = "Base.1.12." + std::string{message_id};
  const json::object message{{"@odata.type", "#Message.v1_1_1.Message"},
                             {"MessageId", id},
                             {"Message", text},
                             {"MessageArgs", json::array{}},
                             {"Severity", "Critical"},
                             {"MessageSeverity", "Critical"},
                             {"Resolution", "None."}};
  const json::object body{
      {"error",
       {{"code", id}, {"message", text}, {"@Message.ExtendedInfo", json::array{message}}}}};
  return answer(status, body);
}

}  // namespace cupel::rehearsal
