#include "rehearsal/bmc/event_log.h"

namespace cupel::rehearsal {

void EventLog::add(LogLine line) {
  line.id = next_++;
  const auto event = as_event ? json::serialize(as_event(line)) : std::string{};
  for (const auto& weak : streams_) {
    const auto stream = weak.lock();
    if (!stream) continue;
    stream->waiting.push_back("id: " + std::to_string(line.id) + "\ndata: " + event + "\n\n");
    if (stream->waiting.size() > EventStream::kMostWaiting) stream->waiting.pop_front();
    if (stream->on_change) stream->on_change();
  }
  lines_.push_back(std::move(line));
  if (lines_.size() > kMostLines) lines_.pop_front();
}

std::shared_ptr<EventStream> EventLog::subscribe() {
  std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
  if (streams_.size() >= kMostStreams) return nullptr;
  auto stream = std::make_shared<EventStream>();
  streams_.push_back(stream);
  return stream;
}

void EventLog::end_streams() {
  for (const auto& weak : std::exchange(streams_, {})) {
    const auto stream = weak.lock();
    if (!stream) continue;
    stream->ended = true;
    if (stream->on_change) stream->on_change();
  }
}

std::optional<LogLine> line_of(Machine::Event event, const Machine& machine) {
  const bool on = machine.power() == Power::on;
  switch (event) {
    case Machine::Event::powered:
      if (!on && machine.power() != Power::off) return std::nullopt;
      return LogLine{.message = on ? "The host was powered on." : "The host was powered off.",
                     .message_id = on ? "ResourceEvent.1.2.ResourcePoweredOn"
                                      : "ResourceEvent.1.2.ResourcePoweredOff",
                     .sensor = "Power"};
    case Machine::Event::booted:
      return LogLine{.message = "The operating system has booted.",
                     .message_id = "Platform.1.0.OsBoot",
                     .sensor = "OS"};
    case Machine::Event::started:
    case Machine::Event::went_down:
    case Machine::Event::refitted:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<LogLine> line_of(const Fault& fault) {
  const auto alert = [&](std::string_view severity, std::string message, std::string id) {
    return LogLine{.severity = severity,
                   .message = std::move(message),
                   .message_id = "Platform.1.0." + std::move(id),
                   .sensor = fault.part,
                   .alert = true};
  };
  switch (fault.kind) {
    case FaultKind::gpu_missing:
      return alert("Critical", fault.part + " is not present.", "GpuMissing");
    case FaultKind::gpu_ecc:
      return alert("Critical", fault.part + " has uncorrectable ECC errors.", "GpuEcc");
    case FaultKind::gpu_slow_link:
      return alert("Warning", fault.part + ": the PCIe link is degraded.", "PcieDegraded");
    case FaultKind::dimm_missing:
      return alert("Warning", fault.part + " is not present.", "DimmMissing");
    case FaultKind::psu_missing:
      return alert("Critical", fault.part + ": power supply redundancy is lost.", "PsuLost");
    case FaultKind::nvme_missing:
      return alert("Warning", fault.part + " was removed.", "DriveRemoved");
    case FaultKind::memory_errors:
      return alert("Warning", "Correctable memory errors passed their limit.", "MemoryErrors");
    case FaultKind::disk_errors:
      return alert("Warning", fault.part + " reports media errors.", "DriveErrors");
    case FaultKind::leak:
      return alert("Critical", "Leak detector 0 detected moisture.", "LeakDetected");
    default:
      return std::nullopt;
  }
}

}  // namespace cupel::rehearsal
