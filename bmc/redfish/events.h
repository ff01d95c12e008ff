#pragma once
// What a BMC tells by itself: a stream of events where it offers one, else looking again and again
// for what is new. The parser is pure. Events that BMCs POST to a listener are not in here: they
// would need a port that every BMC can reach.
#include <deque>

#include "bmc/bmc.h"
#include "bmc/redfish/client.h"

namespace cupel::bmc::redfish {

/// One message of a stream.
struct StreamMessage {
  std::string id{};
  std::string data{};
  friend bool operator==(const StreamMessage&, const StreamMessage&) = default;
};

/// text/event-stream, as it comes in. Bounded: a message that is too long is an error.
/// Source: WHATWG HTML, 9.2.6 (interpreting an event stream).
class StreamParser {
 public:
  /// The messages that these bytes complete. Errors: kMalformed for a message of more than
  /// kLongest bytes.
  Result<std::vector<StreamMessage>> feed(std::string_view bytes);

  static constexpr std::size_t kLongest = 1u << 20;

 private:
  void take(std::string_view line, std::vector<StreamMessage>& complete);

  std::string rest_{};  // of a line that has not ended
  bool after_cr_ = false;
  bool first_ = true;
  StreamMessage message_{};
  std::string last_id_{};
  bool has_data_ = false;
};

/// The events in one message's data; none where it is a metric report, or nothing known.
/// Source: DMTF DSP2046, Event (Events[]: EventId, EventTimestamp, MessageSeverity or Severity,
/// Message, MessageId, OriginOfCondition).
std::vector<Event> events_in(std::string_view data);

/// What happened between two looks.
std::vector<Event> difference(PowerState before, PowerState now);
Event event_of(LogEntry entry);

/// Subscribes. Where the service names no stream, or does not give one, it polls `bmc` every
/// `interval`, for its power state and its event log.
/// Errors: as Client::get.
Task<Result<std::unique_ptr<Events>>> subscribe(Client& client, Bmc& bmc,
                                                std::chrono::milliseconds interval,
                                                Deadline deadline);

}  // namespace cupel::bmc::redfish
