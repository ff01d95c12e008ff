// A whole BMC of any bytes: each line is a URI, a blank and what a GET of it answers; a line "*" is
// the answer to everything else, taken in turns. Inventory, sensors and event log are read from it,
// and the bytes themselves are read as one raw answer.
#include <map>

#include "base/text.h"
#include "bmc/redfish/answer.h"
#include "bmc/redfish/event_log.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/sensors.h"

namespace {

using namespace cupel;
using namespace cupel::bmc;

constexpr std::size_t kMostAsked = 10'000;
constexpr std::string_view kAsked = "n: GET /redfish/v1";

class Served final : public redfish::Fetch {
 public:
  explicit Served(std::string_view text) {
    for (const auto line : split(text, '\n')) {
      const auto blank = line.find(' ');
      if (blank == line.npos) continue;
      const redfish::Response response{.status = 200, .body = std::string{line.substr(blank + 1)}};
      auto answer = redfish::understood(kAsked, response);
      if (!answer) continue;
      const std::string uri{line.substr(0, blank)};
      if (uri == "*") everywhere_.push_back(answer->body);
      documents_.insert_or_assign(uri, std::move(answer->body));
    }
  }

  Task<Result<json::value>> get(std::string uri, Deadline) override {
    if (++asked_ > kMostAsked) __builtin_trap();
    const auto found = documents_.find(uri);
    if (found != documents_.end()) co_return found->second;
    if (!everywhere_.empty()) co_return everywhere_[asked_ % everywhere_.size()];
    co_return Error{Code::kNotFound, "n: GET " + uri + ": HTTP 404"};
  }

 private:
  std::map<std::string, json::value> documents_;
  std::vector<json::value> everywhere_;
  std::size_t asked_ = 0;
};

/// What a person will see on a terminal.
void must_be_readable(std::string_view text) {
  for (const char c : text)
    if (c == '\x1b' || c == '\n' || c == '\r') __builtin_trap();
}

void must_be_readable(const std::vector<inventory::Unknown>& unknown) {
  for (const auto& one : unknown) {
    must_be_readable(one.fact);
    must_be_readable(one.source);
    must_be_readable(one.why);
  }
}

template <class T>
Result<T> read(std::string_view text, Task<Result<T>> (*how)(redfish::Fetch&, Deadline)) {
  asio::io_context io;
  Served served{text};
  return run_to_end(io, how(served, Deadline::in(std::chrono::seconds{60})));
}

Task<Result<EventLog>> newest_of_log(redfish::Fetch& fetch, Deadline deadline) {
  return redfish::read_event_log(fetch, Seconds{std::chrono::seconds{1'700'000'000}}, 3, deadline);
}

void read_tree(std::string_view text) {
  if (const auto seen = read(text, redfish::read_inventory)) {
    must_be_readable(seen->unknown);
    for (const auto& part : seen->parts)
      for (const auto* field : {&part.name, &part.model, &part.serial, &part.slot, &part.firmware})
        must_be_readable(*field);
  }
  if (const auto seen = read(text, redfish::read_sensors)) {
    must_be_readable(seen->unknown);
    for (const auto& sensor : seen->sensors) {
      must_be_readable(sensor.name);
      must_be_readable(sensor.state);
    }
  }
  if (const auto log = read(text, newest_of_log)) {
    if (log->entries.size() > 3) __builtin_trap();
    must_be_readable(log->unknown);
    for (const auto& entry : log->entries) must_be_readable(entry.message);
  }
}

/// "STATUS TYPE" in the first line, an ETag in the second, then the body.
void read_raw(std::string_view text) {
  const auto line = [&] {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string one{text.substr(0, end)};
    text.remove_prefix(std::min(end + 1, text.size()));
    return one;
  };
  const std::string first = line();
  redfish::Response response;
  response.status = number<int>(std::string_view{first}.substr(0, 3)).value_or(200);
  response.content_type = first.substr(std::min<std::size_t>(first.size(), 4));
  response.etag = line();
  response.body = text;
  const auto answer = redfish::understood(kAsked, response);
  if (!answer) must_be_readable(answer.error().what);
  if (answer) must_be_readable(redfish::reported_messages(answer->body));
  (void)redfish::says_sessions_exhausted(response);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  read_raw(text);
  read_tree(text);
  return 0;
}
