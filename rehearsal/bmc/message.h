#pragma once
// A request and an answer, without the sockets: what a Redfish service is a function of.
#include <map>
#include <string>

#include "base/json.h"

namespace cupel::rehearsal {

struct HttpRequest {
  std::string method;
  std::string target;                            // path and query
  std::map<std::string, std::string> headers{};  // names in lower case
  std::string body{};

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string{} : found->second;
  }
};

struct HttpResponse {
  int status = 200;
  std::map<std::string, std::string> headers{};
  std::string body{};
};

/// A JSON answer.
HttpResponse answer(int status, const json::value& body);

/// An error as DSP0266, 8.6, has it: one message of the Base registry, with its text.
HttpResponse redfish_error(int status, std::string_view message_id, std::string_view text);

}  // namespace cupel::rehearsal
