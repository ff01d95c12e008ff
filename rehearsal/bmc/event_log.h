#pragma once
// What a BMC wrote down, and who reads along: its SEL, and the streams of those that asked to be
// reported (Server-Sent Events). No HTTP here.
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "rehearsal/fault.h"
#include "rehearsal/managed_system.h"

namespace cupel::rehearsal {

struct LogLine {
  int id = 0;
  double epoch = 0;  // by the BMC's clock
  std::string_view severity = "OK";
  std::string message{};
  std::string message_id{};
  std::string sensor{};  // one of the words of LogEntry.SensorType (DSP0268)
  bool alert = false;    // a fault, rather than something that was done
};

/// One reader. What it does not take in time is dropped, the oldest first.
struct EventStream {
  static constexpr std::size_t kMostWaiting = 256;
  std::deque<std::string> waiting{};  // as they go on the wire
  bool ended = false;
  std::function<void()> on_change{};
};

class EventLog {
 public:
  static constexpr std::size_t kMostLines = 1000;
  static constexpr std::size_t kMostStreams = 4;

  /// Kept, and reported to every stream.
  void add(LogLine line);
  void clear() { lines_.clear(); }
  const std::deque<LogLine>& lines() const { return lines_; }

  /// nullptr where there are too many.
  std::shared_ptr<EventStream> subscribe();
  void end_streams();
  /// What a stream gets of each line.
  std::function<json::object(const LogLine&)> as_event{};

 private:
  std::deque<LogLine> lines_;
  std::vector<std::weak_ptr<EventStream>> streams_;
  int next_ = 1;
};

/// What a BMC logs of a machine's event; nothing for what it does not see.
std::optional<LogLine> line_of(ManagedSystem::Event event, const ManagedSystem& machine);
/// What it logs of a fault when it first sees it.
std::optional<LogLine> line_of(const Fault& fault);

}  // namespace cupel::rehearsal
