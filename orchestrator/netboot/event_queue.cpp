#include "orchestrator/netboot/event_queue.h"

#include <algorithm>

namespace cupel::netboot {
namespace {

using Kind = BootEvent::Kind;

bool may_be_dropped(const BootEvent& event) {
  return event.kind == Kind::fetched || event.kind == Kind::refused || event.kind == Kind::progress;
}

/// Whether the second says all that the first did.
bool replaces(const BootEvent& last, const BootEvent& event) {
  if (last.kind != event.kind) return false;
  if (event.kind == Kind::hello || event.kind == Kind::progress) return true;
  if (event.kind == Kind::fetched) return last.file == event.file && last.peer == event.peer;
  if (event.kind != Kind::refused || !last.body.contains("cause") || !event.body.contains("cause"))
    return false;
  return last.body.at("cause") == event.body.at("cause") && last.peer == event.peer;
}

}  // namespace

bool EventQueue::push(BootEvent event) {
  if (!events_.empty() && replaces(events_.back(), event)) {
    if (event.kind == Kind::fetched) event.bytes += events_.back().bytes;
    events_.back() = std::move(event);
    return true;
  }
  if (events_.size() >= kMost && !make_room()) return may_be_dropped(event);
  events_.push_back(std::move(event));
  return true;
}

bool EventQueue::make_room() {
  const auto oldest = std::ranges::find_if(events_, may_be_dropped);
  if (oldest == events_.end()) return false;
  events_.erase(oldest);
  return true;
}

std::optional<BootEvent> EventQueue::pop() {
  if (events_.empty()) return {};
  auto event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace cupel::netboot
