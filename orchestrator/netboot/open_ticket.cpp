#include "orchestrator/netboot/open_ticket.h"

#include <boost/asio/post.hpp>

namespace cupel::netboot {
namespace {

std::optional<BootEvent> taken(OpenTicket& ticket) {
  const std::scoped_lock lock{ticket.mutex};
  if (auto event = ticket.events.pop()) return event;
  if (!ticket.is_late() || ticket.reported_expired || ticket.stage != BootStage::issued) return {};
  ticket.reported_expired = true;
  return BootEvent{.kind = BootEvent::Kind::expired, .at = std::chrono::system_clock::now()};
}

}  // namespace

bool tell(const std::shared_ptr<OpenTicket>& ticket, BootEvent event) {
  event.at = std::chrono::system_clock::now();
  {
    const std::scoped_lock lock{ticket->mutex};
    if (!ticket->events.push(std::move(event))) return false;
  }
  asio::post(ticket->executor, [ticket] { ticket->bell.cancel(); });
  return true;
}

Task<Result<BootEvent>> next_event(std::shared_ptr<OpenTicket> ticket, Deadline deadline) {
  for (;;) {
    if (ticket->revoked) co_return Error{Code::kCancelled, "the boot ticket was revoked"};
    if (auto event = taken(*ticket)) co_return *std::move(event);
    if (deadline.passed())
      co_return Error{Code::kTimeout, ticket->order.machine.node + ": nothing heard of its boot"};
    const bool late = ticket->is_late();
    ticket->bell.expires_at(late ? deadline.when() : std::min(deadline.when(), ticket->until));
    co_await ticket->bell.async_wait(asio::as_tuple(asio::use_awaitable));
    if (co_await cancelled()) co_return Error{Code::kCancelled, "cancelled"};
  }
}

}  // namespace cupel::netboot
