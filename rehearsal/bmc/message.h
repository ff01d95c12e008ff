#pragma once
// A request and an answer, without the sockets: what a Redfish service is a function of.
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"

namespace cupel::rehearsal {

struct EventStream;
struct ReceivedBody;

struct HttpRequest {
  std::string method;
  std::string target;                            // path and query
  std::map<std::string, std::string> headers{};  // names in lower case
  std::string body{};
  std::shared_ptr<const ReceivedBody> received{};  // instead of `body`: it was read as it came

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string{} : found->second;
  }
};

struct HttpResponse {
  int status = 200;
  std::map<std::string, std::string> headers{};
  std::string body{};

  // Of an error: the message in it, for whoever writes it in another way.
  std::string message_id{}, message{};
  json::array message_args{};

  // How it goes on the wire.
  std::chrono::milliseconds late{0};        // before it is sent, of our time
  bool cut = false;                         // the connection, instead of an answer
  bool silent = false;                      // no answer, and the connection stays
  std::optional<std::size_t> breaks_off{};  // after so many bytes of the body
  std::shared_ptr<EventStream> stream{};    // what follows the headers, until it ends
};

/// A JSON answer.
HttpResponse answer(int status, const json::value& body);

/// An error as DSP0266, 8.6, has it: one message of the Base registry, with its text.
HttpResponse redfish_error(int status, std::string_view message_id, std::string_view text);
/// The same of another registry: "iLO.2.14.UnableToModifyDuringSystemPOST".
HttpResponse registry_error(int status, std::string_view message_id, std::string_view text,
                            json::array args = {});

/// Merged as RFC 7396 has it: null removes.
void merge(json::value& into, const json::value& patch);

/// Whether a text is like "/redfish/v1/Systems/*": a star stands for anything.
bool is_like(std::string_view text, std::string_view pattern);

}  // namespace cupel::rehearsal
