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

std::optional<LogLine> line_of(ManagedSystem::Event event, const ManagedSystem& machine) {
  const bool on = machine.power() == Power::on;
  switch (event) {
    case ManagedSystem::Event::powered:
      if (!on && machine.power() != Power::off) return std::nullopt;
      return LogLine{.message = on ? "The host was powered on." : "The host was powered off.",
                     .message_id = on ? "ResourceEvent.1.2.ResourcePoweredOn"
                                      : "ResourceEvent.1.2.ResourcePoweredOff",
                     .sensor = "System ACPI PowerState"};
    case ManagedSystem::Event::booted:
      return LogLine{.message = "The operating system has booted.",
                     .message_id = "Platform.1.0.OsBoot",
                     .sensor = "BaseOSBoot/InstallationStatus"};
    case ManagedSystem::Event::panicked:
      return LogLine{.severity = "Critical",
                     .message = "The operating system has stopped: run-time critical stop.",
                     .message_id = "Platform.1.0.OsPanic",
                     .sensor = "OS",
                     .alert = true};
    case ManagedSystem::Event::started:
    case ManagedSystem::Event::went_down:
    case ManagedSystem::Event::refitted:
    case ManagedSystem::Event::no_boot_device:
      return std::nullopt;
  }
  return std::nullopt;
}

namespace {

/// An entry in a site's own words.
LogLine entry_of(const Fault& fault) {
  const bool alert = fault.version != "OK";
  const std::string_view severity = fault.version == "Warning" ? "Warning" : "Critical";
  return {.severity = alert ? severity : "OK",
          .message = fault.component,
          .message_id = "Platform.1.0.Entry",
          .sensor = fault.other,
          .alert = alert};
}

}  // namespace

std::optional<LogLine> line_of(const Fault& fault) {
  const auto alert = [&](std::string_view severity, std::string message, std::string id,
                         std::string sensor) {
    return LogLine{.severity = severity,
                   .message = std::move(message),
                   .message_id = "Platform.1.0." + std::move(id),
                   .sensor = std::move(sensor),
                   .alert = true};
  };
  switch (fault.kind) {
    case FaultKind::gpu_off_bus:
      return alert("Critical", fault.part + " has fallen off its bus.", "GpuLost", "Processor");
    case FaultKind::nvswitch_fatal:
      return alert("Critical", fault.part + " reports a fatal error.", "NvSwitchFatal",
                   "Add-in Card");
    case FaultKind::psu_feed_lost:
      return alert("Critical", fault.part + ": input power is lost.", "PsuInputLost",
                   "Power Supply / Converter");
    case FaultKind::fan_stuck:
      return alert("Critical", fault.part + " does not turn.", "FanFailed", "Fan");
    case FaultKind::dimm_storm:
      return alert("Warning", fault.part + ": correctable errors passed their limit.",
                   "MemoryErrors", "Memory");
    case FaultKind::dimm_uncorrected:
      return alert("Critical", fault.part + " has uncorrectable errors.", "MemoryUncorrectable",
                   "Memory");
    case FaultKind::cpu_throttled:
      return alert("Warning", "A processor is throttled.", "CpuThrottled", "Processor");
    case FaultKind::gpu_missing:
      return alert("Critical", fault.part + " is not present.", "GpuMissing", "Processor");
    case FaultKind::gpu_ecc:
      return alert("Critical", fault.part + " has uncorrectable ECC errors.", "GpuEcc",
                   "Processor");
    case FaultKind::gpu_slow_link:
      return alert("Warning", fault.part + ": the PCIe link is degraded.", "PcieDegraded",
                   "Slot/Connector");
    case FaultKind::dimm_missing:
      return alert("Warning", fault.part + " is not present.", "DimmMissing", "Memory");
    case FaultKind::psu_missing:
      return alert("Critical", fault.part + ": power supply redundancy is lost.", "PsuLost",
                   "Power Supply / Converter");
    case FaultKind::nvme_missing:
      return alert("Warning", fault.part + " was removed.", "DriveRemoved", "Drive Slot/Bay");
    case FaultKind::memory_errors:
      return alert("Warning", "Correctable memory errors passed their limit.", "MemoryErrors",
                   "Memory");
    case FaultKind::disk_errors:
      return alert("Warning", fault.part + " reports media errors.", "DriveErrors",
                   "Drive Slot/Bay");
    case FaultKind::bmc_log_entry:
      return entry_of(fault);
    case FaultKind::leak:
      return alert("Critical", "Leak detector 0 detected moisture.", "LeakDetected",
                   "CoolingDevice");
    default:
      return std::nullopt;
  }
}

}  // namespace cupel::rehearsal
