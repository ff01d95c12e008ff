#pragma once
// A ticket that is open: what it permits and how far its boot has come. Its state is the server's
// threads' and the loop's, under its mutex; its bell is the loop's alone.
#include <atomic>
#include <mutex>
#include <set>

#include "base/task.h"
#include "orchestrator/images/http_message.h"
#include "orchestrator/netboot/event_queue.h"
#include "orchestrator/netboot/identity.h"

namespace cupel::netboot {

/// Name in the URL → what is sent.
using BootFiles = std::map<std::string, std::vector<images::Piece>, std::less<>>;

struct OpenTicket {
  using Clock = std::chrono::steady_clock;
  static constexpr int kMostTransfers = 8;

  OpenTicket(asio::any_io_executor loop, Ticket named, BootOrder ordered, BootFiles opened,
             BootStage reached)
      : executor{std::move(loop)},
        bell{executor},
        ticket{std::move(named)},
        order{std::move(ordered)},
        files{std::move(opened)},
        until{Clock::now() + order.lifetime},
        stage{reached} {
    if (!order.greeted) return;
    greeted.emplace();
    greeted_from = *order.greeted;
  }

  bool is_late() const { return Clock::now() >= until; }

  asio::any_io_executor executor;
  asio::steady_timer bell;
  const Ticket ticket;
  const BootOrder order;
  const BootFiles files;
  const Clock::time_point until;
  std::atomic<bool> revoked{false};
  std::atomic<int> transfers{0};

  std::mutex mutex{};
  BootStage stage;
  std::optional<Identity> greeted{};  // empty where an earlier controller had the hello
  asio::ip::address greeted_from{};
  std::set<std::string, std::less<>> seeds_served{};
  bool reported_expired = false;
  bool by_dhcp = false;  // somebody got it for a MAC address
  EventQueue events{};
};

/// Puts the event into its queue and wakes who waits for it. False: there was no room.
bool tell(const std::shared_ptr<OpenTicket>& ticket, BootEvent event);

/// As BootService::next.
Task<Result<BootEvent>> next_event(std::shared_ptr<OpenTicket> ticket, Deadline deadline);

}  // namespace cupel::netboot
